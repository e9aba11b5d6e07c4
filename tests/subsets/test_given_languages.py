"""Languages that headers or index rows give: kept, selected, counted and exported."""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from arclink.access.captures import OUTPUTS
from arclink.captures.subsets.evaluation import Evaluation
from arclink.captures.subsets.language import parse_selection, text_of
from arclink.captures.subsets.view import count_captures
from arclink.captures.write import write_cdxj, write_csv
from arclink.filter.index import index_archive
from arclink.model import Memento
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, warc

HEADERS = {
    "a": ["Content-Language: en-GB"],
    "b": ["Content-Language: de, eng"],
    "c": [],
    "d": ["Content-Language: und"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an archive with its store."""
    folder = tmp_path_factory.mktemp("languages")
    records = [
        warc(
            f"http://h.example/{name}",
            http(b"<p>%b" % name.encode(), "Content-Type: text/html", *headers),
        )
        for name, headers in HEADERS.items()
    ]
    (folder / "pages.warc.gz").write_bytes(gzipped(records))
    build_store(folder, folder / "links.db", BuildSettings())
    return folder


def selected(store: Path, text: str) -> Sequence[str]:
    with open_store(str(store)) as opened:
        found = Evaluation(opened, parse_selection(text)).scan()
        return [memento.original[-1] for memento in found]


def mementos(store: Path) -> Sequence[Memento]:
    with open_store(str(store)) as opened:
        return list(opened.scan_mementos())


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("lang:en", "ab"),
        ("lang:ENG", "ab"),
        ("lang:de-AT", "b"),
        ("lang:fr", ""),
        ("lang:unknown", "cd"),
        ("not lang:unknown", "ab"),
        ("lang:de or lang:unknown", "bcd"),
    ],
)
def test_languages_of_headers_are_selected(folder: Path, text: str, pages: str) -> None:
    assert selected(folder / "links.db", text) == list(pages)


def test_a_language_has_one_canonical_text() -> None:
    texts = {text_of(parse_selection(f"lang:{value}")) for value in ("en", "eng", "EN-us")}
    assert texts == {"lang:en"}


def test_captures_are_counted_by_their_languages(folder: Path) -> None:
    counts = count_captures(mementos(folder / "links.db"), "lang")
    assert counts.groups == {"unknown": 2, "de,en": 1, "en": 1}


def test_languages_are_columns_of_tables(folder: Path) -> None:
    table = b"".join(write_csv(mementos(folder / "links.db")))
    rows = csv.DictReader(table.decode().splitlines())
    assert [row["languages"] for row in rows] == ["en", "de,en", "", ""]


def test_languages_are_in_index_rows_only_if_they_are_known(folder: Path) -> None:
    rows = [
        orjson.loads(OUTPUTS[form].line(memento, ()).split(b" ", 2)[-1])
        for memento in mementos(folder / "links.db")
        for form in ("cdxj", "json")
    ]
    assert [row.get("languages") for row in rows] == ["en", "en", "de,en", "de,en", *[None] * 4]


def test_a_build_with_exported_rows_has_the_same_languages(folder: Path, tmp_path: Path) -> None:
    """The rows decide: the second build does not read the headers."""
    first = mementos(folder / "links.db")
    rows = b"".join(write_cdxj(first, tmp_path)).splitlines()
    changed = b"\n".join(row.replace(b'"languages":"en"', b'"lang":"fre"') for row in rows)
    (tmp_path / "index.cdxj").write_bytes(changed + b"\n")
    build_store(folder, tmp_path / "again.db", BuildSettings(), cdx=[tmp_path / "index.cdxj"])
    again = mementos(tmp_path / "again.db")
    assert [memento.languages for memento in again] == ["fr", "de,en", "-", "-"]
    assert [memento._replace(languages="-") for memento in again] == [
        memento._replace(languages="-") for memento in first
    ]


def test_rows_of_an_index_without_languages_leave_them_unknown(
    folder: Path, tmp_path: Path
) -> None:
    rows = index_archive(str(folder / "pages.warc.gz"), "pages.warc.gz", Counter())
    columns = [row.split(b" ", 2) for row in rows]
    fields = [orjson.loads(json) for _, _, json in columns]
    lines = [
        f"{key.decode()} {time.decode()} {one['url']} {one['mime']} {one['status']} "
        f"{one['digest']} - - {one['length']} {one['offset']} {one['filename']}\n"
        for (key, time, _), one in zip(columns, fields, strict=True)
    ]
    (tmp_path / "index.cdx").write_text("".join(lines))
    build_store(folder, tmp_path / "links.db", BuildSettings(), cdx=[tmp_path / "index.cdx"])
    assert selected(tmp_path / "links.db", "lang:unknown") == list("abcd")
