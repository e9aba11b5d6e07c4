"""Functions of Python made from the declarations of capabilities: signature, help and call."""

import re
from collections.abc import Callable
from functools import cache
from inspect import Parameter as Argument
from inspect import Signature
from keyword import iskeyword
from textwrap import fill
from typing import Any

from arclink.access.capabilities import Capability, capability
from arclink.access.declarations import AnyParameter
from arclink.access.parameters import ROW_LIMIT
from arclink.access.queries import CURSOR


class Annotation(str):
    """A type in words, which `inspect` shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


_TYPES = {"boolean": "bool", "integer": "int", "number": "float"}
_WIDTH = 88
_ERRORS = """Raises:
    BadParameterError: A value is not allowed.
    StoreError: The store cannot be read."""


def keyword(name: str) -> str:
    """Return the keyword of a parameter.

    >>> keyword("from"), keyword("min-count"), keyword("matchType")
    ('from_', 'min_count', 'match_type')
    """
    written = re.sub("([A-Z])", r"_\1", name).lower().replace("-", "_")
    return f"{written}_" if iskeyword(written) else written


def type_of(parameter: AnyParameter) -> str:
    """Return the Python type of the values of a parameter, as it is written in a signature."""
    schema = parameter.form.schema
    names = schema.get("enum")
    if parameter.metavar == "TIME":
        name = "Time"
    elif schema.get("format") in ("path", "file", "folder"):
        name = "Place"
    elif isinstance(names, list):
        name = f"Literal[{', '.join(map(repr, names))}]"
    else:
        name = _TYPES.get(str(schema.get("type")), "str")
    return f"{name} | Sequence[{name}]" if parameter.is_list else name


def signature_of(one: Capability[Any]) -> Signature:
    """Return the signature of the method of a capability, whose types are texts."""
    arguments = [Argument("self", Argument.POSITIONAL_OR_KEYWORD)]
    asked = [parameter for parameter in one.query.DECLARED if parameter != CURSOR]
    for parameter in sorted(asked, key=lambda each: not each.is_required):
        default = Argument.empty if parameter.is_required else _default_of(parameter)
        of_none = " | None" if default is None else ""
        arguments.append(
            Argument(
                keyword(parameter.name),
                Argument.POSITIONAL_OR_KEYWORD if parameter.is_required else Argument.KEYWORD_ONLY,
                default=default,
                annotation=Annotation(type_of(parameter) + of_none),
            )
        )
    return Signature(arguments, return_annotation=Annotation("RowResult"))


def _default_of(parameter: AnyParameter) -> object:
    if parameter == ROW_LIMIT:
        return 0
    if parameter.default is None:
        return None
    value = parameter.form.read(parameter.default)
    return value if isinstance(value, bool | int | float) else parameter.default


def help_of(one: Capability[Any]) -> str:
    """Return the docstring of the method of a capability."""
    arguments = [
        fill(
            f"{keyword(parameter.name)}: {parameter.about}"
            + (f" Expected: {parameter.form.allowed}." if parameter.form.allowed else "")
            + (f" By default: {parameter.otherwise}." if parameter.otherwise else ""),
            _WIDTH,
            initial_indent="    ",
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for parameter in one.query.DECLARED
        if parameter != CURSOR
    ]
    return "\n".join((one.asks, "", "Args:", *arguments, "", _ERRORS))


@cache
def method_of(name: str) -> Callable[..., Any]:
    """Return the method of a capability."""
    one = capability(name)
    signature = signature_of(one)

    def method(self: Any, /, *values: object, **keywords: object) -> Any:
        try:
            given = signature.bind(self, *values, **keywords).arguments
        except TypeError as error:
            raise TypeError(f"{name}(): {error}; see help(graph.{name})") from None
        del given["self"]
        defaults = {"limit": 0} if ROW_LIMIT in one.query.DECLARED else {}
        return self._answer(one, {**defaults, **given})

    method.__name__, method.__qualname__ = name, f"LinkGraph.{name}"
    method.__doc__ = help_of(one)
    method.__signature__ = signature  # type: ignore[attr-defined]  # `inspect` reads it
    return method
