"""Reference tables of the documentation, made from the declarations of parameters and settings.

A page has a table between two markers::

    <!-- table: options of arclink links -->
    …
    <!-- end -->

Declarations name pages by their path below ``docs``; a table links them from the folder of its
page.

``python -m tests.reference.tables`` (``make docs``) writes all of them; a test compares them.
"""

import ast
import inspect
import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from pathlib import Path, PurePosixPath
from textwrap import indent
from types import ModuleType

import click

import arclink
from arclink import linkgraph
from arclink.access import capabilities as signatures
from arclink.access import capture_fields, methods
from arclink.access.capabilities import capability, method_of
from arclink.access.capture_fields import CaptureField, CaptureForm
from arclink.access.declarations import AnyParameter, attributes_of, default_of
from arclink.access.methods import Methods
from arclink.access.reader import Budget
from arclink.analysis.charts import results
from arclink.analysis.questions.table import COLUMNS as ANSWERED
from arclink.analysis.questions.table import QUESTIONS
from arclink.analysis.relations.columns import CAPTURES, LINKS, TEXTS, WORDS, Column
from arclink.captures.subsets.fields import FIELDS
from arclink.cli.doors import IN_PYTHON, NOT_IN_PYTHON, NOT_OVER_HTTP, OVER_HTTP
from arclink.cli.main import SECTIONS, group
from arclink.cli.options import DeclaredOption
from arclink.extract.settings import ExtractSettings
from arclink.filter.rules import Rules
from arclink.linkgraph import LinkGraph
from arclink.mapreduce.job_settings import NEEDED
from arclink.mapreduce.runs import JOBS
from arclink.operations import functions
from arclink.others.federation.instances import QueryLimits
from arclink.others.wayback.client import Manners
from arclink.others.wayback.fetch import FetchSettings
from arclink.reasons import Reason
from arclink.rooms import CAPABILITIES
from arclink.service.agents.tools import LEFT_OUT, tools_of
from arclink.service.openapi import RESOURCES
from arclink.service.settings import Settings
from arclink.service.shares import Connections

DOCS = Path(__file__).resolve().parents[2] / "docs"
DECLARED_LINK = re.compile(r"\]\(([\w-]+/[\w-]+\.md)")
MARKED_TABLE = re.compile(r"(<!-- table: ([^\n]+) -->\n).*?(<!-- end -->)", re.DOTALL)

DATACLASSES: Mapping[str, type] = {
    one.__name__: one
    for one in (
        Budget,
        Connections,
        ExtractSettings,
        FetchSettings,
        QueryLimits,
        Manners,
        Rules,
        Settings,
    )
}
"""Settings that have a table: ``settings in Rules``."""

FORMS = (
    capture_fields.CDX,
    capture_fields.EXPLANATION,
    capture_fields.TIMEMAP,
    capture_fields.STREAM,
    capture_fields.TABLE,
)
"""The forms of captures that the table of their fields names."""

COLUMNS = {"captures": CAPTURES, "links": LINKS, "texts": TEXTS, "words": WORDS}

LONGEST = 6
"""Longest list of default values that a table shows."""


def rewritten(text: str, folder: str = "reference") -> str:
    """Return the text of a page with all its tables written again.

    Args:
        text: The text of the page.
        folder: The folder of the page below ``docs``.
    """

    def with_table(marked: re.Match[str]) -> str:
        made = DECLARED_LINK.sub(
            lambda link: f"]({posixpath.relpath(link[1], folder)}", table_called(marked[2])
        )
        return f"{marked[1]}\n{made}\n{marked[3]}"

    return MARKED_TABLE.sub(with_table, text)


def table_called(name: str) -> str:
    """Return the table with this name, in Markdown.

    Raises:
        KeyError: There is no such table.
    """
    what, _, of = name.partition(" ")
    match what, of:
        case "commands", "":
            return commands_table()
        case "doors", "":
            return doors_table()
        case "options", _:
            return options_table(command_called(of.removeprefix("of arclink ")))
        case "parameters", "":
            return parameters_table()
        case "fields", "of selections":
            return fields_table()
        case "fields", "of captures":
            return capture_fields_table()
        case "questions", "":
            return questions_table()
        case "columns", "of questions":
            return answers_table()
        case "questions", "of each archive":
            return apart_table()
        case "columns", _:
            name = of.removeprefix("of ")
            return columns_table(COLUMNS[name] if name in COLUMNS else _columns_of(name))
        case "variables", "":
            return variables_table()
        case "reasons", _:
            return reasons_table(of.removeprefix("in "))
        case "keywords", _:
            return keywords_table(of.removeprefix("of "))
        case "settings", "of jobs":
            return job_settings_table()
        case "settings", _:
            return settings_table(DATACLASSES[of.removeprefix("in ")])
    raise KeyError(name)


