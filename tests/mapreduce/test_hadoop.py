"""The settings of the Hadoop runner before a job starts; tests/engines runs real jobs."""

import logging
import os
import sys
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mrjob.step import StepFailedException

from arclink.counts import Counts
from arclink.engines.cassandra.rows import PART_BITS
from arclink.engines.engine import JobCall, seconds_of_tasks
from arclink.engines.hadoop import COMBINED, MOST_PARTS, USUAL_BLOCK, HadoopRunner, failure_of
from arclink.errors import PipelineError, TaskError
from arclink.jobs.invert_links import InvertLinks
from arclink.mapreduce.job_settings import (
    CONTAINER,
    CPU_OF_JVM,
    CPU_OF_PYTHON,
    IN_ONE_CONTAINER,
    LEAST_SPLIT,
    MASTER_MEMORY,
    MASTER_OPTIONS,
    MOST_SPLIT,
    REDUCES,
    TASK_MEMORY,
    TASK_OPTIONS,
)
from arclink.mapreduce.runs import JOBS
from arclink.shares import BYTES_OF_CORE
from tests.mapreduce.files_in_memory import Files


@pytest.mark.parametrize(
    ("cores", "given", "expected"),
    [
        pytest.param(32, {}, "32", id="one per core"),
        pytest.param(32, {REDUCES: "7"}, "7", id="the engine's settings win"),
        pytest.param(10_000, {}, str(MOST_PARTS), id="no more parts than a store can load"),
    ],
)
def test_a_job_has_one_reducer_per_core(
    cores: int, given: dict[str, str], expected: str, tmp_path: Path
) -> None:
    run = SimpleNamespace(_opts={"jobconf": dict(given)})
    HadoopRunner("hadoop", cores, tmp_path / "tasks", root="hdfs:///work").adapt(run)
    assert run._opts["jobconf"][REDUCES] == expected


@pytest.mark.parametrize(
    ("cores", "by_size", "size", "expected"),
    [
        pytest.param(8, False, 10, 8, id="given"),
        pytest.param(8, True, 0, 1, id="nothing to read"),
        pytest.param(8, True, BYTES_OF_CORE, 1, id="small"),
        pytest.param(8, True, BYTES_OF_CORE + 1, 2, id="one byte more"),
        pytest.param(1, True, 40 * BYTES_OF_CORE, 40, id="more than this machine has"),
    ],
)
def test_the_number_of_cores_follows_from_the_archives_unless_it_is_given(
    cores: int, by_size: bool, size: int, expected: int, tmp_path: Path
) -> None:
    runner = HadoopRunner("hadoop", cores, tmp_path / "tasks", root="hdfs:///w", by_size=by_size)
    with runner.for_archives(size):
        assert runner.cores == expected
    assert runner.cores == cores


@pytest.mark.parametrize(
    ("cores", "given", "expected"),
    [
        pytest.param(1, {}, IN_ONE_CONTAINER, id="one core"),
        pytest.param(
            1,
            dict(zip(TASK_MEMORY, ("1024", "1536"), strict=True)),
            {**IN_ONE_CONTAINER, MASTER_MEMORY: "1536"},
            id="as large as a task",
        ),
        pytest.param(
            1,
            {TASK_OPTIONS: "-Xmx512m"},
            {**IN_ONE_CONTAINER, MASTER_OPTIONS: "-Xmx512m"},
            id="as little heap as a task",
        ),
        pytest.param(2, {TASK_MEMORY[0]: "1024"}, {}, id="several cores"),
    ],
)
def test_one_core_is_one_container(
    cores: int, given: dict[str, str], expected: dict[str, str], tmp_path: Path
) -> None:
    runner = HadoopRunner("hadoop", cores, tmp_path / "tasks", root="hdfs:///work")
    run = SimpleNamespace(_opts={"jobconf": dict(given)}, _hadoop_input_format=None)
    runner.adapt(run)
    found = run._opts["jobconf"]
    names = (*IN_ONE_CONTAINER, MASTER_MEMORY, MASTER_OPTIONS)
    assert {name: found[name] for name in names if name in found} == expected


