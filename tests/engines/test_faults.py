"""Faults on a cluster do not change the output: killed tasks, lost nodes, a deadly page."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from arclink.counts import Counts
from arclink.engines.engine import JobCall
from arclink.engines.hadoop import HadoopRunner
from arclink.errors import PipelineError
from arclink.mapreduce.runs import JOBS, Job, JobRunner, parts_of
from arclink.pipeline import stages
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.settings import BuildSettings
from tests.engines.builds import (
    SECONDS,
    answers,
    build,
    build_small,
    counts_of,
    crashed,
    extracting_slowly,
    when,
    write_poisoned_archive,
)
from tests.engines.conftest import Hadoop, running_hadoop
from tests.engines.greedy import TakeMemory
from tests.mapreduce.contract import extract_settings, without_blocks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hadoop]:
    """A cluster of two nodes that tests may break."""
    with running_hadoop(tmp_path_factory.mktemp("breakable"), 2) as started:
        yield started


@dataclass(frozen=True, slots=True)
class Work:
    """What the job reads: parts with pointers, and its settings."""

    pointers: Sequence[Path]
    settings: Mapping[str, object]


@pytest.fixture(scope="module")
def work(cluster: Hadoop, tmp_path_factory: pytest.TempPathFactory) -> Work:
    """Pointers into the demo archive in HDFS, in which one page is poisoned."""
    folder = tmp_path_factory.mktemp("faults")
    write_poisoned_archive(folder / "archive")
    files = describe(find_archives([str(folder / "archive")]), {})
    run = JobRunner("local", 2, folder / "tasks")
    stages.index(files, folder, run)
    stages.filter_rows(parts_of(folder / "rows"), folder, BuildSettings(), run)
    address = cluster.put([Path(file.path) for file in files], "/archive")
    there = [replace(file, path=f"{address}/{Path(file.path).name}") for file in files]
    settings = extract_settings(there, folder / "reading-tasks")
    return Work(parts_of(folder / "pointers"), settings)


@pytest.fixture(scope="module")
def expected(work: Work, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[object], Counts]:
    """Rows and counts of the runner for one machine, which meets the poisoned page, too."""
    folder = tmp_path_factory.mktemp("expected")
    with extracting_slowly():
        counts = JobRunner("local", 2, folder / "tasks").run(
            JOBS["extract"], work.pointers, folder / "out", work.settings
        )
    return list(without_blocks(parts_of(folder / "out"))), counts


def reducers_in(folder: Path) -> list[int]:
    """Return the processes of Python that reduce tasks run below a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if (
                b"--reducer" in words
                and Path(os.readlink(process / "cwd")).is_relative_to(folder)
                and b"python" in words[0]
            ):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def on_cluster(
    cluster: Hadoop,
    work: Work,
    folder: Path,
    seconds_per_page: float,
    fault: Callable[[threading.Event], None],
) -> tuple[list[object], Counts]:
    """Run the job on the cluster while ``fault`` happens; return its rows and counts."""
    run = cluster.runner(folder)
    address = cluster.put(work.pointers, f"/tests/{folder.name}/input")
    begun = threading.Event()
    happening = threading.Thread(target=fault, args=(begun,), daemon=True)
    happening.start()
    inputs = [f"{address}/{path.name}" for path in work.pointers]
    options = ["--no-check-input-paths", "--cmdenv", f"SECONDS_PER_PAGE={seconds_per_page}"]
    options += ["--cmdenv", f"PYTHONPATH={Path(__file__).resolve().parents[2]}"]
    with extracting_slowly():
        output = f"hdfs:///tests/{folder.name}/output"
        counts = run.run_job(
            JobCall(JOBS["extract"], inputs, output, json.dumps(work.settings), options)
        )
    assert begun.is_set(), "what was to go wrong did not happen while the job ran"
    happening.join(SECONDS)
    assert not happening.is_alive()
    run.fetch(folder / "output")
    return list(without_blocks(parts_of(folder / "output"))), counts


def test_a_page_that_kills_its_parser_is_counted_and_not_retried_to_death(
    cluster: Hadoop,
    work: Work,
    expected: tuple[list[object], Counts],
    tmp_path: Path,
) -> None:
    """And a task that is killed from outside in the middle is tried again, too."""

    def kill_one(begun: threading.Event) -> None:
        data = cluster.folder / "data"
        when(
            lambda: bool(reducers_in(data)),
            lambda: os.kill(reducers_in(data)[0], signal.SIGKILL),
            begun,
        )

    rows, counts = on_cluster(cluster, work, tmp_path / "killed", 0.05, kill_one)
    assert crashed(rows) == 1
    assert rows == expected[0]
    assert counts == expected[1]


def test_a_page_that_kills_its_parser_in_the_only_container_of_a_job_is_counted(
    cluster: Hadoop, tmp_path: Path
) -> None:
    """Hadoop does not repeat tasks there: the job runs once more, with containers of their own."""
    write_poisoned_archive(tmp_path / "archive")
    files = sorted((tmp_path / "archive").glob("*.warc*"))
    address = cluster.put(files, "/poisoned")
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    with extracting_slowly():
        build(tmp_path / "archive", here)
        build_small(address, there, cluster.conf)
    assert counts_of(there)["payloads"]["PAYLOAD_CRASHED"] == 1
    assert counts_of(there) == counts_of(here)
    assert answers(there) == answers(here)


def test_a_node_that_goes_takes_nothing_with_it(
    cluster: Hadoop,
    work: Work,
    expected: tuple[list[object], Counts],
    tmp_path: Path,
) -> None:
    """A DataNode and a NodeManager stop while tasks run on that node and read from it. Runs last:
    they do not come back.
    """

    def stop_node(begun: threading.Event) -> None:
        def stop() -> None:
            cluster.halt("datanode", 1)
            cluster.halt("nodemanager", 1)

        when(lambda: bool(reducers_in(cluster.folder / "data/local-1")), stop, begun)

    rows, counts = on_cluster(cluster, work, tmp_path / "node", 0.1, stop_node)
    assert rows == expected[0]
    assert counts == expected[1]


def test_a_task_that_takes_more_memory_than_its_container_is_killed_and_named(
    cluster: Hadoop, tmp_path: Path
) -> None:
    """The containers have the documented sizes (conf/hadoop.conf)."""
    (tmp_path / "line").write_text("x\n")
    run = HadoopRunner(
        "hadoop", 1, tmp_path / "work/tasks", conf=cluster.conf, root="hdfs:///greedy"
    )
    said = r"^greedy: .*beyond the '\w+' memory limit\..*mapreduce\.map\.memory\.mb"
    with pytest.raises(PipelineError, match=said):
        run.run(Job("greedy", lambda: TakeMemory), [tmp_path / "line"], tmp_path / "work/out", {})
