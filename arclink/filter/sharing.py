"""Distribution of CDX lines to batches: a row belongs to the batch of its archive file.

On one machine, the driver of a build does this. On an engine, it is a shuffle by batch: map tasks
read pieces of the files, and the rows of a batch are written by one reduce task, or by few. So no
task has a file open for each batch, of which a large build has thousands.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import orjson

from arclink.archives.locations import Location, known_as, location_of
from arclink.archives.opener import open_stream
from arclink.errors import CdxError, InputError, RecordError
from arclink.filter.index import date_at
from arclink.reasons import Reason
from arclink.rows.cdx import file_of, format_row, is_header, parse_row, share_plain, what_of
from arclink.rows.cdx_files import CdxPiece, read_piece, read_usual_line_lists
from arclink.rows.relations import ROWS
from arclink.rows.task_keys import task_key, task_of

NO_ROW = -1
"""Batch number of lines that are not rows; filter counts them."""

IN_STORE = -2
"""Batch number of rows that point to a file already in the store; they are skipped."""

_NOT_GIVEN = -3
"""Batch number of rows that point to a file that was not given to the build; they are skipped."""

_PASSED_OVER = {IN_STORE: Reason.ROW_IN_STORE, _NOT_GIVEN: Reason.ROW_FILE_NOT_GIVEN}

HELD = 16 << 20
"""Bytes of rows held in memory before they are yielded; yielding holds them twice."""

HELD_OF_BATCH = 1 << 18
"""Bytes of rows for each batch after which they are yielded, if that is less than `HELD`.

Memory that is used again soon is faster than more memory.
"""

CACHED = 100_000

_ROWS_LOOKED_AT = 1_000
"""Number of first lines of a CDX file among which at least one must be a row."""

SHARED, REFUSED = b"shared", b"refused"
"""Names of the relations of what a task found, and of errors in the user's files."""


class SharedFile(NamedTuple):
    """An archive file of the rows: its name in the batches, its batch, its path."""

    name: str
    batch: int
    path: str


