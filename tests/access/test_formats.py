"""Every format can be read back without loss by another reader, for any texts and URIs."""

import csv
import io
import json
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.answers import LinkAnswer, Member, answer_link_query
from arclink.access.formats import FORMATS
from arclink.access.formats.link_rows import anchors_as_rows
from arclink.access.levels import AnchorsQuery, answer_anchors
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.access.reader import Budget
from arclink.access.texts import cell, columns, cut_in_the_middle
from arclink.model import ALL_TIME, Span
from arclink.progress import shown_width
from tests.access.example_answers import NASTY, T1, T2, A, B, C, answer_of, member
from tests.store.memory_store import MemoryStore, Page, link


class OldStore(MemoryStore):
    """A store of an earlier version, which does not know its captures by time."""

    def days(self, span: Span = ALL_TIME) -> None:
        return None


def written(name: str, answer: LinkAnswer) -> bytes:
    return b"".join(FORMATS[name].write(answer))


def test_json_has_the_documented_shape() -> None:
    store = MemoryStore(
        [
            Page(A, T1, [link(B, "News")]),
            Page(A, T2, [link(B, "News")]),
            Page(C, T1, [link(A, "Official site", rel="nofollow")]),
        ]
    )
    answer = answer_link_query(store, LinkQuery.from_parameters([("uri", "a.example")]))
    document = json.loads(written("json", answer))
    assert len(document.pop("uri_id")) == 32
    assert document == {
        "uri": A,
        "surt": "example,a)/",
        "direction": "both",
        "mementos": {"count": 2, "first": T1, "last": T2, "asked": 2, "links_known": 2},
        "outlinks": [
            {
                "uri": B,
                "surt": "example,b)/",
                "kind": "a@href",
                "text": "News",
                "rel": None,
                "timestamps": [T1, T2],
                "sources": [A],
            }
        ],
        "inlinks": [
            {
                "uri": C,
                "surt": "example,c)/",
                "kind": "a@href",
                "text": "Official site",
                "rel": "nofollow",
                "timestamps": [T1],
                "targets": [A],
            }
        ],
        "inlinks_known": True,
        "inlinks_read_from": None,
        "order": {"outlinks": "grouped", "inlinks": "grouped"},
        "next": None,
    }


def test_json_says_what_is_in_force_at_a_time() -> None:
    store = MemoryStore(
        [Page(A, T1, [link(B)]), Page(A, T2, None, status="404", reason="MEMENTO_STATUS")]
    )
    document = json.loads(
        written(
            "json",
            answer_link_query(store, LinkQuery.from_parameters([("uri", A), ("at", "2011")])),
        )
    )
    assert document["in_force"] == [
        {"uri": A, "timestamp": T2, "status": "404", "links_known": False}
    ]
    assert document["outlinks"] == []
    assert (document["mementos"]["asked"], document["mementos"]["links_known"]) == (1, 0)


def test_json_lines_are_members_with_their_direction() -> None:
    lines = written("jsonl", answer_of([member(B, "x", T1)], [member(C, "y", T1, T2)])).splitlines()
    assert [json.loads(line)["direction"] for line in lines] == ["out", "in"]
    assert json.loads(lines[1])["targets"] == [A]


def test_csv_has_a_row_per_timestamp() -> None:
    document = written(
        "csv",
        answer_of(
            [member(B, 'a "b", c', T1, T2)],
            [member(C, "y", T1, rel="me", variants=(A, "http://x/a b"))],
        ),
    )
    rows = list(csv.DictReader(io.StringIO(document.decode(), newline="")))
    assert [(row["direction"], row["uri"], row["text"], row["timestamp"]) for row in rows] == [
        ("out", B, 'a "b", c', T1),
        ("out", B, 'a "b", c', T2),
        ("in", C, "y", T1),
    ]
    assert (rows[0]["rel"], rows[2]["rel"], rows[0]["sources"], rows[2]["targets"]) == (
        "",
        "me",
        A,
        f"{A} http://x/a%20b",
    )
    assert document.endswith(b"\r\n")


def test_csv_without_members_is_its_header() -> None:
    assert (
        written("csv", answer_of())
        == b"direction,uri,surt,kind,text,rel,timestamp,sources,targets\r\n"
    )


@pytest.mark.parametrize("name", sorted({*FORMATS} - {"parquet"}))
@pytest.mark.parametrize("text", NASTY)
def test_no_answer_holds_a_control_character(name: str, text: str) -> None:
    nasty = member(
        f"http://x.example/{text}", text, T1, kind="a@href", rel=text, variants=(f"{A}{text}",)
    )
    document = written(name, answer_of([nasty], [nasty], uri=A + text)).decode()
    allowed = {"\n", "\r"} if name in ("csv", "spreadsheet") else {"\n"}
    assert not [
        character
        for character in document
        if unicodedata.category(character) == "Cc" and character not in allowed
    ]


