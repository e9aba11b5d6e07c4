"""Reading from HDFS servers that fail; tests/engines/test_hadoop.py reads from a real HDFS."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from arclink.archives.locations import RemotePath
from arclink.archives.marks import look_at_each
from arclink.archives.reader import ArchiveFile
from arclink.engines import hdfs as network_hdfs
from arclink.engines.hdfs import BLOCK, HdfsBytes, WebHdfs, webhdfs_address
from arclink.engines.name_nodes import ADDRESS, SETTINGS, TOKEN_FILE, uses_webhdfs
from arclink.errors import InputError
from arclink.mapreduce.runs import JobRunner
from arclink.pipeline import inputs
from arclink.pipeline.inputs import FileMarks, describe, leave_out_foreign, looked_at_by_tasks
from tests.network.token_files import text_of, token, token_file

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
        with suppress(ConnectionError):  # a reader that wants only the beginning hangs up
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
    monkeypatch.delenv(SETTINGS, raising=False)
    monkeypatch.setattr("arclink.network.retries.PAUSES", PAUSES)
    monkeypatch.setattr(network_hdfs, "PATIENCE", PAUSES)
    monkeypatch.setattr(network_hdfs, "_active", {})
    monkeypatch.setattr(network_hdfs, "_reached", set())
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
    monkeypatch.setattr("arclink.engines.hdfs.LARGEST_GAP", BLOCK)
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
    monkeypatch.delenv(SETTINGS, raising=False)
    with pytest.raises(InputError, match=f"{ADDRESS} is not the HTTP address .*; set it to"):
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

    def noted(method: str, url: str, *others: Any) -> object:  # Any: handed on
        requests.append(url)
        return exchange(method, url, *others)

    monkeypatch.setattr(network_hdfs, "_exchange", noted)
    monkeypatch.setattr(f"{__name__}.DATA", b"WARC/1.0\r\n" + DATA * 2)
    paths = [RemotePath(f"hdfs:///a{number}.warc") for number in range(3)]
    marks: FileMarks = {}
    assert leave_out_foreign(paths, marks) == (paths, [])
    files = describe(paths, {}, marks=marks)
    assert len(requests) == 5 * len(paths)
    assert describe(paths, {}) == files


def test_tasks_of_an_engine_look_at_many_files(
    hdfs: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.DATA", b"WARC/1.0\r\n" + DATA * 2)
    monkeypatch.setattr(inputs, "MANY_FILES", 5)
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    run = JobRunner("inline", 2, tmp_path / "tasks", conf=conf)
    paths = [RemotePath(f"hdfs:///a{number}.warc") for number in range(4)]
    paths.append(RemotePath("hdfs:///missing"))
    looks = looked_at_by_tasks(paths, run, tmp_path / "look")
    assert looks is not None
    expected = list(look_at_each(paths, is_marked=True))
    assert [*looks] == expected
    assert [look.complaint is None for look in expected] == [True] * 4 + [False]
    assert all(look.mark for look in expected[:4])
    assert not (tmp_path / "look").exists()
    assert looked_at_by_tasks(paths[:4], run, tmp_path / "look") is None, "few files"
    assert looked_at_by_tasks(paths, replace(run, conf=None), tmp_path / "look") is None


class SecuredNames(Names):
    """A NameNode that requires Kerberos; it names tokens ``token-1``, ``token-2``, …"""

    given: ClassVar[list[str]] = []
    valid: ClassVar[set[str]] = set()

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if not parts.path.startswith("/webhdfs"):
            super().do_GET()
        elif query["op"] == "GETDELEGATIONTOKEN":
            if self.headers["Authorization"] != "Negotiate ticket":
                self.answer(401, b"")
                return
            self.given.append(f"token-{len(self.given) + 1}")
            self.valid.add(self.given[-1])
            self.answer(200, orjson.dumps({"Token": {"urlString": self.given[-1]}}))
        elif "delegation" not in query:
            self.answer(401, b"<html>Authentication required</html>")
        elif query["delegation"] not in self.valid:
            problem = {"exception": "SecurityException", "message": "InvalidToken: expired"}
            self.answer(403, orjson.dumps({"RemoteException": problem}))
        else:
            super().do_GET()


@pytest.fixture
def secured(hdfs: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> ThreadingHTTPServer:
    """A secured NameNode, and a user with a ticket."""
    hdfs.RequestHandlerClass = SecuredNames
    SecuredNames.given.clear()
    SecuredNames.valid.clear()
    monkeypatch.delenv(TOKEN_FILE, raising=False)
    monkeypatch.setattr(network_hdfs, "ticket_header", lambda host: "Negotiate ticket")
    monkeypatch.setattr(network_hdfs, "_tokens", {})
    return hdfs


def test_a_ticket_gives_one_token_for_a_process(secured: ThreadingHTTPServer) -> None:
    for _ in range(2):
        with HdfsBytes("hdfs://cluster/plain") as file:
            assert file.read(0, len(DATA)) == DATA
    assert SecuredNames.given == ["token-1"]


def test_a_token_that_ended_is_replaced(secured: ThreadingHTTPServer) -> None:
    with HdfsBytes("hdfs://cluster/plain") as file:
        SecuredNames.valid.clear()
        assert file.read(0, len(DATA)) == DATA
    assert SecuredNames.given == ["token-1", "token-2"]


def test_a_task_uses_the_token_that_it_was_given(
    secured: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it ends, the file may have a new one; if not, the error says what ended it."""
    path = tmp_path / "tokens"
    first, second = (token("HDFS_DELEGATION_TOKEN", f"127.0.0.1:{port}") for port in (1, 2))
    path.write_bytes(token_file(first))
    monkeypatch.setenv(TOKEN_FILE, str(path))
    SecuredNames.valid.add(text_of(first))
    system, name = WebHdfs.of("hdfs://cluster/plain")
    assert b"".join(system.read(name)) == DATA
    assert SecuredNames.given == []
    SecuredNames.valid.clear()
    SecuredNames.valid.add(text_of(second))
    path.write_bytes(token_file(second))
    assert system.status(name)

    def no_ticket(host: str) -> str:
        raise InputError("there is no ticket")

    monkeypatch.setattr(network_hdfs, "ticket_header", no_ticket)
    SecuredNames.valid.clear()
    with pytest.raises(InputError, match=r"no longer accepts .*max-lifetime.*there is no ticket"):
        system.status(name)


