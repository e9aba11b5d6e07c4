"""Targets of links, compared with the tables of the URL Standard and with its parser."""

import csv
import json
import re
from pathlib import Path

import ada_url
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from arclink.checksums import normal_checksum
from arclink.errors import UriError
from arclink.model import Checksum, Scope, UriR
from arclink.reasons import Reason
from arclink.uris.resolution import (
    _FIELDS,
    Base,
    _fields,
    checksum_of,
    class_of,
    content_id,
    cut,
    fields_of,
    joined,
    scope_of,
)
from tests.uris.generated_references import from_above, references


def resolved(reference: str, base: str | None) -> str | None:
    """Return where a reference leads; None if it is invalid."""
    try:
        return Base(UriR(base or ""), None).resolve(reference)
    except UriError as error:
        return None if error.reason is Reason.LINK_INVALID else error.reason.name


def without_fragment(uri: str | None) -> str | None:
    return None if uri is None else uri.partition("#")[0]


# The tables of others.


def test_every_case_of_the_url_standard_resolves(shared_data: Path) -> None:
    cases = [
        case
        for case in json.loads((shared_data / "urls/urltestdata.json").read_bytes())
        if isinstance(case, dict)
    ]
    wrong = [
        (case["input"], case["base"])
        for case in cases
        if resolved(case["input"], case["base"])
        != without_fragment(None if case.get("failure") else case["href"])
    ]
    assert wrong == []
    assert len(cases) > 800


def test_every_case_of_a_crawler_resolves(shared_data: Path) -> None:
    lines = (shared_data / "urls/url-resolve.csv").read_text("utf-8").splitlines()
    cases = list(
        csv.reader((line for line in lines if line and line[0] != "#"), skipinitialspace=True)
    )
    assert [case for case in cases if resolved(case[0], case[1]) != without_fragment(case[2])] == []
    assert len(cases) > 20


def test_every_host_of_the_url_standard_is_spelled_as_it_says(shared_data: Path) -> None:
    cases = [
        case
        for case in json.loads((shared_data / "urls/toascii.json").read_bytes())
        if isinstance(case, dict)
    ]
    wrong = [
        case["input"]
        for case in cases
        if resolved(f"https://{case['input']}/x", None)
        != (case["output"] and f"https://{case['output']}/x")
    ]
    assert wrong == []
    assert len(cases) > 80


def test_dots_in_paths_are_resolved(shared_data: Path) -> None:
    cases: dict[str, str] = json.loads((shared_data / "urls/path_dots.json").read_bytes())[
        "special"
    ]
    # The table knows no backslash; to the URL Standard it is a slash there.
    cases = {path: expected for path, expected in cases.items() if "\\" not in path}
    assert {
        path
        for path, expected in cases.items()
        if resolved("http://h" + path, None) != "http://h" + expected
    } == set()
    assert len(cases) > 300


def test_odd_addresses_are_spelled_out(shared_data: Path) -> None:
    cases: dict[str, str | None] = json.loads((shared_data / "urls/funky_ipv4.json").read_bytes())
    del cases["0000xa"]  # an address by an older standard; not a number today, so a name
    assert {
        host
        for host, expected in cases.items()
        if resolved(f"http://{host}/", None) != (expected and f"http://{expected}/")
    } == set()
    assert len(cases) > 30


SUPPLEMENTAL_EXCEPTIONS = {
    **dict.fromkeys(("www.google.com", "www.google.com/"), "relative without base"),
    "http://09/": "ends in a number that is no address",
    "http://\xe2\x98\x83.net/": "the table's host is mojibake, which has a control character",
    **dict.fromkeys(
        ("file://%", "file://%/", "file://%/a/b", "http://%/", "http:/%/", "http:%/"),
        "% is forbidden in a host",
    ),
    "http://info@merseburger.de%20/": "a blank is forbidden in a host",
}
DOTS_ARE_AN_ADDRESS = (
    "%2e/a/b",
    "%2e%2e/a/b",
    "%2e%2e%2e/a/b",
)  # 0.0.0.0 to the table; names to the standard


