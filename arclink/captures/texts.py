"""Reads the texts of pages from archive files, for the relations ``texts`` and ``words``.

What the store does not have is read once, by archive file, and added in portions: a process that is
killed loses the last one, and the next one goes on. Tasks read a share of the files each, and write
a part of the relations to an address. A content that cannot be read has no row, so that it is tried
again.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from arclink import progress
from arclink.analysis.relations.by_tasks import (
    Place,
    Written,
    changed,
    check_reach,
    parts_for,
    run_tasks,
    write_manifests,
    write_texts,
)
from arclink.analysis.relations.database import ShownRelations
from arclink.analysis.relations.folder import only_writer, tables_folder
from arclink.analysis.relations.kept import relations_of
from arclink.analysis.relations.state import add_texts, base_of, portions_of_texts
from arclink.analysis.relations.writing import IS_REVISIT, PAYLOAD
from arclink.captures.read import PageReader, reason_of
from arclink.captures.text import PageText, read_text
from arclink.errors import CaptureError, TaskError
from arclink.extract.page_text import has_text
from arclink.mapreduce.runs import JobRunner
from arclink.model import Span, Surt, Timestamp
from arclink.network.engine_files import files_at
from arclink.reasons import Reason
from arclink.rows.texts import TextRow
from arclink.store.archive_paths import ArchivePaths
from arclink.store.location import open_store
from arclink.store.protocols import Additions, GraphStore

_UNREAD = f"""
    SELECT
        payload, arg_min(surt, way) AS surt, arg_min(timestamp, way) AS timestamp,
        arg_min(file, way) AS file, arg_min(record_offset, way) AS record_offset,
        any_value(title) AS title, list(DISTINCT content ORDER BY content) AS contents
    FROM (
        SELECT *, {PAYLOAD} AS payload, ({IS_REVISIT}, file, record_offset, timestamp, surt) AS way
        FROM captures ANTI JOIN texts USING (content)
        WHERE content IS NOT NULL AND NOT starts_with(content, 'redirect:')
    )
    GROUP BY payload
    ORDER BY file, record_offset, payload
"""
"""The payloads without text, each with one of its captures and its contents, by archive file."""

_LEAST_PAGES, _MOST_PAGES = 1_000, 20_000
"""Payloads that a task reads, about: to start it takes as long as to read the first number, and the
last one takes it some minutes."""


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
        texts = _read(_rows(unread), reader, done)
        add_texts(where, store, progress.watched(texts, "texts read"))
    relations_of(where, store)
    return done


def read_texts_by_tasks(
    where: str,
    store: GraphStore,
    place: Place,
    run: JobRunner,
    work: Path,
    archives: Sequence[str] = (),
    parts: int | None = None,
) -> TextsRead:
    """Read the texts of all payloads that have none yet by tasks, which write them to a place.

    Texts that are only on this machine are copied there first, and those of the place to here.

    Args:
        where: The path or URL of the store.
        store: The store, with all its captures, which remembers the place.
        place: Where to write.
        run: Runs the tasks.
        work: Folder for the files of the job.
        archives: Where its archive files are, for `ArchivePaths`; the tasks find them there.
        parts: Number of tasks; None for one that suits the payloads.

    Raises:
        UsageError: An engine cannot open the store.
        OperatorError: The place cannot be used, a task failed, or the relations cannot be read or
            written.
        StoreError: Something was forgotten meanwhile, or the store cannot be read.
    """
    check_reach(where, store, run)
    relations_of(where, store, takes_texts=True)
    with only_writer(tables_folder(where)):
        place.send_texts(store, tables_folder(where))
    with ShownRelations(where, store, with_texts=True) as relations:
        ((number,),) = relations.run(f"SELECT count(*) FROM ({_UNREAD})")
        size = -(-number // (parts or parts_for(number, run.cores, _LEAST_PAGES, _MOST_PAGES)))
        with relations.reading(_UNREAD) as unread:
            lines = (json.dumps(row) + "\n" for row in _rows(unread))
            shares = (chain([one], islice(lines, size - 1)) for one in lines)
            manifests = write_manifests(work / "unread", shares)
    settings = {"folder": place.texts_of(store), "archives": [*archives]}
    written = run_tasks(where, store, place, run, manifests, settings, base_of) if manifests else ()
    relations_of(where, store, takes_texts=True)
    add_texts(where, store, ())
    relations_of(where, store)
    done = Counter[str]()
    for one in written:
        done.update(one.counts)
    read, others, cut = map(done.pop, ("read", "others", "cut"), (0, 0, 0))
    return TextsRead(read, others, cut, Counter({Reason[name]: done[name] for name in done}))


def write_read_texts(
    lines: Iterable[bytes], store: str, folder: str, base: str | None, archives: Sequence[str]
) -> Written:
    """Read the payloads that a manifest lists, and write their texts as a part; return its counts.

    Args:
        lines: Lines of the manifest, each a row of `_UNREAD` as a JSON list.
        store: The path or URL of the store.
        folder: Address of the folder for the part.
        base: What was forgotten in the store (`base_of`); None for any.
        archives: Where archive files are.

    Raises:
        TaskError: Something was forgotten in the store since.
        OperatorError: The part cannot be written.
        StoreError: The store cannot be read.
    """
    lines = [line.rstrip() for line in lines]
    rows = [json.loads(line) for line in lines]
    shown = {payload: (title, contents) for payload, *_, title, contents in rows}
    name = hashlib.sha256(b"\n".join([folder.encode(), *lines])).hexdigest()[:16]
    done = TextsRead()
    with (
        open_store(store) as opened,
        PageReader(opened, ArchivePaths(archives)) as reader,
    ):
        if base is not None and base_of(opened) != base:
            raise TaskError(changed(store))
        texts = (
            (content, title or own_title, *others)
            for payload, own_title, *others in _read(rows, reader, done)
            for title, contents in [shown[payload]]
            for content in contents
        )
        files = files_at(folder)
        written = write_texts(
            f"texts-{name}", portions_of_texts(texts), files, files.path_of(folder)
        )
    lost = {reason.name: number for reason, number in done.lost.items()}
    counts = {"read": done.read, "others": done.others, "cut": done.cut, **lost}
    return written._replace(counts=counts)


def _rows(unread: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield the rows of `_UNREAD` of its record batches."""
    return ([*row.values()] for batch in unread for row in batch.to_pylist())


def _read(unread: Iterable[Any], reader: PageReader, done: TextsRead) -> Iterator[TextRow]:
    """Yield the rows of payloads, and count those that are read, lost or without text."""
    for payload, surt, timestamp, file, offset, *_ in unread:
        try:
            text = _text_at(reader, surt, timestamp, file, offset)
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
