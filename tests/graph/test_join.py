"""Join and invert, compared with a plain definition.

It resolves every link of every page at each URI where the page was captured.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from zlib import crc32

import ada_url
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arclink.graph.block_links import MOST_POSITIONS, Postings, hold_postings
from arclink.graph.inversion import reduce_postings
from arclink.graph.join import Joiner
from arclink.model import Checksum, ContentId, Kind, Outlink, RawLink, Scope, Surt, UriR
from arclink.reasons import Reason
from arclink.rows.pages import (
    Page,
    format_link,
    format_page,
    format_shuffle_key,
    parse_link,
    parse_page,
)
from arclink.rows.pointers import FIRST_PART
from arclink.rows.relations import (
    HUB,
    OUTLINKS,
    PAYLOADS,
    POSTINGS,
    Row,
    format_groups,
    parse_inlinks,
    parse_outlinks,
    parse_payload,
    split_target_key,
    target_key,
)
from arclink.uris.resolution import content_id, part_of_origin
from arclink.uris.surts import surt_of

REFERENCES = [
    "http://other.example/x",
    "//other.example/y",
    "/top",
    "/top",
    "page.html",
    "../up.html",
    "?q=1",
    "mailto:a@b.example",
    "http:odd.html",
    "http://exa mple/",
    "caf\u00e9?q=\u00e9",
]
ORIGINALS = [
    "http://a.example/",
    "http://a.example/d/p.html",
    "http://a.example/d/q.html?x=1",
    "http://a.example/d/e/p.html",
    "https://a.example/d/p.html",
    "http://b.example/d/p.html",
    "http://a.example:8080/d/p.html",
    "ftp://a.example/d/p.html",
    "https://b.example/d/p.html",
]

links = st.tuples(
    st.sampled_from(["a@href", "img@src"]),
    st.sampled_from(REFERENCES),
    st.sampled_from(["", "News"]),
    st.sampled_from([None, "nofollow"]),
)
payloads = st.tuples(
    st.sampled_from([None, None, "/base/", "http://base.example/b/c"]),
    st.lists(links, max_size=8),
    st.lists(st.sampled_from(ORIGINALS), min_size=1, max_size=4, unique=True),
)


Drawn = list[tuple[str | None, list[RawLink], list[str]]]
"""Base, links as written, originals; of each payload."""


def page_of(
    checksum: str,
    originals: list[str],
    written: list[RawLink],
    base: str | None = None,
    chunk: int = 0,
) -> Page:
    return Page(
        Checksum(checksum),
        chunk,
        "f",
        0,
        "utf-8",
        base,
        [UriR(one) for one in originals],
        [format_link(one) for one in written],
        {},
    )


def pages_of(drawn: Drawn) -> list[Page]:
    return [
        page_of(f"SUM{number}", sorted(originals), written, base)
        for number, (base, written, originals) in enumerate(drawn)
    ]


def joined(pages: list[Page], flush_at: int) -> tuple[list[Row], Joiner]:
    joiner = Joiner(flush_at=flush_at)
    by_surt: dict[bytes, list[bytes]] = defaultdict(list)
    for page in pages:
        by_surt[surt_of(page.originals[0]).encode()].append(format_page(page))
    rows = [row for surt in sorted(by_surt) for row in joiner.join(surt, by_surt[surt])]
    return rows + list(joiner.flush()), joiner


def inverted(rows: list[Row]) -> list[bytes]:
    postings: dict[bytes, list[bytes]] = defaultdict(list)
    for relation, row in rows:
        if relation == POSTINGS:
            key, _, groups = row.partition(b"\t")
            postings[key].append(groups)
    return [
        surt + b"\t" + rest
        for key in sorted(postings)
        for surt, rest in reduce_postings(key, iter(postings[key]))
    ]


def resolved(page: Page, original: str) -> Iterator[tuple[str, str, str, str | None]]:
    base = ada_url.join_url(original, page.base).partition("#")[0] if page.base else original
    for written in page.links:
        kind, reference, text, rel = parse_link(written)
        try:
            yield ada_url.join_url(base, reference).partition("#")[0], kind, text, rel
        except ValueError:
            continue


def flat_outlinks(rows: list[Row]) -> Iterator[tuple[ContentId, list[Outlink]]]:
    for relation, row in rows:
        if relation == OUTLINKS:
            block = parse_outlinks(row)
            assert len({*block.links}) == len(block.links), "a block has each link once"
            assert {number for numbers in block.lists for number in numbers} == set(
                range(len(block.links))
            ), "and none besides"
            for position, content in enumerate(block.contents):
                yield content, block.links_of(position)


def flat_inlinks(rows: list[Row]) -> Iterator[tuple[Surt, UriR, Kind, str, str | None, ContentId]]:
    blocks = {
        block.name: block
        for relation, row in rows
        if relation == OUTLINKS
        for block in [parse_outlinks(row)]
    }
    for row in inverted(rows):
        surt, target, groups = parse_inlinks(row)
        for kind, text, rel, sources in groups:
            for name, positions in sources:
                for position in positions:
                    yield surt, target, kind, text, rel, blocks[name].contents[position]


@pytest.fixture(autouse=True, params=[3, 2500], ids=["small blocks", "large blocks"])
def _block_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arclink.graph.join.BLOCK_LINKS", request.param)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(payloads, max_size=5), st.sampled_from([1, 3, 30_000]))
def test_every_capture_shows_the_links_of_its_own_address(drawn: Drawn, flush_at: int) -> None:
    pages = pages_of(drawn)
    rows, joiner = joined(pages, flush_at)
    scopes = {
        payload.checksum: payload.scope
        for relation, row in rows
        if relation == PAYLOADS
        for payload in [parse_payload(row)]
    }
    contents = list(flat_outlinks(rows))
    by_content = dict(contents)
    assert len(by_content) == len(contents), "no content is written twice"
    shown: set[ContentId] = set()
    for page in pages:
        scope = scopes[page.checksum]
        assert scope is not None
        for original in page.originals:
            content = content_id(page.checksum, original, scope)
            shown.add(content)
            found = [(link.target, link.kind, link.text, link.rel) for link in by_content[content]]
            assert found == list(resolved(page, original))
    assert shown == set(by_content), "and nothing else is written"
    firsts = [
        content_id(page.checksum, page.originals[0], scopes[page.checksum] or Scope.NONE)
        for page in pages
    ]
    assert joiner.counts[Reason.LINK_KEPT] == sum(len(by_content[content]) for content in firsts)
    kept = sum(count for reason, count in joiner.counts.items() if reason.group == "links")
    assert kept == sum(len(page.links) for page in pages), "every link ends in one reason"


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(payloads, max_size=5), st.sampled_from([1, 3, 30_000]))
def test_inlinks_are_the_outlinks_seen_from_their_targets(drawn: Drawn, flush_at: int) -> None:
    rows, _ = joined(pages_of(drawn), flush_at)
    forward = {
        (surt_of(link.target), link.target, link.kind, link.text, link.rel, content)
        for content, links_of in flat_outlinks(rows)
        for link in links_of
    }
    backward = list(flat_inlinks(rows))
    assert set(backward) == forward
    assert len(backward) == len(forward), "each once"


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(payloads, max_size=5))
def test_the_number_of_flushes_of_postings_changes_no_inlink(drawn: Drawn) -> None:
    pages = pages_of(drawn)
    often, once = joined(pages, 1)[0], joined(pages, 30_000)[0]
    assert sorted(map(repr, flat_inlinks(often))) == sorted(map(repr, flat_inlinks(once)))


def test_a_soft_404_of_one_host_is_one_vertex() -> None:
    page = page_of(
        "SUM",
        [f"http://a.example/{number}/missing" for number in range(50)],
        [("a@href", "/", "Home", None)],
    )
    rows, _ = joined([page], 30_000)
    contents = [content for content, _ in flat_outlinks(rows)]
    assert contents == [content_id(page.checksum, page.originals[0], Scope.ORIGIN)]


def test_originals_in_several_pages_give_each_content_once() -> None:
    hosts = [f"http://h{number % 3}.example/{number}" for number in range(9)]
    pages = [
        page_of(
            "SUM", hosts[chunk * 3 : chunk * 3 + 3], [("a@href", "/", "Home", None)], chunk=chunk
        )
        for chunk in range(3)
    ]
    joiner = Joiner()
    rows = [*joiner.join(b"surt", map(format_page, pages)), *joiner.flush()]
    assert sum(relation == PAYLOADS for relation, _ in rows) == 1
    assert len(list(flat_outlinks(rows))) == 3
    assert joiner.counts[Reason.LINK_KEPT] == 1, "a link of the payload is counted once"


def test_a_block_has_only_links_of_its_contents() -> None:
    """Forgetting a page removes its links from the blocks of its contents, and from no other."""
    written: list[RawLink] = [("a@href", f"/{number}", "", None) for number in range(2500)]
    of_one_host = [f"http://a.example/{number}" for number in range(4)]
    of_two_hosts = ["http://a.example/4", "http://b.example/"]
    pages = [
        page_of("SUM", of_one_host[:2], written),
        page_of("SUM", of_one_host[2:], written, chunk=1),
        page_of("OTHER", ["http://a.example/5"], [("a@href", "/other", "", None)]),
        page_of("SUM2", of_one_host[:2], written),
        page_of("SUM2", of_two_hosts, written, chunk=1),
    ]
    joiner = Joiner()
    rows = [*joiner.join(b"surt", map(format_page, pages)), *joiner.flush()]
    assert len(list(flat_outlinks(rows))) == 4
    for row in inverted(rows):
        _, _, groups = parse_inlinks(row)
        assert all(positions for *_, sources in groups for _, positions in sources)


@pytest.mark.parametrize("written", ["/top", "page.html", "?q=1"])
@pytest.mark.parametrize("odd", ["WARC/1.0", "about:blank", "dns:a.example"])
@pytest.mark.parametrize("is_first", [False, True], ids=["odd one last", "odd one first"])
def test_an_original_where_no_link_resolves_costs_no_links_of_others(
    written: str, odd: str, is_first: bool
) -> None:
    """Originals are sorted, and the scope of a payload follows from the first one."""
    originals = ["http://a.example/d/p?x", "http://b.example/e"]
    links: list[RawLink] = [("a@href", written, "", None)]
    page = page_of("SUM", [odd, *originals] if is_first else [*originals, odd], links)
    rows, _ = joined([page], 30_000)
    (payload,) = (parse_payload(row) for relation, row in rows if relation == PAYLOADS)
    assert payload.scope is not None
    by_content = dict(flat_outlinks(rows))
    assert {
        original: [link.target for link in by_content[content_id(page.checksum, original, scope)]]
        for scope in [payload.scope]
        for original in page.originals
    } == {odd: []} | {original: [ada_url.join_url(original, written)] for original in originals}


def divided(page: Page) -> dict[bytes, list[bytes]]:
    """Return the pages of each part of a payload's origins, by their keys."""
    by_part: dict[tuple[str, str], list[UriR]] = {}
    for original in page.originals:
        by_part.setdefault(part_of_origin(original), []).append(original)
    schemes = [scheme for scheme, _ in by_part]
    surt = surt_of(page.originals[0])
    pages: dict[bytes, list[bytes]] = defaultdict(list)
    chunk = 0
    for number, ((scheme, part), originals) in enumerate(by_part.items()):
        is_first = scheme not in schemes[:number]
        name = scheme + part + FIRST_PART * is_first
        for one in originals:  # one original each, so that a part has several pages
            page_of_part = replace(page, originals=[one], chunk=chunk)
            pages[format_shuffle_key(surt, name)].append(format_page(page_of_part))
            chunk += 1
    return pages


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(payloads, min_size=1, max_size=5))
def test_parts_of_a_payload_in_tasks_of_their_own_give_the_same(drawn: Drawn) -> None:
    """Each content and each payload is written by one task, and inlinks are the same."""
    pages = pages_of(drawn)
    whole, whole_joiner = joined(pages, 30_000)
    rows: list[Row] = []
    counts: Counter[Reason] = Counter()
    for page in pages:
        for key, lines in divided(page).items():
            joiner = Joiner()
            rows += [*joiner.join(key, lines), *joiner.flush()]
            counts += joiner.counts
    contents = list(flat_outlinks(rows))
    assert len(dict(contents)) == len(contents), "no content is written twice"
    assert dict(contents) == dict(flat_outlinks(whole))
    assert sorted(row for row in rows if row[0] == PAYLOADS) == sorted(
        row for row in whole if row[0] == PAYLOADS
    )
    assert sorted(map(repr, flat_inlinks(rows))) == sorted(map(repr, flat_inlinks(whole)))
    assert counts == whole_joiner.counts


