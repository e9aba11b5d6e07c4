"""What instances tell: read whatever it holds, believed only where it can be an answer."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arclink.access.formats import FORMATS
from arclink.access.queries import LinkQuery
from arclink.aggregate.believing import believe
from arclink.aggregate.instances import parse_instance, parse_instances, plain_question, question
from arclink.aggregate.json_answers import parse_json_answer
from arclink.aggregate.listings import parse_listing
from arclink.aggregate.merging import Findings
from arclink.aggregate.names import absolute_name
from arclink.aggregate.told import ToldAnswer, told_by
from arclink.errors import InstanceError, UsageError
from arclink.model import UriR
from tests.access.test_formats import A, B, answer_of, member
from tests.access.test_rdf_formats import ODD
from tests.access.test_rdf_xml import LISTING_1, T1, T2

QUERY = LinkQuery.from_parameters([("uri", A)])
VANCOUVER = LinkQuery.from_parameters([("uri", "vancouver2010.com")])
LITERAL_LISTING = LISTING_1.replace("</rdf:Bag>", "... </rdf:Bag>").replace("</twg:has", " . . . . . </twg:has")
"""With the ellipses that the paper prints."""


def targets(found: Findings) -> set[tuple[str, str, str, tuple[str, ...]]]:
    """Return (source, target, text, times) of each link, as SURTs."""
    return {(source, target, text, tuple(sorted(*link.timestamps.values()))) for (source, target, _, text), link in found.links.items()}


@pytest.mark.parametrize("document", [LISTING_1, LITERAL_LISTING], ids=["as XML", "with the paper's ellipses"])
def test_the_paper_s_listing_is_read_and_its_names_are_repaired(document: str) -> None:
    found, passed_over = believe(parse_listing(document.encode(), VANCOUVER.uri), VANCOUVER, "paper")
    home = "com,vancouver2010)/"
    assert passed_over == 0
    assert targets(found) == {
        (home, "com,vancouver2010)/paralympic-games/news", "News", ("20091103011307", "20100130003005")),
        (home, "com,vancouver2010)/olympic-cross-country-skiing", "Cross-Country Skiing", ("20091110011557", "20100227081100")),
        ("com,teamgb,vancouver2010)/gallery/gillian-cooke", home, "Official Vancouver Games site", ("20100217101229",)),
        ("ch,swissolympic)/olympiablog?tag=verletzung", home, "VANOC 2010", ("20100220104902",)),
    }
    assert found.mementos["paper"].count == 4


@pytest.mark.parametrize(
    ("name", "absolute"),
    [
        ("http://x.example/a", "http://x.example/a"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("com,example)/a?b=c", "http://example.com/a?b=c"),
        ("http://(com,example,www,)/a", "http://www.example.com/a"),
        ("https://(com,example,:8443)/a", "https://example.com:8443/a"),
        ("com,example:8080)/", "http://example.com:8080/"),
        ("example.com)/a", "http://example.com/a"),
        ("example.com/a", "http://example.com/a"),
        ("example.com", "http://example.com/"),
        ("example.com:8080/a", "http://example.com:8080/a"),
        ("paralympic-games)/news", "http://host.example:81/paralympic-games/news"),
        ("paralympic-games)/", "http://host.example:81/paralympic-games/"),
        ("news/today", "http://host.example:81/news/today"),
        ("/news", "http://host.example:81/news"),
        ("//evil/news", "http://host.example:81/evil/news"),
        (" news ", "http://host.example:81/news"),
    ],
)
def test_a_relative_name_is_made_absolute(name: str, absolute: str) -> None:
    assert absolute_name(name, UriR("http://host.example:81/some/page")) == absolute


@settings(deadline=None)
@given(
    st.text(st.characters(), max_size=30) | st.from_regex(r"[a-z,.:/()\[\]]{0,20}", fullmatch=True),
    st.sampled_from([A, "http://[x/", "mailto:x"]),
)
def test_every_name_becomes_some_text(name: str, asked: str) -> None:
    assert isinstance(absolute_name(name, UriR(asked)), str)


def test_our_own_formats_tell_the_same() -> None:
    """JSON and RDF/XML of one answer, read back, are believed alike but for what the listing has no words for."""
    members = [member(f"http://x.example/{text}?{text}", text, T1, T2) for text in ODD]
    members.append(member("http://img.example/x|y", "", T1, kind="img@src"))
    answer = answer_of(members, members[:3])
    by_json = believe(parse_json_answer(b"".join(FORMATS["json"].write(answer))), QUERY, "x")
    by_listing = believe(parse_listing(b"".join(FORMATS["rdfxml"].write(answer)), QUERY.uri), QUERY, "x")
    assert len(by_json[0].links) == len(members) + 3
    assert {key[:3] for key in by_listing[0].links} == {key[:3] for key in by_json[0].links}
    assert {link.targets for link in by_listing[0].links.values()} == {link.targets for link in by_json[0].links.values()}
    assert by_json[0] == believe(told_by(answer), QUERY, "x")[0]
    assert by_json[1] == by_listing[1] == 0


BOMB = b"""<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><r>&c;</r>"""
FILE = b'<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/hostname">]><r>&f;</r>'


@pytest.mark.parametrize(
    ("document", "says"),
    [
        pytest.param(b"", "no XML", id="nothing"),
        pytest.param(b"<html><p>404", "no XML", id="HTML"),
        pytest.param(b"<html/>", "no listing", id="XML, no RDF"),
        pytest.param(b"\xff\xfe\x00", "no XML", id="bytes"),
        pytest.param(b'<?xml version="1.0" encoding="utf-99"?><r/>', "cannot be read|no XML", id="unknown charset"),
        pytest.param(BOMB, "DOCTYPE", id="entity expansion"),
        pytest.param(FILE, "DOCTYPE", id="external entity"),
        pytest.param(b"<a>" * 100_000, "nests deeper", id="deep"),
        pytest.param(LISTING_1[:-100].encode(), "no XML", id="cut short"),
    ],
)
def test_a_document_that_is_no_listing_says_why(document: bytes, says: str) -> None:
    with pytest.raises(InstanceError, match=says):
        parse_listing(document, QUERY.uri)


@settings(deadline=None)
@given(document=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: f"<r>{text}</r>".encode("utf-8", "replace")))
@example(document=b'<rdf:Description xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>')
@pytest.mark.parametrize("reads", ["listing", "JSON"])
def test_no_document_does_anything_else(document: bytes, reads: str) -> None:
    try:
        told = parse_listing(document, QUERY.uri) if reads == "listing" else parse_json_answer(document)
    except InstanceError:
        return
    assert told.uri


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.sampled_from([A, B, T1, "a@href"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["uri", "kind", "text", "timestamps", "rel", "sources", "count", "first", "last"]), inner, max_size=6
        )
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=80)
@given(st.lists(json_values, max_size=4), st.lists(json_values, max_size=4), json_values, json_values)
def test_whatever_json_holds_is_believed_or_counted(outlinks: list[object], inlinks: list[object], mementos: object, other: object) -> None:
    body = json.dumps(
        {"uri": A, "outlinks": outlinks, "inlinks": inlinks, "mementos": mementos, "next": other, "at": other, "in_force": other}
    )
    try:
        told = parse_json_answer(body.encode())
    except InstanceError:
        return  # lone surrogates, integers beyond 64 bits
    found, passed_over = believe(told, QUERY, "x")
    assert passed_over + len(found.links) <= len(outlinks) + len(inlinks)
    assert all(link.timestamps["x"] and {key[0], key[1]} & {QUERY.surt} for key, link in found.links.items())


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"{", "no JSON", id="cut"),
        pytest.param(b"[]", "no answer", id="list"),
        pytest.param(b'{"uri": 1, "outlinks": [], "inlinks": []}', "no answer", id="uri is a number"),
        pytest.param(b'{"a":' * 5000 + b"1" + b"}" * 5000, "no JSON", id="deep"),
    ],
)
def test_json_that_is_no_answer_says_why(body: bytes, says: str) -> None:
    with pytest.raises(InstanceError, match=says):
        parse_json_answer(body)


def told(*links: Mapping[str, object], **others: object) -> ToldAnswer:
    return parse_json_answer(json.dumps({"uri": A, "outlinks": list(links), "inlinks": [], **others}).encode())


GOOD = {"uri": B, "kind": "a@href", "text": "x", "timestamps": [T1]}


@pytest.mark.parametrize(
    "changed",
    [
        {"uri": "relative"},
        {"uri": "http://b.example/" + "x" * 70_000},
        {"uri": None},
        {"kind": "<script>"},
        {"kind": "x" * 500},
        {"timestamps": []},
        {"timestamps": ["yesterday"]},
        {"timestamps": ["99999999999999"]},
        {"timestamps": ["20101399000000"]},
        {"timestamps": [20100101000000]},
        {"timestamps": ["1" * 1_000_000]},
        {"timestamps": ["20120101000000"]},
        {"kind": "img@src"},
    ],
    ids=str,
)
def test_a_link_that_cannot_be_meant_is_passed_over_and_counted(changed: dict[str, object]) -> None:
    query = LinkQuery.from_parameters([("uri", A), ("to", "2011"), ("kind", "a@href")])
    found, passed_over = believe(told(GOOD, {**GOOD, **changed}), query, "x")
    assert (len(found.links), passed_over) == (1, 1)


def test_the_direction_that_was_not_asked_for_is_passed_over() -> None:
    found, passed_over = believe(told(GOOD), LinkQuery.from_parameters([("uri", A), ("direction", "in")]), "x")
    assert (len(found.links), passed_over) == (0, 1)


def test_a_huge_text_is_cut_and_foreign_variants_are_dropped() -> None:
    found, _ = believe(
        told({**GOOD, "text": "x\x00" * 1_000_000, "sources": ["http://evil.example/", "https://www.a.example/"]}), QUERY, "x"
    )
    ((key, link),) = found.links.items()
    assert key[3] == "x\ufffd" * 500
    assert link.sources == {"https://www.a.example/"}


def test_a_huge_literal_in_a_listing_is_cut() -> None:
    document = LISTING_1.replace(">News<", f">{'News' * 1_000_000}<")
    found, _ = believe(parse_listing(document.encode(), VANCOUVER.uri), VANCOUVER, "x")
    assert max(len(key[3]) for key in found.links) <= 1000


def test_an_answer_about_something_else_is_refused() -> None:
    with pytest.raises(InstanceError, match=r"answers about http://b\.example/"):
        believe(parse_json_answer(json.dumps({"uri": B, "outlinks": [], "inlinks": []}).encode()), QUERY, "x")
    with pytest.raises(InstanceError, match="answers about"):
        believe(parse_listing(LISTING_1.encode(), QUERY.uri), QUERY, "x")


def test_a_listing_cannot_say_what_was_in_force() -> None:
    query = LinkQuery.from_parameters([("uri", "vancouver2010.com"), ("at", "2010")])
    with pytest.raises(InstanceError, match="in force at a time"):
        believe(parse_listing(LISTING_1.encode(), query.uri), query, "x")


@pytest.mark.parametrize(
    "mementos",
    [
        {"count": -1, "first": T1, "last": T2, "asked": 1, "links_known": 1},
        {"count": 10**18, "first": T1, "last": T2, "asked": 1, "links_known": 1},
        {"count": 1, "first": T2, "last": T1, "asked": 1, "links_known": 1},
        {"count": 1, "first": "x", "last": T2, "asked": 1, "links_known": 1},
        {"count": 1, "first": T1, "last": T2, "asked": 5, "links_known": 1},
        "many",
    ],
    ids=str,
)
def test_a_summary_that_cannot_be_is_replaced_by_what_the_links_show(mementos: object) -> None:
    found, _ = believe(told(GOOD, mementos=mementos), QUERY, "x")
    assert (found.mementos["x"].count, found.mementos["x"].first) == (1, T1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "ftp://h/",
        "http://",
        "http://u:p@h/",
        "http://h/?a",
        "http://h/#a",
        "http://h:99999/",
        "http://h:0/",
        "http://h/ x",
        "a b=http://h",
        "http://h\r\nX: 1",
        "http://[::1",
        "=http://@",
    ],
)
def test_what_is_no_instance_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--instance"):
        parse_instance(text)


@pytest.mark.parametrize("texts", [["a=http://h", "a=http://i"], ["a=http://h", "b=http://h/"]], ids=["name", "URL"])
def test_an_instance_given_twice_is_a_usage_error(texts: list[str]) -> None:
    with pytest.raises(UsageError, match="given already"):
        parse_instances(texts)


def test_the_question_holds_what_was_asked() -> None:
    instance = parse_instance("x=https://h.example:81/olympics/")
    query = LinkQuery.from_parameters(
        [("uri", "http://a.example/?b=c&d#e"), ("from", "2010"), ("kind", "a@href"), ("direction", "in"), ("limit", "3")]
    )
    assert question(instance, query, "CUR") == (
        "https://h.example:81/olympics/LinkService/linkQuery?uri=http%3A%2F%2Fa.example%2F%3Fb%3Dc%26d%23e&direction=in"
        "&limit=10000&from=20100101000000&kind=a%40href&cursor=CUR"
    )
    assert plain_question(instance, query).endswith("/LinkService/linkQuery?uri=http%3A%2F%2Fa.example%2F%3Fb%3Dc%26d%23e")
