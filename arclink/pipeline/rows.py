"""CDX rows for the batches: which archive file a row points to decides which batch it belongs to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from arclink.errors import CdxError, InputError
from arclink.filter.cdx import parse_row
from arclink.pipeline.compressed import open_members

ELSEWHERE = -1
"""The batch of rows that point to no file given: their mementos are kept, their payloads are not at hand."""

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
    """

    by_batch: Mapping[int, Path]
    names: frozenset[str]


def share_rows(cdx: Sequence[Path], batch_of: Mapping[str, int], folder: Path) -> SharedRows:
    """Write each row of CDX files to the file of its batch.

    One pass, whatever the number of batches. Rows of a file that maps to no batch go to `ELSEWHERE`, as do lines that
    are no rows, so that filter counts them.

    Args:
        cdx: CDX or CDXJ files, plain or gzip.
        batch_of: Batch by name of archive file, as the rows name it or its last part; may be `IN_STORE`.
        folder: Where the files go.
    """
    folder.mkdir(parents=True, exist_ok=True)
    outputs: dict[int, BinaryIO] = {}
    written: dict[int, Path] = {}
    seen: dict[bytes, int] = {}
    try:
        for path in cdx:
            for line in read_lines(path):
                name = _file_of(line)
                if name not in seen:
                    seen[name] = _batch(name, batch_of)
                batch = seen[name]
                if batch == IN_STORE:
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
    return SharedRows(written, frozenset(_name(name, batch_of) for name in named if _name(name, batch_of) in batch_of))


def _batch(name: bytes, batch_of: Mapping[str, int]) -> int:
    return batch_of.get(_name(name.decode("utf-8", "replace"), batch_of), ELSEWHERE)


def _name(text: str, batch_of: Mapping[str, int]) -> str:
    """Return the name under which a file is known: as the row has it, or its last part."""
    return text if text in batch_of else text.rsplit("/", 1)[-1]


def _file_of(line: bytes) -> bytes:
    """Return the archive file a row names; empty for a line that is no row."""
    if b"{" not in line:
        return line.rstrip().rpartition(b" ")[2]
    try:
        return parse_row(line).file.encode()
    except CdxError:
        return b""


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a plain or gzip file, newline included.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with open_members(path) as file:
            yield from file
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read as a CDX file: {error}") from error
