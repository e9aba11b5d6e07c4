"""Which captures have known links: what was read, an error, or a redirect to another page.

A redirect to a variant of its own URI says nothing about the page, whose links stay unknown
(`arclink.access.reader`). Stores count by their own status: what a revisit without one repeats
may come with any later batch, on any page.
"""

from collections.abc import Iterator
from typing import Protocol

from arclink.checksums import is_of_page
from arclink.known import NOT_MODIFIED, is_gone
from arclink.model import REVISIT, ContentId, Kind, Memento, Outlink, UriR
from arclink.uris.resolution import checksum_of
from arclink.uris.surts import surt_of

LOCATION = Kind("http@location")
"""The kind of the link of a redirect; only redirects have it."""

_REDIRECTS = frozenset({LOCATION, Kind("http@refresh")})


class _Links(Protocol):
    """The part of a store that this module queries."""

    def content_of(self, memento: Memento) -> ContentId | None:
        """Return the content that a memento shows (`Answers.content_of`)."""

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        """Yield the links of a content (`Answers.outlinks`)."""


def is_read(store: _Links, memento: Memento, content: ContentId | None) -> bool:
    """Return whether the links of a capture are known.

    Args:
        store: The store with the capture.
        memento: The capture.
        content: Its content; None if its payload was not read.
    """
    if content is None:
        return is_gone(memento.status)
    return not _leads_to_itself(store, memento, content)


def leads_to_itself(store: _Links, memento: Memento) -> bool:
    """Return whether ``memento`` redirects to a variant of its own URI: it says nothing then.

    A redirect that was not read may do so: it is taken for another one.
    """
    return _may_redirect(memento) and _leads_to_itself(store, memento, store.content_of(memento))


def target_of_redirect(store: _Links, memento: Memento) -> UriR | None:
    """Return where a redirect leads to; None for other mementos and for unknown targets.

    The target is that of ``Location``, or of ``Refresh`` if the redirect has no ``Location``.
    """
    return _target(store, memento, store.content_of(memento)) if _may_redirect(memento) else None


def has_own_status(memento: Memento) -> bool:
    """Return whether a memento has a status of its own; "not modified" does not count."""
    return memento.status not in ("-", NOT_MODIFIED)


def _may_redirect(memento: Memento) -> bool:
    """Return whether a memento may be a redirect, at a glance: nearly no capture is one."""
    if has_own_status(memento):
        return memento.status.startswith("3")
    return memento.record_type == REVISIT


def _leads_to_itself(store: _Links, memento: Memento, content: ContentId | None) -> bool:
    target = _target(store, memento, content)
    return target is not None and surt_of(target) == memento.surt


def _target(store: _Links, memento: Memento, content: ContentId | None) -> UriR | None:
    if content is None or not _may_redirect(memento):
        return None
    if not has_own_status(memento) and is_of_page(checksum_of(content)):
        return None
    return next((link.target for link in store.outlinks(content) if link.kind in _REDIRECTS), None)
