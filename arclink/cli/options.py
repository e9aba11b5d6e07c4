"""Options made from declared parameters, those that several commands share, and their output.

A command lists its parameters with `takes` and gets the values of the caller as one `Given`, like a
view of the service. So a parameter has the same name, values, default and help wherever it is used.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from arclink.access.declarations import ARCHIVES as ARCHIVES
from arclink.access.declarations import STORE as STORE
from arclink.access.declarations import (
    SUBSET,
    TEXT,
    AnyParameter,
    Form,
    Given,
    Parameter,
    warn_renamed,
)
from arclink.access.replay import ReplayPrefix, parse_replay
from arclink.cli.interrupts import ended_like_interrupts
from arclink.errors import UsageError, hide_credentials
from arclink.store.location import open_store
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.analysis.relations.database import ShownRelations
    from arclink.operations.operation import Operation, Result, Say


Decorated = TypeVar("Decorated", bound=Callable[..., object])

_PATHS = ("path", "file", "folder", "lines")
_NOT_GIVEN = (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)


class _LinesType(click.types.StringParamType):
    """A text option whose environment variable has one value per line: a path may have blanks."""

    envvar_list_splitter = "\n"


class _NameType(click.types.StringParamType):
    """An argument that is one of some names; a call without it lists them."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """Return the names, for the error."""
        return f"It is one of these; --help explains them: {', '.join(self._names)}"


class DeclaredOption(click.Option):
    """An option made from a parameter.

    Attributes:
        parameter: Its declaration.
    """

    def __init__(self, names: Sequence[str], *, parameter: AnyParameter) -> None:
        self.parameter = parameter
        is_switch = parameter.form.schema.get("type") == "boolean"
        default: Any = parameter.default == "true" if is_switch else parameter.default
        # For click, a default of None is a value: such an option would not be required.
        has_default = parameter.default is not None
        shown: dict[str, Any] = {"default": [default] if parameter.is_list else default}
        super().__init__(
            names,
            type=None if is_switch else _type_of(parameter),
            is_flag=is_switch or None,
            required=parameter.is_required,
            multiple=parameter.is_list,
            metavar=None if is_switch else parameter.metavar or None,
            show_default=parameter.otherwise or (has_default and default is not False),
            envvar=parameter.envvar or None,
            show_envvar=bool(parameter.envvar),
            help=_help_of(parameter),
            **(shown if has_default else {}),
        )

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # Any: private in click
        """Let the command line be read; earlier names are read, too, and shown nowhere."""
        super().add_to_parser(parser, ctx)
        for name in self.parameter.was:
            if name.isupper():
                parser.add_argument(self, name, nargs=1)
                continue
            action = "append" if self.multiple else "store"
            if self.is_flag:
                parser.add_option(self, [f"--{name}"], name, f"{action}_const", const=True)
            else:
                parser.add_option(self, [f"--{name}"], name, action, nargs=self.nargs)

    def consume_value(
        self, ctx: click.Context, opts: Mapping[str, Any]
    ) -> tuple[Any, ParameterSource]:
        """Return the value on the command line or elsewhere; warn of an earlier name."""
        # What click has for a missing argument differs between its versions.
        used = [one for one in self.parameter.was if isinstance(opts.get(one), str | list | bool)]
        new = self.opts[0]
        for name in used:
            earlier = f"the argument {name}" if name.isupper() else f"--{name}"
            if self.name in opts or len(used) > 1:
                raise click.UsageError(f"{earlier} and {new} mean the same: give {new} only", ctx)
            if not ctx.resilient_parsing:
                warn_renamed(earlier, self.parameter.instead or new)
            ctx.meta[f"{__name__}.{self.name}"] = name
            return opts[name], ParameterSource.COMMANDLINE
        return super().consume_value(ctx, opts)


def takes(*parameters: AnyParameter) -> Callable[[Callable[[Given], None]], Callable[..., None]]:
    """Return the decorator of a command that takes these parameters, in the order of its help.

    The command is called with a `Given` that has the parameters of the command line and of
    environment variables, without defaults: a parameter knows its own.
    """

    def decorate(function: Callable[[Given], None]) -> Callable[..., None]:
        @wraps(function)
        def command(**values: object) -> None:
            function(_given_of(parameters, values))

        for parameter in reversed(parameters):
            command = declared(parameter)(command)
        return command

    return decorate


def declared(parameter: AnyParameter) -> Callable[[Decorated], Decorated]:
    """Return the decorator that adds the option or the argument of one parameter to a command."""
    if parameter.is_positional:
        return click.argument(
            _identifier(parameter),
            nargs=-1 if parameter.is_list else 1,
            required=parameter.is_required,
            metavar=parameter.metavar or None,
            type=_type_of(parameter),
        )

    return click.option(
        _identifier(parameter), *_option_names(parameter), cls=DeclaredOption, parameter=parameter
    )


def _given_of(parameters: Iterable[AnyParameter], values: Mapping[str, object]) -> Given:
    """Return the parameters that the caller of the current command gave.

    Args:
        parameters: The parameters of the command.
        values: The values that click read, by identifier.
    """
    context = click.get_current_context()
    texts = {}
    for parameter in parameters:
        identifier = _identifier(parameter)
        value = values[identifier]
        if value is not None and context.get_parameter_source(identifier) not in _NOT_GIVEN:
            several = value if isinstance(value, tuple) else (value,)
            name = context.meta.get(f"{__name__}.{identifier}", parameter.name)
            texts[name] = tuple(_text(one, parameter) for one in several)
    return Given(texts)


def _option_names(parameter: AnyParameter) -> list[str]:
    """Return the names of the option, with dashes; a switch that is not off by default has two.

    >>> from arclink.access.queries import KINDS, MATCH_TYPE
    >>> _option_names(MATCH_TYPE), _option_names(KINDS)
    (['--match-type'], ['--kinds', '--kind'])
    """
    if parameter.is_switch and parameter.default != "false":
        return [f"{name}/--no-{name[2:]}" for name in parameter.options]
    return parameter.options


def _help_of(parameter: AnyParameter) -> str:
    """Return the help text of an option: purpose, allowed values, and where to read more."""
    parts = [parameter.about]
    is_shown = isinstance(
        _type_of(parameter),
        click.Choice | click.IntRange | click.types.FloatParamType | click.types.BoolParamType,
    )
    if parameter.form.allowed and not is_shown:
        parts.append(f"Expected: {parameter.form.allowed}.")
    if parameter.is_list:
        parts.append("Several with commas." if parameter.has_commas else "May be given again.")
    if parameter.see:
        parts.append(f"See docs/{parameter.see.partition('#')[0]}.")
    return " ".join(parts)


def _type_of(parameter: AnyParameter) -> click.ParamType[object]:
    """Return the type with which click checks and completes the values of a parameter."""
    schema = parameter.form.schema
    match schema:
        case {"type": "boolean"}:
            return click.BOOL
        case {"type": "integer"}:
            return click.IntRange(_bound(schema, "minimum"), _bound(schema, "maximum"))
        case {"type": "number"}:
            is_open = "exclusiveMinimum" in schema
            least = _bound(schema, "exclusiveMinimum" if is_open else "minimum")
            most = _bound(schema, "maximum")
            if least is None and most is None:
                return click.FLOAT
            return click.FloatRange(least, most, min_open=is_open)
        case {"enum": list(names)} if not parameter.metavar:
            return click.Choice(names)
        case {"enum": list(names)} if parameter.is_positional:
            return _NameType(names)
        case {"format": "path"}:
            return click.Path()
        case {"format": "file"}:
            return click.Path(dir_okay=False)
        case {"format": "folder"}:
            return click.Path(file_okay=False)
        case {"format": "lines"}:
            return _LinesType()
    return click.STRING


def _identifier(parameter: AnyParameter) -> str:
    return parameter.name.replace("-", "_")


def _bound(schema: Mapping[str, Any], name: str) -> Any:  # Any: JSON Schema has no types
    return schema.get(name)


def _text(value: object, parameter: AnyParameter) -> str:
    """Return a value as text.

    Raises:
        UsageError: It has bytes that are not UTF-8, and is not a path.
    """
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if parameter.form.schema.get("format") not in _PATHS and not _is_unicode(text):
        name = parameter.metavar if parameter.is_positional else _option_names(parameter)[0]
        shown = os.fsencode(text).decode("utf-8", "backslashreplace")
        raise UsageError(f"{name}: '{shown}' is not UTF-8 text")
    return text


def _is_unicode(text: str) -> bool:
    """Return whether a text has no bytes that Python could not decode (PEP 383)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_BINARY = b"PAR1"
