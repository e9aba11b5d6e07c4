"""Answers of instances: any content is read, and only links that can be an answer are kept."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arclink.access.archives import Refused
from arclink.access.formats import FORMATS
from arclink.access.queries import LinkQuery
from arclink.errors import InstanceError, UsageError
from arclink.model import UriR
from arclink.others.federation.instance_answers import (
    ReceivedAnswer,
    accepted_findings,
    as_received,
    parse_json_answer,
)
from arclink.others.federation.instances import (
    parse_instance,
    parse_instances,
    plain_question,
    question,
)
from arclink.others.federation.listings import absolute_name, parse_listing
from arclink.others.federation.merge import Findings
from tests.access.example_answers import A, B, answer_of, member
from tests.access.rdf_listings import LISTING_1, T1, T2
from tests.access.rdf_readers import ODD

QUERY = LinkQuery.from_parameters([("uri", A)])
VANCOUVER = LinkQuery.from_parameters([("uri", "vancouver2010.com")])
LITERAL_LISTING = LISTING_1.replace("</rdf:Bag>", "... </rdf:Bag>").replace(
    "</twg:has", " . . . . . </twg:has"
)
"""With the ellipses that the paper prints."""


def targets(found: Findings) -> set[tuple[str, str, str, tuple[str, ...]]]:
    """Return (source, target, text, times) of each link, as SURTs."""
    return {
        (source, target, text, tuple(sorted(*link.timestamps.values())))
        for (source, target, _, text), link in found.links.items()
    }


@pytest.mark.parametrize(
    "document", [LISTING_1, LITERAL_LISTING], ids=["as XML", "with the paper's ellipses"]
)
def test_the_paper_s_listing_is_read_and_its_names_are_repaired(document: str) -> None:
    found, refused = accepted_findings(
        parse_listing(document.encode(), VANCOUVER.uri), VANCOUVER, "paper"
    )
    home = "com,vancouver2010)/"
    assert not refused
    assert targets(found) == {
        (
            home,
            "com,vancouver2010)/paralympic-games/news",
            "News",
            ("20091103011307", "20100130003005"),
        ),
        (
            home,
            "com,vancouver2010)/olympic-cross-country-skiing",
            "Cross-Country Skiing",
            ("20091110011557", "20100227081100"),
        ),
        (
            "com,teamgb,vancouver2010)/gallery/gillian-cooke",
            home,
            "Official Vancouver Games site",
            ("20100217101229",),
        ),
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


def test_our_own_formats_read_back_as_the_same_answer() -> None:
    """JSON and RDF/XML of one answer, read back, give the same members, except for
    values that the listing cannot express.
    """
    members = [member(f"http://x.example/{text}?{text}", text, T1, T2) for text in ODD]
    members.append(member("http://img.example/x|y", "", T1, kind="img@src"))
    answer = answer_of(members, members[:3])
    by_json = accepted_findings(
        parse_json_answer(b"".join(FORMATS["json"].write(answer))), QUERY, "x"
    )
    by_listing = accepted_findings(
        parse_listing(b"".join(FORMATS["rdfxml"].write(answer)), QUERY.uri), QUERY, "x"
    )
    assert len(by_json[0].links) == len(members) + 3
    assert {key[:3] for key in by_listing[0].links} == {key[:3] for key in by_json[0].links}
    assert {link.targets for link in by_listing[0].links.values()} == {
        link.targets for link in by_json[0].links.values()
    }
    assert by_json[0] == accepted_findings(as_received(answer), QUERY, "x")[0]
    assert not by_json[1] + by_listing[1]


BOMB = b"""<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><r>&c;</r>"""
FILE = b'<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/hostname">]><r>&f;</r>'


@pytest.mark.parametrize(
    ("document", "says"),
    [
        pytest.param(b"", "not XML", id="nothing"),
        pytest.param(b"<html><p>404", "not XML", id="HTML"),
        pytest.param(b"<html/>", "not a listing", id="XML, no RDF"),
        pytest.param(b"\xff\xfe\x00", "not XML", id="bytes"),
        pytest.param(
            b'<?xml version="1.0" encoding="utf-99"?><r/>',
            "cannot be read|not XML",
            id="unknown charset",
        ),
        pytest.param(BOMB, "DOCTYPE", id="entity expansion"),
        pytest.param(FILE, "DOCTYPE", id="external entity"),
        pytest.param(b"<a>" * 100_000, "nests deeper", id="deep"),
        pytest.param(LISTING_1[:-100].encode(), "not XML", id="cut short"),
    ],
)
def test_a_document_that_is_no_listing_says_why(document: bytes, says: str) -> None:
    with pytest.raises(InstanceError, match=says):
        parse_listing(document, QUERY.uri)


@settings(deadline=None)
@given(
    document=st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: f"<r>{text}</r>".encode("utf-8", "replace"))
)
@example(document=b'<rdf:Description xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>')
@pytest.mark.parametrize("reads", ["listing", "JSON"])
def test_any_document_is_an_answer_or_an_instance_error(document: bytes, reads: str) -> None:
    try:
        received = (
            parse_listing(document, QUERY.uri)
            if reads == "listing"
            else parse_json_answer(document)
        )
    except InstanceError:
        return
    assert received.uri


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from([A, B, T1, "a@href"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["uri", "kind", "text", "timestamps", "rel", "sources", "count", "first", "last"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@pytest.mark.costly
@settings(deadline=None, max_examples=80)
@given(
    st.lists(json_values, max_size=4), st.lists(json_values, max_size=4), json_values, json_values
)
def test_whatever_json_holds_is_believed_or_counted(
    outlinks: list[object], inlinks: list[object], mementos: object, other: object
) -> None:
    body = json.dumps(
        {
            "uri": A,
            "outlinks": outlinks,
            "inlinks": inlinks,
            "mementos": mementos,
            "next": other,
            "at": other,
            "in_force": other,
        }
    )
    try:
        received = parse_json_answer(body.encode())
    except InstanceError:
        return  # lone surrogates, integers beyond 64 bits
    found, refused = accepted_findings(received, QUERY, "x")
    assert of_links(refused) + len(found.links) <= len(outlinks) + len(inlinks)
    assert all(
        link.timestamps["x"] and {key[0], key[1]} & {QUERY.surt}
        for key, link in found.links.items()
    )


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"{", "not JSON", id="cut"),
        pytest.param(b"[]", "not the answer", id="list"),
        pytest.param(
            b'{"uri": 1, "outlinks": [], "inlinks": []}', "not the answer", id="uri is a number"
        ),
        pytest.param(b'{"a":' * 5000 + b"1" + b"}" * 5000, "not JSON", id="deep"),
    ],
)
def test_json_that_is_no_answer_says_why(body: bytes, says: str) -> None:
    with pytest.raises(InstanceError, match=says):
        parse_json_answer(body)


def answer_with(*links: Mapping[str, object], **others: object) -> ReceivedAnswer:
    return parse_json_answer(
        json.dumps({"uri": A, "outlinks": list(links), "inlinks": [], **others}).encode()
    )


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
def test_an_unusable_link_of_an_answer_is_left_out_and_counted(changed: dict[str, object]) -> None:
    query = LinkQuery.from_parameters([("uri", A), ("to", "2011"), ("kind", "a@href")])
    found, refused = accepted_findings(answer_with(GOOD, {**GOOD, **changed}), query, "x")
    assert (len(found.links), of_links(refused)) == (1, 1)


IN = {"uri": B, "kind": "a@href", "text": "x", "timestamps": [T1], "targets": [A]}


@pytest.mark.parametrize(
    ("lie", "refused"),
    [
        pytest.param({"targets": [B]}, {"OTHER_VARIANT": 1, "OTHER_PAGE": 1}, id="other page"),
        pytest.param({"targets": [1]}, {"OTHER_VARIANT": 1, "OTHER_PAGE": 1}, id="page no text"),
        pytest.param({"targets": {"0": A}}, {"MALFORMED_LINK": 1}, id="pages no list"),
        pytest.param({"targets": "http://b.example/"}, {"MALFORMED_LINK": 1}, id="page a text"),
        pytest.param({"uri": "javascript:alert(1)"}, {"BAD_SOURCE": 1}, id="javascript"),
        pytest.param({"uri": "JavaScript://x/%0aalert(1)"}, {"BAD_SOURCE": 1}, id="with host"),
        pytest.param({"uri": "data:text/html,x"}, {"BAD_SOURCE": 1}, id="data"),
        pytest.param({"uri": "mailto:a@b.example"}, {"BAD_SOURCE": 1}, id="mailto"),
        pytest.param({"uri": "http:///x"}, {"BAD_SOURCE": 1}, id="no host"),
        pytest.param({"uri": "b.example/x"}, {"BAD_URI": 1}, id="relative"),
        pytest.param({"kind": "A@HREF!"}, {"BAD_KIND": 1}, id="kind"),
        pytest.param({"timestamps": []}, {"NO_TIME": 1}, id="no times"),
        pytest.param({"timestamps": [None, "2010-01"]}, {"BAD_TIME": 2, "NO_TIME": 1}, id="times"),
        pytest.param(
            {"timestamps": ["20300101000000"]}, {"OTHER_TIME": 1, "NO_TIME": 1}, id="late"
        ),
        pytest.param({"text": None}, {"MALFORMED_LINK": 1}, id="text"),
    ],
)
def test_a_false_inlink_is_refused_with_its_reason(
    lie: dict[str, object], refused: dict[str, int]
) -> None:
    query = LinkQuery.from_parameters([("uri", A), ("to", "2011")])
    found, counted = accepted_findings(
        parse_json_answer(
            json.dumps({"uri": A, "outlinks": [], "inlinks": [{**IN, **lie}, IN]}).encode()
        ),
        query,
        "x",
    )
    assert {reason.name: number for reason, number in counted.items()} == refused
    assert [link.targets for link in found.links.values()] == [{A}]


def test_each_dropped_time_is_counted_though_the_link_stays() -> None:
    query = LinkQuery.from_parameters([("uri", A), ("to", "2011")])
    times = [T1, "yesterday", 20100101000000, "20120101000000", "20101399000000"]
    found, refused = accepted_findings(answer_with({**GOOD, "timestamps": times}), query, "x")
    assert [link.timestamps for link in found.links.values()] == [{"x": {T1}}]
    assert refused == {Refused.BAD_TIME: 3, Refused.OTHER_TIME: 1}


LINK = """<twg:has{} rdf:parseType="Collection"><rdf:Description rdf:about="{}"><twg:type>href</twg:type>
<twg:text>x</twg:text><twg:timestamp><rdf:Bag><rdf:li>20091103011307</rdf:li></rdf:Bag></twg:timestamp>
</rdf:Description></twg:has{}>"""
OUT, INTO = LINK.format("Outlinks", B, "Outlinks"), LINK.format("Inlinks", B, "Inlinks")
SCRIPT = LINK.format("Inlinks", "javascript:alert(1)", "Inlinks")


def listing(*pages: tuple[str, str]) -> bytes:
    """Return a listing of several pages, each with its links; a page may have no name."""
    described = "".join(
        f"<rdf:Description{about and f' rdf:about={chr(34)}{about}{chr(34)}'}>{links}</rdf:Description>"
        for about, links in pages
    )
    root = LISTING_1[LISTING_1.index("<rdf:RDF") : LISTING_1.index("<rdf:Description")]
    return f"{root}{described}</rdf:RDF>".encode()


@pytest.mark.parametrize(
    ("document", "links", "refused"),
    [
        pytest.param(listing((A, OUT + INTO)), 2, {}, id="one page"),
        pytest.param(listing((A, OUT), (B, INTO)), 1, {"OTHER_PAGE": 1}, id="another page too"),
        pytest.param(listing((B, INTO), (A, OUT)), 1, {"OTHER_PAGE": 1}, id="another page first"),
        pytest.param(listing((A, OUT), ("", INTO)), 1, {"OTHER_PAGE": 1}, id="a page without name"),
        pytest.param(
            listing((A, ""), (B, f"<twg:original>{A}</twg:original>" + OUT)), 1, {}, id="original"
        ),
        pytest.param(
            listing((A, f"<twg:original>{B}</twg:original>" + OUT), (A, INTO)),
            1,
            {"OTHER_PAGE": 1},
            id="original of another page",
        ),
        pytest.param(listing((A, SCRIPT + OUT)), 1, {"BAD_SOURCE": 1}, id="javascript as a source"),
        pytest.param(
            listing((A, "<twg:mementoCount>-1</twg:mementoCount>" + OUT)),
            1,
            {"BAD_MEMENTOS": 1},
            id="count",
        ),
    ],
)
def test_a_lying_listing_is_refused_by_name(
    document: bytes, links: int, refused: dict[str, int]
) -> None:
    found, counted = accepted_findings(parse_listing(document, QUERY.uri), QUERY, "x")
    assert {reason.name: number for reason, number in counted.items()} == refused
    assert len(found.links) == links


def test_links_of_no_page_are_no_listing() -> None:
    root = LISTING_1[LISTING_1.index("<rdf:RDF") : LISTING_1.index("<rdf:Description")]
    names = root.removeprefix("<rdf:RDF").rstrip().removesuffix(">")
    bare = OUT.replace("<twg:hasOutlinks", f"<twg:hasOutlinks {names}", 1)
    with pytest.raises(InstanceError, match="not a listing"):
        parse_listing(bare.encode(), QUERY.uri)


lying_uris = st.sampled_from(
    [A, B, "javascript:alert(1)", "http://www.a.example/", "relative", "", "http://", "\x00"]
)
lying_times = st.lists(
    st.sampled_from([T1, T2, "2010", "", "99999999999999", "yesterday"]) | st.integers(), max_size=4
)
lying_links = st.fixed_dictionaries(
    {
        "uri": lying_uris,
        "kind": st.sampled_from(["a@href", "img@src", "<b>", ""]),
        "text": st.text(max_size=5),
        "timestamps": lying_times,
    },
    optional={
        "sources": st.lists(lying_uris, max_size=3),
        "targets": st.lists(lying_uris, max_size=3),
        "rel": st.none() | st.text(max_size=5) | st.integers(),
    },
)


@pytest.mark.costly
@settings(deadline=None, max_examples=200)
@given(
    st.lists(lying_links, max_size=5),
    st.lists(lying_links, max_size=5),
    st.sampled_from([{}, {"direction": "in"}, {"to": "2009"}, {"kind": "a@href"}]),
)
def test_of_lying_json_every_link_and_time_is_kept_or_refused_once(
    outlinks: list[dict[str, object]], inlinks: list[dict[str, object]], asked: dict[str, str]
) -> None:
    query = LinkQuery.from_parameters([("uri", A), *asked.items()])
    for link in [*outlinks, *inlinks]:  # each by itself, so that equal links are not one
        way = "outlinks" if link in outlinks else "inlinks"
        body = {"uri": A, "outlinks": [], "inlinks": [], way: [link]}
        found, refused = accepted_findings(parse_json_answer(json.dumps(body).encode()), query, "x")
        assert len(found.links) + of_links(refused) == 1
        for (source, target, _, _), seen in found.links.items():
            assert query.surt in (source, target)
            assert all(uri.startswith("http://") for uri in seen.sources)
            times = link["timestamps"]
            assert isinstance(times, list)
            dropped = refused[Refused.BAD_TIME] + refused[Refused.OTHER_TIME]
            assert len(seen.timestamps["x"]) <= len(times) - dropped <= len(times)
            assert set(seen.timestamps["x"]) <= {T1, T2, "20100101000000"}


@pytest.mark.costly
@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([A, B, "", "javascript:x", "a.example"]),
            st.lists(st.tuples(st.sampled_from(["Outlinks", "Inlinks"]), lying_uris), max_size=3),
        ),
        max_size=4,
    )
)
def test_of_a_lying_listing_every_link_is_kept_or_refused_once(
    pages: list[tuple[str, list[tuple[str, str]]]],
) -> None:
    document = listing(
        *(
            (
                page,
                "".join(
                    LINK.format(way, uri.replace("\x00", ""), way) + f"<twg:n{number}/>"
                    for number, (way, uri) in enumerate(links)
                ),
            )
            for page, links in pages
        )
    )
    try:
        found, refused = accepted_findings(parse_listing(document, QUERY.uri), QUERY, "x")
    except InstanceError:
        return  # no page with a name, or the first one is another
    listed = sum(len(links) for _, links in pages)
    ours = [links for page, links in pages if page in (A, "a.example")]
    assert of_links(refused) >= listed - sum(map(len, ours))
    assert len(found.links) <= sum(map(len, ours))
    for (source, target, _, _), seen in found.links.items():
        assert QUERY.surt in (source, target)
        assert all(uri.startswith("http://") for uri in seen.sources)


def of_links(refused: Counter[Refused]) -> int:
    """Return the number of links that were refused as a whole."""
    return sum(number for reason, number in refused.items() if reason.is_of_member)


def test_the_direction_that_was_not_asked_for_is_passed_over() -> None:
    found, refused = accepted_findings(
        answer_with(GOOD), LinkQuery.from_parameters([("uri", A), ("direction", "in")]), "x"
    )
    assert (len(found.links), refused) == (0, {Refused.NOT_ASKED: 1})


def test_a_huge_text_is_cut_and_foreign_variants_are_dropped() -> None:
    found, refused = accepted_findings(
        answer_with(
            {
                **GOOD,
                "text": "x\x00" * 1_000_000,
                "sources": ["http://evil.example/", "https://www.a.example/"],
            }
        ),
        QUERY,
        "x",
    )
    ((key, link),) = found.links.items()
    assert key[3] == "x\ufffd" * 500
    assert link.sources == {"https://www.a.example/"}
    assert refused == {Refused.OTHER_VARIANT: 1, Refused.CUT_TEXT: 1}


def test_a_huge_literal_in_a_listing_is_cut() -> None:
    document = LISTING_1.replace(">News<", f">{'News' * 1_000_000}<")
    found, _ = accepted_findings(parse_listing(document.encode(), VANCOUVER.uri), VANCOUVER, "x")
    assert max(len(key[3]) for key in found.links) <= 1000


def test_an_answer_about_something_else_is_refused() -> None:
    with pytest.raises(InstanceError, match=r"answers about http://b\.example/"):
        accepted_findings(
            parse_json_answer(json.dumps({"uri": B, "outlinks": [], "inlinks": []}).encode()),
            QUERY,
            "x",
        )
    with pytest.raises(InstanceError, match="answers about"):
        accepted_findings(parse_listing(LISTING_1.encode(), QUERY.uri), QUERY, "x")


def test_a_listing_cannot_say_what_was_in_force() -> None:
    query = LinkQuery.from_parameters([("uri", "vancouver2010.com"), ("at", "2010")])
    with pytest.raises(InstanceError, match="in force at that time"):
        accepted_findings(parse_listing(LISTING_1.encode(), query.uri), query, "x")


@pytest.mark.parametrize(
    "mementos",
    [
        {"count": -1, "first": T1, "last": T2, "asked": 1, "links_known": 1},
        {"count": 10**18, "first": T1, "last": T2, "asked": 1, "links_known": 1},
        {"count": 1, "first": T2, "last": T1, "asked": 1, "links_known": 1},
        {"count": 1, "first": "x", "last": T2, "asked": 1, "links_known": 1},
        {"count": 1, "first": T1, "last": T2, "asked": 5, "links_known": 1},
        {"count": True, "first": T1, "last": T2, "asked": 1, "links_known": 1},
        {"count": 0},
        "many",
    ],
    ids=str,
)
def test_a_summary_that_cannot_be_is_replaced_by_what_the_links_show(mementos: object) -> None:
    found, refused = accepted_findings(answer_with(GOOD, mementos=mementos), QUERY, "x")
    assert (found.mementos["x"].count, found.mementos["x"].first) == (1, T1)
    assert refused == {Refused.BAD_MEMENTOS: 1}


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
def test_an_invalid_instance_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--instance"):
        parse_instance(text)


@pytest.mark.parametrize(
    "texts", [["a=http://h", "a=http://i"], ["a=http://h", "b=http://h/"]], ids=["name", "URL"]
)
def test_an_instance_given_twice_is_a_usage_error(texts: list[str]) -> None:
    with pytest.raises(UsageError, match="already given"):
        parse_instances(texts)


def test_the_question_holds_what_was_asked() -> None:
    instance = parse_instance("x=https://h.example:81/olympics/")
    query = LinkQuery.from_parameters(
        [
            ("uri", "http://a.example/?b=c&d#e"),
            ("from", "2010"),
            ("kinds", "a@href"),
            ("direction", "in"),
            ("limit", "3"),
        ]
    )
    assert question(instance, query, "CUR") == (
        "https://h.example:81/olympics/LinkService/linkQuery?uri=http%3A%2F%2Fa.example%2F%3Fb%3Dc%26d%23e&direction=in&limit=10000&from=20100101000000&kinds=a%40href&cursor=CUR"
    )
    assert plain_question(instance, query).endswith(
        "/LinkService/linkQuery?uri=http%3A%2F%2Fa.example%2F%3Fb%3Dc%26d%23e"
    )


def test_every_reason_of_refusal_is_documented() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs/reference/service.md").read_text("utf-8")
    documented = re.findall(
        r"^\| `([^`]+)` \|", text.partition("| in `refused` |")[2], re.MULTILINE
    )
    assert documented[: len(Refused)] == [reason.value for reason in Refused]
