"""``arclink demo-archive``."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.demo_archive import command


def test_command_writes_an_archive_and_says_what_to_ask_about(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        command,
        ["--into", str(tmp_path / "demo"), "--captures", "40", "--hosts", "3", "--seed", "2"],
    )
    assert result.exit_code == 0
    assert "40 captures of" in result.output
    assert "http://www.kalvik2010.example/ceremony/opening.html" in result.output
    assert (tmp_path / "demo" / "truth.jsonl").read_text(encoding="utf-8").count("\n") == 40


@pytest.mark.parametrize(
    "option",
    [["--captures", "0"], ["--hosts", "1"], ["--seed", "x"]],
    ids=lambda option: " ".join(option),
)
def test_numbers_that_cannot_be_are_refused(tmp_path: Path, option: list[str]) -> None:
    result = CliRunner().invoke(command, ["--into", str(tmp_path / "demo"), *option])
    assert result.exit_code == 2
    assert not (tmp_path / "demo").exists()
