"""Answers to questions about words and links through time, worked out by hand."""

from datetime import UTC, datetime, timedelta
from math import log10
from typing import Any

import pytest

from arclink.analysis.questions.asking import ask
from arclink.analysis.questions.queries import AskQuery
from tests.relations.rows import database_of
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, WWW = (
    "http://a.example/",
    "http://b.example/",
    "http://sub.b.example/x",
    "http://www.a.example/",
)
T1, T2, T3, T4, T5 = (
    "20100101000000",
    "20100131120000",
    "20100201000000",
    "20100515000000",
    "20110101000000",
)


def rows(pages: list[Page], name: str, *uris: str, **given: str) -> list[dict[str, Any]]:
    asked = [*(("uri", uri) for uri in uris), *given.items(), ("limit", "0")]
    with database_of(MemoryStore(pages)) as database:
        found: list[dict[str, Any]] = ask(
            database, AskQuery.from_parameters(asked, name=name)
        ).table.to_pylist()
    return found


# Survival

ENDED = {6: 3, 7: 1, 10: 1, 13: 1, 16: 1, 22: 1, 23: 1}
WENT_ON = {6: 1, 9: 1, 10: 1, 11: 1, 17: 1, 19: 1, 20: 1, 25: 1, 32: 2, 34: 1, 35: 1}
"""Remissions of leukaemia under 6-mercaptopurine (Freireich et al. 1963): weeks and patients, of
21; some went on when last seen.
"""

BEGIN = datetime(2000, 1, 1, tzinfo=UTC)


def test_survival_is_the_table_of_the_textbooks() -> None:
    """Kalbfleisch and Prentice, Kleinbaum and others; months for weeks."""
    pages = []
    for counts, is_end in ((ENDED, True), (WENT_ON, False)):
        for months, count in counts.items():
            last = BEGIN + timedelta(days=int(months * 30.436875))
            for number in range(count):
                page = f"{A}{is_end}/{months}/{number}"
                pages += [Page(page, f"{time:%Y%m%d%H%M%S}", [link(B)]) for time in (BEGIN, last)]
                gone = last + timedelta(seconds=1)
                pages += [Page(page, f"{gone:%Y%m%d%H%M%S}", [])] if is_end else []
    found = {row["months"]: row for row in rows(pages, "survival")}
    published = {6: 0.8571, 7: 0.8067, 10: 0.7529, 13: 0.6902, 16: 0.6275, 22: 0.5378, 23: 0.4482}
    assert {month: round(found[month]["share"], 4) for month in published} == published
    assert [found[month]["at_risk"] for month in published] == [21, 17, 15, 12, 11, 7, 6]
    assert [found[month]["gone"] for month in published] == [3, 4, 5, 6, 7, 8, 9]
    assert [*found] == [*range(36)]
    assert found[5]["share"] == 1
    assert found[5]["low"] is None
    assert found[35]["share"] == found[23]["share"]
    assert all(found[11][name] == found[11]["share"] for name in ("earliest", "latest"))


def test_a_link_that_goes_between_two_captures_ends_between_them() -> None:
    pages = [Page(A, T1, [link(B)]), Page(A, T3, [link(B)]), Page(A, T4, []), Page(A, T5, [])]
    found = rows(pages, "survival")
    assert [row["share"] for row in found] == [1, 1, 1]  # in the middle of 31 and 134 days
    assert [row["earliest"] for row in found] == [1, 1, 0]
    assert [row["at_risk"] for row in found] == [1, 1, 1]


@pytest.mark.parametrize(
    "after",
    [
        pytest.param([], id="never captured again"),
        pytest.param(
            [Page(A, T3, None), Page(A, T4, None, status="-")], id="captured again, but not read"
        ),
        pytest.param([Page(WWW, T3, [])], id="another page of the same SURT"),
    ],
)
def test_a_link_is_not_gone_until_a_capture_without_it(after: list[Page]) -> None:
    pages = [Page(A, T1, [link(B)]), Page(A, T2, [link(B)]), *after]
    assert [(row["at_risk"], row["gone"]) for row in rows(pages, "survival")] == [(1, 0), (1, 0)]
    assert sum(row["removed"] for row in rows(pages, "churn")) == 0


def test_an_error_page_ends_links() -> None:
    pages = [Page(A, T1, [link(B)]), Page(A, T1[:-1] + "2", None, status="404")]
    assert [row["gone"] for row in rows(pages, "survival", level="host")] == [1]


# Churn


def test_a_page_gains_and_loses_links_between_captures_with_known_links() -> None:
    pages = [
        Page(A, T1, [link(B), link(C), link("mailto:x@b.example")]),
        Page(A, T2, None),  # not read: in no comparison
        Page(A, T3, [link(B), link(B, "again"), link(f"{B}new")]),
        Page(A, T4, None, status="404"),
    ]
    first, *unknown, last = rows(pages, "churn", by="month")
    assert tuple(first.values()) == ("2010-02", "a.example", 1, 1, 31.0, 2, 1, 1, 1, 1)
    assert tuple(last.values()) == ("2010-05", "a.example", 1, 1, 103.0, 2, 0, 2, 1, 1)
    assert [tuple(row.values()) for row in unknown] == [
        ("2010-03", *[None] * 7, 0, 0),
        ("2010-04", *[None] * 7, 0, 0),
    ]


