"""Document frequencies of terms, compared with plain sets."""

from collections import defaultdict
from math import log10

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.queries import LinkQuery
from arclink.analysis.anchor_texts import AnchorTextQuery, Term, WeighedTerm, anchor_texts
from arclink.analysis.slices import Level
from arclink.analysis.targets import Target
from arclink.analysis.windows import Windows
from arclink.relations.database import ShownRelations
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

HOSTS = [
    "a.example",
    "www.a.example",
    "b.a.example",
    "a.example:8080",
    "a-b.example",
    "ab.example",
    "[::1]",
    "[::1]:81",
    "127.0.0.1",
    "co.uk",
]

targets = st.one_of(
    st.builds("http://{}{}".format, st.sampled_from(HOSTS), st.sampled_from(["/", "/x", "/y/z"])),
    st.just("mailto:a@a.example"),
)
texts = st.sampled_from(["", "Home", "home page", "Next >>", "開会式", "the page"])


def asked(uri: str, level: Level, term: Term) -> AnchorTextQuery:
    links = LinkQuery.from_parameters([("uri", uri)])
    return AnchorTextQuery(Target.asked(uri, level), links, term, Windows())


def terms_to(pages: list[Page], uri: str, level: Level, term: Term) -> dict[str, WeighedTerm]:
    with ShownRelations("", MemoryStore(pages)) as database:
        return {one.term: one for one in anchor_texts(database, asked(uri, level, term))[0]}


pages = st.builds(
    Page,
    st.sampled_from(["http://p.example/", "http://q.example/"]),
    st.sampled_from(["20100101000000", "20100201000000", "20100301000000"]),
    st.none() | st.lists(st.builds(link, targets, texts), max_size=8).map(tuple),
)


@pytest.mark.costly
@settings(max_examples=120, deadline=None)
@given(
    archive=st.lists(pages, max_size=6, unique_by=lambda page: (page.original, page.timestamp)),
    level=st.sampled_from(Level),
    term=st.sampled_from(Term),
)
def test_frequencies_are_those_of_plain_sets(archive: list[Page], level: Level, term: Term) -> None:
    documents: dict[str, set[str]] = defaultdict(set)
    uris = {}
    for page in archive:
        for one in page.links or ():
            name = level.name_of(surt_of(one.target))
            documents[name].update(term.of(one.text))
            uris[name] = one.target
    documents.pop("", None)
    total = sum(1 for of_document in documents.values() if of_document)
    with ShownRelations("", MemoryStore(archive)) as database:
        for name, terms in documents.items():
            found, counts = anchor_texts(database, asked(uris[name], level, term))
            assert counts.documents == total
            assert {one.term: one.documents for one in found} == {
                one: sum(one in of_document for of_document in documents.values()) for one in terms
            }


PAGES = [
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


def test_tf_idf_is_count_times_log_of_documents_by_documents_with_the_term() -> None:
    words = terms_to(PAGES, "http://b.example/", Level.HOST, Term.WORD)
    assert {word: one.documents for word, one in words.items()} == {
        "home": 2,
        "winter": 2,
        "games": 1,
    }
    assert words["home"].tf_idf == pytest.approx(log10(3 / 2))
    often = [
        *PAGES,
        Page("http://p.example/", "20110101000000", [link("http://b.example/", "Home, home")]),
    ]
    assert terms_to(often, "http://b.example/", Level.HOST, Term.WORD)["home"].tf_idf == (
        pytest.approx(3 * log10(3 / 2))
    )
    whole = terms_to(PAGES, "http://b.example/", Level.URI, Term.TEXT)
    assert {text: one.documents for text, one in whole.items()} == {"Winter games": 1, "home": 1}
    assert whole["home"].tf_idf == pytest.approx(log10(4))
    winter = terms_to(PAGES, "http://c.example/x", Level.URI, Term.TEXT)
    assert {text: one.documents for text, one in winter.items()} == {"Winter": 2}


def test_a_term_that_every_target_has_weighs_nothing() -> None:
    links = [link(f"http://{host}.example/", "Home") for host in "abc"]
    pages = [Page("http://p.example/", "20100101000000", links)]
    assert terms_to(pages, "http://a.example/", Level.HOST, Term.TEXT)["Home"].tf_idf == 0
