"""SURTs and keys in CDX files, compared with the ``surt`` package on tables, links and odd text.

Keys in CDX files are those of the package. A SURT is the same key, unless one of `OTHER_RULES`
applies to the URI.
"""

import contextlib
import csv
import gzip
import json
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest
import surt  # type: ignore[import-untyped]
from hypothesis import example, given
from hypothesis import strategies as st

from arclink.errors import UriError
from arclink.model import Surt
from arclink.reasons import Reason
from arclink.uris import surts
from arclink.uris.hosts import Host, is_public_suffix
from arclink.uris.surts import (
    cdx_key,
    page_of,
    record_of_page,
    surt_of,
    surt_of_page,
    surt_of_query,
    surt_or_none,
    wide_cdx_prefixes,
)
from tests.uris.generated_uris import by_package, by_package_in_punycode, pieces, sites


@pytest.fixture(autouse=True, scope="module")
def _no_name_service() -> Iterator[None]:
    """Let the package find no host by name: its keys would depend on the network."""

    def numeric_only(host: bytes) -> tuple[str, list[str], list[str]]:
        try:
            return "", [], [socket.inet_ntoa(socket.inet_aton(host.decode()))]
        except OSError:
            raise socket.gaierror from None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "gethostbyname_ex", numeric_only)
        yield


def has_www_of_its_own(uri: str) -> bool:
    """Return whether ``www`` is a part of a registered domain, or nothing but it makes a name."""
    found = re.search(r"(?:^|//|@|:)\.*www\d*\.+([^/?#:]*)", unquote(uri), re.IGNORECASE)
    if found is None:
        return False
    rest = found[1].lower().strip(".")
    return "." not in rest or rest[-1].isdigit() or is_public_suffix(Host(rest))


OTHER_RULES: Mapping[str, Callable[[str], object]] = {
    "registered domains keep their name": has_www_of_its_own,
    "delimiters keep their meaning": re.compile(
        "%(?:2[356bf]|3[bdf]|[0-9a-f]?%)", re.IGNORECASE
    ).search,
    "records about a page belong to it": record_of_page,
}
"""The rules by which a SURT differs from the package's, each with whether it applies to a URI."""


def is_as_documented(uri: str) -> bool:
    """Return whether a SURT is the key in CDX files, or may differ from it by a named rule."""
    return surt_of(uri) == cdx_key(uri) or any(applies(uri) for applies in OTHER_RULES.values())


def differences(uris: Iterable[str]) -> list[tuple[str, str | None, str | None]]:
    return [
        (uri, ours, theirs)
        for uri in uris
        if (theirs := by_package(uri)) is not None and (ours := cdx_key(uri)) != theirs
    ]


# The tables of others.


def rows_of(path: Path) -> Iterator[list[object]]:
    """Yield the rows of JSON lines; texts in them may hold other line separators."""
    return (json.loads(line) for line in path.read_text("utf-8").split("\n") if line)


