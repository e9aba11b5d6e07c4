"""The installed script ``arclink``, started as a program."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(sys.executable).with_name("arclink")


def test_folders_named_like_our_packages_are_not_imported(tmp_path: Path) -> None:
    """``jobs`` and ``service`` are common names of folders; the script's own folder comes first on
    the path, not the caller's.
    """
    for name in ("jobs", "service", "arclink"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(
            "raise RuntimeError('a folder of the caller was imported')\n"
        )
    for words in (
        ["demo-archive", "--into", "archive", "--captures", "40", "--hosts", "3", "--seed", "1"],
        ["build", "archive", "--store", "links.db", "--quiet"],
        ["stats", "--store", "links.db"],
        ["serve", "--help"],
    ):
        done = subprocess.run(
            [SCRIPT, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_a_reader_that_closes_the_pipe_early_is_not_an_error(tmp_path: Path) -> None:
    """As in ``arclink links … | head``."""
    subprocess.run(
        [
            SCRIPT,
            "demo-archive",
            "--into",
            "archive",
            "--captures",
            "40",
            "--hosts",
            "3",
            "--seed",
            "1",
        ],
        cwd=tmp_path,
        check=True,
    )
    done = subprocess.run(
        f"{SCRIPT} --help | head -n 1",
        cwd=tmp_path,
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str) -> None:
    """The lines of docs/reference/commands.md print a script that calls the completion below."""
    page = (Path(__file__).resolve().parents[2] / "docs/reference/commands.md").read_text("utf-8")
    assert f"_ARCLINK_COMPLETE={shell}_source arclink" in page

    def completed(kind: str, words: str, last: str, position: int) -> str:
        variables = {
            "_ARCLINK_COMPLETE": f"{shell}_{kind}",
            "COMP_WORDS": f"{words} {last}",
            "COMP_CWORD": last if shell == "fish" else str(position),
        }
        return subprocess.run(
            [SCRIPT], env={**os.environ, **variables}, capture_output=True, text=True, check=False
        ).stdout

    assert f"_ARCLINK_COMPLETE={shell}_complete" in completed("source", "", "", 0)
    assert set(re.findall(r"\ban[a-z]+", completed("complete", "arclink", "an", 1))) >= {
        "anchors",
        "analyze",
    }
    assert "--direction" in completed("complete", "arclink links", "--dir", 2)


def test_the_module_is_the_same_program() -> None:
    shown = [
        subprocess.run([*program, "--version"], capture_output=True, text=True, check=True).stdout
        for program in ([str(SCRIPT)], [sys.executable, "-m", "arclink"])
    ]
    assert shown[0].startswith("arclink ")
    assert shown[0] == shown[1]


def test_a_job_runs_by_hand(tmp_path: Path) -> None:
    rows = (
        b"org,a)/ 20100101000000 http://a.org/ text/html 200 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA "
        b"- - 10 0 one.warc.gz\n"
    )
    (tmp_path / "rows.cdx").write_bytes(rows)
    command = [
        sys.executable,
        "-m",
        "arclink.jobs.filter_captures",
        "-r",
        "local",
        "--no-conf",
        "--settings",
        '{"rules": "{}"}',
        "rows.cdx",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert sorted(line.split(b"\t")[0] for line in done.stdout.splitlines()) == [
        b"mementos",
        b"pointers",
    ]
