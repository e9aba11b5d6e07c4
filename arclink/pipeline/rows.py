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
from arclink.rows.cdx import is_header, parse_row, with_files
from arclink.rows.cdx_files import read_usual_lines

NO_ROW = -1
"""Batch number of lines that are not rows; filter counts them."""

HELD = 16 << 20
"""Bytes of rows held in memory before they are written.

A system allows about a thousand open files, and there may be more batches.
"""

CACHED = 100_000

ROWS_LOOKED_AT = 1_000
"""Number of first lines of a CDX file among which at least one must be a row."""

IN_STORE = -2
"""Batch number of rows that point to a file already in the store; they are skipped."""


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
    its
    record.

    Args:
        cdx: From `arclink.rows.cdx_files.find_cdx`.
        batch_of: Batch by name of archive file, where the rows have this name or its last parts;
            the batch may be `IN_STORE`.
        folder: Folder for the files of the batches.
        prefixes: SURT prefixes of the selection; see `read_usual_lines`.
        names: Names of the archive files by path; see `read_usual_lines`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    outputs: defaultdict[int, list[bytes]] = defaultdict(list)
    written: dict[int, Path] = {}
    seen: dict[bytes, int] = {}
    found: set[str] = set()
    passed_over: Counter[Reason] = Counter()
    paths = {name: path for path, name in (names or {}).items()}
    size = 0

    def write_all() -> None:
        for batch, lines in outputs.items():
            mode = "ab" if batch in written else "wb"
            written[batch] = folder / f"rows-{batch if batch >= 0 else 'elsewhere'}.cdx"
            with written[batch].open(mode) as file:
                file.writelines(lines)
        outputs.clear()

    for path in cdx:
        for line, name in with_files(read_usual_lines(path, prefixes, names)):
            if line.partition(b" ")[2].startswith(b"- "):
                line = _dated(line, batch_of, paths, passed_over)
                name = next(with_files([line]))[1]  # readable now
            batch = seen.get(name)
            if batch is None:
                if len(seen) >= CACHED:
                    seen.clear()
                known = known_as(name.decode("utf-8", "replace"), batch_of)
                batch = seen[name] = NO_ROW if known is None else batch_of[known]
                if known is not None:
                    found.add(known)
            if batch == IN_STORE:
                passed_over[Reason.ROW_IN_STORE] += 1
                continue
            if batch == NO_ROW and _is_row(line):
                passed_over[Reason.ROW_FILE_NOT_GIVEN] += 1
                continue
            outputs[batch].append(line if line[-1:] == b"\n" else line + b"\n")
            size += len(line)
            if size >= HELD:
                write_all()
                size = 0
    write_all()
    return SharedRows(written, frozenset(found), passed_over)


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
                f"{path}: not a CDX or CDXJ file: none of its first {len(lines):,} lines is a row; the first is {lines[0][:80]!r}. "
                "Use the index of the archive files, or none."
            )
