"""CDX rows for the batches: which archive file a row points to decides which batch it belongs to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from arclink.archive_names import known_as
from arclink.errors import CdxError
from arclink.files.places import Location
from arclink.filter.cdx import parse_row
from arclink.pipeline.cdx_files import read_usual_lines
from arclink.pipeline.compressed import open_members
from arclink.reasons import Reason

NO_ROW = -1
"""The batch of lines that are no rows: filter counts them."""

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
    outputs: dict[int, BinaryIO] = {}
    written: dict[int, Path] = {}
    seen: dict[bytes, int] = {}
    passed_over: Counter[Reason] = Counter()
    try:
        for path in cdx:
            for line in read_usual_lines(path, prefixes, names):
                name = _file_of(line)
                if name not in seen:
                    seen[name] = _batch(name, batch_of)
                batch = seen[name]
                if batch == IN_STORE:
                    passed_over[Reason.ROW_IN_STORE] += 1
                    continue
                if batch == NO_ROW and _is_row(line):
                    passed_over[Reason.ROW_FILE_NOT_GIVEN] += 1
                    continue
                output = outputs.get(batch)
                if output is None:
                    written[batch] = folder / f"rows-{batch if batch >= 0 else 'elsewhere'}.cdx"
                    output = outputs[batch] = written[batch].open("wb")
                output.write(line if line.endswith(b"\n") else line + b"\n")
    finally:
        for output in outputs.values():
            output.close()
    named = (name.decode("utf-8", "replace") for name in seen)
    found = frozenset(name for name in (known_as(one, batch_of) for one in named) if name)
    return SharedRows(written, found, passed_over)


def _is_row(line: bytes) -> bool:
    try:
        parse_row(line)
    except CdxError as error:
        return error.reason is Reason.ROW_NOT_A_CAPTURE
    return True


def _batch(name: bytes, batch_of: Mapping[str, int]) -> int:
    known = known_as(name.decode("utf-8", "replace"), batch_of)
    return NO_ROW if known is None else batch_of[known]


def _file_of(line: bytes) -> bytes:
    """Return the archive file a row names; empty for a line that is no row."""
    if b"{" not in line:
        return line.split()[-1] if line.strip() else b""
    try:
        return parse_row(line).file.encode()
    except CdxError:
        return b""
