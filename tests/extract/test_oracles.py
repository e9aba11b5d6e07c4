"""Links of real pages, compared with those that other programs recorded or find.

Links that only the others have are listed with the reason. `make oracles` compares every available
page with the second extractor, which takes minutes; `make test` compares some of them.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import ada_url
import pytest

from arclink.archives.payloads import decode_payload
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.errors import InputError, PayloadError, RecordError
from arclink.extract.charsets import decode_html
from arclink.extract.html import extract_links
from arclink.model import RawLink
from arclink.reasons import Reason
from arclink.uris.resolution import Base
from tests.extract.second_extractor import second_extract

ALL_PAGES = bool(os.environ.get("ARCLINK_ALL_PAGES"))


def records_of(path: Path) -> Iterator[ArchiveRecord]:
    try:
        with ArchiveFile(str(path)) as archive:
            for record in archive.records():
                if not isinstance(record, RecordError):
                    yield record
    except InputError:  # no archive file
        return


def normal(uri: str) -> str:
    try:
        return ada_url.normalize_url(uri).partition("#")[0]
    except ValueError:
        return uri


def anchors_of(record: ArchiveRecord) -> set[str]:
    """Return where the ``a@href`` of a page lead, and the page itself, which same-page links lead
    to.
    """
    html = decode_html(decode_payload(record).body, record.http_charset)
    found = extract_links(html.text)
    base = Base(record.uri, found.base, html.charset)
    targets = {normal(record.uri)}
    for kind, reference, _, _ in found.links:
        if kind == "a@href":
            targets.add(normal(base.resolve(reference)))
    return targets


# The page lacks a closing quote: <a href="/about/contact.php#lists>online discussion</a>, <a
# href="/iathreads/…">. A crawler that looks for patterns sees two links, a parser of HTML (and a
# browser) one, whose address is nonsense.
NOT_FOUND = {
    (
        "http://www.archive.org/about/faqs.php",
        "http://www.archive.org/iathreads/forum-display.php?forum=news",
    )
}


@pytest.mark.parametrize(
    ("pattern", "links", "missing"),
    [("aut/example.warc.gz", 18_873, NOT_FOUND), ("warc2graph/*.warc.gz", 13, set())],
    ids=["2008", "2021"],
)
def test_what_heritrix_recorded_of_anchors_is_found(
    pattern: str, links: int, missing: set[tuple[str, str]], shared_data: Path
) -> None:
    """Every file that has ``outlink:`` metadata, distinct (page, target). Recall has to be 0.985 at
    least; it is 0.9999.
    """
    recorded: dict[str, set[str]] = defaultdict(set)
    found: dict[str, set[str]] = {}
    (path,) = shared_data.glob(pattern)
    for record in records_of(path):
        if record.record_type == "metadata":
            for target in re.findall(rb"(?mi)^outlink: (\S+) \S a/@href\s*$", record.body):
                recorded[record.uri].add(normal(target.decode()))
        elif record.record_type == "response":
            found[record.uri] = anchors_of(record) if "html" in record.mime else set()
    assert sum(map(len, recorded.values())) == links
    assert {
        (page, target) for page, targets in recorded.items() for target in targets - found[page]
    } == missing
    assert 1 - len(missing) / links >= 0.985


# White space in a table cell after an unclosed link is a link again, without text (HTML,
# 13.2.6.4.15 and 13.2.6.4.7: a cell reads text like the body, which reconstructs what is open).
# lexbor and jsoup do so; html5lib does not.
REPEATED = {"http://www.archive.org/about/faqs.php": 1, "http://mek.oszk.hu/": 13}
NOTES = {reason.name for reason in Reason if reason.group == "notes"}

FOLDERS = [
    ("aut", 5),
    ("cdx/cdx_writer", 1),
    ("flink_web", 41),
    ("formats", 1),
    ("html", 1),
    ("malformed", 1),
    ("pywb/warcs", 1),
    ("warc2graph", 1),
]
"""Folders, and which pages of each are compared by `make test`: all, every second, …; by
`make oracles` it is all of them.
"""


LONGEST = 1_300_000
"""Bytes of a page that are compared: of ``giant_html.warc.gz`` there are 16 MiB, for which html5lib
would take an hour.
"""


def pages_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the URI and text of each distinct HTML page, whatever its status."""
    seen = set()
    for path in sorted(folder.iterdir()):
        for record in records_of(path) if path.is_file() else ():
            if record.record_type not in ("response", "resource") or "html" not in record.mime:
                continue
            try:
                body = decode_payload(record).body
            except PayloadError:
                continue
            if body not in seen and len(body) <= LONGEST:
                seen.add(body)
                text = decode_html(body, record.http_charset).text
                yield record.uri, text if isinstance(text, str) else text.decode(errors="replace")


@pytest.mark.parametrize(("folder", "every"), FOLDERS, ids=[folder for folder, _ in FOLDERS])
def test_real_pages_give_the_links_that_the_second_extractor_finds(
    shared_data: Path, folder: str, every: int
) -> None:
    pages = list(pages_of(shared_data / folder))[:: 1 if ALL_PAGES else every]
    assert pages
    differences = []
    for uri, text in pages:
        first, second = extract_links(text), second_extract(text)
        links = without_repeated(first.links, second.links)
        counts = {
            reason.name: count for reason, count in first.counts.items() if reason.name not in NOTES
        }
        of_page = links, first.base, first.title, counts
        if of_page != (second.links, second.base, second.title, second.gone) or len(
            first.links
        ) - len(links) != REPEATED.get(uri, 0):
            differences.append(
                (
                    uri,
                    [pair for pair in zip(links, second.links, strict=False) if pair[0] != pair[1]][
                        :2
                    ],
                    counts,
                    second.gone,
                )
            )
    assert differences == []


def without_repeated(links: list[RawLink], second: list[RawLink]) -> list[RawLink]:
    """Return ``links`` without those that repeat the last link without its text where ``second``
    does not.
    """
    kept: list[RawLink] = []
    last: RawLink | None = None
    for link in links:
        is_expected = len(kept) < len(second) and second[len(kept)] == link
        if (
            is_expected
            or last is None
            or (link[0], link[1], link[2], link[3]) != ("a@href", last[1], "", last[3])
        ):
            kept.append(link)
        last = link
    return kept
