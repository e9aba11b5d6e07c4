import gzip
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink import native
from arclink.checksums import normal_checksum
from arclink.errors import CdxError
from arclink.model import NO_CHECKSUM, Checksum, Timestamp, UriR
from arclink.reasons import Reason
from arclink.rows.cdx import (
    LAYOUTS,
    Capture,
    Details,
    Repeated,
    format_repeated,
    format_row,
    parse_header,
    parse_row,
    read_rows,
    share_plain,
    take_plain,
    what_of,
)
from tests.rows.generated import FRAMES, JSON, KEYS, ODD, SHA1, captures, lines_of_any_kind

CAPTURE = Capture(
    key="com,example)/?example=1",
    timestamp=Timestamp("20140103030321"),
    original=UriR("http://example.com?example=1"),
    mime="text/html",
    status="200",
    checksum=Checksum(SHA1),
    length=1043,
    offset=333,
    file="example.warc.gz",
    record_type="response",
)

DIALECTS = [
    pytest.param(
        "com,example)/?example=1 20140103030321 http://example.com?example=1 text/html 200 "
        f"{SHA1} - - 1043 333 example.warc.gz",
        CAPTURE,
        id="11 columns",
    ),
    pytest.param(
        "com,example)/?example=1 20140103030321 http://example.com?example=1 text/html 200 "
        f"{SHA1} - - 333 example.warc.gz",
        replace(CAPTURE, length=-1),
        id="10 columns",
    ),
    pytest.param(
        "com,example)/?example=1 20140103030321 http://example.com?example=1 text/html 200 "
        f"{SHA1} - 333 example.warc.gz",
        replace(CAPTURE, length=-1),
        id="9 columns",
    ),
    pytest.param(
        "com,example)/?example=1 20140103030321 http://example.com?example=1 text/html 200 "
        f"{SHA1} - - 1043 333 example.warc.gz - - -",
        CAPTURE,
        id="14 columns of OutbackCDX",
    ),
    pytest.param(
        "example.org/foo.html \t20090312223142\nhttp://www.example.org/foo.html text/html  200\n"
        "E6T72C2R6BRKSI3IZPMRJDXTFJIRC7P - - 111739\nTENN-000001.warc.gz",
        Capture(
            key="example.org/foo.html",
            timestamp=Timestamp("20090312223142"),
            original=UriR("http://www.example.org/foo.html"),
            mime="text/html",
            status="200",
            checksum=Checksum("E6T72C2R6BRKSI3IZPMRJDXTFJIRC7P"),
            length=-1,
            offset=111739,
            file="TENN-000001.warc.gz",
            record_type="response",
        ),
        id="the example in the paper, 3.1",
    ),
    pytest.param(
        'com,example)/?example=1 20140103030321 {"url": "http://example.com?example=1", '
        '"mime": "text/html", "status": "200", '
        f'"digest": "{SHA1}", "length": "1043", "offset": "333", "filename": "example.warc.gz"}}',
        CAPTURE,
        id="CDXJ of pywb",
    ),
    pytest.param(
        'com,example)/?example=1 20140103030321 {"url": "http://example.com?example=1", '
        '"mime": "text/html", "mime-detected": '
        f'"text/html", "status": "200", "digest": "sha1:{SHA1}", "length": "1043", "offset": '
        '"333", "filename": "example.warc.gz", '
        '"charset": "UTF-8", "languages": "eng"}',
        replace(CAPTURE, languages="en"),
        id="CDXJ of Common Crawl",
    ),
    pytest.param(
        'com,example)/?example=1 20140103030321 {"url": "http://example.com?example=1", '
        f'"mime": "text/html", "status": "200", "digest": "{SHA1}", "length": "1043", '
        '"offset": "333", "filename": "example.warc.gz", "lang": "no-NO"}',
        replace(CAPTURE, languages="no"),
        id="a row with one language",
    ),
    pytest.param(
        'com,example)/?example=1 20140103030321 {"url": "http://example.com?example=1", '
        f'"mime": "text/html", "status": "200", "digest": "{SHA1}", "length": "1043", '
        '"offset": "333", "filename": "example.warc.gz", "languages": ["fra", 7, "eng"]}',
        replace(CAPTURE, languages="en,fr"),
        id="a row with languages as a list",
    ),
    pytest.param(
        'com,example)/?example=1 20140103030321 {"url": "http://example.com?example=1", '
        f'"mime": "text/html", "status": "200", "digest": "{SHA1}", "length": "1043", '
        '"offset": "333", "filename": "example.warc.gz", "languages": {"en": 0.9}}',
        CAPTURE,
        id="a row with languages in another form",
    ),
    pytest.param(
        '{"urlkey": "com,example)/?example=1", "timestamp": 20140103030321, "url": '
        '"http://example.com?example=1", "mime": "text/html", '
        f'"status": 200, "digest": "{SHA1}", "redirecturl": "-", "robotflags": "-", '
        '"length": 1043, "offset": 333, '
        '"filename": "example.warc.gz"}',
        CAPTURE,
        id="JSON line of OutbackCDX",
    ),
    pytest.param(
        '{"urlkey": "com,example)/?example=1", "timestamp": "20140103030321", "original": '
        '"http://example.com?example=1", '
        f'"mimetype": "text/html", "statuscode": "200", "digest": "{SHA1}", "length": '
        '"1043", "offset": "333", '
        '"filename": "example.warc.gz"}',
        CAPTURE,
        id="JSON with the Internet Archive's names",
    ),
]


