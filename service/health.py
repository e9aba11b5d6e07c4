"""Is the store there?"""

from flask import Blueprint, Response, jsonify

from service.stores import current_store

health = Blueprint("health", __name__)


@health.get("/health")
def check() -> Response:
    """Answer 200 if the store can be read, with the number of its batches; the error handler makes the 503."""
    return jsonify(status="ok", batches=sum(1 for _ in current_store().batches()))
