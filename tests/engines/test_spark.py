"""A whole build on Spark, and its special cases.

No step is skipped, and a key may have a million values.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Set
from contextlib import closing, suppress
from pathlib import Path

import orjson
import pytest

from arclink.analysis.matrices.slices import Level
from arclink.demo import write_demo_archive
from arclink.engines.spark import SparkRunner
from arclink.errors import PipelineError
from arclink.jobs.rank_pages import RankPages
from arclink.mapreduce import job_settings as versions
from arclink.mapreduce.job import ArclinkJob
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.pipeline import stages
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.relations import MEMENTOS
from arclink.store.location import open_store
from tests.engines.builds import (
    Here,
    answers,
    begin_stores,
    build,
    counts_of,
    crashed,
    extracting_slowly,
    when,
    write_poisoned_archive,
)
from tests.engines.conftest import ROOT, Spark
from tests.engines.two_steps import CountCounts
from tests.jobs.ranks import assert_near, options_of, ranked, ranks_in
from tests.mapreduce.contract import Inputs, extract_settings, with_flat_links, without_blocks

VERSIONS = versions.versions_here()

MILLION = 1_000_000


def test_a_build_on_spark_gives_the_counts_and_answers_of_one_here(
    spark: Spark, here: Here, tmp_path: Path
) -> None:
    """Steps follow each other in folders that are there, with blanks in their names, and each
    archive file is opened once.
    """
    options: list[str | Path] = [
        "--runner",
        "spark",
        "--engine-conf",
        spark.conf,
        "--work",
        tmp_path / "work of spark",
    ]
    assert build(here.archive, tmp_path / "spark.db", *options) == here.said
    counts = counts_of(tmp_path / "spark.db")
    assert counts == counts_of(here.store)
    assert counts["files"]["FILE_OPENED"] == len(list(here.archive.glob("*.warc*")))
    assert answers(tmp_path / "spark.db") == here.answers
    with open_store(str(tmp_path / "spark.db")) as store:
        (batch,) = store.batches()
    seconds = json.loads(batch.manifest)["cpu seconds"]
    assert 0 < seconds["extract"] < seconds["driver"], "JVMs of this machine are the driver's"


def test_a_second_build_on_spark_does_not_read_what_the_store_knows(
    spark: Spark, tmp_path: Path
) -> None:
    archive, local, store = tmp_path / "archive", tmp_path / "local.db", tmp_path / "spark.db"
    begin_stores(archive, local, store)
    expected = build(archive, local)
    assert any(Reason.PAYLOAD_KNOWN.text in line for line in expected)
    assert build(archive, store, "--runner", "spark", "--engine-conf", spark.conf) == expected
    assert answers(store) == answers(local)


def test_a_folder_that_spark_takes_for_a_pattern_is_named(spark: Spark, tmp_path: Path) -> None:
    folder = tmp_path / "a, b"
    with pytest.raises(
        PipelineError,
        match=r"a, b/out: Spark takes , in a path as a pattern; name another folder with --work",
    ):
        spark.runner(tmp_path).run(JOBS["index"], [], folder / "out", {})


def spark_processes(*texts: bytes) -> set[int]:
    """Return the drivers' JVMs and executors of applications that this process started.

    Args:
        texts: Only processes whose command lines have all of these.
    """
    names = (b"deploy.SparkSubmit", b"CoarseGrainedExecutorBackend")
    below = processes_below(os.getpid()).items()
    return {
        process
        for process, command in below
        if any(name in command for name in names) and all(text in command for text in texts)
    }


def signal_all(processes: Iterable[int], number: int) -> None:
    """Send a signal to processes."""
    for process in processes:
        os.kill(process, number)


def stop_all(processes: Set[int]) -> None:
    """Stop processes, and wait until all of their threads have stopped: some may still answer."""

    def states() -> set[str]:
        threads = [task for one in processes for task in Path(f"/proc/{one}/task").iterdir()]
        return {(task / "stat").read_text().rpartition(")")[2].split()[0] for task in threads}

    signal_all(processes, signal.SIGSTOP)
    have_stopped = threading.Event()
    when(lambda: states() == {"T"}, have_stopped.set, threading.Event())
    assert have_stopped.is_set()


def test_jobs_share_an_application_that_outlives_failed_ones(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [b"com,example)/%d\t20100101000000\tx" % number for number in range(100)]
    (tmp_path / "rows").write_bytes(b"\n".join(rows) + b"\n")
    with closing(spark.runner(tmp_path)) as runner:

        def sort() -> set[int]:
            runner.run(JOBS["invert"], [tmp_path / "rows"], tmp_path / "sorted", {})
            parts = parts_of(tmp_path / "sorted")
            written = [line for part in parts for line in part.read_bytes().splitlines()]
            assert sorted(written) == sorted(MEMENTOS + b"\t" + row for row in rows)
            return spark_processes()

        first = sort()
        assert len(first) >= 3, "a JVM of the driver and two executors, at least"
        with monkeypatch.context() as patch:
            patch.setattr(versions, "versions_here", lambda: {**VERSIONS, "selectolax": "0.1"})
            with pytest.raises(
                PipelineError,
                match=r"^invert: the job failed: .*different versions than .*: selectolax \S+ "
                r"instead of 0\.1",
            ):
                sort()
        assert sort() == first

        for names in ([], [b"deploy.SparkSubmit"]):  # of all, and of the driver's JVM only
            started = spark_processes(*names)
            assert started
            stop_all(started)  # as if it took them a while to end
            threading.Timer(1, signal_all, [started, signal.SIGKILL]).start()
            assert not sort() & started
    assert not spark_processes()


@pytest.mark.slow
def test_no_process_of_spark_outlives_a_build_that_was_killed(spark: Spark, tmp_path: Path) -> None:
    write_demo_archive(tmp_path / "archive", captures=300, hosts=12, seed=2)
    words = ["build", tmp_path / "archive", "--store", tmp_path / "links.db", "--quiet"]
    words += ["--runner", "spark", "--engine-conf", spark.conf]
    command = [sys.executable, "-m", "arclink.cli.main", *map(str, words)]
    build = subprocess.Popen(command)
    begun, ended = threading.Event(), threading.Event()
    started: set[int] = set()

    def kill() -> None:
        started.update(spark_processes())
        build.kill()

    when(lambda: len(spark_processes()) >= 3, kill, begun)
    build.wait()
    when(lambda: not any(Path(f"/proc/{one}").exists() for one in started), ended.set, begun)
    assert started
    assert ended.is_set()


def processes_below(ancestor: int) -> dict[int, bytes]:
    """Return the command lines of all processes that descend from one."""
    parents, commands = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(process.name)] = int(
                (process / "stat").read_text().rpartition(")")[2].split()[1]
            )
            commands[int(process.name)] = (process / "cmdline").read_bytes()
    found, waiting = {}, [ancestor]
    while waiting:
        parent = waiting.pop()
        for process_id in [child for child, its in parents.items() if its == parent]:
            found[process_id] = commands.get(process_id, b"")
            waiting.append(process_id)
    return found


@pytest.mark.slow
def test_a_page_that_kills_its_parser_is_counted_and_an_executor_that_goes_counts_once(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_poisoned_archive(tmp_path / "archive")
    run_here = JobRunner("local", 2, tmp_path / "tasks")
    files = describe(find_archives([str(tmp_path / "archive")]), {})
    stages.index(files, tmp_path, run_here)
    stages.filter_rows(parts_of(tmp_path / "rows"), tmp_path, BuildSettings(), run_here)
    pointers = parts_of(tmp_path / "pointers")
    settings = extract_settings(files, tmp_path / "reading-tasks")
    done = threading.Event()

    def executors() -> list[int]:
        below = processes_below(os.getpid())
        is_at_work = any(b"pyspark.daemon" in command for command in below.values())
        return [
            found
            for found, command in below.items()
            if b"CoarseGrainedExecutorBackend" in command and is_at_work
        ]

    def kill_one() -> None:
        when(lambda: bool(executors()), lambda: os.kill(executors()[0], signal.SIGKILL), done)

    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # executors import the slow job, too
    with extracting_slowly():
        expected = run_here.run(JOBS["extract"], pointers, tmp_path / "local", settings)
        threading.Thread(target=kill_one, daemon=True).start()
        monkeypatch.setenv("SECONDS_PER_PAGE", "0.05")
        counts = spark.runner(tmp_path).run(JOBS["extract"], pointers, tmp_path / "spark", settings)
    assert done.is_set(), "no executor was killed while the job ran"
    assert counts == expected
    rows = without_blocks(parts_of(tmp_path / "spark"))
    assert crashed(rows) == 1
    assert rows == without_blocks(parts_of(tmp_path / "local"))


def run(job_class: type[ArclinkJob], path: Path, output: Path, spark: Spark) -> list[bytes]:
    options = [
        "-r",
        "spark",
        "--conf-path",
        str(spark.conf),
        "--no-cat-output",
        "--cmdenv",
        f"PYTHONPATH={ROOT}",
    ]
    job_class([*options, "--output-dir", str(output), str(path)]).run_job()
    return sorted(line for part in parts_of(output) for line in part.read_bytes().splitlines())


def test_no_step_is_skipped(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three lines twice, two lines once: 2 occurs three times, 1 occurs twice."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    path = tmp_path / "lines"
    path.write_bytes(b"a\nb\nc\na\nb\nc\nd\ne\n")
    assert run(CountCounts, path, tmp_path / "ours", spark) == [b"1\t2", b"2\t3"]


def test_a_script_runs_on_spark(spark: Spark, inputs: Inputs, tmp_path: Path) -> None:
    """Its class is in ``__main__`` of the driver only: the workers get it by value."""
    script = [sys.executable, str(ROOT / "jobs/join_contents.py"), "-r", "spark"]
    options = ["--conf-path", str(spark.conf), "--output-dir", str(tmp_path / "spark")]
    subprocess.run([*script, *options, *map(str, inputs.join)], check=True)
    here = JobRunner("inline", 1, tmp_path / "tasks")
    here.run(JOBS["join"], inputs.join, tmp_path / "here", {})
    rows = with_flat_links(parts_of(tmp_path / "spark"))
    assert rows
    assert rows == with_flat_links(parts_of(tmp_path / "here"))


def test_ranks_of_spark_are_those_of_the_analysis(spark: Spark, tmp_path: Path) -> None:
    parts, expected = ranked(Level.HOST, "month", tmp_path)
    given = [
        "-r",
        "spark",
        "--conf-path",
        str(spark.conf),
        "--no-cat-output",
        "--output-dir",
        str(tmp_path / "ranks"),
    ]
    RankPages([*given, *options_of(Level.HOST, "month"), *parts]).run_job()
    assert_near(
        ranks_in(
            line for part in parts_of(tmp_path / "ranks") for line in part.read_bytes().splitlines()
        ),
        expected,
    )


@pytest.mark.slow
def test_a_key_with_a_million_values_needs_no_more_memory_than_another(
    spark: Spark, tmp_path: Path
) -> None:
    """One payload captured at a million URIs. A worker may have 512 MB of addresses in all; its
    values alone take as much.
    """
    rows = tmp_path / "rows.cdx"
    with rows.open("wb") as file:
        for number in range(MILLION):
            file.write(
                b"example,lost)/%07d 20100101000000 http://lost.example/%07d text/html 200 "
                b"SOFT404SOFT404SOFT404SOFT404AAAA - - 700 %d lost.warc.gz\n"
                % (number, number, number * 700 + 1)
            )
    conf = tmp_path / "mrjob.conf"
    limits = {"spark.executor.pyspark.memory": "512m", "spark.python.worker.memory": "128m"}
    conf.write_bytes(
        orjson.dumps({"include": str(spark.conf), "runners": {"spark": {"jobconf": limits}}})
    )
    runner = spark.runner(tmp_path)
    runner.conf = conf
    counts = runner.run(JOBS["filter"], [rows], tmp_path / "filtered", BuildSettings().for_jobs())
    assert counts[Reason.MEMENTO_WITH_PAYLOAD] == 1
    assert counts[Reason.MEMENTO_DUPLICATE] == MILLION - 1
    originals: set[str] = set()
    for part in parts_of(tmp_path / "filtered"):
        with part.open("rb") as lines:
            for line in lines:
                if line.startswith(b"pointers\t"):
                    originals.update(orjson.loads(line.partition(b"\t")[2])[7])
    assert len(originals) == MILLION


# pyspark does not close the standard input of a program that ends.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_an_application_that_does_not_begin_is_an_error_of_its_job(tmp_path: Path) -> None:
    submit = tmp_path / "spark/bin/spark-submit"
    submit.parent.mkdir(parents=True)
    (tmp_path / "spark/jars").mkdir()
    submit.write_text("#!/bin/sh\necho no Java here >&2\nexit 1\n")
    submit.chmod(0o755)
    conf = tmp_path / "mrjob.conf"
    conf.write_bytes(orjson.dumps({"runners": {"spark": {"spark_submit_bin": str(submit)}}}))
    run = SparkRunner("spark", 1, tmp_path / "tasks", conf=conf)
    said = "^invert: the job failed: arclink: the Spark application ended before its first job"
    with pytest.raises(PipelineError, match=said):
        run.run(JOBS["invert"], [], tmp_path / "out", {})
    assert (tmp_path / "tasks/spark.log").read_text() == "no Java here\n"
    assert run.application.seconds() == 0
    run.close()