def test_odd_uris_are_normalized(shared_data: Path) -> None:
    cases: dict[str, str] = json.loads((shared_data / "urls/supplemental_whatwg.json").read_bytes())
    wrong = {
        uri for uri, expected in cases.items() if resolved(uri, None) != without_fragment(expected)
    }
    assert {uri for uri in wrong if not uri.endswith(DOTS_ARE_AN_ADDRESS)} <= set(
        SUPPLEMENTAL_EXCEPTIONS
    )
    assert len(cases) > len(wrong) * 2


# Plain references take a short way; it must lead where the parser does.


PAGES = [
    "http://www.example.org/a/b/page.html?q=1#f",
    "http://www.example.org/a/b/",
    "http://www.example.org/a/b",
    "http://www.example.org/a/b?other",
    "http://www.example.org",
    "HTTP://WWW.Example.ORG:80/a/./b/page.html",
    "https://www.example.org/a/b/page.html",
    "http://user:pw@www.example.org:8080/a/b/c",
    "http://www.example.org:8080/a/b/c",
    "http://www.example.org//a//b",
    "http://www.example.org/a/b;c/%2e%2e/x y?ä",
    "http://b\u00fccher.example/a/",
    "ftp://ftp.example.org/a/b",
    "file:///C:/a/b.html",
    "file:///D:/a/b.html",
    "file:///C:",
    "file:///D:",
    "file:///a/b.html",
    "file://host/a/b.html",
    "foo://h/a/b",
    "foo://h/a/c",
    "foo://h",
    "foo:///a/b",
    "foo:/a/b",
    "foo:/.//a/b",
    "foo:",
    "foo:a",
    "foo:a?q",
    "mailto:a@example.org",
    "dns:www.example.org",
    "about:blank",
    "http:",
    "www.example.org/a",
    "not a uri",
    "\n\n",
    "",
    "http://h/\ud800",
]
BASES = [
    None,
    "",
    "#f",
    "?p",
    "d/",
    "../d/e",
    "/r/s",
    "//other.org/d/",
    "https://b.org/b/c",
    "http:x/y",
    "http:",
    "data:,x",
    "http://[",
    "foo:x",
]


@given(references | from_above, st.sampled_from(PAGES))
@example("../../../x.html", PAGES[0])
@example("../", PAGES[9])
@example("http://www.example.org/a.b/c?d=/e#f", PAGES[0])
@example("x/y..z/.a", PAGES[0])
@example("a:b", PAGES[0])
@example("http://a.xn--a.org/", PAGES[0])
@example("http://a.b1/", PAGES[0])
@example("http://" + "a" * 300 + ".org/", PAGES[0])
def test_a_reference_resolves_as_the_parser_says(reference: str, page: str) -> None:
    clean = reference.replace("\ud800", "\ufffd")
    try:
        base = ada_url.normalize_url(page)
    except ValueError:
        base = None
    try:
        expected = (
            ada_url.normalize_url(clean) if base is None else ada_url.join_url(base, clean)
        ).partition("#")[0]
    except ValueError:
        expected = None
    assert resolved(reference, page) == expected


