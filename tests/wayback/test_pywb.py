"""The graph of captures that a real pywb replays equals the graph of its files.

Captures that pywb does not show are listed here, each with its reason, which is tested.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arclink.model import Surt
from arclink.others.wayback.capture_lists import Archive, parse_index
from arclink.others.wayback.client import Client, Manners
from arclink.others.wayback.fetch import FetchReport, FetchSettings, fetch
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from arclink.uris.surts import method_of_key, surt_of
from benchmarks.built_stores import build_store
from benchmarks.peers.pywb_server import PYWB, serving_pywb
from tests.pipeline.store_contents import Link, outlinks_of

pytestmark = pytest.mark.engine

NOT_ADDED = {"example-bad.warc.gz.bad", "bad.arc"}
"""pywb's own samples of files that it refuses."""

DOMAINS = ["*.com", "*.gnu.org", "*.httpbin.org", "*.iana.org"]

OF_TWO_METHODS = {("http://example.com?example=2", "20140103030321")}
"""Captures with an answer to GET and one to another method in one second: replay shows one of them,
and a TimeMap does not say which.
"""

TO_THEMSELVES = {
    ("http://iana.org", "20140127171238"),
    ("http://www.iana.org/dnssec", "20140126201306"),
    ("http://www.iana.org/domains/root/db/", "20140126200927"),
}
"""Redirects to another spelling of the same URI: pywb passes over them, and shows the next capture
instead.
"""

NOT_UNDER_A_DOMAIN = {"urn:X-wpull:log"}
"""Not fetched: it is no page, and under none of the domains that are asked for."""

Mementos = dict[tuple[str, str], list[Link] | None]


@pytest.fixture(scope="session")
def warcs(shared_data: Path) -> list[Path]:
    return sorted(
        path for path in (shared_data / "pywb/warcs").iterdir() if path.name not in NOT_ADDED
    )


@pytest.fixture(scope="session")
def crawl(shared_data: Path) -> Path:
    return shared_data / "aut/example.warc.gz"


