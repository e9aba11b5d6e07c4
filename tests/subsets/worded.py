"""The meaning of selections with words in plain Python: true, false or unknown for each capture."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from zlib import crc32

from arclink.access.replay import moment_of
from arclink.access.texts import printable
from arclink.access.words import parse_words
from arclink.captures.subsets.language import AllOf, AnyOf, Condition, Except, Selection
from arclink.model import ContentId, Memento, Timestamp
from arclink.rows.texts import TextRow
from arclink.store.protocols import Additions, Scans
from arclink.timestamps import first_of
from arclink.uris.surts import surt_of
from tests.relations.plain_words import plain_words
from tests.subsets.selections import CaptureTable, sql_of

_SENTENCES = (
    "The torch relay reached the harbour at dawn",
    "A relay of torches, and a dawn over Kalvik",
    "Tickets for the opening ceremony: 2010",
    "Ceremony tickets are sold out; opening hours below",
    "オリンピックの開会式",
)
TERMS = (
    *("relay", "torch", "torch*", '"torch relay"', '"relay torch"', "tickets ceremony", "2010"),
    *('"opening ceremony"', '"opening cer"*', "開会式", "kalvik", "home", "hom*", '"read more"'),
    *("archive*", "the of", "olympic*", "photos", "no-such-word", "é"),
)
"""Terms; no text has some of them."""

Known = bool | None
"""Whether a capture is in a selection; None if that is not known."""


def texts_of(payloads: Sequence[str]) -> list[TextRow]:
    """Return generated texts of some payloads: some have none, are cut, or were not read."""
    rows: list[TextRow] = []
    for payload in sorted(payloads):
        number = crc32(payload.encode())
        text = "\n".join(
            one for place, one in enumerate(_SENTENCES) if number >> place & 1 or number % 7 == 0
        )
        title = "Torch relay" if number % 5 == 0 else ""
        if number % 11 == 0:
            rows.append((payload, None, None, None, None))
        elif number % 13:
            rows.append((payload, title, None, text, number % 6 == 0))
    return rows


def payload_of(content: ContentId) -> str:
    return re.sub("-[0-9a-f]{16}$", "", content)


class WordsOfCaptures:
    """What captures of a store have in their texts and titles, and in the links to them.

    Args:
        whole: The store.
        shown: The part of it that is asked.
        texts: Its texts.
    """

    def __init__(self, whole: Additions, shown: Scans, texts: Sequence[TextRow]) -> None:
        self.mementos = list(shown.scan_mementos())
        by_payload = {row[0]: row for row in texts}
        every = list(whole.scan_mementos())
        titles = dict(whole.shown(every))
        self.titles: list[str | None] = []
        self.texts: list[tuple[str, bool] | None] = []
        anchors: dict[str, set[str]] = {}
        for memento in self.mementos:
            content = shown.content_of(memento)
            row = by_payload.get(payload_of(content)) if content is not None else None
            title = None if content is None else titles[content]
            self.titles.append(title or (title if row is None or row[1] is None else row[1]))
            has_text = row is not None and row[3] is not None
            self.texts.append((row[3] or "", bool(row[4])) if row and has_text else None)
            for link in () if content is None else shown.outlinks(content):
                anchors.setdefault(printable(link.text), set()).add(surt_of(link.target))
        self._anchors = anchors

    def selected(self, selection: Selection, table: CaptureTable) -> list[Memento]:
        """Return the captures that a selection selects; ``table`` has the other fields."""
        numbers = {memento: number for number, memento in enumerate(table.mementos)}

        def of(condition: Condition) -> Iterator[Known]:
            if condition.field in ("text", "title", "anchor"):
                yield from self._words(condition)
                return
            found = {number for (number,) in table.rows(sql_of(condition))}
            yield from (numbers[memento] in found for memento in self.mementos)

        values = self._values(selection, of)
        return [memento for memento, value in zip(self.mementos, values, strict=True) if value]

    def _values(
        self, selection: Selection, of: Callable[[Condition], Iterator[Known]]
    ) -> list[Known]:
        match selection:
            case Condition():
                return list(of(selection))
            case AllOf(parts, pick):
                values = [
                    _all(some) for some in zip(*(self._values(p, of) for p in parts), strict=True)
                ]
                return self._picked(values, pick) if pick else values
            case AnyOf(parts):
                columns = zip(*(self._values(part, of) for part in parts), strict=True)
                return [_not(_all([_not(one) for one in some])) for some in columns]
            case Except(part):
                return [_not(one) for one in self._values(part, of)]

    def _picked(self, values: Sequence[Known], pick: str) -> list[Known]:
        chosen: set[int] = set()
        rows = enumerate(zip(self.mementos, values, strict=True))
        for _, same in groupby(rows, lambda row: row[1][0].surt):
            inside = [number for number, (_, value) in same if value]
            if inside and pick.startswith("nearest@"):
                middle = _seconds(first_of(pick.removeprefix("nearest@")))
                chosen.add(
                    min(
                        inside, key=lambda one: abs(_seconds(self.mementos[one].timestamp) - middle)
                    )
                )
            elif inside:
                chosen.add(inside[-1 if pick == "latest" else 0])
        return [None if one is None else number in chosen for number, one in enumerate(values)]

    def _words(self, condition: Condition) -> Iterator[Known]:
        terms = [] if condition.value == "*" else parse_words(condition.value)
        leads = {
            surt
            for text, surts in self._anchors.items()
            if condition.field == "anchor" and has_terms(plain_words(text), terms)
            for surt in surts
        }
        for memento, title, text in zip(self.mementos, self.titles, self.texts, strict=True):
            words = [*plain_words(title or ""), "", *plain_words(text[0] if text else "")]
            is_whole = text is not None and not text[1]
            match condition.field, condition.value:
                case "anchor", _:
                    yield memento.surt in leads
                case "text", "*":
                    yield is_whole
                case "title", "*":
                    yield title is not None
                case "text", _:
                    yield has_terms(words, terms) or (False if is_whole else None)
                case _:
                    yield None if title is None else has_terms(plain_words(title), terms)


def has_terms(words: Sequence[str], terms: Sequence[str]) -> bool:
    """Return whether words have all terms."""
    return all(_has(words, plain_words(term), is_open=term.endswith("*")) for term in terms)


def _has(words: Sequence[str], phrase: Sequence[str], *, is_open: bool) -> bool:
    size = len(phrase)
    for start in range(len(words) - size + 1):
        found = list(words[start : start + size])
        if is_open and found[-1].startswith(phrase[-1]):
            found[-1] = phrase[-1]
        if size and found == list(phrase):
            return True
    return False


def _all(values: Sequence[Known]) -> Known:
    if False in values:
        return False
    return None if None in values else True


def _not(value: Known) -> Known:
    return None if value is None else not value


def _seconds(timestamp: Timestamp) -> float:
    return moment_of(timestamp).timestamp()
