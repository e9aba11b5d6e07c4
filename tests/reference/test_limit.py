"""``limit`` has one meaning in every command and in every resource of the service."""

import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from arclink.access.declarations import LIMIT, AnyParameter, BadParameterError
from arclink.service.openapi import RESOURCES, Resource
from tests.reference.tables import commands, options_of
from tests.service.conftest import PAGES, T1, T2, B, client_of
from tests.store.memory_store import MemoryStore

_SENTENCE = LIMIT.about.partition(";")[0]
VALUES = {"uri": B, "from": T1, "to": T2}
"""Values of required parameters."""


def limits() -> Iterator[tuple[str, AnyParameter]]:
    """Yield the limit of each command and resource that has one."""
    for name, command in commands():
        yield from ((name, one) for one in options_of(command) if one.name == "limit")
    for resource in RESOURCES:
        yield from ((resource.path, one) for one in resource.parameters if one.name == "limit")


LIMITS = [pytest.param(parameter, id=name) for name, parameter in limits()]


def test_commands_and_resources_with_rows_have_a_limit() -> None:
    assert {"links", "anchors", "diff", "ask", "stream", "aggregate", "/cdx"} <= dict(
        limits()
    ).keys()


@pytest.mark.parametrize("parameter", LIMITS)
def test_a_limit_has_one_sentence_and_zero_is_all_or_an_error_with_a_remedy(
    parameter: AnyParameter,
) -> None:
    assert parameter.about.startswith(_SENTENCE)
    assert (parameter.metavar, parameter.see) == (LIMIT.metavar, LIMIT.see)
    most = parameter.form.schema["maximum"]
    assert str(most) in parameter.form.allowed
    assert (parameter.read("1"), parameter.read(str(most))) == (1, most)
    if "0 for all" in parameter.form.allowed:
        assert parameter.read("0") == 0
        return
    with pytest.raises(BadParameterError, match="reads any number"):
        parameter.read("0")


def formats_of(resource: Resource) -> list[str]:
    """Return the formats of a resource; one without a name if it has no choice."""
    for one in resource.parameters:
        if one.name in ("format", "output"):
            names = one.form.schema["enum"]
            assert isinstance(names, list)
            return names
    return [""]


FORMATS = [
    pytest.param(resource, form, id=f"{resource.path} {form}")
    for resource in RESOURCES
    if any(one.name == "limit" for one in resource.parameters) and "{" not in resource.path
    for form in formats_of(resource)
]


@pytest.fixture(scope="module")
def service() -> FlaskClient:
    store = MemoryStore(PAGES)
    return client_of(lambda: store)


@pytest.mark.parametrize(("resource", "form"), FORMATS)
def test_zero_has_every_row_of_the_largest_number_or_says_what_to_do(
    service: FlaskClient, resource: Resource, form: str
) -> None:
    asked = {one.name: VALUES[one.name] for one in resource.parameters if one.name in VALUES}
    asked |= {
        one.name: form for one in resource.parameters if form and one.name in ("format", "output")
    }
    (limit,) = (one for one in resource.parameters if one.name == "limit")

    def answer(number: object) -> tuple[int, bytes]:
        found = service.get(resource.path, query_string={**asked, "limit": str(number)})
        return found.status_code, found.data

    status, everything = answer(0)
    if status == 400:
        told = service.get(resource.path, query_string={**asked, "limit": "0"}).get_json()
        assert told["parameter"] == "limit"
        assert re.search("use one of rdfxml|go on with cursor|resumeKey reads", told["detail"])
        return
    assert status == 200
    of_most, most = answer(limit.form.schema["maximum"])
    assert of_most == 200
    assert len(everything.splitlines()) >= len(most.splitlines()) > 0