@pytest.mark.parametrize("name", [name for name in sorted(FORMATS) if not FORMATS[name].streams])
def test_a_format_that_does_not_stream_refuses_an_unlimited_query(name: str) -> None:
    with pytest.raises(
        BadParameterError,
        match="use one of rdfxml, turtle, ntriples, nquads, jsonld, jsonl, csv, spreadsheet, "
        "parquet, or",
    ):
        FORMATS[name].check(LinkQuery.from_parameters([("uri", A), ("limit", "0")]))


STREAMED = [name for name in sorted(FORMATS) if FORMATS[name].streams]


# Parquet is written in groups, and metadata has no members.
@pytest.mark.parametrize("name", [name for name in STREAMED if name not in ("parquet", "csvw")])
def test_a_format_that_streams_writes_a_member_before_it_reads_the_next(name: str) -> None:
    def members() -> Iterable[Member]:
        yield member(B, "one text", T1)
        raise AssertionError("read too far")

    query = LinkQuery.from_parameters([("uri", A), ("limit", "0")])
    FORMATS[name].check(query)
    pieces = FORMATS[name].write(
        replace(answer_of(is_grouped=False), query=query, outlinks=members())
    )
    assert any(b"one text" in piece for piece in pieces)


@pytest.mark.parametrize(
    ("store", "says", "out", "inward"),
    [
        pytest.param(
            MemoryStore(),
            "There are no captures of it to show",
            "unknown: there are no captures to show at that time",
            "unknown: there are no captures to show at that time",
            id="not captured",
        ),
        pytest.param(
            MemoryStore([Page(B, T1, [])]),
            "There are no captures of it to show",
            "unknown: there are no captures to show at that time",
            "none (read from 1 capture)",
            id="only others",
        ),
        pytest.param(
            MemoryStore([Page(A, T1, [])]),
            "1 memento, 2009-11-03 01:13:07 to 2009-11-03 01:13:07; the links of 1",
            "none (read from 1 capture)",
            "none (read from 1 capture)",
            id="no links",
        ),
        pytest.param(
            MemoryStore([Page(A, T1, None)]),
            "the links of 0 are known",
            "unknown: the links of the only capture at that time are not known",
            "unknown: the links of the only capture at that time are not known",
            id="not read",
        ),
        pytest.param(
            MemoryStore([Page(A, "20110101000000", [])]),
            "none in the time range",
            "unknown: there are no captures to show at that time",
            "unknown: there are no captures to show at that time",
            id="not in that range",
        ),
    ],
)
def test_the_table_distinguishes_not_captured_from_no_links(
    store: MemoryStore, says: str, out: str, inward: str
) -> None:
    table = written(
        "table", answer_link_query(store, LinkQuery.from_parameters([("uri", A), ("to", "2010")]))
    ).decode()
    assert says in table
    assert f"OUTLINKS: {out}\n" in table
    assert f"INLINKS: {inward}\n" in table


def test_with_a_time_captures_before_it_count_for_what_is_known() -> None:
    store = MemoryStore([Page(B, T1, [])])

    def lines(**times: str) -> str:
        parameters = [("uri", A), ("direction", "in"), *times.items()]
        return written(
            "table", answer_link_query(store, LinkQuery.from_parameters(parameters))
        ).decode()

    assert "INLINKS: none (read from 1 capture)\n" in lines(at="2015")
    assert "INLINKS: unknown: there are no captures to show by then\n" in lines(at="2001")


@pytest.mark.parametrize(
    ("store", "query", "is_known"),
    [
        pytest.param(MemoryStore(), "", False, id="nothing captured"),
        pytest.param(MemoryStore([Page(B, T1, [])]), "", True, id="none"),
        pytest.param(MemoryStore([Page(B, T1, [link(A)])]), "", True, id="some"),
        pytest.param(MemoryStore([Page(B, T1, [])]), "from=2011", False, id="other time"),
        pytest.param(MemoryStore([Page(B, T1, [])]), "at=2001", False, id="before"),
        pytest.param(MemoryStore([Page(B, T1, [])]), "at=2015", True, id="captures before count"),
        pytest.param(MemoryStore([Page(B, T1, [])]), "direction=out", None, id="not asked"),
        pytest.param(OldStore([Page(B, T1, [])]), "", None, id="times not known"),
        pytest.param(OldStore([Page(B, T1, [link(A)])]), "", True, id="shown all the same"),
    ],
)
def test_json_distinguishes_unknown_inlinks_from_none(
    store: MemoryStore, query: str, is_known: bool | None
) -> None:
    parameters = [("uri", A), *parse_qsl(query)]
    links = answer_link_query(store, LinkQuery.from_parameters(parameters))
    assert json.loads(written("json", links))["inlinks_known"] is is_known
    if query != "direction=out":
        anchors = anchors_as_rows(answer_anchors(store, AnchorsQuery.from_parameters(parameters)))
        assert anchors.about["inlinks_known"] is is_known
        assert ("Inlinks: unknown" in "".join(anchors.lines)) is (is_known is not True)


