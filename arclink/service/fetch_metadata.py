"""What browsers may use archived bytes for: never for a part of a page of this origin.

A browser names the use of an answer in ``Sec-Fetch-Dest``, and the origin of the page that asks in
``Sec-Fetch-Site``. Scripts cannot change these headers. Programs do not send them.

Source: W3C, *Fetch Metadata Request Headers*; the Fetch standard, *destination*.
"""

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.exceptions import Forbidden

_ARCHIVED: Final = frozenset({"archived", "streaming", "taking_away"})
"""Resources (blueprints) whose answers are, or contain, archived bytes."""
_ROWS: Final = "archived.cdx"
"""The view of these resources that answers with rows about captures."""

_NEVER: Final = frozenset({"serviceworker", "sharedworker", "worker"})
"""Uses that run at the origin of the answer, or that no other origin has."""
_HEADERS: Final = ("Sec-Fetch-Dest", "Sec-Fetch-Site", "Sec-Fetch-Mode")


def refuse_parts(app: Flask, own: Collection[str] = ("document",)) -> None:
    """Refuse requests for archived bytes as code, style or data of a page of this origin.

    Args:
        app: An application.
        own: Uses that are open to its own origin.
    """

    @app.before_request
    def refuse() -> None:
        if not _is_archived():
            return
        use, site, mode = (request.headers.get(name, "") for name in _HEADERS)
        is_saved = mode == "navigate" and use == "empty"
        if site != "same-origin" or _is_forwarded():
            is_refused = use in _NEVER
        else:
            is_refused = use not in own and not is_saved
        if is_refused:
            raise Forbidden(
                "Archived bytes are not sent as a script, style, frame or data of a page of this "
                "origin; open the address itself, or ask with a program."
            )

    @app.after_request
    def vary(response: Response) -> Response:
        if _is_archived():
            response.vary.update(_HEADERS)
        return response


def _is_forwarded() -> bool:
    """Return whether a replay system passed on the headers of its own client, as pywb does.

    Then the page that asks is one of its pages. A page of this origin has no such ``Referer``:
    browsers send none, or one of the page's own origin.
    """
    referrer = urlsplit(request.headers.get("Referer", ""))
    return bool(referrer.netloc) and referrer.netloc != request.host


def _is_archived() -> bool:
    return request.blueprint in _ARCHIVED and request.endpoint != _ROWS
