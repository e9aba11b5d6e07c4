"""Formats that are SQL scripts: what their readers find in them is what the archive has."""

import base64
import csv
import gzip
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from arclink.access.queries import ConflictError
from arclink.analysis.export.exports import export
from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.relations import kept
from arclink.analysis.relations.folder import only_writer, tables_folder
from arclink.analysis.relations.kept import relations_of
from arclink.errors import ExportError, WriteError
from arclink.model import UriR
from arclink.store.location import open_store
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.resolution import serialised
from arclink.uris.surts import surt_of
from tests.pipeline.conftest import demo, store, truth
from tests.pipeline.store_contents import TrueMemento
from tests.relations import weblab
from tests.relations.written_formats import QUERIES, Imported, written
from tests.store.memory_store import MemoryStore, Page

__all__ = ["demo", "store", "truth"]  # fixtures

FOLDERS = ("weblab", "cc-index", "arch")


@pytest.fixture(scope="module")
def demo_weblab(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Imported:
    folder = tmp_path_factory.mktemp("weblab") / "demo"
    weblab.write_demo(store, folder)
    return Imported(folder)


@pytest.fixture(scope="module")
def long_weblab(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    folder = tmp_path_factory.mktemp("weblab") / "long"
    weblab.write_weblab(weblab.long_texts(), folder)
    return Imported(folder)


def test_duckdb_imports_the_true_links_from_weblab(
    demo_weblab: Imported, truth: list[TrueMemento]
) -> None:
    weblab.check_truth(demo_weblab, truth)


@pytest.mark.parametrize("name", ["demo_weblab", "long_weblab"])
def test_duckdb_finds_no_orphan_in_weblab(name: str, request: pytest.FixtureRequest) -> None:
    database = request.getfixturevalue(name)
    weblab.check_keys(database)
    declared = "SELECT count(*) FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY'"
    assert database(declared) == [("10",)]  # the one of LinkFullText has two columns


def test_weblab_says_which_columns_it_has(demo_weblab: Imported) -> None:
    weblab.check_schema(demo_weblab)


def test_long_texts_of_weblab_are_in_the_tables_of_full_texts(long_weblab: Imported) -> None:
    weblab.check_lengths(long_weblab)


def test_keys_of_weblab_are_md5_without_protocol_and_port(long_weblab: Imported) -> None:
    weblab.check_md5(long_weblab)


def test_a_page_without_known_links_is_distinguished_from_one_without_links(
    long_weblab: Imported,
) -> None:
    assert long_weblab("SELECT HasLinks, count(*) FROM Page GROUP BY ALL ORDER BY ALL") == [
        ("False", "1"),
        ("True", "2"),
    ]


def test_duckdb_opens_both_relations_and_their_views(
    store: Path, tmp_path: Path, truth: list[TrueMemento]
) -> None:
    path = tmp_path / "demo.duckdb"
    made = written(store, path, "duckdb")
    with duckdb.connect(str(path), read_only=True) as database:
        found = database.execute(
            "SELECT strftime(time, '%Y%m%d%H%M%S'), source, target, kind, text, rel, occurrences "
            "FROM page_links"
        ).fetchall()
        hosts = database.execute("SELECT source_host, target_host FROM host_links").fetchall()
        never = database.execute("SELECT target_surt FROM never_captured").fetchall()
        tables = {
            name: database.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0]
            for name in ("captures", "links")
        }
    expected = Counter(
        (one["timestamp"], serialised(UriR(one["original"])), *link)
        for one in truth
        for link in one["links"] or ()
    )
    assert Counter({tuple(row[:-1]): row[-1] for row in found}) == expected
    pairs = {(host_of(surt_of(row[1])), host_of(surt_of(row[2]))) for row in expected}
    assert set(hosts) == {pair for pair in pairs if all(pair) and pair[0] != pair[1]}
    captured = {surt_of(one["original"]) for one in truth}
    assert {surt for (surt,) in never} == {surt_of(row[2]) for row in expected} - captured
    assert made.tally.tables == tables
    manifest = json.loads(path.with_name("demo.duckdb.json").read_bytes())
    assert manifest["counts"] == {"rows": sum(tables.values()), "tables": tables}
    assert manifest["files"] == {"demo.duckdb": path.stat().st_size}


def test_queries_of_common_crawl_are_answered(
    store: Path, tmp_path: Path, truth: list[TrueMemento]
) -> None:
    written(store, tmp_path / "index", "cc-index")
    database = Imported(tmp_path / "index")
    failed, homes, hosts = map(database, QUERIES)
    status = Counter(
        one["status"]
        for one in truth
        if one["status"] != "200" and not one["original"].endswith("/robots.txt")
    )
    assert {row[1]: int(row[0] or 0) for row in failed} == {
        (None if code == "-" else code): count for code, count in status.items()
    }
    assert len(homes) == sum(
        one["status"] == "200"
        and domain_of(host_of(surt_of(one["original"]))) == "kalvik2010.example"
        and serialised(UriR(one["original"])).partition("://")[2].partition("/")[2]
        in ("", "index.html", "index.htm", "index.php")
        for one in truth
    )
    assert sum(int(row[0] or 0) for row in hosts) == len(truth)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        pytest.param(
            "https://news.bbc.co.uk:8443/a/b.html?x=1",
            {
                "url_surtkey": "uk,co,bbc,news:8443)/a/b.html?x=1",
                "url_host_name": "news.bbc.co.uk",
                "url_host_tld": "uk",
                "url_host_2nd_last_part": "co",
                "url_host_3rd_last_part": "bbc",
                "url_host_4th_last_part": "news",
                "url_host_5th_last_part": None,
                "url_host_registry_suffix": "co.uk",
                "url_host_registered_domain": "bbc.co.uk",
                "url_host_name_reversed": "uk.co.bbc.news",
                "url_protocol": "https",
                "url_port": 8443,
                "url_path": "/a/b.html",
                "url_query": "x=1",
            },
            id="all parts",
        ),
        pytest.param(
            "http://127.0.0.1/",
            {
                "url_host_name": "127.0.0.1",
                "url_host_tld": None,
                "url_host_registered_domain": None,
                "url_host_registry_suffix": None,
                "url_host_name_reversed": "127.0.0.1",
                "url_port": None,
                "url_query": None,
            },
            id="address",
        ),
        pytest.param(
            "http://www.example.org/?",
            {"url_host_name": "www.example.org", "url_query": "", "url_path": "/"},
            id="www and an empty query",
        ),
    ],
)
def test_a_url_has_the_parts_that_common_crawl_names(
    uri: str, expected: dict[str, object], tmp_path: Path
) -> None:
    query = ExportQuery.from_parameters([("format", "cc-index")])
    export(MemoryStore([Page(uri, "20100101000000")]), query, tmp_path / "index")
    relation = Imported(tmp_path / "index").connection.sql("FROM ccindex")
    (row,) = relation.fetchall()
    found = dict(zip(relation.columns, row, strict=True))
    assert {name: found[name] for name in expected} == expected
    assert len(found) == 32