def test_churn_adds_up_over_pages_and_times() -> None:
    pages = [
        *(Page(name, T1, [link(C)]) for name in (A, WWW, f"{A}x")),
        *(Page(name, T3, []) for name in (A, f"{A}x")),
        Page(A, T5, [link(B), link(C), link(A)]),
    ]
    (whole,) = rows(pages, "churn", level="domain")
    assert tuple(whole.values()) == ("a.example", 2, 3, (31 + 31 + 334) / 3, 2, 3, 2)
    assert [tuple(row.values())[:3] for row in rows(pages, "churn", A, level="uri")] == [(A, 1, 2)]
    (external,) = rows(pages, "churn", external="true")
    assert (external["added"], external["removed"]) == (2, 2)


@pytest.mark.parametrize(
    ("name", "pages", "why"),
    [
        pytest.param("churn", [Page(A, T1, [link(B)])], "no page has two captures", id="churn"),
        pytest.param("diff", [Page(A, T1, [link(B)])], "no page has two captures", id="changed"),
        pytest.param("diff", [Page(A, T1, [link(B)]), Page(A, T2, [link(B)])], "", id="same"),
        pytest.param(
            "rising",
            [Page(A, T1, [link(B)]), Page(C, T5, [])],
            "no page with known links was captured both in 2010 and in 2011",
            id="rising",
        ),
        pytest.param(
            "new-anchors",
            [Page(A, T1, [link(B)]), Page(C, T5, [])],
            "no page with known",
            id="anchors",
        ),
        pytest.param("rising", [Page(A, T1, [link(B)]), Page(A, T5, [])], "", id="fewer"),
        pytest.param(
            "linkers", [Page(A, T1, None)], "the links of the only capture", id="not read"
        ),
        pytest.param("linkers", [Page(A, T1, [])], "", id="no links"),
        pytest.param("hosts", [Page(A, T1, None)], "", id="not about links"),
    ],
)
def test_nothing_to_compare_and_nothing_read_is_unknown(
    name: str, pages: list[Page], why: str
) -> None:
    with database_of(MemoryStore(pages)) as database:
        unknown = ask(database, AskQuery.from_parameters([], name=name)).unknown
    assert unknown.startswith(why)
    assert bool(unknown) is bool(why)


# First linkers

SPREAD = [
    Page(B, T1, [link(A, "first")]),
    Page(C, T1, []),
    Page(C, T3, [link(A, "dated")]),
    Page("http://b.example/other", T3, [link(A)]),
    Page("http://d.example/", T4, [link(A)]),
    Page(B, T5, [link(A, "again")]),
]


def test_first_linkers_are_in_the_period_of_their_first_link() -> None:
    of_year = rows(SPREAD, "first-linkers", A, by="month")
    found = [row for row in of_year if row["name"]]
    assert {row["period"] for row in of_year if not row["name"]} == {
        f"2010-{month:02}" for month in (3, 4, *range(6, 13))
    }
    assert [
        (row["period"], row["name"], row["last_without"], row["text"]) for row in found[:3]
    ] == [
        ("2010-01", B, None, "first"),
        ("2010-02", "http://b.example/other", None, ""),
        ("2010-02", C, T1, "dated"),
    ]
    assert [(row["period"], row["name"]) for row in found[3:]] == [("2010-05", "http://d.example/")]
    hosts = rows(SPREAD, "first-linkers", A, by="month", level="host")
    assert [(row["period"], row["name"], row["page"]) for row in hosts if row["name"]] == [
        ("2010-01", "b.example", B),
        ("2010-02", "sub.b.example", C),
        ("2010-05", "d.example", "http://d.example/"),
    ]


def test_what_linked_before_the_span_is_not_first_in_it() -> None:
    (only,) = rows(SPREAD, "first-linkers", A, **{"from": "201003"})
    assert only["name"] == "http://d.example/"


def test_only_the_kinds_of_the_question_are_counted() -> None:
    pages = [Page(B, T1, [link(A, kind="img@src")]), Page(C, T2, [link(A)])]
    assert [row["name"] for row in rows(pages, "first-linkers", A, kind="a@href")] == [C]


# Typical words

WORDS = [
    Page(
        "http://p.example/",
        "20100101000000",
        [link("http://a.example/", "Home"), link("http://b.example/", "Winter games")],
    ),
    Page(
        "http://q.example/",
        "20100201000000",
        [link("http://b.example/", "home"), link("http://c.example/x", "Winter")],
    ),
    Page(
        "http://q.example/",
        "20100301000000",
        [link("http://www.c.example/y", "Winter"), link("http://d.example/", "")],
    ),
]


