"""Counts of the captures that were exported, and of those left out, by reason."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from arclink.model import Timestamp, UriR
from arclink.reasons import Reason

MOST_NAMED = 1_000
"""Largest number of added originals that a manifest names; the index of the export has all."""


class Rewritten(Enum):
    """Why a record was rewritten instead of copied; the value says what it is now stored as."""

    ARC = "a record of an ARC file"
    PLAIN = "a record of an uncompressed file"
    COMPRESSION = "a record of a file with another compression than gzip"
    SHARED = "one of several records in one gzip member"
    SEGMENTS = "a record of several segments, joined"
    LENGTH = "a record whose head states a wrong length"
    DATE = "a record without a usable date"


@dataclass(frozen=True, slots=True)
class AddedOriginal:
    """A capture outside the selection that a revisit of the selection refers to."""

    original: UriR
    timestamp: Timestamp
    file: str
    offset: int


@dataclass(slots=True)
class TakeAwayTally:
    """Counts, updated while captures are written.

    Attributes:
        captures: Captures of the selection.
        written: Those of them that were written.
        copied: Records that were copied byte for byte.
        copied_bytes: Their bytes.
        rewritten: Records that were rewritten, by reason.
        left_out: Captures of the selection without bytes, by reason.
        revisits: Revisits of the selection that were written.
        without_original: Those of them whose payload is not at hand.
        added: Originals outside the selection that were written for revisits.
        added_named: The first `MOST_NAMED` of them.
        pages: Pages in the list of pages of a WACZ.
    """

    captures: int = 0
    written: int = 0
    copied: int = 0
    copied_bytes: int = 0
    rewritten: Counter[Rewritten] = field(default_factory=Counter)
    left_out: Counter[Reason] = field(default_factory=Counter)
    revisits: int = 0
    without_original: int = 0
    added: int = 0
    added_named: list[AddedOriginal] = field(default_factory=list)
    pages: int = 0

    def counts(self) -> Mapping[str, object]:
        """Return the counts as JSON; see ``docs/how-to/take-away.md``."""
        return {
            "captures": self.captures,
            "written": self.written,
            "copied": self.copied,
            "rewritten": {
                reason.name.lower(): self.rewritten[reason]
                for reason in Rewritten
                if self.rewritten[reason]
            },
            "left_out": {
                reason.name: self.left_out[reason] for reason in Reason if self.left_out[reason]
            },
            "revisits": self.revisits,
            "revisits_without_original": self.without_original,
            "added_originals": self.added,
        }

    def lines(self) -> Iterator[str]:
        """Yield the counts as lines for users."""
        yield f"{self.written:,} of {self.captures:,} captures"
        if self.copied or self.rewritten:
            yield f"{self.copied:,} records copied ({self.copied_bytes:,} bytes)"
        for reason in Rewritten:
            if self.rewritten[reason]:
                yield f"{self.rewritten[reason]:,} records rewritten: each was {reason.value}"
        if self.added:
            yield (
                f"{self.added:,} added originals: captures outside the selection that revisits "
                "refer to; they have an index of their own"
            )

    def warnings(self) -> Iterator[str]:
        """Yield lines about captures that are not there, or not completely."""
        for reason in Reason:
            if self.left_out[reason]:
                yield f"warning: {self.left_out[reason]:,} captures left out: {reason.text}"
        if self.without_original:
            yield (
                f"warning: {self.without_original:,} revisits were written without their payload: "
                "no capture at hand holds it"
            )
