from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.errors import UsageError
from arclink.filter.rules import DEFAULT_RULES, EXTENSIONS, Rules, extension_of
from arclink.model import Checksum, Timestamp, UriR
from arclink.reasons import Reason
from arclink.rows.cdx import Capture

PAGE = Capture(
    key="",
    timestamp=Timestamp("20140103030321"),
    original=UriR("http://example.org/"),
    mime="text/html",
    status="200",
    checksum=Checksum("B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"),
    length=1043,
    offset=333,
    file="example.warc.gz",
    record_type="response",
)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({}, None, id="a page"),
        pytest.param({"status": "404"}, Reason.MEMENTO_STATUS, id="not found"),
        pytest.param({"status": "302"}, Reason.MEMENTO_STATUS, id="redirect"),
        pytest.param({"status": "-"}, None, id="status unknown"),
        pytest.param({"mime": "image/gif"}, Reason.MEMENTO_MIME, id="image"),
        pytest.param({"mime": "text/plain"}, Reason.MEMENTO_MIME, id="plain text"),
        pytest.param({"mime": "application/octet-stream"}, Reason.MEMENTO_MIME, id="bytes"),
        pytest.param({"mime": "application/xhtml+xml"}, None, id="XHTML"),
        pytest.param({"mime": "Text/HTML; charset=UTF-8"}, None, id="parameters and case"),
        pytest.param(
            {"mime": "application/http;msgtype=response"}, None, id="the record's own type"
        ),
        pytest.param({"mime": "unk"}, None, id="mime unknown"),
        pytest.param({"mime": "-"}, None, id="no mime"),
        pytest.param({"original": "http://h/wiki/File:X.jpg"}, None, id="HTML at an image's name"),
        pytest.param(
            {"mime": "Text/HTML; charset=x", "original": "http://h/a.pdf"},
            None,
            id="HTML with parameters, at a document's name",
        ),
        pytest.param(
            {"mime": "application/rss+xml", "original": "http://h/a.zip"}, None, id="feed"
        ),
        *(
            pytest.param(
                {"mime": mime, "original": "http://h/a.jpg"},
                Reason.MEMENTO_EXTENSION,
                id=f"{mime} is unspecific",
            )
            for mime in ("-", "unk", "application/http", "text/xml", "application/xml", "no-type")
        ),
        pytest.param({"original": "http://example.org/a?b.css"}, None, id="extension in the query"),
        pytest.param(
            {"status": "404", "mime": "image/gif", "original": "http://h/a.gif"},
            Reason.MEMENTO_STATUS,
            id="status comes first",
        ),
        pytest.param(
            {"mime": "image/gif", "original": "http://h/a.gif"},
            Reason.MEMENTO_MIME,
            id="mime comes before extension",
        ),
        pytest.param(
            {"record_type": "revisit", "mime": "warc/revisit", "status": "-"}, None, id="revisit"
        ),
        pytest.param(
            {"record_type": "revisit", "mime": "warc/revisit", "status": "304"},
            None,
            id="not modified",
        ),
        pytest.param(
            {"record_type": "revisit", "mime": "warc/revisit", "status": "404"},
            Reason.MEMENTO_STATUS,
            id="an error that repeats a page",
        ),
        pytest.param({"status": "304"}, Reason.MEMENTO_STATUS, id="304 that is no revisit"),
        pytest.param(
            {"record_type": "revisit", "mime": "warc/revisit", "original": "http://h/a.gif"},
            Reason.MEMENTO_EXTENSION,
            id="image revisited",
        ),
    ],
)
def test_the_first_rule_that_fails_is_the_reason(
    change: dict[str, str], reason: Reason | None
) -> None:
    assert DEFAULT_RULES.first_failing(replace(PAGE, **change)) is reason  # type: ignore[arg-type]  # texts only


