"""All RDF formats in both profiles mean the same graph to two independent readers."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.compare import isomorphic

from arclink.access.answers import LinkAnswer, Member
from arclink.access.archives import ArchiveReport, InArchives, Outcome
from arclink.access.formats import FORMATS, PROFILES
from arclink.access.formats.statements import iri
from arclink.access.queries import LinkQuery
from arclink.model import Surt, Timestamp, UriR
from arclink.uris.surts import surt_of
from tests.access.example_answers import A, B, C, answer_of, member
from tests.access.rdf_listings import T1, T2, TWG
from tests.access.rdf_readers import ODD, READERS, read_by_oxigraph, read_by_rdflib, written


def test_there_is_a_reader_for_every_format_of_rdf() -> None:
    assert set(READERS) == {
        form.name for form in FORMATS.values() if form.write_profile is not None
    }
    assert PROFILES == ("listing", "links")


def odd_answer() -> LinkAnswer:
    """Return an answer with every odd text wherever a stranger's text can stand."""
    odd = [
        one
        for text in ODD
        for one in (
            member(
                f"http://x.example/{text}?{text}#{text}",
                text,
                T1,
                T2,
                rel=text,
                variants=(A, A + text),
            ),
            member(text, "y", T1),
        )
    ]
    return answer_of(odd[::2], odd[1::2], uri=A + "".join(ODD))


@pytest.mark.costly
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", READERS)
def test_odd_texts_and_uris_are_one_graph_to_both_readers(name: str, profile: str) -> None:
    document = written(name, profile, odd_answer())
    found = read_by_rdflib(name, document)
    assert isomorphic(found, read_by_oxigraph(name, document))
    assert isomorphic(
        found, read_by_oxigraph("ntriples", written("ntriples", profile, odd_answer()))
    )
    texts = {str(text) for text in found.objects(None, TWG.text)}
    assert {text for text in ODD if text.isprintable()} <= texts
    assert "\"double\" 'single' `back`" in texts
    assert "]]> <![CDATA[ <b>&amp;&lt;" in texts


anything = st.text(st.characters(), max_size=12)
members = st.builds(
    lambda start, text, times, rel: member(
        start + text, text, *times, rel=rel, variants=(A, A + text)
    ),
    st.sampled_from(["", "http://x.example/", "http://", "urn:x:", "rdf:", "twg:", "_:", "@"]),
    anything,
    st.lists(st.sampled_from([T1, T2]), min_size=1, max_size=2, unique=True),
    st.none() | anything,
)


@pytest.mark.costly
@settings(max_examples=40, deadline=None)
@given(st.lists(members, max_size=2), st.lists(members, max_size=2), st.sampled_from(PROFILES))
def test_whatever_is_written_is_one_graph_in_every_format(
    outlinks: list[Member], inlinks: list[Member], profile: str
) -> None:
    answer = answer_of(outlinks, inlinks)
    graphs = [read_by_oxigraph(name, written(name, profile, answer)) for name in READERS]
    graphs += [read_by_rdflib(name, written(name, profile, answer)) for name in READERS]
    assert len(graphs[0]) > 3
    for graph in graphs[1:]:
        assert isomorphic(graph, graphs[0])


def test_a_link_is_a_node_with_its_ends_text_and_times() -> None:
    answer = replace(
        answer_of([member("http://b.example/x|y", "News", T1, T2, rel="nofollow")]),
        query=LinkQuery(UriR(A), surt_of(A)),
    )
    graph = read_by_rdflib("turtle", written("turtle", "links", answer))
    (link,) = graph.subjects(rdflib.RDF.type, TWG.Link)
    properties: dict[str, set[str]] = defaultdict(set)
    for predicate, value in graph.predicate_objects(link):
        properties[str(predicate).removeprefix(str(TWG))].add(str(value))
    assert properties == {
        str(rdflib.RDF.type): {str(TWG.Link)},
        "source": {A},
        "target": {"http://b.example/x%7Cy"},
        "kind": {"a@href"},
        "text": {"News"},
        "rel": {"nofollow"},
        "timestamp": {T1, T2},
    }
    assert graph.value(rdflib.URIRef("http://b.example/x%7Cy"), TWG.original) == rdflib.Literal(
        "http://b.example/x|y"
    )


