"""A packed environment on workers without our packages; other versions are refused clearly."""

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.engines.check_environment import MARK
from arclink.engines.engine import JobCall
from arclink.errors import PipelineError
from arclink.mapreduce.job_settings import versions_here
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from tests.engines.conftest import Hadoop
from tests.mapreduce.contract import Inputs, without_blocks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "arclink-environment.tar.gz"
    done = CliRunner().invoke(group, ["pack", "--into", str(path)])
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with nothing but itself: what a worker has."""
    folder = tmp_path_factory.mktemp("worker") / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin/python"
    lacking = subprocess.run([python, "-c", "import mrjob"], capture_output=True, check=False)
    assert b"No module named 'mrjob'" in lacking.stderr
    return python


def conf_with(hadoop: Hadoop, environment: Path, python: Path, folder: Path) -> Path:
    """Return the cluster's settings, but with that Python and the packed environment."""
    setup = [
        f"export PYTHONPATH=$PYTHONPATH:{environment}#/",
        f"{python} {environment}#/check_environment.py",
    ]
    own = {"python_bin": str(python), "setup": setup, "jobconf": {"mapreduce.map.maxattempts": 1}}
    path = folder / "mrjob.conf"
    path.write_text(json.dumps({"include": str(hadoop.conf), "runners": {"hadoop": own}}))
    return path


def extract(
    hadoop: Hadoop, inputs: Inputs, conf: Path, folder: Path, expects: dict[str, str]
) -> list[object]:
    run = hadoop.runner(folder, conf)
    part = inputs.extract[0]
    names = [f"{hadoop.put([part], f'/tests/{folder.name}/input')}/{part.name}"]
    options = ["--no-check-input-paths", "--expects", json.dumps(expects)]
    run.share_environment()
    assert run.conf != conf, "the archive has an address in HDFS"
    output = f"hdfs:///tests/{folder.name}/output"
    run.run_job(
        JobCall(JOBS["extract"], names, output, json.dumps(inputs.settings("extract")), options)
    )
    run.fetch(folder / "output")
    return list(without_blocks(parts_of(folder / "output")))


def test_a_worker_without_our_packages_runs_a_job_with_native_modules(
    environment: Path, bare_python: Path, inputs: Inputs, hadoop: Hadoop, tmp_path: Path
) -> None:
    conf = conf_with(hadoop, environment, bare_python, tmp_path)
    rows = extract(hadoop, inputs, conf, tmp_path / "shipped", versions_here())
    JobRunner("local", 1, tmp_path / "tasks").run(
        JOBS["extract"], inputs.extract[:1], tmp_path / "local", inputs.settings("extract")
    )
    assert rows
    assert rows == without_blocks(parts_of(tmp_path / "local"))


def test_a_worker_without_our_packages_opens_s3(
    environment: Path, bare_python: Path, tmp_path: Path
) -> None:
    """Of botocore's descriptions of services, only those of S3 are packed."""
    with tarfile.open(environment) as archive:
        archive.extractall(tmp_path, filter="data")
    code = (
        "import botocore.session\n"
        "keys = {'aws_access_key_id': 'a', 'aws_secret_access_key': 'b', 'region_name': 'x'}\n"
        "botocore.session.get_session().create_client('s3', **keys)\n"
    )
    subprocess.run([bare_python, "-c", code], env={"PYTHONPATH": str(tmp_path)}, check=True)


def test_a_task_that_finds_other_versions_says_so(
    environment: Path, bare_python: Path, inputs: Inputs, hadoop: Hadoop, tmp_path: Path
) -> None:
    conf = conf_with(hadoop, environment, bare_python, tmp_path)
    with pytest.raises(
        PipelineError,
        match=r"has different versions than the machine that started the build: selectolax \S+ "
        r"instead of 0\.1",
    ):
        extract(
            hadoop,
            inputs,
            conf,
            tmp_path / "versions",
            {**versions_here(), "selectolax": "0.1"},
        )


def test_an_environment_for_another_python_is_refused_before_anything_is_imported(
    environment: Path, bare_python: Path, tmp_path: Path
) -> None:
    with tarfile.open(environment) as archive:
        archive.extractall(
            tmp_path,
            [archive.getmember(MARK), archive.getmember("check_environment.py")],
            filter="data",
        )
    fits = subprocess.run(
        [bare_python, tmp_path / "check_environment.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (fits.returncode, fits.stderr) == (0, "")
    mark = json.loads((tmp_path / MARK).read_text())
    mark["made for"]["python"] = "3.99"
    (tmp_path / MARK).write_text(json.dumps(mark))
    refused = subprocess.run(
        [bare_python, tmp_path / "check_environment.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert "instead of 3.99" in refused.stderr
    assert "docs/how-to/engines.md" in refused.stderr
