"""The line that shows the progress of long work on a terminal."""

import io
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from arclink import progress
from arclink.progress import TerminalLine, fitting, watched
from tests.demos import Demos


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Show progress in a text, at once."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(progress, "_FIRST", 0.0)
    with progress.show_on_terminal():
        yield shown


def lines(shown: io.StringIO) -> list[str]:
    return [line for line in shown.getvalue().split("\r\x1b[2K") if line]


def test_items_are_counted_with_the_time_left_and_the_line_is_removed(
    terminal: io.StringIO,
) -> None:
    taken = 0
    for _ in watched(range(1024), "reading links", lambda: 2048):
        taken += 1
        if taken % 512 == 0:
            time.sleep(0.6)
    assert taken == 1024
    assert any(
        line.startswith("reading links · 512 of 2,048 · 0:0") and "left" in line
        for line in lines(terminal)
    )
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_a_step_without_parts_shows_its_time(terminal: io.StringIO) -> None:
    progress.note("copying the store")
    time.sleep(1.4)
    progress.clear()
    assert "copying the store · 0:01 passed" in lines(terminal)


def test_an_error_in_the_work_removes_the_line(terminal: io.StringIO) -> None:
    def failing() -> Iterator[int]:
        yield 1
        time.sleep(0.3)
        raise ValueError("of the work")

    with pytest.raises(ValueError, match="of the work"):
        list(watched(failing(), "reading"))
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_without_a_terminal_nothing_is_counted_or_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def total() -> int:
        raise AssertionError("read for nothing")

    with progress.show_on_terminal():
        assert list(watched([1, 2], "reading", total)) == [1, 2]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("width", [10, 40, 80, 200])
def test_a_line_is_never_wider_than_its_terminal(width: int) -> None:
    line = "batch 1/2 · extract 3/8 · 500,000 captures · 4,000,000 links · 10.1 MB/s · 0:20 passed"
    cut = fitting(line, width)
    assert len(cut) <= width
    assert (cut == line) is (len(line) <= width)


def test_a_display_that_is_closed_can_show_again() -> None:
    shown = io.StringIO()
    display = TerminalLine(shown)
    for text in ("one", "two"):
        display.show(lambda text=text: text)  # type: ignore[misc]  # bound now
        time.sleep(0.1)
        display.close()
    assert lines(shown) == ["one", "two"]


@pytest.mark.costly
def test_a_command_on_a_terminal_shows_its_progress_and_leaves_only_its_answer(
    demos: Demos,
) -> None:
    """On a real terminal, with work that is made slow."""
    code = """
import sys, time
from arclink import progress
from arclink.cli import main
from arclink.captures.subsets import view as capture_counts
progress._FIRST = 0.0
count_captures = capture_counts.count_captures

def slow(mementos, by):
    return count_captures((one for one in mementos if not time.sleep(0.002)), by)

capture_counts.count_captures = slow
sys.argv = ["arclink", "count", "--store", sys.argv[1]]
main.main()
"""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", code, str(demos.store())],
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
    ) as run:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the terminal of an ended process (EIO)
                break
            if not piece:
                break
            said += piece
    os.close(ours)
    assert run.returncode == 0
    text = said.decode()
    assert "reading captures · " in text
    assert " captures of " in text.rpartition("\r\x1b[2K")[2]