def command_called(name: str) -> click.Command:
    """Return the command with this name, such as ``analyze path``."""
    found: click.Command = group
    for word in name.split():
        assert isinstance(found, click.Group)
        command = found.get_command(click.Context(found), word)
        assert command, name
        found = command
    return found


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command that is not a group, with its full name, in the order of help."""
    for names in SECTIONS.values():
        for name in names:
            command = command_called(name)
            if isinstance(command, click.Group):
                for inner in command.list_commands(click.Context(command)):
                    yield f"{name} {inner}", command_called(f"{name} {inner}")
            else:
                yield name, command


def options_of(command: click.Command) -> list[AnyParameter]:
    """Return the declared parameters of a command that are options."""
    return [option.parameter for option in command.params if isinstance(option, DeclaredOption)]


def commands_table() -> str:
    """Return the commands, by section of the help."""
    rows = []
    for section, names in SECTIONS.items():
        for name in names:
            about = command_called(name).get_short_help_str(200)
            rows.append((section, f"[`arclink {name}`](#arclink-{name})", about))
            section = ""
    return table(("", "command", "what it does"), rows)


def doors_table() -> str:
    """Return each command with its door in Python and over HTTP and for agents, or the reason."""
    tools = {f"{one.resource.path}": one.name for one in tools_of()}
    rows = []
    for name, _ in commands():
        path = OVER_HTTP.get(name, "")
        of_http = f"`GET {path}`" if path else f"- ({NOT_OVER_HTTP[name]})"
        first = name.partition(" ")[0]
        if first in NOT_IN_PYTHON:
            of_python = f"- ({NOT_IN_PYTHON[first]})"
        else:
            last = name.rpartition(" ")[2].replace("-", "_")
            method = f"graph.{last}" if hasattr(arclink.LinkGraph, last) else f"arclink.{last}"
            named = [one.replace("LinkGraph", "graph") for one in IN_PYTHON.get(name, [method])]
            of_python = _list([f"`{one}`" for one in named])
        tool = tools.get(path) or tools.get(f"/{name}")
        of_agents = f"`{tool}`" if tool else f"- ({_why_no_tool(path)})"
        rows.append((f"`arclink {name}`", of_http, of_python, of_agents))
    return table(("command", "HTTP", "Python", "tool for agents"), rows)


def _why_no_tool(path: str) -> str:
    """Return why agents have no tool for a command, whose resource has this path."""
    if not path:
        return "as over HTTP"
    (resource,) = (one for one in RESOURCES if one.path == path)
    return LEFT_OUT.get(resource.name) or "its answers are files, not JSON"


def options_table(command: click.Command) -> str:
    """Return the options of a command."""
    rows = []
    for option in command.params:
        if not isinstance(option, DeclaredOption):
            continue
        names = [f"`{name}`" for name in (*option.opts, *option.secondary_opts)]
        word = option.parameter.metavar
        if word and not option.is_flag:
            names[0] = f"`{option.opts[0]} {escaped(word)}`"
        rows.append((", ".join(names), meaning(option.parameter), default(option.parameter)))
    return table(("option", "meaning", "default"), rows)


def job_settings_table() -> str:
    """Return the settings of all jobs that have some."""
    rows = []
    for job in JOBS.values():
        found = job.load()
        name = f"`{found.__module__.rpartition('.')[2]}`"
        for setting in found.SETTINGS:
            value = "needed" if setting.default is NEEDED else f"`{json.dumps(setting.default)}`"
            rows.append((name, f"`{setting.name}`", setting.about, value))
            name = ""
    return table(("job", "setting", "meaning", "default"), rows)


def capture_fields_table() -> str:
    """Return the fields of captures, with their names in each form."""
    rows = [
        (field.about, *(_names_in(form, field) for form in FORMS))
        for field in capture_fields.FIELDS
    ]
    return table(("meaning", *(f"`{form.name}`" for form in FORMS)), rows)


def columns_table(columns: Sequence[Column]) -> str:
    """Return the columns of a relation."""
    rows = [(f"`{one.name}`", one.kind, one.about) for one in columns]
    return table(("column", "type", "meaning"), rows)


def _columns_of(name: str) -> Sequence[Column]:
    """Return the columns of a capability whose answer has one list."""
    [columns] = capability(name).lists.values()
    return [Column(one.name, one.kind.value, one.about) for one in columns]


def questions_table() -> str:
    """Return the questions."""
    rows = [
        (
            f"`{name}`",
            one.asks,
            one.about,
            one.level.value if one.level else "-",
            one.period.name.lower() if one.period else "-",
            ", ".join(f"`{column}`" for column in one.columns),
        )
        for name, one in QUESTIONS.items()
    ]
    return table(("name", "question", "rows", "level", "by", "columns"), rows)


def answers_table() -> str:
    """Return the columns of the answers to questions."""
    rows = [(f"`{name}`", column.about, column.merge.value) for name, column in ANSWERED.items()]
    return table(("column", "meaning", "several archives have"), rows)


def apart_table() -> str:
    """Return the questions whose rows are never about several archives."""
    rows = [(f"`{name}`", one.apart) for name, one in QUESTIONS.items() if one.apart]
    return table(("name", "why"), rows)


def _names_in(form: CaptureForm, field: CaptureField) -> str:
    return " ".join(f"`{name}`" for name, one in form.fields.items() if one is field)


def fields_table() -> str:
    """Return the fields of the language of selections."""
    rows = [
        (
            " ".join(
                f"`{part}`" for part in (f"{name}:", *(f"{one}:" for one in field.qualifiers))
            ),
            field.about,
            "; ".join(
                (
                    field.expected,
                    *(f"`{one}:` {part.expected}" for one, part in field.qualifiers.items()),
                )
            ),
        )
        for name, field in FIELDS.items()
        if not field.now
    ]
    return table(("field", "selects", "values"), rows)


def parameters_table() -> str:
    """Return the parameters of the service's resources."""
    found: dict[tuple[str, str, str], tuple[AnyParameter, list[str]]] = {}
    for resource in RESOURCES:
        for parameter in resource.parameters:
            key = (parameter.name, parameter.about, default(parameter))
            paths = found.setdefault(key, (parameter, []))[1]
            if resource.path not in paths and resource.name != "LinkService":
                paths.append(resource.path)
    rows = [
        (
            ", ".join(f"`{name}`" for name in parameter.names),
            meaning(parameter),
            default(parameter),
            ", ".join(f"`{path}`" for path in paths),
        )
        for parameter, paths in found.values()
    ]
    return table(("parameter", "meaning", "default", "of"), rows)


