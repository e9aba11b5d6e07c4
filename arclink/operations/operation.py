"""Operations: parameters and the function that reads them, for the command line and for Python."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from arclink.access.declarations import AnyParameter, Given
from arclink.reports import Report

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
