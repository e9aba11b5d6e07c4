"""Undoing what replay does to a page, for archives that do not give original bytes.

Replay makes a page's links lead back into the archive, and inserts scripts and a banner. This takes the insertions out and
turns each URI-M of the archive back into its URI-R, wherever in the page it stands. Less exact than original bytes:

- a reference that was relative comes back absolute where replay made it so (the Internet Archive does that to all, pywb to
  those that begin with a slash), so links of equal pages captured at different places are told apart less well;
- addresses that a script puts together were never rewritten, and stay as they are;
- a page that itself linked into this archive loses that.

Source: the insertions are marked by comments: ``WB Insert`` by pywb, ``End Wayback Rewrite JS Include``, ``BEGIN WAYBACK
TOOLBAR INSERT`` and ``FILE ARCHIVED ON`` by OpenWayback and the Internet Archive.
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
"""Where each kind begins and ends."""

_HEAD = re.compile(rb"<head[^<>]{0,1000}>", re.IGNORECASE)
_HEAD_END = b"<!-- End Wayback Rewrite JS Include -->"
_OF_THE_PAGE = re.compile(rb"<(?:title|meta|base|body)\b", re.IGNORECASE)
"""What replay does not put between ``<head>`` and `_HEAD_END`: scripts and style sheets of the archive's own stand there."""


def undo_rewriting(page: bytes, base: str) -> bytes:
    """Return a replayed page as it was captured, as far as that can be known.

    Args:
        page: HTML, or anything else in which replay puts addresses.
        base: What stands before ``/TIMESTAMP/URI`` in the archive's URI-Ms.

    >>> undo_rewriting(b'<img src="/web/2010im_/http://h/a.png">', "http://archive.example/web")
    b'<img src="http://h/a.png">'
    """
    return _references(base).sub(_reference, without_insertions(page))


def without_insertions(page: bytes) -> bytes:
    """Return a replayed page without what replay inserts (scripts, a banner); its links stay as replay rewrote them."""
    page = _without_head_insertion(page)
    for start, end in _INSERTIONS:
        page = _without(page, start, end)
    return page


def is_rewritten(page: bytes, base: str) -> bool:
    """Tell whether a page that should be original was rewritten by this archive: it holds an insertion, and its addresses."""
    has_insertion = _HEAD_END in page or any(
        _without(page, start, end) != page for start, end in _INSERTIONS
    )
    return has_insertion and _references(base).search(page) is not None


def _without(page: bytes, start: re.Pattern[bytes], end: bytes) -> bytes:
    """Return a page without what stands between marks, and without these. Linear: replay is not to be trusted to end them."""
    kept: list[bytes] = []
    position = 0
    while found := start.search(page, position):
        stop = page.find(end, found.end())
        if stop < 0:
            break
        kept.append(page[position : found.start()])
        position = stop + len(end)
    return b"".join([*kept, page[position:]]) if kept else page


def _without_head_insertion(page: bytes) -> bytes:
    stop = page.find(_HEAD_END)
    head = _HEAD.search(page, 0, max(stop, 0))
    if head is None or _OF_THE_PAGE.search(page, head.end(), stop):
        return page
    return page[: head.end()] + page[stop + len(_HEAD_END) :]


def undo_uri(uri: str, base: str) -> str:
    """Return the URI-R in a URI-M of this archive; any other URI as it is.

    >>> undo_uri("/web/20100101000000id_/http://h/", "http://archive.example/web")
    'http://h/'
    """
    found = _references(base).match(uri.encode())
    return _reference(found).decode() + uri.encode()[found.end() :].decode() if found else uri


@lru_cache(maxsize=16)
def _references(base: str) -> re.Pattern[bytes]:
    """Return what matches the beginning of a URI-M, up to and with the scheme of the URI-R in it.

    The host may be left out, or its scheme; in scripts and JSON slashes are escaped.
    """
    parts = urlsplit(base)
    slash = rb"(?:/|\\/)"
    host = re.escape(parts.netloc.encode())
    path = slash.join(re.escape(step.encode()) for step in parts.path.split("/") if step)
    place = slash + (path + slash if path else b"")
    return re.compile(
        rb"(?<![\w.~%/\\-])(?:(?:https?:)?"
        + slash
        + slash
        + host
        + rb")?"
        + place
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
