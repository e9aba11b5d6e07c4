"""The command of a job has a fixed length, whatever a store had in ten years."""

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from arclink.engines.emr import EmrRunner, LoggedEmrRunner
from arclink.engines.engine import EngineRunner, JobCall, options_for_tasks
from arclink.engines.hadoop import MOST_PARTS, HadoopRunner, QuickHadoopRunner
from arclink.engines.spark import SparkEngineRunner, SparkRunner
from arclink.mapreduce.job_settings import NEEDED
from arclink.mapreduce.runs import JOBS
from tests.mapreduce.files_in_memory import Files

ROOT = Path(__file__).resolve().parents[2]

STEP = 10_240
"""Maximum characters of all strings of a step of EMR (AddJobFlowSteps)."""

HOME = "s3a://an-archive-of-the-web-2026/arclink/build-" + "0" * 32

NUMBERS = {"tasks": 4, "slices": 1, "batches": 4, "step": 1}
"""Settings that are numbers, which do not become longer."""


def given(job: str, count: int) -> Mapping[str, object]:
    """Return settings of a job, each with ``count`` takedowns, steps or rules."""
    listed = [[f"org,site-{n:07d})/private", "2010", "2020"] for n in range(count)]
    values: dict[str, object] = {}
    for setting in JOBS[job].load().SETTINGS:
        if setting.name in NUMBERS:
            values[setting.name] = NUMBERS[setting.name]
        elif setting.default is NEEDED or isinstance(setting.default, list):
            values[setting.name] = listed
        elif not isinstance(setting.default, bool):
            values[setting.name] = "r" * (20 * count)
    return values


Command = Callable[[str, int], Sequence[str]]
"""Returns the words of the command of a job, for a number of whatever it is given."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the parts of a runner that has none on an engine; all jobs read them."""
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(params=["hadoop", "emr", "spark", "spark here"])
def command(
    request: pytest.FixtureRequest, tmp_path: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    files = Files()
    monkeypatch.setattr(EngineRunner, "_files", lambda _: files)
    monkeypatch.setattr(
        "arclink.archives.opener.open_stream",
        lambda name: BytesIO(
            files.files[files.path_of(name)] if "://" in name else Path(name).read_bytes()
        ),
    )
    monkeypatch.setattr(EmrRunner, "cluster_options", lambda _: [])
    for hadoop in (LoggedEmrRunner, QuickHadoopRunner):
        monkeypatch.setattr(hadoop, "get_hadoop_version", lambda _: "3.4.1")
    monkeypatch.setattr(LoggedEmrRunner, "get_image_version", lambda _: "7.13.0")
    monkeypatch.setattr(QuickHadoopRunner, "get_hadoop_bin", lambda _: ["hadoop"])
    monkeypatch.setattr(QuickHadoopRunner, "get_hadoop_streaming_jar", lambda _: "streaming.jar")
    (tmp_path / "relations.jar").write_bytes(b"jar")
    (tmp_path / "arclink-environment.tar.gz").write_bytes(b"tar")
    kind = request.param.partition(" ")[0]
    text = (ROOT / f"conf/{kind}.conf").read_text().replace("/PATH/TO/", f"{tmp_path}/")
    (conf := tmp_path / "mrjob.conf").write_text(
        text.replace("arclink-environment.tar.gz#", f"{tmp_path}/arclink-environment.tar.gz#")
    )
    classes: Mapping[str, type[Any]] = {
        "hadoop": HadoopRunner,
        "emr": EmrRunner,
        "spark": SparkEngineRunner,
        "spark here": SparkRunner,
    }
    runner_class = classes[request.param]
    root = {} if request.param == "spark here" else {"root": HOME}
    run = runner_class(kind, 800, tmp_path / "tasks", conf=conf, **root)
    run.is_shared = True  # the packed environment
    calls: list[JobCall] = []
    monkeypatch.setattr(runner_class, "run_job", lambda _, call: calls.append(call))

    def words(job: str, count: int) -> Sequence[str]:
        folder = tmp_path / "batch-000000" if root else here / f"batch-{count:06}"
        parts = [
            folder / relation / f"part-{label}-{part:05d}"
            for relation, labels in (("mementos", ["filter", "extract"]), ("postings", ["join"]))
            for label in labels
            for part in range(min(count, MOST_PARTS))
        ]
        for path in parts:
            if root:
                files.files[files.path_of(run._address(path))] = b"rows"
            elif not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(b"rows")
        inputs = [path for path in parts if "extract" not in path.name]
        run.run(
            JOBS[job],
            inputs,
            tmp_path / "batch-000000" / "output",
            given(job, count),
            are_relations=True,
        )
        call = calls.pop()
        options = ["-r", kind, "--conf-path", str(conf), "--output-dir", call.output]
        options += [*call.options, *options_for_tasks(call.settings)]
        if kind == "spark":
            made = JOBS[job].load()(options)
            assert made.settings == {**made.settings, **given(job, count)}
            return [*made.arguments, *call.inputs]
        if kind == "emr":
            options += ["--cloud-tmp-dir", f"{HOME}/mrjob/"]
        made = JOBS[job].load()([*options, *call.inputs])
        assert made.settings == {**made.settings, **given(job, count)}
        made.options.local_tmp_dir = str(tmp_path)
        runner = made.make_runner()
        runner._add_job_files_for_upload()
        if kind == "emr":
            step = runner._streaming_step_hadoop_jar_step(0)
            return [step["Jar"], *step["Args"]]
        arguments: Sequence[str] = runner._args_for_streaming_step(0)
        return arguments

    return words


@pytest.mark.parametrize("job", JOBS)
def test_the_command_of_a_job_does_not_grow(job: str, command: Command) -> None:
    """With 2,100 takedowns, steps and rules, and 2,048 parts, it is as long as with two."""
    lengths = [sum(map(len, command(job, count))) for count in (2, 2_100)]
    assert lengths[0] == lengths[1]
    assert lengths[1] < STEP / 2
