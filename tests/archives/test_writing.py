"""New records are those that warcio writes, and no value breaks their heads. Heads of WARC records
stay, those of ARC records follow from the record.
"""

import gzip
from io import BytesIO
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator
from hypothesis import given
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

from arclink.archives.reader import ArchiveFile
from arclink.archives.writing import (
    digested_record,
    head_as_warc,
    http_head,
    member_of,
    warc_record,
)
from arclink.model import NO_CHECKSUM, Checksum, Memento, Surt, Timestamp, UriR
from tests.archives.made_archives import arc, http, warc
from tests.captures.archives import sha1

BLOCK = http(b"<p>x", "Content-Type: text/html")
FIRST = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/\r\n"
DATED = FIRST + b"WARC-Date: 2020-01-02T03:04:05Z\r\n"
SIZE = b"Content-Length: %d" % len(BLOCK)


def memento(checksum: str = NO_CHECKSUM) -> Memento:
    return Memento(
        Surt("h)/"),
        Timestamp("20200102030405"),
        UriR("http://h/"),
        Checksum(checksum),
        "200",
        "text/html",
        "response",
        "x.arc",
        0,
        -1,
    )


def written(folder: Path, record: bytes, checksum: str = NO_CHECKSUM, **further: str) -> bytes:
    """Return the head that is written for the only record of a file."""
    path = folder / "x"
    path.write_bytes(record)
    with ArchiveFile(str(path)) as archive:
        parts = archive.parts_at(0)
        assert b"".join(parts.block) == BLOCK
        return head_as_warc(parts, memento(checksum), further)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param(DATED + SIZE + b"\r\n\r\n", DATED + SIZE, id="usual"),
        pytest.param(DATED + SIZE + b"\r\n\r\r\n", DATED + SIZE, id="CR LF CR CR LF"),
        pytest.param(DATED + SIZE + b"\n\n", DATED + SIZE, id="LF LF"),
        pytest.param(DATED + b"X: y\r\n\r\n", DATED + b"X: y\r\n" + SIZE, id="no length"),
        pytest.param(
            DATED + b"content-length :\r\n no\r\nX: y\r\nContent-Length: 3\r\n\r\n",
            DATED + SIZE + b"\r\nX: y",
            id="two wrong lengths, one folded",
        ),
        pytest.param(
            FIRST + SIZE + b"\r\n\r\n",
            FIRST + SIZE + b"\r\nWARC-Date: 2020-01-02T03:04:05Z",
            id="no date",
        ),
        pytest.param(
            FIRST + b"WARC-Date: soon\r\n" + SIZE + b"\r\n\r\n", DATED + SIZE, id="bad date"
        ),
    ],
)
def test_a_warc_head_keeps_its_lines(tmp_path: Path, head: bytes, expected: bytes) -> None:
    record = head + BLOCK + b"\r\n\r\n"
    assert written(tmp_path, record) == expected + b"\r\n\r\n"
    assert written(tmp_path, record, New="z") == expected + b"\r\nNew: z\r\n\r\n"


def test_a_field_that_is_there_gets_the_new_value(tmp_path: Path) -> None:
    record = warc("http://h/", BLOCK, "ArcLink-After: old")
    assert b"old" not in written(tmp_path, record, **{"ArcLink-After": "new"})
    assert b"ArcLink-After: new\r\n" in written(tmp_path, record, **{"ArcLink-After": "new"})


def test_an_arc_line_becomes_a_head(tmp_path: Path) -> None:
    head = written(tmp_path, arc("http://h/", BLOCK))
    assert head == written(tmp_path, arc("http://h/", BLOCK))
    lines = head.split(b"\r\n")
    assert lines[:4] == DATED.replace(b"1.0", b"1.1").split(b"\r\n")[:4]
    assert b"WARC-IP-Address: 192.0.2.1" in lines
    assert f"WARC-Payload-Digest: sha1:{sha1(b'<p>x')}".encode() in lines
    assert SIZE in lines
    known = written(tmp_path, arc("http://h/", BLOCK), "md5:9f86d081884c7d659a2feaa0c55ad015")
    assert b"WARC-Payload-Digest: md5:9f86d081884c7d659a2feaa0c55ad015" in known.split(b"\r\n")
    moved = written(tmp_path, arc("http://h/", BLOCK), "redirect:X")
    assert moved == head


