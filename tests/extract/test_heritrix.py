"""The links that Heritrix recorded: their lines, kinds and pages, and which of them are added."""

import csv
import gzip
import re
from collections import Counter
from pathlib import Path
from time import process_time

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.extract.heritrix import RecordedLink, add_outlinks, find_metadata, parse_outlinks
from arclink.extract.html import Limits, PageLinks
from arclink.extract.settings import ExtractSettings
from arclink.model import Surt, UriR
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.pages import format_link
from arclink.store.location import open_store
from arclink.uris.resolution import Base
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, warc
from tests.demos import Demos

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("hop", "context", "kind"),
    [
        ("L", "a/@href", "a@href"),
        ("L", "A/@HREF", "a@href"),
        ("E", "img/@src", "img@src"),
        ("L", "option/@value", "option@value"),
        ("R", "Location:", "http@location"),
        ("R", "meta", "meta@refresh"),
        ("E", "=EMBED_MISC", "crawler@embed"),
        ("L", "=NAVLINK_MISC", "crawler@navlink"),
        ("X", "=JS_MISC", "guess@js"),
        ("X", "=SPECULATIVE_MISC", "guess@speculative"),
        ("I", "=INFERRED_MISC", "guess@inferred"),
        ("X", "a/@onclick", "guess@a-onclick"),
        ("X", "meta", "guess@meta"),
        ("L", "", "crawler@other"),
        ("L", "a b/@c", "crawler@a-b-c"),
    ],
)
def test_the_kind_is_the_crawlers_context_and_says_what_is_a_guess(
    hop: str, context: str, kind: str
) -> None:
    assert RecordedLink("http://h/", hop, context).kind == kind


@given(st.sampled_from("LERPXISM"), st.text(max_size=12))
def test_whatever_the_context_the_kind_is_one_to_ask_for(hop: str, context: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+@[a-z0-9-]+", RecordedLink("http://h/", hop, context).kind)


def test_lines_are_read_as_far_as_they_are_whole() -> None:
    text = (
        "seed:\r\nvia: http://h/\r\noutlink: http://h/a L a/@href\r\noutlink: http://h/b X "
        "=JS_MISC\noutlink:\noutlink: http://h/c\n"
    )
    text += "outlink: http://h/d E"
    links = list(parse_outlinks(text))
    assert links == [
        ("http://h/a", "L", "a/@href"),
        ("http://h/b", "X", "=JS_MISC"),
        None,
        None,
        ("http://h/d", "E", ""),
    ]


@given(st.text())
def test_any_text_gives_a_link_or_none_for_each_line(text: str) -> None:
    assert len(list(parse_outlinks(text))) == len(re.findall("^outlink:", text, re.MULTILINE))


def test_a_long_line_takes_linear_time() -> None:
    line = "outlink: http://h/ L a" + " " * 100_000 + "b"
    started = process_time()
    (link,) = parse_outlinks(line + " \t \r\n")
    assert process_time() - started < 5
    assert link is not None
    assert link.context == "a" + " " * 100_000 + "b"


def test_the_lines_are_those_that_another_tool_lists(shared_data: Path) -> None:
    path = shared_data / "aut/example.warc.gz"
    found = []
    with ArchiveFile(str(path)) as archive:
        for record in archive.records():
            if isinstance(record, ArchiveRecord) and record.record_type == "metadata":
                text = b"".join(record.body_pieces()).decode("utf-8", "replace")
                found += [
                    (record.timestamp, record.uri, *link) for link in parse_outlinks(text) if link
                ]
    with (path.parent / f"{path.name}.heritrix-outlinks.tsv").open(
        encoding="utf-8", newline=""
    ) as lines:
        listed = [tuple(row) for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)][
            1:
        ]
    assert len(found) == 38_277
    assert Counter(found) == Counter(listed)


def metadata(concurrent_to: str, *lines: str) -> bytes:
    return warc(
        "http://h/",
        "\r\n".join(lines).encode(),
        f"WARC-Concurrent-To: {concurrent_to}",
        record_type="metadata",
    )


PAGE = warc("http://h/", http(b"x"), "WARC-Record-ID: <urn:1>")
REQUEST = warc("http://h/", b"GET / HTTP/1.0\r\n\r\n", record_type="request")


