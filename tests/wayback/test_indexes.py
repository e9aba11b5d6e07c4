"""Every dialect of an index gives the same rows, and wrong input gives only declared errors."""

from collections.abc import Sequence
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.queries import MatchType
from arclink.errors import FetchError, UsageError
from arclink.others.wayback.capture_lists import (
    Entry,
    memento_time,
    memento_uris,
    parse_entry,
    parse_index,
    parse_links,
    parse_page_count,
    parse_timemap,
)
from arclink.reasons import Reason
from tests.wayback.archive_server import Page, cdx_answer

PAGES = [
    Page("http://h.example/", "20100101000000", b"<p>one"),
    Page("http://h.example/b?c=d", "20110203040506", b"<p>two", status=404),
    Page("http://h.example/", "20120101000000", b"<p>one", is_revisit=True),
]
DIALECTS = ["columns", "eleven", "cdxj", "objects", "arrays"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("resume_key", ["", "com%2Cexample%29+x"])
def test_every_dialect_says_the_same(dialect: str, resume_key: str) -> None:
    answer = parse_index(cdx_answer(dialect, PAGES, resume_key))
    assert [(row.original, row.timestamp, row.checksum) for row in answer.captures] == [
        (page.original, page.timestamp, page.digest) for page in PAGES
    ]
    assert [(row.mime, row.status, row.record_type) for row in answer.captures] == [
        ("text/html", "200", "response"),
        ("text/html", "404", "response"),
        ("warc/revisit", "-", "revisit"),
    ]
    assert (answer.rows, answer.resume_key, sum(answer.counts.values())) == (3, resume_key, 0)


@pytest.mark.parametrize(
    "body", [b"", b"\n", b"[]"], ids=["nothing", "an empty line", "an empty array"]
)
def test_an_index_may_have_nothing(body: bytes) -> None:
    assert (parse_index(body).rows, parse_index(body).resume_key) == (0, "")


@pytest.mark.parametrize(
    "body",
    [b"<html><body>Not an index</body></html>", b'{"message": "no"}', b'[{"a": 1}]', b"[1, 2"],
    ids=["a page", "another object", "an array of objects", "half an array"],
)
def test_a_page_that_is_not_an_index_is_named(body: bytes) -> None:
    with pytest.raises(FetchError) as caught:
        parse_index(body)
    assert caught.value.reason is Reason.ENTRY_NO_INDEX


def test_a_bad_row_among_good_ones_is_counted() -> None:
    answer = parse_index(
        cdx_answer("columns", PAGES)
        + b"this is not a row\nkey) 2010 dns:h.example text/dns - - 5\n"
    )
    assert len(answer.captures) == 3
    assert answer.counts == {Reason.ROW_MALFORMED: 1, Reason.ROW_NOT_A_CAPTURE: 1}


def test_common_crawls_rows_are_read() -> None:
    row = (
        b'org,example)/ 20240101000000 {"url": "https://example.org/", "mime": "text/html", '
        b'"mime-detected": "text/html", "status": "200", '
        b'"digest": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "length": "1", "offset": "2", '
        b'"filename": "x.warc.gz", "languages": "eng"}'
    )
    assert parse_index(row).captures[0].original == "https://example.org/"


def test_an_invalid_status_is_unknown() -> None:
    """pywb writes 0 for a 204: its reader of HTTP expects a body."""
    row = (
        b'org,h)/ 20240501094835 {"url": "https://h.example/", "mime": "unk", "status": "0", '
        b'"digest": "AAA"}'
    )
    assert parse_index(row).captures[0].status == "-"


@pytest.mark.parametrize(
    ("body", "pages"),
    [
        pytest.param(b"17\n", 17, id="a number"),
        pytest.param(b'{"pages": 4, "pageSize": 10, "blocks": 38}', 4, id="pywb"),
        pytest.param(cdx_answer("cdxj", PAGES[:1]), 0, id="a row"),
        pytest.param(b'{"pages": "many"}', 0, id="no number"),
        pytest.param(b"", 0, id="nothing"),
    ],
)
def test_the_number_of_pages_is_read(body: bytes, pages: int) -> None:
    assert parse_page_count(body) == pages


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        pytest.param(
            "http://h.example/a b".replace(" ", "%20"),
            Entry("http://h.example/a%20b", MatchType.EXACT),
            id="a URI",
        ),
        pytest.param("h.example/x", Entry("h.example/x", MatchType.EXACT), id="without scheme"),
        pytest.param(
            "http://localhost/",
            Entry("http://localhost/", MatchType.EXACT),
            id="a host of one word",
        ),
        pytest.param(
            "http://h.example/*", Entry("http://h.example/", MatchType.PREFIX), id="prefix"
        ),
        pytest.param("*.h.example", Entry("h.example", MatchType.DOMAIN), id="domain"),
        pytest.param("*.h.example/*", Entry("h.example", MatchType.DOMAIN), id="domain with path"),
        pytest.param(
            "http://*.h.example/*", Entry("h.example", MatchType.DOMAIN), id="domain with scheme"
        ),
        pytest.param("*.museum", Entry("museum", MatchType.DOMAIN), id="top level"),
    ],
)
def test_an_entry_is_what_cdx_servers_take(text: str, entry: Entry) -> None:
    assert parse_entry(text) == entry