def test_a_refused_ticket_is_an_error_that_says_what_to_do(
    secured: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_hdfs, "ticket_header", lambda host: "Negotiate another")
    with pytest.raises(InputError, match=r"refuses the Kerberos ticket: 401 .*; run kinit"):
        HdfsBytes("hdfs://cluster/plain")


def test_no_error_shows_a_token(secured: ThreadingHTTPServer) -> None:
    system, name = WebHdfs.of("hdfs://cluster/broken")
    with pytest.raises(InputError) as caught:
        b"".join(system.read(name))
    assert "truncated" in str(caught.value)
    assert SecuredNames.given == ["token-1"]
    shown: BaseException | None = caught.value
    while shown is not None:
        assert "token-1" not in str(shown)
        shown = shown.__cause__


@pytest.mark.parametrize(
    ("url", "variable", "expected"),
    [
        ("swebhdfs://namenode/a", "", "https://namenode:9871"),
        ("webhdfs://namenode/a", "", "http://namenode:9870"),
        ("hdfs://cluster/a", "https://namenode:1234", "https://namenode:1234"),
        ("hdfs://cluster/a", "https://namenode", "https://namenode:9871"),
    ],
)
def test_the_scheme_says_whether_hdfs_speaks_https(
    url: str, variable: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDRESS, variable)
    assert webhdfs_address(url) == expected
    assert uses_webhdfs(url)


def test_a_missing_file_of_certificates_is_named(
    hdfs: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(network_hdfs.AUTHORITY, "/not/there.pem")
    with pytest.raises(InputError, match=r"ARCLINK_WEBHDFS_CA: the file /not/there\.pem"):
        HdfsBytes("hdfs://cluster/plain")
