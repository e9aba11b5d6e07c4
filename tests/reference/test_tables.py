"""The reference tables of the documentation are those of the declarations in the code."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from arclink.cli.options import DeclaredOption
from tests.reference import tables

PAGES = {path.relative_to(tables.DOCS).as_posix(): path for path in tables.pages()}


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_up_to_date(page: str) -> None:
    """Run `make docs` after a change of a declaration."""
    text = PAGES[page].read_text("utf-8")
    assert tables.rewritten(text, PAGES[page].parent.name) == text


def test_a_changed_table_is_seen() -> None:
    text = PAGES["reference/commands.md"].read_text("utf-8")
    assert tables.rewritten(text.replace("The link graph: a file", "The link shop: a file")) == text


def test_an_unknown_table_is_an_error() -> None:
    with pytest.raises(KeyError, match="weather"):
        tables.rewritten("<!-- table: weather -->\n<!-- end -->")


def test_every_command_has_a_table() -> None:
    text = PAGES["reference/commands.md"].read_text("utf-8")
    has_options = {name for name, command in tables.commands() if tables.options_of(command)}
    assert {
        name for name in has_options if f"table: options of arclink {name} -->" in text
    } == has_options


def test_every_option_is_made_from_a_declaration() -> None:
    """No command writes out an option by hand."""
    by_hand = [
        f"{name} {option.opts[0]}"
        for name, command in tables.commands()
        for option in command.params
        if isinstance(option, click.Option) and not isinstance(option, DeclaredOption)
    ]
    assert by_hand == []


ADDED = """
from arclink.access import declarations as common
from arclink.access.declarations import TEXT, Parameter

PROBE = Parameter("probe-tone", "The tone of the probe.", TEXT, metavar="TONE")
common.COMMON += (PROBE,)
common.COMMON_TO_FOLLOW += (PROBE,)

from arclink.service.openapi import RESOURCES, describe
from tests.reference import tables

for name, command in tables.commands():
    help = command.get_help(tables.click.Context(command))
    table = tables.options_table(command)
    if "--kinds" in help:
        print(name, "--probe-tone TONE" in help, "`--probe-tone TONE`" in table)
for resource in RESOURCES:
    if "kinds" in [parameter.name for parameter in resource.parameters]:
        described = describe("")["paths"][resource.path]["get"]["parameters"]
        print(resource.path, "probe-tone" in [one["name"] for one in described])
print("table", "`probe-tone`" in tables.parameters_table())
declared = [tables.method_of(name) for name in tables.CAPABILITIES if name != "count"]
declared += [vars(tables.LinkGraph)[name] for name in ("ask", "inlinks", "to_pandas", "export")]
print("keyword", all("probe_tone" in one.declared for one in declared))
"""


def test_a_parameter_added_to_the_common_ones_reaches_every_verb() -> None:
    """One line in `COMMON`: in each command, each resource and each table."""
    done = subprocess.run(
        [sys.executable, "-c", ADDED],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    commands = ("links", "anchors", "diff", "ask", "aggregate", "export")
    analyses = ("properties", "pagerank", "path")
    expected = {f"{name} True True" for name in commands}
    expected |= {f"analyze {name} True True" for name in analyses}
    paths = (
        "/linkQuery",
        "/LinkService/linkQuery",
        "/anchors",
        "/diff",
        "/ask/{question}",
        "/path",
        "/pagerank",
        "/properties",
        "/aggregate",
        "/aggregate/ask/{question}",
    )
    expected |= {f"{path} True" for path in paths} | {"table True", "keyword True"}
    assert set(done.stdout.splitlines()) == expected


@pytest.mark.parametrize("path", tables.STUBS, ids=lambda path: path.stem)
def test_stubs_are_up_to_date(path: Path) -> None:
    """Run `make docs` after a change of a capability or an operation."""
    assert path.read_text("utf-8") == tables.STUBS[path]()
