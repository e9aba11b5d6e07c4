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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, NotRequired, Self, TypedDict
from weakref import WeakKeyDictionary

from arclink.access.declarations import AnyParameter, Given
from arclink.access.formats.table import cut_in_the_middle, safe_text
from arclink.access.texts import counted, printable
from arclink.known import NOT_COUNTED, KnownLinks, known_in
from arclink.store.protocols import Scans
from arclink.version import VERSION

_MOST_COUNTED = 5_000
"""Captures of a store up to which what its subsets show, or an embargo leaves, is counted.

That reads all of it, once for each state; the state is then that of a store which has only this.
"""

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
    state: Annotated[str, {"pattern": "^[0-9a-f]{16}$"}, "Checksum of counts."]
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
        state: 16 hexadecimal digits, a checksum of counts.
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
            of += f" ({'?' if read is None else f'{read:,}'} with known links)"
        parts = [
            _cited(self.archive) or "a web archive",
            of,
            *([f"{self.first} to {self.last}"] if self.first else []),
            f"ArcLink {self.version}",
            f"state {self.state}",
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
            "state": self.state,
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
        known = KnownLinks.told(bool(captures and read), captures, read)
        if known is None or known.captures is None:
            known = NOT_COUNTED
        texts = {name: fields.get(name) for name in ("archive", "asked", *_FORMS)}
        told = {
            name: text[:_LONGEST]
            for name, text in texts.items()
            if isinstance(text, str) and re.fullmatch(_FORMS.get(name, "(?s:.*)"), text, re.ASCII)
        }
        if not {*_FORMS} <= {*told} | ({"first", "last"} if known.captures is None else set()):
            return None
        archive, asked, first, last = (
            told.get(name, "") for name in ("archive", "asked", "first", "last")
        )
        return cls(archive, known, first, last, told["state"], asked, told["arclink"])


def today() -> str:
    """Return the day, in UTC."""
    return datetime.now(UTC).date().isoformat()


def asked_in_words(name: str, given: Given, declared: Sequence[AnyParameter]) -> str:
    """Return a question as words of the command line, without the form of its answer.

    Args:
        name: Of the command, or of the question.
        given: What the caller gave.
        declared: The parameters that belong to the question.
    """
    words = [name]
    for one in declared:
        for text in given.found(one)[1]:
            if text:
                words.append(text if one.is_positional else f"--{one.name} {text}")
    return " ".join(words)


def provenance_of(store: Scans, archive: str, asked: str = "") -> Provenance:
    """Return where an answer of a store is from; the store is read once for each of its states.

    Args:
        store: The store, or the part of it that the caller may see.
        archive: Name of the archive; may be empty.
        asked: The question.

    Raises:
        StoreError: The store cannot be read.
    """
    known, first, last, state = _read(store)
    return Provenance(archive, known, first, last, state, asked)


class _Read(NamedTuple):
    known: KnownLinks
    first: str
    last: str
    state: str


_READ: "WeakKeyDictionary[Scans, tuple[str, _Read]]" = WeakKeyDictionary()
"""What was read of a store, with the version of the store at that time."""


def _read(store: Scans) -> _Read:
    version = store.state().version
    before, found = _READ.get(store, ("", None))
    if found is None or before != version:
        found = _read_now(store)
        _READ[store] = version, found
    return found


def _read_now(store: Any) -> _Read:  # Any: only a filtered store has a base and a filter
    base: Scans | None = getattr(store, "base", None)
    of_all = None if base is None else _read(base)
    facts: object
    if of_all is None or of_all.known.captures in range(_MOST_COUNTED + 1):
        days, sums = store.days(), store.sums()
        facts = sums.payloads, sums.contents, sums.links
    else:
        days, facts = None, (of_all.state, store.filter_identity)
    names = [*(days or ())]
    counts = None if days is None else sorted(days.items())
    state = hashlib.sha256(repr((facts, counts)).encode()).hexdigest()[:16]
    known = NOT_COUNTED if days is None else known_in(days.values())
    return _Read(known, min(names, default=""), max(names, default=""), state)


def _cited(text: str) -> str:
    return safe_text(cut_in_the_middle(" ".join(printable(text).split()), _CITED))
