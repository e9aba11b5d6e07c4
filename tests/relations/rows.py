"""The rows of the relations: as the files have them, and as a store answers for them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, groupby
from pathlib import Path
from typing import Any
from uuid import UUID

from pyarrow import parquet

from arclink.access.texts import printable, printable_uri
from arclink.analysis.relations import columns
from arclink.analysis.relations.by_tasks import PartTask, Place, write_part
from arclink.analysis.relations.database import RelationsDatabase
from arclink.analysis.relations.folder import mark_address, only_writer
from arclink.analysis.relations.kept import relations_of
from arclink.analysis.relations.state import OF_STORE
from arclink.model import Memento, Outlink, Surt, UriR
from arclink.network.engine_files import FolderFiles
from arclink.rows.texts import TextRow
from arclink.store.protocols import Additions, Share
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.resolution import checksum_of, serialised
from arclink.uris.surts import surt_of
from arclink.uris.uri_ids import uri_id
from tests.relations.plain_words import plain_words
from tests.relations.saying import what_it_says

Rows = Counter[tuple[Any, ...]]
Both = tuple[Rows, Rows]
"""Captures and links, with how often each row occurs."""


def rows_of(folder: Path, store: Additions) -> Both:
    """Return the rows of the relations in a folder, which are brought up to date."""
    made = relations_of("", store, folder)
    assert {path.parent.name for path in (*made["captures"], *made["links"])} == {
        path.name for path in folder.iterdir() if path.is_dir()
    }
    links = _read(made["links"], columns.LINKS)
    assert _without_columns(links) == _read_by_page(made["links_by_page"])
    return _read(made["captures"], columns.CAPTURES), links


def kept_rows(folder: Path, store: Additions) -> Both:
    """Return the rows of the relations in a folder, which show the present state already."""
    state = (folder / "state").read_bytes()
    rows = rows_of(folder, store)
    assert (folder / "state").read_bytes() == state
    return rows


def rows_by_tasks(folder: Path, store: Additions, parts: int) -> Both:
    """Return the rows of the parts that tasks write, as another machine copies them."""
    files, place = FolderFiles(), Place(str(folder / "at"))
    mark_address(place.address)
    tasks = [PartTask(name, Share(number, parts)) for name in OF_STORE for number in range(parts)]
    for task in tasks:
        write_part(task, store, files, place.folder_of(store))
    place.complete(store, tasks)
    with only_writer(folder / "copy"):
        place.fetch(store, folder / "copy")
    return kept_rows(folder / "copy", store)


def _read(paths: Sequence[Path], of: Sequence[columns.Column]) -> Rows:
    rows: Rows = Counter()
    order = ("surt", "timestamp") if of is columns.CAPTURES else ("target_surt", "target")
    for path in paths:
        table = parquet.read_table(path)
        assert table.column_names == [column.name for column in of]
        sorted_by = list(zip(*(table[name].to_pylist() for name in order), strict=True))
        assert sorted_by == sorted(sorted_by)
        rows.update(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return rows


def _without_columns(links: Rows) -> Rows:
    """Return rows of links with the columns that they have in the order of pages."""
    by_page = {column.name for column in columns.LINKS_BY_PAGE}
    kept = [column.name in by_page for column in columns.LINKS]
    return Counter(tuple(compress(row, kept)) for row in links.elements())


def _read_by_page(paths: Sequence[Path]) -> Rows:
    rows: Rows = Counter()
    for path in paths:
        table = parquet.read_table(path)
        assert table.column_names == [column.name for column in columns.LINKS_BY_PAGE]
        numbers = table.column("row_group").to_pylist()
        assert numbers == sorted(numbers)
        assert sorted({*numbers}) == [*range(max(numbers, default=-1) + 1)]
        contents = table.column("content").to_pylist()
        assert len([*groupby(contents)]) == len({*contents})  # each content in one place
        copied = table.drop_columns(["row_group"]).columns
        rows.update(zip(*(column.to_pylist() for column in copied), strict=True))
    return rows


def rows_in(store: Additions) -> Both:
    """Return the rows that a store answers for, asked one by one."""
    mementos = [*store.scan_mementos()]
    captures = (
        (
            *_capture(one, store.content_of(one), _title(store, one)),
            *what_it_says(store, one, mementos),
        )
        for one in mementos
    )
    links = (
        (content, position, number, *_link(link))
        for block in store.scan_contents()
        for content in block.contents
        for position, (link, number) in enumerate(Counter(store.outlinks(content)).items())
    )
    return Counter(captures), Counter(links)


def database_of(store: Additions, texts: Iterable[TextRow] | None = None) -> RelationsDatabase:
    """Return the relations of a store in memory, without files.

    Args:
        store: The store.
        texts: Those of contents; None if they were not read.
    """
    database = RelationsDatabase()
    captures, links = (rows.elements() for rows in rows_in(store))
    database.has_texts = texts is not None
    texts = [*(texts or ())]
    of_words = [row for one in texts for row in _words(one)]
    tables = {"captures": captures, "links": links, "texts": texts, "words": of_words}
    for name, rows in tables.items():
        of = columns.RELATIONS[name]
        declared = ", ".join(f"{column.name} {column.kind}" for column in of)
        database.run(f"CREATE TABLE {name} ({declared})")
        if values := [[*row] for row in rows]:
            marks = ", ".join("?" * len(of))
            database.connection.executemany(f"INSERT INTO {name} VALUES ({marks})", values)
    parts = "rowid % 2 AS text_part, rowid // 2 AS text_row"
    database.run(f"CREATE VIEW numbered_texts AS SELECT *, {parts} FROM texts")
    numbers = "SELECT content, text_part, text_row FROM numbered_texts"
    database.run(f"CREATE VIEW numbered_words AS FROM words JOIN ({numbers}) USING (content)")
    # A row group for each content, so that a question which reads too few of them is found.
    database.run(
        "CREATE VIEW links_by_page AS SELECT *, (hash(content) % 1000)::INTEGER AS row_group "
        "FROM links"
    )
    return database


def _words(row: TextRow) -> Iterator[tuple[Any, ...]]:
    content, title, _, text, _ = row
    places = defaultdict(list)
    if text is not None:
        for place, word in enumerate([*plain_words(title or ""), "", *plain_words(text)], 1):
            places[word].append(place)
    places.pop("", None)
    yield from ((word, content, len(found), found) for word, found in places.items())


def _title(store: Additions, memento: Memento) -> str | None:
    content = store.content_of(memento)
    payload = store.payload(memento.checksum if content is None else checksum_of(content))
    if payload is None or payload.title is None or memento.reason != "-":
        return None
    return printable(payload.title)


def _capture(one: Memento, content: str | None, title: str | None) -> tuple[Any, ...]:
    _, surt, *ends = _uri(one.original, one.surt)
    unknown = {"-": None, -1: None}
    uri = printable_uri(serialised(one.original))
    return (
        surt,
        uri,
        None if uri == printable_uri(one.original) else printable_uri(one.original),
        *ends,
        one.timestamp,
        moment(one.timestamp),
        None if one.status == "-" else int(one.status),
        *(unknown.get(value, value) for value in (one.mime, one.languages, one.record_type)),
        None,
        unknown.get(one.checksum, one.checksum),
        content,
        title,
        one.file,
        one.offset,
        unknown.get(one.length, one.length),
    )


def _link(link: Outlink) -> Iterable[Any]:
    rel = None if link.rel is None else printable(link.rel)
    return *_uri(link.target, surt_of(link.target)), link.kind, printable(link.text), rel


def _uri(uri: UriR, surt: Surt) -> tuple[Any, ...]:
    host = host_of(surt)
    identifier = UUID(uri_id(surt))
    return (
        printable_uri(uri),
        printable_uri(surt),
        identifier,
        host or None,
        domain_of(host) or None,
    )


def moment(timestamp: str) -> Any:
    from datetime import datetime

    return datetime.strptime(timestamp, "%Y%m%d%H%M%S")