@pytest.mark.parametrize(
    "reference",
    [
        "/x/y.html?a=b&c=%20#f",
        "x/y.html",
        "http://www.example.org/a/b.html?c",
        "0#",
        "../../x.html",
    ],
)
def test_plain_references_do_not_go_to_the_parser(
    reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = Base(UriR("http://h.org/a/b"), None)
    expected = base.resolve(reference)

    def refuse(*_: str) -> str:
        raise AssertionError

    monkeypatch.setattr(ada_url, "join_url", refuse)
    assert base.resolve(reference) == expected


# Classes.

CLASSES = [
    ("", Scope.DOCUMENT),
    (" \t\n", Scope.DOCUMENT),
    ("#f", Scope.DOCUMENT),
    ("#", Scope.DOCUMENT),
    ("\n#f", Scope.DOCUMENT),
    ("http:#f", Scope.DOCUMENT),
    ("http:", Scope.DOCUMENT),
    ("?q", Scope.PATH),
    (" ?q", Scope.PATH),
    ("http:?q", Scope.PATH),
    ("x", Scope.DIRECTORY),
    ("./x", Scope.DIRECTORY),
    ("../x", Scope.DIRECTORY),
    ("..", Scope.DIRECTORY),
    ("x/y:z", Scope.DIRECTORY),
    (":x", Scope.DIRECTORY),
    ("1a:x", Scope.DIRECTORY),
    ("%2f", Scope.DIRECTORY),
    ("ä", Scope.DIRECTORY),
    ("äb:c", Scope.DIRECTORY),
    ("http:x", Scope.DIRECTORY),
    ("HTTPS:x", Scope.DIRECTORY),
    ("file:x", Scope.DIRECTORY),
    ("/", Scope.ORIGIN),
    ("/x", Scope.ORIGIN),
    (" /x", Scope.ORIGIN),
    ("/x//y", Scope.ORIGIN),
    ("http:/x", Scope.ORIGIN),
    ("//h/x", Scope.SCHEME),
    ("//", Scope.SCHEME),
    ("/\t/h/x", Scope.SCHEME),
    ("http://h/x", Scope.NONE),
    ("http:\n//h/x", Scope.NONE),
    ("ht\ttp://h/x", Scope.NONE),
    ("https://h", Scope.NONE),
    ("ftp://h", Scope.NONE),
    ("mailto:a@b", Scope.NONE),
    ("a.b+c-d:x", Scope.NONE),
    ("javascript:void(0)", Scope.NONE),
    ("C:/x", Scope.NONE),
]
BACKSLASHES = [
    ("\\x", Scope.ORIGIN, Scope.DIRECTORY),
    ("\\\\h\\x", Scope.SCHEME, Scope.DIRECTORY),
    ("/\\h", Scope.SCHEME, Scope.ORIGIN),
    ("\\/h", Scope.SCHEME, Scope.DIRECTORY),
    ("http:\\x", Scope.ORIGIN, Scope.ORIGIN),
    ("http:\\\\h", Scope.NONE, Scope.NONE),
]


@pytest.mark.parametrize("scheme", ["http", "https", "ftp", "file", "foo"])
@pytest.mark.parametrize(
    ("reference", "expected"), CLASSES, ids=[ascii(case[0]) for case in CLASSES]
)
def test_a_reference_has_the_class_of_the_way_it_is_written(
    reference: str, scheme: str, expected: Scope
) -> None:
    assert class_of(reference, scheme) is expected


@pytest.mark.parametrize(
    ("reference", "special", "other"), BACKSLASHES, ids=[ascii(case[0]) for case in BACKSLASHES]
)
def test_a_backslash_is_a_slash_for_special_schemes_only(
    reference: str, special: Scope, other: Scope
) -> None:
    assert class_of(reference, "https") is special
    assert class_of(reference, "foo") is other


@pytest.mark.parametrize(
    ("base_href", "reference", "expected"),
    [
        pytest.param(None, "x", Scope.DIRECTORY, id="no base"),
        pytest.param("/d/", "x", Scope.ORIGIN, id="base is smaller"),
        pytest.param("d/", "/x", Scope.ORIGIN, id="link is smaller"),
        pytest.param("https://h/", "#f", Scope.NONE, id="fragment of an absolute base"),
        pytest.param("?p", "#f", Scope.PATH, id="fragment of a query base"),
        pytest.param("", "#f", Scope.DOCUMENT, id="empty base is the page"),
        pytest.param("http://[", "x", Scope.DIRECTORY, id="base is invalid"),
        pytest.param("data:,", "#f", Scope.DOCUMENT, id="base is data"),
        pytest.param("foo://h/a", "\\x", Scope.NONE, id="base of another scheme"),
    ],
)
def test_the_class_of_a_link_is_the_smaller_of_its_own_and_the_bases(
    base_href: str | None, reference: str, expected: Scope
) -> None:
    assert Base(UriR("http://h/a/b"), base_href).class_of(reference) is expected


@pytest.mark.parametrize(
    ("page", "base_href", "usable", "target"),
    [
        pytest.param("http://h/a/b", None, False, "http://h/a/x", id="none"),
        pytest.param("http://h/a/b", "", True, "http://h/a/x", id="empty"),
        pytest.param("http://h/a/b", "c/d/", True, "http://h/a/c/d/x", id="relative"),
        pytest.param("http://h/a/b", " //g/\n", True, "http://g/x", id="scheme-relative, blanks"),
        pytest.param("http://h/a/b", "https://g/y/#f", True, "https://g/y/x", id="absolute"),
        pytest.param("http://h/a/b", "http://[", False, "http://h/a/x", id="invalid"),
        pytest.param("http://h/a/b", "data:,x", False, "http://h/a/x", id="data"),
        pytest.param("http://h/a/b", "JavaScript:x", False, "http://h/a/x", id="javascript"),
        pytest.param(
            "http://h/a/b", "http://g/" + "x" * 70_000, False, "http://h/a/x", id="too long"
        ),
        pytest.param("no uri", "http://g/y/", True, "http://g/y/x", id="page is invalid"),
    ],
)
def test_links_resolve_against_a_usable_base_else_the_page(
    page: str, base_href: str | None, usable: bool, target: str
) -> None:
    base = Base(UriR(page), base_href)
    assert base.usable is usable
    assert base.resolve("x") == target


def test_an_invalid_page_resolves_absolute_references_only() -> None:
    base = Base(UriR("no uri"), None)
    assert base.uri is None
    assert base.resolve("HTTP://h") == "http://h/"
    with pytest.raises(UriError) as caught:
        base.resolve("/x\ny")
    assert caught.value.reason is Reason.LINK_INVALID
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "reference", ["/" + "x" * 90, "/" + "<" * 40], ids=["plain", "longer when encoded"]
)
def test_a_target_over_the_limit_is_too_long(reference: str) -> None:
    page = UriR("http://h.org/")
    length = len(Base(page, None).resolve(reference))
    assert len(Base(page, None, limit=length).resolve(reference)) == length
    with pytest.raises(UriError) as caught:
        Base(page, None, limit=length - 1).resolve(reference)
    assert caught.value.reason is Reason.LINK_TOO_LONG


