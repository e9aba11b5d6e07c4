"""Builds that share a folder of an engine neither see nor remove each other's files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from arclink.engines import hadoop as mapreduce_hadoop
from arclink.engines.emr import EmrRunner
from arclink.engines.engine import JobCall
from arclink.engines.hadoop import HadoopRunner
from arclink.errors import InputError, StoreError
from arclink.mapreduce.runs import Job
from tests.mapreduce.files_in_memory import Files

HOME = "hdfs:///user/me/arclink/links.db"


@pytest.fixture
def files() -> Files:
    return Files()


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Folders whose jobs were ended."""
    found: list[str] = []
    monkeypatch.setattr(HadoopRunner, "end_jobs", lambda run, folder: found.append(folder))
    return found


def runner(files: Files, kind: type[HadoopRunner] = HadoopRunner) -> HadoopRunner:
    made = kind("hadoop", 2, Path("work/tasks"), conf=Path("conf"), root=HOME)
    made._opened = files
    return made


@contextmanager
def building(files: Files, store: str) -> Iterator[HadoopRunner]:
    run = runner(files)
    with run.building(f"host:/{store}", Path(f"/{store}")):
        files.files[files.path_of(f"{run.root}/batch-0/rows")] = b"rows"
        yield run


def folders(files: Files) -> set[str]:
    return {name.split("/")[5] for name in files.files if "/build-" in name}


def test_two_stores_of_one_name_have_folders_of_their_own(files: Files) -> None:
    with building(files, "a/links.db") as first:
        with building(files, "b/links.db") as second:
            assert first.root != second.root
            assert len(folders(files)) == 2
        assert len(folders(files)) == 1, "only the files of the build that ended are removed"
    assert files.files == {}
    assert first.root == second.root == HOME


def test_a_second_build_of_one_store_on_another_machine_is_refused(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    with building(files, "links.db") as first:
        monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
        said = r"a build of host:/links\.db on .*, begun at 20.* uses .*hadoop fs -rm -r .*/build-"
        with pytest.raises(StoreError, match=said), building(files, "links.db"):
            pytest.fail("both builds run")
        assert len(folders(files)) == 1
        assert first.root.rpartition("/")[2] in folders(files)


def test_a_lock_that_was_not_written_to_its_end_is_named(files: Files) -> None:
    with building(files, "links.db"):
        (lock,) = (name for name in files.files if name.endswith(".lock"))
    files.files[lock] = b"{"
    with pytest.raises(StoreError, match=rf"hadoop fs -rm -r hdfs://{lock}\)"):
        building(files, "links.db").__enter__()


def test_the_next_build_removes_what_a_killed_one_left(files: Files, ended: list[str]) -> None:
    kept: dict[str, bytes] = {}
    with building(files, "links.db") as killed:
        killed_root = killed.root
        kept = dict(files.files)
    assert ended == [], "no job was interrupted"
    files.files = kept
    with building(files, "links.db") as second:
        assert ended == [killed_root]
        assert folders(files) == {second.root.rpartition("/")[2]}
    assert files.files == {}


def test_an_interrupted_build_ends_its_job_and_removes_its_files(
    files: Files, ended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(HadoopRunner, "run_by_mrjob", interrupted)
    roots: list[str] = []

    def build() -> None:
        with building(files, "links.db") as run:
            roots.append(run.root)
            run.run_job(JobCall(Job("filter", lambda: None), [], ""))

    with pytest.raises(KeyboardInterrupt):
        build()
    assert ended == roots
    assert files.files == {}


def test_a_build_whose_engine_is_lost_reports_its_own_error(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(files: Files, path: str) -> None:
        raise InputError("HDFS does not answer")

    def build() -> None:
        with building(files, "links.db"):
            monkeypatch.setattr(Files, "remove", lost)
            raise StoreError("no space")

    with pytest.raises(StoreError, match="no space"):
        build()


def test_emr_keeps_the_logs_of_a_failed_job_until_the_next_build(files: Files) -> None:
    run = runner(files, EmrRunner)
    assert isinstance(run, EmrRunner)
    with run.building("host:/links.db", Path("/links.db")):
        files.files[files.path_of(f"{run.root}/mrjob/log")] = b"log"
        run.has_failed = True
    assert len(folders(files)) == 1
    with runner(files, EmrRunner).building("host:/links.db", Path("/links.db")):
        assert folders(files) == set()


def test_jobs_are_tagged_with_the_folder_of_their_build(files: Files) -> None:
    class Run:
        _opts: dict[str, dict[str, str]]

        def __init__(self) -> None:
            self._opts = {"jobconf": {"mapreduce.job.tags": "crawl"}}

    with building(files, "links.db") as run:
        mrjob = Run()
        run.adapt(mrjob)
        tag = mapreduce_hadoop._tag_of(run.root)
    assert mrjob._opts["jobconf"]["mapreduce.job.tags"] == f"crawl,{tag}"
    assert tag == tag.lower()


def test_the_text_of_a_lock_says_who_wrote_it(files: Files) -> None:
    with building(files, "links.db") as run:
        (lock,) = (text for name, text in files.files.items() if name.endswith(".lock"))
        claim = orjson.loads(lock)
        assert claim["store"] == "host:/links.db"
        assert claim["folder"] == run.root.rpartition("/")[2]
