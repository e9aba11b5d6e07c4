"""The service with a real nginx in front, configured as in the docs (`make test-proxy`).

TLS, compression, limits and keys.
"""

import gzip
import json
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPMessage, HTTPSConnection
from pathlib import Path

import pytest

from tests.service.conftest import T1, A
from tests.service.running import free_port, serving

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Run the service and nginx in front of it; the port."""
    assert shutil.which("nginx"), "nginx is not installed: apt install nginx-light"
    folder = tmp_path_factory.mktemp("proxy")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        (
            "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=links.example.org "
            f"-keyout {key} -out {certificate}"
        ).split(),
        check=True,
        capture_output=True,
    )
    port, replay = free_port(), free_port()
    options = ["--public", "https://links.example.org/", "--replay", "https://w.example/web/"]
    options += ["--trusted-proxy", "127.0.0.1"]
    options += ["--browse-port", str(replay), "--browse-origin", "https://replay.example.net"]
    with serving(folder, *options) as service:
        text = (ROOT / "conf/nginx.conf").read_text()
        for old, new in (
            ("127.0.0.1:8080", f"127.0.0.1:{service.port}"),
            ("127.0.0.1:8081", f"127.0.0.1:{replay}"),
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            ("/etc/ssl/links.example.org.pem", str(certificate)),
            ("/etc/ssl/links.example.org.key", str(key)),
            ("/etc/ssl/replay.example.net.pem", str(certificate)),
            ("/etc/ssl/replay.example.net.key", str(key)),
            (
                "worker_processes auto;",
                (
                    f"worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log "
                    f"{folder}/error.log;"
                ),
            ),
            (
                "http {",
                "http {\n" + "".join(f"{name}_temp_path {folder}/{name};\n" for name in TEMPORARY),
            ),
        ):
            assert old in text
            text = text.replace(old, new)
        (folder / "nginx.conf").write_text(text)
        nginx = subprocess.Popen(
            ["nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
        )
        try:
            until = time.monotonic() + 30
            while True:
                try:
                    get(port, "/health")
                    break
                except OSError:
                    assert time.monotonic() < until, (folder / "error.log").read_text()
                    time.sleep(0.1)
            yield port
        finally:
            nginx.terminate()
            nginx.wait(30)


TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def trusting() -> ssl.SSLContext:
    """Return a context that takes any certificate: the one of the proxy is generated."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def get(port: int, path: str, **headers: str) -> tuple[int, HTTPMessage, bytes]:
    return next(get_often(port, path, 1, **headers))


def get_often(
    port: int, path: str, count: int, **headers: str
) -> Iterator[tuple[int, HTTPMessage, bytes]]:
    """Ask several times on one connection."""
    connection = HTTPSConnection("127.0.0.1", port, timeout=30, context=trusting())
    with closing(connection):
        for _ in range(count):
            connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": "links.example.org", **headers}.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            response = connection.getresponse()
            yield response.status, response.headers, response.read()


def test_answers_come_compressed_and_validated(proxy: int) -> None:
    path = f"/linkQuery?uri={A}&format=json"
    status, headers, body = get(proxy, path, Accept_Encoding="gzip")
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert len(body) < len(gzip.decompress(body)) / 10
    assert len(json.loads(gzip.decompress(body))["outlinks"]) == 1000
    assert get(proxy, path, Accept_Encoding="gzip", If_None_Match=headers["ETag"])[0] == 304
    assert headers["Strict-Transport-Security"]


def test_a_uri_in_a_path_arrives_as_it_was_written(proxy: int) -> None:
    uri = "http://a.example//x%2Fy?z=%3F"
    status, _, body = get(proxy, f"/timemap/json/{uri}")
    assert (status, json.loads(body)["detail"].split()[-1]) == (404, uri)  # never captured
    status, _, body = get(proxy, f"/timemap/json/{A}")
    assert status == 200
    assert json.loads(body)["self"] == f"https://links.example.org/timemap/json/{A}"


def test_names_and_metrics_of_the_documented_proxy(proxy: int) -> None:
    key = {"X_Api_Key": "change-this-key"}
    assert get(proxy, "/health", **key)[0] == 200
    assert get(proxy, "/health", Host="evil.example", **key)[0] == 421
    assert get(proxy, "/metrics")[0] == 200


def test_a_long_uri_arrives(proxy: int) -> None:
    status, _, body = get(
        proxy, f"/linkQuery?format=json&uri={A}{'%C3%A9' * 20_000}", X_Api_Key="change-this-key"
    )
    assert status == 200
    assert len(json.loads(body)["uri"]) > 20_000


def test_the_replay_has_a_name_of_its_own_and_its_policies_arrive(proxy: int) -> None:
    status, headers, body = get(proxy, "/worker.js", Host="replay.example.net")
    assert status == 200
    assert b"frame-ancestors 'self' https://links.example.org" in body
    for path in ("/worker.js", "/replay/", f"/web/{T1}id_/{A}"):
        _, headers, _ = get(proxy, path, Host="replay.example.net")
        assert headers["Connection-Allowlist"] == "(response-origin);redirects=allow"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"  # of the capture
    assert get(proxy, f"/linkQuery?uri={A}", Host="replay.example.net")[0] == 404
    path = f"/browse/20101231235959/{A}"
    status, headers, body = get(proxy, path, X_Api_Key="change-this-key")
    assert (status, b'data-origin="https://replay.example.net"' in body) == (200, True)
    assert "frame-src https://replay.example.net" in headers["Content-Security-Policy"]
    assert get(proxy, "/worker.js")[0] == 404


def test_too_many_requests_are_refused_unless_they_have_a_key(proxy: int) -> None:
    friends = {
        status for status, _, _ in get_often(proxy, "/health", 60, X_Api_Key="change-this-key")
    }
    strangers = {status for status, _, _ in get_often(proxy, "/health", 60)}
    assert (friends, strangers) == ({200}, {200, 429})


def test_one_address_has_two_expensive_answers_at_a_time(proxy: int) -> None:
    """And its other requests are answered meanwhile; with a key, requests are not counted first."""
    context = trusting()
    with ExitStack() as stack:
        held = []
        for _ in range(3):
            plain = socket.socket()
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.connect(("127.0.0.1", proxy))
            held.append(stack.enter_context(context.wrap_socket(plain)))
            held[-1].settimeout(30)
            held[-1].sendall(
                f"GET /aggregate?uri={A}&format=json HTTP/1.1\r\n".encode()
                + b"Host: links.example.org\r\n"
                b"X-Api-Key: change-this-key\r\n\r\n"
            )
        statuses = sorted(one.recv(100).split()[1] for one in held)
        assert get(proxy, "/health", X_Api_Key="change-this-key")[0] == 200
    assert statuses == [b"200", b"200", b"429"]


def test_metrics_are_for_the_machine_itself(proxy: int) -> None:
    assert get(proxy, "/metrics")[0] == 200
    block = re.search(
        r"location = /metrics \{(.*?)\}", (ROOT / "conf/nginx.conf").read_text(), re.DOTALL
    )
    assert block
    assert re.findall(r"allow (.*?);|(deny all);", block[1]) == [
        ("127.0.0.1", ""),
        ("", "deny all"),
    ]