def terms(pages: list[Page], *uris: str, **given: str) -> dict[str, dict[str, Any]]:
    return {row["term"]: row for row in rows(pages, "typical-anchors", *uris, **given)}


def test_tf_idf_is_count_times_log_of_documents_by_documents_with_the_term() -> None:
    words = terms(WORDS, B, scope="host", of="word")
    assert {word: row["df"] for word, row in words.items()} == {"home": 2, "winter": 2, "games": 1}
    assert words["home"]["tf_idf"] == pytest.approx(log10(3 / 2), abs=1e-4)
    often = [
        *WORDS,
        Page("http://p.example/", "20110101000000", [link("http://b.example/", "Home, home")]),
    ]
    assert terms(often, B, scope="host", of="word")["home"]["tf_idf"] == (
        pytest.approx(3 * log10(3 / 2), abs=1e-4)
    )
    whole = terms(WORDS, B)
    assert {text: row["df"] for text, row in whole.items()} == {"Winter games": 1, "home": 1}
    assert whole["home"]["tf_idf"] == pytest.approx(log10(4), abs=1e-4)
    assert {text: row["df"] for text, row in terms(WORDS, "http://c.example/x").items()} == {
        "Winter": 2
    }


@pytest.mark.parametrize(
    ("words", "found_in"),
    [
        ("barriers checkpoint", "title"),
        ('"checkpoint barriers"', "title"),
        ('"barriers checkpoint"', ""),
        ("CHECKPOINT cafe", "title"),
        ("barrier", ""),
        ("barrier* “point”", ""),
        ("barrier*", "title"),
        ("flinkforward", "address"),
        ("forward", "address"),
        ("FlínkForward.example/2016*", "address"),
        ("example.flinkforward", ""),
        ('"forward 2016"', "address"),
        ("node.js", "words"),
        ('"node js"', "words"),
        ("js.node", ""),
        ("京奥", "words"),
        ("奥京", ""),
    ],
)
def test_words_are_found_as_a_whole_and_parts_of_them_in_addresses(
    words: str, found_in: str
) -> None:
    pages = [
        Page(
            "http://www.flinkforward.example/2016/a.html",
            "20160101000000",
            [link("http://x.example/", "Node.js 北京奥运")],
            title="Checkpoint barriers, Café",
        ),
    ]
    found = rows(pages, "find", words=words)
    assert [row["found_in"] for row in found] == [found_in] * bool(found_in)


def test_a_term_that_every_target_has_weighs_nothing() -> None:
    links = [link(f"http://{host}.example/", "Home") for host in "abc"]
    pages = [Page("http://p.example/", "20100101000000", links)]
    assert terms(pages, A, scope="host")["Home"]["tf_idf"] == 0


def test_words_of_a_page_that_was_not_captured_begin_with_the_most_specific() -> None:
    everywhere = [link(f"http://{name}.example/", "Home") for name in "abcdef"]
    found = [*everywhere, link(A, "Winter games 2010")]
    pages = [
        Page("http://n.example/", "20100116000000", found),
        Page("http://m.example/", "20100216000000", [found[-1], link(A, "Home")]),
    ]
    assert [
        (row["term"], row["tf"], row["df"], row["tf_idf"], row["first"], row["last"])
        for row in terms(pages, A).values()
    ] == [
        ("Winter games 2010", 2, 1, 1.5563, "20100116000000", "20100216000000"),
        ("Home", 2, 6, 0, "20100116000000", "20100216000000"),
    ]


def test_times_and_kinds_narrow_what_is_counted() -> None:
    pages = [
        Page(C, "20090101000000", [link(A, "old")]),
        Page(C, "20100101000000", [link(A, "new"), link(A, "logo", kind="img@src")]),
    ]
    assert [*terms(pages, A, to="2009")] == ["old"]
    assert [*terms(pages, A, kind="img@src")] == ["logo"]


# Vanished

T6 = "20120101000000"


@pytest.mark.parametrize(
    ("later", "pages"),
    [
        ([], None),
        ([Page(B, T6, None, reason="PAYLOAD_DAMAGED")], None),
        ([Page(B, T6, [])], 0),
        ([Page(B, T6, [link(A)]), Page(C, T6, [link(WWW)]), Page(f"{A}other", T6, [link(A)])], 3),
        ([Page(B, T6, [link(A)]), Page(B, "20130101000000", [link(A)])], 1),
    ],
)
def test_pages_still_point_to_one_that_vanished_if_a_later_capture_says_so(
    later: list[Page], pages: int | None
) -> None:
    """Links before it vanished, or of the error in its place, say nothing."""
    gone = Page(A, T5, [link(A)], status="404", reason="MEMENTO_STATUS")
    old = [Page(A, T1, []), Page(B, T1, [link(A)]), Page(C, T1, [link(A)])]
    (row,) = rows([*old, gone, *later], "vanished", A, scope="page")
    assert (row["name"], row["last"], row["since"], row["pages"]) == (A, T1, T5, pages)
