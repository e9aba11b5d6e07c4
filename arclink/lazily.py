"""Modules that another package imports at once and ArcLink seldom or never uses: loaded when they are, if ever."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType


@contextmanager
def imported_lazily(name: str, *functions: str) -> Iterator[None]:
    """Have ``import name`` within give a module that imports the real one at the first look at one of its names.

    Whoever imports it afterwards gets the real one. (`importlib.util.LazyLoader` would not do: on Python 3.11 the import
    statement itself looks at a name.)

    Args:
        name: Of the module.
        functions: Those of its functions that are imported by name; the real module is imported when one is called.
    """
    if name in sys.modules:
        yield
        return
    module = ModuleType(name)

    def look_up(attribute: str) -> object:
        if attribute == "__path__":  # the import statement asks whether it is a package
            raise AttributeError(attribute)
        if sys.modules.get(name) is module:
            del sys.modules[name]
        return getattr(import_module(name), attribute)

    def calling(function: str) -> Callable[..., object]:
        return lambda *args, **named: look_up(function)(*args, **named)  # type: ignore[operator]

    module.__dict__["__getattr__"] = look_up  # PEP 562
    module.__dict__.update((function, calling(function)) for function in functions)
    sys.modules[name] = module
    try:
        yield
    finally:
        if sys.modules.get(name) is module:
            del sys.modules[name]
