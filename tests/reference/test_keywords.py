"""Functions of Python take declared parameters: their signatures, help, stubs and errors."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import arclink
from arclink.access.declarations import AnyParameter
from arclink.errors import UsageError
from arclink.linkgraph import LinkGraph
from arclink.rooms import CAPABILITIES
from tests.store.memory_store import MemoryStore

NAMED = {
    **{f"graph.{name}": getattr(LinkGraph, name) for name in dir(LinkGraph) if name[0] != "_"},
    **{f"arclink.{name}": getattr(arclink, name) for name in arclink.__all__},
}
DECLARED: Mapping[str, Callable[..., Any]] = {
    name: one for name, one in NAMED.items() if hasattr(one, "declared")
}
"""The functions and methods that take declared parameters."""

of_all = pytest.mark.parametrize("name", DECLARED)


def declared(name: str) -> Mapping[str, AnyParameter]:
    found: Mapping[str, AnyParameter] = vars(DECLARED[name])["declared"]
    return found


def arguments(name: str) -> Mapping[str, inspect.Parameter]:
    found = dict(inspect.signature(DECLARED[name]).parameters)
    found.pop("self", None)
    return found


def test_all_methods_with_keywords_of_a_command_have_declared_ones() -> None:
    graphs = ("outlinks", "inlinks", "ask", "stream", "to_networkx", "to_pandas", "to_rdf")
    expected = {*graphs, "export", "export_captures", *CAPABILITIES}
    assert {f"graph.{one}" for one in expected} <= {*DECLARED}
    for name, one in NAMED.items():
        if inspect.isfunction(one):
            kinds = {each.kind for each in inspect.signature(one).parameters.values()}
            assert inspect.Parameter.VAR_KEYWORD not in kinds, name


@of_all
def test_a_signature_has_each_declared_parameter_with_its_type_and_default(name: str) -> None:
    for given, parameter in declared(name).items():
        argument = arguments(name)[given]
        is_star = argument.kind is argument.VAR_POSITIONAL
        values, written = parameter.form.schema.get("enum"), str(argument.annotation)
        if isinstance(values, list):
            assert written.startswith(f"Literal[{', '.join(map(repr, values))}]")
        assert ("Sequence" in written) is (parameter.is_list and not is_star)
        assert written.endswith("None") is (argument.default is None)
        if parameter.form.schema.get("type") in ("boolean", "integer", "number"):
            kind = {"boolean": bool, "integer": int, "number": float}[
                str(parameter.form.schema["type"])
            ]
            assert written.startswith(kind.__name__)
            assert argument.default is None or type(argument.default) in (kind, int)


@of_all
def test_help_says_what_each_keyword_is(name: str) -> None:
    said = inspect.getdoc(DECLARED[name]) or ""
    for argument in arguments(name):
        assert len(re.findall(rf"^    {argument}: ", said, re.MULTILINE)) == 1, argument


@of_all
def test_a_wrong_keyword_is_named_with_the_right_one(name: str) -> None:
    wrong = max(arguments(name), key=len)
    first = [LinkGraph(MemoryStore([]))] if name.startswith("graph") else []
    with pytest.raises(UsageError, match=f"^{wrong}_: .*did you mean {wrong}[?]") as caught:
        DECLARED[name](*first, **{f"{wrong}_": "1"})
    assert isinstance(caught.value, TypeError)
