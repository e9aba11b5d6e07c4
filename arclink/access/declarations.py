"""Parameters of queries, each declared once.

One declaration reads the text of a caller, says which values are allowed, and describes the
parameter in help and documentation. A `Form` defines the syntax of values, a `Parameter` has a name
and a form, and `sort_out` sorts the name-value pairs of a command line or a query string by
parameter.

From the declarations come the options of the commands (`arclink.cli.options`), the OpenAPI
description of the service (`arclink.service.openapi`) and the tables of the documentation. Settings
that are a field of a dataclass are declared there: `field_parameter` makes the parameter.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from enum import Enum
from functools import cache
from inspect import getdoc
from typing import Any, ClassVar, Generic, Self, TypeVar

from arclink.access.kinds import ALL_KINDS, NAVIGATION, WORDS, parse_kinds, union_of
from arclink.errors import UsageError
from arclink.model import ALL_TIME, Kind, Span, Timestamp
from arclink.timestamps import PATTERN as TIME_PATTERN
from arclink.timestamps import NotATimeError, first_of, last_of

Value = TypeVar("Value")
Read = TypeVar("Read", covariant=True)
Choice = TypeVar("Choice", bound=Enum)


class BadParameterError(UsageError):
    """A parameter is unknown, missing or has a value that is not allowed.

    Attributes:
        name: The parameter.
        value: The text that was received, shortened to 200 characters.
        allowed: The allowed values, as a phrase.
    """

    def __init__(self, name: str, value: str, allowed: str) -> None:
        self.name = name
        self.value = value if len(value) <= 200 else value[:200] + "…"
        self.allowed = allowed
        wrong = f"{self.value!r} is not allowed" if value else "it is missing"
        super().__init__(f"{name}: {wrong}; expected {allowed}")

    @property
    def advice(self) -> str:
        """What to change, as words that follow the name of the parameter and a colon."""
        return f"expected {self.allowed}"


class ConflictError(BadParameterError):
    """A parameter has an allowed value, but not together with the others.

    Args:
        why: The conflict and what to change, as the rest of a sentence that begins with the name.
    """

    def __init__(self, name: str, value: str, why: str) -> None:
        super().__init__(name, value, why)
        self.args = (f"{name} {why}",)

    @property
    def advice(self) -> str:
        return self.allowed


@dataclass(frozen=True, slots=True)
class Form(Generic[Read]):
    """The syntax of the values of a parameter.

    Attributes:
        allowed: The allowed values, as a phrase; empty if every text is allowed.
        schema: JSON Schema of one value as it is written in a query string. Every text that
            ``read`` accepts conforms to it.
        read: Returns the value of a text. It raises ValueError for an invalid text, with or without
            a reason.
    """

    allowed: str
    schema: Mapping[str, object]
    read: Callable[[str], Read]


@dataclass(frozen=True, slots=True)
class Parameter(Generic[Read]):
    """One parameter of a query or of a command.

    Attributes:
        name: Its name in a query string. On the command line, ``matchType`` is ``--match-type``; in
            Python, ``min-count`` is ``min_count`` and ``from`` is ``from_``.
        about: Its purpose, as a sentence for users.
        default: The text to use if the parameter is missing; None if a missing parameter has a
            meaning of its own.
        is_list: Whether it may be repeated.
        has_commas: Whether one text may hold several values, separated by commas.
        also: Its other names.
        was: Its earlier names, which are read for one more version, with a warning that names the
            new one (`warn_renamed`). Help and descriptions do not show them. A name in capitals,
            such as ``FILE``, was that of an argument of a command.
        instead: What to write on the command line instead of an earlier name, if that is more than
            the new name.
        metavar: The word for a value in help, often its unit: ``TIME``, ``SECONDS``. If it is
            empty, help shows the choices or the type.
        otherwise: The meaning of a missing parameter in words, where ``default`` does not show it.
        envvar: The environment variable that the command line reads if the option is missing.
        see: The page of ``docs`` that says more, such as ``reference/service.md#filters``.
        is_positional: Whether it is an argument on the command line, not an option.
        keeps_empty: Whether an empty value is a value, which its reader refuses. Otherwise it means
            the same as a missing one.
        fields: The fields of queries that have its value, each one item of it if there are several;
            by default the one with its name. Empty if queries need more to read it.
        unite: Makes one value from those of a list; None if the field has a tuple of them.
    """

    name: str
    about: str
    form: Form[Read]
    default: str | None = None
    is_required: bool = False
    is_list: bool = False
    has_commas: bool = False
    also: tuple[str, ...] = ()
    was: tuple[str, ...] = ()
    instead: str = ""
    metavar: str = ""
    otherwise: str = ""
    envvar: str = ""
    see: str = ""
    is_positional: bool = False
    keeps_empty: bool = False
    fields: tuple[str, ...] | None = None
    unite: Callable[[tuple[Any, ...]], object] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.also, *self.was)

    @property
    def options(self) -> list[str]:
        """The names of the option of the command line, with dashes: ``--match-type``."""
        return [
            "--" + "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
            for name in (self.name, *self.also)
        ]

    @property
    def is_switch(self) -> bool:
        """Whether it is either true or false."""
        return self.form.schema.get("type") == "boolean"

    @property
    def of_query(self) -> tuple[str, ...]:
        """The fields of queries that have its value."""
        return (self.name.replace("-", "_"),) if self.fields is None else self.fields

    def read(self, text: str, name: str = "") -> Read:
        """Return the value of ``text``; ``name`` is the caller's name for the parameter.

        Raises:
            BadParameterError: The text is not an allowed value.
        """
        try:
            return self.form.read(text)
        except ValueError as error:
            why = f" ({error})" if str(error) else ""
            raise BadParameterError(name or self.name, text, f"{self.form.allowed}{why}") from error

    def optional(self, given: "Given") -> Read | None:
        """Return the value that was given, or the default; None if there is neither.

        Raises:
            BadParameterError: The text is not an allowed value, or a required parameter is missing.
        """
        name, texts = given.found(self)
        text = "".join(texts)
        if not text and not self.is_required and not (self.keeps_empty and texts):
            return None if self.default is None else self.form.read(self.default)
        return self.read(text, name)

    def required(self, given: "Given") -> Read:
        """Return the value of a parameter that is required or has a default; never None."""
        found = self.optional(given)
        assert found is not None, f"{self.name} has no default"
        return found

    def many(self, given: "Given") -> tuple[Read, ...]:
        """Return the values of a list, in the order given; the default if it was not given.

        Raises:
            BadParameterError: One of the texts is not an allowed value.
        """
        name, texts = given.found(self)
        values = tuple(
            self.read(part.strip(), name)
            for text in texts
            if text or self.keeps_empty
            for part in (text.split(",") if self.has_commas else [text])
        )
        return values if values or self.default is None else (self.form.read(self.default),)

    def value(self, given: "Given") -> Any:
        """Return the value for the fields of a query: that of the parameter, or those of its list.

        Raises:
            BadParameterError: See `optional` and `many`.
        """
        if not self.is_list:
            return self.optional(given)
        values = self.many(given)
        return values if self.unite is None else self.unite(values)


@dataclass(frozen=True, slots=True)
class Given:
    """The parameters of one query as received: lists of texts by name."""

    texts: Mapping[str, Sequence[str]]

    def found(self, parameter: "AnyParameter") -> tuple[str, Sequence[str]]:
        """Return the name that the caller used for a parameter, and its texts."""
        return next(
            ((name, self.texts[name]) for name in parameter.names if name in self.texts),
            (parameter.name, ()),
        )

    def has(self, parameter: "AnyParameter") -> bool:
        """Return whether a parameter was given with a value that is not empty."""
        return any(self.found(parameter)[1])

    def text(self, parameter: "AnyParameter") -> str:
        """Return the text that was received for a parameter; empty if it was not given."""
        return ",".join(self.found(parameter)[1])

    def without(self, *names: str) -> Self:
        """Return these parameters without the named ones."""
        return type(self)({name: texts for name, texts in self.texts.items() if name not in names})

    def sorted_out(self, declared: Sequence["AnyParameter"], *but: "AnyParameter") -> Self:
        """Return these parameters without those in ``but``; all others must be declared.

        Raises:
            BadParameterError: One is not declared.
        """
        rest = self.without(*(name for parameter in but for name in parameter.names))
        sort_out([(name, text) for name, texts in rest.texts.items() for text in texts], declared)
        return rest


NOTHING_GIVEN = Given({})

AnyParameter = Parameter[object]


def warn_renamed(earlier: str, new: str) -> None:
    """Warn that an earlier word was used, where users of the command, service or Python look.

    The command line prints the warning, and the service logs it once.
    """
    text = f"{earlier} is now {new}. The next version will not know {earlier}."
    warnings.warn(text, FutureWarning, stacklevel=2)


def sort_out(parameters: Iterable[tuple[str, str]], declared: Sequence[AnyParameter]) -> Given:
    """Return the received texts by parameter name.

    Raises:
        BadParameterError: A parameter is unknown, or repeated although it is not a list, or two of
            its names are used.
    """
    by_name = {name: parameter for parameter in declared for name in parameter.names}
    known = [name for name, parameter in by_name.items() if name not in parameter.was]
    texts: dict[str, list[str]] = {}
    for name, value in parameters:
        parameter = by_name.get(name)
        if parameter is None:
            hint = (
                "; an '&' inside the URI must be written %26" if {"uri", "url"} & set(texts) else ""
            )
            names = f"one of the parameters {', '.join(known)}{hint}"
            raise BadParameterError(name, value, names)
        if name in parameter.was:
            warn_renamed(name, parameter.name)
        for other in parameter.names:
            if other in texts and not (parameter.is_list and other == name):
                why = (
                    "the parameter once"
                    if other == name
                    else f"either {' or '.join(parameter.names)}, which mean the same"
                )
                raise BadParameterError(name, value, why)
        texts.setdefault(name, []).append(value)
    return Given(texts)


@dataclass(frozen=True, slots=True)
class DeclaredQuery:
    """A query: a dataclass, whose fields name the declared parameters that they are read from.

    Code makes a query from values, or from another one by `dataclasses.replace`. Only the command
    line, the service and the keywords of Python read text.

    Attributes:
        DECLARED: The parameters of the query.
    """

    DECLARED: ClassVar[tuple[AnyParameter, ...]]

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]], **otherwise: object) -> Self:
        """Return the query in ``parameters``, names and values as received; see `of`.

        Raises:
            BadParameterError: One is unknown or repeated, or for the reasons of `of`.
        """
        return cls.of(sort_out(parameters, cls.DECLARED), **otherwise)

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        """Return the query in these parameters, which may include parameters of other queries.

        Args:
            given: The parameters.
            **otherwise: Values of fields whose parameters were not given.

        Raises:
            BadParameterError: One is missing, its value is not allowed, or it cannot be used
                together with the others.
        """
        return cls(**cls.values(given, otherwise))

    @classmethod
    def values(cls, given: Given, otherwise: Mapping[str, object]) -> dict[str, Any]:
        """Return the values of the fields; fields without any are missing.

        Raises:
            BadParameterError: See `of`.
        """
        values = dict(otherwise)
        for parameter in cls.own():
            names = parameter.of_query
            if not otherwise.keys().isdisjoint(names) and not given.has(parameter):
                continue
            value = parameter.value(given)
            if value is not None:
                values.update(zip(names, value if len(names) > 1 else (value,), strict=True))
        return values

    @classmethod
    @cache
    def own(cls) -> tuple[AnyParameter, ...]:
        """Return the parameters whose values are in the fields of this class."""
        names = {field.name for field in fields(cls)}
        return tuple(one for one in cls.DECLARED if one.of_query and names.issuperset(one.of_query))


def choice(of: type[Choice], *but: Choice) -> Form[Choice]:
    """Return the form that accepts the values of an enum, except the members in ``but``."""
    values = {str(one.value): one for one in of if one not in but}
    return Form(
        _or([*values]), {"type": "string", "enum": [*values]}, lambda text: _found(values, text)
    )


def named(values: Mapping[str, Value]) -> Form[Value]:
    """Return the form that accepts the names in ``values``."""
    return Form(
        _or([*values]), {"type": "string", "enum": [*values]}, lambda text: _found(values, text)
    )


def whole_number(most: int | None, allowed: str = "", least: int = 0) -> Form[int]:
    """Return the form that accepts whole numbers from ``least`` to ``most``; None for no limit."""

    def read(text: str) -> int:
        value = int(text) if re.fullmatch("[0-9]{1,18}", text) else -1
        if value < least or (most is not None and value > most):
            raise ValueError
        return value

    bounds = {"minimum": least} if most is None else {"minimum": least, "maximum": most}
    words = f"a whole number from {least}" + (f" to {most}" if most else "")
    return Form(allowed or words, {"type": "integer", **bounds}, read)


def number(*, least: float, most: float | None = None, is_above: bool = False) -> Form[float]:
    """Return the form that accepts decimal numbers.

    Args:
        least: The lower bound.
        most: The greatest number; None for no limit.
        is_above: Whether numbers must be greater than ``least``.
    """

    def read(text: str) -> float:
        value = float(text)
        if not (least < value if is_above else least <= value) or (
            most is not None and value > most
        ):
            raise ValueError
        return value

    allowed = f"a number {'above' if is_above else 'from'} {least:g}"
    bounds = {"exclusiveMinimum" if is_above else "minimum": least}
    if most is not None:
        allowed, bounds["maximum"] = f"{allowed}, at most {most:g}", most
    return Form(allowed, {"type": "number", **bounds}, read)


def matching(pattern: str, allowed: str, make: Callable[[str], Value]) -> Form[Value]:
    """Return the form that accepts texts that match a regular expression completely.

    The expression must mean the same in Python and in ECMAScript.
    """
    compiled = re.compile(pattern)

    def read(text: str) -> Value:
        if compiled.fullmatch(text) is None:
            raise ValueError
        return make(text)

    return Form(allowed, {"type": "string", "pattern": f"^({pattern})$"}, read)


SWITCH: Form[bool] = Form(
    "true or false", {"type": "boolean"}, lambda text: _found({"true": True, "false": False}, text)
)
NUMBER: Form[float] = Form("a number", {"type": "number"}, float)
TEXT: Form[str] = Form("", {"type": "string"}, str)
PATH: Form[str] = Form("", {"type": "string", "format": "path"}, str)
"""The path of a file or folder, or a URL in its place. Bytes that are not UTF-8 are allowed."""
FILE: Form[str] = Form("", {"type": "string", "format": "file"}, str)
FOLDER: Form[str] = Form("", {"type": "string", "format": "folder"}, str)


def switch(name: str, about: str, see: str = "", field: str = "") -> Parameter[bool]:
    """Return a parameter that is off unless it is given; ``field`` is its field in queries."""
    fields = (field,) if field else None
    return Parameter(name, about, SWITCH, default="false", see=see, fields=fields)


@cache
def attributes_of(of: type) -> Mapping[str, str]:
    """Return the sentences about the fields of a dataclass, by field, from its docstring."""
    _, _, section = (getdoc(of) or "").partition("\nAttributes:\n")
    section = re.split(r"\n(?=\S)", f"\n{section}")[0]
    found = re.findall(r"^    (\w+): (.*(?:\n     .*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def default_of(of: type, field: str) -> object:
    """Return the default of a field of a dataclass; None without one."""
    declared = next(one for one in fields(of) if one.name == field)
    if declared.default is not MISSING:
        return declared.default
    return None if declared.default_factory is MISSING else declared.default_factory()


def field_parameter(
    of: type,
    field: str,
    form: Form[Read],
    *,
    name: str = "",
    text: Callable[[object], str] = str,
    metavar: str = "",
    otherwise: str = "",
    see: str = "",
) -> Parameter[Read]:
    """Return the parameter of a setting that is a field of a dataclass.

    The docstring of the dataclass says what the setting means. The default is that of the field,
    unless ``otherwise`` says what a missing parameter means.

    Args:
        of: The dataclass.
        field: The name of the field.
        form: The form of its values.
        name: The name of the parameter; by default that of the field, with ``-`` for ``_``.
        text: Writes the default as a text of this form.
        metavar: See `Parameter`.
        otherwise: See `Parameter`.
        see: See `Parameter`.
    """
    default = None if otherwise else text(default_of(of, field))
    return Parameter(
        name or field.replace("_", "-"),
        attributes_of(of).get(field, "").replace("``", ""),
        form,
        default=default or None,
        metavar=metavar,
        otherwise=otherwise,
        see=see,
    )


def _found(values: Mapping[str, Value], text: str) -> Value:
    if text not in values:
        raise ValueError
    return values[text]


def _or(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


# Parameters that every query for links has: on the command line, over HTTP and in Python.
#
# To add a parameter, declare it here, name it in `COMMON`, and add its field to `LinkQuery`. Every
# command that queries links then has it as an option, every such resource as a parameter, every
# such method of Python as a keyword, and the tables of the documentation describe it.

REDIRECTS = frozenset({Kind("http@location"), Kind("http@refresh"), Kind("meta@refresh")})
"""Kinds of links that browsers follow without a click."""


class Redirects(Enum):
    """Whether redirects are included in the links."""

    YES = "yes"
    NO = "no"
    ONLY = "only"

    def allow(self, kind: Kind) -> bool:
        """Return whether links of this kind are included."""
        return self is Redirects.YES or (kind in REDIRECTS) is (self is Redirects.ONLY)


KINDS = Parameter(
    "kinds",
    "Only links of these kinds.",
    matching(
        rf"{'|'.join(WORDS)}|[a-z][a-z0-9:_-]*@[a-z][a-z0-9:_-]*",
        f"{', '.join(WORDS[:-1])} or {WORDS[-1]}, or element and attribute, such as a@href "
        "or img@src",
        parse_kinds,
    ),
    default=str(ALL_KINDS),
    is_list=True,
    has_commas=True,
    also=("kind",),
    metavar="KINDS",
    see="explanation/data-model.md#groups-of-kinds",
    unite=union_of,
)
"""The option, query parameter and Python keyword ``kinds``; the default is all kinds."""
KINDS_TO_FOLLOW = replace(KINDS, default=str(NAVIGATION))
"""The same parameter for analyses and graphs: the default is the links that a reader can follow."""
REDIRECT = Parameter(
    "redirects",
    "Whether redirects (http@location, http@refresh, meta@refresh) count as links.",
    choice(Redirects),
    default="yes",
)

STORE = Parameter(
    "store",
    "The link graph: a file such as links.db, or a URL such as sqlite:///links.db or "
    "cassandra://node1,node2/links.",
    PATH,
    is_required=True,
    metavar="PATH|URL",
    envvar="ARCLINK_STORE",
)
ARCHIVES = Parameter(
    "archives",
    "Where archive files are now, if they were moved: a folder, a URL that ends in /, or a file "
    "with a name and a path on each line, separated by a tab.",
    PATH,
    is_list=True,
    metavar="FOLDER|INDEX",
    keeps_empty=True,
)
SUBSET = Parameter(
    "subset",
    "Only captures of this subset: its name, or a selection such as 'domain:gov and from:2001'.",
    TEXT,
    metavar="NAME|SELECTION",
    otherwise="all captures",
    see="reference/subsets.md",
)
"""The parameter of every query to one store. It narrows the store before the query is answered."""
SUBSET_FIRST = replace(SUBSET, is_positional=True, metavar="[NAME|SELECTION]")
"""The same parameter as the first word of a command that is about captures, not links."""

SQL = Parameter(
    "query",
    "One query; without it, a shell that reads queries.",
    TEXT,
    is_positional=True,
    metavar="[SQL]",
)

LIMIT = Parameter(
    "limit",
    "Largest number of rows in each list of the answer, such as the links of one direction; "
    "0 for all.",
    whole_number(None),
    default="1000",
    metavar="N",
    see="reference/service.md#limit",
)
"""The parameter of every answer in rows; `limit_to` makes those of one kind of answer.