@pytest.mark.parametrize(
    "text",
    ["", "*", "word", "http://", "http://h.example/a b", "http://a.*.example/*", "/path/x.html"],
)
def test_an_invalid_entry_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a URI"):
        parse_entry(text)


BASE = "http://a.example/web"
TIMEMAP = b"""<http://h.example/>; rel="original",
 <http://a.example/web/timemap/link/http://h.example/>; rel="self"; type="application/link-format"; from="Fri, 01 Jan 2010 00:00:00 GMT",
<http://a.example/web/timemap/link/2/http://h.example/>; rel="timemap"; until="x, y; z",
<http://a.example/web/20100101000000/http://h.example/>; rel="first memento"; datetime="Fri, 01 Jan 2010 00:00:00 GMT",
</web/20110101000000mp_/http://h.example/>; rel=memento,
<http://other.example/20120101000000/http://h.example/>; rel="last memento"; datetime="Sun, 01 Jan 2012 00:00:00 GMT"
"""


def test_a_timemap_is_read() -> None:
    answer = parse_timemap(TIMEMAP, f"{BASE}/timemap/link/http://h.example/", memento_uris(BASE))
    assert [(row.timestamp, row.original, row.checksum, row.status) for row in answer.captures] == [
        ("20100101000000", "http://h.example/", "-", "-"),
        ("20110101000000", "http://h.example/", "-", "-"),
    ]
    assert answer.counts == {Reason.ROW_OTHER_ARCHIVE: 1}
    assert answer.next_timemaps == ["http://a.example/web/timemap/link/2/http://h.example/"]


def test_a_web_page_is_refused_as_timemap() -> None:
    with pytest.raises(FetchError, match="not a TimeMap"):
        parse_timemap(b"<html>", BASE, memento_uris(BASE))


def test_a_time_in_another_language_is_refused() -> None:
    assert memento_time("So, 26 Jan 2014") == ""


def test_a_time_out_of_range_is_refused() -> None:
    assert memento_time(f"Sun, 26 Jan {'9' * 20} 20:06:24 GMT") == ""


@given(
    st.binary(max_size=300)
    | st.lists(
        st.sampled_from([b"20100101", b"{", b'"url":', b"http://h/", b" ", b"\n", b"[", b"]", b","])
    ).map(b"".join)
)
@settings(deadline=None)
def test_reading_an_index_fails_in_one_way_only(body: bytes) -> None:
    try:
        answer = parse_index(body)
    except FetchError:
        return
    assert len(answer.captures) + sum(answer.counts.values()) == answer.rows


@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from(
            ["<", ">", ";", ",", "rel=", '"', "memento", " ", "\\", "http://a.example/web/2010/x"]
        )
    ).map("".join)
)
@settings(deadline=None)
def test_reading_a_timemap_fails_in_one_way_only(text: str) -> None:
    try:
        parse_timemap(text.encode("utf-8", "replace"), BASE, memento_uris(BASE))
    except FetchError:
        return


links = st.lists(
    st.tuples(
        st.text(
            st.characters(blacklist_characters="<>", blacklist_categories=["Cs", "Cc"]), max_size=20
        ).map(str.strip),
        st.dictionaries(
            st.from_regex("[a-z]{1,8}", fullmatch=True),
            st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=20),
            max_size=3,
        ),
    ),
    max_size=4,
)


@given(links)
@settings(deadline=None)
def test_links_that_are_written_are_read_back(
    written: Sequence[tuple[str, dict[str, str]]],
) -> None:
    quote = str.maketrans({'"': '\\"', "\\": "\\\\"})
    text = ",\n".join(
        f"<{target}>"
        + "".join(f'; {name}="{value.translate(quote)}"' for name, value in parameters.items())
        for target, parameters in written
    )
    assert list(parse_links(text)) == list(written)


@pytest.mark.parametrize("number", [24, 100_000])
def test_a_link_with_many_empty_parameters_is_refused_at_once(number: int) -> None:
    begun = process_time()
    assert list(parse_links("<http://h/>" + "; a= " * number + '"')) == []
    assert process_time() - begun < 3


def test_empty_parameters_and_blanks_are_read() -> None:
    text = '<http://h/> ; a= ; b = "c; \\"d" ;\te\n, <http://i/>;f\n'
    assert list(parse_links(text)) == [
        ("http://h/", {"a": "", "b": 'c; "d', "e": ""}),
        ("http://i/", {"f": ""}),
    ]
