"""Where an answer is from: the archive, its captures and their times, the state of the store.

One `Provenance` goes with an answer to all its doors: JSON, CSVW, Parquet, pictures, pages, Python.
It has no time of asking, so that the same answer has the same bytes and the same validator; files,
pictures and lines to cite have the day.

A state is a checksum of counts: captures and known links of each day, and payloads, contents and
links in all. A store that was built in other batches, by another engine, or restored from a backup
has the same state. Two states that differ prove that stores differ; equal ones do not prove that
they are equal.
"""

import hashlib
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, NamedTuple, NotRequired, Self, TypedDict
from weakref import WeakKeyDictionary

from arclink.access.declarations import NOTHING_GIVEN, SUBSET, AnyParameter, Given
from arclink.access.queries import CURSOR, LINK_PARAMETERS
from arclink.access.texts import counted, cut_in_the_middle, printable, safe_text
from arclink.known import NOT_COUNTED, KnownLinks, known_in
from arclink.store.protocols import Scans
from arclink.timestamps import day_of
from arclink.version import VERSION

_MOST_COUNTED = 5_000
"""Captures up to which all that a subset shows, or an embargo leaves, is counted, once a state.

The state is then that of a store which has only this.
"""

_MOST_SCANNED = 200_000
"""Captures of such a part up to which the captures of each day are, at 5 µs each."""

_DAY = r"\d{4}-\d\d-\d\d"

_CITED = 120
"""Cells of a name or a question in a line to cite."""

_LONGEST = 1_000
"""Characters of a name or a question in the answer of another archive."""

_FORMS = {"state": "[0-9a-f]{16}", "first": _DAY, "last": _DAY, "arclink": r"[\w.+-]{1,40}"}

_DAY_OF: Mapping[str, object] = {"format": "date"}


