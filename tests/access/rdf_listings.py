"""RDF listings (the paper's Listing 1), and the graphs that they mean."""

from collections.abc import Iterable

import pyoxigraph
import pytest
import rdflib

TWG = rdflib.Namespace("http://www.mementoweb.org/TemporalWebGraph/")


T1, T2 = "20091103011307", "20100130003005"


# The paper's Listing 1 without its ellipses; line breaks are the paper's.
LISTING_1 = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns:twg="http://www.mementoweb.org/TemporalWebGraph/">
<rdf:Description rdf:about="vancouver2010.com">
   <twg:hasOutlinks rdf:parseType="Collection">
    <rdf:Description rdf:about="paralympic-games)/news">
        <twg:type>href</twg:type> <twg:text>News</twg:text>
        <twg:timestamp> <rdf:Bag>
            <rdf:li>20091103011307</rdf:li><rdf:li>20100130003005</rdf:li>
    </rdf:Bag> </twg:timestamp> </rdf:Description>
    <rdf:Description rdf:about="olympic-cross-country-skiing)/">
        <twg:type>href</twg:type> <twg:text>Cross-Country Skiing</twg:text>
        <twg:timestamp> <rdf:Bag>
            <rdf:li>20091110011557</rdf:li> <rdf:li>20100227081100</rdf:li>
    </rdf:Bag> </twg:timestamp> </rdf:Description>
    </twg:hasOutlinks>
    <twg:hasInlinks rdf:parseType="Collection">
        <rdf:Description rdf:about="http://vancouver2010.teamgb.com/gallery/gillian-cooke/">
        <twg:type>href</twg:type> <twg:text>Official Vancouver Games site</twg:text>
        <twg:timestamp> <rdf:Bag>
            <rdf:li>20100217101229</rdf:li>
            </rdf:Bag> </twg:timestamp> </rdf:Description>
        <rdf:Description rdf:about="http://www.swissolympic.ch/olympiablog/?tag=verletzung">
        <twg:type>href</twg:type> <twg:text>VANOC 2010</twg:text>
        <twg:timestamp> <rdf:Bag>
            <rdf:li>20100220104902</rdf:li>
            </rdf:Bag> </twg:timestamp> </rdf:Description>
    </twg:hasInlinks>
</rdf:Description></rdf:RDF>"""


def as_rdflib(found: Iterable[pyoxigraph.Triple | pyoxigraph.Quad]) -> rdflib.Graph:
    """Return the other reader's statements as a graph of this one, which can compare graphs."""
    graph = rdflib.Graph()
    for triple in found:
        graph.add((_term(triple.subject), _term(triple.predicate), _term(triple.object)))
    return graph


def _term(term: object) -> rdflib.term.Node:
    match term:
        case pyoxigraph.NamedNode():
            return rdflib.URIRef(term.value)
        case pyoxigraph.BlankNode():
            return rdflib.BNode(term.value)
        case pyoxigraph.Literal():
            return rdflib.Literal(term.value)
        case _:
            raise AssertionError(term)


ODD_URIS = [
    pytest.param("http://x.example/a|b{c}^d`e\\f<g>\"h'", id="what browsers keep"),
    pytest.param("http://x.example/a b", id="space"),
    pytest.param("http://x.example/é/中文?q=ü", id="non-ASCII"),
    pytest.param("http://x.example/100%/%zz/%41", id="stray percent"),
    pytest.param("http://x.example/a[1]?b[]=2#c[3]", id="brackets"),
    pytest.param("http://[2001:db8::1]:8080/", id="IPv6"),
    pytest.param("http://[::zz]/", id="no IPv6"),
    pytest.param("http://x.example:80port/", id="no port"),
    pytest.param("http://user:p@ss@x.example/", id="two at signs"),
    pytest.param("http://x.example/#a#b", id="two fragments"),
    pytest.param("mailto:a@example.org?subject=a b", id="mail"),
    pytest.param("urn:isbn:0451450523", id="urn"),
    pytest.param("dns:example.org", id="dns"),
    pytest.param("x.example/without scheme", id="without scheme"),
    pytest.param("http:///", id="without host"),
    pytest.param("http://\u202ex.example/\ue000", id="marks and private use"),
    pytest.param("", id="empty"),
]
