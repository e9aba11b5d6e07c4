"""Results go to ``--into`` in every command; earlier names of options answer with a warning."""

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from arclink.access.declarations import (
    PATH,
    SWITCH,
    TEXT,
    BadParameterError,
    Given,
    Parameter,
    sort_out,
    whole_number,
)
from arclink.cli.main import group
from arclink.cli.options import DeclaredOption, takes
from tests.demos import Demos
from tests.reference.tables import commands

_OUTPUT = re.compile(r"(?:Write|Output|The copy|HTML file of|File for the|Folder for the)\b")
"""How a sentence about a parameter begins if the parameter says where a result goes."""
_BETWEEN_RUNS = {"cache", "work", "engine-folder"}
"""Folders of files that no user reads: they are kept for the next run only."""


def options() -> Iterator[tuple[str, click.Command, DeclaredOption]]:
    for name, command in commands():
        for option in command.params:
            if isinstance(option, DeclaredOption):
                yield name, command, option


RENAMED = [
    pytest.param(command, option, was, id=f"{name} {was}")
    for name, command, option in options()
    for was in option.parameter.was
]


def test_results_go_to_into_in_every_command() -> None:
    found = {
        (name, option.parameter.name)
        for name, _, option in options()
        if option.parameter.form.schema.get("format") in ("path", "file", "folder")
        and _OUTPUT.match(option.parameter.about)
        and option.parameter.name not in _BETWEEN_RUNS
    }
    assert {name for _, name in found} == {"into"}
    assert len(found) > 10


def given_by(command: click.Command, words: list[str]) -> Given:
    """Return the parameters with which a command is called, without running it."""
    found: list[Given] = []
    declared = [one.parameter for one in command.params if isinstance(one, DeclaredOption)]
    taken = takes(*declared)(found.append)
    needed = [
        word
        for one in declared
        if one.is_required and one.name != "into"
        for word in (f"--{one.name}", "x")
    ]
    click.command()(taken).main([*words, *needed], standalone_mode=False)
    return found[0]


def words_of(name: str, *values: str) -> list[str]:
    return [*values] if name.isupper() else [word for one in values for word in (f"--{name}", one)]


@pytest.mark.parametrize(("command", "option", "was"), RENAMED)
def test_an_earlier_name_means_the_same_and_names_the_new_one(
    command: click.Command, option: DeclaredOption, was: str
) -> None:
    parameter = option.parameter
    now = given_by(command, words_of(parameter.name, "a place"))
    with pytest.warns(FutureWarning, match=rf"{was} is now .*{option.opts[0]}\."):
        before = given_by(command, words_of(was, "a place"))
    assert before.text(parameter) == now.text(parameter) == "a place"
    with pytest.raises(click.UsageError, match="mean the same"):
        given_by(command, [*words_of(was, "a"), *words_of(parameter.name, "b")])
    shown = CliRunner().invoke(command, ["--help"]).stdout
    assert f"--{was.lower()} " not in shown
    assert f"--{parameter.name} " in shown


MADE: Mapping[str, tuple[Parameter[Any], list[str], tuple[str, ...]]] = {
    "text": (Parameter("new", "", TEXT, was=("old",)), ["--old", "a"], ("a",)),
    "second": (Parameter("new", "", TEXT, was=("older", "old")), ["--old=a"], ("a",)),
    "list": (
        Parameter("new", "", TEXT, is_list=True, was=("old",)),
        ["--old", "a", "--old", "b"],
        ("a", "b"),
    ),
    "switch": (Parameter("new", "", SWITCH, default="false", was=("old",)), ["--old"], ("true",)),
    "number": (Parameter("new", "", whole_number(9), was=("old",)), ["--old", "7"], ("7",)),
    "required": (
        Parameter("new", "", PATH, is_required=True, was=("FILE",)),
        ["a b"],
        ("a b",),
    ),
    "argument with a dash": (
        Parameter("new", "", PATH, is_required=True, was=("FILE",)),
        ["--", "-a"],
        ("-a",),
    ),
    "empty": (Parameter("new", "", TEXT, was=("old",)), ["--old", ""], ("",)),
}


