"""Each compiled form against the function in Python that it stands for, on any input."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from arclink import native
from arclink.extract.html import _A, _CLOSER_LOOK, DEFAULT_KINDS, _elements
from arclink.filter import cdx
from arclink.filter.cdx import _Known, read_row_lists
from arclink.filter.filtering import Pair, _Mapper
from arclink.filter.rules import Rules
from arclink.graph.joining import _Follow, _Link, _Place
from arclink.graph.pages import Page, format_link
from arclink.model import Checksum, UriR
from arclink.reasons import Reason
from arclink.store.grouping import OLD, Numbered
from arclink.store.packing import pack_numbers
from arclink.store.relations import groups_of, number_field, pack_head
from arclink.store.runs import Row
from arclink.uris.resolving import concatenated
from arclink.uris.surts import _stem
from tests.filter.test_cdx import lines_of_any_kind
from tests.filter.test_filtering import lines, rule_sets
from tests.uris.test_resolving import from_above, references
from tests.uris.test_surts import pieces, sites

Function = Callable[..., Any]  # Any: of any signature

HELD: list[str] = []
SOURCES = sorted(Path(native.__file__).parent.glob("*.pyx"))


def pair(name: str) -> tuple[Function, Function]:
    """Return the function in Python, and its compiled form."""
    HELD.append(name)
    return native.PAIRS.get(name, (concatenated, concatenated))


@pytest.fixture(autouse=True)
def _is_compiled() -> None:
    """Skip without compiled forms, but fail where they must be (``CI``)."""
    if native.PAIRS:
        return
    text = "there are no compiled forms: no C compiler when ArcLink was installed, or ARCLINK_NATIVE=no"
    if os.environ.get("CI"):
        pytest.fail(text)
    pytest.skip(text)


PLAIN_SURT = pair("surts.plain_surt")


@given(st.one_of(st.text(), st.builds(lambda site, rest: site + "".join(rest), sites, st.lists(pieces, max_size=10))))
def test_the_surt_of_a_plain_uri(uri: str) -> None:
    in_python, compiled = PLAIN_SURT
    assert compiled(uri, _stem) == in_python(uri, _stem)


@pytest.mark.parametrize("query", ["b=2&a=1&a", "&", "a=&a", "b&a=%26&A=1", "a=b=c&a=b"])
def test_the_order_of_parameters(query: str) -> None:
    in_python, compiled = PLAIN_SURT
    assert compiled(f"http://h.org/?{query}", _stem) == in_python(f"http://h.org/?{query}", _stem)


CONCATENATED = pair("resolving.concatenated")
odd_references = st.lists(
    st.sampled_from(
        ["http://", "https://", "a.org", "xn--", "/", "//", ".", "..", "?", "#", "%2e", "%2F", "%", ":", "é", "\ud800", "\0", "a", "~"]
    ),
    max_size=8,
)


@given(
    references | from_above | odd_references.map("".join),
    st.sampled_from([None, "http://h.org"]),
    st.sampled_from([None, "http://h.org/d/"]),
)
def test_the_target_of_a_plain_reference(reference: str, origin: str | None, directory: str | None) -> None:
    in_python, compiled = CONCATENATED
    found = compiled(reference, origin, directory)
    assert found == in_python(reference, origin, directory)
    assert found is None or found[1] is in_python(reference, origin, directory)[1]


BUT_PLAIN_LINKS = pair("html.but_plain_links")
references_in_html = st.sampled_from(["x", "/\u00e9", "#", "javascript:x", " y", "", "a&#31;b", "\u20ac&#31;"])
words_in_html = st.text("ab \t\n\u00a0\u200e\u20ac", max_size=6)
anchors = st.builds(
    lambda reference, words, rel, more: f'<a href="{reference}" rel="{rel}">{words}{more}</a>',
    references_in_html,
    words_in_html,
    words_in_html,
    st.sampled_from(["", "<b>c</b>", "<!-- -->"]),
)


@given(
    st.lists(anchors | st.sampled_from(["<a href>", "<a>", "<img src=y>", "<base href=z>", "<template>", "<p>"]), max_size=8).map("".join),
    st.integers(0, 5),
    st.integers(0, 5),
)
def test_links_of_a_page(page: str, most: int, longest: int) -> None:
    def taken(walk: Function) -> tuple[list[str], list[tuple[object, ...]]]:
        root = LexborHTMLParser(page).root
        assert root is not None
        links: list[str] = []
        nodes = root.traverse()
        others = walk(nodes, _elements(DEFAULT_KINDS), _A, _CLOSER_LOOK, links, most, longest)
        return links, [(len(links), element, attributes, node.html) for node, element, attributes in others]

    in_python, compiled = BUT_PLAIN_LINKS
    assert taken(compiled) == taken(in_python)


TAKE_PLAIN = pair("cdx.take_plain")


@given(st.lists(st.tuples(lines_of_any_kind, st.sampled_from(["", "\n", "\r\n", "\r"])), max_size=8), st.booleans())
def test_plain_rows_of_cdx(written: list[tuple[str, str]], is_usual: bool) -> None:
    rows_of_lines = [(line + end).encode() for line, end in written]

    def taken(take: Function) -> list[tuple[int, list[cdx.Row]]]:
        known, found = _Known(), []
        for start in range(len(rows_of_lines) + 1):
            rows: list[cdx.Row] = []
            found.append((take(rows, rows_of_lines, start, known, is_usual), rows))
        return found

    in_python, compiled = TAKE_PLAIN
    assert taken(compiled) == taken(in_python)


DAYS = (
    ["0001", "1900", "2000", "2023", "2024"],
    ["00", "01", "02", "04", "12", "13"],
    ["00", "01", "28", "29", "30", "31", "32", "1x", "+1"],
)


def test_days_of_the_calendar() -> None:
    end = b" http://h/ text/html 200 C2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - - 7 5 f.warc"
    days = [f"{year}{month}{day}" for year in DAYS[0] for month in DAYS[1] for day in DAYS[2]]
    in_python, compiled = TAKE_PLAIN
    for time in [day + "235959" for day in days] + ["20240229" + time for time in ("240000", "006000", "000060", "00000", "0000000")]:
        line = b"k " + time.encode() + end
        assert compiled([], [line], 0, _Known(), True) == in_python([], [line], 0, _Known(), True), time


TAKE = pair("filtering.take")
CANDIDATE = pair("filtering.candidate")
REDUCE_SORTED = pair("filtering.reduce_sorted")


def mapped(take: Function, rows: Sequence[bytes], rules: Rules, block: int) -> tuple[list[Pair], Counter[Reason]]:
    """Return what a mapper makes of some rows, a few at a time."""
    counts: Counter[Reason] = Counter()
    mapper = _Mapper(rules, counts, block, ())
    pairs: list[Pair] = []
    for start in range(0, len(rows), 4):
        for taken in read_row_lists(rows[start : start + 4], counts):
            take(mapper, taken, pairs)
    return [*pairs, *mapper.pairs(())], counts


@given(st.lists(lines, max_size=25), rule_sets, st.integers(1, 5))
def test_captures_on_their_way_to_the_shuffle(rows: list[bytes], rules: Rules, block: int) -> None:
    in_python, compiled = TAKE
    assert mapped(compiled, rows, rules, block) == mapped(in_python, rows, rules, block)


times = st.sampled_from([b"20140101000000", b"20140102000000", b"20150101000000"])
captures = st.tuples(
    times,
    st.just(b"http://h/"),
    st.sampled_from([b"a.warc", b"b.warc", b"c.warc", b"a.warc.wat.gz", b"d.arc"]),
    st.sampled_from([b"5", b"10"]),
    st.just(b"7"),
)


EARLIEST = pair("filtering.earliest")


@given(st.lists(captures, max_size=8))
def test_the_earliest_captures_of_a_payload(some: list[tuple[bytes, ...]]) -> None:
    in_python, compiled = EARLIEST
    assert compiled(iter(some)) == in_python(iter(some))


@given(st.lists(captures, max_size=6), st.lists(times, max_size=3))
def test_a_run_of_captures_is_one_value(run: list[tuple[bytes, ...]], revisits: list[bytes]) -> None:
    in_python, compiled = CANDIDATE
    assert compiled(b"http://h/", run, revisits) == in_python(b"http://h/", run, revisits)


@given(st.lists(lines, max_size=25), rule_sets)
def test_captures_from_the_shuffle(rows: list[bytes], rules: Rules) -> None:
    in_python, compiled = REDUCE_SORTED
    pairs = sorted(mapped(TAKE[0], rows, rules, 3)[0])

    def reduced(reduce: Callable[..., Iterator[Pair]]) -> tuple[list[Pair], Counter[Reason]]:
        counts: Counter[Reason] = Counter()
        return list(reduce(iter(pairs), counts)), counts

    assert reduced(compiled) == reduced(in_python)


POSITIONS = pair("blocks.positions")


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6))
def test_positions_of_links_in_a_block(lists: list[list[int]]) -> None:
    in_python, compiled = POSITIONS
    assert compiled(lists, 6) == in_python(lists, 6)


NUMBER_LINKS = pair("joining.number_links")
HOLD_POSTINGS = pair("joining.hold_postings")
POSTING_ROWS = pair("joining.posting_rows")
links_of_pages = st.lists(
    st.tuples(
        st.sampled_from(["a@href", "img@src"]), references, st.sampled_from(["", "x", '"ü\\']), st.sampled_from([None, "nofollow"])
    ).map(format_link),
    max_size=8,
)
places = st.sampled_from(["http://h.org/a/b.html", "http://h.org/a/c.html?q", "http://h.org/d/", "https://i.org/", "no uri"])


def numbered(number: Function, pages: Sequence[tuple[str, list[str]]]) -> list[object]:
    """Return what becomes of the links of pages of one block, and all that is remembered of them."""
    codes: dict[str, int] = {}
    number_of: dict[bytes, int] = {}
    found: list[_Link] = []
    counts: Counter[Reason] = Counter()
    results = []
    kept = []
    for place, written in pages:
        origin, directory = _Place(()), _Place(())
        page = Page(Checksum("A"), 0, "f", 0, "utf-8", None, [UriR(place)], written, {})
        results.append(number(written, codes, number_of, found, origin, directory, _Follow(page, UriR(place), counts)))
        kept += [origin.links, origin.targets, directory.links, directory.targets]
        codes.clear()
    return [results, number_of, found, counts, kept]


@given(st.lists(st.tuples(places, links_of_pages), max_size=4))
def test_links_of_a_block(pages: list[tuple[str, list[str]]]) -> None:
    in_python, compiled = NUMBER_LINKS
    assert numbered(compiled, pages) == numbered(in_python, pages)


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from([b"a", b"b"]), st.sampled_from([b"[1", b"[2"]), st.lists(st.integers(0, 3), min_size=1)), max_size=6
        )
    )
)
def test_postings_of_blocks(blocks: list[list[tuple[bytes, bytes, list[int]]]]) -> None:
    def held(hold: Function, rows: Function) -> list[bytes]:
        postings: dict[bytes, dict[bytes, list[bytes]]] = {}
        for number, block in enumerate(blocks):
            hold(postings, [(b"", head, key, 0) for key, head, _ in block], [positions for _, _, positions in block], b'"%d"' % number)
        return list(rows(postings))

    (hold, compiled_hold), (rows, compiled_rows) = HOLD_POSTINGS, POSTING_ROWS
    assert held(compiled_hold, compiled_rows) == held(hold, rows)


PACK_NUMBER_ROWS = pair("packing.pack_number_rows")
UNPACK_NUMBERS = pair("packing.unpack_numbers")
UNPACK_FEW = pair("packing.unpack_few")
UNPACK_ENDS = pair("packing.unpack_ends")
UNPACK_STEPS = pair("packing.unpack_steps")
numbers_of_any_size = st.one_of(st.integers(0, 300), st.integers(0, 2**62))


@given(st.lists(st.lists(numbers_of_any_size, max_size=5), max_size=60), st.integers(0, 2))
def test_rows_of_numbers(rows: list[list[int]], more: int) -> None:
    numbers = np.array([number for row in rows for number in row] + [7] * more, dtype=np.int64)
    ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
    in_python, compiled = (pack(numbers, ends) for pack in PACK_NUMBER_ROWS)
    assert compiled[0] == in_python[0] == pack_numbers(numbers)
    assert compiled[1].tolist() == in_python[1].tolist()
    for part in (in_python[0], memoryview(in_python[0])[1:], in_python[0] + b"\x80"):
        for unpack, compiled_unpack in (UNPACK_NUMBERS, UNPACK_FEW, UNPACK_ENDS, UNPACK_STEPS):
            found = compiled_unpack(part)
            assert list(found) == list(unpack(part))
            assert type(found) is type(unpack(part))


BORDERS_OF = pair("packing.borders_of")
STRINGS_AT = pair("packing.strings_at")


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=5), max_size=40), st.data())
def test_some_of_many_strings(strings: list[str], data: st.DataObject) -> None:
    packed = "\n".join(strings).encode()
    borders, compiled_borders = (borders_of(packed) for borders_of in BORDERS_OF)
    assert compiled_borders.tolist() == borders.tolist()
    assert compiled_borders.dtype == borders.dtype
    places = np.array(data.draw(st.lists(st.integers(0, len(borders) - 2), max_size=10)), dtype=np.int64)
    (strings_at, compiled_at), every_other = STRINGS_AT, places[::2]
    assert compiled_at(packed, borders, places) == strings_at(packed, borders, places)
    assert compiled_at(packed, borders, every_other) == strings_at(packed, borders, every_other)
    for function in STRINGS_AT:
        for place in (-1, len(borders) - 1):
            with pytest.raises(IndexError):
                function(packed, borders, np.array([place]))


@pytest.mark.parametrize("function", STRINGS_AT)
def test_a_string_that_is_no_utf_8(function: Function) -> None:
    with pytest.raises(UnicodeDecodeError):
        function(b"a\n\xff", np.array([-1, 1, 3]), np.array([1]))


UNPACK_POSTINGS = pair("relations.unpack_postings")


groups_of_numbers = st.lists(numbers_of_any_size.map(lambda number: number >> 24), min_size=1, max_size=6, unique=True).map(sorted)


@given(st.lists(groups_of_numbers, min_size=1, max_size=6))
def test_inlinks_of_a_row(groups: list[list[int]]) -> None:
    first = min(number for group in groups for number in group)
    counts = pack_numbers([len(group) for group in groups])
    steps = pack_numbers([number - before for group in groups for before, number in pairwise([first, *group])])
    found, compiled = (unpack(counts, steps, first, len(groups)) for unpack in UNPACK_POSTINGS)
    assert compiled == found == sorted((number, place) for place, group in enumerate(groups) for number in group)
    _, _, numbers = groups_of(Row(number_field(first), (b"", counts, steps)))
    assert numbers.tolist() == [number for group in groups for number in group]
    for function in UNPACK_POSTINGS:
        for damaged in (
            (counts, steps, first, len(groups) + 1),
            (counts, steps, first, len(groups) - 1),
            (counts, steps + b"\1", first, len(groups)),
            (counts, steps[:-1], first, len(groups)),
            (b"\0" + counts, steps, first, len(groups) + 1),
        ):
            with pytest.raises(ValueError, match="inlinks"):
                function(*damaged)


GROUPS_OF = pair("grouping.groups_of")
blocks_of_a_batch: dict[str, Numbered] = {"a": range(7, 12), "b": [40, OLD, 42], "c": [OLD], "d": []}
sources_of_a_head = st.lists(st.tuples(st.sampled_from("abcd"), st.lists(st.integers(0, 4), max_size=3)).map(list), max_size=3)


@given(
    st.lists(st.tuples(st.text(max_size=2), st.text(max_size=3), st.none() | st.text(max_size=2), sources_of_a_head).map(list), max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_contents_of_the_links_to_a_target(links: list[list[Any]], has_repeats: bool, is_odd: bool) -> None:
    def grouped(group: Function) -> object:
        try:
            return group(links, blocks_of_a_batch, has_repeats, pack_head if is_odd else None)
        except LookupError as error:
            return str(error), type(error.__cause__)

    in_python, compiled = GROUPS_OF
    assert grouped(compiled) == grouped(in_python)


@pytest.mark.parametrize("function", GROUPS_OF)
@pytest.mark.parametrize(("block", "position"), [("a", -1), ("a", 5), ("a", 2**63), ("b", -1), ("b", 3), ("b", -(2**63) - 1), ("e", 0)])
def test_a_content_that_is_not_there(function: Function, block: str, position: int) -> None:
    with pytest.raises(LookupError, match=block):
        function([["k", "t", None, [[block, [position]]]]], blocks_of_a_batch, False, None)


PACK_SHA1 = pair("packing.pack_sha1")
UNPACK_SHA1 = pair("packing.unpack_sha1")


@given(st.one_of(st.text("ABYZ2367", min_size=32, max_size=32), st.text("AZ27189aü\u2160\n", min_size=30, max_size=33), st.text()))
def test_a_checksum_as_bytes(digest: str) -> None:
    packed = PACK_SHA1[1](digest)
    assert packed == PACK_SHA1[0](digest)
    if packed:
        assert UNPACK_SHA1[1](packed) == UNPACK_SHA1[0](packed) == digest


def test_each_compiled_form_is_held_to_its_function() -> None:
    assert sorted(HELD) == sorted(native.PAIRS)
    assert {name.partition(".")[0] for name in HELD} == {source.stem for source in SOURCES}