def test_the_same_link_has_one_name_from_both_ends() -> None:
    surt_a, surt_b = surt_of(A), surt_of(B)
    out = replace(answer_of([member(B, "x", T1)]), query=LinkQuery(UriR(A), surt_a))
    back = replace(
        answer_of([], [member(A, "x", T1, variants=(B,))], uri=B),
        query=LinkQuery(UriR(B), surt_b),
    )
    graphs = [
        read_by_oxigraph("ntriples", written("ntriples", "links", answer)) for answer in (out, back)
    ]
    assert (
        len({link for graph in graphs for link in graph.subjects(rdflib.RDF.type, TWG.Link)}) == 1
    )


link_members = st.builds(
    lambda uri, text, kind, times: member(uri, text, *times, kind=kind),
    st.sampled_from([B, C, "http://x.example/a b"]),
    st.sampled_from(["", "News", "اتصل"]),
    st.sampled_from(["a@href", "img@src"]),
    st.lists(st.sampled_from([T1, T2]), min_size=1, max_size=2, unique=True),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(link_members, max_size=4), st.lists(link_members, max_size=4))
def test_in_the_profile_links_a_union_of_graphs_merges_answers(
    ours: list[Member], theirs: list[Member]
) -> None:
    """No node is blank, an answer merged with itself is itself, and two answers together have the
    links of both, once.
    """

    def graph_of(found: Iterable[Member]) -> rdflib.Graph:
        return read_by_oxigraph("nquads", written("nquads", "links", answer_of(found)))

    one, other = graph_of(ours), graph_of(theirs)
    assert not [term for triple in one for term in triple if isinstance(term, rdflib.BNode)]
    assert set(one + graph_of(ours)) == set(one)
    links = set((one + other).subjects(rdflib.RDF.type, TWG.Link))
    assert len(links) == len({(found.surt, found.kind, found.text) for found in (*ours, *theirs)})


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", READERS)
def test_archives_of_a_merged_answer_are_named(name: str, profile: str) -> None:
    times = (Timestamp(T1),), (Timestamp(T2),)
    merged = member(
        B,
        "x",
        T1,
        T2,
        archives=InArchives((UriR(B),), (("iraq", times[0]), ("olympics", times[1]))),
    )
    reports = (
        ArchiveReport("iraq", Outcome.ANSWERED),
        ArchiveReport("lost", Outcome.FAILED, "no answer <&>"),
    )
    graph = read_by_rdflib(
        name, written(name, profile, replace(answer_of([merged]), archives=reports))
    )
    assert {str(archive) for archive in graph.objects(None, TWG.archive)} == {"iraq", "olympics"}
    assert str(graph.value(rdflib.URIRef(A), TWG.missing)) == "lost: no answer <&>"
    assert str(graph.value(rdflib.URIRef(A), TWG.askedArchive)) == "iraq"
    if profile == "links":
        (iraq,) = graph.subjects(TWG.archive, rdflib.Literal("iraq"))
        assert [str(when) for when in graph.objects(iraq, TWG.timestamp)] == [T1]


def test_different_links_have_different_names() -> None:
    """The four parts are lines, and no part holds a line end."""
    from arclink.access.formats.statements import link_name
    from arclink.model import Kind

    names = {
        link_name(Surt(a), Surt(b), Kind("a@href"), text)
        for a, b, text in [("a", "b", ""), ("a", "b", " "), ("b", "a", ""), ("a b", "", "")]
    }
    assert len(names) == 4
    assert all(iri(name) == name for name in names)
