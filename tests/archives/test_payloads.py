import gzip
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import brotli  # type: ignore[import-untyped]  # it has no types
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from arclink.archives.payloads import (
    MOST_CODINGS,
    codings_of,
    decode_payload,
    is_coded,
    payload_checksum,
    redirect_checksum,
    stream_decoded,
    stream_without_chunks,
    undo_chunks,
    undo_coding,
)
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.checksums import normal_checksum
from arclink.errors import InputError, PayloadError, RecordError
from arclink.model import EMPTY_PAYLOAD
from arclink.reasons import Reason
from tests.archives.made_archives import http, read, warc

PAGE = b"<!DOCTYPE html><title>Page</title>" + b"".join(
    b"<p>%d, %x</p>" % (number, number**3) for number in range(4000)
)


def raw_deflate(data: bytes) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return deflate.compress(data) + deflate.flush()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def chunked(data: bytes, size: int = 1000, end: bytes = b"\r\n") -> bytes:
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(b"%x" % len(piece) + end + piece + end for piece in [*pieces, b""])


def stored(folder: Path, body: bytes, *headers: str, fields: tuple[str, ...] = ()) -> ArchiveRecord:
    path = folder / "page.warc"
    path.write_bytes(warc("http://h/", http(body, *headers), *fields))
    return read(path)[0][0]


CODERS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("br", brotli.compress),
    ("zstd", zstd),
]
coders = pytest.mark.parametrize(
    ("name", "encode"), CODERS, ids=["gzip", "x-gzip", "deflate", "raw deflate", "br", "zstd"]
)


@coders
def test_a_content_coding_is_undone(
    tmp_path: Path, name: str, encode: Callable[[bytes], bytes]
) -> None:
    payload = decode_payload(stored(tmp_path, encode(PAGE), f"Content-Encoding: {name.upper()}"))
    assert (payload.body, payload.cut, payload.truncated) == (PAGE, False, False)


@coders
def test_a_coding_in_chunks_is_undone(
    tmp_path: Path, name: str, encode: Callable[[bytes], bytes]
) -> None:
    record = stored(
        tmp_path, chunked(encode(PAGE)), f"content-encoding: {name}", "Transfer-Encoding: chunked"
    )
    assert decode_payload(record).body == PAGE


@coders
def test_output_is_bounded(tmp_path: Path, name: str, encode: Callable[[bytes], bytes]) -> None:
    record = stored(tmp_path, encode(PAGE), f"Content-Encoding: {name}")
    payload = decode_payload(record, limit=20_000)
    assert (payload.body, payload.cut, payload.truncated) == (
        PAGE[: len(payload.body)],
        True,
        False,
    )
    assert len(payload.body) == 20_000 or len(record.body) > 20_000


@pytest.mark.costly
@coders
def test_a_bomb_does_not_take_the_memory_it_asks_for(
    name: str, encode: Callable[[bytes], bytes]
) -> None:
    bomb = encode(bytes(64 << 20)) if name != "br" else brotli.compress(bytes(64 << 20), quality=1)
    tracemalloc.start()
    try:
        undone = undo_coding(bomb, name, 1 << 20)
        assert undone is not None
        assert (len(undone[0]), undone[2]) == (1 << 20, True)
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


@coders
def test_a_coding_that_was_undone_before_is_left_alone(
    tmp_path: Path, name: str, encode: Callable[[bytes], bytes]
) -> None:
    for body in (PAGE, b"<html>", b"Hello", b"{}", b""):
        payload = decode_payload(stored(tmp_path, body, f"Content-Encoding: {name}"))
        assert (payload.body, payload.cut, payload.truncated) == (body, False, False)


