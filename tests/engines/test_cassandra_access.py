"""Users, TLS and timeouts of a cluster, and the message if a cluster does not answer."""

import os
import signal
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.demo import write_demo_archive
from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.database import KEY_PASSWORD
from arclink.store.layouts import STORE
from tests.engines.conftest import Cassandra, running_cassandra
from tests.engines.fetching import fetch
from tests.service.conftest import served

pytestmark = pytest.mark.slow

PASSWORD = "ARCLINK_CASSANDRA_PASSWORD"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cassandra]:
    """One node that asks for a user and a password, and talks by TLS."""
    with running_cassandra(
        tmp_path_factory.mktemp("guarded"), 1, "periodic", LOGIN="1", TLS="1"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def mutual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cassandra]:
    """One node that requires a client certificate."""
    with running_cassandra(
        tmp_path_factory.mktemp("mutual"), 1, "periodic", TLS="both", HEAP="512m"
    ) as cluster:
        yield cluster


def openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def rule(cluster: Cassandra, *statements: str) -> None:
    """Do something as the first user."""
    from cassandra.auth import PlainTextAuthProvider
    from cassandra.cluster import Cluster

    address = parse_address(f"cassandra://{cluster.hosts}/x")
    context = ssl.create_default_context(cafile=str(cluster.folder / "ca.pem"))
    first = PlainTextAuthProvider("cassandra", "cassandra")
    connected = Cluster(
        list(address.hosts),
        address.port,
        auth_provider=first,
        ssl_context=context,
        protocol_version=5,
    )
    try:
        session = connected.connect()
        for statement in statements:
            session.execute(statement, timeout=60)
    finally:
        connected.shutdown()


def said(*words: object) -> str:
    """Call ``arclink``; return its output, or the error."""
    done = CliRunner().invoke(group, list(map(str, words)))
    return str(done.exception) if done.exception else done.output


