"""RDF/XML has the form of the paper's Listing 1, and two readers find the same graph in it."""

import io
from collections.abc import Sequence
from xml.etree import ElementTree

import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.collection import Collection
from rdflib.compare import isomorphic
from rdflib.namespace import RDF

from arclink.access.answers import LinkAnswer, Member, answer_link_query
from arclink.access.formats.rdf_xml import write_rdf_xml
from arclink.access.formats.statements import iri
from arclink.access.queries import LinkQuery
from tests.access.example_answers import NASTY, A, answer_of, member
from tests.access.rdf_listings import LISTING_1, ODD_URIS, T1, T2, TWG, as_rdflib
from tests.store.memory_store import MemoryStore, Page, link

OURS = (TWG.surt, TWG.original, TWG.mementoCount, TWG.firstMemento, TWG.lastMemento)


# The paper writes relative names for URIs of its own archive; ours are absolute.
SUBJECTS = {
    "vancouver2010.com": "http://vancouver2010.com/",
    "paralympic-games)/news": "http://www.vancouver2010.com/paralympic-games/news",
    "olympic-cross-country-skiing)/": "http://www.vancouver2010.com/olympic-cross-country-skiing/",
}


def read_by_rdflib(document: bytes) -> rdflib.Graph:
    return rdflib.Graph().parse(io.BytesIO(document), format="xml")


def read_by_oxigraph(document: bytes) -> rdflib.Graph:
    """Return the graph that another RDF/XML reader, which checks IRIs, reads."""
    return as_rdflib(pyoxigraph.parse(document, pyoxigraph.RdfFormat.RDF_XML))


def written(answer: LinkAnswer) -> bytes:
    return b"".join(write_rdf_xml(answer))


def test_the_paper_s_listing_comes_out_with_absolute_subjects() -> None:
    home, news, skiing = SUBJECTS.values()
    vancouver = [
        (news, "News", ("20091103011307", "20100130003005")),
        (skiing, "Cross-Country Skiing", ("20091110011557", "20100227081100")),
    ]
    pages = [
        Page(home, time, [link(uri, text)]) for uri, text, times in vancouver for time in times
    ]
    pages += [
        Page(
            "http://vancouver2010.teamgb.com/gallery/gillian-cooke/",
            "20100217101229",
            [link(home, "Official Vancouver Games site")],
        ),
        Page(
            "http://www.swissolympic.ch/olympiablog/?tag=verletzung",
            "20100220104902",
            [link(home, "VANOC 2010")],
        ),
    ]
    graph = read_by_rdflib(
        written(
            answer_link_query(
                MemoryStore(pages), LinkQuery.from_parameters([("uri", "vancouver2010.com")])
            )
        )
    )
    for predicate in OURS:
        graph.remove((None, predicate, None))
    listing = LISTING_1
    for relative, absolute in SUBJECTS.items():
        listing = listing.replace(f'rdf:about="{relative}"', f'rdf:about="{absolute}"')
    assert isomorphic(graph, read_by_rdflib(listing.encode()))


def test_the_document_has_the_listing_s_elements() -> None:
    root = ElementTree.fromstring(written(answer_of([member("http://b.example/", "x", T1)])))
    rdf, twg = str(RDF), str(TWG)
    (subject,) = root
    outlinks, inlinks = subject.find(f"{{{twg}}}hasOutlinks"), subject.find(f"{{{twg}}}hasInlinks")
    assert outlinks is not None
    assert inlinks is not None
    assert outlinks.attrib == {f"{{{rdf}}}parseType": "Collection"} == inlinks.attrib
    assert root.tag == f"{{{rdf}}}RDF"
    assert subject.attrib == {f"{{{rdf}}}about": A}
    assert (
        outlinks.find(f"{{{rdf}}}Description/{{{twg}}}timestamp/{{{rdf}}}Bag/{{{rdf}}}li")
        is not None
    )


@pytest.mark.parametrize("text", NASTY)
def test_nasty_texts_and_uris_are_the_same_graph_to_two_readers(text: str) -> None:
    nasty = member(f"http://x.example/{text}?{text}#{text}", text, T1, T2)
    document = written(
        answer_of([nasty], [nasty, member("http://y.example/", "y", T1)], uri=A + text)
    )
    assert isomorphic(read_by_rdflib(document), read_by_oxigraph(document))


