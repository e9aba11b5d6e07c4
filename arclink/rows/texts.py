"""Texts of pages, as extract passes them to the relations next to a store: a JSON list a line."""

from array import array
from collections.abc import Container, Iterable, Iterator, Mapping
from heapq import merge
from io import BufferedReader
from itertools import repeat
from pathlib import Path

import orjson
from zstandard import ZstdCompressor, ZstdDecompressor

TEXTS = b"texts"

TextParts = tuple[str | None, str | None, str | None, bool | None]
"""What `TextRow` has of a page."""

TextRow = tuple[str, str | None, str | None, str | None, bool | None]
"""The text of a payload, or of a content.

Checksum of the payload, or id of the content; title (null if it is not known), declared language,
text (null for what has none), and whether it is longer than what was read (null without text).
"""


def format_text(row: TextRow) -> bytes:
    """Return a row as a line."""
    return orjson.dumps(row)


def parse_text(line: bytes) -> TextRow:
    """Return the row that `format_text` wrote."""
    checksum, title, language, text, is_cut = orjson.loads(line)
    return checksum, title, language, text, is_cut


def write_texts(path: Path, rows: Iterable[TextRow]) -> None:
    """Write rows to a compressed file, a line each."""
    with path.open("wb") as file, ZstdCompressor(3).stream_writer(file) as lines:
        for row in rows:
            lines.write(format_text(row) + b"\n")


def read_texts(path: Path) -> Iterator[TextRow]:
    """Yield the rows of a file of `write_texts`."""
    with path.open("rb") as file, ZstdDecompressor().stream_reader(file) as data:
        yield from map(parse_text, BufferedReader(data))


def merged_texts(
    sources: Iterable[Iterable[TextRow]],
    gone: Container[str] = (),
    numbers: Mapping[int, "array[int]"] | None = None,
) -> Iterator[TextRow]:
    """Yield sorted rows as one; of one payload or content, the row of the first source.

    Args:
        sources: The rows, sorted in each source.
        gone: Payloads or contents whose rows are left out.
        numbers: By source, to which the number is added that each of its rows has among those
            yielded, from 0 on; -1 for one that is left out.
    """
    last, new = None, 0
    numbered = (zip(repeat(number), source) for number, source in enumerate(sources))
    for number, row in merge(*numbered, key=lambda one: one[1][0]):
        is_wanted = row[0] != last and row[0] not in gone
        if numbers is not None:
            numbers[number].append(new if is_wanted else -1)
        if is_wanted:
            last = row[0]
            new += 1
            yield row