@coders
def test_a_coding_that_breaks_off_gives_what_is_there(
    tmp_path: Path, name: str, encode: Callable[[bytes], bytes]
) -> None:
    encoded = encode(PAGE)
    payload = decode_payload(
        stored(tmp_path, encoded[: len(encoded) // 2], f"Content-Encoding: {name}")
    )
    assert payload.truncated
    assert PAGE.startswith(payload.body)
    if name != "zstd":  # one block
        assert len(payload.body) > len(PAGE) // 4


@coders
def test_a_body_that_is_neither_coded_nor_text_is_an_error(
    tmp_path: Path, name: str, encode: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(PayloadError) as raised:
        decode_payload(stored(tmp_path, b"\x00\xff\x01\x02 no text", f"Content-Encoding: {name}"))
    assert raised.value.reason is Reason.PAYLOAD_CODING


@pytest.mark.parametrize("count", [MOST_CODINGS, MOST_CODINGS + 1, 2_000])
@pytest.mark.parametrize("field", ["Content-Encoding", "Transfer-Encoding"])
def test_the_number_of_codings_is_limited(tmp_path: Path, count: int, field: str) -> None:
    body = PAGE
    for _ in range(min(count, MOST_CODINGS)):
        body = gzip.compress(body, mtime=0)
    record = stored(tmp_path, body, *[f"{field}: gzip"] * (count - 1), "Content-Encoding: gzip")
    pieces, codings = record.body_pieces(), codings_of(record)[1]
    if count <= MOST_CODINGS:
        assert decode_payload(record).body == PAGE
        assert b"".join(stream_decoded(pieces, codings)) == PAGE
        return
    with pytest.raises(PayloadError, match="at most 5 are undone") as raised:
        decode_payload(record)
    assert raised.value.reason is Reason.PAYLOAD_CODING
    with pytest.raises(PayloadError, match="at most 5 are undone"):
        list(stream_decoded(pieces, codings))


@coders
def test_a_stream_ends_at_its_limit(name: str, encode: Callable[[bytes], bytes]) -> None:
    text = bytes(3_000_000)
    assert sum(map(len, stream_decoded([encode(text)], [name], len(text)))) == len(text)
    pieces = stream_decoded([encode(text)], [name], len(text) - 1)
    sizes: list[int] = []
    with pytest.raises(PayloadError) as raised:
        sizes.extend(map(len, pieces))
    assert raised.value.reason is Reason.PAYLOAD_TOO_LONG
    assert sum(sizes) == len(text) - 1


def test_the_bytes_between_two_codings_are_limited() -> None:
    """Empty blocks give no text, however many there are."""
    inner = gzip.compress(b"")[:10] + b"\x00\x00\x00\xff\xff" * 300_000
    with pytest.raises(PayloadError) as raised:
        list(stream_decoded([gzip.compress(inner)], ["gzip", "gzip"], 1_000_000))
    assert raised.value.reason is Reason.PAYLOAD_TOO_LONG


def test_small_chunks_come_in_larger_pieces() -> None:
    body = b"1\r\nx\r\n" * 300_000 + b"0\r\n\r\n"
    pieces = [body[start : start + 100_000] for start in range(0, len(body), 100_000)]
    found = list(stream_without_chunks(pieces))
    assert b"".join(found) == b"x" * 300_000
    assert len(found) < 100


@given(
    st.sampled_from(["gzip", "deflate", "br", "zstd", "sdch"]),
    st.binary(max_size=300),
    st.integers(1, 50),
)
def test_any_bytes_are_decoded_or_returned_unchanged(name: str, body: bytes, limit: int) -> None:
    for start in (b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x78\x9c"):
        undone = undo_coding(start + body, name, limit)
        assert undone is None or len(undone[0]) <= limit or undone[0] == start + body


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        pytest.param(
            ["Content-Encoding: gzip, br"],
            brotli.compress(gzip.compress(PAGE)),
            id="two, in their order",
        ),
        pytest.param(
            ["Content-Encoding: gzip", "Content-Encoding: br"],
            brotli.compress(gzip.compress(PAGE)),
            id="two fields",
        ),
        pytest.param(
            ["Content-Encoding: deflate", "Transfer-Encoding: gzip, chunked"],
            chunked(gzip.compress(zlib.compress(PAGE))),
            id="transfer",
        ),
        pytest.param(
            ["Content-Encoding: gzip, gzip"], gzip.compress(PAGE), id="declared twice, done once"
        ),
        pytest.param(["Content-Encoding: UTF-8, identity, none"], PAGE, id="none of them a coding"),
        pytest.param(["Content-Encoding: sdch"], PAGE, id="unknown, but text"),
        pytest.param(
            ["Content-Encoding: gzip"],
            gzip.compress(PAGE[:999]) + gzip.compress(PAGE[999:]),
            id="two members",
        ),
        pytest.param(["Content-Encoding: gzip"], gzip.compress(PAGE) + b"trash", id="trash after"),
        pytest.param(
            ["Content-Encoding: br"], gzip.compress(PAGE), id="gzip under the name of another"
        ),
        pytest.param(
            ["Content-Encoding: gzip"], zlib.compress(PAGE), id="zlib under the name of another"
        ),
        pytest.param(
            ["Content-Encoding: deflate"], zstd(PAGE), id="zstd under the name of another"
        ),
        pytest.param(
            ["Content-Encoding: gzip;q=1.0"],
            gzip.compress(PAGE),
            id="gzip under an unknown name",
        ),
        pytest.param(["Transfer-Encoding: chunked"], PAGE, id="not in chunks"),
        pytest.param(
            ["Transfer-Encoding: chunked"], chunked(PAGE, end=b"\n"), id="chunks by line feeds"
        ),
    ],
)
def test_a_coding_in_a_header_counts_only_if_the_bytes_have_it(
    tmp_path: Path, headers: list[str], body: bytes
) -> None:
    payload = decode_payload(stored(tmp_path, body, *headers))
    assert (payload.body, payload.truncated) == (PAGE, False)


def test_a_wrong_crc_keeps_the_text(tmp_path: Path) -> None:
    encoded = bytearray(gzip.compress(PAGE))
    encoded[-6] ^= 1
    assert decode_payload(stored(tmp_path, bytes(encoded), "Content-Encoding: gzip")).body == PAGE


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nTrailer: x\r\n\r\n", (b"helloabc", True)),
        (b" 5 \r\nhello\r\n0\r\n\r\n", (b"hello", True)),
        (b"5\r\nabc", (b"abc", False)),
        (b"5\r\nhello\r\n", (b"hello", False)),
        (b"5\r\nhello\r\nno chunk", (b"hellono chunk", False)),
        (b"5\r\nhello world", (b"5\r\nhello world", True)),
        (b"<html>", (b"<html>", True)),
        (b"", (b"", True)),
        (b"0\r\n\r\n", (b"", True)),
        (b"fffffffffffffffff\r\nx", (b"fffffffffffffffff\r\nx", True)),
    ],
)
def test_chunks_are_joined_up_to_the_first_that_is_damaged(
    body: bytes, expected: tuple[bytes, bool]
) -> None:
    assert undo_chunks(body) == expected


