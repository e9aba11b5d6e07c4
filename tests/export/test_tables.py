"""Tables have the true links of the demo archive, and the links that jsoup finds in a real crawl.

Independent readers read them.
"""

import csv
import gzip
import json
import re
from collections import Counter
from pathlib import Path

import duckdb
import pyoxigraph
import pytest

from arclink.access.answers import answer_link_query
from arclink.access.formats import FORMATS
from arclink.access.formats.statements import TWG, describe_outlink, ntriples_lines
from arclink.access.queries import LinkQuery
from arclink.access.reader import member_of
from arclink.analysis.export import scripts as parquet
from arclink.analysis.export.exports import export
from arclink.analysis.export.link_scan import links_shown
from arclink.analysis.export.queries import ExportQuery
from arclink.files import spill
from arclink.filter.rules import Rules
from arclink.model import UriR
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.resolution import serialised
from arclink.uris.surts import surt_of
from benchmarks.built_stores import build_store
from tests.export.conftest import Export, asked
from tests.pipeline.store_contents import TrueMemento
from tests.store.memory_store import MemoryStore, Page, link

Rows = Counter[tuple[str, ...]]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def true_links(truth: list[TrueMemento], kind: str) -> Rows:
    return Counter(
        (one["timestamp"], serialised(UriR(one["original"])), target, text)
        for one in truth
        for target, of, text, _ in one["links"] or ()
        if of == kind
    )


@pytest.mark.parametrize(
    ("form", "kind", "columns"),
    [
        pytest.param("csv", "a@href", ["crawl_date", "src", "dest", "anchor"], id="links"),
        pytest.param(
            "csv-images", "img@src", ["crawl_date", "src", "image_url", "alt_text"], id="images"
        ),
    ],
)
def test_csv_has_a_row_for_every_link_of_every_memento(
    form: str, kind: str, columns: list[str], exported: Export, truth: list[TrueMemento]
) -> None:
    path, result = exported(form)
    rows = rows_of(path)
    assert list(rows[0]) == columns
    assert Counter(tuple(row.values()) for row in rows) == true_links(truth, kind)
    assert result.tally.rows == len(rows)


@pytest.mark.parametrize("level", ["host", "domain"])
def test_counts_are_those_of_the_rows(
    level: str, exported: Export, truth: list[TrueMemento]
) -> None:
    def name(uri: str) -> str:
        host = host_of(surt_of(uri))
        return host if level == "host" else domain_of(host)

    expected: Rows = Counter()
    for (timestamp, source, target, _), count in true_links(truth, "a@href").items():
        expected[timestamp[:8], name(source), name(target)] += count
    without = sum(count for key, count in expected.items() if not all(key))
    path, result = exported("csv", level=level)
    rows = [tuple(row.values()) for row in rows_of(path)]
    assert {row[:3]: int(row[3]) for row in rows} == {
        key: count for key, count in expected.items() if all(key)
    }
    assert rows == sorted(rows)
    assert result.tally.left_out == without > 0


def test_a_least_count_is_reported_with_the_links_that_it_removed(exported: Export) -> None:
    path, result = exported("csv", level="domain")
    counts = [int(row["count"]) for row in rows_of(path)]
    small = [count for count in counts if count < 6]
    path, result = exported("csv", level="domain", min_count="6")
    assert [int(row["count"]) for row in rows_of(path)] == [count for count in counts if count >= 6]
    assert result.tally.cuts == [("--min-count 6", len(small), sum(small))]
    manifest = json.loads(path.with_name("demo.csv.json").read_bytes())
    assert manifest["cut"] == [{"rule": "--min-count 6", "rows": len(small), "links": sum(small)}]
    assert manifest["counts"] == {"rows": len(counts) - len(small)}
    assert manifest["files"] == {"demo.csv": path.stat().st_size}