@pytest.fixture(scope="session")
def pywb(warcs: list[Path], crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not (PYWB / "wayback").exists():
        text = f"no pywb in {PYWB}: run `make test-wayback`"
        if os.environ.get("CI"):
            pytest.fail(text)
        pytest.skip(text)
    with serving_pywb(tmp_path_factory.mktemp("pywb"), {"all": warcs, "crawl": [crawl]}) as (
        address,
        _,
    ):
        yield f"{address}/all"


@pytest.fixture(scope="session")
def from_files(warcs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Mementos:
    store = tmp_path_factory.mktemp("files") / "links.db"
    build_store(store.parent, store, BuildSettings(cores=2), inputs=[str(path) for path in warcs])
    return mementos_of(store)


def mementos_of(path: Path) -> Mementos:
    """Return every memento with its links; of one URI and time, the answer to GET."""
    with open_store(str(path)) as store:
        return outlinks_of(store, sorted(all_surts(store), key=method_of_key, reverse=True))


def all_surts(store: GraphStore) -> set[Surt]:
    return set(store.surts(Surt("")))


def fetch_and_build(
    where: Archive, folder: Path, entries: list[str], modifiers: tuple[str, ...] = ("id_",)
) -> tuple[FetchReport, Mementos]:
    with Client(where.origins, Manners(delay=0)) as client:
        report = fetch(entries, where, folder / "warcs", client, FetchSettings(modifiers=modifiers))
    build_store(
        folder / "warcs",
        folder / "links.db",
        BuildSettings(cores=2),
        cdx=[folder / "warcs/index.cdxj"],
    )
    return report, mementos_of(folder / "links.db")


def differences(one: Mementos, other: Mementos) -> set[tuple[str, str]]:
    return {
        key
        for key in one.keys() | other.keys()
        if key not in one or key not in other or one[key] != other[key]
    }


@pytest.fixture(scope="session")
def from_interface(
    pywb: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[FetchReport, Mementos]:
    return fetch_and_build(Archive(pywb), tmp_path_factory.mktemp("interface"), DOMAINS)


def test_the_graph_of_the_interface_is_that_of_the_files(
    from_files: Mementos, from_interface: tuple[FetchReport, Mementos]
) -> None:
    report, shown = from_interface
    not_fetched = {key for key in from_files if key[0] in NOT_UNDER_A_DOMAIN}
    assert differences(from_files, shown) == TO_THEMSELVES | not_fetched | OF_TWO_METHODS
    assert sum(len(links) for links in shown.values() if links) > 5_000
    assert report.captures_left == 0


def test_the_redirects_that_pywb_passes_over_lead_to_themselves(
    from_files: Mementos, from_interface: tuple[FetchReport, Mementos]
) -> None:
    report, shown = from_interface
    for key in TO_THEMSELVES:
        (link,) = from_files[key] or []
        assert link[1] == "http@location"
        assert surt_of(link[0]) == surt_of(key[0])
        assert shown[key] is None  # the memento is there, where it leads is not known
    assert report.counts[Reason.FETCH_OTHER_MEMENTO] == len(TO_THEMSELVES)


def test_every_capture_of_pywbs_index_is_a_memento(
    pywb: str, from_interface: tuple[FetchReport, Mementos]
) -> None:
    captures: set[tuple[str, str]] = set()
    with Client(Archive(pywb).origins, Manners(delay=0)) as client:
        for domain in DOMAINS:
            answer = client.get(
                f"{pywb}/cdx?url={domain.removeprefix('*.')}&matchType=domain", 1 << 24
            )
            captures |= {(row.original, row.timestamp) for row in parse_index(answer.body).captures}
    assert captures == from_interface[1].keys()
    assert len(captures) > 190


def test_there_is_one_request_for_each_payload_and_redirect(
    from_interface: tuple[FetchReport, Mementos],
) -> None:
    report, shown = from_interface
    counts = report.counts
    asked = counts[Reason.FETCH_STORED] + counts[Reason.FETCH_OTHER_MEMENTO]
    assert report.requests == asked + len(DOMAINS)
    assert counts[Reason.FETCH_DUPLICATE] + counts[Reason.FETCH_LEFT_OUT] + asked == len(shown)
    assert asked < len(shown) / 7


def test_pages_with_their_rewriting_undone_give_the_same_links(
    pywb: str, from_interface: tuple[FetchReport, Mementos], tmp_path: Path
) -> None:
    report, shown = fetch_and_build(Archive(pywb), tmp_path, DOMAINS, ("if_",))
    assert (
        report.counts[Reason.NOTE_REWRITING_UNDONE] == from_interface[0].counts[Reason.FETCH_STORED]
    )
    assert differences(from_interface[1], shown) == set()


def test_timemaps_give_the_same_graph(
    pywb: str, from_interface: tuple[FetchReport, Mementos], tmp_path: Path
) -> None:
    uris = sorted({original for original, _ in from_interface[1]})
    report, shown = fetch_and_build(Archive(pywb, timemap=f"{pywb}/timemap/link/"), tmp_path, uris)
    assert report.counts[Reason.ENTRY_LISTED] == len(uris)
    assert differences(from_interface[1], shown) == OF_TWO_METHODS


def test_a_revisit_alone_brings_its_payload(
    pywb: str, from_files: Mementos, tmp_path: Path
) -> None:
    """Replay finds the payload of a revisit wherever it is; a file with nothing but the revisit
    does not have it.
    """
    _, shown = fetch_and_build(Archive(pywb), tmp_path, ["http://test@example.com/"])
    key = ("http://test@example.com/", "20130729195151")
    assert shown[key] == from_files[key]
    assert shown[key]


def test_a_crawl_by_heritrix_gives_the_same_graph(pywb: str, crawl: Path, tmp_path: Path) -> None:
    """Links by the ten thousand; pages in several charsets, with chunks, and with wrong lengths."""
    build_store(tmp_path, tmp_path / "files.db", BuildSettings(cores=2), inputs=[str(crawl)])
    files = mementos_of(tmp_path / "files.db")
    report, shown = fetch_and_build(
        Archive(f"{pywb.removesuffix('all')}crawl"), tmp_path, ["*.br", "*.com", "*.net", "*.org"]
    )
    to_itself = ("http://www.archive.org/donate", "20080430205147")
    assert differences(files, shown) == {to_itself}
    assert [(target, kind) for target, kind, _, _ in files[to_itself] or []] == [
        ("http://www.archive.org/donate/", "http@location")
    ]
    assert len(shown) == 261
    asked = report.counts[Reason.FETCH_STORED] + report.counts[Reason.FETCH_OTHER_MEMENTO]
    assert (
        report.requests == 4 + asked + 1
    )  # instead of a redirect to itself, pywb shows the next capture
