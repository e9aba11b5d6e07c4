"""The captures of a page: outcome, address in the archive and replay address of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from arclink.access.capture_fields import EXPLANATION
from arclink.access.chronicles import Chronicle
from arclink.access.evidence import Explanation, explain
from arclink.access.formats.timemaps import ascii_in_path
from arclink.access.queries import requested_span
from arclink.access.reader import State, state_of
from arclink.access.texts import printable, printable_uri
from arclink.access.timemaps import uri_m
from arclink.analysis.charts.svg import Axis
from arclink.model import Timestamp
from arclink.reasons import Reason
from arclink.service.pages.requests import Asked, View, about, download, plain_query, refuse_others
from arclink.service.settings import Settings
from arclink.store.protocols import Answers
from arclink.uris.surts import method_of_key

AT_ONCE = 200
"""Maximum number of captures on one page."""


@dataclass(frozen=True, slots=True)
class CaptureRow:
    """One capture as the page shows it.

    Attributes:
        links: Number of distinct links it shows, counted as in all other views; None if unknown.
        with_repeats: Number of links written on the page, if some are repeated; else None.
        read_from: Archive file and offset of the record that was read, if it is another record.
        changes: Address of the changes since the capture before; None for the first.
        texts: Address of its text next to that of the capture before; None likewise, or if the
            service shows no captures.
        facts: The fields of the capture as in its explanation.
    """

    explanation: Explanation
    uri_m: str | None
    state: State
    links: int | None
    with_repeats: int | None
    read_from: tuple[str, int] | None
    changes: str | None
    texts: str | None
    facts: Mapping[str, str | int]


def show_captures(
    asked: Asked, store: Answers, settings: Settings, chronicle: Chronicle, axis: Axis
) -> dict[str, object]:
    """Return the template's data for the captures.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    refuse_others(asked, "uri", "url", "from", "to")
    uri = plain_query(asked).uri
    span = requested_span(asked.get("from"), asked.get("to"))
    explanations = list(islice(explain(store, uri, span), AT_ONCE + 1))
    shown = explanations[:AT_ONCE]
    before: list[Timestamp | None] = []
    last: Timestamp | None = None
    for one in shown:  # changes are those between answers to GET
        is_get = not method_of_key(one.memento.surt)
        before.append(last if is_get else None)
        last = one.memento.timestamp if is_get else last
    given = asked.only("uri", "url", "from", "to")
    downloads = [
        ("captures as JSON", download("explain", [("uri", uri), *asked.only("from", "to")]))
    ]
    path = ascii_in_path(uri)
    downloads.append(("TimeMap as JSON", f"timemap/json/{path}"))
    if settings.replay or settings.has_pages:
        downloads.append(("TimeMap", f"timemap/link/{path}"))
    distinct = {one.memento: one.links for one in chronicle.captures}
    return {
        "rows": [
            _row(store, one, earlier, uri, settings, distinct.get(one.memento))
            for one, earlier in zip(shown, before, strict=False)
        ],
        "more": asked.changed({"from": explanations[AT_ONCE].memento.timestamp})
        if len(explanations) > AT_ONCE
        else None,
        "start": asked.changed({"from": None}) if dict(given).get("from") else None,
        "downloads": downloads,
    }


def _row(
    store: Answers,
    explanation: Explanation,
    earlier: Timestamp | None,
    uri: str,
    settings: Settings,
    distinct: int | None,
) -> CaptureRow:
    memento, payload = explanation.memento, explanation.payload
    is_read = explanation.reason is Reason.PAYLOAD_READ and payload is not None
    written = dict(explanation.counts).get(Reason.LINK_KEPT, 0) if is_read else 0
    elsewhere = (
        is_read
        and payload is not None
        and (payload.file, payload.offset) != (memento.file, memento.offset)
    )
    has_earlier = earlier not in (None, memento.timestamp)
    method = method_of_key(memento.surt)
    replayed = None if method else uri_m(settings.replay, memento.timestamp, memento.original)
    return CaptureRow(
        explanation,
        uri_m=None if replayed is None else printable_uri(replayed),
        state=State.READ if explanation.content is not None else state_of(store, memento, None),
        links=distinct,
        with_repeats=written if is_read and written > (distinct or 0) else None,
        read_from=(printable(payload.file), payload.offset)
        if elsewhere and payload is not None
        else None,
        changes=about(uri, view=View.CHANGES, from_=earlier, to=memento.timestamp)
        if has_earlier
        else None,
        texts=about(uri, view=View.TEXT, from_=earlier, to=memento.timestamp)
        if has_earlier and settings.has_pages
        else None,
        facts=EXPLANATION.of(memento),
    )
