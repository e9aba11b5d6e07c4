"""Terms in the texts of links, and their weights, compared with a plain count over all links."""

from collections import defaultdict
from math import log10

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.queries import BadParameterError, LinkQuery
from arclink.analysis.anchor_texts import (
    AnchorTextQuery,
    Term,
    TextCounts,
    WeighedTerm,
    anchor_texts,
)
from arclink.analysis.slices import Level
from arclink.analysis.targets import Target
from arclink.analysis.windows import Windows
from arclink.relations.database import ShownRelations
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, D = (
    "http://a.example/",
    "http://sub.a.example/x",
    "http://c.example/",
    "http://a.example:8080/y",
)


def query(
    level: Level,
    term: Term,
    by: str = "all",
    is_external: bool = False,
    uri: str = A,
    **parameters: str,
) -> AnchorTextQuery:
    links = LinkQuery.from_parameters(
        [
            ("uri", uri),
            ("direction", "in"),
            *((name.rstrip("_"), text) for name, text in parameters.items()),
        ]
    )
    return AnchorTextQuery(Target.asked(uri, level), links, term, Windows.parse(by), is_external)


def answer(store: MemoryStore, asked: AnchorTextQuery) -> tuple[list[WeighedTerm], TextCounts]:
    with ShownRelations("", store) as database:
        return anchor_texts(database, asked)


def ask(store: MemoryStore, asked: AnchorTextQuery) -> list[WeighedTerm]:
    return answer(store, asked)[0]


links = st.builds(
    link,
    st.sampled_from([A, B, C, D]),
    st.sampled_from(["", "News", "the news", "The NEWS, the"]),
    kind=st.sampled_from(["a@href", "img@src"]),
)
pages = st.builds(
    Page,
    st.sampled_from([A, B, C, "http://e.example/"]),
    st.sampled_from(["20091104000000", "20100116120000", "20100117000000"]),
    st.none() | st.lists(links, max_size=4).map(tuple),
    is_shared=st.booleans(),
)


@settings(max_examples=120, deadline=None)
@given(
    archive=st.lists(pages, max_size=6, unique_by=lambda page: (page.original, page.timestamp)),
    level=st.sampled_from(Level),
    term=st.sampled_from(Term),
    by=st.sampled_from(["all", "month"]),
    is_external=st.booleans(),
)
def test_counts_and_weights_are_those_of_the_plain_definition(
    archive: list[Page], level: Level, term: Term, by: str, is_external: bool
) -> None:
    uses: dict[tuple[str, str], list[tuple[Page, object, int]]] = defaultdict(list)
    documents: dict[str, set[str]] = defaultdict(set)
    inner_level = Level.HOST if level is Level.URI else level
    for page in archive:
        for one in page.links or ():
            terms = list(term.of(one.text))
            documents[level.name_of(surt_of(one.target))].update(terms)
            is_inner = inner_level.name_of(surt_of(page.original)) == inner_level.name_of(
                surt_of(A)
            )
            if level.name_of(surt_of(one.target)) == level.name_of(surt_of(A)) and not (
                is_external and is_inner
            ):
                window = f"{page.timestamp[:4]}-{page.timestamp[4:6]}" if by == "month" else "all"
                for word in set(terms):
                    uses[window, word].append((page, (page.original, one), terms.count(word)))
    total = sum(1 for terms_of_one in documents.values() if terms_of_one)
    expected: dict[tuple[str, str], tuple[object, ...]] = {}
    for (window, word), found in uses.items():
        tf = sum({key: count for _, key, count in found}.values())
        df = sum(word in terms_of_one for terms_of_one in documents.values())
        expected[window, word] = (
            len({key for _, key, _ in found}),
            len({page.content for page, _, _ in found}),
            len({(page.original, page.timestamp) for page, _, _ in found}),
            len({host_of(surt_of(page.original)) for page, _, _ in found}),
            min(page.timestamp for page, _, _ in found),
            max(page.timestamp for page, _, _ in found),
            tf,
            df,
            pytest.approx(tf * log10(total / df)),
        )
    terms_found = ask(MemoryStore(archive), query(level, term, by, is_external))
    counted: dict[tuple[str, str], tuple[object, ...]] = {
        (one.window, one.term): (
            *one.counts[:4],
            one.counts.first.timestamp,
            one.counts.last.timestamp,
            one.occurrences,
            one.documents,
            one.tf_idf,
        )
        for one in terms_found
    }
    assert counted == expected
    assert [(one.window, -one.tf_idf) for one in terms_found] == sorted(
        (one.window, -one.tf_idf) for one in terms_found
    )


def test_words_of_a_page_that_was_not_captured_begin_with_the_most_specific() -> None:
    everywhere = [link(f"http://{name}.example/", "Home") for name in "abcdef"]
    archive = [
        Page("http://n.example/", "20100116000000", [*everywhere, link(A, "Winter games 2010")]),
        Page(
            "http://m.example/", "20100216000000", [link(A, "Winter games 2010"), link(A, "Home")]
        ),
    ]
    terms, found = answer(MemoryStore(archive), asked := query(Level.URI, Term.TEXT))
    assert [(one.term, one.occurrences, one.documents) for one in terms] == [
        ("Winter games 2010", 2, 1),
        ("Home", 2, 6),
    ]
    assert [one.tf_idf for one in terms] == pytest.approx([2 * log10(6), 0])
    assert (terms[0].counts.first.timestamp, terms[0].counts.last.timestamp) == (
        "20100116000000",
        "20100216000000",
    )
    assert (found.targets, found.captured, found.links, asked.target.name) == (
        1,
        0,
        4,
        "example,a)/",
    )


def test_times_and_kinds_narrow_what_is_counted() -> None:
    store = MemoryStore(
        [
            Page(C, "20090101000000", [link(A, "old")]),
            Page(C, "20100101000000", [link(A, "new"), link(A, "logo", kind="img@src")]),
        ]
    )
    assert [one.term for one in ask(store, query(Level.URI, Term.TEXT, to="2009"))] == ["old"]
    assert [one.term for one in ask(store, query(Level.HOST, Term.TEXT, at="2010"))] == [
        "logo",
        "new",
    ]
    assert [one.term for one in ask(store, query(Level.HOST, Term.TEXT, kind="img@src"))] == [
        "logo"
    ]


@pytest.mark.parametrize(
    ("text", "level", "allowed"),
    [
        pytest.param("mailto:a@b.example", Level.HOST, "a URI with a host", id="no host"),
        pytest.param("", Level.URI, "a URI such as", id="nothing"),
        pytest.param(
            "http://a.example/\x00",
            Level.DOMAIN,
            "without control characters",
            id="control character",
        ),
    ],
)
def test_an_invalid_target_is_named(text: str, level: Level, allowed: str) -> None:
    with pytest.raises(BadParameterError, match=allowed):
        Target.asked(text, level)