def test_users_may_do_what_they_are_granted_and_no_more(
    guarded: Cassandra, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The grants are those of docs/how-to/operations.md."""
    write_demo_archive(tmp_path / "archive", captures=60, hosts=5, seed=1)
    where = f"{guarded.hosts}/links?tls={guarded.folder / 'ca.pem'}"
    rule(
        guarded,
        "CREATE ROLE loader WITH LOGIN = true AND PASSWORD = 'one'",
        "GRANT CREATE ON ALL KEYSPACES TO loader",
        "CREATE ROLE reader WITH LOGIN = true AND PASSWORD = 'two'",
    )
    monkeypatch.setenv(PASSWORD, "one")
    assert f"made, layout {STORE}" in said(
        "schema", "apply", "--store", f"cassandra://loader@{where}"
    )
    rule(
        guarded,
        "GRANT SELECT ON KEYSPACE links TO reader",
        "GRANT SELECT ON TABLE system_views.disk_usage TO reader",
        "GRANT SELECT ON TABLE system_views.disk_usage TO loader",
    )
    build = ("build", tmp_path / "archive", "--quiet", "--work", tmp_path / "work", "--store")
    assert "CPU seconds: index" in said(*build, f"cassandra://loader@{where}")
    assert "refuses the user" in said("stats", "--store", f"cassandra://reader@{where}")
    monkeypatch.setenv(PASSWORD, "two")
    assert "batches                    1\n" in said(
        "stats", "--store", f"cassandra://reader@{where}"
    )
    assert "every invariant holds" in said("verify", "--store", f"cassandra://reader@{where}")
    takedown = ("forget", "example", "--whole-suffix", "--store")
    assert "no MODIFY permission" in said(*takedown, f"cassandra://reader@{where}")
    assert "cannot take the place" in said(*build, f"cassandra://reader@{where}", "--rebuild")
    assert "refuses the user" in said("stats", "--store", f"cassandra://{where}")


@pytest.mark.parametrize(
    ("tls", "message"),
    [
        pytest.param("", r"no node of .* answers .* whether it needs TLS", id="openly"),
        pytest.param(
            "tls=system",
            "ArcLink does not trust the certificate of a node .*certificate verify failed",
            id="no trusted authority",
        ),
        pytest.param("tls=/nowhere", "not a readable file of certificates", id="no such file"),
    ],
)
def test_a_connection_that_is_not_as_the_cluster_wants_it_is_refused(
    tls: str, message: str, guarded: Cassandra
) -> None:
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(
            said("stats", "--store", f"cassandra://cassandra@{guarded.hosts}/links?{tls}")
        )


def test_a_node_that_requires_a_certificate_is_asked_with_one(
    mutual: Cassandra, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Key and certificate in two files, in one, and with a password; loading uses them as well."""
    certificate, key = mutual.folder / "client.pem", mutual.folder / "client.key"
    url = f"cassandra://{mutual.hosts}/links?tls={mutual.folder / 'ca.pem'}"
    both = tmp_path / "both.pem"
    both.write_text(certificate.read_text() + key.read_text())
    locked = tmp_path / "locked.key"
    openssl("rsa", "-aes256", "-passout", "pass:secret", "-in", key, "-out", locked)
    made = said("schema", "apply", "--store", f"{url}&certificate={certificate}&key={key}")
    assert f"made, layout {STORE}" in made
    write_demo_archive(tmp_path / "archive", captures=30, hosts=3, seed=1)
    store = f"{url}&certificate={both}"
    build = ("build", tmp_path / "archive", "--quiet", "--work", tmp_path / "work", "--store")
    assert "CPU seconds: index" in said(*build, store)
    monkeypatch.setenv(KEY_PASSWORD, "secret")
    assert "batches                    1\n" in said(
        "stats", "--store", f"{url}&certificate={certificate}&key={locked}"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("", "probably because it requires a client certificate", id="none"),
        pytest.param(
            "other",
            "probably because it does not trust the certificate .*other.pem",
            id="not trusted by the node",
        ),
        pytest.param("locked", f"set {KEY_PASSWORD}", id="no password"),
        pytest.param("nowhere", "not a certificate with its private key", id="no such file"),
    ],
)
def test_an_error_says_which_side_refuses_a_certificate(
    name: str, message: str, mutual: Cassandra, tmp_path: Path
) -> None:
    certificate, key = tmp_path / f"{name}.pem", tmp_path / f"{name}.key"
    if name in ("other", "locked"):
        protected = ("-passout", "pass:secret") if name == "locked" else ("-nodes",)
        made = ("-newkey", "rsa:2048", "-subj", "/CN=other", "-out", certificate, "-keyout", key)
        openssl("req", "-x509", *made, *protected)
    url = f"cassandra://{mutual.hosts}/links?patience=3&tls={mutual.folder / 'ca.pem'}"
    given = f"&certificate={certificate}&key={key}" if name else ""
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(said("stats", "--store", url + given))


def test_a_cluster_that_does_not_answer_is_an_error_in_time(cassandra: Cassandra) -> None:
    """A node that is stopped, not ended: its connections stay open. Afterwards the same service
    answers again.
    """
    url = cassandra.keyspace("?timeout=3&patience=6")
    with served(url, threads=4) as port:
        assert fetch(port, "/health")[0] == 200
        os.kill(cassandra.pid(1), signal.SIGSTOP)
        try:
            for path in ("/health", "/linkQuery?uri=http://a.example/&format=json"):
                started = time.monotonic()
                status, body = fetch(port, path)
                assert status == 503
                assert b"try again later" in body
                assert time.monotonic() - started < 6 + 9, (
                    "patience, the next requests, and a busy machine"
                )
        finally:
            os.kill(cassandra.pid(1), signal.SIGCONT)
        deadline = time.monotonic() + 120
        while fetch(port, "/health")[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.5)