def test_arch_has_its_datasets_with_their_columns(
    store: Path, tmp_path: Path, truth: list[TrueMemento]
) -> None:
    written(store, tmp_path / "arch", "arch")
    rows = {
        path.name.removesuffix(".csv.gz"): list(_rows_of(path))
        for path in (tmp_path / "arch").iterdir()
    }
    assert list(rows["web-graph"][0]) == ["crawl_date", "source", "target", "anchor_text"]
    assert list(rows["image-graph"][0]) == ["crawl_date", "source", "url", "alt_text"]
    assert list(rows["domain-graph"][0]) == ["crawl_date", "source", "target", "count"]
    pages = [one for one in truth if one["links"] is not None]
    for name, kind in (("web-graph", "a@href"), ("image-graph", "img@src")):
        expected = Counter(
            (one["timestamp"][:8], serialised(UriR(one["original"])), target, text)
            for one in pages
            for target, of, text, _ in one["links"] or ()
            if of == kind
        )
        found = Counter(tuple(row.values()) for row in rows[name])
        assert found == expected, name
    domains = Counter(
        (one["timestamp"][:8], domain_of(host_of(surt_of(one["original"]))), domain)
        for one in pages
        for domain in {
            domain_of(host_of(surt_of(target)))
            for target, of, *_ in one["links"] or ()
            if of == "a@href"
        }
    )
    dates = {
        row["crawl_date"] for of_file in rows.values() for row in of_file if "crawl_date" in row
    }
    assert dates == {one["timestamp"][:8] for one in truth} & dates
    counts = {tuple(row.values())[:3]: int(row["count"]) for row in rows["domain-graph"]}
    assert counts == {key: count for key, count in domains.items() if all(key)}


