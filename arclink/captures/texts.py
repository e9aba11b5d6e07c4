"""Reads the texts of pages from archive files, for the relations ``texts`` and ``words``.

What the store does not have is read once, by archive file, and added in portions: a process that is
killed loses the last one, and the next one goes on. A content that cannot be read has no row, so
that it is tried again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from arclink import progress
from arclink.analysis.relations.database import ShownRelations
from arclink.analysis.relations.kept import relations_of
from arclink.analysis.relations.state import add_texts
from arclink.analysis.relations.writing import IS_REVISIT, PAYLOAD
from arclink.captures.read import PageReader, reason_of
from arclink.captures.text import PageText, read_text
from arclink.errors import CaptureError
from arclink.extract.page_text import has_text
from arclink.model import Span, Surt, Timestamp
from arclink.reasons import Reason
from arclink.rows.texts import TextRow
from arclink.store.archive_paths import ArchivePaths
from arclink.store.protocols import Additions

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
        add_texts(where, store, progress.watched(_read(unread, reader, done), "texts read"))
    relations_of(where, store)
    return done


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
