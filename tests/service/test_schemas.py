"""The JSON Schemas of answers are made from what declares their fields, and hold answers to it."""

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import pytest
from flask.testing import FlaskClient
from jsonschema_rs import validator_for

from arclink.access.capabilities import capability
from arclink.access.replay import parse_replay
from arclink.model import Surt, Timestamp
from arclink.rooms import CAPABILITIES
from arclink.service.schemas import SCHEMAS, _schema_of
from arclink.service.settings import Settings
from tests.service.conftest import PAGES, T1, T2, A, B, client_of
from tests.store.memory_store import MemoryStore

ANSWERS = {
    f"/linkQuery?uri={A}&format=json&evidence=true&validity=true": "Links",
    f"/linkQuery?uri={A}&format=json&at=2010": "Links",
    "/linkQuery?uri=http://*&format=json": "Links",
    f"/anchors?uri={A}&by=month,host": "Anchors",
    f"/anchors?uri={A}&at=2010": "Anchors",
    f"/diff?uri={A}&from={T1}&to={T2}&direction=both": "Diff",
    "/count?by=status": "Count",
    f"/path?begin={A}&end={B}": "Path",
    f"/path?begin={A}&end=http://never.example/": "Path",
    "/properties?by=year": "Properties",
    "/pagerank?level=host": "Pagerank",
    "/pagerank?level=host&compare=true": "Pagerank",
    f"/pagerank?uri={A}": "Pagerank",
    f"/explain?uri={A}": "Explanations",
    "/ask": "Questions",
    f"/ask/linkers?uri={A}&by=month": "Answer",
    f"/ask/diff?uri={A}&from={T1}&to={T2}": "Answer",
    f"/timemap/json/{A}": "TimeMap",
    f"/aggregate?uri={A}&format=json": "Links",
    f"/aggregate/ask/linkers?uri={A}&by=month": "MergedAnswer",
    "/cdx?url=http://a.example/&showNumPages=true": "Pages",
    "/linkQuery?uri=": "Problem",
    "/anchors": "Problem",
    "/subsets": "Subsets",
    "/complete?begins=a": "Addresses",
    "/health": "Health",
}
"""Requests whose JSON answers have, together, all fields that are declared."""


@pytest.fixture(scope="module")
def replaying() -> FlaskClient:
    """Return a client of a service whose mementos have addresses in a replay system."""
    replay = parse_replay("--replay", "https://w.example/web/")
    return client_of(lambda: MemoryStore(PAGES), Settings(replay=replay))


def is_of(schema: str, answer: object) -> bool:
    whole = {"$ref": f"#/components/schemas/{schema}", "components": {"schemas": SCHEMAS}}
    return bool(validator_for(whole).is_valid(answer))


@pytest.mark.parametrize(("path", "schema"), ANSWERS.items(), ids=ANSWERS)
def test_an_answer_has_the_declared_fields_no_other_and_no_fewer(
    replaying: FlaskClient, path: str, schema: str
) -> None:
    answer: dict[str, Any] = replaying.get(path).get_json()
    required = SCHEMAS[schema]["required"]
    assert isinstance(required, list)
    assert is_of(schema, answer)
    assert not is_of(schema, {**answer, "another": 1})
    for name in required:
        assert not is_of(schema, {one: value for one, value in answer.items() if one != name})
    for name, value in answer.items():
        assert not is_of(schema, {**answer, name: {"other": value}}), name


def test_every_capability_has_a_case() -> None:
    assert {capability(name).schema for name in CAPABILITIES} <= {*ANSWERS.values()}


def test_the_schema_of_a_capability_has_its_head_and_its_columns() -> None:
    for name in CAPABILITIES:
        one = capability(name)
        properties = SCHEMAS[one.schema]["properties"]
        assert isinstance(properties, Mapping)
        assert {*one.head.__annotations__, "provenance"} == {*properties} - {*one.lists}
        for rows in one.lists:
            row: Mapping[str, Mapping[str, object]] = properties[rows]["items"]["properties"]
            assert all(column["description"] for column in row.values())


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class _Part(TypedDict):
    size: Annotated[int, "Its size."]


class Point(NamedTuple):
    """A point.

    Attributes:
        x: The first coordinate.
    """

    x: int
    y: float


class ShapeFields(_Part, total=False):
    """A shape."""

    part: _Part


WHOLE = {"type": "integer", "minimum": 0}
TIME = {
    "type": "string",
    "pattern": "^[0-9]{14}$",
    "description": "14 digits, UTC: YYYYMMDDhhmmss",
}
PART = {
    "type": "object",
    "properties": {"size": {**WHOLE, "description": "Its size."}},
    "required": ["size"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        pytest.param(str, {"type": "string"}, id="text"),
        pytest.param(Surt, {"type": "string"}, id="new type of text"),
        pytest.param(Timestamp, TIME, id="time"),
        pytest.param(bool, {"type": "boolean"}, id="flag"),
        pytest.param(list[int], {"type": "array", "items": WHOLE}, id="list"),
        pytest.param(dict[str, int], {"type": "object", "additionalProperties": WHOLE}, id="names"),
        pytest.param(Timestamp | None, {"anyOf": [TIME, {"type": "null"}]}, id="or null"),
        pytest.param(NotRequired[int], WHOLE, id="not always"),
        pytest.param(
            Annotated[int | None, "A sentence."],
            {"anyOf": [WHOLE, {"type": "null"}], "description": "A sentence."},
            id="sentence",
        ),
        pytest.param(Annotated[str, Color], {"enum": ["red", "blue"]}, id="enum"),
        pytest.param(
            Annotated[int, {"minimum": -1}], {"type": "integer", "minimum": -1}, id="keywords"
        ),
        pytest.param(
            dict[Annotated[str, Color], bool],
            {
                "type": "object",
                "properties": {"red": {"type": "boolean"}, "blue": {"type": "boolean"}},
                "required": [],
                "additionalProperties": False,
            },
            id="only these names",
        ),
        pytest.param(_Part, PART, id="part of other schemas"),
    ],
)
def test_a_declared_type_has_its_schema(kind: object, schema: Mapping[str, object]) -> None:
    assert _schema_of(kind) == schema


def test_a_class_with_fields_has_a_schema_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Shape", "Point"):
        monkeypatch.delitem(SCHEMAS, name, raising=False)
    try:
        assert _schema_of(ShapeFields) == {"$ref": "#/components/schemas/Shape"}
        assert _schema_of(Annotated[dict[str, Any], Point]) == {
            "$ref": "#/components/schemas/Point"
        }
        assert SCHEMAS["Shape"] == {
            **PART,
            "properties": {**PART["properties"], "part": PART},  # type: ignore[dict-item]
            "description": "A shape.",
        }
        assert SCHEMAS["Point"]["properties"] == {
            "x": {**WHOLE, "description": "The first coordinate."},
            "y": {"type": "number"},
        }
    finally:
        del SCHEMAS["Shape"], SCHEMAS["Point"]
