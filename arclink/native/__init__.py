"""Compiled forms of the innermost loops, optional: each has its meaning in Python, where it is used, and is quicker.

A function that runs billions of times is written twice: in Python, which says what it does and runs wherever Python does, and
in Cython (``*.pyx`` here), which does the same. `native` stands above the first and puts the second in its place where the
installation has it: a C compiler was there when ArcLink was installed. Nothing else differs; ``tests/native`` holds each pair
against each other, and runs what is built on them once more without.

Where ``ARCLINK_NATIVE`` is ``no``, none is used. Nor is one that is older than its source.
"""

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {}
"""Functions of which a compiled form is used: that in Python and that, by ``module.name``."""


def native(function: _Function) -> _Function:
    """Return the compiled form of a function if there is one, else the function.

    The compiled form is in the module of this package that is called as the function's own, under its name without leading underscore.
    """
    module, name = function.__module__.rpartition(".")[2], function.__name__.lstrip("_")
    loaded = _loaded(module)
    if loaded is None:
        return function
    compiled: _Function = getattr(loaded, name)
    PAIRS[f"{module}.{name}"] = function, compiled
    return compiled


def is_used() -> bool:
    """Tell whether this installation has compiled forms, and may use them."""
    return _loaded("surts") is not None


@cache
def _loaded(module: str) -> ModuleType | None:
    if os.environ.get("ARCLINK_NATIVE") == "no":
        return None
    try:
        loaded = import_module(f"{__name__}.{module}")
    except ImportError:  # not compiled, or for another machine
        return None
    source = Path(__file__).with_name(f"{module}.pyx")
    if source.exists() and source.stat().st_mtime > Path(str(loaded.__file__)).stat().st_mtime:
        return None
    return loaded