@given(st.binary(), st.integers(1, 100))
def test_chunks_of_any_size_are_undone(data: bytes, size: int) -> None:
    assert undo_chunks(chunked(data, size)) == (data, True)


def test_a_payload_is_truncated_by_its_crawler_or_cut_by_us(tmp_path: Path) -> None:
    payload = decode_payload(stored(tmp_path, PAGE, fields=("WARC-Truncated: length",)))
    assert (payload.body, payload.cut, payload.truncated) == (PAGE, False, True)
    payload = decode_payload(stored(tmp_path, PAGE), limit=100)
    assert (payload.body, payload.cut, payload.truncated) == (PAGE[:100], True, False)
    payload = decode_payload(
        stored(tmp_path, chunked(PAGE), "Transfer-Encoding: chunked"), limit=10_000
    )
    assert (PAGE.startswith(payload.body), payload.cut, payload.truncated) == (True, True, False)


def test_a_million_empty_members_end_soon() -> None:
    start = time.process_time()
    assert undo_coding(gzip.compress(b"") * 800_000, "gzip", 16 << 20) == (b"", True, False)
    assert time.process_time() - start < 5


# --- checksums


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A", "B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"),
        ("SHA-1:b2ltwwpuoyah7uipq7zupq4vmbsvc36a", "B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"),
        ("B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A", "B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"),
        ("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", EMPTY_PAYLOAD),
        ("md5:D41D8CD98F00B204E9800998ECF8427E", "md5:d41d8cd98f00b204e9800998ecf8427e"),
        ("sha-256:" + "AB" * 32, "sha256:" + "ab" * 32),
        ("", "-"),
    ],
)
def test_checksums_have_one_form(text: str, expected: str) -> None:
    assert normal_checksum(text) == expected


def test_the_digest_of_nothing_is_that_of_the_empty_payload(tmp_path: Path) -> None:
    assert payload_checksum(stored(tmp_path, b"")) == EMPTY_PAYLOAD


def test_a_body_that_breaks_off_has_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "cut.warc"
    path.write_bytes(warc("http://h/", http(PAGE))[:-500])
    with pytest.raises(RecordError) as raised:
        payload_checksum(read(path)[0][0])
    assert raised.value.reason is Reason.PAYLOAD_DAMAGED


def test_redirects_of_equal_status_and_target_share_a_checksum() -> None:
    one = redirect_checksum("301", "http://h/")
    assert one == "redirect:ECG2CCANTAREQLGW5YG5ZXTZIPN2OPOD"
    assert (
        len({one, redirect_checksum("302", "http://h/"), redirect_checksum("301", "http://h/b")})
        == 3
    )


