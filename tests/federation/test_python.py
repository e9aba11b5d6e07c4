"""`arclink.aggregate`: any answer in RDF/XML is merged, of any service, file or memory."""

import http.server
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import rdflib

import arclink
from arclink.access.answers import answer_link_query
from arclink.access.archives import Outcome
from arclink.access.formats import FORMATS
from arclink.access.queries import LinkQuery
from arclink.access.reader import Member
from arclink.errors import InstanceError, UsageError
from arclink.linkgraph import LinkGraph
from tests.access.rdf_listings import LISTING_1
from tests.federation.servers import handling
from tests.store.memory_store import MemoryStore, Page, link

A, B, C = (f"http://{name}.example/" for name in "abc")
GRAPH = LinkGraph(
    MemoryStore(
        [
            Page(A, "20100101000000", [link(B, text="b & <c>"), link(C), link(C, text="Ω")]),
            Page(A, "20110101000000", [link(B, text="b & <c>"), link(A, text="self")]),
            Page(B, "20100601000000", [link(A, text="to a"), link(C)]),
        ]
    )
)


def facts(links: Iterable[Member]) -> set[tuple[object, ...]]:
    return {(one.uri, one.kind, one.text, one.timestamps) for one in links}


OUT, IN = facts(GRAPH.outlinks(A)), facts(GRAPH.inlinks(A))


def by_rdflib(form: str) -> bytes:
    written: bytes = GRAPH.to_rdf(A).serialize(format=form, encoding="utf-8")
    return written


def by_arclink(profile: str) -> bytes:
    answer = answer_link_query(GRAPH.store, LinkQuery.from_parameters([("uri", A)]))
    return b"".join(FORMATS["rdfxml"].in_profile(profile).write(answer))


class OtherPath(http.server.BaseHTTPRequestHandler):
    """A service with another path: it answers what its class has, about the URI in its path."""

    asked: list[str] = []  # noqa: RUF012  # the handler is made by the server

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = by_arclink("listing")
        self.send_response(200)
        self.send_header("Content-Type", "application/rdf+xml")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        return


DOCUMENTS: dict[str, Callable[[], bytes]] = {
    "listing": lambda: by_arclink("listing"),
    "links": lambda: by_arclink("links"),
    "links by rdflib": lambda: by_rdflib("xml"),
    "nested by rdflib": lambda: by_rdflib("pretty-xml"),
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_every_form_of_an_answer_has_all_its_links(
    document: Callable[[], bytes], tmp_path: Path
) -> None:
    saved = tmp_path / "answer.rdf"
    saved.write_bytes(document())
    for where in (document(), saved, str(saved)):
        links = arclink.aggregate(A, {"one": where})
        assert (facts(links.outlinks), facts(links.inlinks)) == (OUT, IN)
        assert [(one.outcome, one.detail) for one in links.archives] == [(Outcome.ANSWERED, "")]
        later = arclink.aggregate(A, {"one": where}, from_="2011", kinds="a@href")
        assert facts(later.outlinks) == facts(GRAPH.outlinks(A, from_="2011"))


def test_answers_are_merged_link_by_link_and_say_their_archives() -> None:
    links = arclink.aggregate(
        A, {"all": by_arclink("links"), "paper": by_arclink("listing"), "broken": b"<rdf"}
    )
    assert facts(links) == OUT | IN
    assert len(links) == len(OUT) + len(IN)
    assert {*links.to_pandas()["archives"]} == {"all, paper"}
    assert [one.outcome for one in links.archives][2] is Outcome.FAILED
    assert "broken: failed" in repr(links)
    graph = links.to_rdf()
    twg = rdflib.Namespace("http://www.mementoweb.org/TemporalWebGraph/")
    assert len({*graph.subjects(rdflib.RDF.type, twg.Link)}) == len({*OUT, *IN})
    assert {str(one) for one in graph.objects(None, twg.archive)} == {"all", "paper"}


def test_a_service_with_another_path_is_asked_there() -> None:
    with handling(OtherPath) as url:
        for form in (f"{url}/graph?u={{uri}}&all", f"{url}/links/{{uri}}.rdf"):
            assert facts(arclink.aggregate(A, {"other": form})) == OUT | IN
    assert [parse_qs(urlsplit(OtherPath.asked[0]).query)["u"], OtherPath.asked[1]] == [
        [A],
        "/links/http%3A%2F%2Fa.example%2F.rdf",
    ]


def test_a_service_written_after_the_paper_is_merged(foreign: str) -> None:
    links = arclink.aggregate(
        "vancouver2010.com", {"foreign": foreign, "paper": LISTING_1.encode()}
    )
    assert all(one.outcome is Outcome.ANSWERED for one in links.archives)
    assert len(links) == 7


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"not XML",
        b"<x/>",
        b"<!DOCTYPE x><x/>",
        b"\x00" * 10,
        b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>",
        by_arclink("links").replace(b"//a.example", b"//other.example"),
        by_arclink("links")[:900],
        by_arclink("listing").replace(b"//a.example", b"//other.example"),
        b"<a>" * 100,
    ],
    ids=range(10),
)
def test_what_is_no_answer_about_the_page_is_an_error(document: bytes) -> None:
    with pytest.raises(InstanceError, match="no archive answered: one: failed"):
        arclink.aggregate(A, {"one": document})


@pytest.mark.parametrize(
    "where",
    [
        "nowhere.rdf",
        "ftp://h.example/{uri}",
        "http://{uri}/",
        "http://u:p@h.example/{uri}",
        "http://h.example/q?u={uri}#x",
        "http://h.example/q?u=",
        "",
    ],
)
def test_what_is_no_archive_is_refused(where: str) -> None:
    with pytest.raises(UsageError, match=r"a URL with \{uri\}"):
        arclink.aggregate(A, {"one": where})