@pytest.mark.parametrize(
    ("reference", "charset", "target"),
    [
        pytest.param("?ä", "utf-8", "http://h/a?%C3%A4", id="UTF-8"),
        pytest.param(
            "/ä?ä=%20&b#ä", "windows-1252", "http://h/%C3%A4?%E4=%20&b", id="only the query"
        ),
        pytest.param(
            "?я", "Windows-1252", "http://h/a?%26%231103%3B", id="what the charset cannot hold"
        ),
        pytest.param("?яä", "windows-1251", "http://h/a?%FF%26%23228%3B", id="in part"),
        pytest.param("?あ", "shift_jis", "http://h/a?%82%A0", id="shift_jis"),
        pytest.param("?ソ", "shift_jis", "http://h/a?%83\\", id="second byte is a backslash"),
        pytest.param("?あ", "iso-2022-jp", "http://h/a?%1B$B$%22%1B(B", id="escape sequences"),
        pytest.param("?ä", "utf-16le", "http://h/a?%C3%A4", id="UTF-16 has UTF-8 queries"),
        pytest.param("?ä", "rot13", "http://h/a?%C3%A4", id="no charset"),
        pytest.param("https://g/?ä", "windows-1252", "https://g/?%E4", id="absolute"),
        pytest.param("ws://g/?ä", "windows-1252", "ws://g/?%C3%A4", id="ws is always UTF-8"),
        pytest.param("foo://g/?ä", "windows-1252", "foo://g/?%C3%A4", id="scheme is not special"),
        pytest.param("mailto:a?subject=ä", "windows-1252", "mailto:a?subject=%C3%A4", id="opaque"),
        pytest.param(" ?ä #f", "windows-1252", "http://h/a?%E4%20", id="blank before a fragment"),
        pytest.param("#?ä", "windows-1252", "http://h/a", id="in a fragment"),
        pytest.param("?\ud800", "windows-1252", "http://h/a?%26%2365533%3B", id="lone surrogate"),
    ],
)
def test_a_query_is_encoded_in_the_charset_of_its_page(
    reference: str, charset: str, target: str
) -> None:
    assert Base(UriR("http://h/a"), None, charset).resolve(reference) == target


def test_the_base_element_is_read_in_the_charset_of_its_page() -> None:
    assert Base(UriR("http://h/a"), "/b?ä", "windows-1252").resolve("#") == "http://h/b?%E4"


# Scope and cut.


def test_the_scope_of_a_content_is_its_widest_class() -> None:
    assert scope_of([Scope.SCHEME, Scope.DIRECTORY, Scope.NONE]) is Scope.DIRECTORY
    assert scope_of([]) is Scope.NONE


