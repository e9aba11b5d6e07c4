"""The links of real pages, compared with lists of other programs and the second extractor."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import ada_url
import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from arclink.extract.html import DEFAULT_KINDS, OPTIONAL_KINDS, PageLinks, extract_links
from arclink.model import Kind
from arclink.reasons import Reason
from tests.extract.second_extractor import fold

A = frozenset([Kind("a@href")])


@dataclass(frozen=True)
class Page:
    uri: str
    timestamp: str
    html: str


@cache
def read_pages(
    archive: Path, mimes: tuple[str, ...] = ("text/html",), statuses: tuple[str, ...] = ("200",)
) -> tuple[Page, ...]:
    """Return the pages of an archive, decoded as their header says, else as UTF-8."""
    return tuple(_read_pages(archive, mimes, statuses))


def _read_pages(archive: Path, mimes: tuple[str, ...], statuses: tuple[str, ...]) -> Iterator[Page]:
    with archive.open("rb") as file:
        for record in ArchiveIterator(file, arc2warc=True):
            if (
                record.rec_type != "response"
                or record.http_headers is None
                or record.http_headers.get_statuscode() not in statuses
            ):
                continue
            content_type = record.http_headers.get_header("content-type", "")
            if not content_type.lower().startswith(mimes):
                continue
            if (
                record.http_headers.get_header("content-encoding") == "br"
            ):  # the reader fails on it; its page is there uncoded, too
                continue
            charset = re.search(r"charset=[\"']?([\w-]+)", content_type, re.IGNORECASE)
            body = record.content_stream().read()
            try:
                html = body.decode(charset[1] if charset else "utf-8", "replace")
            except LookupError:
                html = body.decode("utf-8", "replace")
            timestamp = "".join(re.findall(r"[0-9]+", record.rec_headers.get_header("WARC-Date")))[
                :14
            ]
            yield Page(
                record.rec_headers.get_header("WARC-Target-URI").strip("<>"), timestamp, html
            )


def links_counted(page: PageLinks) -> int:
    return sum(count for reason, count in page.counts.items() if reason.group == "links")


def resolve(uri: str, base: str | None, reference: str) -> str:
    return ada_url.join_url(uri if base is None else ada_url.join_url(uri, base), reference)


@pytest.mark.parametrize(
    ("kind", "links", "counts"),
    [
        pytest.param(
            "a@href", 37_826, {Reason.LINK_SAME_PAGE: 213, Reason.LINK_JAVASCRIPT: 1}, id="a"
        ),
        pytest.param("img@src", 788, {}, id="img"),
    ],
)
def test_example_archive_has_as_many_links_as_published(
    shared_data: Path, kind: str, links: int, counts: dict[Reason, int]
) -> None:
    pages = read_pages(shared_data / "aut" / "example.warc.gz")
    found = [extract_links(page.html, kinds=frozenset([Kind(kind)])) for page in pages]
    assert len(pages) == 94
    assert sum(len(page.links) + links_counted(page) for page in found) == links
    assert sum((page.counts for page in found), Counter[Reason]()) == counts


def read_jsoup_links(path: Path) -> dict[tuple[str, str], list[tuple[str, str]]]:
    rows: dict[tuple[str, str], list[tuple[str, str]]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            date, page, target, text = line.rstrip("\n").split("\t")
            rows.setdefault((date, page), []).append((target, text))
    return rows


@pytest.mark.parametrize(
    ("archive", "jsoup"),
    [
        pytest.param("aut/example.warc.gz", "aut/example.warc.gz.jsoup-links.tsv.gz", id="example"),
        *(
            pytest.param(
                f"flink_web/flink.apache.org-{year}.warc.gz",
                f"flink_web/flink.apache.org-{year}.jsoup-links.tsv.gz",
                id=str(year),
            )
            for year in range(2015, 2019)
        ),
    ],
)
def test_links_of_a_are_those_of_jsoup_in_its_order(
    shared_data: Path, archive: str, jsoup: str
) -> None:
    rows = read_jsoup_links(shared_data / jsoup)
    differences: list[object] = []
    for page in read_pages(shared_data / archive):
        # With a base, links to the page itself are kept, as jsoup keeps them, so that the lists
        # stand side by side.
        base = extract_links(page.html, kinds=A).base
        links = extract_links(
            f"<base href='{page.uri if base is None else base}'>{page.html}", kinds=A
        ).links
        # jsoup keeps these too; a refused target is empty there.
        expected = [
            row
            for row in rows.pop((page.timestamp, page.uri), [])
            if not row[0].startswith(("javascript:", "data:", "about:"))
        ]
        if len(links) != len(expected):
            differences.append((page.uri, len(links), len(expected)))
            continue
        for (_, reference, text, _), (target, jsoup_text) in zip(links, expected, strict=True):
            # jsoup reads no alternate text, keeps controls and all of a long text, and drops soft
            # hyphens.
            shown = text.replace("\xad", "")
            if shown != fold(jsoup_text)[:1000].rstrip() and (
                jsoup_text or not re.search(rf"""alt\s*=\s*["']\s*{re.escape(text)}""", page.html)
            ):
                differences.append((page.uri, reference, text, jsoup_text))
            # jsoup resolves without normalising: an empty path, spaces, dots at the root.
            if resolve(page.uri, base, reference) != resolve(page.uri, None, target):
                differences.append((page.uri, reference, target))
    assert not differences
    assert not rows