def test_duckdb_finds_every_link_of_every_memento_in_parquet(
    exported: Export, truth: list[TrueMemento], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROWS_OF_GROUP", 300)
    path, result = exported("parquet", kinds="all")
    table = duckdb.read_parquet(str(path))
    assert dict(zip(table.columns, map(str, table.types), strict=True)) == {
        **{f"source{part}": "VARCHAR" for part in ("", "_surt", "_host", "_domain", "_written")},
        **{f"target{part}": "VARCHAR" for part in ("", "_surt", "_host", "_domain")},
        **dict.fromkeys(("kind", "text", "rel", "content"), "VARCHAR"),
        "mementos": "INTEGER",
        "first": "TIMESTAMP WITH TIME ZONE",
        "last": "TIMESTAMP WITH TIME ZONE",
        "timestamps": "TIMESTAMP WITH TIME ZONE[]",
    }
    query = f"""
        SELECT strftime(unnest(timestamps) AT TIME ZONE 'UTC', '%Y%m%d%H%M%S'),
            coalesce(source_written, source), target, kind, text, rel FROM '{path}'
    """
    found = Counter(asked(query))
    expected = {
        (one["timestamp"], one["original"], target, kind, text, rel)
        for one in truth
        for target, kind, text, rel in one["links"] or ()
    }
    assert found.keys() == expected
    assert set(found.values()) == {1}
    groups = asked(f"SELECT count(DISTINCT row_group_id) FROM parquet_metadata('{path}')")[0][0]
    assert groups > 3
    wrong = (
        f"SELECT count(*) FROM '{path}' WHERE mementos <> len(timestamps) OR first <> "
        "timestamps[1] OR last <> timestamps[-1]"
    )
    assert asked(wrong) == [(0,)]
    assert result.tally.rows == asked(f"SELECT count(*) FROM '{path}'")[0][0]


def test_a_page_of_many_links_with_many_mementos_is_more_than_one_row_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "TIMES_OF_GROUP", 100)
    links = [link(f"http://b.example/{number}") for number in range(40)]
    store = MemoryStore(
        [Page("http://a.example/", f"201001{day:02}000000", links) for day in range(1, 31)]
    )
    path = tmp_path / "links.parquet"
    result = export(store, ExportQuery.from_parameters([("format", "parquet")]), path)
    assert result.tally.rows == 40
    assert asked(f"SELECT count(*), sum(mementos), sum(len(timestamps)) FROM '{path}'") == [
        (40, 1200, 1200)
    ]
    assert asked(f"SELECT count(DISTINCT row_group_id) FROM parquet_metadata('{path}')") == [(10,)]


ODD = {
    "=1+1": "=1+1",
    '"quoted", with a comma': '"quoted", with a comma',
    "two\r\nlines": "two  lines",
    "a\x00b\x1b[2J": "a\ufffdb\ufffd[2J",
    "]]>&amp;<b>": "]]>&amp;<b>",
    "\U0001d4b3\U0001f3d4 \u200f\u0645": "\U0001d4b3\U0001f3d4 \u200f\u0645",
    "lone \ud800": "lone \ufffd",
    "x" * 100_000: "x" * 100_000,
}
"""What pages say, and what tables have of it: what no text may hold is replaced, and nothing is
done for the sake of spreadsheets.
"""


def test_odd_texts_and_uris_read_back_from_tables(tmp_path: Path) -> None:
    store = MemoryStore(
        [
            Page(
                "http://a.example/",
                "20100101000000",
                [link("http://b.example/", text) for text in ODD],
            )
        ]
    )
    paths = {form: tmp_path / f"links.{form}" for form in ("csv", "parquet", "nquads")}
    for form, path in paths.items():
        assert export(
            store, ExportQuery.from_parameters([("format", form)]), path
        ).tally.rows == len(ODD)
    expected = Counter(ODD.values())
    assert Counter(row["anchor"] for row in rows_of(paths["csv"])) == expected
    assert Counter(text for (text,) in asked(f"SELECT text FROM '{paths['parquet']}'")) == expected
    quads = pyoxigraph.parse(path=str(paths["nquads"]), format=pyoxigraph.RdfFormat.N_QUADS)
    assert expected.keys() <= {
        quad.object.value for quad in quads if isinstance(quad.object, pyoxigraph.Literal)
    }


def test_nquads_have_the_statements_of_the_answer_about_a_page(
    exported: Export, store: Path, truth: list[TrueMemento]
) -> None:
    path, _ = exported("nquads")
    all_of_it = set(pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.N_QUADS))
    links = {
        quad.subject for quad in all_of_it if quad.object == pyoxigraph.NamedNode(f"{TWG}Link")
    }
    expected = {
        (surt_of(one["original"]), surt_of(target), kind, text)
        for one in truth
        for target, kind, text, _ in one["links"] or ()
    }
    assert len(links) == len(expected)
    query = LinkQuery.from_parameters(
        [
            ("uri", "http://www.kalvik2010.example/ceremony/opening.html"),
            ("direction", "out"),
            ("limit", "0"),
        ]
    )
    with open_store(str(store)) as opened:
        answer = b"".join(
            FORMATS["nquads"].in_profile("links").write(answer_link_query(opened, query))
        )
    statements = {
        quad
        for quad in pyoxigraph.parse(answer, format=pyoxigraph.RdfFormat.N_QUADS)
        if quad.subject in links
    }
    assert statements
    assert statements <= all_of_it