@pytest.mark.parametrize(
    ("rules", "change", "reason"),
    [
        pytest.param(Rules(statuses=()), {"status": "404"}, None, id="status off"),
        pytest.param(
            Rules(statuses=("200",)),
            {"status": "-"},
            Reason.MEMENTO_STATUS,
            id="status must be known",
        ),
        pytest.param(Rules(mimes=()), {"mime": "image/gif"}, None, id="mime off"),
        pytest.param(
            Rules(mimes=("text/*",)), {"mime": "text/plain"}, None, id="text only: plain text"
        ),
        pytest.param(
            Rules(mimes=("text/*",)), {"mime": "-"}, Reason.MEMENTO_MIME, id="text only: unknown"
        ),
        pytest.param(
            Rules(mimes=("text/*",), mimes_excluded=("text/css",)),
            {"mime": "text/css"},
            Reason.MEMENTO_MIME,
            id="excluded",
        ),
        pytest.param(
            Rules(mimes=(), mimes_excluded=("image/*",)),
            {"mime": "image/gif"},
            Reason.MEMENTO_MIME,
            id="only excluded",
        ),
        pytest.param(
            Rules(mimes=("image/*",), extensions_excluded=()),
            {"mime": "image/gif", "original": "http://h/a.gif"},
            None,
            id="images",
        ),
        pytest.param(
            Rules(mimes=("a[b]?",)), {"mime": "a[b]?"}, None, id="only the star is special"
        ),
        pytest.param(
            Rules(mimes=("a[b]?",)),
            {"mime": "abc"},
            Reason.MEMENTO_MIME,
            id="brackets are brackets",
        ),
        pytest.param(
            Rules(extensions_excluded=()),
            {"mime": "-", "original": "http://h/a.gif"},
            None,
            id="extension off",
        ),
        pytest.param(
            Rules(mime_before_extension=False),
            {"original": "http://example.org/a.css?x"},
            Reason.MEMENTO_EXTENSION,
            id="style sheet said to be HTML, without the rule of mime types",
        ),
        pytest.param(
            Rules(mimes=("text/plain", "application/octet-stream")),
            {"mime": "application/octet-stream", "original": "http://h/a.jpg"},
            Reason.MEMENTO_EXTENSION,
            id="bytes are unspecific",
        ),
        pytest.param(
            Rules(mimes=("text/plain",)),
            {"mime": "text/plain", "original": "http://h/a.jpg"},
            Reason.MEMENTO_EXTENSION,
            id="plain text is unspecific",
        ),
        pytest.param(
            Rules(extensions_excluded=(".PHP",)),
            {"mime": "-", "original": "http://h/a.php"},
            Reason.MEMENTO_EXTENSION,
            id="extension as written",
        ),
    ],
)
def test_every_rule_can_be_set_and_switched_off(
    rules: Rules, change: dict[str, str], reason: Reason | None
) -> None:
    assert rules.first_failing(replace(PAGE, **change)) is reason  # type: ignore[arg-type]  # texts only


@pytest.mark.parametrize(
    ("original", "extension"),
    [
        pytest.param("http://example.org/a.JPG", "jpg", id="upper case"),
        pytest.param("http://example.org/a.b/c", "", id="dot in a folder"),
        pytest.param("http://example.zip", "", id="host without path"),
        pytest.param("http://example.zip/", "", id="host"),
        pytest.param("http://example.zip?a.png", "", id="host and query"),
        pytest.param("http://example.org/a.jpg;v=1.css", "jpg", id="path parameter"),
        pytest.param("http://example.org/a.jpg?x=/b.html#c/d.e", "jpg", id="query and fragment"),
        pytest.param("http://example.org/a.", "", id="dot at the end"),
        pytest.param("http://example.org/.htaccess", "", id="hidden file"),
        pytest.param("http://example.org/a.tar.gz", "gz", id="two"),
        pytest.param("ftp://example.org/INDEX.txt", "txt", id="FTP"),
        pytest.param("urn:a.b", "b", id="opaque"),
        pytest.param("a.png", "png", id="no scheme"),
        pytest.param("", "", id="empty"),
    ],
)
def test_the_extension_is_that_of_the_path(original: str, extension: str) -> None:
    assert extension_of(original) == extension


