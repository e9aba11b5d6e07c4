"""``arclink get`` writes a capture to standard output, or an error that names the file."""

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.errors import CaptureError
from tests.captures.archives import T1, Record, sha1, store_of

A = "http://a.example/"
BODY = b"3\r\n<p>\r\n4\r\ntext\r\n0\r\n\r\n"
HEAD = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Transfer-Encoding: chunked")
RECORD = Record(A, T1, BODY, HEAD)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("get"), [RECORD])


def get(store: Path, *words: str) -> bytes:
    result = CliRunner().invoke(group, ["get", *words, "--store", str(store)])
    if result.exception is not None:
        raise result.exception
    return result.stdout_bytes


@pytest.mark.parametrize(
    ("form", "output"),
    [
        ("body", b"<p>text"),
        ("raw", BODY),
        ("headers", b"\r\n".join([*HEAD, b"", b""])),
        ("record", RECORD.to_bytes().removesuffix(b"\r\n\r\n")),
        ("text", b"text\n"),
    ],
)
def test_a_capture_is_written_as(store: Path, form: str, output: bytes) -> None:
    assert get(store, A, "--format", form) == output
    assert get(store, A, "--as", form) == output  # the word of version 0.1.0
    assert get(store, f"sha1:{sha1(BODY)}", "--format", form) == output


def test_the_body_is_the_default(store: Path) -> None:
    assert get(store, "a.example", "--at", "2015") == b"<p>text"


def test_a_capture_that_cannot_be_read_is_an_error_with_its_file(
    store: Path, tmp_path: Path
) -> None:
    with pytest.raises(CaptureError, match="oldest capture"):
        get(store, A, "--at", "2009")
    other = store_of(tmp_path, [RECORD])
    (tmp_path / "archive").rename(tmp_path / "new")
    with pytest.raises(CaptureError, match=r"crawl\.warc\.gz"):
        get(other, A)
    assert get(other, A, "--archives", str(tmp_path / "new")) == b"<p>text"


@pytest.mark.parametrize("form", ["body", "text"])
def test_a_capture_with_many_codings_is_an_error(tmp_path: Path, form: str) -> None:
    many = (b"HTTP/1.1 200 OK", b"Content-Encoding: " + b", ".join([b"gzip"] * 2_000))
    store = store_of(tmp_path, [Record(A, T1, gzip.compress(b"<p>x", mtime=0), many)])
    with pytest.raises(CaptureError, match="2000 codings; at most 5 are undone"):
        get(store, A, "--format", form)
    assert get(store, A, "--format", "raw") == gzip.compress(b"<p>x", mtime=0)


def test_a_transfer_coding_is_undone(tmp_path: Path) -> None:
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Transfer-Encoding: gzip")
    store = store_of(tmp_path, [Record(A, T1, gzip.compress(b"<p>x", mtime=0), head)])
    assert get(store, A) == b"<p>x"
