"""Each compiled function gives the same results as its form in Python, on any input."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import ada_url
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from arclink import native
from arclink.errors import CdxError
from arclink.extract.html import _A, _CLOSER_LOOK, DEFAULT_KINDS, _elements
from arclink.extract.page_text import _KINDS, _WITH_LINKS
from arclink.filter.rules import Rules
from arclink.filter.selection import Mapper, reduce_captures
from arclink.filter.shuffle import Pair
from arclink.graph.block_links import Link, TargetCache
from arclink.graph.join import _Follow
from arclink.model import Checksum, UriR
from arclink.reasons import Reason
from arclink.rows import cdx
from arclink.rows.cdx import LONGEST_ROW, LONGEST_URI, parse_row, read_row_lists
from arclink.rows.pages import Page, format_link
from arclink.store.blocks.byte_layouts import pack_numbers
from arclink.store.blocks.inlink_numbers import OLD, Numbered
from arclink.store.blocks.relations import groups_of, number_field, pack_head
from arclink.store.blocks.rows import Row
from arclink.timestamps import TimestampError, normal_timestamp
from arclink.uris.resolution import class_of, concatenated
from arclink.uris.surts import _by_package, _stem
from arclink.uris.uri_ids import _by_package as _id_by_package
from tests.filter.generated import lines, rule_sets
from tests.rows.generated import lines_of_any_kind
from tests.uris.generated_references import from_above, references
from tests.uris.generated_uris import pieces, sites

Function = Callable[..., Any]  # Any: of any signature

HELD: list[str] = []


def pair(name: str) -> tuple[Function, Function]:
    """Return the function in Python, and its compiled form."""
    HELD.append(name)
    return native.PAIRS.get(name, (concatenated, concatenated))


@pytest.fixture(autouse=True)
def _is_compiled() -> None:
    """Skip without compiled forms, but fail where they must be (``CI``)."""
    if native.PAIRS:
        return
    text = (
        "there are no compiled forms: no C compiler when ArcLink was installed, or "
        "ARCLINK_NATIVE=no"
    )
    if os.environ.get("CI"):
        pytest.fail(text)
    pytest.skip(text)


PLAIN_SURT = pair("surts.plain_surt")


@given(
    st.one_of(
        st.text(),
        st.builds(lambda site, rest: site + "".join(rest), sites, st.lists(pieces, max_size=10)),
    )
)
@example("http://h.org/?b=2&a=1&a")
@example("http://h.org/?&")
@example("http://h.org/?a=&a")
@example("http://h.org/?b&a=%26&A=1")
@example("http://h.org/?a=b=c&a=b")
@example("http://h.org")
@example("http://h.org?q")
@example("http://h.org//?")
@example("http://h.org/%2")
@example("http://h.org/%")
@example("http://http://")
def test_the_surt_of_a_plain_uri_is_that_of_any_other(uri: str) -> None:
    by_package, compiled = PLAIN_SURT
    assert by_package(uri, str) is None  # so that the package is asked

    key = compiled(uri, _stem)
    assert key is None or key == _by_package(uri)


PLAIN_ID = pair("uri_ids.plain_id")


@given(
    st.one_of(
        st.text(max_size=40),
        st.text("ab/,)", max_size=300),
        st.text(st.characters(max_codepoint=127), max_size=300),
        st.builds(
            "".join,
            st.lists(st.sampled_from(["org,example)/", "a/b/", "?x=1", "ü", "x" * 60]), max_size=8),
        ),
    )
)
@example("\0" * 4)
@example("\0" * 5)
@example("ab" * 119)
@example("abcd" * 59)
def test_the_id_of_a_plain_surt_is_that_of_any_other(surt: str) -> None:
    by_package, compiled = PLAIN_ID
    assert by_package(surt) is None  # so that the package is asked
    assert compiled(surt) in (None, _id_by_package(surt))


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 47, 48, 238, 239, 240, 241, 700])
@pytest.mark.parametrize("letters", ["x", "ab", "\0", "ü"])
def test_short_and_long_surts_have_ids_of_the_package(size: int, letters: str) -> None:
    surt = (letters * size)[:size]
    expected = _id_by_package(surt) if 4 <= size <= 239 and surt.isascii() else None
    assert PLAIN_ID[1](surt) == expected


def test_the_id_of_a_surt_does_not_depend_on_those_before() -> None:
    """Many more grams than the scanner keeps."""
    surts = [f"{number * 7919:08x}{number * 104729:08x}" for number in range(1 << 15)]
    ids = [*map(PLAIN_ID[1], surts)]
    assert [*map(PLAIN_ID[1], surts[:5_000])] == ids[:5_000]
    assert ids[::1_000] == [*map(_id_by_package, surts[::1_000])]


CONCATENATED = pair("resolution.concatenated")
odd_references = st.lists(
    st.sampled_from(
        [
            "http://",
            "https://",
            "a.org",
            "xn--",
            "/",
            "//",
            ".",
            "..",
            "?",
            "#",
            "%2e",
            "%2F",
            "%",
            ":",
            "\u00e9",
            "\ud800",
            "\0",
            "a",
            "~",
        ]
    ),
    max_size=8,
)


@given(
    references | from_above | odd_references.map("".join),
    st.sampled_from([None, "http://h.org"]),
    st.sampled_from([None, "http://h.org/d/"]),
)
def test_the_target_of_a_plain_reference_is_that_of_the_parser(
    reference: str, origin: str | None, directory: str | None
) -> None:
    by_parser, compiled = CONCATENATED
    assert by_parser(reference, origin, directory) is None  # so that the parser is asked
    found = compiled(reference, origin, directory)
    if found is not None:
        target, scope = found
        assert target == ada_url.join_url("http://h.org/d/", reference).partition("#")[0]
        assert scope is class_of(reference, "http")


TALLY = pair("bounds.tally")
pieces_of_html = st.sampled_from(
    re.findall(
        "[^ ]+ ?",
        "<a  <b> </b> <svg> <link> <body  x = ' \" / > < </ <!-- --> <p> </p> <template> y=z "
        "</svg  <BR/> \0 <html\tq> <I> </i>",
    )
)


@given(
    st.lists(pieces_of_html, max_size=30).map("".join),
    st.sampled_from([1, 2, 3, 1000]),
    st.sampled_from([500, 2000, 10**9]),
)
def test_costs_of_a_page_are_equal_in_both_forms(page: str, attributes: int, memory: int) -> None:
    in_python, compiled = TALLY
    html = page.encode()
    assert compiled(html, attributes, memory) == in_python(html, attributes, memory)


NESTING = pair("bounds.nesting")
pieces_that_nest = st.sampled_from(
    re.findall(
        "[^ ]+ ?",
        "<a  <b> <b> </b> </B> <select> <select  </select> <option> </option> <optgroup> <script> "
        "</script> </scrip <title> </TITLE> <!-- <!-- > --> --!> - <div> <div> </div> <svg  "
        "<plaintext> </ </> <? <br> x = ' \" / > < <p> </p> <frameset y=z <div/> \0 <noscript> é",
    )
)


@given(st.lists(pieces_that_nest, max_size=30).map("".join))
def test_the_nesting_of_a_page_is_equal_in_both_forms(page: str) -> None:
    in_python, compiled = NESTING
    assert compiled(page.encode()) == in_python(page.encode())


BUT_PLAIN_LINKS = pair("plain_links.but_plain_links")
references_in_html = st.sampled_from(
    ["x", "/\u00e9", "#", "javascript:x", " y", "", "a&#31;b", "\u20ac&#31;"]
)
words_in_html = st.text("ab \t\n\u00a0\u200e\u20ac", max_size=6)
anchors = st.builds(
    lambda reference, words, rel, more: f'<a href="{reference}" rel="{rel}">{words}{more}</a>',
    references_in_html,
    words_in_html,
    words_in_html,
    st.sampled_from(["", "<b>c</b>", "<!-- -->"]),
)


@given(
    st.lists(
        anchors
        | st.sampled_from(["<a href>", "<a>", "<img src=y>", "<base href=z>", "<template>", "<p>"]),
        max_size=8,
    ).map("".join),
    st.integers(0, 5),
    st.integers(0, 5),
)
def test_links_of_a_page_are_equal_in_both_forms(page: str, most: int, longest: int) -> None:
    def taken(walk: Function) -> tuple[list[str], list[tuple[object, ...]]]:
        root = LexborHTMLParser(page).root
        assert root is not None
        links: list[str] = []
        nodes = root.traverse()
        others = walk(nodes, _elements(DEFAULT_KINDS), _A, _CLOSER_LOOK, links, most, longest)
        return links, [
            (len(links), element, attributes, node.html) for node, element, attributes in others
        ]

    in_python, compiled = BUT_PLAIN_LINKS
    assert taken(compiled) == taken(in_python)


READ_BLOCKS = pair("text_blocks.read_blocks")
text_pieces = st.sampled_from(
    [
        *("<p>", "<li>", "<pre>", "</pre>", "<br>", "<a href=x>", "<a b>", "</a>", "<b c='d'>"),
        *("<img alt=' e'>", "<a<b hidden>", "<!-- > -->", "f", " ", "\n\n", "&lt;", "&nbsp;"),
        "\u20ac",
    ]
)


@given(st.lists(text_pieces, max_size=30).map("".join), st.integers(0, 30))
def test_blocks_of_a_page_are_equal_in_both_forms(page: str, most: int) -> None:
    body = LexborHTMLParser(page).body
    html = (body.inner_html if body else None) or ""
    in_python, compiled = (read(html, _WITH_LINKS, _KINDS, str.upper, most) for read in READ_BLOCKS)
    assert compiled == in_python


TAKE_PLAIN = pair("cdx.take_plain")
SHARE_PLAIN = pair("cdx.share_plain")


def row_of(line: bytes) -> cdx.Row | None:
    """Return the row of a line as `parse_row` reads it; None if it is no capture or its timestamp
    is changed.
    """
    try:
        capture = parse_row(line)
    except CdxError:
        return None
    details = (
        capture.refers_to_uri,
        capture.refers_to_timestamp,
        capture.location,
        capture.profile,
        "" if capture.repeated is None else cdx.format_repeated(capture.repeated),
    )
    return (
        capture.key.encode(),
        capture.timestamp.encode(),
        capture.original.encode(),
        capture.checksum.encode(),
        b"%d" % capture.length,
        b"%d" % capture.offset,
        capture.file.encode(),
        capture.what,
        details if any(details) else None,
        capture.languages.encode(),
    )


def shared_by(line: bytes) -> bytes | None:
    """Return the archive file of a line by the scanner; None if it leaves the line."""
    file = cdx.file_of(line)
    shared: defaultdict[int, list[bytes]] = defaultdict(list)
    end = SHARE_PLAIN[1]([line], 0, {file: 7}, cdx.what_of, shared)
    assert end == bool(shared) == TAKE_PLAIN[1]([], [line], 0, cdx.what_of, True)
    assert not shared or shared == {7: [line.removesuffix(b"\n") + b"\n"]}
    return file if end else None


@given(
    st.lists(st.tuples(lines_of_any_kind, st.sampled_from(["", "\n", "\r\n", "\r"])), max_size=8),
    st.booleans(),
)
def test_plain_rows_are_those_of_the_row_parser(
    written: list[tuple[str, str]], is_usual: bool
) -> None:
    lines_of_file = [(line + end).encode() for line, end in written]
    for start in range(len(lines_of_file)):
        rows: list[cdx.Row] = []
        end = TAKE_PLAIN[1](rows, lines_of_file, start, cdx.what_of, is_usual)
        assert rows == [row_of(taken) for taken in lines_of_file[start:end]]
    for line in lines_of_file:
        row = row_of(line)
        assert shared_by(line) in (None, row and row[6])


PLAIN_CDXJ = (
    b'h)/ 20140102030405 {"url": "http://h/", "mime": "text/html", "status": "200", '
    b'"digest": "sha1:C2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A", "length": "7", "offset": "5", '
    b'"filename": "f.warc", "type": "response", "more": 12, "some": null, "is": true}\n'
)
PLAIN_CDX = (
    b"h)/ 20140102030405 http://h/ text/html 200 C2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - - 7 5 f.warc\n"
)


@pytest.mark.parametrize("line", [PLAIN_CDX, PLAIN_CDXJ])
def test_a_plain_row_is_taken_and_a_damaged_one_is_never_read_otherwise(line: bytes) -> None:
    """Cut anywhere, and with any byte anywhere: the scanner reads what the row parser does, or
    leaves it.
    """
    rows: list[cdx.Row] = []
    assert TAKE_PLAIN[1](rows, [line], 0, cdx.what_of, True) == 1
    assert rows == [row_of(line)]
    damaged = [line[:end] for end in range(len(line))]
    damaged += [
        line[:index] + bytes([byte]) + line[index + 1 :]
        for index in range(len(line))
        for byte in b'\0\n\r -"\\{},:0Az\x7f\x80\xff'
    ]
    damaged += [line[:index] + line[index + 1 :] for index in range(len(line))]
    for one in damaged:
        rows = []
        if TAKE_PLAIN[1](rows, [one], 0, cdx.what_of, True):
            assert rows == [row_of(one)], one
        assert shared_by(one) in (None, (row_of(one) or [b""] * 7)[6]), one


@pytest.mark.parametrize("length", [LONGEST_URI, LONGEST_URI + 1, LONGEST_ROW + 1])
@pytest.mark.parametrize("part", ["key", "original"])
def test_plain_rows_of_cdx_have_bounds(length: int, part: str) -> None:
    key, original = "h)/", "http://h/"
    if part == "key":
        key = key.ljust(length, "x")
    else:
        original = original.ljust(length, "x")
    row = f"{key} 20200101000000 {original} text/html 200 {'A' * 32} - - 9 9 f\n".encode()
    fits = len(row) <= LONGEST_ROW and len(original) <= LONGEST_URI
    rows: list[cdx.Row] = []
    assert TAKE_PLAIN[1](rows, [row], 0, cdx.what_of, True) == fits
    assert len(rows) == fits


DAYS = (
    ["0001", "1900", "2000", "2023", "2024"],
    ["00", "01", "02", "04", "12", "13"],
    ["00", "01", "28", "29", "30", "31", "32", "1x", "+1"],
)


def test_plain_rows_have_days_of_the_calendar_only() -> None:
    end = b" http://h/ text/html 200 C2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - - 7 5 f.warc"
    days = [f"{year}{month}{day}" for year in DAYS[0] for month in DAYS[1] for day in DAYS[2]]
    for time in [day + "235959" for day in days] + [
        "20240229" + time for time in ("240000", "006000", "000060", "00000", "0000000")
    ]:
        line = b"k " + time.encode() + end
        try:
            is_time = normal_timestamp(time)[0] == time
        except TimestampError:
            is_time = False
        assert TAKE_PLAIN[1]([], [line], 0, cdx.what_of, True) == is_time, time


TAKE = pair("shuffle.take")
CANDIDATE = pair("shuffle.candidate")
REDUCE_GROUPS = pair("shuffle.reduce_groups")


def mapped(
    take: Function, rows: Sequence[bytes], rules: Rules, block: int
) -> tuple[list[Pair], Counter[Reason]]:
    """Return the output of a mapper for some rows, a few at a time."""
    counts: Counter[Reason] = Counter()
    mapper = Mapper(rules, counts, block, ())
    pairs: list[Pair] = []
    for start in range(0, len(rows), 4):
        for taken in read_row_lists(rows[start : start + 4], counts):
            take(mapper, taken, pairs)
    return [*pairs, *mapper.pairs(())], counts


@given(st.lists(lines, max_size=25), rule_sets, st.integers(1, 5))
def test_captures_for_the_shuffle_are_equal_in_both_forms(
    rows: list[bytes], rules: Rules, block: int
) -> None:
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


EARLIEST = pair("shuffle.earliest")


@given(st.lists(captures, max_size=8))
def test_the_earliest_captures_of_a_payload_are_equal_in_both_forms(
    some: list[tuple[bytes, ...]],
) -> None:
    in_python, compiled = EARLIEST
    assert compiled(iter(some)) == in_python(iter(some))


@given(st.lists(captures, max_size=6), st.lists(times, max_size=3))
def test_a_run_of_captures_is_one_value(
    run: list[tuple[bytes, ...]], revisits: list[bytes]
) -> None:
    in_python, compiled = CANDIDATE
    assert compiled(b"http://h/", run, revisits) == in_python(b"http://h/", run, revisits)


@given(st.lists(lines, max_size=25), rule_sets)
def test_captures_from_the_shuffle_are_equal_in_both_forms(rows: list[bytes], rules: Rules) -> None:
    in_python, compiled = REDUCE_GROUPS
    pairs = sorted(mapped(TAKE[0], rows, rules, 3)[0])

    def reduced(reduce: Callable[..., Iterator[Pair]]) -> tuple[list[Pair], Counter[Reason]]:
        counts: Counter[Reason] = Counter()
        return list(reduce(iter(pairs), counts, reduce_captures)), counts

    def key_by_key(pairs: Iterator[Pair], counts: Counter[Reason], _: Function) -> Iterator[Pair]:
        for key, group in groupby(pairs, itemgetter(0)):
            yield from reduce_captures(key, (value for _, value in group), counts)

    assert reduced(compiled) == reduced(in_python) == reduced(key_by_key)


@pytest.mark.parametrize("reduce", REDUCE_GROUPS)
def test_a_reducer_may_leave_values_unread(reduce: Function) -> None:
    def first_value(key: bytes, values: Iterator[bytes], _: Counter[Reason]) -> Iterator[Pair]:
        yield key, next(values)

    pairs = [
        (b"ma", b"1"),
        (b"ma", b"2"),
        (b"ma", b"3"),
        (b"mb", b"4"),
        (b"pc", b"5"),
        (b"pc", b"6"),
    ]
    assert list(reduce(iter(pairs), Counter(), first_value)) == [pairs[0], pairs[3], pairs[4]]


POSITIONS = pair("block_links.positions_of")


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6))
def test_positions_of_links_in_a_block_are_equal_in_both_forms(lists: list[list[int]]) -> None:
    in_python, compiled = POSITIONS
    assert compiled(lists, 6) == in_python(lists, 6)


NUMBER_LINKS = pair("block_links.number_links")
HOLD_POSTINGS = pair("block_links.hold_postings")
POSTING_ROWS = pair("block_links.posting_rows")
links_of_pages = st.lists(
    st.tuples(
        st.sampled_from(["a@href", "img@src"]),
        references,
        st.sampled_from(["", "x", '"ü\\']),
        st.sampled_from([None, "nofollow"]),
    ).map(format_link),
    max_size=8,
)
originals = st.sampled_from(
    [
        "http://h.org/a/b.html",
        "http://h.org/a/c.html?q",
        "http://h.org/d/",
        "https://i.org/",
        "no uri",
    ]
)


def numbered(number: Function, pages: Sequence[tuple[str, list[str]]]) -> list[object]:
    """Return the result for the links of the pages of one block, and the remembered state."""
    codes: dict[str, int] = {}
    number_of: dict[bytes, int] = {}
    found: list[Link] = []
    counts: Counter[Reason] = Counter()
    results = []
    kept = []
    for original, written in pages:
        origin, directory = TargetCache(()), TargetCache(())
        page = Page(Checksum("A"), 0, "f", 0, "utf-8", None, [UriR(original)], written, {})
        results.append(
            number(
                written,
                codes,
                number_of,
                found,
                origin,
                directory,
                _Follow(page, UriR(original), counts),
            )
        )
        kept += [origin.links, origin.targets, directory.links, directory.targets]
        codes.clear()
    return [results, number_of, found, counts, kept]


@given(st.lists(st.tuples(originals, links_of_pages), max_size=4))
def test_links_of_a_block_are_equal_in_both_forms(pages: list[tuple[str, list[str]]]) -> None:
    in_python, compiled = NUMBER_LINKS
    assert numbered(compiled, pages) == numbered(in_python, pages)


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.sampled_from([b"a", b"b"]),
                st.sampled_from([b"[1", b"[2"]),
                st.lists(st.integers(0, 3), min_size=1),
            ),
            max_size=6,
        )
    )
)
def test_postings_of_blocks_are_equal_in_both_forms(
    blocks: list[list[tuple[bytes, bytes, list[int]]]],
) -> None:
    def held(hold: Function, rows: Function) -> list[bytes]:
        postings: dict[bytes, dict[bytes, list[bytes]]] = {}
        for number, block in enumerate(blocks):
            hold(
                postings,
                [(b"", head, key, 0) for key, head, _ in block],
                [positions for _, _, positions in block],
                b'"%d"' % number,
            )
        return list(rows(postings))

    if blocks:  # one link with more positions than its target's key may have
        blocks[-1].append((b"a", b"[1", list(range(100))))
    (hold, compiled_hold), (rows, compiled_rows) = HOLD_POSTINGS, POSTING_ROWS
    assert held(compiled_hold, compiled_rows) == held(hold, rows)


PLAIN_WARC_HEAD = pair("heads.plain_warc_head")
PLAIN_HTTP_HEAD = pair("heads.plain_http_head")
parts_of_heads = st.sampled_from(
    [b"\n", b"\r\n", b"\r\n\r\n", b"\r", b":", b" ", b"\t", b"Date", b"a b", b"\xe9", b"\0", b"x"]
)
beginnings = st.sampled_from(
    [b"WARC/1.0\r\n", b"warc/0.18 \t\n", b"WARC/2.0\n", b"WARC/1.\n", b"WARC/1.1x\n", b"", b"WA"]
)
status_lines = st.sampled_from(
    [
        b"HTTP/1.1 200 OK",
        b"http/2  404",
        b"HTTP/1.1\t200",
        b"HTTP/1.1 100",
        b"HTTP/1.1 2000",
        b"HTT",
    ]
)
heads = st.lists(parts_of_heads, max_size=20).map(b"".join)


@given(st.builds(bytes.__add__, beginnings, heads))
@example(b"WARC/1.0\r\nA : b: c \r\nnone\r\nA:\r\n\r\nbody")
@example(b"WARC/1.1\nA: b\nA: b\n\n")
def test_plain_warc_heads_are_equal_in_both_forms(data: bytes) -> None:
    in_python, compiled = PLAIN_WARC_HEAD
    assert compiled(data) == in_python(data)


@given(st.builds(bytes.__add__, status_lines, heads), st.integers(0, 5), st.integers(0, 60))
@example(b"HTTP/1.1 200 OK\r\nA : b: c \r\nnone\r\nA:\r\n\r\nbody", 0, 60)
@example(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 0, 25)
def test_plain_http_heads_are_equal_in_both_forms(data: bytes, begin: int, stop: int) -> None:
    data = b"#" * begin + data
    in_python, compiled = PLAIN_HTTP_HEAD
    assert compiled(data, begin, stop) == in_python(data, begin, stop)


PACK_NUMBER_ROWS = pair("byte_layouts.pack_number_rows")
UNPACK_NUMBERS = pair("byte_layouts.unpack_numbers")
UNPACK_FEW = pair("byte_layouts.unpack_few")
UNPACK_ENDS = pair("byte_layouts.unpack_ends")
UNPACK_STEPS = pair("byte_layouts.unpack_steps")
numbers_of_any_size = st.one_of(st.integers(0, 300), st.integers(0, 2**62))


@given(st.lists(st.lists(numbers_of_any_size, max_size=5), max_size=60), st.integers(0, 2))
def test_rows_of_numbers_are_equal_in_both_forms(rows: list[list[int]], more: int) -> None:
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


@pytest.mark.parametrize("unpack", [*UNPACK_FEW, *UNPACK_NUMBERS, *UNPACK_ENDS, *UNPACK_STEPS])
def test_a_number_of_too_many_bits_is_refused(unpack: Function) -> None:
    assert list(unpack(b"\xff" * 8 + b"\x7f"))[-1] in (2**63 - 1, -(2**62))  # the latter: a step
    with pytest.raises(ValueError, match="63 bits"):
        unpack(b"\1" + b"\xff" * 9 + b"\1")


@pytest.mark.parametrize("pack", PACK_NUMBER_ROWS)
def test_a_row_may_not_end_after_the_numbers(pack: Function) -> None:
    with pytest.raises(IndexError, match="2 of 1 numbers"):
        pack(np.array([1]), np.array([2]))


BORDERS_OF = pair("byte_layouts.borders_of")
STRINGS_AT = pair("byte_layouts.strings_at")


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=5),
        max_size=40,
    ),
    st.data(),
)
def test_chosen_strings_are_equal_in_both_forms(strings: list[str], data: st.DataObject) -> None:
    packed = "\n".join(strings).encode()
    borders, compiled_borders = (borders_of(packed) for borders_of in BORDERS_OF)
    assert compiled_borders == borders
    indexes = data.draw(st.lists(st.integers(0, len(borders) - 2), max_size=10))
    strings_at, compiled_at = STRINGS_AT
    assert compiled_at(packed, borders, indexes) == strings_at(packed, borders, indexes)
    for function in STRINGS_AT:
        for index in (-1, len(borders) - 1):
            with pytest.raises(IndexError):
                function(packed, borders, [index])


@pytest.mark.parametrize("function", STRINGS_AT)
def test_a_string_that_is_not_utf_8_is_refused(function: Function) -> None:
    with pytest.raises(UnicodeDecodeError):
        function(b"a\n\xff", [-1, 1, 3], [1])


UNPACK_POSTINGS = pair("inlink_numbers.unpack_postings")


groups_of_numbers = st.lists(
    numbers_of_any_size.map(lambda number: number >> 24), min_size=1, max_size=6, unique=True
).map(sorted)


@given(st.lists(groups_of_numbers, min_size=1, max_size=6))
def test_inlinks_of_a_row_are_equal_in_both_forms(groups: list[list[int]]) -> None:
    first = min(number for group in groups for number in group)
    counts = pack_numbers([len(group) for group in groups])
    steps = pack_numbers(
        [number - before for group in groups for before, number in pairwise([first, *group])]
    )
    found, compiled = (unpack(counts, steps, first, len(groups)) for unpack in UNPACK_POSTINGS)
    assert (
        compiled
        == found
        == sorted((number, index) for index, group in enumerate(groups) for number in group)
    )
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


CONTENTS_OF = pair("inlink_numbers.contents_of")
blocks_of_a_batch: dict[str, Numbered] = {
    "a": range(7, 12),
    "b": [40, OLD, 42],
    "c": [OLD],
    "d": [],
}
sources_of_a_head = st.lists(
    st.tuples(st.sampled_from("abcd"), st.lists(st.integers(0, 4), max_size=3)).map(list),
    max_size=3,
)


@given(
    st.lists(
        st.tuples(
            st.text(max_size=2),
            st.text(max_size=3),
            st.none() | st.text(max_size=2),
            sources_of_a_head,
        ).map(list),
        max_size=4,
    ),
    st.booleans(),
    st.booleans(),
)
def test_contents_of_inlinks_are_equal_in_both_forms(
    links: list[list[Any]], has_repeats: bool, is_odd: bool
) -> None:
    def grouped(group: Function) -> object:
        try:
            return group(links, blocks_of_a_batch, has_repeats, pack_head if is_odd else None)
        except LookupError as error:
            return str(error), type(error.__cause__)

    in_python, compiled = CONTENTS_OF
    assert grouped(compiled) == grouped(in_python)


@pytest.mark.parametrize("function", CONTENTS_OF)
@pytest.mark.parametrize(
    ("block", "position"),
    [("a", -1), ("a", 5), ("a", 2**63), ("b", -1), ("b", 3), ("b", -(2**63) - 1), ("e", 0)],
)
def test_a_missing_content_is_an_error_that_names_its_block(
    function: Function, block: str, position: int
) -> None:
    with pytest.raises(LookupError, match=block):
        function([["k", "t", None, [[block, [position]]]]], blocks_of_a_batch, False, None)


PACK_SHA1 = pair("byte_layouts.pack_sha1")
UNPACK_SHA1 = pair("byte_layouts.unpack_sha1")


@given(
    st.one_of(
        st.text("ABYZ2367", min_size=32, max_size=32),
        st.text("AZ27189aü\u2160\n", min_size=30, max_size=33),
        st.text(),
    )
)
def test_bytes_of_a_checksum_are_equal_in_both_forms(digest: str) -> None:
    packed = PACK_SHA1[1](digest)
    assert packed == PACK_SHA1[0](digest)
    if packed:
        assert UNPACK_SHA1[1](packed) == UNPACK_SHA1[0](packed) == digest


def test_each_compiled_form_is_held_to_its_function() -> None:
    assert sorted(HELD) == sorted(native.PAIRS)
