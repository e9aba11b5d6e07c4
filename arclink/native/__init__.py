"""Compiled modules for the innermost code, and the check that each still matches its source.

There are two kinds, and each function has one body:

* A *loop* over lists and dicts is ordinary Python in a module of its own (`LOOPS` in ``setup.py``).
  Cython compiles that same file; without a compiler, Python interprets it.
* A *scanner* of bytes is Cython (``*.pyx`` here). Without a compiler the slow reference runs, which
  also checks the scanner in the tests: the ``surt`` package, the URL parser, `parse_row`, a plain
  LEB128.

The decorator `native` is on each of these functions and replaces it by the compiled one. The
installation writes the SHA-256 of the source into the compiled module. If the source has changed
since, the compiled module is not used, and a `StaleWarning` reports it.

Set ``ARCLINK_NATIVE=no`` to use no compiled module.
"""

import os
import warnings
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {}
"""By ``module.name``: the function in Python, and the compiled one that replaces it."""


class StaleWarning(RuntimeWarning):
    """A compiled module was made from another version of its source, and is not used."""


def native(module: str) -> Callable[[_Function], _Function]:
    """Return a decorator that replaces a function by the compiled one of the same name, if any.

    Args:
        module: Name of the compiled module in this package.
    """

    def replace(function: _Function) -> _Function:
        if function.__module__.startswith(f"{__name__}."):  # runs inside the compiled module
            return function
        loaded = _loaded(module)
        if loaded is None:
            return function
        compiled: _Function = getattr(loaded, function.__name__)
        PAIRS[f"{module}.{function.__name__.lstrip('_')}"] = function, compiled
        return compiled

    return replace


def is_used() -> bool:
    """Return whether this installation has compiled modules and may use them."""
    return _loaded("surts") is not None


@cache
def _loaded(module: str) -> ModuleType | None:
    if os.environ.get("ARCLINK_NATIVE") == "no":
        return None
    try:
        loaded = import_module(f"{__name__}.{module}")
    except ImportError:  # not compiled, or for another machine
        return None
    names, digest = getattr(loaded, "SOURCE", ((), ""))
    files = [Path(__file__).parents[1] / name for name in names]
    # A wheel has no source of a scanner, so there is nothing to compare: it was built as a whole.
    if digest and not all(file.exists() for file in files):
        return loaded
    if sha256(b"".join(file.read_bytes() for file in files)).hexdigest() == digest:
        return loaded
    warnings.warn(
        f"{loaded.__file__} was compiled from another version of {', '.join(names)} and is not "
        "used: the slower Python code runs. Reinstall ArcLink to compile it (make demo, or pip "
        "install)",
        StaleWarning,
        stacklevel=2,
    )
    return None
