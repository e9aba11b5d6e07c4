"""``ETag`` and ``Last-Modified``: an answer stays the same as long as the store does, so it need not be given twice.

The validator is made before the store is read for the answer. A batch that lands in between makes it too old: then the same
answer is asked for once more, but an old one is never taken for new. It is weak: an answer may be written, or compressed by
a proxy, in other bytes that say the same.

Source: RFC 9110, sections 8.8 (validators) and 13.1 (preconditions).
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Final

from flask import Flask, Response, g, request
from werkzeug.http import http_date

from arclink import __version__
from arclink.errors import StoreError
from service.stores import stores_of_app

CHANGING: Final = frozenset({"aggregate", "health", "describing", "watching", "site", None})
"""Resources (blueprints) whose answers change although the store does not."""

_SETTLED: Final = timedelta(seconds=2)
"""A date has whole seconds: a store that changed just now may change again within the same one."""


def register_validators(app: Flask) -> None:
    """Give the answers of ``app`` validators, and answer 304 where the client has what it would get."""
    app.before_request(_unchanged)
    app.after_request(_validated)


def _unchanged() -> Response | None:
    g.etag = g.modified = None
    if request.method not in ("GET", "HEAD") or request.blueprint in CHANGING or request.endpoint == "static":
        return None
    stores = stores_of_app()
    try:
        state, changed = stores.state(), stores.changed()
    except StoreError:
        return None  # the view says so in its own way
    target = request.environ.get("REQUEST_URI") or request.full_path
    told = (__version__, repr(stores.settings), state, request.host_url, str(target), request.headers.get("Accept", ""))
    g.etag = hashlib.sha1("\n".join(told).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:20]
    if changed is not None and changed < datetime.now(UTC) - _SETTLED:
        g.modified = changed
    since = request.if_modified_since
    is_known = request.if_none_match.contains_weak(g.etag)
    if not request.if_none_match and "If-None-Match" not in request.headers and since is not None and g.modified is not None:
        is_known = since >= g.modified.replace(microsecond=0)
    return Response(status=304) if is_known and not request.if_none_match.star_tag else None


def _validated(response: Response) -> Response:
    if g.get("etag") is not None and response.status_code in (200, 304):
        response.set_etag(g.etag, weak=True)
        response.headers["Cache-Control"] = "no-cache"
        if response.status_code == 304:
            response.vary.add("Accept")
        if g.modified is not None:
            response.headers["Last-Modified"] = http_date(g.modified)
    elif response.status_code >= 400 or request.blueprint in ("health", "watching"):
        response.headers["Cache-Control"] = "no-store"
    return response
