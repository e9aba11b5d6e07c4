"""A query means the same in every interface, and a wrong query gives an error that says why."""

import re
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arclink.access import queries
from arclink.access.captures import CaptureQuery
from arclink.access.declarations import DeclaredQuery
from arclink.access.differences import DiffQuery
from arclink.access.kinds import ALL_KINDS, NAVIGATION, Kinds
from arclink.access.levels import AnchorsQuery, GroupLevel, LevelQuery
from arclink.access.queries import (
    BadParameterError,
    ConflictError,
    Direction,
    LinkQuery,
    MatchType,
    absolute_uri,
    as_written,
)
from arclink.analysis.export.queries import ExportFormat, ExportQuery
from arclink.analysis.matrices.slices import Level
from arclink.errors import UsageError
from arclink.model import ALL_TIME, Kind, Span, Timestamp, UriR
from arclink.uris.surts import QUERY_PATTERN, surt_of, surt_or_none

URI = ("uri", "http://example.org/a")


def test_defaults_are_both_directions_all_time_and_a_thousand_members() -> None:
    query = LinkQuery.from_parameters([URI])
    assert (query.uri, query.surt) == ("http://example.org/a", "org,example)/a")
    assert (query.direction, query.span, query.at, query.limit, query.kinds) == (
        Direction.BOTH,
        ALL_TIME,
        None,
        1000,
        ALL_KINDS,
    )


PAGE = LinkQuery(UriR(URI[1]))
FOLLOWED = replace(PAGE, kinds=NAVIGATION)
YEARS = (Timestamp("20091231235959"), Timestamp("20101231235959"))


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        pytest.param(PAGE, [URI], id="links"),
        pytest.param(LevelQuery(PAGE, level=GroupLevel.HOST), [URI, ("level", "host")], id="level"),
        pytest.param(AnchorsQuery(FOLLOWED), [URI], id="anchors"),
        pytest.param(
            DiffQuery(FOLLOWED, first=YEARS[0], last=YEARS[1]),
            [URI, ("from", "2009"), ("to", "2010")],
            id="diff",
        ),
        pytest.param(CaptureQuery(PAGE), [URI], id="captures"),
        pytest.param(
            ExportQuery(
                LinkQuery(queries.ANY_PAGE, kinds=NAVIGATION), ExportFormat.GEXF, Level.HOST
            ),
            [("format", "gexf")],
            id="export",
        ),
    ],
)
def test_defaults_of_a_query_made_of_values_are_those_of_its_parameters(
    query: DeclaredQuery, parameters: list[tuple[str, str]]
) -> None:
    assert query == type(query).from_parameters(parameters)


def test_values_that_were_not_given_may_be_others() -> None:
    assert LinkQuery.from_parameters([URI], limit=7).limit == 7
    assert LinkQuery.from_parameters([URI, ("limit", "3")], limit=7).limit == 3
    assert LinkQuery.from_parameters([URI, ("limit", "")], limit=7).limit == 7
    assert LinkQuery.from_parameters([], uri=PAGE.uri) == PAGE
    assert LevelQuery.from_parameters([URI], level=GroupLevel.DOMAIN).level is GroupLevel.DOMAIN


def test_a_query_made_of_values_is_refused_like_one_made_of_text() -> None:
    with pytest.raises(ConflictError, match="evidence cannot be used with matchType=host"):
        LinkQuery(PAGE.uri, match_type=MatchType.HOST, with_evidence=True)
    with pytest.raises(ConflictError, match="this URI has no host"):
        LinkQuery(UriR("mailto:a@example.org"), match_type=MatchType.HOST)
    with pytest.raises(ConflictError, match="matchType must be exact: this answer is about one"):
        LevelQuery(LinkQuery(PAGE.uri, match_type=MatchType.HOST), level=GroupLevel.HOST)


@pytest.mark.parametrize(
    ("text", "uri", "surt"),
    [
        pytest.param(
            "vancouver2010.com",
            "http://vancouver2010.com/",
            "com,vancouver2010)/",
            id="the paper's own",
        ),
        pytest.param(
            "example.com:8080/x",
            "http://example.com:8080/x",
            "com,example:8080)/x",
            id="port is no scheme",
        ),
        pytest.param(
            "localhost:8080", "http://localhost:8080/", "localhost:8080)/", id="host without dot"
        ),
        pytest.param(
            "https://www.example.org/A?b=2&a=1",
            "https://www.example.org/A?b=2&a=1",
            "org,example)/a?a=1&b=2",
            id="variant",
        ),
        pytest.param(
            "//example.org/x", "http://example.org/x", "org,example)/x", id="without scheme"
        ),
        pytest.param(
            "mailto:a@example.org",
            "mailto:a@example.org",
            "mailto:a@example.org",
            id="opaque scheme",
        ),
        pytest.param(
            "  http://example.org/  ", "http://example.org/", "org,example)/", id="blanks around"
        ),
    ],
)
def test_uri_is_made_absolute(text: str, uri: str, surt: str) -> None:
    query = LinkQuery.from_parameters([("url", text)])
    assert (query.uri, query.surt) == (uri, surt)


