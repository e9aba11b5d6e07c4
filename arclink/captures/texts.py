"""Reads the texts of pages from archive files, for the relations ``texts`` and ``words``.

What the store does not have is read once, by archive file, and added in portions: a process that is
killed loses the last one, and the next one goes on. A content that cannot be read has no row, so
that it is tried again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from sys import getsizeof
from typing import Any

from arclink import progress
from arclink.analysis.relations.database import ShownRelations
from arclink.analysis.relations.folder import have_texts
from arclink.analysis.relations.kept import add_texts, relations_of
from arclink.analysis.relations.writing import IS_REVISIT, PAYLOAD
from arclink.captures.read import PageReader, reason_of
from arclink.captures.text import PageText, read_text
from arclink.errors import CaptureError
from arclink.extract.page_text import has_text
from arclink.model import Span, Surt, Timestamp
from arclink.reasons import Reason
from arclink.rows.texts import TextRow, parse_text
from arclink.store.archive_paths import ArchivePaths
from arclink.store.protocols import Additions

_PORTION = 100_000_000
"""Bytes of texts that are held in memory and added at a time, about."""

_UNREAD = f"""
    SELECT
        payload, arg_min(surt, way) AS surt, arg_min(timestamp, way) AS timestamp,
        arg_min(file, way) AS file, arg_min(record_offset, way) AS record_offset
    FROM (
        SELECT *, {PAYLOAD} AS payload, ({IS_REVISIT}, file, record_offset, timestamp, surt) AS way
        FROM captures ANTI JOIN texts USING (content)
        WHERE content IS NOT NULL AND NOT starts_with(content, 'redirect:')
    )
    GROUP BY payload
    ORDER BY file, record_offset, payload
"""
"""The payloads without text, each with one of its captures, by archive file."""


@dataclass(slots=True)
class TextsRead:
    """What became of payloads whose texts were missing.

    Attributes:
        read: Number of payloads whose text was read.
        others: Number of those that are no HTML and no plain text.
        cut: Number of those read whose page is longer than what was read.
        lost: Numbers of those that could not be read, by reason.
    """

    read: int = 0
    others: int = 0
    cut: int = 0
    lost: Counter[Reason] = field(default_factory=Counter)


def read_texts(where: str, store: Additions, archive_paths: ArchivePaths) -> TextsRead:
    """Read the texts of all payloads that have none yet, and add them to the relations of a store.

    Args:
        where: The path or URL of the store.
        store: The store, with all its captures.
        archive_paths: Where its archive files are.

    Raises:
        OperatorError: The relations cannot be read or written.
        StoreError: The store cannot be read.
    """
    done = TextsRead()
    with (
        ShownRelations(where, store, with_texts=True) as relations,
        PageReader(store, archive_paths) as reader,
        relations.reading(_UNREAD) as unread,
    ):
        _add(where, store, progress.watched(_read(unread, reader, done), "texts read"))
    relations_of(where, store)
    return done


def keep_texts(where: str, store: Additions, parts: Iterable[Path]) -> None:
    """Add the texts that extract has written to the relations of a store.

    Args:
        where: The path or URL of the store.
        store: The store.
        parts: The files that extract wrote.

    Raises:
        OperatorError: The relations cannot be written.
    """

    def rows() -> Iterator[TextRow]:
        for part in parts:
            with part.open("rb") as lines:
                yield from map(parse_text, lines)

    _add(where, store, rows())


def _add(where: str, store: Additions, texts: Iterable[TextRow]) -> None:
    rows: list[TextRow] = []
    size = 0
    for row in texts:
        rows.append(row)
        size += getsizeof(row[3])
        if size >= _PORTION:
            add_texts(where, store, sorted(rows))
            rows, size = [], 0
    # Without any row, too: that no page has a text is known then.
    if rows or not have_texts(where):
        add_texts(where, store, sorted(rows))


def _read(unread: Iterable[Any], reader: PageReader, done: TextsRead) -> Iterator[TextRow]:
    """Yield the rows of payloads, and count those that are read, lost or without text."""
    for payload, *address in (row.values() for batch in unread for row in batch.to_pylist()):
        try:
            text = _text_at(reader, *address)
        except CaptureError as error:
            done.lost[reason_of(error)] += 1
            continue
        if text is None:
            done.others += 1
            yield payload, None, None, None, None
        else:
            done.read += 1
            done.cut += text.is_cut
            yield payload, text.title, text.language, text.text, text.is_cut


def _text_at(
    reader: PageReader, surt: str, timestamp: str, file: str, offset: int
) -> PageText | None:
    """Return the text of the capture at an address; None if it is no HTML and no plain text."""
    time = Timestamp(timestamp)
    for memento in reader.store.mementos(Surt(surt), Span(time, time)):
        if (memento.file, memento.offset) == (file, offset):
            with reader.read(memento) as page:
                if has_text(page.mime) is False:
                    return None
                return read_text(page, has_links=False)
    raise CaptureError("it was forgotten meanwhile", Reason.PAYLOAD_NOT_AT_HAND, file)