def variables_table() -> str:
    """Return the environment variables that options read."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, command in commands():
        for parameter in options_of(command):
            if parameter.envvar:
                option = f"`--{parameter.name}`"
                found.setdefault(parameter.envvar, {}).setdefault(option, []).append(f"`{name}`")
    rows = [
        (
            f"`{variable}`",
            "; ".join(f"{option} of {_list(names)}" for option, names in uses.items()),
        )
        for variable, uses in sorted(found.items())
    ]
    return table(("variable", "replaces the option"), rows)


def keywords_table(name: str) -> str:
    """Return the keywords of a method of `LinkGraph` that are declared parameters."""
    declared: Mapping[str, AnyParameter] = vars(getattr(LinkGraph, name))["declared"]
    rows = [(f"`{one}`", meaning(parameter)) for one, parameter in declared.items()]
    return table(("keyword", "meaning"), rows)


def reasons_table(of: str) -> str:
    """Return the reasons of a group.

    Raises:
        KeyError: There is no such group.
    """
    rows = [
        (f"`{reason.name}`", escaped(reason.text), escaped(reason.meaning))
        for reason in Reason
        if reason.group == of
    ]
    if not rows:
        raise KeyError(of)
    return table(("name", "words", "meaning"), rows)


def settings_table(of: type) -> str:
    """Return the fields of a dataclass of settings."""
    said = attributes_of(of)
    rows = [
        (f"`{one.name}`", escaped(said[one.name]), shown(one.name, default_of(of, one.name)))
        for one in fields(of)
    ]
    return table(("setting", "meaning", "default"), rows)


def meaning(parameter: AnyParameter) -> str:
    """Return the meaning of a parameter, its values, and the link to the page that says more."""
    parts = [escaped(parameter.about)]
    schema = parameter.form.schema
    names = schema.get("enum")
    if isinstance(names, list) and len(names) <= 12:
        parts.append(f"One of {_list([f'`{name}`' for name in names], 'or')}.")
    elif parameter.form.allowed and schema.get("type") != "boolean":
        parts.append(f"Expected: {escaped(parameter.form.allowed)}.")
    if parameter.is_list:
        parts.append("Several with commas." if parameter.has_commas else "May be given again.")
    return " ".join(parts) + link(parameter)


def link(parameter: AnyParameter) -> str:
    """Return the link to the page that says more about a parameter, after a blank."""
    page = PurePosixPath(parameter.see.partition("#")[0]).stem
    return f" See [{page}]({parameter.see})." if page else ""


def default(parameter: AnyParameter) -> str:
    """Return the default of a parameter."""
    if parameter.is_required:
        return "required"
    if parameter.form.schema.get("type") == "boolean" and parameter.default:
        return {"true": "on", "false": "off"}[parameter.default]
    words = f"`{parameter.default}`" if parameter.default is not None else parameter.otherwise
    return escaped(words or "none")


def shown(name: str, value: object) -> str:
    """Return the default of a setting for readers."""
    match value:
        case None | "" | ():
            return "none"
        case bool():
            return "yes" if value else "no"
        case int() if name.endswith(("bytes", "payload_limit", "file_size")):
            return f"{value >> 20} MiB"
        case int() | float():
            return f"{value:,}"
        case tuple() if len(value) <= LONGEST:
            return ", ".join(f"`{one}`" for one in value)
        case tuple():
            return f"{len(value)} values"
        case Enum():
            return f"`{value.value}`"
        case str():
            return f"`{value}`"
    return f"see `{type(value).__name__}`"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines)


def escaped(text: str) -> str:
    """Return text for a cell of a table."""
    return text.replace("|", "\\|").replace("``", "`")


def _list(words: Sequence[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def pages() -> Iterator[Path]:
    """Yield the pages that have tables."""
    for path in sorted(DOCS.rglob("*.md")):
        if MARKED_TABLE.search(path.read_text("utf-8")):
            yield path


_HEAD_OF_STUB = """\
\"\"\"What ``{}`` makes from declarations, for editors and type checkers.\"\"\"