ALL_KINDS = DEFAULT_KINDS | OPTIONAL_KINDS

# Paths that are no kind of ours, or not a link.
NOT_OURS = re.compile("@/longdesc|@/onclick|@/data-uri|STYLE|__base__")
# Links that the list has once: an <a> around blocks inside a <p> is split in three by the parser,
# as in a browser.
SPLIT = {"exampleLinks": {("a@href", "https://example.org/"): 2}}


def test_links_of_odd_pages_are_those_of_their_list(shared_data: Path) -> None:
    pages = read_pages(
        shared_data / "html" / "link-extraction-test.warc", ("text/html", "application/xhtml+xml")
    )
    lines = [
        json.loads(line)
        for line in (shared_data / "html" / "ia_web_commons_expected_links.jsonl")
        .read_text("utf-8")
        .splitlines()[1:]
    ]
    labels = list(dict.fromkeys(line[0] for line in lines))
    assert len(labels) == len(pages) == 9
    for label, page in zip(labels, pages, strict=True):
        expected: Counter[tuple[str, str]] = Counter()
        for _, reference, path, *_ in (line for line in lines if line[0] == label):
            if not NOT_OURS.search(path):
                expected[
                    "meta@refresh" if path == "__meta_refresh__" else path.replace("/", "").lower(),
                    reference,
                ] += 1
        found = extract_links(page.html, kinds=ALL_KINDS)
        links = Counter((link[0], link[1]) for link in found.links)
        same_page = {
            link: count
            for link, count in expected.items()
            if link[1].startswith("#") and found.base is None
        }
        assert (label, dict(expected - links), dict(links - expected)) == (
            label,
            same_page,
            SPLIT.get(label, {}),
        )
        assert found.counts == Counter({Reason.LINK_SAME_PAGE: sum(same_page.values())})
        bases = [
            reference
            for _, reference, path, *_ in (line for line in lines if line[0] == label)
            if path == "__base__"
        ]
        assert found.base == (bases[0] if bases else None)


def test_gold_links_of_a_hand_made_site_are_found(shared_data: Path) -> None:
    gold = json.loads(
        (shared_data / "warc2graph" / "warc2graph_gold_links.json").read_text("utf-8")
    )
    expected = {
        (source, target, how["tag"])
        for links in gold["gold_result_merged"]
        for source, target, how in links
    }
    found = {
        (page.uri, resolve(page.uri, links.base, reference), kind.partition("@")[0])
        for archive in (shared_data / "warc2graph").glob("*.warc.gz")
        for page in read_pages(
            archive, statuses=("200", "403")
        )  # the list holds the server's own "Forbidden" page, too
        for links in [extract_links(page.html)]
        for kind, reference, _, _ in links.links
    }
    assert expected - found == set()