@pytest.mark.parametrize(
    ("fields", "repeated"),
    [
        pytest.param(
            {"orig.length": "9", "orig.offset": "0", "orig.filename": "a b.warc.gz"},
            Repeated("a b.warc.gz", 0, 9),
            id="pywb",
        ),
        pytest.param(
            {"orig.length": "-", "orig.offset": 7, "orig.filename": "a"},
            Repeated("a", 7),
            id="without length",
        ),
        pytest.param(
            {"orig.length": "-", "orig.offset": "-", "orig.filename": "-"}, None, id="no place"
        ),
        pytest.param({"orig.offset": "7"}, None, id="no file"),
        pytest.param({"orig.offset": "x", "orig.filename": "a"}, None, id="no number"),
        pytest.param({"orig.offset": {}, "orig.filename": ["a"]}, None, id="no texts"),
    ],
)
def test_the_row_of_a_revisit_may_name_its_original(
    fields: dict[str, object], repeated: Repeated | None
) -> None:
    json = orjson.loads(format_row(replace(CAPTURE, record_type="revisit")).split(b" ", 2)[2])
    row = b"com,example)/ 20140103030321 " + orjson.dumps(json | fields)
    capture = parse_row(row)
    assert capture.repeated == repeated
    assert parse_row(format_row(capture)).repeated == repeated
    assert parse_row(row.replace(b'"revisit"', b'"response"')).repeated is None
    agree([row])


@pytest.mark.parametrize(("line", "capture"), DIALECTS)
def test_every_dialect_says_the_same(line: str, capture: Capture) -> None:
    assert parse_row(line) == capture
    assert parse_row(line.encode() + b"\r\n") == capture


@pytest.mark.parametrize(
    ("columns", "attribute", "value"),
    [
        pytest.param(
            "k 20140103030321 http://h/ warc/revisit - S - - - 5 f",
            "record_type",
            "revisit",
            id="revisit",
        ),
        pytest.param(
            "k 20140103030321 http://h/ text/html 200 S - - - 5 f",
            "record_type",
            "response",
            id="response",
        ),
        pytest.param(
            "k 20140103030321 http://h/ text/html - S - - - 5 f",
            "record_type",
            "resource",
            id="no status: no HTTP",
        ),
        pytest.param(
            "k 20140103030321 ftp://h/ text/html 226 S - - - 5 f",
            "record_type",
            "resource",
            id="FTP",
        ),
        pytest.param("k 20140103030321 http://h/ - - S - - - 5 f", "mime", "-", id="no mime type"),
        pytest.param(
            "k 20140103030321 http://h/ - 0 S - - - 5 f",
            "status",
            "-",
            id="no status, of OutbackCDX",
        ),
        pytest.param("- 20140103030321 http://h/ - - S - - - 5 f", "key", "", id="no key"),
        pytest.param(
            "k 20140103030321 http://h/ - - - - - - 5 f", "checksum", "-", id="no checksum"
        ),
        pytest.param("k 20140103030321 http://h/ - - S - - - 5 f", "length", -1, id="no length"),
        pytest.param(
            "k 20140103030321 http://h/ - - S - - 007 5 f", "length", 7, id="leading zeros"
        ),
        pytest.param(
            "k 201401 http://h/ - - S - - - 5 f",
            "timestamp",
            "20140101000000",
            id="short timestamp",
        ),
        pytest.param(
            "k 201401 http://h/ - - S - - - 5 f",
            "note",
            Reason.NOTE_TIMESTAMP_PADDED,
            id="note of a short timestamp",
        ),
        pytest.param(
            "k 2014 http://h/\x01\x7f - - S - - - 5 f",
            "original",
            "http://h/%01%7F",
            id="control characters",
        ),
        pytest.param(
            "k 2014 http://h/\x85\u2028 - - S - - - 5 f",
            "original",
            "http://h/%C2%85%E2%80%A8",
            id="other line ends",
        ),
        pytest.param(
            b"k 2014 http://h/\xce\xd2 - - S - - - 5 f",
            "original",
            "http://h/%CE%D2",
            id="not UTF-8",
        ),
        pytest.param("k 2014 http://h/ü - - S - - - 5 f", "original", "http://h/ü", id="UTF-8"),
        pytest.param(
            'k 2014 {"url":"http://h/\\t\\n","offset":0,"filename":"f"}',
            "original",
            "http://h/%09%0A",
            id="controls in JSON",
        ),
        pytest.param(
            'k 2014 {"url":"http://h/","mime":"a\\tb","offset":0,"filename":"f"}',
            "mime",
            "a b",
            id="tab in a mime type",
        ),
        pytest.param(
            'k 2014 {"url":"http://h/","status":null,"offset":0,"filename":"f"}',
            "status",
            "-",
            id="null",
        ),
        pytest.param(
            'k 2014 {"url":"http://h/","type":"resource","status":200,"offset":0,"filename":"f"}',
            "record_type",
            "resource",
            id="type",
        ),
        pytest.param(
            'k 2014 {"url":"http://h/","location":"/x","offset":0,"filename":"f"}',
            "location",
            "/x",
            id="location",
        ),
    ],
)
def test_parts_of_a_row(columns: str | bytes, attribute: str, value: object) -> None:
    assert getattr(parse_row(columns), attribute) == value


