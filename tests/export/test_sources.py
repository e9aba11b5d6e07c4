"""Sources of links are written like targets, in whatever form the archive has the URI."""

import csv
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, parse

from arclink.access.answers import answer_link_query
from arclink.access.formats import FORMATS
from arclink.access.formats.statements import TWG
from arclink.access.queries import LinkQuery
from arclink.analysis.export.exports import export
from arclink.analysis.export.queries import ExportQuery
from arclink.linkgraph import LinkGraph
from arclink.model import UriR
from arclink.uris.resolution import Base, serialised
from tests.export.conftest import asked
from tests.store.memory_store import MemoryStore, Page, link

WRITTEN = ["http://a.example:80/", "HTTP://B.example/x y#part", "http://c.example"]
SERIALISED = ["http://a.example/", "http://b.example/x%20y", "http://c.example/"]
FORMS = {"parquet": "parquet", "csv": "csv", "nquads": "nq", "graphml": "graphml", "arcs": "arcs"}


@pytest.fixture
def store() -> MemoryStore:
    """Pages that link in a circle; a target is serialised when a page is read."""
    times = ["20100101000000", "20110101000000"]
    return MemoryStore(
        [
            Page(page, time, [link(Base(UriR(page), None).resolve(WRITTEN[(index + 1) % 3]))])
            for index, page in enumerate(WRITTEN)
            for time in times
        ]
    )


def written(store: MemoryStore, form: str, folder: Path) -> Path:
    path = folder / f"links.{FORMS[form]}"
    level = [("level", "uri")] if form in ("graphml", "arcs") else []
    export(store, ExportQuery.from_parameters([("format", form), *level]), path)
    return path


@pytest.mark.parametrize(("page", "expected"), [*zip(WRITTEN, SERIALISED, strict=True)])
def test_a_source_is_written_as_a_target_would_be(page: str, expected: str) -> None:
    assert serialised(UriR(page)) == expected == Base(UriR("http://x/"), None).resolve(page)


def test_sources_of_parquet_join_with_targets_and_keep_their_original_spelling(
    store: MemoryStore, tmp_path: Path
) -> None:
    path = written(store, "parquet", tmp_path)
    pairs = asked(
        f"SELECT a.source, b.target, a.source_written FROM '{path}' a JOIN '{path}' b ON "
        "a.source = b.target"
    )
    assert set(pairs) == set(zip(SERIALISED, SERIALISED, WRITTEN, strict=True))
    plain = MemoryStore([Page("http://p.example/", "20100101000000", [link(SERIALISED[0])])])
    path = written(plain, "parquet", tmp_path)
    assert asked(f"SELECT source, source_written FROM '{path}'") == [("http://p.example/", None)]


def test_sources_of_csv_join_with_targets(store: MemoryStore, tmp_path: Path) -> None:
    with written(store, "csv", tmp_path).open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {row["src"] for row in rows} == {row["dest"] for row in rows} == set(SERIALISED)


def test_sources_of_rdf_join_with_targets_and_an_answer_says_the_same(
    store: MemoryStore, tmp_path: Path
) -> None:
    whole = set(parse(path=str(written(store, "nquads", tmp_path)), format=RdfFormat.N_QUADS))

    def ends(name: str) -> set[object]:
        return {quad.object for quad in whole if quad.predicate == NamedNode(TWG + name)}

    assert ends("source") == ends("target") == set(map(NamedNode, SERIALISED))
    assert {
        (quad.subject, quad.object)
        for quad in whole
        if quad.predicate == NamedNode(TWG + "original")
    } == {
        (NamedNode(joined), Literal(page)) for joined, page in zip(SERIALISED, WRITTEN, strict=True)
    }
    for direction in ("in", "out"):
        query = LinkQuery.from_parameters([("uri", SERIALISED[1]), ("direction", direction)])
        answer = FORMATS["nquads"].in_profile("links").write(answer_link_query(store, query))
        quads = {
            quad
            for quad in parse(b"".join(answer), format=RdfFormat.N_QUADS)
            if str(quad.subject).startswith("<ni:")
        }
        assert quads
        assert quads <= whole


@pytest.mark.parametrize("form", ["graphml", "arcs"])
def test_nodes_of_graphs_are_labelled_as_targets_are(
    form: str, store: MemoryStore, tmp_path: Path
) -> None:
    path = written(store, form, tmp_path)
    text = (path.with_name(path.name + ".names") if form == "arcs" else path).read_text()
    assert all(joined in text for joined in SERIALISED)
    assert not any(page in text for page in WRITTEN[:2])


def test_frames_join_by_uri_and_keep_what_was_written(store: MemoryStore) -> None:
    graph = LinkGraph(store)
    inlinks = graph.inlinks(SERIALISED[1]).to_pandas()
    assert [*inlinks["uri"], *inlinks["written"]] == [SERIALISED[0], WRITTEN[0]]
    (member,) = graph.inlinks(SERIALISED[1])
    assert (member.uri, member.serialised) == (WRITTEN[0], SERIALISED[0])
    outlinks = graph.outlinks(WRITTEN[0]).to_pandas()
    assert [*outlinks["uri"]] == [SERIALISED[1]]
    assert outlinks["written"].isna().all()
    links = graph.to_pandas(level="uri")
    assert set(links["source"]) == set(links["target"]) == set(SERIALISED)
