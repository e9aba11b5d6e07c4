"""Two independent readers of the RDF formats: rdflib and Oxigraph."""

import io
import warnings

import pyoxigraph
import rdflib

from arclink.access.answers import LinkAnswer
from arclink.access.formats import FORMATS
from tests.access.example_answers import NASTY
from tests.access.rdf_listings import ODD_URIS, as_rdflib

READERS = {
    "rdfxml": ("xml", pyoxigraph.RdfFormat.RDF_XML),
    "turtle": ("turtle", pyoxigraph.RdfFormat.TURTLE),
    "ntriples": ("nt", pyoxigraph.RdfFormat.N_TRIPLES),
    "nquads": ("nquads", pyoxigraph.RdfFormat.N_QUADS),
    "jsonld": ("json-ld", pyoxigraph.RdfFormat.JSON_LD),
}


ODD = list(dict.fromkeys(str(case.values[0]) for case in (*NASTY, *ODD_URIS)))


def written(name: str, profile: str, answer: LinkAnswer) -> bytes:
    return b"".join(FORMATS[name].in_profile(profile).write(answer))


def read_by_rdflib(name: str, document: bytes) -> rdflib.Graph:
    dataset, graph = rdflib.Dataset(), rdflib.Graph()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # rdflib 7 calls what it deprecates itself
        dataset.parse(io.BytesIO(document), format=READERS[name][0])
    for subject, predicate, value, _ in dataset.quads():
        graph.add((subject, predicate, value))
    return graph


def read_by_oxigraph(name: str, document: bytes) -> rdflib.Graph:
    return as_rdflib(pyoxigraph.parse(document, READERS[name][1]))
