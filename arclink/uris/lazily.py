"""Modules that another package imports at once and ArcLink never uses: loaded when they are, if ever."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType


@contextmanager
def imported_lazily(name: str) -> Iterator[None]:
    """Have ``import name`` within give a module that imports the real one at the first look at one of its names.

    Whoever imports it afterwards gets the real one. (`importlib.util.LazyLoader` would not do: on Python 3.11 the import
    statement itself looks at a name.)
    """
    if name in sys.modules:
        yield
        return
    module = ModuleType(name)

    def look_up(attribute: str) -> object:
        return getattr(import_module(name), attribute)

    module.__dict__["__getattr__"] = look_up  # PEP 562
    sys.modules[name] = module
    try:
        yield
    finally:
        if sys.modules.get(name) is module:
            del sys.modules[name]
