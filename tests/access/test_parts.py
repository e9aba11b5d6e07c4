"""A part of the archive is written the same way wherever a user names one."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.captures import CaptureQuery
from arclink.access.declarations import Given
from arclink.access.queries import (
    BadParameterError,
    ConflictError,
    LinkQuery,
    MatchType,
    as_page,
    as_written,
    prefixes_meant,
    surt_asked,
)
from arclink.analysis.questions.queries import AskQuery
from arclink.captures.subsets.fields import wide_ranges
from arclink.captures.subsets.language import Condition, parse_selection
from arclink.errors import UsageError
from arclink.model import Forgotten, Surt
from arclink.operations.build import PREFIXES, rules_from
from arclink.operations.forget import surt_prefix
from arclink.others.federation.instances import Instance, question
from arclink.others.federation.merge import MergedQuery
from arclink.others.wayback.capture_lists import parse_entry
from arclink.service.pages.requests import about
from arclink.uris.surts import surt_of

HOSTS = ("example.org", "a.example.org", "example.org.uk", "myexample.org", "example.org:8080")
PATHS = ("/", "/news", "/news/1", "/newsletter", "/news?a=1", "/old/news", "/news*", "/q?s=*")
CAPTURED = tuple(Surt(surt_of(f"http://{host}{path}")) for host in HOSTS for path in PATHS)

Reader = Callable[[str], frozenset[Surt]]


def of_prefixes(prefixes: tuple[str, ...]) -> frozenset[Surt]:
    return frozenset(surt for surt in CAPTURED if surt.startswith(prefixes))


def links(text: str) -> frozenset[Surt]:
    return of_prefixes(LinkQuery.from_parameters([("uri", text)]).stems)


def cdx(text: str) -> frozenset[Surt]:
    return of_prefixes(CaptureQuery.from_parameters([("url", text)]).links.stems)


def ask(text: str) -> frozenset[Surt]:
    query = AskQuery.from_parameters([("uri", text)], name="pages")
    (asked,) = query.asked
    return frozenset(filter(asked.part.has, CAPTURED))


def selection(text: str) -> frozenset[Surt]:
    condition = parse_selection(text)
    assert isinstance(condition, Condition)
    ranges = wide_ranges(condition.field, condition.value)
    return frozenset(filter(ranges.has, CAPTURED))


def rules(text: str) -> frozenset[Surt]:
    return of_prefixes(rules_from(Given({PREFIXES.name: (text,)})).prefixes)


def takedown(text: str) -> frozenset[Surt]:
    return frozenset(filter(Forgotten(surt_prefix(text)).has, CAPTURED))


def fetched(text: str) -> frozenset[Surt]:
    entry = parse_entry(text)
    return of_prefixes(LinkQuery(entry.uri, match_type=entry.match).stems)  # type: ignore[arg-type]  # an absolute URI or a host


READERS = [links, cdx, ask, selection, rules, takedown, fetched]


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@pytest.mark.parametrize(
    "text",
    [
        "*.example.org",
        "http://*.example.org/*",
        "http://example.org/*",
        "http://example.org/new*",
        "http://example.org/news*",
        "http://example.org:8080/*",
    ],
)
def test_every_command_reads_a_part_alike(text: str, read: Reader) -> None:
    expected = of_prefixes(prefixes_meant(text))
    assert expected
    assert expected != frozenset(CAPTURED)
    assert read(text) == expected


@pytest.mark.parametrize("text", ["http://example.org/q?s=*", "http://example.org/news?*"])
def test_an_asterisk_in_a_query_is_one_of_a_page_but_for_cdx_servers(text: str) -> None:
    page = Surt(surt_of(text))
    assert as_written(text) == (text, None)
    assert as_written(text, is_of_index=True) == (text[:-1], MatchType.PREFIX)
    assert LinkQuery.from_parameters([("uri", text)]).surt == page
    assert AskQuery.from_parameters([("uri", text)], name="pages").asked[0].part.has(page)
    assert CaptureQuery.from_parameters([("url", text)]).links.match_type is MatchType.PREFIX
    assert parse_entry(text).match is MatchType.PREFIX


@pytest.mark.parametrize(
    ("prefix", "address"),
    [
        ("gov,nasa", "*.nasa.gov"),
        ("gov,nasa)/news", "http://nasa.gov/news*"),
        ("gov,nasa)/", "http://nasa.gov/*"),
        ("gov,nasa:81)/a", "http://nasa.gov:81/a*"),
        ("gov", "*.gov"),
    ],
)
def test_an_address_selects_what_an_earlier_prefix_does(prefix: str, address: str) -> None:
    with pytest.warns(FutureWarning, match="prefix: is now an address") as warned:
        condition = parse_selection(f'prefix:"{prefix}"')
    assert condition == Condition("prefix", prefix)
    assert wide_ranges("uri", address) == wide_ranges("prefix", prefix)
    assert parse_selection(address) == Condition("uri", address)
    if prefix in ("gov,nasa", "gov,nasa)/news"):
        assert address in str(warned[0].message)


def test_the_words_of_a_client_are_not_in_a_warning() -> None:
    """A service would keep and log each of them."""
    texts = set()
    for prefix in ("zz,secret", "zz,other)/x"):
        with pytest.warns(FutureWarning) as warned:
            parse_selection(f'prefix:"{prefix}"')
        texts.add(str(warned[0].message))
    assert len(texts) == 1
    assert "zz" not in texts.pop()


@given(st.sampled_from(CAPTURED) | st.text(max_size=20))
def test_a_page_whose_uri_ends_with_an_asterisk_can_be_written(text: str) -> None:
    """With the same SURT: the canonical form of a URI has no ``%2A``."""
    uri = f"http://example.org/{text}*"
    try:
        surt = surt_asked("uri", uri)
    except BadParameterError:
        return
    assert as_written(as_page(uri))[1] is None
    assert surt_asked("uri", as_page(uri)) == surt
    query = LinkQuery.from_parameters([("uri", as_page(uri))])
    assert (query.match_type, query.surt) == (MatchType.EXACT, surt)


def test_other_services_and_pages_are_asked_about_the_page() -> None:
    uri = "http://example.org/q?s=*"
    query = LinkQuery.from_parameters([("uri", uri), ("matchType", "exact")])
    assert query.uri == uri
    assert "s%3D%252A" in question(Instance("a", "http://a.example"), query)
    assert "%252A" in about(uri)
    assert "%2A" not in about("http://example.org/")


@pytest.mark.parametrize("text", ["*.example.org", "http://example.org/news*"])
def test_merged_links_are_about_one_page(text: str) -> None:
    with pytest.raises(ConflictError, match="matchType must be exact"):
        MergedQuery.from_parameters([("uri", text)])


@pytest.mark.parametrize("text", ["http://example.org/private/*", "example.org/a/b/*"])
def test_what_is_removed_or_left_out_is_never_more_than_the_folder(text: str) -> None:
    """A SURT has no slash at its end, so its beginning would have ``/privateer``, too."""
    for read in (surt_prefix, prefixes_meant):
        with pytest.raises(UsageError, match="for all pages that begin like it"):
            read(text)
