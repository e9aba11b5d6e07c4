"""The Web Lab's database of the demo archive and of texts around its limit, and what is true of it.

The statements are for DuckDB and for PostgreSQL: a database is a function that answers them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from arclink.access.texts import printable
from arclink.analysis.export.exports import Exported, export
from arclink.analysis.export.queries import ExportQuery
from arclink.model import UriR
from arclink.store.location import open_store
from arclink.store.protocols import Scans
from arclink.uris.resolution import serialised
from tests.pipeline.store_contents import TrueMemento
from tests.store.memory_store import MemoryStore, Page, link

Database = Callable[[str], Sequence[tuple[str | None, ...]]]
"""Returns the rows of a query; values are text: of integers, names and counts of rows."""

LENGTHS = (899, 900, 901, 100_000)
KEYS = (
    ("Url", "HostID", "Host", "HostID"),
    ("HostFullText", "HostID", "Host", "HostID"),
    ("UrlFullText", "UrlID", "Url", "UrlID"),
    ("Page", "UrlID", "Url", "UrlID"),
    ("Page", "CrawlID", "Crawl", "CrawlID"),
    ("PageFullText", "PageID", "Page", "PageID"),
    ("Link", "PageID", "Page", "PageID"),
    ("Link", "UrlID", "Url", "UrlID"),
    ("LinkFullText", "PageID", "Page", "PageID"),
)
"""Table and column of foreign keys, and what they refer to."""

TEXTS = {
    "Host": ("Hostname",),
    "Url": ("Path", "Extension", "QueryString", "UserInfo"),
    "Page": ("Protocol", "MimeType", "Languages", "Checksum", "FileName"),
    "Link": ("LinkText", "Protocol", "Kind", "Rel"),
}


def write_weblab(store: Scans, folder: Path, where: str = "") -> Exported:
    query = ExportQuery.from_parameters([("format", "weblab")])
    return export(store, query, folder, where)


def write_demo(store: Path, folder: Path) -> None:
    with open_store(str(store)) as opened:
        write_weblab(opened, folder, str(store))


def long_texts() -> MemoryStore:
    """Return a store with texts, paths, queries and hosts of each length, and odd ones."""
    links = [link("http://b.example/", "é" * length, rel="r" * length) for length in LENGTHS]
    for length in LENGTHS:
        links.append(link(f"http://b.example/{'p' * (length - 1)}"))
        links.append(link(f"https://b.example:8080/x.{'e' * (length - 1)}"))
        links.append(link(f"http://me:it@b.example/?{'q' * length}"))
        links.append(link(f"http://{'h' * length}/"))
    links += [link("http://b.example/", text) for text in ODD]
    links += [link(target) for target in ("mailto:me@b.example", "http://[::1]:8080/a.b/c?", "x:y")]
    page = f"http://a.example/{'p' * 1000}?q"
    return MemoryStore(
        [
            Page("http://a.example", "20100101000000", links),
            Page(page, "20100101000001", links),
            Page("http://a.example/none", "20100101000001", None, reason="MEMENTO_NOT_HTML"),
        ]
    )


ODD = ("", "NULL", "\\N", "\\.", '"', '""', "a,b", "x\ty", "\u2028", " ", "\\", "'", "=1+1")


def check_keys(database: Database) -> None:
    """Check that no row refers to a row that is not there."""
    for table, column, other, key in KEYS:
        orphans = f"""
            SELECT count(*) FROM {table} AS t LEFT JOIN {other} AS o ON t.{column} = o.{key}
            WHERE t.{column} IS NOT NULL AND o.{key} IS NULL
        """
        assert database(orphans) == [("0",)], (table, column)


def check_schema(database: Database) -> None:
    """Check that the table about the schema names all columns of the ten tables."""
    described = database("SELECT lower(TableName), lower(ColumnName) FROM WebLabSchema")
    columns = database(
        "SELECT lower(table_name), lower(column_name) FROM information_schema.columns "
        "WHERE table_schema IN ('main', 'public') AND lower(table_name) NOT IN "
        "('urlname', 'urllink')"
    )
    assert Counter(described) == Counter(columns)
    assert len({table for table, _ in columns}) == 10


def check_truth(database: Database, truth: Sequence[TrueMemento]) -> None:
    """Check that the tables have the true links of an archive, each with its URLs and its text."""
    found = database(
        """
        SELECT p.ArchiveTime, s.Name, p.Protocol, t.Name, l.Protocol, l.Kind, l.LinkText, l.Rel,
            l.Occurrences
        FROM Link AS l JOIN Page AS p ON l.PageID = p.PageID
        JOIN UrlName AS s ON s.UrlID = p.UrlID JOIN UrlName AS t ON t.UrlID = l.UrlID
        """
    )
    expected: Counter[tuple[str | None, ...]] = Counter()
    for one in truth:
        for target, kind, text, rel in one["links"] or ():
            source = _named(one["original"])
            expected[(_time(one["timestamp"]), *source, *_named(target), kind, text, rel)] += 1
    assert Counter({row[:-1]: int(row[-1] or 0) for row in found}) == expected
    known = {(one["original"], one["timestamp"]) for one in truth if one["links"] is not None}
    assert database("SELECT count(*) FROM Page WHERE HasLinks") == [(str(len(known)),)]
    pages = {row[:4] for row in expected}
    graph = database("SELECT count(*), sum(Pages) FROM UrlLink")
    assert graph == [(str(len({(row[1], row[3]) for row in pages})), str(len(pages)))]


def check_lengths(database: Database) -> None:
    """Check that texts are where their length says, whole, in one of both tables only."""
    for table, columns in TEXTS.items():
        keys = "PageID, LinkNumber" if table == "Link" else f"{table}ID"
        for column in columns:
            lengths = database(
                f"SELECT length(t.{column}), length(f.{column}) FROM {table} AS t "
                f"LEFT JOIN {table}FullText AS f USING ({keys})"
            )
            for short, long in lengths:
                assert short is None or (int(short) <= 900 and long is None)
                assert long is None or int(long) > 900
    for table, column in (
        ("Link", "LinkText"),
        ("Link", "Rel"),
        ("Url", "Path"),
        ("Url", "Extension"),
        ("Url", "QueryString"),
        ("Host", "Hostname"),
    ):
        for size in LENGTHS:
            name = table if size <= 900 else f"{table}FullText"
            count = database(f"SELECT count(*) FROM {name} WHERE length({column}) = {size}")
            assert count != [("0",)], (name, column, size)
    texts = {text for (text,) in database("SELECT LinkText FROM Link") if text is not None}
    assert {printable(text) for text in ODD} <= texts
    names = {name for (name,) in database("SELECT Name FROM UrlName")}
    assert {"mailto:me@b.example", "[::1]/a.b/c?", "x:y", "a.example/", "b.example/"} <= names
    assert f"me:it@b.example/?{'q' * 100_000}" in names


def check_md5(database: Database) -> None:
    """Check the keys as the page of the Web Lab has them: MD5 of URL, without protocol and port."""
    url = "md5('b.example/x.' || repeat('e', 899))"
    cast = f"CAST({url} AS UUID)"
    assert database(f"SELECT count(*) FROM Url WHERE UrlID = {cast}") == [("1",)]
    host = "CAST(md5('b.example') AS UUID)"
    assert database(f"SELECT Hostname FROM Host WHERE HostID = {host}") == [("b.example",)]


def _time(timestamp: str) -> str:
    day, clock = timestamp[:8], timestamp[8:]
    return f"{day[:4]}-{day[4:6]}-{day[6:]} {clock[:2]}:{clock[2:4]}:{clock[4:]}"


def _named(uri: str) -> tuple[str, str | None]:
    """Return a URL without protocol and port, and its protocol."""
    protocol, separator, rest = serialised(UriR(uri)).partition("://")
    if not separator:
        return protocol, None
    host, slash, path = rest.partition("/")
    return f"{host.partition(':')[0]}{slash}{path}", protocol
