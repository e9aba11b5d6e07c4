"""What changed between two times: links that were added, removed and kept, and two texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from arclink.access.differences import (
    Change,
    ChangedLink,
    DiffAnswer,
    DiffQuery,
    InForceThen,
    answer_diff,
)
from arclink.access.formats.link_rows import uri_m_of
from arclink.access.replay import ReplayPrefix
from arclink.access.texts import printable
from arclink.analysis.charts.svg import moment_in_words
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
from arclink.service.pages.blocks import PageBlock, PageParts, table_formats
from arclink.service.pages.browse import browse_address, why_no_text
from arclink.service.pages.requests import PageHistory, View, address
from arclink.service.stores import will_change
from arclink.store.protocols import Answers

# The texts of two captures next to each other; captured code is never run, only its text is shown.
#
# The texts are read from the archive files, so a page of links does without them.


LIMIT = 500
"""Default number of links per kind of change."""


_CHANGES = {
    Change.ADDED: ("Added", "After, but not before."),
    Change.REMOVED: ("Removed", "Before, but not after."),
    Change.UNKNOWN: (
        "Unknown",
        "At one time only; at the other time the page was not captured or not read, so the link "
        "may have existed.",
    ),
    Change.KEPT: ("Kept", "At both times."),
}
"""The kinds of change in their order: title, and what they mean."""


def show_changes(page: PageHistory) -> PageParts:
    """Return the changes.

    Without two given times, those of the first and last capture are compared.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    asked, axis, settings = page.asked, page.axis, page.settings
    chosen = _chosen(page)
    controls = PageBlock("controls", "changes_form", lambda: {"chosen": chosen})
    steps = PageBlock("steps", "steps", lambda: {"steps": _steps_between(page)})
    if not all(chosen.values()):
        return PageParts([controls, PageBlock("compared", "compared", dict), steps])
    query = DiffQuery.from_parameters(asked.given, **_ends(page), limit=LIMIT)
    answer = answer_diff(page.store, query, settings.budget)
    ends = (query.first, query.last)
    totals = {change: answer.total(change) for change in Change}
    but = {*chosen, "limit"}
    given = [*(pair for pair in asked.given if pair[0] not in but), *chosen.items()]
    downloads = table_formats("diff", given)
    texts = address(View.TEXT, [*asked.only("uri", "url"), *chosen.items()])
    compared = {
        "sides": [_side(page, chosen, name, ends, answer) for name in ("from", "to")],
        "texts": texts if settings.has_pages else None,
        "marks": page.marks(),
        "positions": list(map(axis.x_of, ends)) if axis.units else [],
        "tally": [(change.value, title, totals[change]) for change, (title, _) in _CHANGES.items()],
        "is_complete": all(extent.is_complete for extent in answer.extents.values()),
    }

    def changed(change: Change) -> PageBlock:
        title, why = _CHANGES[change]
        rows = [(link, _shown(link, settings.replay)) for link in answer.links[change]]
        facts = {
            "title": title,
            "why": why,
            "rows": rows,
            "total": totals[change],
        }
        return PageBlock(change.value, "changes", lambda: facts)

    blocks = [changed(change) for change in _CHANGES if totals[change]]
    return PageParts(
        [controls, PageBlock("compared", "compared", lambda: compared), *blocks, steps], downloads
    )


def _ends(page: PageHistory) -> dict[str, str]:
    """Return the times of the first and last capture, as of the parameters of a comparison.

    For a page with fewer than two captures, these are when anything was seen first and last.
    """
    times, known = page.times, page.chronicle
    ends = (times[0], times[-1]) if len(times) > 1 else (known.first or "", known.last or "")
    return dict(zip(("first", "last"), ends, strict=True))


def _chosen(page: PageHistory) -> dict[str, str]:
    """Return the two times as given, by parameter; empty without one."""
    first, last = _ends(page).values()
    return {"from": page.asked.get("from", first), "to": page.asked.get("to", last)}


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
    page: PageHistory,
    chosen: Mapping[str, str],
    name: str,
    ends: tuple[Timestamp, Timestamp],
    answer: DiffAnswer,
) -> Side:
    """Return the side of parameter ``name``, ``from`` or ``to``; ``ends`` are the two times."""
    before, after = ends
    is_before = name == "from"
    when, in_force = (before, answer.before) if is_before else (after, answer.after)
    times = [time for time in page.times if (time < after if is_before else time > before)]
    now = max((one.memento.timestamp for one in in_force), default=when)
    earlier = max((time for time in times if time < now), default=None)
    later = min((time for time in times if time > when), default=None)
    return Side(
        when,
        [(one, browse_address(one.memento.timestamp, one.memento.original)) for one in in_force],
        *(
            None if time is None else page.asked.changed({**chosen, name: time})
            for time in (earlier, later)
        ),
    )


def _steps_between(page: PageHistory) -> list[tuple[str, str]]:
    """Return (words, address) of comparisons of adjacent captures in this view, newest first."""
    asked = page.asked
    parameters = [pair for pair in asked.given if pair[0] not in ("from", "to")]
    return [
        (
            f"{moment_in_words(before)} → {moment_in_words(after)}",
            address(asked.view, [*parameters, ("from", before), ("to", after)]),
        )
        for before, after in reversed(list(pairwise(sorted({*page.times}))))
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


def show_texts(page: PageHistory) -> PageParts:
    """Return the texts of two captures.

    Without two given times, those of the first and last capture are compared.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    page.refuse_others("from", "to")
    # The answer depends on archive files, which may change while the store does not.
    will_change()
    chosen, settings = _chosen(page), page.settings
    controls = PageBlock("controls", "texts_form", lambda: {"chosen": chosen})
    steps = PageBlock("steps", "steps", lambda: {"steps": _steps_between(page)})
    if not settings.has_pages:
        return PageParts([PageBlock("texts", "texts", lambda: {"has_pages": False})])
    if not all(chosen.values()):
        return PageParts(
            [controls, PageBlock("texts", "texts", lambda: {"has_pages": True}), steps]
        )
    query = DiffQuery.from_parameters(page.asked.given, **_ends(page))

    def texts() -> Mapping[str, object]:
        reader = current_reader()
        found = [
            _text_at(page.store, reader, query.links.uri, at) for at in (query.first, query.last)
        ]
        read = [text for _, text in found if text is not None]
        facts = {
            "has_pages": True,
            "sides": [side for side, _ in found],
            "changes": address(View.CHANGES, page.asked.given),
        }
        if len(read) < len(found):
            return facts
        compared = compare_texts(*(map(printable, text.lines()) for text in read))
        return {
            **facts,
            "compared": compared,
            "portions": [*_parts(compared)],
            "is_equal": all(line.change is LineChange.EQUAL for line in compared.lines),
            "is_cut": compared.is_cut or any(text.is_cut for text in read),
        }

    return PageParts([controls, PageBlock("texts", "texts", texts), steps])


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
            return TextSide(at, capture, href, None), read_text(page, _MOST_BYTES, has_links=False)
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
