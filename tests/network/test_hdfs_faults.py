"""Writing to HDFS and moving files there while its servers fail, and several NameNodes.

tests/engines/test_hadoop.py does some of this with a real HDFS.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from arclink.engines import hdfs as network_hdfs
from arclink.engines.hdfs import WebHdfs
from arclink.engines.name_nodes import ADDRESS, SETTINGS, known_name_nodes, name_nodes, uses_webhdfs
from arclink.errors import InputError
from arclink.network.engine_files import FileEntry

GONE = "127.0.0.3"
"""A DataNode that does not answer."""


class Cluster:
    """Files by path, and what goes wrong; NameNodes and DataNodes of one test share it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[int, str]] = []  # number of the NameNode, operation
        self.active = 0
        self.refusals: list[tuple[int, str, str]] = []  # status, exception, message, in turn
        self.is_data_node_gone = False
        self.lose_response_of = ""
        self.data_node_refusals: list[str] = []  # exceptions, in turn

    def addresses(self, servers: list[ThreadingHTTPServer]) -> str:
        return ", ".join(f"http://127.0.0.1:{server.server_port}" for server in servers)


def handler(cluster: Cluster, number: int) -> type[BaseHTTPRequestHandler]:
    class Server(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            self.serve()

        def do_PUT(self) -> None:
            self.serve()

        def do_DELETE(self) -> None:
            self.serve()

        def serve(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path.startswith("/data"):
                self.serve_data(parts.path.removeprefix("/data"))
                return
            path = parts.path.removeprefix("/webhdfs/v1")
            cluster.requests.append((number, query["op"]))
            if number != cluster.active:
                self.refuse(403, "StandbyException", "READ is not supported in state standby")
            elif cluster.refusals:
                self.refuse(*cluster.refusals.pop(0))
            else:
                self.name(path, query)

        def name(self, path: str, query: dict[str, str]) -> None:
            operation = query["op"]
            if operation == "CREATE":
                excluded = query.get("excludedatanodes", "").split(",")
                host = "127.0.0.1"
                if cluster.is_data_node_gone and GONE not in excluded:
                    host = GONE
                where = f"http://{host}:{self.server.server_port}/data{path}"  # type: ignore[attr-defined]
                self.send_response(307)
                self.send_header("Location", where)
                self.end_headers()
            elif operation == "RENAME":
                source, target = path, query["destination"]
                moves = source in cluster.files and target not in cluster.files
                if moves:
                    cluster.files[target] = cluster.files.pop(source)
                self.answer({"boolean": moves}, operation)
            elif operation == "DELETE":
                self.answer({"boolean": cluster.files.pop(path, None) is not None}, operation)
            elif operation == "MKDIRS":
                self.answer({"boolean": True}, operation)
            elif path not in cluster.files:
                self.refuse(404, "FileNotFoundException", f"File does not exist: {path}")
            else:
                size = len(cluster.files[path])
                status = {"pathSuffix": "", "type": "FILE", "length": size}
                self.answer({"FileStatus": status}, operation)

        def serve_data(self, path: str) -> None:
            data = b""
            while size := int(self.rfile.readline(), 16):  # chunks
                data += self.rfile.read(size)
                self.rfile.readline()
            if cluster.data_node_refusals:
                self.refuse(403, cluster.data_node_refusals.pop(0), "could not be replicated")
                return
            cluster.files[path] = data
            self.send_response(201)
            self.end_headers()

        def answer(self, body: object, operation: str) -> None:
            if cluster.lose_response_of == operation:
                cluster.lose_response_of = ""
                return  # the connection ends without a response
            self.reply(200, body)

        def refuse(self, status: int, exception: str, message: str) -> None:
            self.reply(status, {"RemoteException": {"exception": exception, "message": message}})

        def reply(self, status: int, body: object) -> None:
            text = orjson.dumps(body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  # its name in http.server

    return Server


@contextmanager
def running(cluster: Cluster, number: int) -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(cluster, number))
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Two NameNodes, of which the first one is active."""
    made = Cluster()
    with ExitStack() as opened:
        servers = [opened.enter_context(running(made, number)) for number in range(2)]
        monkeypatch.setenv(ADDRESS, made.addresses(servers))
        monkeypatch.delenv(SETTINGS, raising=False)
        monkeypatch.setattr(network_hdfs, "PATIENCE", (0.001,) * 6)
        monkeypatch.setattr(network_hdfs, "_active", {})
        monkeypatch.setattr(network_hdfs, "_reached", set())
        yield made


Work = Callable[[WebHdfs], Any]

OPERATIONS: dict[str, Work] = {
    "status": lambda system: system.status("/a"),
    "entries": lambda system: system.entries("/missing"),
    "make_folder": lambda system: system.make_folder("/folder"),
    "remove": lambda system: system.remove("/a"),
    "rename": lambda system: system.rename("/a", "/b"),
    "write": lambda system: system.write("/c", BytesIO(b"new")),
}


@pytest.fixture(params=list(OPERATIONS.values()), ids=list(OPERATIONS))
def work(request: pytest.FixtureRequest, cluster: Cluster) -> Work:
    cluster.files["/a"] = b"data"
    return request.param  # type: ignore[no-any-return]  # pytest's parameters have no types


def test_a_standby_name_node_gives_way_to_the_active_one(cluster: Cluster, work: Work) -> None:
    system, _ = WebHdfs.of("hdfs:///")
    cluster.active = 1
    work(system)
    assert [number for number, _ in cluster.requests][:2] == [0, 1]
    assert {number for number, _ in cluster.requests[1:]} == {1}, "it is remembered"


@pytest.mark.parametrize(
    "refusal",
    [
        (403, "SafeModeException", "Cannot create /a. Name node is in safe mode."),
        (403, "RetriableException", "Namenode is in startup mode"),
        (403, "RemoteException", "org.apache.hadoop.ipc.StandbyException: state standby"),
        (503, "", ""),
    ],
    ids=["safe mode", "startup", "wrapped", "unavailable"],
)
def test_a_name_node_that_is_not_ready_is_asked_again(
    cluster: Cluster, work: Work, refusal: tuple[int, str, str]
) -> None:
    cluster.refusals = [refusal, refusal]
    work(WebHdfs.of("hdfs:///")[0])
    assert cluster.refusals == []


def test_a_name_node_that_is_gone_gives_way_to_the_other_one(
    cluster: Cluster, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = WebHdfs.of("hdfs:///")[0].address.split(",")[1]
    monkeypatch.setenv(ADDRESS, f"http://127.0.0.1:1,{second}")
    cluster.active = 1
    work(WebHdfs.of("hdfs:///")[0])


@pytest.mark.parametrize("work", [OPERATIONS["status"]])
def test_name_nodes_that_never_answered_are_given_up_soon(
    cluster: Cluster, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their address is probably wrong; a task knows that it is right."""
    refused: list[str] = []
    exchange = network_hdfs._exchange

    def counted(method: str, url: str, *others: Any) -> object:  # Any: handed on
        refused.append(url)
        return exchange(method, url, *others)

    monkeypatch.setattr(network_hdfs, "_exchange", counted)
    system = WebHdfs("http://127.0.0.1:1")
    with pytest.raises(InputError, match=r"HDFS at 127\.0\.0\.1:1 does not answer .*refused"):
        work(system)
    assert len(refused) == 3
    refused.clear()
    monkeypatch.setenv(network_hdfs.IN_A_TASK, "container_1")
    with pytest.raises(InputError, match="does not answer"):
        work(system)
    assert len(refused) == 7


def test_a_lost_response_does_not_end_an_operation(cluster: Cluster, work: Work) -> None:
    for operation in ("GETFILESTATUS", "LISTSTATUS", "MKDIRS", "DELETE", "RENAME"):
        cluster.lose_response_of = operation
        cluster.files["/a"] = b"data"
        cluster.files.pop("/b", None)
        # The other NameNode is asked next, and is a standby.
        work(WebHdfs.of("hdfs:///")[0])


def test_a_file_that_a_lost_attempt_moved_counts_as_moved(cluster: Cluster) -> None:
    cluster.files["/a"] = b"data"
    cluster.lose_response_of = "RENAME"
    WebHdfs.of("hdfs:///")[0].rename("/a", "/b")
    assert cluster.files == {"/b": b"data"}
    assert [operation for _, operation in cluster.requests].count("RENAME") > 1


@pytest.mark.parametrize("is_lost", [False, True])
def test_what_cannot_be_moved_is_an_error(cluster: Cluster, is_lost: bool) -> None:
    cluster.files = {"/a": b"data", "/b": b"other"}
    if is_lost:
        cluster.lose_response_of = "RENAME"
    with pytest.raises(InputError, match="/a cannot be moved to /b"):
        WebHdfs.of("hdfs:///")[0].rename("/a", "/b")
    assert cluster.files == {"/a": b"data", "/b": b"other"}


def test_a_file_is_written_through_another_data_node(cluster: Cluster) -> None:
    """The NameNode names the dead one for ten minutes, and knows it by its IP address only."""
    cluster.is_data_node_gone = True
    system, _ = WebHdfs.of("hdfs:///")
    source = BytesIO(b"before" + bytes(range(256)) * 1000)
    source.seek(6)
    system.write("/file", source)
    assert cluster.files == {"/file": bytes(range(256)) * 1000}
    assert system.status("/file") == FileEntry("", False, 256_000)


@pytest.mark.parametrize("exception", ["IOException", "SafeModeException", "StandbyException"])
def test_all_bytes_are_written_again_if_a_data_node_fails(cluster: Cluster, exception: str) -> None:
    cluster.data_node_refusals = [exception] * 2
    WebHdfs.of("hdfs:///")[0].write("/file", BytesIO(b"whole"))
    assert cluster.files == {"/file": b"whole"}


@pytest.mark.parametrize("exception", ["AccessControlException", "DSQuotaExceededException"])
def test_a_refusal_that_lasts_ends_writing_at_once(cluster: Cluster, exception: str) -> None:
    cluster.data_node_refusals = [exception] * 2
    with pytest.raises(InputError, match="could not be replicated"):
        WebHdfs.of("hdfs:///")[0].write("/file", BytesIO(b"whole"))
    assert cluster.data_node_refusals == [exception]


def hadoop_settings(folder: Path, **properties: str) -> None:
    """Write Hadoop's settings; ``__`` in a name is a dot, ``_`` a hyphen."""
    for name in ("core-site.xml", "hdfs-site.xml"):
        lines = [
            f"<property><name>{key.replace('__', '.').replace('_', '-')}</name>"
            f"<value>{value}</value></property>"
            for key, value in properties.items()
            if key.startswith("fs__") == name.startswith("core")
        ]
        (folder / name).write_text(f"<configuration>{''.join(lines)}</configuration>")


HA = {
    "fs__defaultFS": "hdfs://crawl",
    "dfs__nameservices": "crawl",
    "dfs__ha__namenodes__crawl": "nn1, nn2",
    "dfs__namenode__http_address__crawl__nn1": "first:9870",
    "dfs__namenode__http_address__crawl__nn2": "second:9870",
    "dfs__namenode__https_address__crawl__nn1": "first:9871",
    "dfs__namenode__https_address__crawl__nn2": "second:9871",
}
PAIR = ("http://first:9870", "http://second:9870")
ENCRYPTED_PAIR = ("https://first:9871", "https://second:9871")
ONE = {"fs__defaultFS": "hdfs://name:8020", "dfs__namenode__http_address": "name:50070"}


@pytest.mark.parametrize(
    ("properties", "url", "expected"),
    [
        pytest.param(HA, "hdfs:///a", PAIR, id="the default"),
        pytest.param(HA, "hdfs://crawl/a", PAIR, id="by the name of the service"),
        pytest.param(HA, "webhdfs://crawl/a", PAIR, id="webhdfs with that name"),
        pytest.param(
            {**HA, "dfs__http__policy": "HTTPS_ONLY"}, "hdfs:///a", ENCRYPTED_PAIR, id="HTTPS"
        ),
        pytest.param(ONE, "hdfs:///a", ("http://name:50070",), id="one NameNode"),
        pytest.param(ONE, "hdfs://name:8020/a", ("http://name:50070",), id="by its address"),
        pytest.param(HA, "webhdfs://other:1/a", ("http://other:1",), id="another one"),
    ],
)
def test_hadoops_settings_name_the_name_nodes(
    properties: dict[str, str],
    url: str,
    expected: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    monkeypatch.setenv(SETTINGS, str(tmp_path))
    hadoop_settings(tmp_path, **properties)
    assert name_nodes(url) == expected
    assert uses_webhdfs(url)


def test_the_variable_comes_before_hadoops_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDRESS, "http://a, http://b:1")
    monkeypatch.setenv(SETTINGS, str(tmp_path))
    hadoop_settings(tmp_path, **HA)
    assert name_nodes("hdfs:///x") == ("http://a:9870", "http://b:1")


@pytest.mark.parametrize("url", ["hdfs://other/a", "hdfs://name:8020/a"])
def test_another_hdfs_than_those_of_hadoops_settings_is_not_read_over_http(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    monkeypatch.setenv(SETTINGS, str(tmp_path))
    hadoop_settings(tmp_path, **HA)
    assert not uses_webhdfs(url)
    with pytest.raises(InputError, match=f"{ADDRESS} is not the HTTP address"):
        name_nodes(url)


def test_settings_of_an_object_store_name_no_name_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    monkeypatch.setenv(SETTINGS, str(tmp_path))
    hadoop_settings(tmp_path, fs__defaultFS="s3a://bucket", dfs__namenode__http_address="n:1")
    assert known_name_nodes() == ""


def test_damaged_settings_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    monkeypatch.setenv(SETTINGS, str(tmp_path))
    (tmp_path / "hdfs-site.xml").write_text("<configuration>")
    with pytest.raises(InputError, match=r"hdfs-site\.xml: not a file of Hadoop's settings"):
        name_nodes("hdfs:///a")
