"""A cluster with Kerberos and HTTPS: the driver has a ticket, tasks have delegation tokens."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.demo import write_demo_archive
from arclink.engines import hdfs as network_hdfs
from arclink.engines.hdfs import AUTHORITY, WebHdfs
from arclink.engines.name_nodes import TOKEN_FILE
from arclink.errors import InputError
from tests.engines.builds import answers, build
from tests.engines.conftest import Hadoop, engines_folder, needs, running_hadoop

TICKETS, KEYTAB = "KRB5CCNAME", "KRB5_CLIENT_KTNAME"
"""The variables of MIT Kerberos with the file of tickets, and with a keytab."""


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hadoop]:
    needs(engines_folder() / "kerberos/cluster.jar")
    with running_hadoop(tmp_path_factory.mktemp("secured"), 1, SECURED="1") as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test as a new process does."""
    monkeypatch.setattr(network_hdfs, "_tokens", {})
    monkeypatch.delenv(TOKEN_FILE, raising=False)


@pytest.fixture(scope="module")
def archive(secured: Hadoop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive on this machine; the same files are in ``hdfs:///archive``."""
    folder = tmp_path_factory.mktemp("archive")
    write_demo_archive(folder, captures=60, hosts=4, seed=2)
    secured.put(sorted(folder.glob("*.warc*")), "/archive")
    return folder


@pytest.fixture
def no_ticket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(TICKETS, f"FILE:{tmp_path / 'no-ticket'}")


def test_tasks_on_this_machine_use_the_ticket(archive: Path, tmp_path: Path) -> None:
    local, store = tmp_path / "local.db", tmp_path / "remote.db"
    assert build("hdfs:///archive", store, "--runner", "local") == build(archive, local)
    assert answers(store) == answers(local)


@pytest.mark.usefixtures("archive", "no_ticket")
def test_without_a_ticket_a_build_says_what_to_do(tmp_path: Path) -> None:
    call = ["build", "hdfs:///archive", "--store", str(tmp_path / "links.db"), "--quiet"]
    done = CliRunner().invoke(group, call)
    assert isinstance(done.exception, InputError)
    assert "requires Kerberos, and there is no ticket for it: run kinit" in str(done.exception)
    assert "No Kerberos credentials available" in str(done.exception)


@pytest.mark.usefixtures("archive", "no_ticket")
def test_a_keytab_replaces_kinit(secured: Hadoop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEYTAB, str(secured.folder / "kerberos/user.keytab"))
    system, path = WebHdfs.of("hdfs:///archive")
    assert system.entries(path)


@pytest.mark.usefixtures("archive")
def test_tokens_that_hadoop_fetched_replace_a_ticket_until_they_end(
    secured: Hadoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tmp_path / "tokens"

    def fetcher(*options: str) -> None:
        tool = ["hadoop", "org.apache.hadoop.hdfs.tools.DelegationTokenFetcher", *options]
        done = subprocess.run(
            [*tool, str(tokens)], env=secured.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    fetcher("--renewer", "archivist")
    monkeypatch.setenv(TICKETS, f"FILE:{tmp_path / 'no-ticket'}")
    monkeypatch.setenv(TOKEN_FILE, str(tokens))
    system, path = WebHdfs.of("hdfs:///archive")
    assert system.entries(path)
    fetcher("--cancel")
    with pytest.raises(InputError, match=r"no longer accepts the delegation token.*run kinit"):
        system.entries(path)


@pytest.mark.usefixtures("archive")
def test_a_certificate_of_an_unknown_authority_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AUTHORITY)
    system, path = WebHdfs.of("hdfs:///archive")
    with pytest.raises(InputError, match=f"certificate verify failed.*PEM.*in {AUTHORITY}"):
        system.entries(path)


def without_tokens(*folders: Path) -> int:
    """Return the number of files in folders; fail if one has a URL with a token."""
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert [file for file in files if b"delegation=" in file.read_bytes()] == []
    return len(files)


def test_a_build_on_a_secured_cluster_gives_the_store_of_one_here(
    secured: Hadoop, archive: Path, tmp_path: Path
) -> None:
    local, store = tmp_path / "local.db", tmp_path / "secured.db"
    options: list[str | Path] = ["--runner", "hadoop", "--engine-conf", secured.conf]
    expected = build(archive, local)
    assert build("hdfs:///archive", store, *options, "--hdfs", "hdfs:///built") == expected
    assert answers(store) == answers(local)
    system, path = WebHdfs.of("hdfs:///built/graph")
    (batch,) = system.entries(path)
    assert {"mementos", "payloads", "outlinks", "inlinks"} <= {
        entry.name for entry in system.entries(f"{path}/{batch.name}")
    }
    assert without_tokens(tmp_path) > 0
    assert without_tokens(*secured.folder.glob("logs/node-*/userlogs")) > 0
