"""Operations: parameters and the function that reads them, for the command line and for Python."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from arclink.access.declarations import (
    PATH,
    AnyParameter,
    Form,
    Given,
    Parameter,
    switch,
    whole_number,
)
from arclink.counts import Report
from arclink.errors import UsageError

# Parameters that several operations share.

CORES = Parameter(
    "cores",
    "Number of parallel tasks; on an engine, the number of its cores.",
    whole_number(100_000, least=1),
    metavar="N",
    otherwise="the number of processors; on Hadoop, one for each 250 MB of a batch",
    see="reference/engines.md#options",
)
QUIET = switch("quiet", "Show only the summary, no progress.")
INPUTS = Parameter(
    "inputs",
    "Archive files, folders, globs, list files, or addresses of these.",
    PATH,
    is_required=True,
    is_list=True,
    is_positional=True,
    metavar="INPUT...",
    see="reference/inputs.md",
    keeps_empty=True,
)

LAZY = switch(
    "lazy",
    "Also extract the data- attributes of lazy loading, such as data-src.",
    "explanation/data-model.md#kinds-of-links",
)
HERITRIX_OUTLINKS = switch(
    "heritrix-outlinks", "Add the links that Heritrix recorded for a page.", "reference/heritrix.md"
)
SOURCES: tuple[AnyParameter, ...] = (LAZY, HERITRIX_OUTLINKS)
"""The parameters that say where links are looked for."""


# Numbers of bytes as users write them: ``300M``, ``4G``.

_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def size(option: str) -> Form[int]:
    """Return the form of a size; errors name the ``option``."""
    return Form(
        "bytes, or a number with k, M, G or T, such as 300M",
        {"type": "string", "pattern": "^[0-9]+[kKmMgGtT]?$"},
        lambda text: _parse_size(text, f"--{option}"),
    )


def size_text(number: object) -> str:
    """Return the shortest text that `_parse_size` reads as this number.

    >>> size_text(4 << 30), size_text(1000)
    ('4G', '1000')
    """
    assert isinstance(number, int)
    for unit, factor in reversed(_UNITS.items()):
        if number % factor == 0:
            return f"{number // factor}{unit if unit == 'k' else unit.upper()}"
    return str(number)


def _parse_size(text: str, option: str) -> int:
    """Return the number of bytes that a text such as ``300M`` means.

    It is digits with an optional ``k``, ``M``, ``G`` or ``T``, for powers of 1,024.

    Args:
        text: The value of the option.
        option: Name of the option, for the error.

    Raises:
        UsageError: The text is not a size, or is zero.

    >>> _parse_size("300M", "--batch-size")
    314572800
    """
    number, unit = (text[:-1], text[-1].lower()) if text[-1:].lower() in _UNITS else (text, "")
    if not (number.isascii() and number.isdigit()) or int(number) == 0:
        raise UsageError(
            f"{option} {text!r}: not a size; write bytes, or a number with k, M, G or T, "
            "such as 300M"
        )
    return int(number) * _UNITS.get(unit, 1)


def stored_size(count: int) -> str:
    """Return the size of a store in words; a small store in Cassandra does not know its size.

    >>> stored_size(1234), stored_size(0)
    ('1,234 bytes', 'size not known yet')
    """
    return f"{count:,} bytes" if count else "size not known yet"


Result = TypeVar("Result", bound=Report)

Say = Callable[[str], object]
"""Receives notes of an operation, each a sentence, at once."""


@dataclass(frozen=True, slots=True)
class Operation(Generic[Result]):
    """Work that users call by one name on the command line and in Python.

    Attributes:
        declared: Its parameters, in the order of the command's help.
        run: Does the work; it writes to no terminal, but for progress that the caller asks for.
    """

    declared: Sequence[AnyParameter]
    run: Callable[[Given, Say], Result]


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
