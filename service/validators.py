"""``ETag`` and ``Last-Modified``: clients reuse an answer while the store is unchanged.

The validator is made before the store is read for the answer. If a batch is loaded in between, the
validator is too old: the client then requests the same answer once more, but never uses an old
answer as a new one. The validator is weak: the same answer may be written, or compressed by a
proxy, in other bytes.

Source: RFC 9110, sections 8.8 (validators) and 13.1 (preconditions).
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Final

from flask import Flask, Response, g, request
from werkzeug.http import http_date

from arclink.access.common import SUBSET
from arclink.errors import StoreError, UsageError
from arclink.service.stores import stores_of_app
from arclink.version import VERSION

CHANGING: Final = frozenset(
    {
        "aggregate",
        "describing",
        "streaming",
        "watching",
        "site",
        "subsets",
        "selecting",
        None,
    }
)
"""Resources (blueprints) whose answers may change while the store does not."""

_SETTLED: Final = timedelta(seconds=2)
"""Age from which a store's date is sent.

A date has whole seconds: a store that changed just now may change again within the same second.
"""


def register_validators(app: Flask) -> None:
    """Add validators to the answers of ``app``, and answer 304 if the client's copy is current."""
    app.before_request(_unchanged)
    app.after_request(_validated)


def will_change() -> None:
    """Send no validator: the same request may soon have more of an answer from the same store."""
    g.etag = g.modified = None


def _unchanged() -> Response | None:
    g.etag = g.modified = None
    if (
        request.method not in ("GET", "HEAD")
        or request.blueprint in CHANGING
        or request.endpoint == "static"
    ):
        return None
    stores = stores_of_app()
    try:
        state, changed = stores.state(), stores.changed()
        subset = request.args.get(SUBSET.name)
        if subset:  # a named subset may change while the store does not
            state, changed = f"{state} {stores.definition(subset).identity}", None
    except (StoreError, UsageError):
        return None  # the view reports the error
    target = request.environ.get("REQUEST_URI") or request.full_path
    parts = (
        VERSION,
        repr(stores.settings),
        state,
        request.host_url,
        str(target),
        request.headers.get("Accept", ""),
    )
    g.etag = hashlib.sha1(
        "\n".join(parts).encode("utf-8", "surrogatepass"), usedforsecurity=False
    ).hexdigest()[:20]
    if changed is not None and changed < datetime.now(UTC) - _SETTLED:
        g.modified = changed
    is_known = request.if_none_match.contains_weak(g.etag)
    return Response(status=304) if is_known and not request.if_none_match.star_tag else None


def _validated(response: Response) -> Response:
    if g.get("etag") is not None and response.status_code in (200, 206, 304):
        if response.status_code == 200 and _is_older_known():
            response.close()
            response = Response(status=304)
        response.set_etag(g.etag, weak=True)
        response.headers["Cache-Control"] = "no-cache"
        response.vary.add("Accept")  # also for pages: the tag depends on it
        if g.modified is not None:
            response.headers["Last-Modified"] = http_date(g.modified)
    elif response.status_code >= 400 or request.blueprint == "watching":
        response.headers["Cache-Control"] = "no-store"
    return response


def _is_older_known() -> bool:
    """Return whether the client's copy is as new as the store, by ``If-Modified-Since`` alone.

    This is checked after the answer is made. The date is the same for all queries, also for those
    that fail: a precondition applies only where the response without it would be a 200 (RFC 9110,
    section 13.2.1).
    """
    since = request.if_modified_since
    if "If-None-Match" in request.headers or since is None or g.modified is None:
        return False
    modified: datetime = g.modified
    return since >= modified.replace(microsecond=0)