def test_a_window_has_the_rows_observed_in_it_and_a_time_those_in_force(
    exported: Export, truth: list[TrueMemento]
) -> None:
    expected = true_links(truth, "a@href")
    path, _ = exported("csv", **{"from": "201002", "to": "20100215"})
    found = Counter(tuple(row.values()) for row in rows_of(path))
    assert found == Counter(
        {key: count for key, count in expected.items() if "20100201" <= key[0][:8] <= "20100215"}
    )
    path, _ = exported("csv", at="20100215")
    newest: dict[str, str] = {}
    for one in truth:
        if one["timestamp"][:8] <= "20100215":
            page = serialised(UriR(one["original"]))
            newest[page] = max(one["timestamp"], newest.get(page, ""))
    found = Counter(tuple(row.values()) for row in rows_of(path))
    assert found == Counter(
        {key: count for key, count in expected.items() if newest.get(key[1]) == key[0]}
    )


def test_csv_of_a_real_crawl_has_the_links_that_the_toolkit_finds(
    shared_data: Path, tmp_path: Path
) -> None:
    """The Archives Unleashed Toolkit lists ``a[href]`` with jsoup; it keeps fragments and what is
    no address of a page; no feeds.
    """
    pages = Rules(mimes=("text/html", "application/xhtml+xml"))
    build_store(
        shared_data,
        tmp_path / "links.db",
        BuildSettings(rules=pages, cores=2),
        [str(shared_data / "aut" / "example.warc.gz")],
    )
    with open_store(str(tmp_path / "links.db")) as opened:
        export(opened, ExportQuery.from_parameters([("format", "csv")]), tmp_path / "links.csv")
    found = [
        tuple(row.values())
        for row in rows_of(tmp_path / "links.csv")
        if row["dest"].startswith("http")
    ]
    with gzip.open(
        shared_data / "aut" / "example.warc.gz.jsoup-links.tsv.gz",
        "rt",
        encoding="utf-8",
        newline="\n",
    ) as lines:
        rows = [tuple(line.rstrip("\n").split("\t")) for line in lines]
    expected = [row for row in rows if row[2].startswith("http")]
    links, true = (
        Counter((date, page, surt_of(target)) for date, page, target, _ in links_of_one)
        for links_of_one in (found, expected)
    )
    assert links - true == Counter()
    assert [
        key for key in true - links if surt_of(key[1]) != key[2]
    ] == []  # links to a place in the page itself are not in this graph
    assert links.total() > 37_000
    # jsoup has no words for an image, which here are its alternate text.
    expected_words, found_words = (
        Counter(
            (date, page, surt_of(target), _folded(text))
            for date, page, target, text in links_of_one
        )
        for links_of_one in (expected, found)
    )
    assert [
        key for key in expected_words - found_words if key[3] and surt_of(key[1]) != key[2]
    ] == []


def _folded(text: str) -> str:
    """Return a text as both write it: jsoup drops soft hyphens and keeps the controls of a wrong
    charset, which are white space here.
    """
    return " ".join(re.sub("[\x00-\x1f\x7f-\x9f]", " ", text.replace("\xad", "")).split())


def test_nquads_have_each_statement_once(
    exported: Export, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "MEMORY", 10_000)
    monkeypatch.setattr(spill, "_COUNTED_AT_ONCE", 1)
    path, result = exported("nquads")
    lines = path.read_bytes().splitlines()
    assert len(lines) == len(set(lines)) == result.tally.statements
    with open_store(str(store)) as opened:
        query = ExportQuery.from_parameters([("format", "nquads")])
        described = [
            line
            for one in links_shown(opened, query.links)
            for link in one.links
            for line in b"".join(
                ntriples_lines(
                    describe_outlink(
                        member_of(
                            (link.target, link.kind, link.text, link.rel),
                            one.timestamps,
                            [one.page],
                        ),
                        surt_of(one.page),
                    )
                )
            ).splitlines()
        ]
    assert set(lines) == set(described)
    assert len(lines) < len(described)  # what was written with each content and link before
    manifest = json.loads(path.with_name("demo.nquads.json").read_bytes())
    links = sum(line.endswith(b"TemporalWebGraph/Link> .") for line in lines)
    assert manifest["counts"] == {"rows": links, "statements": len(lines)}
