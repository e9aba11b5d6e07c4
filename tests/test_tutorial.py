"""The commands of the tutorial, the README and the page of exports run as written.

The output of tutorial and README is the one that they show.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demos import Demos
from tests.service.conftest import client_of

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL = ROOT / "docs/tutorial.md"

READERS_OWN = ("arclink serve", "arclink build /data")
"""Calls that do not end, or read files that only the reader has."""


def calls(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each call of the console blocks with the lines shown after it."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            call, *shown = part.splitlines()
            yield call, shown


def missing(shown: list[str], output: str) -> list[str]:
    """Return the shown lines that the output lacks, in order; ``…`` stands for any lines.

    Without ``…`` between them, lines follow each other directly.
    """
    lines = output.splitlines()
    begin, is_free = 0, False
    for line in shown:
        if line == "…":
            is_free = True
            continue
        candidates = (
            range(begin, len(lines)) if is_free else range(begin, min(begin + 1, len(lines)))
        )
        found = next((number for number in candidates if lines[number] == line), None)
        if found is None:
            return [line]
        begin, is_free = found + 1, False
    return [] if is_free or begin == len(lines) else lines[begin:]


def test_the_tutorial_shows_what_its_commands_print(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONUTF8": "1"}
    wrong, ran = [], 0
    for call, shown in calls(TUTORIAL.read_text("utf-8")):
        if call.startswith("export "):
            name, _, value = call.removeprefix("export ").partition("=")
            environment[name] = value
        elif not call.startswith(READERS_OWN):
            done = subprocess.run(
                [sys.executable, "-m", *shlex.split(call)],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            ran += 1
            assert done.returncode == 0, done.stderr
            wrong += [(call, line) for line in missing(shown, done.stdout)]
    assert wrong == []
    assert ran >= 10


@pytest.mark.parametrize(
    ("page", "command", "number"),
    [
        pytest.param("README.md", "arclink links ", 1, id="readme"),
        pytest.param("docs/how-to/export.md", "arclink export ", 10, id="exports"),
    ],
)
def test_commands_of_a_page_run_on_the_store_of_the_demo(
    page: str, command: str, number: int, demos: Demos, tmp_path: Path
) -> None:
    demos.copy(tmp_path)
    (tmp_path / "demo").symlink_to(tmp_path)
    ran = [
        (call, shown)
        for call, shown in calls((ROOT / page).read_text("utf-8"))
        if call.startswith(command)
    ]
    wrong = []
    for call, shown in ran:
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(call)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        wrong += [(call, line) for line in missing(shown or ["…"], done.stdout)]
    assert wrong == []
    assert len(ran) == number


def test_the_python_and_the_query_of_the_readme_have_answers(demos: Demos, tmp_path: Path) -> None:
    demos.copy(tmp_path)
    (tmp_path / "demo").symlink_to(tmp_path)
    text = (ROOT / "README.md").read_text("utf-8")
    (script,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert "Watch the opening ceremony live" in done.stdout
    (query,) = (call for call, _ in calls(text) if call.startswith("curl"))
    path = shlex.split(query)[1].removeprefix("http://127.0.0.1:8080")
    answer = client_of(str(tmp_path / "links.db")).get(path).get_json()
    assert len(answer["inlinks"]) == 11


def test_a_line_that_is_not_printed_is_missing() -> None:
    assert missing(["a", "…", "c"], "a\nb\nc\n") == []
    assert missing(["a", "c"], "a\nb\nc\n") == ["c"]
    assert missing(["…", "x"], "a\nb\n") == ["x"]
    assert missing(["a"], "a\nb\n") == ["b"]
