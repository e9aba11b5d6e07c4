"""``--kinds``: by default, analyses and graphs count links that a reader can follow.

The output says which kinds were counted, and names other kinds if these leave no link.
"""

import json
from pathlib import Path

import pyarrow.parquet
import pytest
from click.testing import CliRunner

import arclink
from arclink.cli.main import group
from arclink.pipeline.settings import BuildSettings
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, warc

ICON = "site.example/favicon.ico"
HUB = "site.example/hub"
DATES = ("2020-01-02T00:00:00Z", "2020-02-02T00:00:00Z")


def built(folder: Path, pages: dict[str, str]) -> str:
    html = "Content-Type: text/html"
    records = [
        warc(f"http://site.example/{name}", http(f"{body}<p>{date}".encode(), html), date=date)
        for name, body in pages.items()
        for date in DATES
    ]
    folder.mkdir()
    (folder / "pages.warc").write_bytes(b"".join(records))
    build_store(folder, folder / "links.db", BuildSettings(runner="inline"))
    return str(folder / "links.db")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A site whose pages all have an icon and a style sheet; some link to one of the pages."""
    furniture = '<link rel=icon href="/favicon.ico"><link rel=stylesheet href="/style.css">'
    pages = {f"p{n}": furniture + ('<a href="/hub">hub</a>' if n % 2 else "") for n in range(8)}
    return built(tmp_path_factory.mktemp("kinds") / "site", pages)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A site of pages without anything to follow."""
    pages = {f"p{n}": '<img src="/p0" alt="one">' for n in range(3)}
    return built(tmp_path_factory.mktemp("kinds") / "pictures", pages)


def run(*words: str) -> str:
    result = CliRunner().invoke(group, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def leader(store: str, *words: str) -> str:
    ranks = json.loads(
        run("analyze", "pagerank", "--store", store, "--by", "all", "--format", "json", *words)
    )
    return str(ranks["ranks"][0]["uri"])


def test_an_icon_leads_the_ranks_only_if_resources_count(site: str) -> None:
    assert leader(site) == HUB
    assert leader(site, "--kinds", "all") == ICON  # slices of other kinds are kept apart
    assert leader(site, "--kinds", "resources") == ICON
    assert leader(site, "--kinds", "a@href") == HUB
    assert leader(site) == HUB


def test_exports_have_the_kinds_of_their_format_by_default(site: str, tmp_path: Path) -> None:
    found = {}
    for form in ("graphml", "gexf", "arcs", "parquet", "csv", "nquads"):
        level = () if form in ("parquet", "csv", "nquads") else ("--level", "uri")
        path = tmp_path / f"links.{form}"
        summary = run("export", "--store", site, "--format", form, "--into", str(path), *level)
        manifest = json.loads(Path(f"{path}.json").read_text())
        names = path.with_name(path.name + ".names") if form == "arcs" else path
        text = (
            str(pyarrow.parquet.read_table(path)["target"].to_pylist())
            if form == "parquet"
            else names.read_text()
        )
        found[form] = ("favicon" in text, "hub" in text, tuple(manifest["kinds"]))
        expected = 0 if form == "nquads" else 32  # two links of each of sixteen captures
        assert manifest["other_kinds"] == expected
        assert ("of other kinds" in summary) is (expected > 0)
        if form in ("graphml", "gexf"):
            assert "kinds of links: navigation" in text
    followed = (False, True, ("navigation",))
    assert found == {
        **dict.fromkeys(("graphml", "gexf", "arcs", "parquet"), followed),
        "csv": (False, True, ("a@href",)),
        "nquads": (True, True, ("all",)),
    }
    metadata = pyarrow.parquet.read_schema(tmp_path / "links.parquet").metadata
    assert metadata[b"arclink.kinds"] == b"navigation"
    assert "favicon" in run("links", "http://site.example/p1", "--store", site)
    with arclink.open(site) as graph:
        assert ICON not in str(sorted(graph.to_networkx(level="uri")))
        assert ICON in str(sorted(graph.to_networkx(level="uri", kinds="all")))
        assert {one.kind for one in graph.outlinks("site.example/p1", kinds="navigation")} == {
            "a@href"
        }


ANALYSES = [
    *(
        ("ask", name, "http://site.example/p0")
        for name in ("first-linkers", "survival", "typical-anchors")
    ),
    ("pagerank",),
    ("properties",),
    ("path", "http://site.example/p1", "http://site.example/p0"),
]


@pytest.mark.parametrize("words", ANALYSES, ids=[" ".join(words[:2]) for words in ANALYSES])
def test_an_analysis_names_its_kinds_and_says_if_all_links_are_of_others(
    words: tuple[str, ...], pictures: str, site: str, tmp_path: Path
) -> None:
    page = tmp_path / "properties.html"
    further = ("--into", str(page)) if words[0] == "properties" else ()
    command = [*words] if words[0] == "ask" else ["analyze", *words]
    nothing = run(*command, "--store", pictures, *further)
    line = "Links of these kinds count: navigation (what a reader can follow)."
    assert line in nothing
    assert "--kinds all" in nothing
    if further:
        assert line in page.read_text()
        assert "--kinds all" in page.read_text()
    everything = run(*command, "--store", pictures, "--kinds", "all", *further)
    assert "Links of all kinds count." in everything
    assert "--kinds all" not in everything
    assert nothing != everything
    if words[0] in ("pagerank", "properties"):
        assert "--kinds all" not in run(*command, "--store", site, *further)


def test_an_export_without_any_link_to_follow_says_so(pictures: str, tmp_path: Path) -> None:
    path = tmp_path / "links.graphml"
    asked = ("export", "--store", pictures, "--format", "graphml", "--into", str(path))
    assert "; --kinds all includes them" in run(*asked)
    assert "--kinds all" not in run(*asked, "--kinds", "all")