"""How an answer begins that no terminal can show."""


def write_answer(
    pieces: Iterable[bytes],
    into: str | None = None,
    metadata: Callable[[str], bytes] | None = None,
) -> None:
    """Write the pieces of an answer to a file, completely or not at all, or to standard output.

    Standard output has each piece as soon as it is made.

    Args:
        pieces: The pieces.
        into: The file; None for standard output.
        metadata: Returns the metadata of a CSV file, which is written next to it, from its address.

    Raises:
        UsageError: Standard output is a terminal, which cannot show this format.
        OperatorError: The file cannot be written.
    """
    if into is not None:
        from arclink.files.atomic import open_whole, written_whole

        path = Path(into)
        from arclink.access.formats.rows import address_of, next_to, remove_metadata

        if metadata is None or (path.exists() and not path.is_file()):
            with open_whole(path) as place, place.open("wb") as stream:
                stream.writelines(pieces)
            remove_metadata(path)
            return
        with written_whole([path, next_to(path)]) as (place, next_file):
            with place.open("wb") as stream:
                stream.writelines(pieces)
            next_file.write_bytes(metadata(address_of(path)))
        return
    for piece in pieces:
        if piece.startswith(_BINARY) and sys.stdout.isatty():
            raise UsageError("--format parquet: a terminal cannot show it; add > FILE")
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


