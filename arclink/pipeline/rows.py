"""CDX rows for the batches: which archive file a row points to decides which batch it belongs to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from arclink.archive_names import known_as
from arclink.errors import CdxError, InputError
from arclink.files.places import Location
from arclink.filter.cdx import is_header, parse_row
from arclink.pipeline.cdx_files import read_usual_lines
from arclink.pipeline.compressed import open_members
from arclink.reasons import Reason

NO_ROW = -1
"""The batch of lines that are no rows: filter counts them."""

HELD = 16 << 20
"""Bytes of rows held before they are written: a system lets about a thousand files be open, and there may be more batches."""

CACHED = 100_000

ROWS_LOOKED_AT = 1_000
"""Lines of a CDX file one of which has to be a row."""

IN_STORE = -2
"""The batch of rows that point to a file the store has been built from already: they are passed over."""


def count_lines(paths: Sequence[Path]) -> int:
    """Return the lines in files; a last line without newline counts."""
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
    """The rows of CDX files, by batch.

    Attributes:
        by_batch: One file per batch that has rows.
        names: The archive files that rows point to, as the batches name them.
        passed_over: Rows of files that are in the store already, or that were not given: they wait for their file.
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

    One pass, whatever the number of batches. Lines that are no rows go to `NO_ROW`, so that filter counts them.

    Args:
        cdx: From `arclink.pipeline.cdx_files.find_cdx`.
        batch_of: Batch by name of archive file, as the rows name it or its last parts; may be `IN_STORE`.
        folder: Where the files go.
        prefixes: SURT prefixes of the selection; see `read_usual_lines`.
        names: Names of the archive files by path; see `read_usual_lines`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    outputs: dict[int, list[bytes]] = {}
    written: dict[int, Path] = {}
    seen: dict[bytes, int] = {}
    found: set[str] = set()
    passed_over: Counter[Reason] = Counter()
    size = 0

    def write_all() -> None:
        for batch, lines in outputs.items():
            mode = "ab" if batch in written else "wb"
            written[batch] = folder / f"rows-{batch if batch >= 0 else 'elsewhere'}.cdx"
            with written[batch].open(mode) as file:
                file.writelines(lines)
        outputs.clear()

    for path in cdx:
        for line in read_usual_lines(path, prefixes, names):
            name = _file_of(line)
            if name not in seen:
                if len(seen) >= CACHED:
                    seen.clear()
                known = known_as(name.decode("utf-8", "replace"), batch_of)
                seen[name] = NO_ROW if known is None else batch_of[known]
                if known is not None:
                    found.add(known)
            batch = seen[name]
            if batch == IN_STORE:
                passed_over[Reason.ROW_IN_STORE] += 1
                continue
            if batch == NO_ROW and _is_row(line):
                passed_over[Reason.ROW_FILE_NOT_GIVEN] += 1
                continue
            outputs.setdefault(batch, []).append(line if line.endswith(b"\n") else line + b"\n")
            size += len(line)
            if size >= HELD:
                write_all()
                size = 0
    write_all()
    return SharedRows(written, frozenset(found), passed_over)


def _is_row(line: bytes) -> bool:
    try:
        parse_row(line)
    except CdxError as error:
        return error.reason is Reason.ROW_NOT_A_CAPTURE
    return True


def check_rows(paths: Sequence[Location], prefixes: Sequence[str] = ()) -> None:
    """Raise InputError if a file holds other things than CDX rows.

    Args:
        paths: From `arclink.pipeline.cdx_files.find_cdx`.
        prefixes: SURT prefixes of the selection; see `read_usual_lines`.
    """
    for path in paths:
        lines = list(islice(read_usual_lines(path, prefixes), ROWS_LOOKED_AT))
        if lines and not any(line.strip() and (is_header(line) or _is_row(line)) for line in lines):
            raise InputError(
                f"{path}: no CDX or CDXJ file: none of its first {len(lines):,} lines is a row; the first is {lines[0][:80]!r}. "
                "Give the index of the archive files, or none."
            )


def _file_of(line: bytes) -> bytes:
    """Return the archive file a row names; empty for a line that is no row."""
    if b"{" not in line:
        return line.split()[-1] if line.strip() else b""
    try:
        return parse_row(line).file.encode()
    except CdxError:
        return b""