@pytest.mark.parametrize("address", ["0.0.0.0", "-", "host"])
def test_an_address_that_is_none_is_left_out(tmp_path: Path, address: str) -> None:
    record = arc("http://h/", BLOCK).replace(b"192.0.2.1", address.encode())
    assert b"WARC-IP-Address" not in written(tmp_path, record)


def test_the_type_of_an_arc_line_is_kept_if_http_has_none(tmp_path: Path) -> None:
    path = tmp_path / "x.arc"
    path.write_bytes(arc("http://h/", b"HTTP/1.0 200 OK\n\n<p>x"))
    with ArchiveFile(str(path)) as archive:
        parts = archive.parts_at(0)
        data = head_as_warc(parts, memento()) + b"".join(parts.block)
        assert parts.record.mime == "text/html"
    path.write_bytes(data + b"\r\n\r\n")
    with ArchiveFile(str(path)) as archive:
        assert archive.record_at(0).mime == "text/html"


def test_values_stay_on_one_line() -> None:
    record = warc_record({"A": "b\r\nC: d\udc80"}, b"x")
    assert record == b"WARC/1.1\r\nA: b C: d?\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"


VALUES = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), min_size=1).map(
    str.strip
)
FIELDS = st.dictionaries(
    st.sampled_from(
        ("WARC-Date", "WARC-Record-ID", "WARC-Profile", "WARC-Payload-Digest", "WARC-Truncated")
    ),
    VALUES,
).map(lambda fields: {"WARC-Record-ID": "<urn:x>", "WARC-Date": "2010-01-01T00:00:00Z", **fields})
HEADERS = st.lists(st.tuples(st.sampled_from(("Content-Type", "X-A")), st.sampled_from("abc")))


@given(
    st.sampled_from(("warcinfo", "response", "request", "metadata", "revisit")),
    VALUES | st.just(""),
    FIELDS,
    st.binary(max_size=70_000),
    st.none() | HEADERS,
    st.sampled_from(("1.0", "1.1")),
)
def test_a_new_record_is_the_one_that_warcio_writes(
    record_type: str,
    uri: str,
    fields: dict[str, str],
    payload: bytes,
    headers: list[tuple[str, str]] | None,
    version: str,
) -> None:
    payload = b"" if record_type == "revisit" else payload
    out = BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version=version)
    head = None if headers is None else StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
    writer.write_record(
        writer.create_warc_record(
            uri,
            record_type,
            payload=BytesIO(payload),
            length=len(payload),
            warc_content_type="x/y",
            warc_headers_dict=fields,
            http_headers=head,
        )
    )
    http = b"" if headers is None else http_head("HTTP/1.1 200 OK", headers)
    record = digested_record(record_type, uri, fields, payload, http, "x/y", version)
    assert gzip.decompress(out.getvalue()) == record
    assert member_of(record) == out.getvalue()


ODD = st.text(max_size=20)


@given(ODD, ODD, ODD, st.binary(max_size=50))
def test_no_value_ends_the_head_of_a_record(
    uri: str, value: str, mime: str, payload: bytes
) -> None:
    """Addresses, types and names may come from an archive that means harm."""
    fields = {"WARC-Source-URI": value, "WARC-Date": "2010-01-01T00:00:00Z"}
    data = b"".join(
        member_of(
            digested_record("metadata", f"http://h/{uri}", fields, payload, content_type=mime)
        )
        for _ in range(2)
    )
    found = [
        (record.headers["WARC-Type"], record.reader.read())
        for record in ArchiveIterator(BytesIO(data), parse_http=False)
    ]
    assert found == [("metadata", payload)] * 2