def test_declared_digests_are_those_of_bodies_as_recorded(shared_data: Path) -> None:
    """The few that are not: files made to be wrong, and one body in chunks that declares the digest
    of its text.
    """
    counts: Counter[str] = Counter()
    others = set()
    for folder in (
        "aut",
        "formats",
        "html",
        "malformed",
        "pywb/warcs",
        "cdx/cdx_writer",
        "warc2graph",
        "flink_web",
    ):
        for path in sorted((shared_data / folder).iterdir()):
            if (
                not path.name.endswith((".warc", ".warc.gz"))
                or "-2016" in path.name
                or "-2017" in path.name
            ):
                continue
            try:
                archive = ArchiveFile(str(path))
            except InputError:
                continue
            with archive:
                for record in archive.records():
                    if (
                        isinstance(record, RecordError)
                        or record.record_type not in ("response", "resource")
                        or record.damage
                    ):
                        continue
                    if record.checksum == "-" or ":" in record.checksum:
                        continue
                    is_chunked = (
                        record.http_headers.first("transfer-encoding") == "chunked"
                        and undo_chunks(record.body)[0] != record.body
                    )
                    if payload_checksum(record) == record.checksum:
                        counts["in chunks" if is_chunked else "plain"] += 1
                    else:
                        others.add(path.name)
    assert counts["plain"] > 1700
    assert counts["in chunks"] == 2
    assert others == {
        "081-example-trunc.warc",
        "141-invalid_0.17_too_short_content_length.warc",
        "173-invalid-warcfile-contenttype-recommended.warc",
        "175-invalid-warcfile-digest-fields.warc",
        "305-example-trunc.warc",
        "bracket_in_target_uri.warc.gz",
        "example-extra.warc",
        "transfer_compression_gzip_chunked.warc.gz",  # the digest of the text without chunks
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("transfer_compression_none.warc", b"<html"),
        ("transfer_compression_gzip.warc.gz", b"<html"),
        ("transfer_compression_brotli.warc.gz", b"<html"),
        ("transfer_compression_gzip_chunked.warc.gz", b"<html"),
    ],
)
def test_real_codings_are_undone(shared_data: Path, name: str, words: bytes) -> None:
    pages = [
        decode_payload(record)
        for record in read(shared_data / "formats" / name)[0]
        if record.record_type == "response"
    ]
    assert pages
    assert all(words in page.body.lower() and not page.truncated for page in pages)


@given(
    st.lists(st.binary(max_size=300), max_size=6),
    st.sampled_from([b"", b"0\r\n\r\n", b"0\n", b"zz", b"5\r\nab", b"3\r\nabcd"]),
    st.sampled_from([b"\r\n", b"\n", b"x"]),
    st.integers(1, 50),
)
def test_chunks_are_joined_alike_in_pieces_and_at_once(
    chunks: list[bytes], end: bytes, line_end: bytes, step: int
) -> None:
    body = b"".join(b"%x\r\n%b%b" % (len(one), one, line_end) for one in chunks if one) + end
    pieces = [body[start : start + step] for start in range(0, len(body), step)]
    assert b"".join(stream_without_chunks(pieces)) == undo_chunks(body)[0]


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        pytest.param("gzip", gzip.compress, id="gzip"),
        pytest.param("gzip", lambda data: gzip.compress(data) * 2, id="two members"),
        pytest.param("gzip", lambda data: gzip.compress(data[:9]) * 10_005, id="many members"),
        pytest.param("deflate", zlib.compress, id="zlib"),
        pytest.param("deflate", raw_deflate, id="raw"),
        pytest.param("br", brotli.compress, id="brotli"),
        pytest.param("zstd", zstd, id="zstd"),
        pytest.param("gzip", bytes, id="not packed"),
        pytest.param("br", gzip.compress, id="another coding than declared"),
        pytest.param("gzip", lambda data: gzip.compress(data)[:-9], id="broken off"),
    ],
)
@pytest.mark.parametrize("length", [0, 10, 200_000, 3_000_000])
def test_codings_are_undone_alike_in_pieces_and_at_once(
    coding: str, pack: Callable[[bytes], bytes], length: int
) -> None:
    text = (b"<p>The text of a page, again and again. " * (length // 40 + 1))[:length]
    body = pack(text)
    pieces = [body[start : start + 1000] for start in range(0, len(body), 1000)]
    undone = undo_coding(body, coding, 1 << 30)
    assert undone is not None
    assert b"".join(stream_decoded(pieces, [coding])) == undone[0]
    assert is_coded(body[: 64 << 10], coding) == (undone[0][:100] != body[:100])


def test_a_coding_that_no_byte_confirms_is_an_error() -> None:
    with pytest.raises(PayloadError):
        list(stream_decoded([bytes(range(256))], ["gzip"]))
