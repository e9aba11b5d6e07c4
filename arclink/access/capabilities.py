"""What can be asked of a graph: each capability is declared once, and its doors are made from that.

A `Capability` is a query with declared parameters, a function that answers it in rows, and the
columns of these rows. From it come the command and its help (`arclink.cli.query_commands`), the
resource and its description (`arclink.service.query_resources`, `arclink.service.openapi`), the
method of `LinkGraph` (`arclink.access.methods`), and the tables of the documentation.

`arclink.rooms` says where each one is declared: so help, completion and a call of one of them
import nothing of the others. To add a capability, declare it next to its answer, name it there, and
run `make docs`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from difflib import get_close_matches
from enum import Enum
from functools import cache, wraps
from inspect import Parameter as Argument
from inspect import Signature, cleandoc, signature
from keyword import iskeyword
from numbers import Number
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from arclink.access.declarations import (
    NOTHING_GIVEN,
    SUBSET,
    AnyParameter,
    BadParameterError,
    DeclaredQuery,
    Given,
)
from arclink.access.queries import CURSOR
from arclink.access.reader import Budget
from arclink.access.replay import NO_REPLAY, ReplayPrefix
from arclink.errors import ArclinkError, UsageError
from arclink.rooms import CAPABILITIES, taken
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.access.formats.rows import RowAnswer

Query = TypeVar("Query", bound=DeclaredQuery)


def _never(_: Given) -> bool:
    """Return that no parameters ask a question."""
    return False


class ColumnKind(Enum):
    """What the values of a column are, by the name of their Arrow type."""

    TEXT = "string"
    NUMBER = "int64"
    """A count, from 0 on."""
    TIME = "timestamp"
    """14 digits, UTC; in Parquet and pandas, a time."""
    DECIMAL = "double"
    FLAG = "bool"
    TEXTS = "list"
    """A list of texts."""


class RowColumn(NamedTuple):
    """A column of an answer.

    Attributes:
        about: What its values are, as a sentence for users.
        is_always: Whether every answer has it; else only those to some parameters.
        may_be_null: Whether a row may have no value.
        values: The only values; empty if there are others.
    """

    name: str
    kind: ColumnKind
    about: str
    is_always: bool = True
    may_be_null: bool = False
    values: tuple[str, ...] = ()


class Cost(Enum):
    """What the answer to a request costs, which limits how many a service makes at a time."""

    CHEAP = "cheap"
    """No more than a look-up."""
    ORDINARY = "ordinary"
    """What a page may cost, or more if its parameters ask for more (`arclink.service.shares`)."""
    EXPENSIVE = "expensive"
    """It reads the whole store, many captures or other services."""


class ToAnswer(NamedTuple, Generic[Query]):
    """The graph, query and limits of one answer.

    Attributes:
        graph: The store, or a view of it.
        query: The query.
        budget: The most that one answer reads; None for the limits of a page.
        replay: The addresses of mementos.
        where: The path or URL of the store, next to which its tables are kept; or empty.
        cache: Folder for slices of the whole graph; None to make them for this answer only.
        archive: Name of the archive, for those who cite the answer; or empty.
    """

    graph: Scans
    query: Query
    budget: Budget | None = None
    replay: ReplayPrefix = NO_REPLAY
    where: str = ""
    cache: Path | None = None
    archive: str = ""


@dataclass(frozen=True, slots=True)
class Capability(Generic[Query]):
    """Something that can be asked of a graph, and is answered in rows.

    Attributes:
        name: Name of the command, the resource and the method.
        asks: What it answers, as a sentence.
        about: The help of the command and of the method.
        query: The query, with its parameters.
        answer: Answers it.
        head: The `TypedDict` of the JSON fields before the rows.
        lists: The columns of each list of rows, by its name in JSON.
        examples: Command lines.
        subset: The parameter that selects a subset; on the command line it may be the first word.
        has_replay: Whether answers have the addresses of mementos in a replay system.
        is_question: Whether parameters ask the question that has its name: it is answered by SQL
            (`arclink.analysis.questions`), at each door.
        has_one_list: Whether an answer has only one of its lists, as the parameters say.
        group: The group of commands that has its command; empty without.
        cost: What an answer costs a service. Expensive ones read the whole graph: it makes one at a
            time.
    """

    name: str
    asks: str
    about: str
    query: type[Query]
    answer: "Callable[[ToAnswer[Query]], RowAnswer]"
    head: type
    lists: Mapping[str, tuple[RowColumn, ...]]
    examples: tuple[str, ...] = ()
    subset: AnyParameter = SUBSET
    has_replay: bool = False
    is_question: Callable[[Given], bool] = _never
    has_one_list: bool = False
    group: str = ""
    cost: Cost = Cost.ORDINARY

    @property
    def declared(self) -> tuple[AnyParameter, ...]:
        """The parameters as doors take them: a question about a part needs only its address."""
        return tuple(
            replace(one, is_required=False, otherwise="required for a page")
            if one.is_required and not one.is_positional and self.is_question is not _never
            else one
            for one in self.query.DECLARED
        )

    @property
    def schema(self) -> str:
        """Name of the JSON Schema of the answer."""
        return self.name.capitalize()

    def rows(self, asked: ToAnswer[Query], given: Given = NOTHING_GIVEN) -> "RowAnswer":
        """Return the answer, with where it is from.

        Args:
            asked: What it is answered from.
            given: The question as the caller wrote it.
        """
        return self.said_from(self.answer(asked), asked, given)

    def said_from(self, answer: "RowAnswer", asked: ToAnswer[Query], given: Given) -> "RowAnswer":
        """Return an answer in its types, with where it is from; see `rows`."""
        # Here, because commands that answer in other forms import this module.
        from arclink.access.provenance import provenance_of

        command, declared = f"{self.group} {self.name}", (*self.query.DECLARED, self.subset)
        provenance = provenance_of(asked.graph, asked.archive, command, given, declared)
        return replace(self.typed(answer), provenance=provenance)

    def typed(self, answer: "RowAnswer") -> "RowAnswer":
        """Return an answer whose columns have the declared meanings, and types without values."""
        columns = [column for columns in self.lists.values() for column in columns]
        types = {
            column.name: column.kind.value
            for column in columns
            if column.kind not in (ColumnKind.TIME, ColumnKind.TEXTS)
        }
        meanings = {column.name: column.about for column in columns}
        return replace(answer, types={**types, **answer.types}, meanings=meanings)


def capability(name: str) -> Capability[Any]:
    """Return a capability; its module is imported now.

    Raises:
        KeyError: No capability has this name.
    """
    found: Capability[Any] = taken(CAPABILITIES[name])
    return found


# Functions of Python made from declared parameters: signature, help, call and errors.

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

    >>> from arclink.access.declarations import LIMIT
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
