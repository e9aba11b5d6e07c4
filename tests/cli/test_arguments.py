"""Arguments that are not UTF-8 are wrong calls, in every command; paths may have any bytes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.cli.options import DeclaredOption
from arclink.errors import UsageError
from tests.demos import Demos

BAD = os.fsdecode(b"mime:\xff")


def value_of(option: click.Parameter) -> str:
    """Return a value that an option may have."""
    return str(option.type.choices[0]) if isinstance(option.type, click.Choice) else "1"


def calls() -> list[list[str]]:
    """Return a call of each command for each option or argument that takes text."""
    found: list[list[str]] = []

    def visit(command: click.Command, path: list[str]) -> None:
        context = click.Context(command)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                visit(inner, [*path, name])
            return
        needed = [
            word
            for one in command.params
            if one.required
            for word in (["1"] if isinstance(one, click.Argument) else [one.opts[0], value_of(one)])
        ]
        for one in command.params:
            if not isinstance(one.type, click.types.StringParamType):
                continue
            if isinstance(one, DeclaredOption) and one.parameter.form.schema.get("format"):
                continue
            if isinstance(one, click.Argument):
                arguments = [one for one in command.params if isinstance(one, click.Argument)]
                index = arguments.index(one)
                words = ["1"] * index + [BAD] + ["1"] * (len(arguments) - index - 1)
                options = [
                    word
                    for other in command.params
                    if other.required and isinstance(other, click.Option)
                    for word in (other.opts[0], value_of(other))
                ]
                found.append([*path, *options, "--", *words])
            else:
                found.append([*path, *needed, one.opts[0], BAD])

    visit(group, [])
    return found


@pytest.mark.parametrize("call", calls(), ids=lambda call: " ".join(call[:2]) + call[-2])
def test_text_that_is_not_utf_8_is_refused(
    call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(group, call)
    assert isinstance(done.exception, UsageError), done.output
    assert r"'mime:\xff' is not UTF-8 text" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_reason_that_is_not_utf_8_is_no_damage(demos: Demos, tmp_path: Path) -> None:
    store = os.fsencode(tmp_path) + b"/\xff.db"
    shutil.copy(demos.store(), os.fsdecode(store))
    command: list[str | bytes] = [sys.executable, "-m", "arclink", "forget", "example,kalvik2010)/"]
    command += ["--store", store]
    done = subprocess.run([*command, b"--reason", b"\xff"], capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr == rb"arclink: --reason: '\xff' is not UTF-8 text" + b"\n"
    done = subprocess.run([*command, "--no-clean"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "call",
    [
        ["stats", "--store", "cassandra://u:SECRET@h/k"],
        ["stats", "--store", "cassandra://u:SEC/RET@h/k"],
        ["stats", "--store", "cassandra://u:SEC@RET@h/k"],
        ["stats", "--store", "postgres://u:SECRET@h/k"],
        ["aggregate", "http://a/", "--instance", "http://u:SECRET@h"],
        ["aggregate", "http://a/", "--instance", "a=http://u:SECRET@h"],
        ["build", "https://u:SECRET@127.0.0.1:1/x.warc.gz", "--store", "links.db"],
        ["build", "s3://u:SECRET@h/x.warc.gz", "--store", "links.db"],
        ["build", "hdfs://u:SECRET@127.0.0.1:1/x.warc.gz", "--store", "links.db"],
        ["fetch", "http://a.example/", "--into", "x", "--wayback", "ftp://u:SECRET@h/web"],
        [
            "fetch",
            "http://a.example/",
            "--into",
            "x",
            "--wayback",
            "http://u:SECRET@127.0.0.1:1/web",
        ],
        [
            "serve",
            "--store",
            "a.db",
            "--browse-origin",
            "http://u:SECRET@h",
            "--public",
            "http://s",
        ],
    ],
    ids=" ".join,
)
def test_no_message_has_a_password(
    call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(group, call)
    text = f"{done.output} {done.stderr} {done.exception}"
    assert done.exit_code
    assert not {"SECRET", "SEC", "RET", "'SEC'"} & set(re.split(r"[:/@ ]", text))
    assert "***@" in text
