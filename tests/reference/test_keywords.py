"""The keywords of `LinkGraph` are the declared parameters, with their types and values."""

import types
from collections.abc import Iterable
from typing import Union, get_args, get_origin, get_type_hints

import pytest

from arclink.access.common import COMMON
from arclink.access.declarations import AnyParameter, attributes_of
from arclink.access.signatures import keyword
from arclink.access.times import FROM, TO
from arclink.linkgraph import OfLinks, OfRows
from tests.reference.tables import KEYWORDS


def classes_in(hint: object) -> set[type]:
    """Return the classes that a type hint allows: of ``str | Sequence[str]`` both."""
    if get_origin(hint) in (Union, types.UnionType):
        return {one for part in get_args(hint) for one in classes_in(part)}
    found = get_origin(hint) or hint
    assert isinstance(found, type)
    return {found}


def declared_class(parameter: AnyParameter) -> type:
    """Return the Python class of one value of a parameter as a caller writes it."""
    return {"boolean": bool, "integer": int, "number": float}.get(
        str(parameter.form.schema["type"]), str
    )


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords_are_declared_with_their_types(name: str) -> None:
    of, declared = KEYWORDS[name]
    hints = get_type_hints(of)
    parameters = {keyword(parameter.name): parameter for parameter in declared}
    assert set(hints) <= set(parameters)
    for one, hint in hints.items():
        assert declared_class(parameters[one]) in classes_in(hint), one
        assert parameters[one].is_list is any(
            issubclass(found, Iterable) and found is not str for found in classes_in(hint)
        ), one


@pytest.mark.parametrize("name", KEYWORDS)
def test_every_common_parameter_is_a_keyword(name: str) -> None:
    of, _ = KEYWORDS[name]
    assert {keyword(parameter.name) for parameter in (FROM, TO, *COMMON)} <= set(get_type_hints(of))


@pytest.mark.parametrize("name", KEYWORDS)
def test_every_keyword_is_documented_where_it_is_typed(name: str) -> None:
    of, _ = KEYWORDS[name]
    documented = {one for base in (of, *KEYWORDS["Within"][:1]) for one in attributes_of(base)}
    assert set(get_type_hints(of)) <= documented


def test_other_keywords_of_rows_and_links_are_those_of_their_queries() -> None:
    assert set(get_type_hints(OfLinks)) - set(get_type_hints(OfRows)) == {
        "evidence",
        "validity",
        "filter",
        "match_type",
        "follow",
    }
