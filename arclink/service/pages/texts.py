"""The texts of two captures next to each other; captured code is never run, only its text is shown.

The texts are read from the archive files, so a page of links does without them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flask import g

from arclink.access.chronicles import Chronicle
from arclink.access.differences import DiffQuery
from arclink.access.texts import printable
from arclink.captures.compared_texts import ComparedLine, ComparedTexts, LineChange, compare_texts
from arclink.captures.locate import capture_in_force
from arclink.captures.read import PageReader
from arclink.captures.text import PageText, read_text
from arclink.charts.time_axis import Axis
from arclink.errors import CaptureError
from arclink.model import Memento, Timestamp
from arclink.service.archived import current_reader
from arclink.service.pages.browse import browse_address, why_no_text
from arclink.service.pages.changes import ends_of, steps_between
from arclink.service.pages.requests import Asked, View, address, refuse_others
from arclink.service.settings import Settings
from arclink.store.protocols import Answers

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
        "steps": steps_between(asked, chronicle),
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
