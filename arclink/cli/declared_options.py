"""Options and arguments of commands, made from declared parameters.

A command lists its parameters with `takes` and gets the values of the caller as one `Given`, like a
view of the service. So a parameter has the same name, values, default and help wherever it is used.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from arclink.access.declarations import AnyParameter, Given
from arclink.errors import UsageError

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
            texts[parameter.name] = tuple(_text(one, parameter) for one in several)
    return Given(texts)


def words_of(given: Given, parameters: Iterable[AnyParameter]) -> list[str]:
    """Return the words of a command line that gives these parameters again.

    Args:
        given: What the caller gave.
        parameters: Those to repeat, in the order of the words.
    """
    words: list[str] = []
    for parameter in parameters:
        name, texts = given.found(parameter)
        if parameter.is_positional:
            words += texts
        elif parameter.form.schema.get("type") == "boolean":
            words += [f"--{name}" for text in texts if text == "true"]
        else:
            words += [word for text in texts for word in (f"--{name}", text)]
    return words


def _option_names(parameter: AnyParameter) -> list[str]:
    """Return the names of the option, with dashes; a switch that is not off by default has two.

    >>> from arclink.access.queries import KINDS, MATCH_TYPE
    >>> _option_names(MATCH_TYPE), _option_names(KINDS)
    (['--match-type'], ['--kinds', '--kind'])
    """
    names = [
        "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
        for name in parameter.names
    ]
    if parameter.form.schema.get("type") == "boolean" and parameter.default != "false":
        return [f"--{name}/--no-{name}" for name in names]
    return [f"--{name}" for name in names]


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
