"""Fuzz target: any JSON of a WAT record is refused, or describes a capture for an index.

Its links are kept or counted.
"""

from dataclasses import replace

from arclink.archives.reader import NO_HEADERS, ArchiveRecord
from arclink.archives.wat import describe, is_described
from arclink.errors import PayloadError, RecordError
from arclink.extract.header_links import wat_links
from arclink.extract.html import DEFAULT_KINDS, DERIVED_KINDS, Limits
from arclink.filter.index import capture_of
from arclink.model import UriR
from arclink.rows.cdx import CAPTURES, NOT_CAPTURES, format_row, parse_row

LIMITS = Limits(links=50, text=40)

SEEDS = [
    b'{"Container":{"Filename":"a.warc.gz","Offset":"10"},"Envelope":{"WARC-Header-Metadata":{"WARC-Type":"response",'
    b'"WARC-Target-URI":"http://a.example/","WARC-Date":"2019-05-19T07:25:24Z","WARC-Payload-Digest":"sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"},'
    b'"Payload-Metadata":{"HTTP-Response-Metadata":{"Response-Message":{"Status":"200"},"Headers":{"Content-Type":"text/html"},"HTML-Metadata":'
    b'{"Head":{"Base":"/d/","Metas":[{"http-equiv":"Refresh","content":"5; '
    b'url=x"}],"Link":[{"path":"LINK@/href","url":"y","rel":"a"}]},'
    b'"Links":[{"path":"A@/href","url":"b","text":" x '
    b'"},{"path":"IMG@/src","url":"i","alt":"z"},{"path":"STYLE/#text","href":"k"}]}}}}}',
    b'{"Envelope":{"ARC-Header-Metadata":{"Target-URI":"http://a.example/","Date":"20190519072524","Content-Type":"text/html"},'
    b'"Payload-Metadata":{"HTTP-Response-Metadata":{"Response-Message":{"Status":"301"},"Entity-Digest":"sha1:x","Headers":{"Location":["b","c"]}}}}}',
    b'{"Envelope":{"WARC-Header-Metadata":{"WARC-Type":"response","WARC-Target-URI":"http://a.example/"},'
    b'"Payload-Metadata":{"HTTP-Response-Metadata":{"HTML-Metadata":{"Head":{"Metas":[{"http-equiv":"Refresh",'
    b'"content":"54; url=x"}]}}}}}}',
    b'{"Envelope":{"WARC-Header-Metadata":{"WARC-Type":"revisit","WARC-Target-URI":"http://a.example/","WARC-Date":"2019-05-19T07:25:24Z",'
    b'"WARC-Refers-To-Date":"2018","WARC-Profile":"p"},"Payload-Metadata":{}}}',
]


def check(data: bytes) -> None:
    """Hold one JSON against what must be true of all."""
    record = ArchiveRecord(
        "metadata",
        UriR("a"),
        "-",
        NO_HEADERS,
        {"content-type": "application/json"},
        0,
        len(data),
        data,
        len(data),
    )
    if not is_described(record):
        return
    try:
        described = describe(record)
    except RecordError:
        return
    capture = described.capture
    if (
        capture.uri
        and capture.timestamp
        and capture.record_type in CAPTURES
        and not capture.uri[:10].lower().startswith(NOT_CAPTURES)
    ):
        row = capture_of(capture, "f")
        assert replace(parse_row(format_row(row)), key="", note=None) == replace(
            row, key="", note=None
        )
    try:
        page, charset = wat_links(described, LIMITS)
    except PayloadError:
        assert described.html is None
        return
    assert "".encode(charset) == b""
    assert len(page.links) <= LIMITS.links
    for kind, reference, text, rel in page.links:
        assert kind in DEFAULT_KINDS | DERIVED_KINDS
        assert len(text) <= LIMITS.text
        assert text == text.strip(" ")
        assert rel is None or rel == rel.strip(" ").lower() != ""
        assert not set(text + (rel or "")) & set("\t\n\r\x1e\x1f")
        (reference + text).encode("utf-8", "surrogatepass")
