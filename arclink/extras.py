"""Import of the packages of extras: a message names the extra that is missing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from types import ModuleType

from arclink.errors import UsageError

# Lazy imports: modules that another package imports at once, but ArcLink seldom or never uses.
#
# Such a module is loaded when one of its names is first used, or never.


@contextmanager
def imported_lazily(name: str, *functions: str) -> Iterator[None]:
    """Make ``import name`` in this context return a module that loads the real one on first use.

    The first access to one of its names imports the real module. Imports after the context return
    the real module. (`importlib.util.LazyLoader` does not work here: on Python 3.11 the import
    statement itself accesses a name.)

    Args:
        name: Name of the module.
        functions: Functions of the module that are imported by name; calling one imports the real
            module.
    """
    if name in sys.modules:
        yield
        return
    module = ModuleType(name)

    def look_up(attribute: str) -> object:
        if attribute == "__path__":  # the import statement checks whether it is a package
            raise AttributeError(attribute)
        if sys.modules.get(name) is module:
            del sys.modules[name]
        return getattr(import_module(name), attribute)

    def calling(function: str) -> Callable[..., object]:
        return lambda *args, **named: look_up(function)(*args, **named)  # type: ignore[operator]

    module.__dict__["__getattr__"] = look_up  # PEP 562
    module.__dict__.update((function, calling(function)) for function in functions)
    sys.modules[name] = module
    package, _, last = name.rpartition(".")
    if package:  # importing a module of a package adds its name to the package
        setattr(import_module(package), last, module)
    try:
        yield
    finally:
        if sys.modules.get(name) is module:
            del sys.modules[name]


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Return a context for imports of packages of an extra.

    Raises:
        UsageError: A package is not installed; the message says how to install it.
    """
    try:
        yield
    except ImportError as error:
        raise UsageError(
            f"{error.name or error} is not installed: pip install 'arclink[{name}]'"
        ) from error


def analysis_extra() -> AbstractContextManager[None]:
    """Return a context for imports of packages of the extra ``analysis``; see `extra`."""
    return extra("analysis")
