"""The unit of systemd and the container file in ``conf/`` agree with documents and commands."""

import re
import shlex
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import click
import pytest

from arclink.cli.main import group

ROOT = Path(__file__).resolve().parents[1]
CONTAINER = (ROOT / "conf/Containerfile").read_text()


def _accept(arguments: list[str]) -> None:
    """Parse arguments of ``arclink``; raise if the command has not all of its options."""
    with group.make_context("arclink", arguments[:1], resilient_parsing=True) as context:
        command = group.get_command(context, arguments[0])
        assert command is not None, arguments
        command.make_context(arguments[0], arguments[1:], parent=context)


def test_the_unit_can_be_enabled_and_starts_a_command_that_exists() -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(ROOT / "conf/arclink.service")
    assert unit.sections() == ["Unit", "Service", "Install"]
    assert unit["Install"]["WantedBy"] == "multi-user.target"
    program, *arguments = shlex.split(unit["Service"]["ExecStart"])
    name, _, store = unit["Service"]["Environment"].partition("=")
    assert (Path(program).name, name) == ("arclink", "ARCLINK_STORE")
    _accept([*arguments, "--store", store])
    grace = re.search(r"--grace SECONDS.*?default: (\d+)", _help_of("serve"), re.DOTALL)
    assert grace is not None
    assert int(unit["Service"]["TimeoutStopSec"]) > int(grace[1])


def _help_of(name: str) -> str:
    with group.make_context("arclink", [name], resilient_parsing=True) as context:
        command = group.get_command(context, name)
        assert command is not None
        return command.get_help(click.Context(command, info_name=name, parent=context))


def test_the_container_takes_the_steps_of_the_readme() -> None:
    steps = re.findall(r"^\$ (make \S+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    run = re.findall(r"^RUN (make \S+)", CONTAINER, re.MULTILINE)
    assert run == [steps[0]]
    version = re.search(r"^FROM python:3\.(\d+)", CONTAINER, re.MULTILINE)
    assert version is not None
    assert f"3.{version[1]}" in (ROOT / "setup.cfg").read_text()
    assert '["/arclink/.venv/bin/arclink"]' in CONTAINER
    commands = re.findall(r"^# .*? arclink ((?:build|serve) .*)$", CONTAINER, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        _accept(shlex.split(command))


@pytest.mark.long
def test_the_container_can_be_built(tmp_path: Path) -> None:
    if not shutil.which("docker") or subprocess.run(["docker", "info"], check=False).returncode:
        pytest.skip("needs a running Docker, and a registry that has the image of Python")
    files = ["build", "--file", "conf/Containerfile", "--tag", "arclink-test", "."]
    subprocess.run(["docker", *files], cwd=ROOT, check=True)
    done = subprocess.run(
        ["docker", "run", "--rm", "arclink-test", "--version"], check=True, capture_output=True
    )
    assert done.stdout.startswith(b"arclink")
