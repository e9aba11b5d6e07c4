"""Named tuples in large numbers."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

_Kind = TypeVar("_Kind", bound=tuple[object, ...])


def maker(kind: type[_Kind]) -> Callable[[tuple[object, ...]], _Kind]:
    """Return what makes named tuples of one kind, each of a tuple of all its fields, which nobody counts.

    In a third of the time that calling the class takes, which goes by a function in Python.
    """
    return cast("Callable[[tuple[object, ...]], _Kind]", partial(tuple.__new__, kind))
