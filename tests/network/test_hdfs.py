"""Reading from HDFS servers that fail; tests/engines/test_hadoop.py reads from a real HDFS."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import BinaryIO, ClassVar
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from arclink.archives.locations import RemotePath
from arclink.archives.reader import ArchiveFile
from arclink.errors import InputError
from arclink.network import hdfs as network_hdfs
from arclink.network.hdfs import ADDRESS, BLOCK, HdfsBytes, WebHdfs, webhdfs_address
from arclink.pipeline.inputs import FileMarks, describe, leave_out_foreign

DATA = bytes(number % 251 for number in range(5 * BLOCK + 17))


PAUSES = (0.001,) * 6

GONE = "127.0.0.2"
"""A DataNode that does not answer."""


class Names(BaseHTTPRequestHandler):
    """NameNode and DataNode in one, which breaks off the first answers of the file ``/fickle``, and
    all of ``/broken``.
    """

    protocol_version = "HTTP/1.0"
    opened: ClassVar[list[tuple[str, int]]] = []

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        name = parts.path.removeprefix("/webhdfs/v1").removeprefix("/data")
        if parts.path.startswith("/sums"):
            self.answer(200, orjson.dumps({"FileChecksum": {"bytes": "00ff", "length": 2}}))
        elif parts.path.startswith("/data"):
            self.send_data(name, int(query["offset"]))
        elif name == "/missing":
            self.answer(
                404, orjson.dumps({"RemoteException": {"message": "File does not exist: /missing"}})
            )
        elif name in ("/moved", "/lost") and GONE not in query.get("excludedatanodes", ""):
            self.send_response(307)
            self.send_header("Location", f"http://{GONE}:1/data{name}")
            self.end_headers()
        elif name == "/lost":
            self.answer(403, b"{}")
        elif query["op"] == "GETFILECHECKSUM":
            self.send_response(307)
            self.send_header(
                "Location",
                f"http://127.0.0.1:{self.server.server_port}/sums{name}",  # type: ignore[attr-defined]
            )
            self.end_headers()
        elif query["op"] == "OPEN":
            self.send_response(307)
            self.send_header(
                "Location",
                f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
                f"/data{name}?offset={query['offset']}",
            )
            self.end_headers()
        else:
            self.answer(
                200,
                orjson.dumps(
                    {"FileStatus": {"pathSuffix": "", "type": "FILE", "length": len(DATA)}}
                ),
            )

    def send_data(self, name: str, offset: int) -> None:
        self.opened.append((name, offset))
        rest = DATA[offset:]
        end = (
            BLOCK + 100
            if name == "/fickle" and len(self.opened) < 3
            else 100
            if name == "/broken"
            else len(rest)
        )
        self.send_response(200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[:end])

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  # its name in http.server


@pytest.fixture
def hdfs(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Names)
    thread = Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv(ADDRESS, f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr("arclink.network.retries.PAUSES", PAUSES)
    Names.opened.clear()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_response_that_breaks_off_is_continued_by_another_request(
    hdfs: ThreadingHTTPServer,
) -> None:
    with HdfsBytes("hdfs://cluster/fickle") as file:
        assert file.read(0, len(DATA)) == DATA
    assert Names.opened == [("/fickle", 0), ("/fickle", BLOCK), ("/fickle", 2 * BLOCK)]


def test_a_server_that_breaks_off_again_and_again_is_an_error_that_says_where(
    hdfs: ThreadingHTTPServer,
) -> None:
    system, path = WebHdfs.of("hdfs://cluster/broken")
    with pytest.raises(
        InputError, match=r"/broken in HDFS cannot be read at byte 0: http.*was truncated: 100 of"
    ):
        b"".join(system.read(path))
    assert len(Names.opened) == len(PAUSES) + 1


def test_a_block_of_a_data_node_that_is_gone_is_read_from_another(
    hdfs: ThreadingHTTPServer,
) -> None:
    """The NameNode goes on naming it for minutes, always the same one for a block."""
    system, path = WebHdfs.of("hdfs://cluster/moved")
    assert b"".join(system.read(path)) == DATA


def test_a_block_whose_only_data_node_is_gone_is_an_error(hdfs: ThreadingHTTPServer) -> None:
    system, path = WebHdfs.of("hdfs://cluster/lost")
    with pytest.raises(InputError, match=r"/lost in HDFS cannot be read at byte 0: .*refused"):
        b"".join(system.read(path))


def test_a_short_step_forward_reads_on_and_a_long_one_sends_a_request(
    hdfs: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.network.hdfs.LARGEST_GAP", BLOCK)
    with HdfsBytes("hdfs://cluster/plain") as file:
        for offset in (0, 2 * BLOCK + 5, 2 * BLOCK, 5 * BLOCK):
            assert file.read(offset, 10) == DATA[offset : offset + 10]
        assert file.requests == 2
    assert [offset for _, offset in Names.opened] == [0, 5 * BLOCK]


def test_the_checksum_of_a_file_is_that_of_a_data_node(hdfs: ThreadingHTTPServer) -> None:
    system, path = WebHdfs.of("hdfs:///whole")
    assert system.checksum(path) == b"00ff"


def test_the_checksum_of_a_missing_file_is_an_error(hdfs: ThreadingHTTPServer) -> None:
    system, path = WebHdfs.of("hdfs:///missing")
    with pytest.raises(InputError, match="does not exist"):
        system.checksum(path)


def test_a_file_that_is_not_there_is_named(hdfs: ThreadingHTTPServer) -> None:
    with pytest.raises(InputError, match=r"hdfs://cluster/missing: no such file in HDFS"):
        ArchiveFile("hdfs://cluster/missing")


@pytest.mark.parametrize(
    ("url", "variable", "address"),
    [
        pytest.param(
            "hdfs://cluster:8020/a", "http://names:9870", "http://names:9870", id="by the variable"
        ),
        pytest.param(
            "webhdfs://names:50070/a", "", "http://names:50070", id="by the address itself"
        ),
        pytest.param(
            "webhdfs://names/a", "http://other:1", "http://names:9870", id="Hadoop's own port"
        ),
    ],
)
def test_the_name_node_is_found(
    url: str, variable: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDRESS, variable)
    assert webhdfs_address(url) == address


def test_without_the_variable_the_error_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    with pytest.raises(InputError, match=f"set {ADDRESS} to that address"):
        webhdfs_address("hdfs://cluster/a")


def test_a_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, "http://127.0.0.1:1")
    with pytest.raises(InputError, match=r"HDFS at 127\.0\.0\.1:1 does not answer"):
        HdfsBytes("hdfs://cluster/a")


def test_an_archive_file_in_hdfs_is_examined_once(
    hdfs: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size, its beginning and its end are 5 requests for both questions: is it an archive file,
    and which one.
    """
    requests: list[str] = []
    exchange = network_hdfs._exchange

    def noted(method: str, url: str, source: BinaryIO | None = None) -> object:
        requests.append(url)
        return exchange(method, url, source)

    monkeypatch.setattr(network_hdfs, "_exchange", noted)
    monkeypatch.setattr(f"{__name__}.DATA", b"WARC/1.0\r\n" + DATA * 2)
    paths = [RemotePath(f"hdfs:///a{number}.warc") for number in range(3)]
    marks: FileMarks = {}
    assert leave_out_foreign(paths, marks) == (paths, [])
    files = describe(paths, {}, marks=marks)
    assert len(requests) == 5 * len(paths)
    assert describe(paths, {}) == files
