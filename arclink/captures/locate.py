"""Which capture answers for a URI and a time, and which captures may hold its payload.

Everything is read from the store by its protocol, so captures that an embargo hides or that were
forgotten do not exist here, neither as answers nor as holders of another capture's payload.

The payload that a memento shows (`arclink.store.blocks.rows`) is its own. For a revisit, it
is that of another capture with the same checksum, else that of the capture that it names. For "not
modified", and for the revisit of a redirect without Location, this capture also gives status and
headers.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import NamedTuple

from arclink.access.declarations import AT
from arclink.access.queries import surt_asked
from arclink.access.reader import of_one_state
from arclink.access.timemaps import backwards, by_distance
from arclink.checksums import (
    is_reference,
    normal_checksum,
    timestamp_of_reference,
    uri_of_reference,
)
from arclink.errors import CaptureError
from arclink.model import (
    ALL_TIME,
    NO_CHECKSUM,
    REVISIT,
    Checksum,
    Memento,
    Span,
    Timestamp,
    UriR,
)
from arclink.reasons import Reason
from arclink.store.blocks.rows import capture_named, captures_named
from arclink.store.known_captures import leads_to_itself
from arclink.store.protocols import Answers, Captures, Scans
from arclink.uris.surts import surt_of

MOST_LISTED = 1_000
"""Largest number of captures that are read to find the newest one."""

_ALGORITHMS = ("sha1:", "sha256:", "sha512:", "md5:")


class Neighbours(NamedTuple):
    """The captures of a URI around one of them; None for a missing one.

    Attributes:
        first: The oldest one.
        prev: The next older one.
        next: The next newer one.
        last: The newest one; None also if there are too many captures to look.
    """

    first: Memento | None
    prev: Memento | None
    next: Memento | None
    last: Memento | None


def find_capture(store: Scans, text: str, at: str = "") -> Memento:
    """Return the capture that a user names.

    Args:
        store: The store to search.
        text: A URI, or the checksum of a payload with the name of its algorithm (``sha1:…``).
        at: A time as users type it: the capture in force at its end; if empty, the newest one.

    Raises:
        BadParameterError: The text is not a URI, or ``at`` is not a time.
        CaptureError: The graph has no such capture.
    """
    if is_checksum(text):
        return _capture_of_checksum(store, normal_checksum(text))
    before = AT.read(at) if at else ALL_TIME.last
    found = capture_in_force(store, text, before)
    if found is not None:
        return found
    oldest = next(store.mementos(surt_asked("uri", text)), None)
    if oldest is None:
        raise CaptureError(f"not captured: the graph has no capture of {text}")
    raise CaptureError(
        f"not captured by {before}: the oldest capture of {text} is of {oldest.timestamp}"
    )


def is_checksum(text: str) -> bool:
    """Return whether a user names a payload by its checksum, not a URI."""
    return text.lower().startswith(_ALGORITHMS)


@of_one_state
def capture_in_force(store: Answers, uri: str, at: Timestamp = ALL_TIME.last) -> Memento | None:
    """Return the newest capture of a URI that is not newer than ``at``; None without one.

    Of several variants of the URI at the same time, the one that is written as asked is preferred.
    Captures that redirect to a variant of themselves are only returned if there are no others.

    Raises:
        BadParameterError: ``uri`` is not a URI.
    """
    return _first_that_says(store, backwards(store, surt_asked("uri", uri), at), uri)


@of_one_state
def capture_at(store: Answers, uri: str, timestamp: Timestamp) -> Memento | None:
    """Return the capture of a URI at exactly this time; None if it has no such capture.

    A capture of another variant of the URI counts, unless it only redirects to a variant of itself:
    to a browser that asks for the target, that would be an endless loop.
    """
    same = list(store.mementos(surt_asked("uri", uri), Span(timestamp, timestamp)))
    if not same:
        return None
    found = _preferred(store, same, uri)
    return None if found.original != uri and leads_to_itself(store, found) else found


@of_one_state
def capture_near(store: Answers, uri: str, timestamp: Timestamp) -> Memento | None:
    """Return the capture of a URI that is nearest to a time; None if it was never captured.

    Of two captures with the same distance, the older one is returned. Captures that redirect to a
    variant of themselves are only returned if there are no others.
    """
    return _first_that_says(store, by_distance(store, surt_asked("uri", uri), timestamp), uri)


def _first_that_says(store: Answers, captures: Iterable[Memento], uri: str) -> Memento | None:
    """Return the first capture that says something about its page, else the first one."""
    first: Memento | None = None
    for _, of_time in groupby(captures, attrgetter("timestamp")):
        same = list(of_time)
        says = [one for one in same if not leads_to_itself(store, one)]
        if says:
            return _preferred(store, says, uri)
        first = first or _preferred(store, same, uri)
    return first


def _preferred(store: Answers, same: list[Memento], uri: str) -> Memento:
    """Return the capture of a URI among captures of its variants at one time."""
    if len(same) == 1:
        return same[0]
    return min(
        same,
        key=lambda memento: (
            memento.original != uri,
            leads_to_itself(store, memento),
            memento.record_type == REVISIT,
            is_reference(memento.checksum),
        ),
    )


def neighbours_of(store: Answers, memento: Memento) -> Neighbours:
    """Return the captures of the same SURT around a capture."""
    captures = list(islice(store.mementos(memento.surt), MOST_LISTED + 1))
    if len(captures) <= MOST_LISTED:
        older = [one for one in captures if one.timestamp < memento.timestamp]
        newer = [one for one in captures if one.timestamp > memento.timestamp]
        return Neighbours(
            older[0] if older else memento,
            older[-1] if older else None,
            newer[0] if newer else None,
            newer[-1] if newer else memento,
        )
    older_first = (
        one
        for one in backwards(store, memento.surt, memento.timestamp)
        if one.timestamp < memento.timestamp
    )
    after = Timestamp(f"{int(memento.timestamp) + 1:014d}")
    return Neighbours(
        captures[0],
        next(older_first, None),
        next(store.mementos(memento.surt, Span(first=after)), None),
        None,
    )


def capture_shown(store: Captures, memento: Memento) -> Memento:
    """Return the capture that a memento shows: itself, or the one that it refers to.

    Raises:
        CaptureError: The graph does not have the capture it refers to.
    """
    if not is_reference(memento.checksum):
        return memento
    named = capture_named(store, memento)
    if named is not None:
        return named
    uri, when = uri_of_reference(memento.checksum), timestamp_of_reference(memento.checksum)
    why = (
        "it says that nothing was modified, and the capture before is missing"
        if when is None
        else f"it names the capture of {uri} at {when}, which is missing"
    )
    raise not_at_hand(memento, why)


def not_at_hand(memento: Memento, why: str) -> CaptureError:
    """Return the error for a capture whose payload is in no capture of the graph."""
    return CaptureError(
        f"{memento.original} at {memento.timestamp}: payload not at hand: {why} "
        f"({memento.file}, byte {memento.offset})",
        Reason.PAYLOAD_NOT_AT_HAND,
        memento.file,
    )


def holders_of_payload(
    store: Captures,
    memento: Memento,
    refers_to_uri: str = "",
    refers_to_timestamp: str = "",
) -> Iterator[Memento]:
    """Yield the captures whose records may hold the payload of a revisit, most easily found first.

    All are captures of this store. The address from which a build read a payload is not used: its
    capture may have been forgotten since.

    Args:
        store: The store with the revisit.
        memento: The revisit.
        refers_to_uri: The capture that its record names; empty if it names none.
        refers_to_timestamp: The time of that capture; empty if the record does not say.
    """
    seen = {(memento.file, memento.offset)}
    for other in _possible_holders(store, memento, refers_to_uri, refers_to_timestamp):
        if other.record_type != REVISIT and (other.file, other.offset) not in seen:
            seen.add((other.file, other.offset))
            yield other


def _possible_holders(
    store: Captures, memento: Memento, refers_to_uri: str, refers_to_timestamp: str
) -> Iterator[Memento]:
    checksum = memento.checksum
    named: list[Memento] = []
    if refers_to_timestamp:
        uri = UriR(refers_to_uri or memento.original)
        named = captures_named(store, uri, Timestamp(refers_to_timestamp))
    if checksum != NO_CHECKSUM:
        # Most captures that are named have the checksum, and are found most easily.
        yield from (other for other in named if other.checksum == checksum)
        yield from captures_of(store, checksum)
        for other in by_distance(store, memento.surt, memento.timestamp):
            if other.checksum == checksum:
                yield other
    yield from named


def captures_of(store: Captures, checksum: Checksum) -> Iterator[Memento]:
    """Yield the captures with a checksum, if a build read payloads of that kind; else none.

    A store finds captures by checksum only for payloads that a build reads for links.
    """
    for original in store.originals_of(checksum):
        for memento in store.mementos(surt_of(original)):
            if memento.original == original and memento.checksum == checksum:
                yield memento


def _capture_of_checksum(store: Scans, checksum: Checksum) -> Memento:
    """Return a capture that shows the payload with a checksum.

    Payloads that a build does not read, such as images, are found by a scan of the whole store.

    Raises:
        CaptureError: No capture of the graph has this checksum.
    """
    revisit: Memento | None = None
    for found in (captures_of(store, checksum), store.scan_mementos()):
        for memento in found:
            if memento.checksum == checksum:
                if memento.record_type != REVISIT:
                    return memento
                revisit = revisit or memento
    if revisit is None:
        raise CaptureError(f"not captured: the graph has no capture with the checksum {checksum}")
    return revisit