def test_a_content_that_all_parts_share_is_written_by_the_task_of_the_first_page() -> None:
    originals = [f"http://h{number}.example/" for number in range(20)]
    page = page_of("SUM", originals, [("a@href", "http://a.example/", "A", None)])
    keys = divided(page)
    assert len(keys) > 10
    rows = [row for key, lines in keys.items() for row in Joiner().join(key, lines)]
    assert [relation for relation, _ in rows] == [PAYLOADS]
    assert parse_payload(rows[0][1]).scope is Scope.NONE


def pages_with_a_hub(count: int, links: int) -> list[Page]:
    """Return pages that all link to one target, and to others that differ."""
    pages = []
    for number in range(count):
        written: list[RawLink] = [("a@href", "http://hub.example/", "Hub", None)]
        for one in range(links):
            written.append(("a@href", f"http://o.example/{number * 7 + one}", "x", None))
        pages.append(page_of(f"SUM{number}", [f"http://h{number % 50}.example/{number}"], written))
    return pages


@pytest.mark.parametrize(("links", "flush_at"), [(0, 200_000), (0, 1), (1, 200_000)])
def test_a_hub_is_shared_out_to_tasks(
    links: int, flush_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.graph.join.BLOCK_CONTENTS", 400)
    monkeypatch.setattr("arclink.graph.join.BLOCK_LINKS", 2500)
    tasks = 8
    rows, _ = joined(pages_with_a_hub(9_000, links), flush_at)
    bytes_of: Counter[int] = Counter(dict.fromkeys(range(tasks), 0))
    for relation, row in rows:
        if relation == POSTINGS:
            bytes_of[crc32(row.partition(b"\t")[0]) % tasks] += len(row)
    assert max(bytes_of.values()) <= 3 * median(bytes_of.values())
    hub = [found for found in flat_inlinks(rows) if found[1] == "http://hub.example/"]
    assert len(hub) == len(set(hub)) == 9_000


def test_rows_of_a_target_with_several_keys_are_sorted() -> None:
    keys = [
        target_key(surt_of(uri), UriR(uri)) + suffix
        for uri in ("http://hub.example/", "http://hub.example/!", "http://hub.example/a")
        for suffix in (b"", HUB + b"0", HUB + b"f")
    ]
    lines = sorted(key + b"\t[]" for key in keys)  # as on one machine; engines sort by key
    for in_order in (sorted(keys), [line.partition(b"\t")[0] for line in lines]):
        rows = [split_target_key(key) for key in in_order]
        assert rows == sorted(rows)
        assert len(set(rows)) == 3


def test_the_key_of_a_posting_depends_on_its_block_only() -> None:
    few: Postings = {}
    many: Postings = {}
    key = target_key(Surt("example,hub)/"), UriR("http://hub.example/"))
    link = b"[]", b'["a@href","",null', key, Scope.NONE
    block = [list(range(MOST_POSITIONS + 1))]
    hold_postings(few, [link], block, b'"7f"')
    for number in range(100):
        hold_postings(many, [link], [[number]], b'"%02d"' % number)
    hold_postings(many, [link], block, b'"7f"')
    assert list(few) == [key + HUB + b"7"]
    assert many[key + HUB + b"7"] == few[key + HUB + b"7"]
    assert len(many) == 2
    assert len(many[key][link[1]]) == 100


def test_a_hub_comes_in_rows_of_bounded_size() -> None:
    postings = [
        format_groups([(Kind("a@href"), "x", None, [(f"block {task}", list(range(10)))])])
        for task in range(30)
    ]
    rows = list(reduce_postings(b"example,hub)/\x01http://hub.example/", iter(postings), most=50))
    groups = [group for _, rest in rows for group in orjson.loads(rest.partition(b"\t")[2])]
    sizes = [sum(len(positions) for _, positions in sources) for *_, sources in groups]
    assert sum(sizes) == 300
    assert max(sizes) <= 60


@given(st.tuples(st.text(), st.text(), st.text(), st.one_of(st.none(), st.text(min_size=1))))
def test_a_link_reads_back(link: tuple[str, str, str, str | None]) -> None:
    kind, reference, text, rel = (
        None if part is None else part.replace("\x1f", "") for part in link
    )
    assert kind is not None
    assert reference is not None
    assert text is not None
    assert parse_link(format_link((kind, reference, text, rel or None))) == (
        kind,
        reference,
        text,
        rel or None,
    )


def test_a_separator_in_a_reference_is_percent_encoded_as_in_urls() -> None:
    assert parse_link(format_link(("a@href", "x\x1fy", "", None)))[1] == "x%1Fy"
    assert ada_url.join_url("http://h/", "x\x1fy") == "http://h/x%1Fy"


@pytest.mark.parametrize("base", [None, "/b/"], ids=["no base", "base"])
def test_a_page_reads_back(base: str | None) -> None:
    page = Page(
        Checksum("S"), 2, "f", 7, "utf-8", base, [UriR("http://a/")], ["x"], {"LINK_SAME_PAGE": 2}
    )
    assert parse_page(format_page(page)) == page
