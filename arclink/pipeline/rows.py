"""CDX rows of each batch: a row belongs to the batch of the archive file that it points to."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from arclink.archives.locations import Location
from arclink.archives.names import known_as
from arclink.archives.opener import open_members
from arclink.errors import CdxError, InputError, RecordError
from arclink.filter.index import date_at
from arclink.reasons import Reason
from arclink.rows.cdx import file_of, is_header, parse_row, share_plain, what_of
from arclink.rows.cdx_files import read_usual_line_lists, read_usual_lines

NO_ROW = -1
"""Batch number of lines that are not rows; filter counts them."""

HELD = 16 << 20
"""Bytes of rows held in memory before they are written; writing holds them twice.

A system allows about a thousand open files, and there may be more batches.
"""

HELD_OF_BATCH = 1 << 18
"""Bytes of rows for each batch after which they are written, if that is less than `HELD`.

Memory that is used again soon is faster than more memory.
"""

CACHED = 100_000

ROWS_LOOKED_AT = 1_000
"""Number of first lines of a CDX file among which at least one must be a row."""

IN_STORE = -2
"""Batch number of rows that point to a file already in the store; they are skipped."""

_NOT_GIVEN = -3
"""Batch number of rows that point to a file that was not given to the build; they are skipped."""

_PASSED_OVER = {IN_STORE: Reason.ROW_IN_STORE, _NOT_GIVEN: Reason.ROW_FILE_NOT_GIVEN}


def count_lines(paths: Sequence[Path]) -> int:
    """Return the number of lines in files; a last line without newline counts."""
    lines = 0
    for path in paths:
        last = b"\n"
        with open_members(path) as file:
            while block := file.read(1 << 20):
                lines += block.count(b"\n")
                last = block[-1:]
        lines += last != b"\n"
    return lines


@dataclass(frozen=True, slots=True)
class SharedRows:
    """The rows of CDX files by batch.

    Attributes:
        by_batch: One file per batch that has rows.
        names: Archive files that rows point to, by their names in the batches.
        passed_over: Counts of rows whose file is in the store already, or was not given to the
            build.
    """

    by_batch: Mapping[int, Path]
    names: frozenset[str]
    passed_over: Counter[Reason]


def share_rows(
    cdx: Sequence[Location],
    batch_of: Mapping[str, int],
    folder: Path,
    prefixes: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
) -> SharedRows:
    """Write each row of CDX files to the file of its batch.

    The rows are read in one pass, whatever the number of batches. Lines that are not rows go to
    `NO_ROW`, so that filter counts them. A row without a date gets the date that the index gives
    its record.

    Args:
        cdx: From `arclink.rows.cdx_files.find_cdx`.
        batch_of: Batch by name of archive file, where the rows have this name or its last parts;
            the batch may be `IN_STORE`.
        folder: Folder for the files of the batches.
        prefixes: SURT prefixes of the selection; see `read_usual_lines`.
        names: Names of the archive files by path; see `read_usual_lines`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sharing = _Sharing(batch_of, folder, {name: path for path, name in (names or {}).items()})
    for path in cdx:
        for lines in read_usual_line_lists(path, prefixes, names):
            sharing.add(lines)
    sharing.write()
    return SharedRows(sharing.written, frozenset(sharing.found), sharing.passed_over)


class _Sharing:
    """The lines of each batch on their way to its file.

    Attributes:
        written: Files by batch.
        found: See `SharedRows.names`.
        passed_over: See `SharedRows`.
    """

    def __init__(self, batch_of: Mapping[str, int], folder: Path, paths: Mapping[str, str]) -> None:
        self.written: dict[int, Path] = {}
        self.found: set[str] = set()
        self.passed_over: Counter[Reason] = Counter()
        self._batch_of, self._folder, self._paths = batch_of, folder, paths
        self._lines: defaultdict[int, list[bytes]] = defaultdict(list)
        self._seen: dict[bytes, int] = {}
        self._size = 0

    def add(self, lines: list[bytes]) -> None:
        """Share lines out, most of them with `share_plain`, and write files if many are held."""
        start = 0
        while (start := share_plain(lines, start, self._seen, what_of, self._lines)) < len(lines):
            self._add_line(lines[start])
            start += 1
        for batch, reason in _PASSED_OVER.items():
            if passed_over := self._lines.pop(batch, None):
                self.passed_over[reason] += len(passed_over)
        self._size += sum(map(len, lines))
        if self._size >= min(HELD, HELD_OF_BATCH * len(self._lines)):
            self.write()

    def _add_line(self, line: bytes) -> None:
        if line.partition(b" ")[2].startswith(b"- "):
            line = _dated(line, self._batch_of, self._paths, self.passed_over)
        batch = self._batch(file_of(line))
        if batch == _NOT_GIVEN and not _is_row(line):
            batch = NO_ROW
        self._lines[batch].append(line if line[-1:] == b"\n" else line + b"\n")

    def _batch(self, name: bytes) -> int:
        """Return the batch of an archive file, by its name in rows."""
        batch = self._seen.get(name)
        if batch is None:
            if len(self._seen) >= CACHED:
                self._seen.clear()
            known = known_as(name.decode("utf-8", "replace"), self._batch_of)
            batch = self._seen[name] = _NOT_GIVEN if known is None else self._batch_of[known]
            if known is not None:
                self.found.add(known)
        return batch

    def write(self) -> None:
        """Write the lines that are held."""
        for batch, lines in self._lines.items():
            mode = "ab" if batch in self.written else "wb"
            self.written[batch] = self._folder / f"rows-{batch if batch >= 0 else 'elsewhere'}.cdx"
            with self.written[batch].open(mode) as file:
                file.write(b"".join(lines))
        self._lines.clear()
        self._size = 0


def _dated(
    line: bytes,
    batch_of: Mapping[str, int],
    paths: Mapping[str, str],
    counts: Counter[Reason],
) -> bytes:
    """Return a row whose timestamp is ``-`` with the date that the index gives its record.

    Also count the note about that date, if there is one. The row is returned unchanged, so that
    filter counts it as malformed, if its file was not given, or has no date or no such record.
    """
    key, _, rest = line.split(b" ", 2)
    try:
        row = parse_row(b"%b 2000 %b" % (key, rest))  # any date, so that the rest is parsed
        known = known_as(row.file, batch_of)
        path = paths.get(known) if known is not None else None
        timestamp, note = date_at(path, row.offset) if path is not None else ("", None)
    except (CdxError, InputError, RecordError):
        return line
    if not timestamp:
        return line
    if note is not None:
        counts[note] += 1
    return b"%b %b %b" % (key, timestamp.encode(), rest)


def _is_row(line: bytes) -> bool:
    try:
        parse_row(line)
    except CdxError as error:
        return error.reason is Reason.ROW_NOT_A_CAPTURE
    return True


def check_rows(paths: Sequence[Location], prefixes: Sequence[str] = ()) -> None:
    """Raise InputError if the first `ROWS_LOOKED_AT` lines of a file contain no CDX row or header.

    Args:
        paths: From `arclink.rows.cdx_files.find_cdx`.
        prefixes: SURT prefixes of the selection; see `read_usual_lines`.
    """
    for path in paths:
        lines = list(islice(read_usual_lines(path, prefixes), ROWS_LOOKED_AT))
        if lines and not any(line.strip() and (is_header(line) or _is_row(line)) for line in lines):
            raise InputError(
                f"{path}: not a CDX or CDXJ file: none of its first {len(lines):,} lines is a row; "
                f"the first is {lines[0][:80]!r}. Use the index of the archive files, or none."
            )
