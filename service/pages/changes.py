"""What changed between two times: links that were added, removed and kept, and two texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from flask import g

from arclink.access.chronicles import Chronicle
from arclink.access.differences import (
    Change,
    ChangedLink,
    DiffAnswer,
    DiffQuery,
    InForceThen,
    answer_diff,
)
from arclink.access.formats.link_rows import uri_m_of
from arclink.access.texts import printable
from arclink.access.timemaps import ReplayPrefix
from arclink.analysis.charts.svg import Axis, moment_in_words
from arclink.captures.locate import capture_in_force
from arclink.captures.read import PageReader
from arclink.captures.text import (
    ComparedLine,
    ComparedTexts,
    LineChange,
    PageText,
    compare_texts,
    read_text,
)
from arclink.errors import CaptureError
from arclink.model import Memento, Sighting, Timestamp
from arclink.service.archived import current_reader
from arclink.service.pages.browse import browse_address, why_no_text
from arclink.service.pages.requests import Asked, View, about, address, refuse_others
from arclink.service.pages.saving import table_formats
from arclink.service.settings import Settings
from arclink.store.protocols import Answers

# The texts of two captures next to each other; captured code is never run, only its text is shown.
#
# The texts are read from the archive files, so a page of links does without them.


LIMIT = 500
"""Default number of links per kind of change."""


def show_changes(
    asked: Asked, store: Answers, settings: Settings, chronicle: Chronicle, axis: Axis
) -> dict[str, object]:
    """Return the template's data for the changes.

    Without two given times, those of the first and last capture are compared.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    first, last = ends_of(chronicle)
    chosen = {"from": asked.get("from", first), "to": asked.get("to", last)}
    steps = _steps_between(asked, chronicle)
    if not all(chosen.values()):
        return {"answer": None, "chosen": chosen, "steps": steps, "downloads": []}
    given = [pair for pair in asked.given if pair[0] not in chosen]
    query = DiffQuery.from_parameters(asked.given, first=first, last=last, limit=LIMIT)
    answer = answer_diff(store, query, settings.budget)
    ends = (query.first, query.last)
    totals = {
        change: sum(of_direction[change] for of_direction in answer.totals.values())
        for change in Change
    }
    return {
        "answer": answer,
        "texts": address(View.TEXT, [*asked.only("uri", "url"), *chosen.items()])
        if settings.has_pages
        else None,
        "chosen": chosen,
        "steps": steps,
        "sides": [_side(asked, chosen, name, ends, answer, chronicle) for name in ("from", "to")],
        "marks": [
            (mark, about(query.links.uri, view=View.LINKS, at=mark.at))
            for mark in axis.marks(chronicle.captures)
        ],
        "positions": list(map(axis.x_of, ends)) if axis.units else [],
        "rows": {
            change.value: [(link, _shown(link, settings.replay)) for link in answer.links[change]]
            for change in Change
        },
        "totals": {change.value: total for change, total in totals.items()},
        "is_complete": all(extent.is_complete for extent in answer.extents.values()),
        "downloads": table_formats(
            "diff", [*(pair for pair in given if pair[0] != "limit"), *chosen.items()]
        ),
    }


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two times.

    Attributes:
        shown: Each memento in force, with the address of its page then.
        earlier: Address of the comparison with the capture before, for this side; None without one
            that leaves the two times in their order.
        later: The same with the capture after.
    """

    when: Timestamp
    shown: Sequence[tuple[InForceThen, str]]
    earlier: str | None
    later: str | None


def _side(
    asked: Asked,
    chosen: Mapping[str, str],
    name: str,
    ends: tuple[Timestamp, Timestamp],
    answer: DiffAnswer,
    chronicle: Chronicle,
) -> Side:
    """Return the side of parameter ``name``, ``from`` or ``to``; ``ends`` are the two times."""
    before, after = ends
    is_before = name == "from"
    when, in_force = (before, answer.before) if is_before else (after, answer.after)
    times = [
        time
        for time in (captured.memento.timestamp for captured in chronicle.captures)
        if (time < after if is_before else time > before)
    ]
    now = max((one.memento.timestamp for one in in_force), default=when)
    earlier = max((time for time in times if time < now), default=None)
    later = min((time for time in times if time > when), default=None)
    return Side(
        when,
        [(one, browse_address(one.memento.timestamp, one.memento.original)) for one in in_force],
        *(
            None if time is None else asked.changed({**chosen, name: time})
            for time in (earlier, later)
        ),
    )


def ends_of(chronicle: Chronicle) -> tuple[str, str]:
    """Return the times of the first and last capture.

    For a page with fewer than two captures, return when anything was seen first and last.
    """
    times = [captured.memento.timestamp for captured in chronicle.captures]
    return (
        (times[0], times[-1]) if len(times) > 1 else (chronicle.first or "", chronicle.last or "")
    )


def _steps_between(asked: Asked, chronicle: Chronicle) -> list[tuple[str, str]]:
    """Return (words, address) of comparisons of adjacent captures in this view, newest first."""
    times = sorted({captured.memento.timestamp for captured in chronicle.captures})
    parameters = [pair for pair in asked.given if pair[0] not in ("from", "to")]
    return [
        (
            f"{moment_in_words(before)} → {moment_in_words(after)}",
            address(asked.view, [*parameters, ("from", before), ("to", after)]),
        )
        for before, after in reversed(list(pairwise(times)))
    ][:200]


def _shown(link: ChangedLink, replay: ReplayPrefix) -> list[tuple[Timestamp, str | None]]:
    """Return the times at which a link is shown, each with its replay address, if there are any."""
    ends = filter(None, (link.before, link.after))
    return [(one[1], uri_m_of(Sighting(*one), replay)) for one in ends]


_MOST_BYTES = 1 << 19
"""Maximum bytes of each page that are read: half a second, if each of a few bytes is a line."""
_AROUND = 3
"""Number of equal lines that are shown before and after a change; the others are folded."""


@dataclass(frozen=True, slots=True)
class TextSide:
    """One of the two captures.

    Attributes:
        capture: None if the page was not captured by then.
        href: Address of the page then; None without a capture.
        why_not: Why its text cannot be shown; None if it can.
    """

    when: Timestamp
    capture: Memento | None
    href: str | None
    why_not: str | None


@dataclass(frozen=True, slots=True)
class TextPortion:
    """Neighbouring lines of the comparison.

    Attributes:
        is_folded: Whether they are equal and far from any change.
    """

    is_folded: bool
    lines: Sequence[ComparedLine]


def show_texts(
    asked: Asked, store: Answers, settings: Settings, chronicle: Chronicle, axis: Axis
) -> dict[str, object]:
    """Return the template's data for the texts of two captures.

    Without two given times, those of the first and last capture are compared.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    refuse_others(asked, "uri", "url", "from", "to")
    # The answer depends on archive files, which may change while the store does not.
    g.etag = g.modified = None
    first, last = ends_of(chronicle)
    chosen = {"from": asked.get("from", first), "to": asked.get("to", last)}
    data: dict[str, object] = {
        "has_pages": settings.has_pages,
        "chosen": chosen,
        "compared": None,
        "sides": [],
        "steps": _steps_between(asked, chronicle),
        "changes": address(View.CHANGES, asked.given),
    }
    if not settings.has_pages or not all(chosen.values()):
        return data
    query = DiffQuery.from_parameters(asked.given, first=first, last=last)
    reader = current_reader()
    found = [_text_at(store, reader, query.links.uri, at) for at in (query.first, query.last)]
    texts = [text for _, text in found if text is not None]
    compared = None
    if len(texts) == len(found):
        compared = compare_texts(*(map(printable, text.lines()) for text in texts))
    return {
        **data,
        "sides": [side for side, _ in found],
        "compared": compared,
        "portions": [] if compared is None else list(_parts(compared)),
        "is_equal": compared is not None
        and all(line.change is LineChange.EQUAL for line in compared.lines),
        "is_cut": compared is not None and (compared.is_cut or any(text.is_cut for text in texts)),
    }


def _text_at(
    store: Answers, reader: PageReader, uri: str, at: Timestamp
) -> tuple[TextSide, PageText | None]:
    """Return the capture in force at a time, and its text."""
    capture = capture_in_force(store, uri, at)
    if capture is None:
        return TextSide(at, None, None, "There are no captures by then to show."), None
    href = browse_address(capture.timestamp, capture.original)
    try:
        with reader.read(capture) as page:
            return TextSide(at, capture, href, None), read_text(page, _MOST_BYTES)
    except CaptureError as error:
        return TextSide(at, capture, href, why_no_text(error)), None


def _parts(compared: ComparedTexts) -> Iterator[TextPortion]:
    """Yield the lines in parts that are shown or folded."""
    runs = list(compared.runs())
    shown: list[ComparedLine] = []
    for number, (change, lines) in enumerate(runs):
        begin = _AROUND if number else 0
        end = len(lines) - (_AROUND if number + 1 < len(runs) else 0)
        if change is not LineChange.EQUAL or end - begin <= 1:
            shown += lines
            continue
        shown += lines[:begin]
        if shown:
            yield TextPortion(False, shown)
        yield TextPortion(True, lines[begin:end])
        shown = [*lines[end:]]
    if shown:
        yield TextPortion(False, shown)
