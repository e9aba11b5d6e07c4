"""The commands of the tutorial, the README, and the pages of exports, words and the paper run.

Their output is the one that the pages show.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
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

    In a line, it stands for any text. Without ``…`` between them, lines follow each other directly.
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
        fits = re.compile(".*".join(map(re.escape, line.split("…"))))
        found = next((number for number in candidates if fits.fullmatch(lines[number])), None)
        if found is None:
            return [line]
        begin, is_free = found + 1, False
    return [] if is_free or begin == len(lines) else lines[begin:]


def wrong_lines(
    called: Iterable[tuple[str, list[str]]], folder: Path, environment: Mapping[str, str] = {}
) -> list[tuple[str, str]]:
    """Return the lines that calls of ``arclink`` in a folder do not print as shown."""
    wrong = []
    for call, shown in called:
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(call)],
            cwd=folder,
            env={**os.environ, "PYTHONUTF8": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        wrong += [(call, line) for line in missing(shown or ["…"], done.stdout)]
    return wrong


def test_the_tutorial_shows_what_its_commands_print(tmp_path: Path) -> None:
    environment = {}
    wrong, ran = [], 0
    for call, shown in calls(TUTORIAL.read_text("utf-8")):
        if call.startswith("export "):
            name, _, value = call.removeprefix("export ").partition("=")
            environment[name] = value
        elif not call.startswith(READERS_OWN):
            wrong += wrong_lines([(call, shown)], tmp_path, environment)
            ran += 1
    assert wrong == []
    assert ran >= 10


@pytest.mark.parametrize(
    ("page", "command", "number"),
    [
        pytest.param("README.md", "arclink links ", 1, id="readme"),
        pytest.param("docs/how-to/export.md", "arclink export ", 10, id="exports"),
        pytest.param("docs/how-to/words.md", "arclink ", 10, id="words"),
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
    assert wrong_lines(ran, tmp_path) == []
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


PAPER = ROOT / "docs/explanation/paper.md"


def sections_of_paper() -> dict[tuple[str, str], list[tuple[str, list[str]]]]:
    """Return the calls of each section of the page, by the kind and number that it is about."""
    sections = {}
    for part in PAPER.read_text("utf-8").split("\n## ")[1:]:
        subject = part.partition(":")[0]
        for number in re.findall(r"[\d.]+", subject):
            sections[subject.split()[0].removesuffix("s"), number] = list(calls(part))
    return sections


@pytest.mark.costly
def test_the_page_of_the_paper_shows_what_its_commands_print(
    shared_data: Path, tmp_path: Path
) -> None:
    for name in ("aut", "flink_web"):
        (tmp_path / name).symlink_to(shared_data / name)
    wrong, ran = [], set()
    for call, shown in calls(PAPER.read_text("utf-8")):
        if call.startswith("echo "):
            subprocess.run(call, shell=True, cwd=tmp_path, check=True)
        elif call.startswith("curl "):
            path = shlex.split(call)[1].removeprefix("http://127.0.0.1:8080")
            answer = client_of(str(tmp_path / "flink.db")).get(path)
            wrong += [(call, line) for line in missing(shown, answer.text)]
        else:
            wrong += wrong_lines([(call, shown)], tmp_path)
        ran.add(call.split()[0])
    assert wrong == []
    assert ran == {"echo", "curl", "arclink"}


def test_the_page_of_the_paper_has_a_command_for_all_that_the_paper_numbers(
    shared_data: Path,
) -> None:
    paper = (shared_data.parent / "papers/arclink.txt").read_text("utf-8")
    named = {*re.findall(r"^(Table|Figure|Listing) (\d+):", paper, re.MULTILINE)}
    equations = re.findall(r"^\$.*\((\d)\)\$\$$", paper, re.MULTILINE)
    sections = sections_of_paper()
    assert len(named) == 12
    assert len(equations) == 4
    assert sections.keys() >= named | {("Equation", number) for number in equations}
    for subject, called in sections.items():
        text = " ".join(call for call, _ in called)
        shown = [line for _, lines in called for line in lines if line != "…"]
        assert len(shown) >= 2, subject
        assert subject[0] == "Equation" or ("flink" in text and "aut" in text), subject


def test_a_line_that_is_not_printed_is_missing() -> None:
    assert missing(["a", "…", "c"], "a\nb\nc\n") == []
    assert missing(["a", "c"], "a\nb\nc\n") == ["c"]
    assert missing(["…", "x"], "a\nb\n") == ["x"]
    assert missing(["a"], "a\nb\n") == ["b"]
    assert missing(["a…c…", "d"], "axc\nd\n") == []
    assert missing(["a…c", "d"], "axd\nd\n") == ["a…c"]
