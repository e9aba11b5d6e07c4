"""Parameters, declared once: the same declaration reads what a caller wrote, says what is allowed, and describes it.

A `Form` says what values look like, a `Parameter` has a name and a form, and `sort_out` takes the plain pairs of the
command line or of a query string apart. The service makes its OpenAPI description of the declarations.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Self, TypeVar

from arclink.errors import UsageError

Value = TypeVar("Value")
Read = TypeVar("Read", covariant=True)
Choice = TypeVar("Choice", bound=Enum)


class BadParameterError(UsageError):
    """One parameter is wrong.

    Attributes:
        name: The parameter.
        value: What came.
        allowed: What is allowed, as a phrase.
    """

    def __init__(self, name: str, value: str, allowed: str) -> None:
        self.name = name
        self.value = value if len(value) <= 200 else value[:200] + "…"
        self.allowed = allowed
        super().__init__(f"{name}: {self.value!r} is not allowed; expected {allowed}")


@dataclass(frozen=True, slots=True)
class Form(Generic[Read]):
    """What the values of a parameter look like.

    Attributes:
        allowed: What is allowed, as a phrase.
        schema: JSON Schema of one value as it stands in a query string. Every text that is read conforms to it.
        read: Returns what a text means; a ValueError says that it means nothing, and may say why.
    """

    allowed: str
    schema: Mapping[str, object]
    read: Callable[[str], Read]


@dataclass(frozen=True, slots=True)
class Parameter(Generic[Read]):
    """One parameter of a question. An empty value is as good as none.

    Attributes:
        about: What it is for, for people.
        default: The text that is meant where there is none; None if that means something of its own.
        is_list: May come several times.
        has_commas: May hold several values with commas between them.
        also: Other names of it.
    """

    name: str
    about: str
    form: Form[Read]
    default: str | None = None
    is_required: bool = False
    is_list: bool = False
    has_commas: bool = False
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.also)

    def read(self, text: str, name: str = "") -> Read:
        """Return what ``text`` means; ``name`` is what the caller called the parameter.

        Raises:
            BadParameterError: It means nothing.
        """
        try:
            return self.form.read(text)
        except ValueError as error:
            why = f" ({error})" if str(error) else ""
            raise BadParameterError(name or self.name, text, f"{self.form.allowed}{why}") from error

    def of(self, given: "Given") -> Read | None:
        """Return what was given, or the default; None if there is neither.

        Raises:
            BadParameterError: It means nothing, or is missing though it is required.
        """
        name, texts = given.found(self)
        text = "".join(texts)
        if not text and not self.is_required:
            return None if self.default is None else self.form.read(self.default)
        return self.read(text, name)

    def sure(self, given: "Given") -> Read:
        """Return the same of a parameter that is required or has a default."""
        found = self.of(given)
        assert found is not None, f"{self.name} has no default"
        return found

    def all_of(self, given: "Given") -> tuple[Read, ...]:
        """Return the values of a list, in the order given; none if it was not given.

        Raises:
            BadParameterError: One of them means nothing.
        """
        name, texts = given.found(self)
        return tuple(self.read(part.strip(), name) for text in texts if text for part in (text.split(",") if self.has_commas else [text]))


@dataclass(frozen=True, slots=True)
class Given:
    """The parameters of one question as they came: texts by name, none of them empty."""

    texts: Mapping[str, Sequence[str]]

    def found(self, parameter: "AnyParameter") -> tuple[str, Sequence[str]]:
        """Return what the caller called a parameter, and its texts."""
        return next(((name, self.texts[name]) for name in parameter.names if name in self.texts), (parameter.name, ()))

    def text(self, parameter: "AnyParameter") -> str:
        """Return what was written for a parameter; empty if it was not given."""
        return ",".join(self.found(parameter)[1])

    def without(self, *names: str) -> Self:
        """Return the others."""
        return type(self)({name: texts for name, texts in self.texts.items() if name not in names})


AnyParameter = Parameter[object]


def sort_out(parameters: Iterable[tuple[str, str]], declared: Sequence[AnyParameter]) -> Given:
    """Return what was given, by name.

    Raises:
        BadParameterError: A parameter is unknown, or given twice though it is no list; or two mean the same.
    """
    by_name = {name: parameter for parameter in declared for name in parameter.names}
    texts: dict[str, list[str]] = {}
    for name, value in parameters:
        parameter = by_name.get(name)
        if parameter is None:
            hint = "; an '&' inside the URI asked for must be written %26" if {"uri", "url"} & set(texts) else ""
            raise BadParameterError(name, value, f"one of the parameters {', '.join(by_name)}{hint}")
        for other in parameter.names:
            if other in texts and not parameter.is_list:
                why = "the parameter once" if other == name else f"either {' or '.join(parameter.names)}, which mean the same"
                raise BadParameterError(name, value, why)
        texts.setdefault(name, []).append(value)
    return Given(texts)


def choice(of: type[Choice], *but: Choice) -> Form[Choice]:
    """Return the form of the values of an enum, ``but`` some."""
    values = {str(one.value): one for one in of if one not in but}
    return Form(_or([*values]), {"type": "string", "enum": [*values]}, lambda text: _found(values, text))


def named(values: Mapping[str, Value]) -> Form[Value]:
    """Return the form of values that have names."""
    return Form(_or([*values]), {"type": "string", "enum": [*values]}, lambda text: _found(values, text))


def whole_number(most: int, allowed: str, least: int = 0) -> Form[int]:
    """Return the form of numbers from ``least`` to ``most``."""

    def read(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,9}", text) is None or not least <= int(text) <= most:
            raise ValueError
        return int(text)

    return Form(allowed, {"type": "integer", "minimum": least, "maximum": most}, read)


def matching(pattern: str, allowed: str, make: Callable[[str], Value]) -> Form[Value]:
    """Return the form of texts that match a regular expression as a whole; it must mean the same in Python and ECMAScript."""
    compiled = re.compile(pattern)

    def read(text: str) -> Value:
        if compiled.fullmatch(text) is None:
            raise ValueError
        return make(text)

    return Form(allowed, {"type": "string", "pattern": f"^({pattern})$"}, read)


SWITCH: Form[bool] = Form("true or false", {"type": "boolean"}, lambda text: _found({"true": True, "false": False}, text))


def _found(values: Mapping[str, Value], text: str) -> Value:
    if text not in values:
        raise ValueError
    return values[text]


def _or(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