ROW = "k 20140103030321 http://h/ text/html 200 S - - 7 5 f"


@pytest.mark.parametrize(
    ("line", "reason", "message"),
    [
        pytest.param("", Reason.ROW_HEADER, "header", id="empty"),
        pytest.param(" \n", Reason.ROW_HEADER, "header", id="blank"),
        pytest.param(
            "a b c", Reason.ROW_MALFORMED, "expected 9, 10, 11 or 14 columns, found 3", id="short"
        ),
        pytest.param(ROW + " x", Reason.ROW_MALFORMED, "found 12", id="long"),
        pytest.param(
            ROW.replace("200", "2xx"), Reason.ROW_MALFORMED, "status is not a number", id="status"
        ),
        pytest.param(
            ROW.replace(" 5 ", " x "), Reason.ROW_MALFORMED, "offset is not a number", id="offset"
        ),
        pytest.param(
            ROW.replace(" 5 ", " - "),
            Reason.ROW_MALFORMED,
            "offset is not a number",
            id="no offset",
        ),
        pytest.param(
            ROW.replace(" 7 ", " x "), Reason.ROW_MALFORMED, "length is not a number", id="length"
        ),
        pytest.param(
            ROW.replace(" 5 ", f" {'9' * 19} "),
            Reason.ROW_MALFORMED,
            "offset is not a number",
            id="larger than any file",
        ),
        pytest.param(
            ROW.replace("20140103030321", "-"),
            Reason.ROW_MALFORMED,
            "not 4 to 18 digits",
            id="no timestamp",
        ),
        pytest.param(
            ROW.replace("http://h/", "-"), Reason.ROW_MALFORMED, "no original", id="no original"
        ),
        pytest.param(
            ROW.replace(" f", " -"), Reason.ROW_MALFORMED, "no usable file name", id="no file"
        ),
        pytest.param(
            'k 2014 {"url":', Reason.ROW_MALFORMED, "EOF|end of data|unexpected", id="cut JSON"
        ),
        pytest.param(
            'k 2014 {"url":["http://h/"],"offset":0,"filename":"f"}',
            Reason.ROW_MALFORMED,
            "neither text",
            id="list in JSON",
        ),
        pytest.param(
            'k 2014 {"url":"http://h/","offset":1.5,"filename":"f"}',
            Reason.ROW_MALFORMED,
            "neither text",
            id="float",
        ),
        pytest.param(
            'k 2014 {"url":"http://h/","offset":true,"filename":"f"}',
            Reason.ROW_MALFORMED,
            "neither text",
            id="bool",
        ),
        pytest.param(
            'k 2014 {"url":"http://h/","offset":1,"filename":"f\\n"}',
            Reason.ROW_MALFORMED,
            "no usable file",
            id="newline in a file",
        ),
        pytest.param(
            '["urlkey","timestamp"]',
            Reason.ROW_MALFORMED,
            "found 1",
            id="JSON array of the CDX server",
        ),
        pytest.param(" CDX N b a m s k r M S V g", Reason.ROW_HEADER, "header", id="header"),
        pytest.param(
            "CDX N b a m s k r V g", Reason.ROW_HEADER, "header", id="header without blank"
        ),
        pytest.param('!meta {"format": "cdxj"}', Reason.ROW_HEADER, "header", id="header of CDXJ"),
        pytest.param(
            ROW.replace("text/html 200", "warc/request -"),
            Reason.ROW_NOT_A_CAPTURE,
            "request",
            id="request",
        ),
        pytest.param(
            ROW.replace("text/html 200", "warc-info -"),
            Reason.ROW_NOT_A_CAPTURE,
            "warcinfo",
            id="warcinfo",
        ),
        pytest.param(
            ROW.replace("http://h/", "dns:h"), Reason.ROW_NOT_A_CAPTURE, "dns:h", id="dns"
        ),
        pytest.param(
            ROW.replace("http://h/", "filedesc://h"),
            Reason.ROW_NOT_A_CAPTURE,
            "filedesc",
            id="filedesc",
        ),
        pytest.param(
            'k 2014 {"url":"http://h/","type":"metadata","offset":0,"filename":"f"}',
            Reason.ROW_NOT_A_CAPTURE,
            "metadata",
            id="type",
        ),
    ],
)
def test_a_row_that_is_not_a_capture_is_named(line: str, reason: Reason, message: str) -> None:
    with pytest.raises(CdxError, match=message) as error:
        parse_row(line)
    assert error.value.reason is reason