store_option = declared(STORE)

GRAPH: tuple[AnyParameter, ...] = (STORE, SUBSET)
"""The parameters of commands that read a store, or a subset of it."""


def open_requested_graph(given: Given) -> Scans:
    """Return the store that the options of `GRAPH` name, or the subset of it.

    Raises:
        UsageError: There is no such subset, or the selection cannot be read.
        StoreError: The store is missing or cannot be used.
    """
    where, subset = STORE.required(given), SUBSET.optional(given)
    if not subset:  # nearly always, and then nothing of subsets is imported
        return open_store(where)
    from arclink.captures.subsets.catalog import open_graph

    return open_graph(where, subset)


@contextmanager
def requested_tables(
    given: Given, graph: Scans, *, with_texts: bool = False
) -> Iterator["ShownRelations"]:
    """Yield the relations of a store or subset that was opened for the options of `GRAPH`.

    They are made if they do not show its present state. ``with_texts`` is whether texts and words
    are wanted, too.

    Raises:
        UsageError: A package is not installed.
        StoreError: The store cannot be read.
        OperatorError: The relations cannot be written.
    """
    from arclink.extras import analysis_extra

    with analysis_extra():
        from arclink.analysis.relations.database import ShownRelations
    where = STORE.required(given)
    with ShownRelations(where, graph, with_texts=with_texts) as relations:
        yield relations


def say(note: str) -> None:
    """Show a note of an operation, on standard error."""
    click.echo(hide_credentials(note), err=True)


def perform(operation: "Operation[Result]", given: Given, say: "Say" = say) -> "Result":
    """Run an operation for a command; a SIGTERM then removes its files and jobs on an engine."""
    from arclink.operations.engine import uses_engine  # not for commands that only answer

    with ended_like_interrupts(uses_engine(given)):
        return operation.run(given, say)


def replay_prefix(name: str) -> Form[ReplayPrefix]:
    """Return the form of a URL that mementos or pages have below it; errors name the option."""
    return Form("", {"type": "string"}, lambda text: parse_replay(f"--{name}", text))


REPLAY = Parameter(
    "replay",
    "Address of a replay system up to TIMESTAMP/URI, such as https://web.archive.org/web/. "
    "Answers then include the replay address (URI-M) of each memento.",
    replay_prefix("replay"),
    metavar="PREFIX",
    envvar="ARCLINK_REPLAY",
)

INSTANCE = Parameter(
    "instance",
    "A service that answers link queries, with a name for its archive; a URL with {uri}, if its "
    "queries have another path than those of ArcLink; or a file with an answer (RDF/XML).",
    TEXT,
    is_required=True,
    is_list=True,
    metavar="[NAME=]URL|FILE",
    envvar="ARCLINK_INSTANCES",
    keeps_empty=True,
)