@pytest.mark.parametrize("is_gzip", [False, True])
@pytest.mark.parametrize(
    ("behind", "is_found"),
    [
        pytest.param([metadata("<urn:1>", "outlink: http://h/a L a/@href")], True, id="at once"),
        pytest.param(
            [
                REQUEST,
                metadata("<urn:1>", "via: x"),
                metadata("<urn:1>", "outlink: http://h/a L a/@href"),
            ],
            True,
            id="after others",
        ),
        pytest.param(
            [REQUEST, metadata("<urn:2>", "outlink: http://h/a L a/@href")],
            False,
            id="of another record",
        ),
        pytest.param(
            [warc("http://h/b", http(b"")), metadata("<urn:1>", "outlink: http://h/a L a/@href")],
            False,
            id="after another page",
        ),
        pytest.param(
            [REQUEST] * 5 + [metadata("<urn:1>", "outlink: http://h/a L a/@href")],
            False,
            id="too far",
        ),
        pytest.param([b"damaged"], False, id="damage"),
        pytest.param([], False, id="end"),
    ],
)
def test_metadata_after_its_page_is_found(
    behind: list[bytes], is_found: bool, is_gzip: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a.warc"
    records = [warc("http://h/0", http(b"")), PAGE, *behind]
    stored = [gzip.compress(record) if is_gzip else record for record in records]
    path.write_bytes(b"".join(stored))
    with ArchiveFile(str(path)) as archive:
        assert (find_metadata(archive, archive.record_at(len(stored[0]))) is not None) == is_found


def record_with(*lines: str) -> ArchiveRecord:
    body = "\r\n".join(lines).encode()
    return ArchiveRecord("metadata", UriR("http://h/"), "-", None, {}, 0, 1, body, len(body))  # type: ignore[arg-type]


def test_only_what_the_page_does_not_have_is_added_and_every_line_counted() -> None:
    page = PageLinks(
        written=[
            format_link(("a@href", "/a", "A", None)),
            format_link(("img@src", "b.png", "", None)),
        ]
    )
    recorded = record_with(
        "outlink: http://h/a L a/@href",  # the page has it
        "outlink: http://h/a E img/@src",  # of another kind
        "outlink: http://h/b.png X =JS_MISC",  # a guess at what the page has
        "outlink: http://h/c X =JS_MISC",
        "outlink: http://h/c X =JS_MISC",  # twice
        "outlink: http://h/robots.txt P =PREREQ_MISC",
        "outlink: http://[h/ L a/@href",
        "outlink: nothing",
        "outlink: http://h/d L a/@href",
        "outlink: http://h/e L a/@href",  # one too many
    )
    add_outlinks(page, recorded, Base(UriR("http://h/"), None, "utf-8"), Limits(links=5))
    assert page.links[2:] == [
        ("img@src", "http://h/a", "", None),
        ("guess@js", "http://h/c", "", None),
        ("a@href", "http://h/d", "", None),
    ]
    assert page.counts == {
        Reason.LINK_IN_PAGE: 3,
        Reason.LINK_OTHER_KIND: 1,
        Reason.LINK_INVALID: 2,
        Reason.LINK_TOO_MANY: 1,
    }


def test_a_link_that_the_page_has_under_a_narrower_kind_is_not_added() -> None:
    """The crawler distinguishes neither templates nor refreshes; its list must not undo that."""
    page = PageLinks(
        written=[
            format_link(("template@href", "a", "", None)),
            format_link(("noscript@refresh", "b", "", None)),
            format_link(("meta@delayed-refresh", "c", "", None)),
        ]
    )
    recorded = record_with(
        "outlink: http://h/a L a/@href",
        "outlink: http://h/b R meta",
        "outlink: http://h/c R meta",
        "outlink: http://h/d R meta",
    )
    add_outlinks(page, recorded, Base(UriR("http://h/"), None, "utf-8"), Limits())
    assert page.links[3:] == [("meta@refresh", "http://h/d", "", None)]
    assert page.counts == {Reason.LINK_IN_PAGE: 3}


def documented() -> dict[str, int]:
    rows = re.findall(
        r"^\| `(\S+@\S+)` \| ([\d,]+) \|$",
        (ROOT / "docs/reference/heritrix.md").read_text("utf-8"),
        re.MULTILINE,
    )
    return {kind: int(count.replace(",", "")) for kind, count in rows}


def test_a_build_has_every_link_that_the_crawler_recorded(
    shared_data: Path, demos: Demos, tmp_path: Path
) -> None:
    path = shared_data / "aut/example.warc.gz"
    settings = BuildSettings(cores=2, extract=ExtractSettings(heritrix_outlinks=True))
    report = build_store(path, tmp_path / "with.db", settings)
    recorded: dict[tuple[str, str], list[RecordedLink]] = {}
    with (path.parent / f"{path.name}.heritrix-outlinks.tsv").open(
        encoding="utf-8", newline=""
    ) as lines:
        for timestamp, page, *line in list(
            csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        )[1:]:
            recorded.setdefault((page, timestamp), []).append(RecordedLink(*line))
    added: Counter[str] = Counter()
    lacking: set[str] = set()
    with (
        open_store(str(tmp_path / "with.db")) as with_them,
        open_store(str(demos.real(path))) as without,
    ):
        assert list(with_them.verify()) == []
        for surt in with_them.surts(Surt("")):
            for memento in with_them.mementos(surt):
                content, before = with_them.content_of(memento), without.content_of(memento)
                if content is None or before is None:
                    continue
                links = list(with_them.outlinks(content))
                own = list(without.outlinks(before))
                assert links[: len(own)] == own, "the page's own come first, unchanged"
                added.update(link.kind for link in links[len(own) :])
                targets = {link.target for link in links}
                for link in recorded.get((memento.original, memento.timestamp), []):
                    target = ada_url.normalize_url(link.uri).partition("#")[0]
                    if target not in targets and link.hop != "P":
                        lacking.add(memento.original)
    # Their payload was captured and read at /create/ before: recorded addresses are those of the
    # capture that was read.
    assert lacking == {
        f"http://www.archive.org/create/{name}"
        for name in ("application/x-www-form-urlencoded", "text/javascript")
    }
    assert added == documented()
    assert added["a@href"] == 1, "Heritrix reads one anchor that is in a script"
    assert report.counts[Reason.LINK_IN_PAGE] == 32_995