@pytest.mark.parametrize(
    ("cores", "error", "failures", "expected"),
    [
        pytest.param(1, PipelineError, 1, [False, True], id="one core"),
        pytest.param(1, PipelineError, 2, [False, True], id="fails twice"),
        pytest.param(1, TaskError, 1, [False], id="it would fail again"),
        pytest.param(2, PipelineError, 1, [False], id="Hadoop has repeated its tasks already"),
    ],
)
def test_a_job_that_fails_in_one_container_runs_once_more(
    cores: int,
    error: type[PipelineError],
    failures: int,
    expected: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    runner = HadoopRunner("hadoop", cores, tmp_path / "tasks", root="hdfs:///work")
    removed: list[str] = []
    files = SimpleNamespace(path_of=lambda url: url, remove=removed.append)
    monkeypatch.setattr(HadoopRunner, "_files", lambda self: files)
    apart: list[bool] = []

    def run_job(self: HadoopRunner, call: JobCall) -> Counts:
        apart.append(self.apart)
        if len(apart) <= failures:
            raise error("extract: the job failed")
        return Counts()

    monkeypatch.setattr(HadoopRunner, "run_by_mrjob", run_job)
    if failures < len(expected):
        runner.run_job(JobCall(JOBS["extract"], [], "hdfs:///work/out"))
    else:
        with pytest.raises(PipelineError):
            runner.run_job(JobCall(JOBS["extract"], [], "hdfs:///work/out"))
    assert apart == expected
    assert removed == ["hdfs:///work/out"] * (len(expected) - 1)
    assert not runner.apart


class FailedRun:
    """What mrjob does if a task of a job ends with an error."""

    def __init__(self, error: str) -> None:
        self.error = error
        self._opts: dict[str, object] = {"jobconf": {}}

    def __enter__(self) -> "FailedRun":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def counters(self) -> list[dict[str, dict[str, int]]]:
        return []

    def run(self) -> None:
        logging.getLogger("mrjob").error("Probable cause of failure:\n\n%s", self.error)
        raise StepFailedException("the step failed")


@pytest.mark.parametrize(
    ("error", "is_final"),
    [
        ("arclink.errors.TaskError: arclink 1 instead of 2; install the same", True),
        ("arclink.errors.UsageError: not a rule", True),
        ("arclink: the packed environment does not fit", True),
        ("arclink.errors.NetworkError: http://namenode:9870/: no answer; try again later", False),
        ("arclink.errors.StoreError: no node of cassandra://c/k answers", False),
        ("arclink.errors.InputError: hdfs:///a.warc.gz cannot be read", False),
    ],
)
def test_only_a_task_that_would_fail_again_ends_a_build(
    error: str, is_final: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = HadoopRunner("hadoop", 1, tmp_path / "tasks", root="hdfs:///work")
    monkeypatch.setattr(InvertLinks, "make_runner", lambda _: FailedRun(error))
    with pytest.raises(PipelineError) as raised:
        runner.run_by_mrjob(JobCall(JOBS["invert"], [], "hdfs:///work/out"))
    assert error in str(raised.value)
    assert isinstance(raised.value, TaskError) == is_final


@pytest.mark.parametrize(
    ("given", "form", "most"),
    [
        pytest.param({}, COMBINED, str(USUAL_BLOCK), id="small files share a task"),
        pytest.param({MOST_SPLIT: "7"}, COMBINED, "7", id="the engine's settings win"),
        pytest.param({LEAST_SPLIT: "9"}, None, None, id="each file is one task"),
    ],
)
def test_a_map_task_reads_several_small_files(
    given: dict[str, str], form: str | None, most: str | None, tmp_path: Path
) -> None:
    run = SimpleNamespace(_opts={"jobconf": dict(given)}, _hadoop_input_format=None)
    HadoopRunner("hadoop", 2, tmp_path / "tasks", root="hdfs:///work").adapt(run)
    assert run._hadoop_input_format == form
    assert run._opts["jobconf"].get(MOST_SPLIT) == most


@pytest.mark.parametrize(
    ("job", "settings", "expected"),
    [
        pytest.param("index", "{}", 0, id="no reducer"),
        pytest.param("extract", '{"tasks": 7}', 7, id="one per reading task"),
        pytest.param("filter", "{}", None, id="those of the engine"),
    ],
)
def test_a_job_has_the_reduce_tasks_that_it_needs(
    job: str, settings: str, expected: int | None
) -> None:
    """The settings of an engine may name a number: a job without a reducer has none all the same,
    or Hadoop would send all rows of a relation through one task.
    """
    made = JOBS[job].load()(["-r", "hadoop", "--no-conf", "--settings", settings])
    assert made.jobconf().get(REDUCES) == expected


def test_a_store_loads_what_the_most_reducers_write() -> None:
    assert MOST_PARTS <= 1 << PART_BITS


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        pytest.param(
            [{CPU_OF_JVM[0]: {CPU_OF_JVM[1]: 12_500, "GC time elapsed (ms)": 7}}],
            12.5,
            id="one step",
        ),
        pytest.param(
            [{CPU_OF_JVM[0]: {CPU_OF_JVM[1]: 1_000}, CPU_OF_PYTHON[0]: {CPU_OF_PYTHON[1]: 4_000}}],
            5.0,
            id="JVM and Python",
        ),
        pytest.param(
            [{CPU_OF_JVM[0]: {CPU_OF_JVM[1]: 500}}, {CPU_OF_JVM[0]: {CPU_OF_JVM[1]: 700}}],
            1.2,
            id="two steps",
        ),
        pytest.param([{"rows": {"ROW_KEPT": 3}}], None, id="not counted"),
        pytest.param([], None, id="no counters"),
    ],
)
def test_cpu_seconds_are_those_of_the_tasks(
    counters: list[dict[str, dict[str, int]]], expected: float | None, tmp_path: Path
) -> None:
    found = seconds_of_tasks(counters)
    assert (sum(found) if found else None) == expected


