"""Answers about a real site, compared with pandas over the list of links of another program."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import arclink
from arclink.linkgraph import LinkGraph
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of
from tests.demos import Demos
from tests.questions.on_pages import SELECTIONS, check_changes, page_numbers

YEAR = "2015"
SITE = "flink.apache.org"
ASKED: Any = {"kind": "a@href", "from_": YEAR, "to": YEAR}


@pytest.fixture(scope="module")
def graph(shared_data: Path, demos: Demos) -> LinkGraph:
    folder = shared_data / "flink_web"
    years = (YEAR, "2016")
    return arclink.open(demos.real(*(folder / f"{SITE}-{year}.warc.gz" for year in years)))


@pytest.fixture(scope="module")
def links(shared_data: Path) -> pd.DataFrame:
    """Each link that jsoup found, once for each capture of the year that shows it: a revisit shows
    those of its payload.
    """
    folder = shared_data / "flink_web"
    text: Any = {"sep": "\t", "header": None, "dtype": str, "quoting": 3, "keep_default_na": False}
    captures = pd.read_csv(
        folder / "flink-2015-2018.cdx",
        **{**text, "sep": " "},
        skiprows=1,
        usecols=[1, 2, 5],
        names=["time", "page", "checksum"],
    )
    captures = captures[captures.time.str.startswith(YEAR)]
    found = pd.read_csv(
        folder / f"{SITE}-{YEAR}.jsoup-links.tsv.gz",
        **text,
        names=["time", "page", "target", "text"],
    )
    of_payloads = found.merge(captures, on=["time", "page"])[["checksum", "target"]]
    shown = of_payloads.drop_duplicates().merge(captures, on="checksum")
    shown["target"] = shown.target.map(
        {one: surt_of(one.partition("#")[0]) for one in set(shown.target)}
    )
    shown["surt"] = shown.page.map({one: surt_of(one) for one in set(shown.page)})
    shown["host"] = shown.target.map({one: host_of(one) for one in set(shown.target)})
    return shown


def counted(links: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the counts that answers have: by SURT, in the order of SURTs."""
    distinct = links.drop_duplicates([by, "page", "time"])
    groups = links.assign(time=pd.to_datetime(links.time, format="%Y%m%d%H%M%S", utc=True)).groupby(
        by
    )
    return pd.DataFrame(
        {
            "pages": groups.surt.nunique(),
            "mementos": distinct.groupby(by).size(),
            "first": groups.time.min(),
            "last": groups.time.max(),
        }
    )


def asked(graph: LinkGraph, name: str, *uris: str, **parameters: Any) -> pd.DataFrame:
    frame = graph.ask(name, *uris, level="uri", **ASKED, **parameters).to_pandas()
    frame.index = frame.name.map(surt_of)
    return frame.drop(columns="name").sort_index()


def same(found: pd.DataFrame, expected: pd.DataFrame, columns: Sequence[str]) -> bool:
    ours, theirs = (frame[[*columns]] for frame in (found, expected))
    assert len(theirs) > 20
    return list(ours.index) == list(theirs.index) and ours.to_dict() == theirs.to_dict()


def test_targets_are_those_of_the_list(graph: LinkGraph, links: pd.DataFrame) -> None:
    others = links[~links.host.isin([SITE, ""])]  # a mail address is no site
    found = asked(graph, "led-to", external=True)
    assert same(found, counted(others, "target"), ["pages", "mementos", "first", "last"])


def test_most_linked_pages_are_those_of_the_list(graph: LinkGraph, links: pd.DataFrame) -> None:
    others = links[~links.host.isin([SITE, ""])]
    found = asked(graph, "most-linked", external=True)
    assert same(found, counted(others, "target"), ["pages", "first", "last"])
    assert set(found.hosts) == {1}


@pytest.mark.parametrize("name", ["community.html", "blog/", "downloads.html"])
def test_linkers_are_those_of_the_list(graph: LinkGraph, links: pd.DataFrame, name: str) -> None:
    """Apart from the page itself: links inside a page do not count."""
    page = surt_of(f"http://{SITE}/{name}")
    linkers = links[(links.target == page) & (links.surt != page)]
    found = asked(graph, "linkers", f"http://{SITE}/{name}").drop(index=page, errors="ignore")
    assert same(found, counted(linkers, "surt"), ["pages", "mementos", "first", "last"])


def test_a_site_is_linked_by_the_pages_of_the_list(graph: LinkGraph, links: pd.DataFrame) -> None:
    """Several targets, and rows by month."""
    hosts = links[links.host.str.fullmatch(r"(.*\.)?github\.com")]
    expected = counted(hosts.assign(month=hosts.time.str[:4] + "-" + hosts.time.str[4:6]), "month")
    found = graph.ask("linkers", "*.github.com", level="domain", by="month", **ASKED).to_pandas()
    found = found[found.pages.notna()]  # without the months of which nothing is known
    found.index = found.period
    columns = ["pages", "mementos", "first", "last"]
    assert list(found.name.unique()) == ["apache.org"]
    assert found[columns].to_dict() == expected[columns].to_dict()


@pytest.mark.parametrize("name", ["community.html", "blog/", "downloads.html"])
@pytest.mark.parametrize("selection", SELECTIONS, ids=repr)
@pytest.mark.parametrize("is_external", [False, True])
def test_a_page_shows_the_numbers_of_its_questions(
    graph: LinkGraph, name: str, selection: dict[str, str], is_external: bool
) -> None:
    uri = f"http://{SITE}/{name}"
    given: Any = {
        {"from": "from_", "kinds": "kind"}.get(key, key): text for key, text in selection.items()
    }
    given = {"kind": "all", "scope": "page", "external": is_external, **given}
    found = {
        (question, row[column]): (row["links"], row["first"], row["last"])
        for question, column in (("anchors", "text"), ("linkers", "name"))
        for row in graph.ask(question, uri, **given).table.to_pylist()
    }
    assert page_numbers(graph.store, uri, selection, is_external) == found


@pytest.mark.parametrize("kinds", ["navigation", "all"])
def test_links_of_changed_pages_are_those_of_diff(graph: LinkGraph, kinds: str) -> None:
    answer = graph.ask("diff", f"*.{SITE}", kinds=kinds)
    assert check_changes(graph.store, answer.table.to_pylist(), kinds) > 20
    assert answer.unchanged
