"""A packed environment is checked before a cluster is started, and sent to it once."""

import json
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from arclink.engines.check_environment import MARK
from arclink.engines.emr import EmrRunner
from arclink.engines.environment import check_packed, pack_environment, setup_of
from arclink.engines.hadoop import HadoopRunner
from arclink.engines.hdfs import WebHdfs
from arclink.errors import UsageError
from arclink.mapreduce.job_settings import versions_here
from arclink.network.engine_files import FileEntry
from tests.mapreduce.files_in_memory import Files

ROOT = Path(__file__).resolve().parents[2]


def pack(path: Path, packages: Mapping[str, str]) -> Path:
    text = json.dumps({"made for": {"python": "3.12"}, "packages": dict(packages)}).encode()
    with tarfile.open(path, "w:gz") as archive:
        note = tarfile.TarInfo(MARK)
        note.size = len(text)
        archive.addfile(note, BytesIO(text))
    return path


class Folders(Files):
    """Files in memory, with moves, and a count of the files that were written."""

    written = 0

    def rename(self, path: str, target: str) -> None:
        self.files[target] = self.files.pop(path)

    def write(self, path: str, source: Any) -> None:
        self.written += 1
        super().write(path, source)


def settings(folder: Path, runner: str, archive: Path) -> Path:
    conf = folder / "mrjob.conf"
    setup = [f"export PYTHONPATH=$PYTHONPATH:{archive}#/", f"python3 {archive}#/check.py"]
    conf.write_text(json.dumps({"runners": {runner: {"setup": setup, "bootstrap_mrjob": False}}}))
    return conf


@pytest.mark.parametrize(
    ("kind", "home", "address"),
    [
        (HadoopRunner, "hdfs:///work", "hdfs:///work/environment/"),
        (EmrRunner, "s3a://bucket/work", "s3://bucket/work/environment/"),
    ],
)
def test_an_environment_is_sent_once_and_named_by_its_checksum(
    kind: type[HadoopRunner], home: str, address: str, tmp_path: Path
) -> None:
    runner = "emr" if kind is EmrRunner else "hadoop"
    archive = pack(tmp_path / "environment.tar.gz", versions_here())
    conf = settings(tmp_path, runner, archive)
    files = Folders()
    for number in range(2):  # two builds
        run = kind(runner, 2, tmp_path / f"tasks{number}", conf=conf, root=f"{home}/build-{number}")
        run.home, run._opened = home, files
        for _ in range(2):  # two jobs
            run.share_environment()
        assert run.conf is not None
        commands = setup_of(runner, run.conf)
        assert len(commands) == 2
        assert all(f"{address}" in command and ".tar.gz#/" in command for command in commands)
        assert not any(str(archive) in command for command in commands)
    assert files.written == 1
    (name,) = files.files
    assert files.files[name] == archive.read_bytes()


def test_other_versions_end_a_build_before_a_cluster_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = pack(tmp_path / "environment.tar.gz", {**versions_here(), "selectolax": "0.1"})
    monkeypatch.setattr(EmrRunner, "_client", lambda run: pytest.fail("a cluster is started"))
    conf = settings(tmp_path, "emr", archive)
    run = EmrRunner("emr", 2, tmp_path / "tasks", conf=conf, root="s3a://bucket/work")
    run._opened = Files()
    with pytest.raises(UsageError, match=r"other versions than this machine: selectolax 0\.1"):
        run.variables()


@pytest.mark.parametrize("packages", [{}, {"rich": "0.1", "numpy": "0"}])
def test_packages_that_do_not_change_the_output_are_not_compared(
    packages: dict[str, str], tmp_path: Path
) -> None:
    """Nor is the Python of the driver."""
    check_packed(pack(tmp_path / "environment.tar.gz", {**versions_here(), **packages}))


def test_an_archive_of_another_kind_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(b"no archive")
    check_packed(tmp_path / "a.tar.gz")


def test_a_folder_with_further_files_is_not_named(tmp_path: Path) -> None:
    files = Folders()
    run = EmrRunner("emr", 2, tmp_path / "tasks", root="hdfs:///work")
    run._opened = files
    addresses = [f"hdfs:///work/rows/part-{number}" for number in range(3)]
    for address in addresses:
        files.files[files.path_of(address)] = b"rows"
    assert run.names_of(addresses[:2], "hdfs:///work/found") == addresses[:2]
    assert run.names_of(addresses, "hdfs:///work/found") == ["hdfs:///work/rows"]
    assert run.names_of(addresses[:1], "hdfs:///work/found") == addresses[:1]
    labelled = [f"hdfs:///work/rows/part-filter-{number}" for number in range(3)]
    for address in labelled:
        files.files[files.path_of(address)] = b"rows"
    assert run.names_of(labelled, "hdfs:///work/found") == ["hdfs:///work/rows/part-filter-*"]
    assert run.names_of(addresses, "hdfs:///work/found") == addresses, (
        "a pattern would mean the others, too"
    )
    assert run.names_of([*addresses, *labelled], "hdfs:///work/found") == ["hdfs:///work/rows"]


def test_a_folder_is_not_named_if_the_output_is_in_it(tmp_path: Path) -> None:
    """An engine makes the folder of the output before it lists the input."""
    files = Folders()
    run = EmrRunner("emr", 2, tmp_path / "tasks", root="hdfs:///work")
    run._opened = files
    addresses = [f"hdfs:///work/look/part-{number}" for number in range(3)]
    for address in addresses:
        files.files[files.path_of(address)] = b"names"
    assert run.names_of(addresses, "hdfs:///work/look/looks") == ["hdfs:///work/look/part-*"]
    assert run.names_of(addresses, "hdfs:///work/looks") == ["hdfs:///work/look"]


def test_hdfs_passes_over_hidden_files(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["part-0", "_SUCCESS", ".hidden"]
    monkeypatch.setattr(
        WebHdfs, "entries", lambda system, path: [FileEntry(name, False, 1) for name in names]
    )
    assert WebHdfs("http://namenode:9870").names_in("/rows") == {"part-0"}


@pytest.mark.costly
def test_a_packed_environment_has_what_tasks_import_and_nothing_of_terminals(
    tmp_path: Path,
) -> None:
    archive = tmp_path / "environment.tar.gz"
    pack_environment(archive)
    assert archive.stat().st_size < 60 << 20
    with tarfile.open(archive) as opened:
        assert not [name for name in opened.getnames() if name.startswith(("rich/", "pygments/"))]
        opened.extractall(tmp_path / "unpacked", filter="data")
    code = (
        "import pkgutil, importlib, arclink.jobs, arclink.engines.cassandra.load\n"
        "for job in pkgutil.iter_modules(arclink.jobs.__path__):\n"
        "    importlib.import_module('arclink.jobs.' + job.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(tmp_path / "unpacked")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
