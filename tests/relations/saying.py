"""What captures say about their pages, in plain Python: each is compared with all others."""

from collections.abc import Sequence
from typing import NamedTuple

from arclink.checksums import is_reference, timestamp_of_reference, uri_of_reference
from arclink.model import EMPTY_PAYLOAD, NO_CHECKSUM, Memento
from arclink.store.protocols import Additions
from arclink.uris.surts import surt_of


class Saying(NamedTuple):
    """Status and media type that a capture shows, and whether it leads to its own page only."""

    status: int | None
    mime: str | None
    is_nothing: bool


def what_it_says(store: Additions, one: Memento, captures: Sequence[Memento]) -> Saying:
    """Return the `Saying` of a capture; ``captures`` are all of the store, in its order."""
    status, mime = one.status, one.mime
    if one.record_type == "revisit":
        repeated = _repeated(one, captures)
        mime = repeated.mime if repeated else "-"
        status = repeated.status if repeated and status in ("-", "304") else status
    content = store.content_of(one)
    links = [] if content is None else [*store.outlinks(content)]
    targets = [link.target for link in links if link.kind in ("http@location", "http@refresh")]
    is_redirect = status.startswith("3") and status != "304" and bool(targets)
    return Saying(
        None if status == "-" else int(status),
        None if mime == "-" else mime,
        is_redirect and surt_of(targets[0]) == one.surt,
    )


def _repeated(revisit: Memento, captures: Sequence[Memento]) -> Memento | None:
    """Return the capture that a revisit repeats."""
    if is_reference(revisit.checksum):
        uri, when = uri_of_reference(revisit.checksum), timestamp_of_reference(revisit.checksum)
        found = [
            one
            for one in captures
            if one.surt == surt_of(uri)
            and not is_reference(one.checksum)
            and (one.timestamp == when if when else one.timestamp <= revisit.timestamp)
            and (when or one.original == uri)
        ]
        found.sort(key=lambda one: (one.timestamp, one.original == uri))
        return found[-1] if found else None
    found = [
        one
        for one in captures
        if one.checksum == revisit.checksum != NO_CHECKSUM and one.record_type != "revisit"
    ]
    own = [one for one in found if one.surt == revisit.surt]
    earlier = [one for one in own if one.timestamp <= revisit.timestamp]
    # Pages without a body have one digest: it does not say which of them is repeated.
    others = [one for one in found if one.reason == "-" and one.checksum != EMPTY_PAYLOAD]
    return earlier[-1] if earlier else next(iter((*own, *others)), None)