@pytest.mark.parametrize(
    ("first", "last", "span"),
    [
        pytest.param("2009", "2010", ("20090101000000", "20101231235959"), id="years"),
        pytest.param(
            "200911", "20100228", ("20091101000000", "20100228235959"), id="month and day"
        ),
        pytest.param(
            "2009-11-03T01:13:07Z", "2010-02", ("20091103011307", "20100228235959"), id="ISO 8601"
        ),
        pytest.param("", "2", (ALL_TIME.first, "29991231235959"), id="open beginning, one digit"),
    ],
)
def test_range_is_padded_low_and_high(first: str, last: str, span: tuple[str, str]) -> None:
    query = LinkQuery.from_parameters([URI, ("from", first), ("to", last)])
    assert query.span == Span(Timestamp(span[0]), Timestamp(span[1]))


def test_at_is_the_end_of_what_it_names() -> None:
    assert LinkQuery.from_parameters([URI, ("at", "20100130")]).at == "20100130235959"


@pytest.mark.parametrize(
    ("redirects", "wanted"),
    [
        ("yes", ["http@location", "meta@refresh", "a@href"]),
        ("no", ["a@href"]),
        ("only", ["http@location", "meta@refresh"]),
    ],
)
def test_redirects_count_as_asked(redirects: str, wanted: list[str]) -> None:
    query = LinkQuery.from_parameters([("uri", "a.example"), ("redirects", redirects)])
    assert [
        kind for kind in ("http@location", "meta@refresh", "a@href") if query.wants(Kind(kind))
    ] == wanted
    others = LinkQuery.from_parameters(
        [("uri", "a.example"), ("redirects", redirects), ("kind", "meta@refresh")]
    )
    assert [
        kind for kind in ("http@location", "meta@refresh", "a@href") if others.wants(Kind(kind))
    ] == ["meta@refresh"] * (redirects != "no")
    assert (query.fingerprint == LinkQuery.from_parameters([("uri", "a.example")]).fingerprint) is (
        redirects == "yes"
    )


def test_kinds_come_repeated_or_with_commas() -> None:
    query = LinkQuery.from_parameters([URI, ("kind", "a@href,img@src"), ("kind", "meta@refresh")])
    assert query.kinds == Kinds.of("a@href", "img@src", "meta@refresh")


@pytest.mark.parametrize(
    ("parameters", "name", "allowed"),
    [
        pytest.param([], "uri", "a URI such as", id="no uri"),
        pytest.param([("uri", "   ")], "uri", "a URI such as", id="blank uri"),
        pytest.param(
            [("uri", "http://exa\x00mple.org/")],
            "uri",
            "control characters",
            id="control character",
        ),
        pytest.param(
            [("uri", "http://x/" + "a" * 70_000)], "uri", "65,536 characters", id="too long"
        ),
        pytest.param(
            [URI, ("url", "http://other.example/")], "url", "either uri or url", id="uri and url"
        ),
        pytest.param([URI, URI], "uri", "once", id="uri twice"),
        pytest.param([URI, ("c", "d")], "c", "must be written %26", id="unencoded ampersand"),
        pytest.param([URI, ("direction", "up")], "direction", "out, in or both", id="direction"),
        pytest.param([URI, ("from", "yesterday")], "from", "1 to 14 digits", id="from"),
        pytest.param([URI, ("to", "20101399")], "to", "1 to 14 digits", id="no such date"),
        pytest.param(
            [URI, ("from", "2011"), ("to", "2010")], "from", "not after to=2010", id="empty range"
        ),
        pytest.param(
            [URI, ("at", "2010"), ("from", "2009")],
            "at",
            "cannot be used with from or to",
            id="at with from",
        ),
        pytest.param(
            [URI, ("at", "2010"), ("to", "2011")],
            "at",
            "cannot be used with from or to",
            id="at with to",
        ),
        pytest.param([URI, ("kind", "a")], "kind", "element and attribute", id="kind"),
        pytest.param(
            [URI, ("kind", "a@href,")], "kind", "element and attribute", id="kind after a comma"
        ),
        pytest.param([URI, ("redirects", "maybe")], "redirects", "yes, no or only", id="redirects"),
        pytest.param([URI, ("limit", "-1")], "limit", "from 1 to 10000", id="negative limit"),
        pytest.param([URI, ("limit", "10001")], "limit", "from 1 to 10000", id="limit too large"),
        pytest.param([URI, ("limit", "²")], "limit", "from 1 to 10000", id="superscript digit"),
        pytest.param([URI, ("cursor", "abc")], "cursor", "the 'next' of an answer", id="cursor"),
        pytest.param(
            [URI, ("cursor", "abc"), ("limit", "0")],
            "cursor",
            "cannot be used with limit=0",
            id="cursor without limit",
        ),
    ],
)
def test_wrong_parameter_is_named_with_what_is_allowed(
    parameters: list[tuple[str, str]], name: str, allowed: str
) -> None:
    with pytest.raises(BadParameterError) as raised:
        LinkQuery.from_parameters(parameters)
    assert raised.value.name == name
    assert allowed in raised.value.allowed
    assert isinstance(raised.value, UsageError)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["uri", "from", "to", "at", "limit", "kind", "cursor", "direction"]),
            st.text(max_size=20),
        )
    )
)
def test_any_parameters_are_a_query_or_a_bad_parameter(parameters: list[tuple[str, str]]) -> None:
    with suppress(BadParameterError):
        LinkQuery.from_parameters(parameters)


