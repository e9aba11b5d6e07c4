"""Jobs that are run by hand: their settings have defaults, and errors that say what is missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from arclink.demo import write_demo_archive
from arclink.mapreduce.job_settings import NEEDED
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.pipeline import stages
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.settings import BuildSettings
from tests.mapreduce.contract import extract_settings, without_blocks

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(path.name for path in (ROOT / "jobs").glob("[a-z]*.py"))


def run(script: str, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / "jobs" / script), *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_lists_the_settings_of_a_job(script: str) -> None:
    said = run(script, "--help")
    assert said.returncode == 0, said.stderr
    words = " ".join(said.stdout.split())
    for job in JOBS.values():
        if job.load().__module__.endswith("." + script.removesuffix(".py")):
            for setting in job.load().SETTINGS:
                assert f"{setting.name}: " in words


@pytest.mark.parametrize(
    ("script", "settings", "expected"),
    [
        ("extract_links.py", "{}", "it lacks 'archives', the folder of the archive files"),
        (
            "extract_links.py",
            '{"task": 4}',
            "unknown: task; known: archives, files, earlier, tasks",
        ),
        ("extract_links.py", "[]", "it is not a JSON object"),
        ("filter_captures.py", "{", "Expecting property name"),
        ("join_contents.py", '{"tasks": 4}', "unknown: tasks; known: none"),
        ("load_graph.py", "{}", "it lacks 'store': URL of the store.; 'step'"),
        ("filter_captures.py", "settings.json", "nor the absolute path or the address of a file"),
        ("filter_captures.py", "/no/such/file", "the file cannot be read: "),
        ("filter_captures.py", "", "neither a JSON object nor"),
    ],
)
def test_wrong_settings_end_a_job_with_a_message(
    script: str, settings: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "input").write_text("")
    for runner in ("local", "hadoop"):
        said = run(script, "-r", runner, "--settings", settings, str(tmp_path / "input"))
        assert said.returncode == 2
        assert expected in said.stderr
        assert "Traceback" not in said.stderr


@pytest.mark.parametrize("runner", ["inline", "hadoop", "spark"])
def test_relations_apart_need_a_folder(runner: str, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("")
    said = run("invert_links.py", "-r", runner, "--relations-apart", str(tmp_path / "input"))
    assert said.returncode == 2
    assert "--relations-apart needs --output-dir" in said.stderr


def test_a_job_reads_archives_of_a_folder_without_a_list_of_them(tmp_path: Path) -> None:
    write_demo_archive(tmp_path / "archive", captures=60, hosts=4, seed=2)
    files = describe(find_archives([str(tmp_path / "archive")]), {})
    runner = JobRunner("local", 2, tmp_path / "tasks")
    stages.index(files, tmp_path, runner)
    stages.filter_rows(parts_of(tmp_path / "rows"), tmp_path, BuildSettings(), runner)
    pointers = parts_of(tmp_path / "pointers")
    listed = extract_settings(files, tmp_path / "files")
    runner.run(JOBS["extract"], pointers, tmp_path / "listed", listed)
    by_hand = json.dumps({"archives": str(tmp_path / "archive"), "tasks": 3})
    output = ["--output-dir", str(tmp_path / "by-hand"), "--no-cat-output", "--no-conf"]
    words = ["-r", "local", "--settings", by_hand, *output, *map(str, pointers)]
    said = run("extract_links.py", *words)
    assert said.returncode == 0, said.stderr
    rows = list(without_blocks(parts_of(tmp_path / "by-hand")))
    assert rows == list(without_blocks(parts_of(tmp_path / "listed")))
    assert any("pages" in repr(row) for row in rows)


def test_the_settings_of_a_job_may_be_a_file(tmp_path: Path) -> None:
    """The same rows as with the settings in the command line, in tasks with other folders."""
    text = json.dumps({"forgotten": [["org,a)/", "10000101000000", "99991231235959"]]})
    (path := tmp_path / "settings.json").write_text(text)
    row = "{0} 20100101000000 http://{1}.org/ text/html 200 - - - 700 1 a.warc.gz\n"
    (cdx := tmp_path / "all.cdx").write_text(
        row.format("org,a)/", "a") + row.format("org,b)/", "b")
    )
    written = []
    for settings in (text, str(path)):
        words = ["-r", "local", "--no-conf", "--settings", settings, str(cdx)]
        written.append(run("filter_captures.py", *words).stdout)
    assert written[0] == written[1]
    assert "http://b.org/" in written[0]
    assert "http://a.org/" not in written[0]


def test_every_setting_says_what_it_is() -> None:
    for job in JOBS.values():
        for setting in job.load().SETTINGS:
            assert setting.about.endswith(".")
            assert setting.default is NEEDED or json.dumps(setting.default)