def run_with(parameter: Parameter[Any], words: list[str]) -> tuple[Result, list[Given]]:
    found: list[Given] = []
    command = click.command()(takes(parameter)(found.append))
    return CliRunner().invoke(command, words), found


@pytest.mark.parametrize(("parameter", "words", "texts"), MADE.values(), ids=MADE)
def test_every_form_of_a_parameter_has_its_earlier_name(
    parameter: Parameter[Any], words: list[str], texts: tuple[str, ...]
) -> None:
    with pytest.warns(FutureWarning, match="is now --new"):
        done, (given,) = run_with(parameter, words)
    assert done.exit_code == 0, done.output
    assert tuple(given.found(parameter)[1]) == texts


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param([], "Missing option '--new'", id="missing"),
        pytest.param(["--new", "a", "b"], "mean the same: give --new only", id="both"),
        pytest.param(["--old", "a", "--new", "b"], "mean the same: give --new only", id="two"),
        pytest.param(["--old", "a", "b"], "mean the same: give --new only", id="both earlier"),
        pytest.param(["--old"], "requires an argument", id="without its value"),
    ],
)
def test_wrong_calls_name_only_the_new_name(words: list[str], message: str) -> None:
    parameter = Parameter("new", "", PATH, is_required=True, was=("old", "FILE"))
    done, found = run_with(parameter, words)
    assert (done.exit_code, found) == (2, [])
    assert message in done.stderr


def test_a_value_that_is_not_allowed_names_the_option_that_was_given() -> None:
    parameter = Parameter("new", "", whole_number(9), was=("old",))
    with pytest.raises(BadParameterError) as refused, pytest.warns(FutureWarning):
        parameter.optional(sort_out([("old", "x")], (parameter,)))
    assert refused.value.name == "old"


def test_the_service_and_python_read_the_earlier_name() -> None:
    parameter: Parameter[Any] = Parameter("new", "", TEXT, also=("other",), was=("old",))
    with pytest.warns(FutureWarning, match="old is now new"):
        assert parameter.optional(sort_out([("old", "a")], (parameter,))) == "a"
    with pytest.raises(BadParameterError, match="mean the same"), pytest.warns(FutureWarning):
        sort_out([("old", "a"), ("new", "b")], (parameter,))
    with pytest.raises(BadParameterError) as refused:
        sort_out([("x", "a")], (parameter,))
    assert refused.value.allowed == "one of the parameters new, other"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parameter.optional(sort_out([("other", "a")], (parameter,))) == "a"


def test_a_stream_in_a_file_is_whole_or_missing(demos: Demos, tmp_path: Path) -> None:
    store, file = str(demos.store()), tmp_path / "stream.jsonl"
    printed = CliRunner().invoke(group, ["stream", "--store", store]).stdout_bytes
    done = CliRunner().invoke(group, ["stream", "--store", store, "--into", str(file)])
    assert (done.exit_code, done.stdout, file.read_bytes()) == (0, "", printed)
    call = ["stream", "--store", store, "--after", "x", "--into", str(file)]
    assert CliRunner().invoke(group, call).exit_code
    assert file.read_bytes() == printed
    assert [path.name for path in tmp_path.iterdir()] == ["stream.jsonl"]


def test_pointers_have_their_format(demos: Demos, tmp_path: Path) -> None:
    call = ["stream", "--store", str(demos.store())]
    now = [*call, "--format", "pointers", "--into", str(tmp_path / "now")]
    assert CliRunner().invoke(group, now).exit_code == 0
    with pytest.warns(FutureWarning, match="--pointers is now --format pointers --into"):
        done = CliRunner().invoke(group, [*call, "--pointers", str(tmp_path / "before")])
    assert done.exit_code == 0
    files = {path.name: path.read_bytes() for path in (tmp_path / "now").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "before").iterdir()}
    assert any(files.values())
    refused = CliRunner().invoke(group, [*call, "--format", "pointers"])
    assert "--into must name a folder" in str(refused.exception)