class ProvenanceFields(TypedDict):
    """Where an answer is from."""

    archive: Annotated[str | None, "Name of the archive."]
    captures: Annotated[int | None, "Its captures that the caller may see; null: not counted."]
    read: Annotated[int | None, "Those of them with known links; null: not known."]
    first: Annotated[str | None, _DAY_OF, "Day of the first one."]
    last: Annotated[str | None, _DAY_OF, "Day of the last one."]
    state: Annotated[
        str | None, {"pattern": "^[0-9a-f]{16}$"}, "Checksum of counts; null: not counted."
    ]
    arclink: Annotated[str, "Version of ArcLink."]
    asked: Annotated[str | None, "The question, in words of the command line."]
    date: NotRequired[Annotated[str, _DAY_OF, "The day on which it was read, in files."]]
    cite: Annotated[str, "A line to cite."]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an answer is from.

    Attributes:
        archive: Name of the archive, or empty.
        known: Its captures that the caller may see, and those of them with known links; None in it
            if they are not counted.
        first: Day of the first capture, ``2010-02-17``; empty if it is not known.
        last: Day of the last one.
        state: 16 hexadecimal digits, a checksum of counts; empty if nothing was counted.
        asked: The question, in words of the command line.
        version: Version of ArcLink.
    """

    archive: str
    known: KnownLinks
    first: str
    last: str
    state: str
    asked: str = ""
    version: str = VERSION

    def cite(self, day: str = "") -> str:
        """Return one line to cite; with the day on which it was read, if there is one."""
        captures, read = self.known.captures, self.known.read
        if captures is None:
            of = "number of captures not known"
        else:
            of = counted(captures, "capture")
            of += "" if read is None else f" ({read:,} with known links)"
        parts = [
            _cited(self.archive) or "a web archive",
            of,
            *([f"{self.first} to {self.last}"] if self.first else []),
            f"ArcLink {self.version}",
            *([f"state {self.state}"] if self.state else []),
            *([f"read {day}"] if day else []),
        ]
        return ", ".join(parts) + (f": {_cited(self.asked)}" if self.asked else "")

    def as_fields(self, day: str = "") -> ProvenanceFields:
        """Return the members of JSON; ``day`` is that of `cite`."""
        fields: ProvenanceFields = {
            "archive": printable(self.archive) or None,
            "captures": self.known.captures,
            "read": self.known.read,
            "first": self.first or None,
            "last": self.last or None,
            "state": self.state or None,
            "arclink": self.version,
            "asked": printable(self.asked) or None,
            "cite": self.cite(day),
        }
        return {**fields, "date": day} if day else fields

    @classmethod
    def told(cls, fields: object) -> Self | None:
        """Return the provenance in an answer of another archive; None if it tells none."""
        if not isinstance(fields, dict):
            return None
        captures, read = fields.get("captures"), fields.get("read")
        of_read = captures if read is None else read
        known = KnownLinks.told(bool(captures and of_read), captures, of_read)
        if known is None or known.captures is None:
            known = NOT_COUNTED
        elif read is None:
            known = KnownLinks(known.captures, None)
        texts = {name: fields.get(name) for name in ("archive", "asked", *_FORMS)}
        told = {
            name: text[:_LONGEST]
            for name, text in texts.items()
            if isinstance(text, str) and re.fullmatch(_FORMS.get(name, "(?s:.*)"), text, re.ASCII)
        }
        if any(fields.get(name) is not None for name in {*_FORMS} - {*told}):
            return None
        archive, first, last, state, asked, version = (
            told.get(name, "") for name in ("archive", "first", "last", "state", "asked", "arclink")
        )
        return cls(archive, known, first, last, state, asked, version) if version else None


def today() -> str:
    """Return the day, in UTC."""
    return datetime.now(UTC).date().isoformat()


def provenance_of(
    store: Scans,
    archive: str,
    command: str = "",
    given: Given = NOTHING_GIVEN,
    declared: Sequence[AnyParameter] = (),
) -> Provenance:
    """Return where an answer of a store is from; the store is read once for each of its states.

    Args:
        store: The store, or the part of it that the caller may see.
        archive: Name of the archive; may be empty.
        command: The command that answers the question; empty if none was asked.
        given: What the caller gave.
        declared: The parameters of the question, and that of subsets.

    Raises:
        StoreError: The store cannot be read.
    """
    subset = (store.selection,) if store.selection else ()
    words = _in_words(command, Given({**given.texts, SUBSET.name: subset}), declared)
    return Provenance(archive, *_read(store), words)


def _joined(words: Sequence[str]) -> str:
    """Return words as a shell reads them; those with an apostrophe in double quotes if it can be.

    >>> print(_joined(["sql", "SELECT 'a'", "it's $5"]))
    sql "SELECT 'a'" 'it'"'"'s $5'
    """
    return " ".join(
        f'"{word}"' if "'" in word and not re.search(r'["$`\\!]', word) else shlex.quote(word)
        for word in words
    )


def links_said_from(store: Scans, archive: str, given: Given) -> Provenance:
    """Return where the links of a page are from; see `provenance_of`."""
    return provenance_of(store, archive, "links", given, (*LINK_PARAMETERS, SUBSET))


def fields_of_links(store: Scans, archive: str, given: Given) -> ProvenanceFields:
    """Return the same as members of JSON."""
    return links_said_from(store, archive, given).as_fields()


def _in_words(command: str, given: Given, declared: Sequence[AnyParameter]) -> str:
    """Return a question as words of the command line, the same however it was asked.

    What does not change the answer is left out: its form, its pages (``--cursor``) and defaults.
    """
    places: list[str] = []
    options: list[str] = []
    for one in declared:
        texts = [text for text in given.found(one)[1] if text]
        if not texts or texts == [one.default] or one.name == CURSOR.name:
            continue
        if one.has_commas:
            texts = [",".join(texts)]
        if one.is_positional:
            places += texts
        elif one.is_switch:
            options.append(one.options[0] if texts == ["true"] else f"--no-{one.options[0][2:]}")
        else:
            options += [word for text in texts for word in (one.options[0], text)]
    if any(text.startswith("-") for text in places):
        return _joined([*command.split(), *options, "--", *places])
    return _joined([*command.split(), *places, *options])


class _Read(NamedTuple):
    known: KnownLinks
    first: str
    last: str
    state: str


_READ: "WeakKeyDictionary[Scans, tuple[str, _Read]]" = WeakKeyDictionary()
"""What was read of a store, with the version of the store at that time."""


def _read(store: Scans) -> _Read:
    found = _READ.get(store)
    if found is None or found[0] != store.state().version:
        with store.snapshot():
            found = _READ[store] = store.state().version, _read_now(store)
    return found[1]


def _read_now(store: Scans) -> _Read:
    # A part has the numbers and the state of its own captures: nothing may show that others change.
    seen = None if store is store.whole else _seen_by_day(store)
    facts: object = None
    days: Mapping[str, KnownLinks] | None
    if store is store.whole or (seen is not None and seen.total() <= _MOST_COUNTED):
        days, sums = store.days(), store.sums()
        facts = sums.payloads, sums.contents, sums.links
    elif seen is None:
        return _Read(NOT_COUNTED, "", "", "")
    else:
        days = {day: KnownLinks(count, None) for day, count in seen.items()}
    names = [*(days or ())]
    counts = None if days is None else sorted(days.items())
    state = hashlib.sha256(repr((facts, counts)).encode()).hexdigest()[:16]
    known = NOT_COUNTED if days is None else known_in(days.values())
    return _Read(known, min(names, default=""), max(names, default=""), state)


def _seen_by_day(store: Scans) -> Counter[str] | None:
    """Return the number of captures of each day of a part of a store; None if they are many."""
    found = islice(store.scan_mementos(), _MOST_SCANNED + 1)
    seen = Counter(day_of(memento.timestamp) for memento in found)
    return seen if seen.total() <= _MOST_SCANNED else None


def _cited(text: str) -> str:
    return safe_text(cut_in_the_middle(" ".join(printable(text).split()), _CITED))
