"""Methods of `LinkGraph` that are made from declarations, those of capabilities at their first use.

``methods.pyi`` says the same to editors and type checkers. `make docs` writes it.
"""

from types import MethodType

from arclink.access.capabilities import method_of
from arclink.rooms import CAPABILITIES


class _Method:
    def __init__(self, name):
        self._name = name

    def __get__(self, graph, of=None):
        method = method_of(self._name)
        return method if graph is None else MethodType(method, graph)


class Methods:
    """What a graph answers: a method for each capability, and those with declared keywords."""

    locals().update({name: _Method(name) for name in CAPABILITIES})

    def __init_subclass__(cls):
        """Name the methods of a class that take declared parameters: ``ask``, from ``_ask``."""
        for name, one in [*vars(cls).items()]:
            if hasattr(one, "declared"):
                setattr(cls, name.removeprefix("_"), one)
