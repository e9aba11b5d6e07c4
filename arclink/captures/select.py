"""The captures of a selection in the order of their archive files, with the originals of revisits.

A store yields captures by SURT, but archive files are read fastest from beginning to end. So the
captures are sorted by file and offset first, on disk::

    scan by SURT ──▶ sorted by file and offset ─────────────┬──▶ records, each once
                 └─▶ revisits, sorted ──▶ their originals ──┘

The head of each revisit is read to find the record that it refers to. If that record is not one of
the selection, it is an *added original*: it is written once, however many revisits refer to it.
"""

import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from arclink.captures.locate import REVISIT, RecordPlace
from arclink.captures.read import PageReader
from arclink.captures.tally import TakeAwayTally
from arclink.errors import CaptureError
from arclink.files.distinct_lines import DistinctLines
from arclink.model import Memento
from arclink.rows.relations import format_memento, parse_memento

MOST_IN_MEMORY = 200_000
"""Largest number of captures in memory: about 100 MB."""

_MEMBER, _WITHOUT, _ADDED = b"0", b"1", b"2"
"""Flags of lines: a capture of the selection; a revisit without original, which has a line with the
first flag, too; an added original.
"""

_UNKNOWN = "-"


class ChosenRecord(NamedTuple):
    """A record to be written.

    Attributes:
        captures: The captures that the record holds: one, unless an index lists the record several
            times.
        is_added: Whether it is outside the selection, and a revisit refers to it.
        has_original: Whether the payload is at hand; false for some revisits only.
    """

    captures: tuple[Memento, ...]
    is_added: bool
    has_original: bool


class ChosenRecords:
    """The records of a selection; iterate over it to get them by file and offset, each once.

    Args:
        mementos: The captures of the selection.
        reader: Reads revisits, and finds their originals in its store.
        tally: Gets the number of captures.
        folder: Folder for temporary files; the caller removes it.
    """

    def __init__(
        self, mementos: Iterable[Memento], reader: PageReader, tally: TakeAwayTally, folder: Path
    ) -> None:
        self._records = _sorter(folder)
        revisits = _sorter(folder)
        for memento in mementos:
            tally.captures += 1
            line = _line_of(memento, _MEMBER)
            self._records.add(line)
            if memento.record_type == REVISIT:
                revisits.add(line)
        self._add_originals(revisits, reader)

    def __iter__(self) -> Iterator[ChosenRecord]:
        for _, lines in groupby(self._records, _place_in):
            parsed = [_parse(line) for line in lines]
            members = tuple(memento for flag, memento in parsed if flag == _MEMBER)
            yield ChosenRecord(
                members or (parsed[0][1],),
                is_added=not members,
                has_original=len(parsed) == 1 or all(flag != _WITHOUT for flag, _ in parsed),
            )

    def _add_originals(self, revisits: Iterable[bytes], reader: PageReader) -> None:
        for line in revisits:
            memento = _parse(line)[1]
            try:
                places = reader.sources(memento)
            except CaptureError:
                # If the revisit itself cannot be read, it is left out later, with its reason.
                self._records.add(_line_of(memento, _WITHOUT))
                continue
            for place in places:
                self._records.add(_line_of(_memento_at(place), _ADDED))


def _sorter(folder: Path) -> DistinctLines:
    return DistinctLines(Path(tempfile.mkdtemp(dir=folder)), MOST_IN_MEMORY)


def _line_of(memento: Memento, flag: bytes) -> bytes:
    """Return a line that sorts by file and offset, captures of the selection first."""
    place = f"{memento.file}\t{memento.offset:020d}\t".encode()
    return b"%b%b\t%b\n" % (place, flag, format_memento(memento))


def _place_in(line: bytes) -> list[bytes]:
    return line.split(b"\t", 2)[:2]


def _parse(line: bytes) -> tuple[bytes, Memento]:
    _, _, flag, row = line[:-1].split(b"\t", 3)
    return flag, parse_memento(row)


def _memento_at(place: RecordPlace) -> Memento:
    """Return the facts about an added original that are known before its record is read."""
    return Memento(
        place.surt,
        place.timestamp,
        place.original,
        place.checksum,
        _UNKNOWN,
        _UNKNOWN,
        _UNKNOWN,
        place.file,
        place.offset,
        place.length,
    )
