"""What is made at its first use: seldom used modules, regular expressions, parts of dataclasses.

A command is started by hand, and a task thousands of times by Hadoop. Each uses a few of the
patterns and values in the modules that it imports, and to make all of them was 30 % of its start
([decision](docs/decisions/20261128-first-use.md)).
"""

import dataclasses
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, FrozenInstanceError
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # So type checkers see the ones of the standard library, from which these differ in no type.
    from dataclasses import dataclass as dataclass

    pattern = re.compile
else:

    class pattern:  # noqa: N801  # callers read it as the function `re.compile`
        """A regular expression that is compiled at the first use of one of its methods."""

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self.pattern, self.flags = pattern, flags

        def __getattr__(self, name: str) -> object:
            found = getattr(re.compile(self.pattern, self.flags), name)
            setattr(self, name, found)
            return found

    def dataclass(cls: type | None = None, **options: bool) -> object:
        """Make a dataclass as `dataclasses.dataclass` does, and its ``__init__`` at the first call.

        The other methods are not generated at all, but get the fields by their names.

        Args:
            cls: The class, if the decorator has no options.
            options: ``frozen``, ``slots``, ``eq`` and ``kw_only``, as there.
        """
        if cls is None:
            return lambda cls: _with_methods(cls, **options)
        return _with_methods(cls, **options)


def _with_methods(cls: type, *, frozen: bool = False, eq: bool = True, **options: bool) -> type:
    own = {name for name, value in vars(cls).items() if value is not None}
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, **options)(cls)
    fields = dataclasses.fields(made)
    compared = [field.name for field in fields if field.compare]
    values: Callable[[object], object] = attrgetter(*compared) if compared else type

    def initialise(self: object, *args: object, **named: object) -> None:
        made.__init__ = _initialiser(made, fields, is_frozen=frozen)
        made.__init__(self, *args, **named)

    def shown(self: object) -> str:
        parts = (f"{field.name}={getattr(self, field.name)!r}" for field in fields if field.repr)
        return f"{type(self).__qualname__}({', '.join(parts)})"

    def is_equal(self: object, other: object) -> object:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def pickled(self: object) -> list[object]:
        return [getattr(self, field.name) for field in fields]

    def unpickle(self: object, state: list[object]) -> None:
        for field, value in zip(fields, state, strict=True):
            object.__setattr__(self, field.name, value)

    methods: dict[str, object] = {"__init__": initialise, "__repr__": shown}
    if eq:
        # Only values that never change have a hash.
        hash_of = (lambda self: hash(values(self))) if frozen else None
        methods |= {"__eq__": is_equal, "__hash__": hash_of}
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        methods |= {"__getstate__": pickled, "__setstate__": unpickle}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]  # it is a class


def _refuse_to_set(_: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _initialiser(
    made: type, fields: tuple[Field[Any], ...], *, is_frozen: bool
) -> Callable[..., None]:
    """Return the ``__init__`` of a dataclass."""
    given: list[str] = []
    by_name: list[str] = []
    body: list[str] = []
    names: dict[str, object] = {"set_field": object.__setattr__, "MISSING": MISSING}
    for number, field in enumerate(fields):
        name = value = field.name
        parameter, default = name, f"default_{number}"
        if field.default is not MISSING:
            names[default] = field.default
            parameter, other = f"{name}={default}", default
        elif field.default_factory is not MISSING:
            names[default] = field.default_factory
            parameter, other = f"{name}=MISSING", f"{default}()"
            value = f"{other} if {name} is MISSING else {name}"
        else:
            other = ""
        if field.init:
            (by_name if field.kw_only else given).append(parameter)
        elif other:
            value = other
        else:
            continue
        body.append(
            f"set_field(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}"
        )
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(("self", *given, *(("*", *by_name) if by_name else ())))
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), names)
    return names["__init__"]  # type: ignore[return-value]  # as the text says


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