def test_arch_has_checksums_in_hex_and_names_of_files(store: Path, tmp_path: Path) -> None:
    written(store, tmp_path / "arch", "arch")
    rows = list(_rows_of(tmp_path / "arch" / "image-information.csv.gz"))
    found = {(row["url"], row["crawl_date"]): row["sha1"] for row in rows}
    with open_store(str(store)) as opened:
        expected = {
            (one.original, one.timestamp[:8]): base64.b32decode(one.checksum).hex()
            for one in opened.scan_mementos()
            if one.mime.startswith("image/") and one.status == "200"
        }
    assert found == expected
    for row in rows:
        assert row["url"].endswith(f"/{row['filename']}")
        assert row["filename"].endswith(f".{row['extension']}")


def _rows_of(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


@pytest.mark.parametrize("form", [*FOLDERS, "duckdb"])
def test_a_subset_has_only_what_its_captures_show(form: str, store: Path, tmp_path: Path) -> None:
    whole = written(store, tmp_path / "whole", form).tally.tables
    part = written(store, tmp_path / "part", form, "domain:kalvik2010.example").tally.tables
    for table, rows in part.items():
        assert rows <= whole[table]
    captures = {"weblab": "Page", "cc-index": "ccindex", "duckdb": "captures", "arch": "web-graph"}
    assert 0 < part[captures[form]] < whole[captures[form]]
    files = [tmp_path / "part"] if form == "duckdb" else (tmp_path / "part").iterdir()
    other = b"fjordpost.example/2010"  # pages of another domain, to which it has no link
    for path in files:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert other not in data


def test_what_a_script_cannot_use_is_refused() -> None:
    for name, value in (("kinds", "all"), ("from", "2010"), ("level", "host"), ("min-count", "2")):
        with pytest.raises(ConflictError, match="which has everything"):
            ExportQuery.from_parameters([("format", "weblab"), (name, value)])


@pytest.mark.parametrize("form", FOLDERS)
def test_a_folder_that_exists_is_not_changed(form: str, store: Path, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "mine.txt").write_text("mine")
    with pytest.raises(ExportError, match="exists"):
        written(store, tmp_path / "made", form)
    assert [path.name for path in tmp_path.rglob("*")] == ["made", "mine.txt"]


def test_a_script_that_fails_leaves_nothing(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("arclink.analysis.export.scripts._write", fail)
    with pytest.raises(ExportError, match="No space left"):
        written(store, tmp_path / "made", "weblab")
    assert list(tmp_path.iterdir()) == []


def test_captures_without_links_are_written(tmp_path: Path) -> None:
    made = weblab.write_weblab(
        MemoryStore([Page("x:y", "20100101000000", None)]), tmp_path / "made"
    )
    assert made.tally.tables["Page"] == 1
    weblab.check_keys(Imported(tmp_path / "made"))


@pytest.mark.parametrize("form", ["csv", "parquet", "weblab"])
def test_names_of_files_may_have_any_letters_of_utf_8(
    form: str, store: Path, tmp_path: Path
) -> None:
    path = tmp_path / "it's {0}; *\u2603.csv"
    assert written(store, path, form).tally.rows > 0
    assert path.exists()
    assert len(list(tmp_path.iterdir())) == 2  # with the manifest


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_names_of_tables_may_have_any_bytes(form: str, store: Path, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.csv")
    written(store, path, form)
    written(store, tmp_path / "coffee.csv", form)
    assert path.read_bytes() == (tmp_path / "coffee.csv").read_bytes()


def test_a_script_takes_only_names_in_utf_8(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="UTF-8"):
        written(store, tmp_path / os.fsdecode(b"caf\xe9"), "weblab")
    assert not list(tmp_path.iterdir())


def test_a_store_whose_folder_is_only_read_is_exported(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copy(store, tmp_path / "links.db"))

    def only_reading(folder: Path) -> AbstractContextManager[None]:
        if folder == tables_folder(str(copy)):
            raise WriteError(folder, "Read-only file system", "")
        return only_writer(folder)

    monkeypatch.setattr(kept, "only_writer", only_reading)
    rows = written(copy, tmp_path / "links.csv", "csv").tally.rows
    assert not tables_folder(str(copy)).exists()
    assert rows == written(store, tmp_path / "others.csv", "csv").tally.rows > 0


@pytest.mark.parametrize("form", ["csv", "weblab", "duckdb"])
def test_a_full_disk_is_named_and_nothing_is_left(form: str, store: Path, tmp_path: Path) -> None:
    with open_store(str(store)) as opened:
        relations_of(str(store), opened)

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    command = [sys.executable, "-m", "arclink", "export", "--store", str(store)]
    done = subprocess.run(
        [*command, "--format", form, "--into", str(tmp_path / "made")],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 1
    assert f"{tmp_path / 'made'} cannot be written: File too large. " in done.stderr
    assert list(tmp_path.iterdir()) == []