@pytest.mark.parametrize(
    ("text", "checksum"),
    [
        pytest.param(SHA1, SHA1, id="base32"),
        pytest.param(SHA1.lower(), SHA1, id="base32 in lower case"),
        pytest.param("sha1:" + SHA1, SHA1, id="prefix"),
        pytest.param("SHA-1:" + SHA1, SHA1, id="prefix as in some WARC writers"),
        pytest.param(
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            id="hex SHA-1",
        ),
        pytest.param(
            "sha1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
            "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            id="hex SHA-1 with prefix",
        ),
        pytest.param(
            "d41d8cd98f00b204e9800998ecf8427e", "md5:d41d8cd98f00b204e9800998ecf8427e", id="hex MD5"
        ),
        pytest.param(
            "md5:D41D8CD98F00B204E9800998ECF8427E",
            "md5:d41d8cd98f00b204e9800998ecf8427e",
            id="MD5 with prefix",
        ),
        pytest.param("SHA-256:" + "AB" * 32, "sha256:" + "ab" * 32, id="SHA-256"),
        pytest.param("ab" * 32, "sha256:" + "ab" * 32, id="SHA-256 by its length"),
        pytest.param(
            "E6T72C2R6BRKSI3IZPMRJDXTFJIRC7P",
            "E6T72C2R6BRKSI3IZPMRJDXTFJIRC7P",
            id="31 characters stay",
        ),
        pytest.param("urn:x-0123456789abcdef", "urn:x%2D0123456789abcdef", id="no content id"),
        pytest.param(
            "x-0123456789abcdef", "x%2D0123456789abcdef", id="no content id without algorithm"
        ),
        pytest.param(
            "x-0123456789ABCDEF", "x-0123456789ABCDEF", id="content ids are in lower case"
        ),
        pytest.param("redirect:" + SHA1, "redirect%3A" + SHA1, id="no redirect of ours"),
        pytest.param("", "-", id="none"),
        pytest.param("-", "-", id="-"),
        pytest.param("sha1:", "-", id="only a prefix"),
    ],
)
def test_a_checksum_has_one_form(text: str, checksum: str) -> None:
    assert normal_checksum(text) == checksum
    assert normal_checksum(checksum) == checksum


def test_a_header_that_names_another_order_is_followed() -> None:
    layout = parse_header(b" CDX a b g V k m s N\n")
    assert layout is not None
    row = parse_row(
        f"http://example.com?example=1 20140103030321 example.warc.gz 333 {SHA1} text/html "
        "200 com,example)/?example=1",
        layout,
    )
    assert row == replace(CAPTURE, length=-1)
    with pytest.raises(CdxError, match="expected 8 columns, found 11"):
        parse_row(ROW, layout)