0 is all rows, as a stream where the answer is one, else an error that says why not and what to do.
"""


def limit_to(most: int, default: int) -> Parameter[int]:
    """Return `LIMIT` with another largest value and default."""
    form = whole_number(most, f"a number from 1 to {most}, or 0 for all")
    return replace(LIMIT, form=form, default=str(default))


COMMON: tuple[AnyParameter, ...] = (KINDS, REDIRECT)
"""The parameters of every query for links."""

COMMON_TO_FOLLOW: tuple[AnyParameter, ...] = tuple(
    KINDS_TO_FOLLOW if parameter is KINDS else parameter for parameter in COMMON
)
"""The same for analyses and graphs."""


# The parameters of times: ``from``, ``to`` and ``at``.
#
# They are separate from `arclink.access.queries` because builds select captures by time, too, and
# need nothing else of a query.

_TIMES = "1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z"
_TIME_SCHEMA = {"type": "string", "pattern": f"^(?:{TIME_PATTERN})$"}


def _reader(read: Callable[[str], Timestamp]) -> Callable[[str], Timestamp]:
    """Return ``read`` without the reason of an error that `_TIMES` gives already."""

    def read_time(text: str) -> Timestamp:
        try:
            return read(text)
        except NotATimeError as error:
            raise ValueError from error

    return read_time


SINCE: Form[Timestamp] = Form(_TIMES, _TIME_SCHEMA, _reader(first_of))
"""Reads a time as the first second that it can mean."""
UNTIL: Form[Timestamp] = Form(_TIMES, _TIME_SCHEMA, _reader(last_of))
"""Reads a time as the last second that it can mean."""

FROM = Parameter(
    "from",
    "Only captures at or after this time; 2010 means the beginning of 2010.",
    SINCE,
    metavar="TIME",
    otherwise="all time",
)
TO = Parameter(
    "to",
    "Only captures at or before this time; 2010 means the end of 2010.",
    UNTIL,
    metavar="TIME",
    otherwise="all time",
)
AT = Parameter(
    "at",
    "Links of the mementos in force at the end of this time; cannot be combined with from or to.",
    UNTIL,
    metavar="TIME",
    fields=(),
)
TIMES: tuple[AnyParameter, ...] = (FROM, TO, AT)
AT_OR_SPAN = "cannot be used with from or to: give one time, or a range"
"""The conflict between `AT` and `FROM` or `TO`."""


def timestamp_first(name: str, text: str) -> Timestamp:
    """Return the first second that ``text`` can mean.

    Raises:
        BadParameterError: It is neither 1 to 14 digits nor ISO 8601. The error names the parameter
            ``name``.
    """
    return FROM.read(text, name)


def times_of(given: Given) -> tuple[Span, Timestamp | None]:
    """Return the range of observation, and the time whose state the query wants; None without."""
    at = AT.optional(given)
    if at is None:
        return span_of(given), None
    if FROM.optional(given) or TO.optional(given):
        raise ConflictError("at", given.text(AT), AT_OR_SPAN)
    return ALL_TIME, at


def span_of(
    given: Given, since: Parameter[Timestamp] = FROM, until: Parameter[Timestamp] = TO
) -> Span:
    """Return the range given by ``from`` and ``to``, as these two parameters read them.

    Raises:
        BadParameterError: One of them is not a time, or the range is empty.
    """
    span = Span(since.optional(given) or ALL_TIME.first, until.optional(given) or ALL_TIME.last)
    if span.first > span.last:
        raise BadParameterError(
            "from", given.text(since), f"a time that is not after to={given.text(until)}"
        )
    return span