class RowSharing:
    """The lines of each batch on their way to it.

    Args:
        files: Archive files; rows have their names or the last parts of these.

    Attributes:
        found: Archive files that rows point to, by their names in ``files``.
        passed_over: Counts of rows whose file is in the store already, or was not given to the
            build, and of notes about dates.
        lines: Number of lines by batch.
    """

    def __init__(self, files: Iterable[SharedFile]) -> None:
        self.found: set[str] = set()
        self.passed_over: Counter[Reason] = Counter()
        self.lines: Counter[int] = Counter()
        self._files = {file.name: file for file in files}
        self._held: defaultdict[int, list[bytes]] = defaultdict(list)
        self._seen: dict[bytes, int] = {}
        self._size = 0

    def share(self, lists: Iterable[list[bytes]]) -> Iterator[tuple[int, list[bytes]]]:
        """Yield lines with the number of their batch, many at once.

        Lines that are not rows belong to `NO_ROW`, so that filter counts them. A row without a date
        gets the date that the index gives its record.

        Args:
            lists: Lines in an order of columns that needs no header.

        Yields:
            The batch, and some of its lines, each with its line end.
        """
        for lines in lists:
            self._add(lines)
            if self._size >= min(HELD, HELD_OF_BATCH * len(self._held)):
                yield from self._release()
        yield from self._release()

    def _add(self, lines: list[bytes]) -> None:
        """Hold lines; `share_plain` finds the batches of most of them."""
        start = 0
        while (start := share_plain(lines, start, self._seen, what_of, self._held)) < len(lines):
            self._add_line(lines[start])
            start += 1
        for batch, reason in _PASSED_OVER.items():
            if passed_over := self._held.pop(batch, None):
                self.passed_over[reason] += len(passed_over)
        self._size += sum(map(len, lines))

    def _add_line(self, line: bytes) -> None:
        if line.partition(b" ")[2].startswith(b"- "):
            line = self._dated(line)
        batch = self._batch(file_of(line))
        if batch == _NOT_GIVEN and not _is_row(line):
            batch = NO_ROW
        self._held[batch].append(line if line[-1:] == b"\n" else line + b"\n")

    def _batch(self, name: bytes) -> int:
        """Return the batch of an archive file, by its name in rows."""
        batch = self._seen.get(name)
        if batch is None:
            if len(self._seen) >= CACHED:
                self._seen.clear()
            known = known_as(name.decode("utf-8", "replace"), self._files)
            batch = self._seen[name] = _NOT_GIVEN if known is None else self._files[known].batch
            if known is not None:
                self.found.add(known)
        return batch

    def _dated(self, line: bytes) -> bytes:
        """Return a row whose timestamp is ``-`` with the date that the index gives its record.

        Also count the note about that date, if there is one. The row is returned unchanged, so that
        filter counts it as malformed, if its file was not given, or has no date or no such record.
        """
        key, _, rest = line.split(b" ", 2)
        try:
            row = parse_row(b"%b 2000 %b" % (key, rest))  # any date, so that the rest is parsed
            known = known_as(row.file, self._files)
            timestamp, note = (
                ("", None) if known is None else date_at(self._files[known].path, row.offset)
            )
        except (CdxError, InputError, RecordError):
            return line
        if not timestamp:
            return line
        if note is not None:
            self.passed_over[note] += 1
        return b"%b %b %b" % (key, timestamp.encode(), rest)

    def _release(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the lines that are held."""
        for batch, lines in self._held.items():
            self.lines[batch] += len(lines)
            yield batch, lines
        self._held.clear()
        self._size = 0


def _is_row(line: bytes) -> bool:
    try:
        parse_row(line)
    except CdxError as error:
        return error.reason is Reason.ROW_NOT_A_CAPTURE
    return True


def checked(lists: Iterable[list[bytes]], path: Location) -> Iterator[list[bytes]]:
    """Return the lines of a file unchanged, after reading the first of them.

    Raises:
        InputError: The first `_ROWS_LOOKED_AT` lines contain no CDX row or header.
    """
    rest = iter(lists)
    looked_at: list[list[bytes]] = []
    while sum(map(len, looked_at)) < _ROWS_LOOKED_AT and (lines := next(rest, None)) is not None:
        looked_at.append(lines)
    first = list(chain.from_iterable(looked_at))[:_ROWS_LOOKED_AT]
    if first and not any(line.strip() and (is_header(line) or _is_row(line)) for line in first):
        raise InputError(
            f"{path}: not a CDX or CDXJ file: none of its first {len(first):,} lines is a row; "
            f"the first is {first[0][:80]!r}. Use the index of the archive files, or none."
        )
    return chain(looked_at, rest)


def check_rows(paths: Iterable[Location], prefixes: Sequence[str] = ()) -> None:
    """Raise InputError if the first lines of a file contain no CDX row or header.

    Args:
        paths: From `arclink.rows.cdx_files.find_cdx`.
        prefixes: SURT prefixes of the selection; see `read_usual_line_lists`.
    """
    for path in paths:
        checked(read_usual_line_lists(path, prefixes), path)


# Tasks: map tasks read pieces of CDX files, reduce tasks write the rows of few batches each.


class TaskFindings(NamedTuple):
    """The findings of one task: of a map task about files, of a reduce task the lines of a batch.

    Attributes:
        found: One character per archive file, in their order: ``1`` if rows point to it. They are
            few bytes even if each task finds all files of a large collection.
        passed_over: Number of rows and notes by the name of their reason; see `RowSharing`.
        lines: Number of lines by batch, as text.
    """

    found: str
    passed_over: Mapping[str, int]
    lines: Mapping[str, int]

    def names_in(self, files: Sequence[SharedFile]) -> Iterator[str]:
        """Yield the names of the archive files that rows point to."""
        return (file.name for file, bit in zip(files, self.found, strict=False) if bit == "1")


_FINDINGS, _REFUSED, _NO_ROWS = b"f", b"r", b"n"

PASSED_ON = {_FINDINGS: SHARED, _REFUSED: REFUSED, _NO_ROWS: b"rows-elsewhere"}
"""By the first byte of a key: the relation that gets its values unchanged."""


def map_pieces(
    pieces: Iterable[CdxPiece], table: str, slices: int
) -> Iterator[tuple[bytes, bytes]]:
    r"""Yield the lines of pieces of CDX files, keyed by their batches.

    Args:
        pieces: From `arclink.rows.cdx_files.pieces_of`.
        table: Path or address of the file that `format_table` wrote.
        slices: Number of reduce tasks that write the rows of one batch.

    Yields:
        A `task_key` of batch and slice, and a block of lines with U+001E between them, after the
        place of the block in its file and a tab: values sort in the order of the lines. Keys in
        `PASSED_ON` have the lines that are not rows, at the end the `TaskFindings`, and, if a file
        cannot be used, the reason.
    """
    with open_stream(table) as lines:
        files = [SharedFile(*orjson.loads(line)) for line in lines]
    names = {file.path: file.name for file in files}
    sharing = RowSharing(files)
    block = 0
    try:
        for piece in pieces:
            lists = read_piece(piece, names)
            if not piece.start:
                lists = checked(lists, location_of(piece.path))
            for batch, shared in sharing.share(lists):
                rows = ROWS.join(_single_lines(shared))
                place = b"%06d %06d %09d" % (piece.file, piece.number, block)
                if batch == NO_ROW:
                    yield _NO_ROWS, rows
                else:
                    yield (
                        task_key(batch * slices + (piece.number + block) % slices),
                        place + b"\t" + rows,
                    )
                block += 1
    except InputError as error:
        yield _REFUSED, str(error).encode("unicode_escape")
        return
    lines_elsewhere = {str(NO_ROW): count} if (count := sharing.lines[NO_ROW]) else {}
    found = "".join("01"[file.name in sharing.found] for file in files)
    counts = {reason.name: count for reason, count in sharing.passed_over.items()}
    yield _FINDINGS, _format_findings(found, counts, lines_elsewhere)


def reduce_rows(key: bytes, values: Iterable[bytes], slices: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield the lines of one slice of a batch under `relation_of` it, then their number.

    Args:
        key: From `map_pieces`, as are ``values``, sorted.
        values: Read once.
        slices: As in `map_pieces`.
    """
    if (relation := PASSED_ON.get(key[:1])) is not None:
        for value in values:
            yield relation, value
        return
    task = task_of(key)
    assert task is not None
    batch, count = task // slices, 0
    relation = relation_of(batch)
    for value in values:
        rows = value.partition(b"\t")[2]
        count += rows.count(ROWS) + 1
        yield relation, rows
    yield SHARED, _format_findings("", {}, {str(batch): count})


def format_table(files: Iterable[SharedFile]) -> bytes:
    """Return archive files as lines of JSON, for `map_pieces`."""
    return b"".join(orjson.dumps([*file]) + b"\n" for file in files)


def _format_findings(found: str, passed_over: Mapping[str, int], lines: Mapping[str, int]) -> bytes:
    return orjson.dumps([f"{int(found or '0', 2):x}", len(found), passed_over, lines])


def parse_findings(line: bytes) -> TaskFindings:
    """Return the findings that a task wrote."""
    found, files, passed_over, lines = orjson.loads(line)
    return TaskFindings(f"{int(found, 16):0{files}b}" if files else "", passed_over, lines)


def relation_of(batch: int) -> bytes:
    """Return the name of the relation of a batch's lines.

    >>> relation_of(7), relation_of(NO_ROW)
    (b'rows-000007', b'rows-elsewhere')
    """
    return b"rows-elsewhere" if batch == NO_ROW else b"rows-%06d" % batch


def _single_lines(lines: list[bytes]) -> list[bytes]:
    """Return lines without line ends, and without characters that would divide them on the way."""
    text = b"".join(lines)
    if b"\r" in text or ROWS in text:
        return [_single_line(line.rstrip(b"\r\n")) for line in lines]
    return [line[:-1] for line in lines]


def _single_line(line: bytes) -> bytes:
    """Return a line with the same meaning for filter, without carriage return and U+001E."""
    if b"\r" not in line and ROWS not in line:
        return line
    try:
        return format_row(parse_row(line))
    except CdxError as error:
        if error.reason is Reason.ROW_MALFORMED:
            return b"malformed"
        return line.replace(b"\r", b" ").replace(ROWS, b" ")
