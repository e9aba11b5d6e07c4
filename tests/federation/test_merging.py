"""Merging is a union in every part, and keeps different links separate."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.answers import LinkAnswer
from arclink.access.archives import ArchiveReport, Outcome, Refused
from arclink.access.formats import FORMATS
from arclink.access.formats.table import write_table
from arclink.access.queries import BadParameterError, Direction
from arclink.access.reader import MementoSummary
from arclink.known import KnownLinks
from arclink.model import Kind, Timestamp, UriR
from arclink.others.federation.instance_answers import (
    ReceivedAnswer,
    ReceivedLink,
    accepted_findings,
    parse_json_answer,
)
from arclink.others.federation.merge import (
    Findings,
    MergedQuery,
    SeenInForce,
    SeenLink,
    answer_of,
    merge,
)
from arclink.uris.surts import surt_of

A, B, C = "http://a.example/", "http://b.example/", "http://www.c.example/x|y"
TIMES = ("20091103011307", "20100130003005", "20110101000000")
ASKED = MergedQuery.from_parameters([("uri", A)])

told_links = st.builds(
    ReceivedLink,
    st.sampled_from([Direction.OUT, Direction.IN]),
    st.sampled_from([A, B, C, "https://b.example/", "mailto:x@b.example"]),
    st.sampled_from(["a@href", "img@src"]),
    st.sampled_from(["", "News", "اتصل ]]>", "\x00"]),
    st.sampled_from([None, "", "nofollow", "me nofollow"]),
    st.lists(st.sampled_from(TIMES), min_size=1, max_size=3).map(tuple),
    st.lists(st.sampled_from([A, "https://www.a.example/"]), max_size=2).map(tuple),
)


KNOWN_BY_NUMBERS = [KnownLinks(3, 0), KnownLinks(3, 2), KnownLinks(3, 3), KnownLinks(4, 0)]
ARCHIVES = ["olympics", "iraq", "egypt"]


@st.composite
def findings(draw: st.DrawFn) -> Findings:
    archive = draw(st.sampled_from(ARCHIVES))
    count = draw(st.integers(0, 3))
    summary = (
        MementoSummary(count, Timestamp(TIMES[0]), Timestamp(TIMES[1]), count, 0)
        if count
        else MementoSummary()
    )
    received = ReceivedAnswer(
        A,
        summary,
        None,
        (),
        draw(st.lists(told_links, max_size=5)),
        inlinks_known=draw(
            st.sampled_from(
                [None, KnownLinks.said(False), KnownLinks.said(True), *KNOWN_BY_NUMBERS]
            )
        ),
    )
    found, _ = accepted_findings(received, ASKED.query, archive)
    in_force = draw(
        st.sets(
            st.builds(
                SeenInForce,
                st.just(archive),
                st.just(UriR(A)),
                st.just(Timestamp(TIMES[0])),
                st.just("200"),
                st.booleans(),
            )
        )
    )
    return replace(found, in_force=frozenset(in_force))


@settings(deadline=None)
@given(findings())
def test_an_answer_merged_with_itself_is_itself(found: Findings) -> None:
    assert merge([found, found]) == merge([found]) == found


@pytest.mark.costly
@settings(deadline=None, max_examples=50)
@given(findings(), findings(), findings())
def test_order_and_grouping_of_archives_do_not_matter(
    one: Findings, two: Findings, three: Findings
) -> None:
    assert (
        merge([one, two, three])
        == merge([three, one, two])
        == merge([merge([one, two]), three])
        == merge([one, merge([two, three]), one])
    )


@pytest.mark.costly
@settings(deadline=None, max_examples=50)
@given(findings(), findings(), st.sampled_from(list(FORMATS)))
def test_what_is_written_of_an_answer_merged_with_itself_is_the_same(
    one: Findings, two: Findings, name: str
) -> None:
    reports = [ArchiveReport(name, Outcome.ANSWERED) for name in ARCHIVES]

    def written(*found: Findings) -> bytes:
        return b"".join(FORMATS[name].write(answer_of(merge(found), ASKED, reports)))

    assert written(one, two) == written(two, one, two, one)


def found_in(archive: str, *links: ReceivedLink) -> Findings:
    return accepted_findings(ReceivedAnswer(A, None, None, (), links), ASKED.query, archive)[0]


def link(
    uri: str,
    text: str,
    *times: str,
    kind: str = "a@href",
    rel: str | None = None,
    direction: Direction = Direction.OUT,
) -> ReceivedLink:
    return ReceivedLink(direction, uri, kind, text, rel, times, (A,))


def document(answer: LinkAnswer) -> dict[str, list[dict[str, object]]]:
    (written,) = FORMATS["json"].write(answer)
    found: dict[str, list[dict[str, object]]] = json.loads(written)
    return found


def test_one_link_in_two_archives_is_one_member_with_both_named_and_times_united() -> None:
    one = found_in("olympics", link(B, "News", TIMES[0], TIMES[1], rel="nofollow"))
    other = found_in("iraq", link("https://www.b.example/", "News", TIMES[1], TIMES[2], rel="me"))
    (member,) = document(answer_of(merge([one, other]), ASKED, ()))["outlinks"]
    assert member == {
        "uri": B,
        "surt": "example,b)/",
        "kind": "a@href",
        "text": "News",
        "rel": "me nofollow",
        "timestamps": list(TIMES),
        "sources": [A],
        "uris": [B, "https://www.b.example/"],
        "archives": {"iraq": [TIMES[1], TIMES[2]], "olympics": [TIMES[0], TIMES[1]]},
    }


@pytest.mark.parametrize(
    "other",
    [
        link(B, "Olds", TIMES[0]),
        link(B, "News", TIMES[0], kind="area@href"),
        link(C, "News", TIMES[0]),
        link(B, "News", TIMES[0], direction=Direction.IN),
    ],
    ids=["text", "kind", "target", "direction"],
)
def test_links_that_differ_are_two(other: ReceivedLink) -> None:
    assert len(merge([found_in("x", link(B, "News", TIMES[0])), found_in("y", other)]).links) == 2


def test_mementos_of_archives_add_up() -> None:
    one = Findings(
        mementos={"x": MementoSummary(2, Timestamp(TIMES[1]), Timestamp(TIMES[2]), 2, 1)}
    )
    other = Findings(
        mementos={
            "y": MementoSummary(3, Timestamp(TIMES[0]), Timestamp(TIMES[1]), 1, 1),
            "z": MementoSummary(),
        }
    )
    assert answer_of(merge([one, other]), ASKED, ()).mementos == MementoSummary(
        5, Timestamp(TIMES[0]), Timestamp(TIMES[2]), 3, links_known=1, perhaps_known=1
    )  # they do not say whether they have read the same capture


@pytest.mark.parametrize(
    ("said", "is_known"),
    [
        ([False, False], False),
        ([False, True], True),
        ([False, None], None),
        ([None, True], True),
        ([], None),
    ],
    ids=str,
)
def test_inlinks_are_unknown_only_if_every_archive_says_so(
    said: list[bool | None], is_known: bool | None
) -> None:
    found = [
        accepted_findings(
            parse_json_answer(
                json.dumps({"uri": A, "outlinks": [], "inlinks": [], "inlinks_known": one}).encode()
            ),
            ASKED.query,
            str(number),
        )[0]
        for number, one in enumerate(said)
    ]
    assert answer_of(merge(found), ASKED, ()).inlinks_known(are_found=False) is is_known


def test_a_page_ends_before_it_is_too_large_and_the_next_one_continues() -> None:
    long = UriR(f"{A}?{'x' * 60_000}")
    seen = SeenLink(
        frozenset([long]),
        frozenset([UriR(B)]),
        frozenset([None]),
        {"x": frozenset([Timestamp(TIMES[0])])},
    )
    source, target = surt_of(A), surt_of(B)
    found = Findings({(source, target, Kind("a@href"), f"{n:04}"): seen for n in range(1_000)})
    texts = []
    parameters = [("uri", A)]
    while True:
        answer = answer_of(found, MergedQuery.from_parameters(parameters), [])
        members = tuple(answer.outlinks)
        assert len(members) < 600
        texts += [member.text for member in members]
        if answer.next is None:
            break
        parameters = [("uri", A), ("cursor", answer.next)]
    assert texts == [f"{n:04}" for n in range(1_000)]


def test_pages_lead_through_all_members_once() -> None:
    links = [
        link(f"http://x.example/{number}", str(number % 2), TIMES[number % 3])
        for number in range(7)
    ]
    links += [
        link(f"http://y.example/{number}", "in", TIMES[0], direction=Direction.IN)
        for number in range(3)
    ]
    found = found_in("x", *links)
    parameters = [("uri", A), ("limit", "2")]
    given_out, given_in, asked = [], [], MergedQuery.from_parameters(parameters)
    for _ in range(10):
        answer = answer_of(found, asked, ())
        given_out += [member.uri for member in answer.outlinks]
        given_in += [member.uri for member in answer.inlinks]
        if answer.next is None:
            break
        asked = MergedQuery.from_parameters([*parameters, ("cursor", answer.next)])
    assert sorted(given_out) == [f"http://x.example/{number}" for number in range(7)]
    assert sorted(given_in) == [f"http://y.example/{number}" for number in range(3)]


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        pytest.param([("uri", A), ("limit", "0")], "limit", id="unlimited"),
        pytest.param([("uri", A), ("cursor", "x")], "cursor", id="no cursor"),
        pytest.param([("uri", A), ("cursor", "x"), ("cursor", "y")], "cursor", id="two cursors"),
        pytest.param([("uri", A), ("format", "x")], "format", id="unknown"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: list[tuple[str, str]], name: str) -> None:
    with pytest.raises(BadParameterError) as error:
        MergedQuery.from_parameters(parameters)
    assert error.value.name == name


def test_a_cursor_of_another_query_is_refused() -> None:
    found = found_in("x", link(B, "1", TIMES[0]), link(C, "2", TIMES[0]))
    behind = answer_of(found, MergedQuery.from_parameters([("uri", A), ("limit", "1")]), ()).next
    assert behind is not None
    with pytest.raises(BadParameterError, match="same query"):
        MergedQuery.from_parameters([("uri", B), ("cursor", behind)])


def test_the_table_says_what_each_archive_did() -> None:
    reports = [
        ArchiveReport(
            "iraq",
            Outcome.ANSWERED,
            members=1,
            is_cached=True,
            refused={Refused.NO_TIME: 2, Refused.BAD_TIME: 5},
        ),
        ArchiveReport("lost", Outcome.FAILED, "no answer \x1b[31m", seconds=1.25),
        ArchiveReport("big", Outcome.PARTIAL, "it has more", 3),
    ]
    table = b"".join(
        FORMATS["table"].write(
            answer_of(found_in("iraq", link(B, "News", TIMES[0])), ASKED, reports)
        )
    ).decode()
    assert (
        "iraq: answered, 1 link, as before, "
        "refused: link without a time that counts (2); no point in time (5) (0.0 s)\n"
    ) in table
    assert "lost: failed (1.2 s): no answer \ufffd[31m\n" in table
    assert "big: partial, 3 links (0.0 s): it has more\n" in table
    assert "News  iraq      http://b.example/" in table


def test_one_capture_of_two_archives_is_in_force_once() -> None:
    """Its links are known if one of the archives knows them."""
    query = MergedQuery.from_parameters([("uri", A), ("at", "2010")])
    copies = [
        SeenInForce(archive, UriR(A), Timestamp("20091103011307"), "200", archive == "iraq")
        for archive in ("games", "iraq", "olympics")
    ]
    other = SeenInForce(
        "iraq", UriR("https://a.example/"), Timestamp("20091103011307"), "200", False
    )
    found = answer_of(Findings(in_force=frozenset([*copies, other])), query, [])
    assert [(one.memento.original, one.is_known) for one in found.in_force] == [
        (A, True),
        ("https://a.example/", False),
    ]


def test_at_a_time_a_newer_capture_of_another_archive_replaces_an_older_one() -> None:
    query = MergedQuery.from_parameters([("uri", A), ("at", "201006"), ("direction", "both")])
    old, new = Timestamp(TIMES[0]), Timestamp(TIMES[1])
    links = {
        (surt_of(A), surt_of(uri), Kind("a@href"), ""): SeenLink(
            frozenset([UriR(A)]),
            frozenset([UriR(uri)]),
            frozenset([None]),
            {name: frozenset([time]) for name, time in seen.items()},
        )
        for uri, seen in ((B, {"iraq": old, "games": new}), (C, {"iraq": old}))
    }
    inlink = SeenLink(
        frozenset([UriR(B)]), frozenset([UriR(A)]), frozenset(), {"iraq": frozenset([old])}
    )
    links[surt_of(B), surt_of(A), Kind("a@href"), ""] = inlink
    in_force = frozenset(
        SeenInForce(archive, UriR(A), time, "200", True)
        for archive, time in (("iraq", old), ("games", new))
    )
    answer = answer_of(Findings(links, in_force=in_force), query, [])
    assert [one.memento.timestamp for one in answer.in_force] == [new]
    assert [(one.uri, one.timestamps) for one in answer.outlinks] == [(B, (new,))]
    assert [(one.uri, one.timestamps) for one in answer.inlinks] == [(B, (old,))]


def test_a_table_says_that_mementos_are_added_up() -> None:
    known = MementoSummary(1, Timestamp(TIMES[0]), Timestamp(TIMES[0]), 1, 1)
    found = merge(Findings(mementos={name: known}) for name in ("x", "y"))
    answered, failed = (
        ArchiveReport(name, outcome)
        for name, outcome in (("x", Outcome.ANSWERED), ("y", Outcome.FAILED))
    )

    def table(*reports: ArchiveReport) -> str:
        return b"".join(write_table(answer_of(found, ASKED, reports))).decode()

    line = "Counts of mementos are those of all archives"
    assert line in table(answered, answered)
    assert line not in table(answered, failed)