def test_a_task_in_a_container_counts_the_time_of_its_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(CONTAINER, "container_1_0001_01_000002")
    job = InvertLinks(["--no-conf"])
    job.sandbox(stdin=BytesIO(b"org,example)/\t20100101000000\trest\n"), stderr=(err := BytesIO()))
    assert len(list(job.map_pairs([(b"", b"org,example)/\t20100101000000\trest")]))) == 1
    assert f"reporter:counter:{','.join(CPU_OF_PYTHON)}," in err.getvalue().decode()


def test_a_task_on_spark_does_not_count_the_earlier_tasks_of_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = SimpleNamespace(TaskContext=SimpleNamespace(get=object))
    monkeypatch.setitem(sys.modules, "pyspark", task)
    times = iter([(100.0, 20.0, 3.0, 1.0, 9.0), (101.5, 20.25, 3.0, 1.0, 11.0)])
    monkeypatch.setattr(os, "times", lambda: next(times))
    job = InvertLinks(["--no-conf"])
    job.sandbox(stdin=BytesIO(), stderr=(err := BytesIO()))
    list(job.map_pairs([]))
    assert f"reporter:counter:{','.join(CPU_OF_PYTHON)},1750\n" in err.getvalue().decode()


LONG = "Command '['hadoop', 'jar', '/long/path']' returned non-zero exit status 1280."


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "  Error Launching job : Output directory hdfs:///a already exists",
            "Error Launching job",
        ),
        ("Job job_1_0001 failed with state KILLED due to: killed by user", "Job job_1_0001 failed"),
        ("nothing that is known", "the engine's command returned non-zero exit status 1280"),
    ],
)
def test_a_job_that_fails_without_a_task_says_why_and_not_its_command(
    said: str, expected: str, tmp_path: Path
) -> None:
    runner = HadoopRunner("hadoop", 1, tmp_path / "tasks", root="hdfs:///work")
    runner.scratch.mkdir()
    failure = str(runner._failure("filter", failure_of(f"{said}\n", LONG)))
    assert expected in failure
    assert "/long/path" not in failure
    assert "/long/path" in (runner.scratch / "failed-task.txt").read_text()


@pytest.mark.parametrize(
    ("said", "starts"),
    [
        pytest.param(
            "Submitting tokens for job: job_1_0015\nError Launching job : Cannot delete "
            "/tmp/.staging/job_1_0015. Name node is in safe mode.\n"
            "\tat java.base/java.security.AccessController.doPrivileged(AccessController.java)",
            4,
            id="safe mode",
        ),
        pytest.param(
            "Error Launching job : Call From a to b failed: Connection refused", 4, id="no NameNode"
        ),
        pytest.param("Error Launching job : Output directory already exists", 1, id="output"),
        pytest.param("Error Launching job : Permission denied: user=a", 1, id="permission"),
        pytest.param("Error launching job , bad input path : no /a", 1, id="input"),
        pytest.param(
            "Submitted application application_1_0001\nError Launching job : no answer",
            1,
            id="it has begun",
        ),
        pytest.param("Job job_1_0001 failed with state FAILED", 1, id="it failed"),
    ],
)
@pytest.mark.parametrize("cores", [1, 2])
def test_a_job_that_never_began_is_started_again(
    said: str, starts: int, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the patience of requests; the third start succeeds, or one after four does not."""
    runner = HadoopRunner("hadoop", cores, tmp_path / "tasks", root="hdfs:///work", apart=True)
    waited: list[float] = []
    monkeypatch.setattr("arclink.network.retries.time.sleep", waited.append)
    monkeypatch.setattr("arclink.engines.hadoop.PATIENCE", (1, 2, 3))
    monkeypatch.setattr(HadoopRunner, "_files", lambda _: Files())
    runs: list[str] = []
    few = starts if starts == 1 else 2

    def started(fails: int) -> list[float]:
        def run(self: Any) -> None:
            runs.append(said)
            if len(runs) <= fails:
                logging.getLogger("mrjob").error(said)
                raise StepFailedException("Command 'hadoop' returned non-zero exit status 1280.")

        runs.clear()
        waited.clear()
        monkeypatch.setattr(FailedRun, "run", run)
        monkeypatch.setattr(InvertLinks, "make_runner", lambda _: FailedRun(said))
        runner.run_job(JobCall(JOBS["invert"], [], "hdfs:///work/out"))
        return waited

    if starts > 1:
        assert started(few) == [1, 2]
        assert len(runs) == 3
    with pytest.raises(PipelineError, match=r"aunching job|Job job_1_0001"):
        started(9)
    assert len(runs) == starts
    assert not runner.is_interrupted
