"""Removal of what replay adds to a page, for archives that do not serve original bytes.

Replay rewrites a page's links so that they lead back into the archive, and inserts scripts and a
banner. This module removes the insertions and turns each URI-M of the archive back into its URI-R,
wherever in the page it is. The result is less exact than original bytes:

- References that replay made absolute stay absolute (the Internet Archive does this to all
  references, pywb to those that begin with a slash). Equal pages captured at different URIs are
  therefore harder to distinguish by their links.
- Addresses that a script composes were never rewritten, and stay unchanged.
- If the page itself linked into this archive, these links are lost.

Source: comments mark the insertions: ``WB Insert`` by pywb, ``End Wayback Rewrite JS Include``,
``BEGIN WAYBACK TOOLBAR INSERT`` and ``FILE ARCHIVED ON`` by OpenWayback and the Internet Archive.
"""

import re
from functools import lru_cache
from urllib.parse import urlsplit

_INSERTIONS = (
    (re.compile(rb"<!-- WB Insert -->"), b"<!-- End WB Insert -->"),
    (re.compile(rb"<!-- BEGIN WAYBACK TOOLBAR INSERT -->"), b"<!-- END WAYBACK TOOLBAR INSERT -->"),
    (re.compile(rb"<!--\s{0,20}FILE ARCHIVED ON "), b"-->"),
    (re.compile(rb"<!--\s{0,20}playback timings \(ms\):"), b"-->"),
)
"""Begin and end marks of each kind of insertion."""

_HEAD = re.compile(rb"<head[^<>]{0,1000}>", re.IGNORECASE)
_HEAD_END = b"<!-- End Wayback Rewrite JS Include -->"
_OF_THE_PAGE = re.compile(rb"<(?:title|meta|base|body)\b", re.IGNORECASE)
"""Elements that replay never inserts between ``<head>`` and `_HEAD_END`, unlike scripts and style
sheets.
"""


def undo_rewriting(page: bytes, base: str) -> bytes:
    """Return a replayed page with the rewriting undone, as far as possible.

    Args:
        page: HTML, or another format in which replay rewrites addresses.
        base: The part of the archive's URI-Ms before ``/TIMESTAMP/URI``.

    >>> undo_rewriting(b'<img src="/web/2010im_/http://h/a.png">', "http://archive.example/web")
    b'<img src="http://h/a.png">'
    """
    return _references(base).sub(_reference, without_insertions(page))


def without_insertions(page: bytes) -> bytes:
    """Return a replayed page without replay's scripts and banner; its links stay rewritten."""
    page = _without_head_insertion(page)
    for start, end in _INSERTIONS:
        page = _without(page, start, end)
    return page


def is_rewritten(page: bytes, base: str) -> bool:
    """Return whether a page that should be original was rewritten by this archive.

    A rewritten page contains both an insertion and addresses of the archive.
    """
    has_insertion = _HEAD_END in page or any(
        _without(page, start, end) != page for start, end in _INSERTIONS
    )
    return has_insertion and _references(base).search(page) is not None


def _without(page: bytes, start: re.Pattern[bytes], end: bytes) -> bytes:
    """Return a page without the insertions between two marks.

    Takes linear time, even if end marks are missing.
    """
    pieces: list[bytes] = []
    position = 0
    while found := start.search(page, position):
        stop = page.find(end, found.end())
        if stop < 0:
            break
        pieces.append(page[position : found.start()])
        position = stop + len(end)
    return b"".join([*pieces, page[position:]]) if pieces else page


def _without_head_insertion(page: bytes) -> bytes:
    stop = page.find(_HEAD_END)
    head = _HEAD.search(page, 0, max(stop, 0))
    if head is None or _OF_THE_PAGE.search(page, head.end(), stop):
        return page
    return page[: head.end()] + page[stop + len(_HEAD_END) :]


def undo_uri(uri: str, base: str) -> str:
    """Return the URI-R in a URI-M of this archive; any other URI unchanged.

    >>> undo_uri("/web/20100101000000id_/http://h/", "http://archive.example/web")
    'http://h/'
    """
    found = _references(base).match(uri.encode())
    return _reference(found).decode() + uri.encode()[found.end() :].decode() if found else uri


@lru_cache(maxsize=16)
def _references(base: str) -> re.Pattern[bytes]:
    """Return a pattern for the beginning of a URI-M, up to and including the scheme of its URI-R.

    The host or its scheme may be missing; in scripts and JSON, slashes are escaped.
    """
    parts = urlsplit(base)
    slash = rb"(?:/|\\/)"
    host = re.escape(parts.netloc.encode())
    path = slash.join(re.escape(step.encode()) for step in parts.path.split("/") if step)
    path_below = slash + (path + slash if path else b"")
    return re.compile(
        rb"(?<![\w.~%/\\-])(?:(?:https?:)?"
        + slash
        + slash
        + host
        + rb")?"
        + path_below
        + rb"[0-9]{4,14}(?:[a-z]{2}_)?"
        + slash
        + rb"(?P<rest>(?:https?|ftp):|"
        + slash
        + slash
        + rb"|(?=(?:mailto|javascript|data):))",
        re.IGNORECASE,
    )


def _reference(found: re.Match[bytes]) -> bytes:
    return found["rest"]
