"""The captures of a page: what became of each, where it stands in the archive, and where it is replayed."""

from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote

from arclink.access.chronicles import Chronicle
from arclink.access.explaining import Explanation, explain
from arclink.access.queries import span_asked
from arclink.access.replay import uri_m
from arclink.access.states import State, state_of
from arclink.access.texts import printable, printable_uri
from arclink.model import Timestamp
from arclink.reasons import Reason
from arclink.store import GraphStore
from service.pages.asking import Asked, View, about, download, plain_query, refuse_others
from service.pages.drawing import Axis
from service.settings import Settings

AT_ONCE = 200
"""Captures on one page."""


@dataclass(frozen=True, slots=True)
class Row:
    """One capture as the page shows it.

    Attributes:
        why: What became of it, in words.
        links: How many links it shows, repeated ones included; None if that is not known.
        read_from: Archive file and offset of the record that was read, where it is another one.
        changes: Address of what changed since the capture before; None for the first.
    """

    timestamp: Timestamp
    uri: str
    uri_m: str | None
    state: State
    status: str
    mime: str
    record_type: str
    why: str
    links: int | None
    file: str
    offset: int
    checksum: str
    read_from: tuple[str, int] | None
    href: str
    changes: str | None


def show_captures(asked: Asked, store: GraphStore, settings: Settings, chronicle: Chronicle, axis: Axis) -> dict[str, object]:
    """Return what the template shows of the captures.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store is away.
    """
    refuse_others(asked, "uri", "url", "from", "to")
    uri = plain_query(asked).uri
    span = span_asked(asked.get("from"), asked.get("to"))
    found = list(islice(explain(store, uri, span), AT_ONCE + 1))
    shown = found[:AT_ONCE]
    before: list[Timestamp | None] = [None, *(one.memento.timestamp for one in shown)]
    given = asked.only("uri", "url", "from", "to")
    downloads = [("captures as JSON", download("explain", [("uri", uri), *asked.only("from", "to")]))]
    path = quote(printable_uri(uri), safe=":/?&=;,+@!$'()*~%")
    downloads.append(("TimeMap as JSON", f"timemap/json/{path}"))
    if settings.replay:
        downloads.append(("TimeMap", f"timemap/link/{path}"))
    return {
        "rows": [_row(one, earlier, uri, settings) for one, earlier in zip(shown, before, strict=False)],
        "more": asked.changed({"from": found[AT_ONCE].memento.timestamp}) if len(found) > AT_ONCE else None,
        "start": asked.changed({"from": None}) if dict(given).get("from") else None,
        "downloads": downloads,
    }


def _row(one: Explanation, earlier: Timestamp | None, uri: str, settings: Settings) -> Row:
    memento, payload = one.memento, one.payload
    is_read = one.reason is Reason.PAYLOAD_READ and payload is not None
    elsewhere = is_read and payload is not None and (payload.file, payload.offset) != (memento.file, memento.offset)
    replayed = uri_m(settings.replay, memento.timestamp, memento.original)
    return Row(
        timestamp=memento.timestamp,
        uri=printable_uri(memento.original),
        uri_m=None if replayed is None else printable_uri(replayed),
        state=state_of(memento, is_known=one.content is not None),
        status=printable(memento.status),
        mime=printable(memento.mime),
        record_type=printable(memento.record_type),
        why=one.reason.text,
        links=dict(one.counts).get(Reason.LINK_KEPT, 0) if is_read else None,
        file=printable(memento.file),
        offset=memento.offset,
        checksum=printable(memento.checksum),
        read_from=(printable(payload.file), payload.offset) if elsewhere and payload is not None else None,
        href=about(uri, view=View.LINKS, at=memento.timestamp),
        changes=about(uri, view=View.CHANGES, from_=earlier, to=memento.timestamp) if earlier not in (None, memento.timestamp) else None,
    )