{}
"""


def stub_of_methods() -> str:
    """Return the text of the stub of the methods with declared keywords."""
    made = {name: method_of(name) for name in CAPABILITIES}
    made |= {
        name: one
        for name, one in vars(LinkGraph).items()
        if hasattr(one, "declared") and not name.startswith("_")
    }
    head = ("class Methods:", indent(f'"""{Methods.__doc__}"""', "    "))
    return _stub(methods, made, [linkgraph, results], head)


def stub_of_functions() -> str:
    """Return the text of the stub of the functions of the package."""
    named = vars(functions)
    made = {name: named[name] for name in arclink.__all__ if hasattr(named.get(name), "declared")}
    return _stub(functions, made, [functions])


def _stub(
    module: ModuleType,
    made: Mapping[str, Callable[..., object]],
    sources: Sequence[ModuleType],
    head: Sequence[str] = (),
) -> str:
    """Return the text of a stub; ``sources`` are the modules in which names of types are found."""
    lines = [*head]
    for name, one in made.items():
        about = indent(f'"""{one.__doc__}\n"""', "    ").split("\n")
        written = [*_written_out(name, inspect.signature(one)), *about]
        lines += indent("\n".join(written), "    " if head else "").split("\n")
    places: dict[str, str] = {}
    for source in sources:
        tree = ast.parse(inspect.getsource(source))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                places |= {one.name: f"from {node.module} import" for one in node.names}
            elif isinstance(node, ast.Import):
                places |= {
                    one.asname or one.name: f"import {one.name} as" if one.asname else "import"
                    for one in node.names
                }
        classes = (node.name for node in tree.body if isinstance(node, ast.ClassDef))
        places |= dict.fromkeys(classes, f"from {source.__name__} import")
    places["Time"] = places["Place"] = f"from {signatures.__name__} import"
    places["Sequence"], places["Literal"] = "from collections.abc import", "from typing import"
    types = " ".join(
        str(one)
        for each in map(inspect.signature, made.values())
        for one in (each.return_annotation, *(one.annotation for one in each.parameters.values()))
    )
    used = {*re.findall(r"\w+", types)} & {*places}
    imports = sorted(f"{places[name]} {name}" for name in used)
    return (
        "\n".join([_HEAD_OF_STUB.format(f"{module.__name__}", "\n".join(imports)), *lines]) + "\n"
    )


def _written_out(name: str, signature: inspect.Signature) -> Iterator[str]:
    """Yield the lines of the head of a function in a stub, an argument on each."""
    yield from ("", f"def {name}(")
    has_star = False
    for argument in signature.parameters.values():
        if argument.kind is argument.KEYWORD_ONLY and not has_star:
            yield "    *,"
        has_star |= argument.kind in (argument.KEYWORD_ONLY, argument.VAR_POSITIONAL)
        yield f"    {argument},"
    yield f") -> {signature.return_annotation}:"


STUBS: Mapping[Path, Callable[[], str]] = {
    Path(methods.__file__).with_suffix(".pyi"): stub_of_methods,
    Path(functions.__file__).with_suffix(".pyi"): stub_of_functions,
}
"""The stubs, and what writes them."""


if __name__ == "__main__":
    for path, write in STUBS.items():
        path.write_text(write(), "utf-8")
    for page in pages():
        page.write_text(rewritten(page.read_text("utf-8"), page.parent.name), "utf-8")