@pytest.mark.parametrize(
    "header", [b" CDX a b g V k m s N\n", b"CDX a b g V k m s N\n"], ids=["blank", "no blank"]
)
def test_a_byte_order_mark_before_a_header_changes_nothing(header: bytes) -> None:
    marked = b"\xef\xbb\xbf" + header
    assert parse_header(marked) == parse_header(header)
    row = f"http://h/ 20140103030321 example.warc.gz 333 {SHA1} text/html 200 com,example)/"
    counts: Counter[Reason] = Counter()
    (read,) = read_rows([marked, row.encode()], counts)
    assert read[2] == b"http://h/"
    assert counts == {Reason.ROW_HEADER: 1}


@pytest.mark.parametrize("letters", LAYOUTS.values(), ids=str)
def test_a_header_with_a_known_order_needs_no_layout(letters: tuple[str, ...]) -> None:
    assert parse_header(" CDX {}\n".format(" ".join(letters)).encode()) is None


@pytest.mark.parametrize(
    ("header", "message"),
    [
        pytest.param(b" CDX N b a m s k r", "header without file, offset", id="nothing to read"),
        pytest.param(b" CDX N b a V V g", "a column twice", id="two offsets"),
        pytest.param(b"N b a", "not a header", id="no header"),
        pytest.param(b" \n", "not a header", id="blank"),
    ],
)
def test_a_header_that_cannot_be_followed_is_refused(header: bytes, message: str) -> None:
    with pytest.raises(CdxError, match=message):
        parse_header(header)