def texts_of(value: object) -> Iterator[str]:
    """Yield every string in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for part in pair for text in texts_of(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in texts_of(part))


def test_every_text_of_the_tables_has_the_key_of_the_package(shared_data: Path) -> None:
    texts: set[str] = set()
    for path in sorted((shared_data / "urls").iterdir()):
        if path.suffix == ".json":
            texts.update(texts_of(json.loads(path.read_bytes())))
        elif path.suffix == ".jsonl":
            texts.update(texts_of(list(rows_of(path))))
        else:
            texts.update(
                cell
                for row in csv.reader(path.read_text("utf-8").split("\n"), skipinitialspace=True)
                for cell in row
            )
    assert len(texts) > 3000
    assert [uri for uri in texts if not is_as_documented(uri)] == []
    assert all(
        any(applies(uri) for uri in texts if surt_of(uri) != cdx_key(uri))
        for name, applies in OTHER_RULES.items()
        if name != "records about a page belong to it"
    )
    different = differences(texts)
    assert [uri for uri, *_ in different if unquote(uri).isascii()] == []
    assert len(different) > 20, "names in the tables of browsers"
    assert [uri for uri, ours, _ in different if ours != by_package_in_punycode(uri)] == []


DEFAULTS = [{}, {"with_scheme": False}, {"with_scheme": False, "trailing_comma": False}]


def test_the_package_s_own_assertions_hold(shared_data: Path) -> None:
    rows = rows_of(shared_data / "urls/surt_python_asserts.jsonl")
    cases = {
        uri: expected
        for _, call, uri, options, expected in rows
        if call == "surt.surt" and isinstance(uri, str) and options in DEFAULTS
    }
    # The package's tests mark it as an expected failure: it undoes %26 before it splits at &.
    with_escaped_delimiter = "http://example.com/script?type=a+b+%26+c&grape=wine"
    assert surt_of(with_escaped_delimiter) == cases.pop(with_escaped_delimiter)
    assert {uri: cdx_key(uri) for uri in cases} == cases
    assert [uri for uri in cases if not is_as_documented(uri)] == []
    assert len(cases) > 15


def test_the_keys_of_the_java_original_hold(shared_data: Path) -> None:
    rows = rows_of(shared_data / "urls/java_canonicalizer_pairs.jsonl")
    cases = {
        str(uri): expected for _, _, function, uri, expected in rows if function == "km.makeKey"
    }
    # The package leaves opaque URIs unchanged, the Java class reads their path as a host.
    assert [cases.pop(f"dns:{host}") for host in ("alexa.com", "archive.org")] == [
        "com,alexa)",
        "org,archive)",
    ]
    cases |= json.loads((shared_data / "urls/surt.json").read_bytes())["defaultIASurt"]
    assert {uri: cdx_key(uri) for uri in cases} == cases
    assert [uri for uri in cases if not is_as_documented(uri)] == []
    assert len(cases) > 20


# Real links.


def test_every_real_link_has_the_key_of_the_package(shared_data: Path) -> None:
    links: set[str] = set()
    for path in [
        *shared_data.glob("aut/*.jsoup-links.tsv.gz"),
        *shared_data.glob("flink_web/*.jsoup-links.tsv.gz"),
    ]:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            links.update(part for line in lines for part in line.split("\t")[1:3])
    for path in shared_data.glob("aut/*.heritrix-outlinks.tsv"):
        with path.open(encoding="utf-8", newline="\n") as lines:
            links.update(part for line in lines for part in line.split("\t")[1:3])
    assert len(links) > 20_000
    assert differences(links) == []
    assert [uri for uri in links if not is_as_documented(uri)] == []


# Odd text.

ODD = [
    "",
    " ",
    "-",
    "#",
    "?x",
    "foo",
    "http:",
    "http:x",
    "http:/h/x",
    "http://",
    "http:///",
    "http:///x",
    "http:////////h/x",
    "http://:80/x",
    "http://@/x",
    "http://h",
    "http://h?",
    "http://h/?",
    "http://h/x?",
    "http://h?q",
    "http://h#f",
    "http://h/x/?a#f?",
    "HTTP://H/X",
    "http://H/X/",
    "http://http://h/x",
    "http://https://h/x",
    "https://http:/h/x",
    "http://http:/x",
    "https://h:80/x",
    "https://h:443/x",
    "http://h:80/x",
    "http://h:443/x",
    "http://h:/x",
    "http://h:0/x",
    "http://h:008080/x",
    "http://h:99999/x",
    "http://h:80x/x",
    "http://u:p@h:8080/x",
    "http://u@p@h/x",
    "ftp://u:p@h:21/X/",
    "http://www.h.org/",
    "http://www1.h.org/",
    "http://WWW12.h.org/",
    "http://www.com/",
    "http://www./",
    "http://wwwh.org/",
    "http://a..b./",
    "http://a...b../",
    "http://b\u00fccher.ch/stra\u00dfe?\u00e4",
    "http://xn--bcher-kva.ch/",
    "http://h%2e.org/",
    "http://h%0a/",
    "http://[::1]/x",
    "http://[::1]:81/x",
    "http://[bad/x",
    "http://1.2.3.4/x",
    "http://1.2.3/x",
    "http://010.1/x",
    "http://08.1/x",
    "http://0x7f.1/x",
    "http://3279880203/x",
    "http://256.1.1.1/x",
    "http://1.2.3.4.5/x",
    "http://1.08.1.1/x",
    "http://\uff12\uff15\uff16.1.1.1/x",
    "http://" + "9" * 5000 + "/",
    "http://h/a//b///c//",
    "http://h//",
    "http://h///?q",
    "http://h/./a/../b/.c/..d",
    "http://h/../..",
    "http://h/a/.",
    "http://h/%2e%2e/a",
    "http://h/a%2F%2fb%2F",
    "http://h/%7Ea%7eB",
    "http://h/%41%5A%c3%9f%C3%9F",
    "http://h/%2541%25",
    "http://h/%%34%31",
    "http://h/%252541%252525",
    "http://h%25252e.org/?%25%32%35%252542",
    "filedesc:%252541",
    "mailto:%252541",
    "http://h/100%",
    "http://h/%zz%a",
    "http://h/%3Fq=1%23f",
    "http://h/?%3D=%26&a%23&%41",
    "http://h/a%00%0a%20%7f",
    "http://h/a b\tc\nd\re\x0bf\x00",
    "http://h/<\"'`{}|\\^>",
    "http://h\\x/y",
    "http://h/?b=2&a=1&a=&a&&b=1",
    "http://h/?&",
    "http://h/?a==&a=1",
    "http://h/?a1=1&a=2",
    "http://h/?A=B&a=b",
    "http://h/?x?y/../z",
    "http://h/?jsessionid=" + "a1" * 16 + "&x=y",
    "http://h/?x=y&JSESSIONID=" + "A1" * 16,
    "http://h/?phpsessid=" + "a1" * 16 + "&sid=" + "b" * 32,
    "http://h/?%73id=" + "a" * 32,
    "http://h/?ASPSESSIONIDabcdefgh=" + "a" * 24 + "&x",
    "http://h/?cfid=1&cftoken=2&x=3",
    "http://h/(S(" + "a" * 24 + "))/x.aspx",
    "http://h/(" + "A" * 24 + ")/X.ASPX?q",
    "http://h/%28" + "a" * 24 + "%29/x.aspx",
    "http://h/(" + "a" * 24 + ")/x.html",
    "http://h/\ud800",
    "http://h/#\ud800",
    "mailto:A@Example.org?Subject=B",
    "dns:www.Example.org",
    "dns://8.8.8.8/h.org",
    "filedesc:foo.arc.gz",
    "filedesc://a b.arc",
    "whois://whois.isoc.org.il/shaveh.co.il",
    "whois:h.org",
    "warcinfo:a",
    "urn:isbn:123",
    "javascript:alert('x')",
    "data:text/html,<a>",
    "h:8080/x",
    "h.org/x",
    "//h/x",
]


@pytest.mark.parametrize("uri", ODD, ids=lambda uri: ascii(uri[:40]))
def test_an_odd_uri_has_the_key_of_the_package(uri: str) -> None:
    assert differences([uri]) == []
    assert is_as_documented(uri)
    assert (surt_or_none(uri) is None) == (by_package(uri) is None)


@given(sites, st.lists(pieces, max_size=10).map("".join))
@example("http://h", "?" + "%4" * 3)
def test_any_text_has_the_key_of_the_package(site: str, rest: str) -> None:
    uri = site + rest
    assert differences([uri]) == []
    assert is_as_documented(uri)
    assert (surt_or_none(uri) is None) == (by_package(uri) is None)


labels = st.sampled_from(
    [
        "www",
        "www2",
        "www2x",
        "wwww",
        "com",
        "a-b",
        "a_b",
        "xn--a",
        "-",
        "1",
        "x" * 63,
        "x" * 64,
        "A",
        "",
        "h%41",
    ]
)


@given(
    st.lists(labels, min_size=1, max_size=5).map(".".join),
    st.sampled_from(["", ":80", ":8080", "."]),
)
def test_any_host_has_the_key_of_the_package(host: str, port: str) -> None:
    for scheme in ("http", "https"):
        uri = f"{scheme}://{host}{port}/a"
        assert differences([uri]) == []
        assert is_as_documented(uri)


@given(
    st.lists(st.sampled_from([*"aZé1ß.-", "ẞ", "ς", "\u200d", "%C3%9F", "%20"])).map("".join),
    st.sampled_from(["", ":80", ":8080"]),
)
@example("straße", "")
@example("ü" * 70, "")
def test_a_name_outside_ascii_has_the_key_of_its_punycode(name: str, port: str) -> None:
    """As the targets of links to it; a name that browsers refuse has the key of the package."""
    uri = f"http://{name}.example{port}/"
    assert cdx_key(uri) == by_package_in_punycode(uri)
    assert is_as_documented(uri)


@given(st.text())
def test_any_text_has_a_key_that_fits_in_a_line(text: str) -> None:
    for uri in (text, "http://h/" + text, "filedesc:" + text, "http://h:x/" + text):
        key = surt_of(uri)
        assert not any(
            sign < " " or "\x7f" <= sign < "\xa0" or sign in "\u2028\u2029" for sign in key
        )
        key.encode("utf-8")


@pytest.mark.parametrize(
    ("uri", "key", "of_others"),
    [
        pytest.param("http://www3288.com/", "com,www3288)/", "com)/", id="www and digits"),
        pytest.param("http://www57912.com/", "com,www57912)/", "com)/", id="another one"),
        pytest.param("http://www.com/", "com,www)/", "com)/", id="www alone"),
        pytest.param("http://WWW2.co.uk./", "uk,co,www2)/", "uk,co)/", id="suffix of two labels"),
        pytest.param("https://www.gov.uk:8080/", "uk,gov,www:8080)/", "uk,gov:8080)/", id="port"),
        pytest.param("http://www.x.ck/", "ck,x,www)/", "ck,x)/", id="a rule for all names"),
        pytest.param(
            "http://www.city.kobe.jp/", "jp,kobe,city)/", "jp,kobe,city)/", id="exception"
        ),
        pytest.param("http://www.1.2.3.4/", "4,3,2,1,www)/", "4,3,2,1)/", id="an address after it"),
        pytest.param("http://www.www3.com/", "com,www3)/", "com,www3)/", id="www of such a domain"),
        pytest.param("http://www9.bbc.co.uk/", "uk,co,bbc)/", "uk,co,bbc)/", id="a usual name"),
        pytest.param("http://www.localhost/", "localhost,www)/", "localhost)/", id="no dot"),
        pytest.param("http://h/?a=1%26b=2", "h)/?a=1%26b=2", "h)/?a=1&b=2", id="& in a query"),
        pytest.param("http://h/a%26b", "h)/a%26b", "h)/a&b", id="& in a path"),
        pytest.param("http://h/?a%3db%3Bc%2B", "h)/?a%3db%3bc%2b", "h)/?a=b;c+", id="= ; and +"),
        pytest.param("http://h/a%2Fb%3Fc", "h)/a%2fb%3fc", "h)/a/b?c", id="/ and ? in a path"),
        pytest.param("http://h/?u=%2Fb%3Fc", "h)/?u=/b?c", "h)/?u=/b?c", id="/ and ? in a query"),
        pytest.param("http://h/%2541%25", "h)/%2541%25", "h)/a%25", id="an escaped escape"),
        pytest.param("http://h/%41%3A%7e%2c", "h)/a:~,", "h)/a:~,", id="no delimiters"),
        pytest.param("http://h/100%", "h)/100%25", "h)/100%25", id="no escape"),
        pytest.param("http://h/a/%2e%2E/b", "h)/b", "h)/b", id="escaped dots"),
        pytest.param("mailto:a%3Fb", "mailto:a%3fb", "mailto:a?b", id="no host"),
        pytest.param(
            "urn:text:http://www.A.example/P?b&a#x",
            "example,a)/p?a&b#urn:text:",
            "urn:text:http://www.a.example/p?a&b",
            id="text of a page",
        ),
        pytest.param(
            "urn:fullPage:https://h.org:8080",
            "org,h:8080)/#urn:fullpage:",
            "urn:fullpage:https://h.org:8080",
            id="picture of a page",
        ),
        pytest.param(
            "youtube-dl:00001:http://h.org/a",
            "org,h)/a#youtube-dl:00001:",
            "youtube-dl:00001:http://h.org/a",
            id="film of a page",
        ),
        pytest.param(
            "urn:X-wpull:snapshot?url=http%3A//h.org/a%3Fb%3D1",
            "org,h)/a?b=1#urn:x-wpull:snapshot",
            "urn:x-wpull:snapshot?url=http://h.org/a?b=1",
            id="escaped page",
        ),
        pytest.param(
            "urn:text:http://h:99999/",
            "urn:text:http://h:99999",
            "urn:text:http://h:99999",
            id="page without a key",
        ),
        pytest.param("dns:www.h.org", "dns:www.h.org", "dns:www.h.org", id="address of a host"),
        pytest.param(
            "whois://whois.h.org/http://a.org/",
            "org,h,whois)/http:/a.org",
            "org,h,whois)/http:/a.org",
            id="owner of a host",
        ),
        pytest.param(
            "javascript:http://h.org/",
            "javascript:http://h.org",
            "javascript:http://h.org",
            id="script",
        ),
    ],
)
def test_a_surt_differs_from_the_key_of_others_by_named_rules(
    uri: str, key: str, of_others: str
) -> None:
    assert (surt_of(uri), cdx_key(uri)) == (key, of_others)
    assert by_package(uri) == of_others


def test_a_record_about_a_page_belongs_to_the_page() -> None:
    record, page = "urn:view:http://www.h.org/A?b#c", "http://www.h.org/A?b#c"
    assert (page_of(record), page_of(page)) == (page, page)
    assert surt_of_page(surt_of(record)) == surt_of(page) == surt_of_page(surt_of(page))
    assert surt_of(record).startswith(surt_of(page))


def test_other_uris_are_no_records_about_pages() -> None:
    uris = ["http://http://h/", "https:http://h/", "mailto:http://h/", "dns:h.org", "urn:isbn:1"]
    assert [uri for uri in uris if record_of_page(uri)] == []


@pytest.mark.parametrize(
    ("uri", "prefix"),
    [
        pytest.param("http://www3288.com/x", "com,www3288)/", id="www and digits"),
        pytest.param("http://www3288.com/x", "com,www3288", id="whole labels"),
        pytest.param("http://h.org/a%26b", "org,h)/a%26", id="delimiter"),
        pytest.param("urn:text:http://h.org/a", "org,h)/a", id="record about a page"),
    ],
)
def test_the_keys_of_others_below_a_prefix_are_among_wide_prefixes(uri: str, prefix: str) -> None:
    assert surt_of(uri).startswith(prefix)
    assert cdx_key(uri).startswith(wide_cdx_prefixes([Surt(prefix)]))
    assert wide_cdx_prefixes([]) == ()


def test_a_trap_of_nested_escapes_costs_little() -> None:
    trap = "25" * 30_000
    for uri in (f"http://h.org/%{trap}", f"http://h.org/?%{trap}"):
        assert cdx_key(uri).endswith("%25")
        assert surt_of(uri).endswith(trap)
    assert surt_of(f"http://h%{trap}2e.org/") == "org,h)/"


@pytest.mark.parametrize(
    ("uri", "key"),
    [
        pytest.param("http://h:99999/a\tb c", "http://h:99999/a%09b%20c", id="port"),
        pytest.param(
            "http://h/\ud800\x85\u2028", "http://h/%ed%a0%80%c2%85%e2%80%a8", id="lone surrogate"
        ),
        pytest.param(" ", "%20", id="blank"),
        pytest.param("http://h:x/ü", "http://h:x/ü", id="other signs stay"),
    ],
)
def test_a_refused_uri_is_its_own_key(uri: str, key: str) -> None:
    assert surt_or_none(uri) is None
    assert surt_of(uri) == key


def test_control_characters_in_a_filedesc_uri_are_encoded() -> None:
    assert surt_or_none("filedesc://a b\t.arc\n") == "filedesc://a b%09.arc%0a"


def test_a_host_of_numbers_that_is_no_address_is_not_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(host: bytes) -> tuple[str, list[str], list[str]]:
        raise AssertionError(host)

    monkeypatch.setattr(socket, "gethostbyname_ex", refuse)
    surts._stem.cache_clear()
    assert [surt_of(f"http://{host}/") for host in ("256.1.1.1", "1.08.1.1", "256.1%2e1.1")] == [
        "1,1,1,256)/",
        "1,1,08,1)/",
        "1,1,1,256)/",
    ]


@pytest.mark.parametrize(
    "uri",
    [
        "http://www.h.org/A/?b=1&a=%3A",
        "https://h.org:8080/%7Ex/",
        "http://h.org",
        "http://h.org/a//b?q#f",
    ],
)
def test_plain_uris_do_not_go_to_the_package_twice(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = surt_of(uri)

    def refuse(*_: object, **__: object) -> str:
        raise AssertionError

    monkeypatch.setattr(surt, "surt", refuse)
    assert surt_of(uri) == expected


# What a person asks for.


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param("http://www.Example.org/A?b&a#f", "org,example)/a?a&b", id="whole URI"),
        pytest.param("  example.org \n", "org,example)/", id="host, blanks around it"),
        pytest.param("example.org:8080/x", "org,example:8080)/x", id="host with port"),
        pytest.param("localhost:8080", "localhost:8080)/", id="host without dot"),
        pytest.param("u:p@example.org/x", "org,example)/x", id="user"),
        pytest.param("//example.org/x", "org,example)/x", id="scheme-relative"),
        pytest.param(
            "example.org/?u=http://h/", "org,example)/?u=http://h/", id="a URI in its query"
        ),
        pytest.param(
            "example.org:80/?u=http://h/",
            "org,example)/?u=http://h/",
            id="port and a URI in its query",
        ),
        pytest.param("http:/example.org/x", "org,example)/x", id="one slash"),
        pytest.param("HTTPS:example.org", "org,example)/", id="no slash"),
        pytest.param(
            "bücher.example/ä b", "example,xn--bcher-kva)/%c3%a4%20b", id="IDN, blank in the path"
        ),
        pytest.param("MAILTO:a@Example.org", "mailto:a@example.org", id="mailto"),
        pytest.param("dns:example.org", "dns:example.org", id="dns"),
        pytest.param("urn:isbn:123", "urn:isbn:123", id="urn"),
        pytest.param("foo://example.org/x", "org,example)/x", id="unknown scheme"),
        pytest.param("file:///a/B.html", "file:/a/b.html", id="file"),
        pytest.param("file:/a/B.html", "file:/a/b.html", id="file, one slash"),
        pytest.param("foo:///x", "foo:/x", id="no host"),
        pytest.param("foo:x y", "foo:x%20y", id="unknown scheme without slashes"),
        pytest.param("foo:8080", "foo:8080)/", id="host without dot, and port"),
        pytest.param("foo:1x", "foo:1x", id="no port"),
        pytest.param("foo:", "foo)/", id="empty port"),
        pytest.param("u:p@h", "h)/", id="user, host without dot"),
        pytest.param(
            "screenshot:https://h.org/a", "org,h)/a#screenshot:", id="record about a page"
        ),
        pytest.param("urn:view:http://h.org/a", "org,h)/a#urn:view:", id="picture of a page"),
        pytest.param("about:blank", "about:blank", id="about"),
        pytest.param("data:text/html,a b", "data:text/html,a%20b", id="data"),
        pytest.param(
            "http://example.org:99999/", "http://example.org:99999/", id="refused by the package"
        ),
    ],
)
def test_a_query_may_leave_out_the_scheme(text: str, key: str) -> None:
    assert surt_of_query(text) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n",
        "a\tb",
        "http://h/\x00",
        "\x7f",
        "h/\ud800",
        "who links",
        "http:// h/",
        "http://",
        "#f",
        "?q",
        "/",
        "https:///",
        ":80/",
    ],
    ids=ascii,
)
def test_a_query_that_is_no_uri_is_refused(text: str) -> None:
    with pytest.raises(UriError) as caught:
        surt_of_query(text)
    assert caught.value.reason is Reason.LINK_INVALID
    assert "\n" not in str(caught.value)


@given(st.text())
def test_a_query_has_a_key_or_a_clear_error(text: str) -> None:
    with contextlib.suppress(UriError):
        assert surt_of_query(text)