@pytest.mark.parametrize("uri", ODD_URIS)
def test_odd_uris_become_iris_and_keep_their_original_as_text(uri: str) -> None:
    document = written(answer_of([member(uri, "x", T1)]))
    graphs = read_by_rdflib(document), read_by_oxigraph(document)
    assert isomorphic(*graphs)
    for graph in graphs:
        (subject,) = graph.subjects(TWG.text, rdflib.Literal("x"))
        assert subject == rdflib.URIRef(iri(uri))
        originals = [str(original) for original in graph.objects(subject, TWG.original)]
        assert originals == ([] if iri(uri) == uri else [uri])


@pytest.mark.parametrize(
    "uri",
    [
        "http://example.org/a/b;c=1?q=x+y&z=%20~#f",
        "https://user:pw@example.org:8443/é?x=/?:@",
        "http://[::1]/",
        "http://example.org/?q=!$&'()*+,;=",
    ],
)
def test_what_is_an_iri_stays_as_it_is(uri: str) -> None:
    assert iri(uri) == uri


@settings(max_examples=300, deadline=None)
@given(
    st.text(st.characters(), max_size=30),
    st.sampled_from(
        ["", "http://", "http://x/", "http://x/?", "urn:", "http://x:", "http://[", "a@"]
    ),
)
def test_every_text_becomes_an_iri_that_a_strict_reader_takes(text: str, start: str) -> None:
    written = iri(start + text)
    pyoxigraph.NamedNode(written)
    assert iri(written) == written


def test_members_stay_in_order() -> None:
    members = [member(f"http://x.example/{number}", str(number), T1) for number in range(9)]
    graph = read_by_rdflib(written(answer_of(members)))
    (head,) = graph.objects(rdflib.URIRef(A), TWG.hasOutlinks)
    assert [str(item)[-1] for item in Collection(graph, head)] == [
        str(number) for number in range(9)
    ]


def test_types_are_those_of_the_paper_if_it_has_them() -> None:
    kinds = ["a@href", "img@src", "area@href"]
    graph = read_by_rdflib(
        written(
            answer_of([member(f"http://x.example/{kind}", "", T1, kind=kind) for kind in kinds])
        )
    )
    assert {str(word) for word in graph.objects(None, TWG.type)} == {"href", "image", "area@href"}


def test_members_that_differ_in_rel_alone_are_one_in_the_listing() -> None:
    members = [
        member("http://x.example/", "x", T1),
        member("http://x.example/", "x", T2, rel="nofollow"),
        member("http://x.example/", "y", T1),
    ]
    graph = read_by_rdflib(written(answer_of(members)))
    (head,) = graph.objects(rdflib.URIRef(A), TWG.hasOutlinks)
    assert len(Collection(graph, head)) == 2
    assert sorted(_bags(graph)) == [(T1,), (T1, T2)]


def _bags(graph: rdflib.Graph) -> Sequence[tuple[str, ...]]:
    return [
        tuple(sorted(str(item) for item in graph.objects(bag) if item != RDF.Bag))
        for bag in graph.objects(None, TWG.timestamp)
    ]


def test_a_page_that_was_not_captured_has_zero_mementos() -> None:
    graph = read_by_rdflib(
        written(answer_link_query(MemoryStore(), LinkQuery.from_parameters([("uri", A)])))
    )
    assert [str(count) for count in graph.objects(rdflib.URIRef(A), TWG.mementoCount)] == ["0"]
    assert (rdflib.URIRef(A), TWG.hasInlinks, RDF.nil) in graph


anything = st.text(st.characters(), max_size=15)
members = st.builds(
    lambda path, text, times: member(f"http://x.example/{path}", text, *times),
    anything,
    anything,
    st.lists(st.sampled_from([T1, T2]), min_size=1),
)


@pytest.mark.costly
@settings(max_examples=60, deadline=None)
@given(st.lists(members, max_size=3), st.lists(members, max_size=2))
def test_whatever_is_written_is_the_same_graph_to_two_readers(
    outlinks: list[Member], inlinks: list[Member]
) -> None:
    document = written(answer_of(outlinks, inlinks))
    ours = read_by_rdflib(document)
    assert isomorphic(ours, read_by_oxigraph(document))
    texts = {str(text) for text in ours.objects(None, TWG.text)}
    assert {one.text for one in (*outlinks, *inlinks) if one.text.isprintable()} <= texts