@pytest.mark.parametrize(
    ("capture", "is_unmodified"),
    [
        pytest.param(replace(CAPTURE, record_type="revisit"), False, id="revisit by checksum"),
        pytest.param(
            replace(CAPTURE, record_type="revisit", checksum=Checksum("-")),
            True,
            id="revisit without checksum",
        ),
        pytest.param(
            replace(
                CAPTURE,
                record_type="revisit",
                checksum=Checksum("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
            ),
            True,
            id="revisit of nothing",
        ),
        pytest.param(
            replace(
                CAPTURE,
                record_type="revisit",
                profile="http://netpreserve.org/warc/1.0/revisit/server-not-modified",
            ),
            True,
            id="server not modified",
        ),
        pytest.param(
            replace(CAPTURE, checksum=Checksum("-")), False, id="response without checksum"
        ),
    ],
)
def test_a_revisit_by_status_304_is_recognized(capture: Capture, is_unmodified: bool) -> None:
    assert capture.is_unmodified is is_unmodified


WITH_METHOD = 'org,example)/p?{} 2014 {{"url":"{}","offset":0,"filename":"f"{}}}'


@pytest.mark.parametrize(
    ("key", "url", "more", "original", "method"),
    [
        pytest.param(
            "__wb_method=post&q=a",
            "http://example.org/p",
            ',"method":"POST"',
            "http://example.org/p",
            "POST",
            id="cdxj-indexer",
        ),
        pytest.param(
            "__wb_method=options", "http://example.org/p", "", "http://example.org/p", "OPTIONS",
            id="pywb, without a field",
        ),
        pytest.param(
            "a=1&__wb_method=post", "http://example.org/p?a=1", "", "http://example.org/p?a=1",
            "POST", id="pywb, a URI with a query",
        ),
        pytest.param(
            "__wb_method=post&q=a",
            "http://example.org/p?__wb_method=POST&q=a",
            ',"method":"POST"',
            "http://example.org/p",
            "POST",
            id="added to the URI, too",
        ),
        pytest.param(
            "__wb_method=post&a=1&q=a",
            "http://example.org/p?a=1&__wb_method=POST&q=a",
            ',"method":"post"',
            "http://example.org/p?a=1",
            "POST",
            id="added to a URI with a query",
        ),
        pytest.param(
            "__wb_method=post", "http://example.org/p?__wb_method=POST", "",
            "http://example.org/p?__wb_method=POST", "", id="the URI itself has it",
        ),
        pytest.param(
            "__wb_method=post", "http://example.org/p?__wb_method=POST", ',"method":"GET"',
            "http://example.org/p?__wb_method=POST", "", id="the URI itself has it, by GET",
        ),
        pytest.param(
            "__wb_method=post", "http://example.org/p?__wb_method=POST", ',"method":"HEAD"',
            "http://example.org/p?__wb_method=POST", "HEAD", id="the URI itself has it, by HEAD",
        ),
        pytest.param(
            "a", "http://example.org/p?a", ',"method":"get"', "http://example.org/p?a", "",
            id="GET",
        ),
        pytest.param(
            "a", "http://example.org/p?a", ',"method":["POST"]', "http://example.org/p?a", "",
            id="not a method",
        ),
    ],
)  # fmt: skip
def test_the_method_is_that_of_the_row_or_that_which_pywb_added(
    key: str, url: str, more: str, original: str, method: str
) -> None:
    line = WITH_METHOD.format(key, url, more)
    capture = parse_row(line)
    assert (capture.original, capture.method) == (original, method)
    agree([line.encode()])


def test_a_row_of_a_request_is_not_a_capture() -> None:
    for mime in ("application/http;msgtype=request", "application/http; msgtype=request"):
        with pytest.raises(CdxError) as refused:
            parse_row(f'k 2014 {{"url":"http://h/","mime":"{mime}","offset":0,"filename":"f"}}')
        assert refused.value.reason is Reason.ROW_NOT_A_CAPTURE


# Properties.


@given(captures)
def test_what_is_written_reads_back(capture: Capture) -> None:
    assert parse_row(format_row(capture)) == capture
    assert b"\n" not in format_row(capture)


@given(st.one_of(st.binary(max_size=80), st.text(max_size=80)))
def test_no_other_error_comes_out_of_any_line(line: bytes | str) -> None:
    group = "rows"
    try:
        parse_row(line)
    except CdxError as error:
        group = error.reason.group
    assert group == "rows"


def agree(lines: Sequence[bytes]) -> None:
    """Hold what `read_rows` makes of some lines against `parse_row`."""
    expected: list[Capture] = []
    expected_counts: Counter[Reason] = Counter()
    for line in lines:
        try:
            expected.append(parse_row(line))
        except CdxError as error:
            expected_counts[
                _reason_of_header(line) if error.reason is Reason.ROW_HEADER else error.reason
            ] += 1
        else:
            if expected[-1].note:
                expected_counts[expected[-1].note] += 1
    counts: Counter[Reason] = Counter()
    assert list(read_rows(lines, counts)) == [
        (
            one.key.encode(),
            one.timestamp.encode(),
            one.original.encode(),
            one.checksum.encode(),
            str(one.length).encode(),
            str(one.offset).encode(),
            one.file.encode(),
            one.what,
            _details_of(one),
            one.languages.encode(),
        )
        for one in expected
    ]
    assert counts == expected_counts


def _details_of(capture: Capture) -> Details | None:
    details = (
        capture.refers_to_uri,
        capture.refers_to_timestamp,
        capture.location,
        capture.profile,
        "" if capture.repeated is None else format_repeated(capture.repeated),
    )
    return details if any(details) else None


def _reason_of_header(line: bytes) -> Reason:
    try:
        assert (
            not line.strip() or parse_header(line) is None
        )  # none of these lines names an order of its own
    except CdxError as error:
        return error.reason
    return Reason.ROW_HEADER


@given(st.lists(st.tuples(lines_of_any_kind, st.sampled_from(["", "\n", "\r\n"]))))
def test_the_fast_way_agrees_with_parse_row_on_any_lines(written: list[tuple[str, str]]) -> None:
    agree([(line + end).encode() for line, end in written])


@pytest.mark.parametrize("column", range(11))
def test_the_fast_way_agrees_with_parse_row_on_each_odd_column(column: int) -> None:
    plain = (
        f"org,example)/ 20140103030321 http://example.org/ text/html 200 {SHA1} - - 7 5 f.warc.gz"
    ).split()
    for odd in ODD[column]:
        line = " ".join([*plain[:column], odd, *plain[column + 1 :]]).encode()
        agree([line])
        agree([" ".join(plain).encode() + b"\n", line + b"\n", line])


@pytest.mark.parametrize("column", range(len(JSON)))
def test_the_fast_way_agrees_with_parse_row_on_each_odd_column_of_cdxj(column: int) -> None:
    plain = {name: usual[0] for name, usual, _ in JSON if usual}
    name, usual, unusual = JSON[column]
    for value in [None, *usual, *unusual]:
        given = {other: text for other, text in (plain | {name: value}).items() if text is not None}
        json = ",".join(f'"{other}":{text}' for other, text in given.items())
        line = f"org,example)/ 20140103030321 {{{json}}}".encode()
        agree([line])
        agree([line + b"\n", line])
        behind_a_header = list(read_rows([b" CDX g V a b\n", line], Counter()))
        assert behind_a_header == list(
            read_rows([line], Counter())
        )  # an order of columns is no matter of JSON


@pytest.mark.parametrize("key", KEYS)
def test_the_fast_way_agrees_with_parse_row_whatever_the_key_of_cdxj(key: str) -> None:
    json = "{" + ",".join(f'"{name}":{usual[0]}' for name, usual, _ in JSON if usual) + "}"
    for frame in FRAMES:
        agree([frame.format(key, "20140103030321", json).encode()])


@pytest.mark.parametrize("name", ["url", "digest"])
@pytest.mark.parametrize("value", ["", " ", "\\t", "\\n"])
def test_nothing_is_the_same_as_in_the_row_before_the_first(name: str, value: str) -> None:
    plain = {other: usual[0] for other, usual, _ in JSON if usual and other != "type"} | {
        name: f'"{value}"'
    }
    json = ",".join(f'"{other}":{text}' for other, text in plain.items())
    agree([f"org,example)/ 20140103030321 {{{json}}}".encode()])


def test_rows_of_many_kinds_in_turns_are_distinguished() -> None:
    kinds = [
        (f"{top}/{sub}{number}", status, record_type)
        for top in ("text", "image")
        for sub in ("a", "bc")
        for number in range(10)
        for status in ("200", "302", "-")
        for record_type in ("response", "revisit")
    ]
    lines = [
        b'org,h)/ 20140103030321 {"url":"http://h.org/","mime":"%b","status":"%b","digest":"%b",'
        b'"length":"7","offset":"5","filename":"f.arc","type":"%b"}\n'
        % (mime.encode(), status.encode(), SHA1.encode(), record_type.encode())
        for mime, status, record_type in kinds
    ]
    agree(lines * 2)


def test_names_in_any_order_are_read_alike() -> None:
    plain = {name: usual[0] for name, usual, _ in JSON if usual}
    names = list(plain)
    for start in range(len(names)):
        turned = names[start:] + names[:start]
        for order in (turned, turned[::-1]):
            json = ",".join(f'"{name}":{plain[name]}' for name in order)
            agree([f"org,example)/ 20140103030321 {{{json}}}".encode()])


def test_most_rows_of_cdxj_are_taken_the_fast_way(shared_data: Path) -> None:
    lines = list(lines_of(shared_data / "pywb/cdxj/iana.cdxj"))
    if native.is_used():
        taken = sum(take_plain([], [line], 0, what_of, True) for line in lines)
        assert taken >= 0.8 * len(lines), f"{taken} of {len(lines)}"


def test_the_rows_that_index_writes_are_taken_the_fast_way() -> None:
    row = Capture(
        key="org,h)/",
        timestamp=Timestamp("20140103030321"),
        original=UriR("http://h.org/"),
        mime="text/html",
        status="301",
        checksum=Checksum(NO_CHECKSUM),
        length=7,
        offset=5,
        file="f.warc.gz",
        record_type="revisit",
        refers_to_uri="http://h.org/",
        refers_to_timestamp="2013",
        location="/a b",
        profile="p",
    )
    if native.is_used():
        assert take_plain([], [format_row(row) + b"\n"], 0, what_of, True)


@pytest.mark.parametrize("is_known", [True, False])
def test_plain_lines_are_shared_out_by_file_and_the_others_left(is_known: bool) -> None:
    row = f"org,h)/ 20140103030321 http://h.org/ text/html 200 {SHA1} - - 7 5 "
    plain = [row.encode() + name for name in (b"a.arc\n", b"b.arc\n", b"a.arc", b"c.arc")]
    batch_of = {b"a.arc": 1, b"b.arc": 0, **({b"c.arc": -1} if is_known else {})}
    shared: defaultdict[int, list[bytes]] = defaultdict(list)
    end = share_plain([*plain, b"!x\n"], 0, batch_of, what_of, shared)
    if native.is_used():
        assert end == (4 if is_known else 3)
        expected = {1: [plain[0], plain[2] + b"\n"], 0: [plain[1]]}
        assert shared == expected | ({-1: [plain[3] + b"\n"]} if is_known else {})
    else:
        assert end == 0
        assert not shared


def test_a_header_holds_until_the_next_one() -> None:
    lines = [
        ROW.encode(),
        b" CDX g V a b",
        b"\n",
        b"f 5 http://h/ 2014",
        b" CDX N b a m s k r M S V g",
        ROW.encode(),
    ]
    counts: Counter[Reason] = Counter()
    assert [row[1] for row in read_rows(lines, counts)] == [
        b"20140103030321",
        b"20140101000000",
        b"20140103030321",
    ]
    assert counts[Reason.ROW_HEADER] == 3


# Real files. What is no capture in them: requests, metadata, dns, warcinfo and filedesc.

REAL = {
    "aut/example.warc.gz.published.cdx": {
        "response": 261,
        "ROW_HEADER": 1,
        "ROW_NOT_A_CAPTURE": 561,
    },
    "cdx/one-url-2012-2014.cdx": {"response": 1927, "revisit": 211, "ROW_NOT_A_CAPTURE": 6},
    "flink_web/flink-2015-2018.cdx": {"response": 2398, "revisit": 1249, "ROW_HEADER": 1},
    "formats/hello-world.warc.cdx": {"response": 1, "ROW_HEADER": 1, "ROW_NOT_A_CAPTURE": 3},
    "pywb/cdx/bad.cdx": {"response": 2, "revisit": 2, "ROW_HEADER": 1},
    "pywb/cdx/dupes.cdx": {"response": 3, "revisit": 9, "ROW_HEADER": 1},
    "pywb/cdx/example-arc-test.cdx": {"response": 2, "ROW_HEADER": 1},
    "pywb/cdx/example-extra.cdx": {"response": 1, "revisit": 1, "ROW_HEADER": 1},
    "pywb/cdx/example.cdx": {"response": 2, "revisit": 1, "ROW_HEADER": 1},
    "pywb/cdx/httpbin-resource.cdxj": {"untyped": 1},
    "pywb/cdx/iana.cdx": {"response": 48, "revisit": 123, "ROW_HEADER": 1},
    "pywb/cdx/missing-status-text.cdxj": {"response": 1},
    "pywb/cdx/post-test.cdx": {"response": 3, "ROW_HEADER": 1},
    "pywb/cdx/url-agnost-example.cdx": {"response": 1, "revisit": 1, "ROW_HEADER": 1},
    "pywb/cdxj/dupes.cdxj": {"response": 3, "revisit": 9},
    # these two have no status: their responses cannot be told from resources and requests
    "pywb/cdxj/example-no-digest.cdxj": {"untyped": 2, "revisit": 1},
    "pywb/cdxj/example.cdxj": {"untyped": 2, "revisit": 1},
    "pywb/cdxj/example.cdx.gz": {"response": 1},
    "pywb/cdxj/example2.cdxj": {"response": 1},
    "pywb/cdxj/iana.cdxj": {"response": 48, "revisit": 123},
    "pywb/cdxj/post-test.cdxj": {"response": 3},
    "pywb/cdxj/url-agnost-example.cdxj": {"response": 1, "revisit": 1},
    "pywb/non-surt-cdx/example-non-surt.cdx": {"response": 2, "revisit": 1, "ROW_HEADER": 1},
    # its blocks lack the last line end, so 37 lines are two rows without anything between
    "pywb/zipcdx/zipnum-sample.cdx.gz": {"response": 33, "revisit": 81, "ROW_MALFORMED": 37},
}

CDX_WRITER = {
    "ROW_HEADER": 62,
    "ROW_NOT_A_CAPTURE": 25,
    "response": 45,
    "resource": 6,
    "untyped": 4,
    "revisit": 5,
    "ROW_MALFORMED": 2,  # hex_instead_of_date: the timestamp is "-"
    "NOTE_TIMESTAMP_PADDED": 1,  # 15_digit_date: day 00
}


def lines_of(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        yield from lines


def ends_of(lines: Iterator[bytes]) -> Counter[str]:
    counts: Counter[Reason] = Counter()
    ends = Counter(row[7][2].decode() or "untyped" for row in read_rows(lines, counts))
    return ends + Counter({reason.name: count for reason, count in counts.items()})


def test_every_cdx_file_at_hand_is_pinned(shared_data: Path) -> None:
    found = {
        str(path.relative_to(shared_data)) for path in shared_data.rglob("*.cdx*") if path.is_file()
    }
    others = ("cdx/cdx_writer/", "cases/")
    assert {name for name in found if not name.startswith(others)} == set(REAL)


@pytest.mark.parametrize("name", REAL)
def test_every_row_of_a_real_cdx_is_read_or_refused(name: str, shared_data: Path) -> None:
    assert ends_of(lines_of(shared_data / name)) == REAL[name]


def test_every_row_of_the_odd_archives_is_read_or_refused(shared_data: Path) -> None:
    total: Counter[str] = Counter()
    files = sorted((shared_data / "cdx/cdx_writer").glob("*.cdx"))
    for file in files:
        total += ends_of(lines_of(file))
    assert len(files) == 62
    assert total == CDX_WRITER


def test_cdx_and_cdxj_of_one_archive_are_the_same_captures(shared_data: Path) -> None:
    one, other = (
        [row[1:8] for row in read_rows(lines_of(shared_data / name), Counter())]
        for name in ("pywb/cdx/iana.cdx", "pywb/cdxj/iana.cdxj")
    )
    assert len(one) == 171
    assert one == other