@given(st.text(min_size=1))
def test_an_absolute_uri_stays_as_it_is(text: str) -> None:
    assert absolute_uri(absolute_uri(text)) == absolute_uri(text)


NEAR_URIS = st.text(max_size=8) | st.lists(
    st.sampled_from(
        [
            "http",
            "HTTP",
            "mailto",
            "x-y",
            ":",
            "/",
            "//",
            "@",
            "?",
            "#",
            "a.example",
            ":80",
            "[::1]",
            "é",
            " ",
            "\xa0",
            "\x85",
            "\x1f",
            "\u2028",
            "\u3000",
        ]
    ),
    max_size=7,
).map("".join)


@pytest.mark.costly
@settings(max_examples=1000)
@given(NEAR_URIS)
@example("http:///x")
@example("http:/x")
@example("mailto:")
@example("mailto://")
@example("a b.example")
@example("a b@c.example")
@example("a@b@c.example: 80 ")
@example("?x")
@example("x\n")
@example("\u2028a.example")
def test_the_pattern_of_a_uri_is_of_the_texts_that_are_read(text: str) -> None:
    """Of these and no others; the description of the service has it."""
    try:
        is_read = bool(queries.URI.read(text))
    except BadParameterError:
        is_read = False
    assert (re.fullmatch(QUERY_PATTERN, text) is not None) == is_read


@given(NEAR_URIS)
@example("http:/a.example")
@example("HTTPS:a.example/x")
@example("ftp:/a.example")
def test_any_uri_of_a_query_has_the_surt_of_its_absolute_form(text: str) -> None:
    """Other instances are asked for the absolute URI."""
    with suppress(BadParameterError):
        uri, surt = queries.URI.read(text)
        if surt_or_none(uri) is not None:  # else the URI is its own key
            assert surt_of(uri) == surt


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*.example.org", ("example.org", MatchType.DOMAIN)),
        ("HTTP://*.example.org/", ("example.org", MatchType.DOMAIN)),
        ("https://*.example.org/*", ("example.org", MatchType.DOMAIN)),
        ("http://*/", ("http://*/", None)),
        ("http://example.org/*", ("http://example.org/", MatchType.PREFIX)),
        ("http://example.org/q?s=*", ("http://example.org/q?s=*", None)),
        ("http://example.org/q?s=%2A", ("http://example.org/q?s=%2A", None)),
        ("http://example.org/x*", ("http://example.org/x", MatchType.PREFIX)),
        ("http://example.org/*/x", ("http://example.org/*/x", None)),
        ("*.example.org/news/*", ("*.example.org/news/*", None)),
        ("*", ("*", None)),
    ],
)
def test_an_asterisk_is_a_part_of_the_web_or_a_character(
    text: str, expected: tuple[str, MatchType | None]
) -> None:
    assert as_written(text) == expected
    query = LinkQuery.from_parameters([("uri", text)])
    assert query.match_type is (expected[1] or MatchType.EXACT)
    exact = LinkQuery.from_parameters([("uri", text), ("matchType", "exact")])
    assert exact.match_type is MatchType.EXACT