def test_pages_of_common_programs_are_read() -> None:
    assert not {
        "html",
        "htm",
        "php",
        "asp",
        "aspx",
        "jsp",
        "cgi",
        "pl",
        "exe",
        "dll",
        "com",
        "xml",
        "txt",
    } & set(EXTENSIONS)


@pytest.mark.parametrize(
    ("rules", "surt", "timestamp", "is_selected"),
    [
        pytest.param(Rules(), "anything", "20140103030321", True, id="everything"),
        pytest.param(
            Rules(prefixes=("org,example)/",)), "org,example)/a", "20140103030321", True, id="site"
        ),
        pytest.param(
            Rules(prefixes=("org,example)/",)),
            "org,example,www)/a",
            "20140103030321",
            False,
            id="host below",
        ),
        pytest.param(
            Rules(prefixes=("org,example", "com,")),
            "com,example)/",
            "20140103030321",
            True,
            id="one of two",
        ),
        pytest.param(Rules(first=Timestamp("2014")), "x", "20131231235959", False, id="too early"),
        pytest.param(
            Rules(first=Timestamp("2014"), last=Timestamp("2014-02")),
            "x",
            "20140228235959",
            True,
            id="last second",
        ),
        pytest.param(Rules(last=Timestamp("201402")), "x", "20140301000000", False, id="too late"),
    ],
)
def test_the_selection_is_by_surt_prefix_and_time(
    rules: Rules, surt: str, timestamp: str, is_selected: bool
) -> None:
    assert rules.selects(surt, Timestamp(timestamp)) is is_selected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{", "not JSON", id="no JSON"),
        pytest.param("[]", "not a JSON object", id="list"),
        pytest.param(
            '{"stati": []}', "unknown rule 'stati'; known are methods, statuses", id="unknown"
        ),
        pytest.param('{"methods": ["POST"]}', "rule methods: GET is missing", id="without GET"),
        pytest.param('{"methods": ["GET", "a b"]}', "not an HTTP method: 'A B'", id="no method"),
        pytest.param('{"statuses": "200"}', "rule statuses: cannot be", id="text for a list"),
        pytest.param('{"statuses": [200]}', "rule statuses: not a list of texts", id="number"),
        pytest.param('{"statuses": ["2xx"]}', "rule statuses: not three digits", id="no status"),
        pytest.param('{"checksum": 1}', "rule checksum: cannot be 1", id="number for a switch"),
        pytest.param(
            '{"extensions_excluded": ["a/b"]}', "not letters and digits", id="no extension"
        ),
        pytest.param('{"prefixes": [""]}', "selects everything", id="empty prefix"),
        pytest.param(
            '{"first": "20130231"}', "rule first: no date starts with 20130231", id="31 February"
        ),
        pytest.param(
            '{"first": "2014", "last": "2013"}', "is after last", id="ends in the wrong order"
        ),
    ],
)
def test_impossible_rules_are_named(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Rules.from_json(text)


def test_rules_missing_in_json_have_their_defaults() -> None:
    assert Rules.from_json('{"read_redirects": false}') == Rules(read_redirects=False)


words = st.lists(st.text("abc", min_size=1, max_size=3), max_size=4).map(tuple)


@given(
    st.builds(
        Rules,
        statuses=st.lists(st.sampled_from(["200", "404", "-"])).map(tuple),
        mimes=words,
        mimes_excluded=words,
        extensions_excluded=words,
        checksum=st.booleans(),
        read_redirects=st.booleans(),
        prefixes=words,
    )
)
def test_rules_read_back_and_equal_rules_are_equal_text(rules: Rules) -> None:
    assert Rules.from_json(rules.to_json()) == rules
    assert replace(rules, mimes=tuple(reversed(rules.mimes)) * 2).to_json() == rules.to_json()


def test_the_default_of_the_method_rule_is_not_written_so_that_older_rules_are_equal() -> None:
    assert "methods" not in Rules().to_json()
    rules = Rules(methods=("post", "GET", "POST"))
    assert rules.methods == ("GET", "POST")
    assert Rules.from_json(rules.to_json()) == rules
    assert Rules.from_json(Rules(methods=()).to_json()).methods == ()
