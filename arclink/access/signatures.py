"""Functions of Python made from declared parameters: signature, help, call and errors."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache, wraps
from inspect import Parameter as Argument
from inspect import Signature, cleandoc, signature
from keyword import iskeyword
from numbers import Number
from os import PathLike
from textwrap import fill
from typing import Any, TypeVar

from arclink.access.capabilities import capability
from arclink.access.declarations import AnyParameter, BadParameterError
from arclink.access.queries import CURSOR
from arclink.errors import ArclinkError, UsageError

Function = TypeVar("Function", bound=Callable[..., Any])

Time = str | date | datetime
"""A time: 1 to 14 digits, ISO 8601, or a Python date or datetime; without a time zone it is UTC."""

Place = str | PathLike[str]
"""A path, or a URL in its place."""

_VALUES = (str, PathLike, Number, date, type(None))
"""Types of one value."""

_OF_PYTHON = {"limit": 0, "quiet": True}
"""Defaults that only Python has: an answer is complete, and nothing is printed."""

_TYPES = {"boolean": "bool", "integer": "int", "number": "float"}
_WIDTH = 88


class Annotation(str):
    """A type in words, which `inspect` shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


class KeywordError(BadParameterError, TypeError):
    """A function has no such keyword."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        super().__init__(name, "", f"one of {', '.join(names)}")
        meant = get_close_matches(name, names, 1, 0.65)
        self.args = (
            f"{name}: there is no such keyword{f'; did you mean {meant[0]}?' if meant else '.'} "
            f"Keywords: {', '.join(names)}",
        )


def keyword(name: str) -> str:
    """Return the keyword of a parameter.

    >>> keyword("from"), keyword("min-count"), keyword("matchType")
    ('from_', 'min_count', 'match_type')
    """
    written = re.sub("([A-Z])", r"_\1", name).lower().replace("-", "_")
    return f"{written}_" if iskeyword(written) else written


def pairs(
    given: Mapping[str, object], declared: Sequence[AnyParameter]
) -> Iterator[tuple[str, str]]:
    """Yield keywords as names and texts of parameters; those without a value are left out.

    Raises:
        UsageError: A value has another type than any parameter, or is an empty text in a list.
    """
    names = {keyword(name): name for one in declared for name in one.names}
    for name, value in given.items():
        values = value if isinstance(value, list | tuple | set | frozenset) else [value]
        for one in values:
            if not isinstance(one, _VALUES) or (one == "" and values is value):
                raise UsageError(
                    f"{name}: {one!r} is not a value; expected text, a path, a number, a time, "
                    "True or False, or where several are allowed a list of these"
                )
            if one not in ("", None):
                yield names[name], text_of(one)


def text_of(value: object) -> str:
    """Return a value as the text of a parameter.

    >>> text_of(date(2010, 2, 12)), text_of(True)
    ('2010-02-12', 'true')
    """
    if isinstance(value, date):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def in_python(text: str, declared: Sequence[AnyParameter]) -> str:
    """Return a text for users with keywords in place of options; command lines stay.

    >>> from arclink.access.common import LIMIT
    >>> in_python("Use --limit 0, or --no-limit: arclink links a.example --limit 0", [LIMIT])
    'Use limit 0, or limit=False: arclink links a.example --limit 0'
    """
    words = {}
    for one in declared:
        name = keyword(one.name)
        words[f"--{one.name}"] = f"{name}=True" if one.is_switch else name
        words[f"--no-{one.name}"] = f"{name}=False"
        words[one.name] = name
    return re.sub(
        r"arclink [a-z]+ [^`\n]*|--[a-z][a-z-]*|^[a-z][\w-]*(?=[: ])|(?<= )[a-z][\w-]*(?==)",
        lambda found: words.get(found[0], found[0]),
        text,
    )


@contextmanager
def in_words_of_python(*declared: AnyParameter) -> Iterator[None]:
    """Name parameters in errors as keywords of Python: ``from_``, ``min_count``, ``match_type``.

    Raises:
        ArclinkError: Such an error was raised.
    """
    try:
        yield
    except ArclinkError as error:
        error.args = (in_python(str(error), declared), *error.args[1:])
        raise


def takes(
    *declared: AnyParameter, but: Sequence[AnyParameter] = ()
) -> Callable[[Function], Function]:
    """Return the decorator of a function whose keywords are declared parameters.

    Arguments that the function names stay where they are; it gets the others by its ``**``. Other
    names of a parameter are read, too, and shown nowhere. Errors have the words of Python.

    Args:
        *declared: The parameters.
        but: Those of them that Python does not have.
    """
    named = {keyword(one.name): one for one in declared if one not in but}
    also = {keyword(name) for one in named.values() for name in one.names}

    def decorate(function: Function) -> Function:
        of_function = signature(function)
        own = {name: _typed(one, named) for name, one in of_function.parameters.items()}
        *_, rest = own
        del own[rest]
        further = [
            Argument(name, Argument.KEYWORD_ONLY, default=_default_of(one), annotation=_type(one))
            for name, one in named.items()
            if name not in own
        ]
        returned = Annotation(of_function.return_annotation)
        made = Signature([*own.values(), *further], return_annotation=returned)
        defaults = {name: _OF_PYTHON[name] for name in _OF_PYTHON if name in named}

        @wraps(function)
        def call(*values: Any, **keywords: Any) -> Any:
            for name in keywords:
                if name not in own and name not in also:
                    raise KeywordError(name, [one for one in made.parameters if one != "self"])
            try:
                bound = of_function.bind(*values, **{**defaults, **keywords})
            except TypeError as error:
                why = f"{call.__name__}(): {error}; see help({call.__qualname__})"
                raise TypeError(why) from None
            with in_words_of_python(*declared):
                return function(*bound.args, **bound.kwargs)

        call.__name__ = function.__name__.removeprefix("_")
        call.__qualname__ = call.__qualname__.replace(function.__name__, call.__name__)
        call.__doc__ = _documented(cleandoc(function.__doc__ or ""), named, declared)
        vars(call).update(__signature__=made, declared=named)
        return call  # type: ignore[return-value]  # the same function to a type checker

    return decorate


def _typed(argument: Argument, named: Mapping[str, AnyParameter]) -> Argument:
    """Return an argument that a function names, with the type of its parameter."""
    one = named.get(argument.name)
    if one is None or argument.kind is Argument.VAR_POSITIONAL:
        has_type = argument.annotation is not Argument.empty
        return (
            argument.replace(annotation=Annotation(argument.annotation)) if has_type else argument
        )
    return argument.replace(annotation=_type(one, argument.default))


def _type(parameter: AnyParameter, default: object = "") -> Annotation:
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
    of_list = f" | Sequence[{name}]" if parameter.is_list else ""
    is_optional = default is None or (default == "" and _default_of(parameter) is None)
    return Annotation(f"{name}{of_list}{' | None' if is_optional else ''}")


def _default_of(parameter: AnyParameter) -> object:
    if parameter.name in _OF_PYTHON:
        return _OF_PYTHON[parameter.name]
    if parameter.is_required:
        return Argument.empty
    if parameter.default is None or parameter.form.schema.get("type") == "string":
        return parameter.default
    return parameter.form.read(parameter.default)


def _documented(
    about: str, named: Mapping[str, AnyParameter], declared: Sequence[AnyParameter]
) -> str:
    """Return a docstring that also describes these keywords."""
    text, raises, errors = about.partition("\n\nRaises:")
    before, _, own = text.partition("\n\nArgs:\n")
    lines = [
        fill(
            f"{name}: {in_python(one.about, declared)}"
            + (f" Expected: {one.form.allowed}." if one.form.allowed and not one.is_switch else "")
            + (f" By default: {one.otherwise}." if one.otherwise else ""),
            _WIDTH,
            initial_indent="    ",
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, one in named.items()
        if f"    {name}: " not in own
    ]
    return "\n".join([f"{before}\n\nArgs:", *([own] if own else []), *lines]) + raises + errors


@cache
def method_of(name: str) -> Callable[..., Any]:
    """Return the method of a capability."""
    one = capability(name)
    required = [keyword(each.name) for each in one.query.DECLARED if each.is_required]
    may_be_missing = {keyword(each.name) for each in one.declared if not each.is_required}

    def method(self: Any, /, *values: object, **given: object) -> Any:
        return self._answer(one, {**dict(zip(required, values, strict=False)), **given})

    method.__name__, method.__qualname__ = name, f"LinkGraph.{name}"
    method.__doc__ = (
        f"{one.asks}\n\nRaises:\n    BadParameterError: A value is not allowed.\n"
        "    StoreError: The store cannot be read."
    )
    named = [
        Argument(
            each,
            Argument.POSITIONAL_OR_KEYWORD,
            default=None if each in may_be_missing else Argument.empty,
        )
        for each in ("self", *required)
    ]
    own = Signature(
        [*named, Argument("given", Argument.VAR_KEYWORD)], return_annotation="RowResult"
    )
    vars(method)["__signature__"] = own
    return takes(*one.declared, but=(CURSOR,))(method)