def test_a_page_of_many_without_links_says_that_it_is_not_the_end() -> None:
    store = MemoryStore([Page(f"http://a.example/{n}", T1, [link(B)]) for n in range(30)])
    query = LinkQuery.from_parameters(
        [("uri", A), ("matchType", "host"), ("direction", "out"), ("kinds", "img@src")]
    )
    short = answer_link_query(store, query, Budget(rows=50, empty_pages=0))
    assert "OUTLINKS: none so far\n" in written("table", short).decode()
    assert "OUTLINKS: none\n" in written("table", answer_link_query(store, query)).decode()


def test_table_columns_stay_straight_with_wide_combining_and_right_to_left_texts() -> None:
    from rich.cells import cell_len

    texts = ["News", "中文中文", "e\u0301te\u0301", "اتصل بنا", "a\u202eb", "x" * 60]
    lines = (
        written("table", answer_of([member(B, text, T1) for text in texts])).decode().split("\n")
    )
    rows = [line for line in lines if line.endswith(B)]
    assert {
        cell_len(row[: -len(B)].replace("\u2068", "").replace("\u2069", "")) for row in rows
    } == {119}
    assert f"\u2068{texts[3]}\u2069" in rows[3]
    assert "\u202e" not in "".join(rows)


@given(
    st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=5),
    st.sampled_from([60, 80, 120]),
)
def test_a_terminal_has_no_line_that_is_wider(rows: list[tuple[str, str, str]], width: int) -> None:
    from rich.cells import cell_len

    def lines() -> list[str]:
        return list(columns(("first seen", "text", "source"), rows))

    whole = lines()
    token = shown_width.set(width)
    try:
        cut = lines()
    finally:
        shown_width.reset(token)
    for line in cut:
        assert cell_len(line.replace("\u2068", "").replace("\u2069", "")) <= width
    if all(cell_len(line) <= width for line in whole):
        assert cut == whole


def test_a_narrow_terminal_shows_days_and_leaves_the_room_to_names() -> None:
    uri = f"http://www.example.org/{'x' * 30}.html"
    rows = [(uri, "2009-11-03 01:13:07", "2010-03-28 06:00:14")]
    shown = {}
    for width in (62, 120):
        token = shown_width.set(width)
        try:
            shown[width] = list(columns(("name", "first", "last"), rows))[1].split("  ")
        finally:
            shown_width.reset(token)
    assert shown[62] == [cut_in_the_middle(uri, 38), "2009-11-03", "2010-03-28"]
    assert shown[120] == list(rows[0])


def test_a_terminal_shows_host_and_end_of_a_long_uri() -> None:
    uri = f"http://www.example.org/{'x' * 100}/page.html"
    token = shown_width.set(80)
    try:
        table = written("table", answer_of([member(uri, "News " * 9, T1)])).decode()
    finally:
        shown_width.reset(token)
    (line,) = [line for line in table.splitlines() if "News" in line]
    assert "2009-11-03  " in line
    assert "http://www.e" in line
    assert line.endswith("page.html")
    assert len(line) <= 80


def test_a_file_and_a_wide_terminal_have_whole_names() -> None:
    names = [f"http://www.example.org/{'x' * length}.html" for length in (20, 40, 200)]
    rows = [(name, "12", "34") for name in names]
    head = ("name", "links", "pages")
    lines = list(columns(head, rows))
    assert [line.split()[0] for line in lines[1:]] == names
    assert lines[2].index("12") == lines[0].index("links")
    token = shown_width.set(120)
    try:
        wide = list(columns(head, rows))
        short = list(columns(head, rows[:2]))
    finally:
        shown_width.reset(token)
    assert [line.split()[0] for line in short[1:]] == names[:2]
    assert {len(line.rstrip()) for line in wide[1:]} == {120 - len("pages") + len("34")}
    assert wide[3].startswith(names[2][:50])
    assert "….html" not in wide[3]
    assert "x.html" in wide[3]


@given(st.text(), st.integers(1, 50))
def test_a_cell_is_as_wide_as_its_column(text: str, width: int) -> None:
    from rich.cells import cell_len

    assert cell_len(cell(text, width).replace("\u2068", "").replace("\u2069", "")) == width


anything = st.text(st.characters(), max_size=20)


@settings(max_examples=50)
@given(anything, anything)
def test_links_written_as_json_or_csv_read_back(text: str, path: str) -> None:
    answer = answer_of([member(f"http://x.example/{path}", text, T1)])
    (found,) = json.loads(written("json", answer))["outlinks"]
    (line,) = (json.loads(line) for line in written("jsonl", answer).split(b"\n") if line)
    (row,) = csv.DictReader(io.StringIO(written("csv", answer).decode(), newline=""))
    assert found["text"] == line["text"] == row["text"]
    assert found["uri"] == line["uri"] == row["uri"]
    if text.isprintable():
        assert found["text"] == text


def test_directions_are_out_then_in_in_every_format() -> None:
    for name in ("json", "jsonl", "csv", "rdfxml", "turtle", "ntriples", "nquads", "jsonld"):
        document = written(
            name, answer_of([member(B, "OUTTEXT", T1)], [member(C, "INTEXT", T1)])
        ).decode()
        assert document.index("OUTTEXT") < document.index("INTEXT"), name
    assert Direction.OUT.is_out