@pytest.mark.parametrize(
    ("original", "fields"),
    [
        pytest.param(
            "HTTP://u:p@H.org:8080/a/../b/c?q#f",
            ("http", "//u:p@h.org:8080", "/b/", "c", "?q"),
            id="all five",
        ),
        pytest.param("http://h", ("http", "//h", "/", "", ""), id="host only"),
        pytest.param(
            "http://h/a?b/c?d", ("http", "//h", "/", "a", "?b/c?d"), id="slash in the query"
        ),
        pytest.param("http://[::1]:81/a", ("http", "//[::1]:81", "/", "a", ""), id="IPv6"),
        pytest.param("mailto:a@b?c#d", ("mailto:a@b?c", "", "", "", ""), id="opaque"),
        pytest.param("foo:/a/b", ("foo", "", "/a/", "b", ""), id="no host"),
        pytest.param(
            "foo:/.//a", ("foo", "/.", "//", "a", ""), id="no host, path begins with two slashes"
        ),
        pytest.param("foo:///a", ("foo", "//", "/", "a", ""), id="empty host"),
        pytest.param("foo://h?q", ("foo", "//h", "", "", "?q"), id="no path"),
        pytest.param("file:///C|/a/b", ("file", "///C:/a/b", "", "", ""), id="drive letter"),
        pytest.param("www.h.org/a\nb", ("", "www.h.org/a\nb", "", "", ""), id="no valid URL"),
    ],
)
def test_the_fields_of_a_uri_are_those_of_its_serialisation(
    original: str, fields: tuple[str, ...]
) -> None:
    assert fields_of(UriR(original)) == fields


@given(st.text("ab/.?#:%2eE;=&@~", max_size=20))
def test_fields_found_the_short_way_are_those_of_the_serialisation(rest: str) -> None:
    original = UriR(f"http://www.h.example/{rest}")
    serialised = ada_url.normalize_url(original).partition("#")[0]
    fields = fields_of(original)
    assert fields == _fields(serialised)
    by_expression = _FIELDS.fullmatch(serialised)
    assert by_expression is not None
    assert fields == by_expression.groups()
    assert f"{fields[0]}:{''.join(fields[1:])}" == serialised


def target_of(base: Base, reference: str) -> str | None:
    try:
        return base.resolve(reference)
    except UriError:
        return None


CUTS = {(page, scope): cut(UriR(page), scope) for page in PAGES for scope in Scope}
ODD_LINKS = (
    [case[0] for case in CLASSES]
    + [case[0] for case in BACKSLASHES]
    + ["C|/x", "/C|/x", "//C:/x", "/..//x", "foo:x", "file:/x"]
)


@pytest.mark.parametrize("base_href", BASES, ids=ascii)
def test_pages_with_equal_cuts_resolve_every_odd_link_alike(base_href: str | None) -> None:
    bases = {page: Base(UriR(page), base_href) for page in PAGES}
    for link in ODD_LINKS:
        targets = {page: target_of(bases[page], link) for page in PAGES}
        for read in PAGES:
            scope = bases[read].class_of(link)
            alike = [page for page in PAGES if CUTS[page, scope] == CUTS[read, scope]]
            assert {targets[page] for page in alike} == {targets[read]}, (link, read)


paths = st.lists(
    st.sampled_from(["a", "b", "/", "//", "/../", "?", "#", ":", "C:", "|", ".", "%2e", "\\", "@"]),
    max_size=5,
).map("".join)
pages = st.one_of(
    st.sampled_from(PAGES),
    st.tuples(
        st.sampled_from(
            ["http://h/", "https://h/", "http://h:8/", "file:///", "foo://h/", "foo:/", "foo:"]
        ),
        paths,
    ).map("".join),
)


@given(
    pages,
    pages,
    st.one_of(st.sampled_from(BASES), references),
    st.one_of(st.sampled_from(ODD_LINKS), references),
)
def test_pages_with_equal_cuts_resolve_every_link_alike(
    one: str, other: str, base_href: str | None, reference: str
) -> None:
    """A payload with one link is read at one page: the link is right at another page with its
    vertex.
    """
    read, shown = Base(UriR(one), base_href), Base(UriR(other), base_href)
    scope = read.class_of(reference)
    if cut(UriR(one), scope) == cut(UriR(other), scope):
        assert target_of(read, reference) == target_of(shown, reference)


