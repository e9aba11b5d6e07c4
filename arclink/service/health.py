"""Health check: whether the store can be read."""

from flask import Blueprint, Response, jsonify

from arclink.service.stores import current_store

health = Blueprint("health", __name__)


@health.get("/health")
def check() -> Response:
    """Answer 200 with the number of batches if the store can be read.

    Else the handler answers 503.
    """
    return jsonify(status="ok", batches=sum(1 for _ in current_store().batches()))