def test_a_content_without_relative_links_is_one_vertex_everywhere() -> None:
    assert (
        content_id(Checksum("A"), UriR("http://h/a"), Scope.NONE)
        == content_id(Checksum("A"), UriR("no uri"), Scope.NONE)
        == "A"
    )


@pytest.mark.parametrize("scope", list(Scope)[1:])
def test_pages_that_differ_in_one_field_share_contents_of_narrower_scopes_only(
    scope: Scope,
) -> None:
    page = UriR("http://h/a/b?q")
    others = [
        "https://h/a/b?q",
        "http://g/a/b?q",
        "http://h/c/b?q",
        "http://h/a/d?q",
        "http://h/a/b?r",
    ]
    ids = [content_id(Checksum("A"), UriR(other), scope) for other in others]
    assert [
        index for index, other in enumerate(ids) if other != content_id(Checksum("A"), page, scope)
    ] == list(range(scope))


def test_a_fragment_makes_no_other_page_of_an_international_host() -> None:
    assert cut(UriR("http://xn--a.com/d/p#\udc80"), Scope.DOCUMENT) == cut(
        UriR("http://xn--a.com/d/p"), Scope.DOCUMENT
    )
    assert Base(UriR("http://xn--a.com/d/p#\udc80"), None).resolve("/x") == Base(
        UriR("http://xn--a.com/d/p"), None
    ).resolve("/x")


@pytest.mark.parametrize(
    "original", ["", "no uri", "www.h.org/a", "http://h/\ud800", "a\nb"], ids=ascii
)
def test_an_original_that_is_no_url_has_a_vertex_of_its_own(original: str) -> None:
    ids = {
        content_id(Checksum("A"), UriR(other), Scope.ORIGIN)
        for other in (original, original + "x", "http://h/", "mailto:x")
    }
    assert len(ids) == 4
    assert all(len(content) == len("A-") + 16 for content in ids)


@given(st.text(), st.sampled_from(Scope))
def test_the_checksum_can_be_read_from_a_vertex(digest: str, scope: Scope) -> None:
    checksum = normal_checksum(digest)
    assert checksum_of(content_id(checksum, UriR("http://h.example/a/b?c"), scope)) == checksum


BASES = [
    *("b/", "/b/", "c", "../", "..", "%2e%2E", ".", "?q", "#f", "", "/b #f", "\\x\\y", "./a:b/"),
    *("//h.org", "//h.org/a/b", "http://h.org/k/", "http://h.org", "http:\\\\h\\k", "http:////h"),
    *("foo://x/y", "foo:/x/y", "mailto:a", "data:,x", "http://["),
]
BY_SCHEME_OF_PAGE = re.compile(
    r"[\x00- ]*(?:(?:https?|ftp|wss?):(?![/\\]{2})|file:)", re.IGNORECASE
)


@given(
    st.lists(st.sampled_from(BASES) | references | from_above, max_size=4),
    st.sampled_from(BASES) | references | from_above,
    st.sampled_from(["http://p.org/d/e?f", "https://u@p.org:8/", "http://p.org/a/b/c/d/"]),
)
def test_a_reference_joined_with_its_bases_leads_where_they_lead_one_by_one(
    bases: list[str], reference: str, page: str
) -> None:
    written = ["".join(re.split("[\t\n\r]", text)) for text in (*bases, reference)]
    assume(not any(map(BY_SCHEME_OF_PAGE.match, written)))
    place, base = UriR(page), ""
    for outer in bases:
        inner = Base(place, outer)
        try:
            whole = joined(base, outer)
        except UriError:
            assert not inner.usable
            continue
        assert Base(UriR(page), whole).usable == inner.usable
        if inner.usable:
            place, base = UriR(inner.uri or ""), whole
    try:
        whole = joined(base, reference)
    except UriError:
        whole = "http://["
    assert resolved(whole, page) == resolved(reference, place)
    if resolved(whole, page) is not None:
        classes = [class_of(reference, "http"), class_of(base, "http")]
        assert class_of(whole, "http") <= min(classes)
