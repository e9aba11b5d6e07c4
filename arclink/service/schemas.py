"""JSON Schemas of the JSON answers, for the description of the service (``/openapi.json``).

They are made from the declarations next to the functions that make the answers. An object is a
`TypedDict` (`arclink.access.formats.fields` says how it is read), a row has `RowColumn`s, a capture
the fields of a `CaptureForm`. A class with fields has a schema of its own with its name; one whose
name begins with an underscore is a part of the schemas that have it.

Every object is closed: a field in an answer that its schema lacks is an error, which the tests
detect.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints

from arclink.access.capabilities import IN_ROWS, ColumnKind, RowColumn, capability
from arclink.access.capture_fields import CaptureForm, FieldKind
from arclink.access.captures import PagesFields
from arclink.access.declarations import attributes_of
from arclink.access.formats.explanations import ExplanationsFields
from arclink.access.formats.json_document import LinksFields
from arclink.access.formats.timemaps import TimeMapFields
from arclink.model import Timestamp
from arclink.questions.merged import MergedAnswerFields
from arclink.questions.rows import AnswerFields, QuestionsFields
from arclink.service.problems import ProblemFields
from arclink.service.questions import AddressesFields
from arclink.service.request_log import HealthFields
from arclink.service.subsets import SubsetsFields

Schema = Mapping[str, object]

TEXT: Schema = {"type": "string"}
_NULL: Schema = {"type": "null"}
_OF_TYPE: Mapping[object, Schema] = {
    str: TEXT,
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    object: {"type": "object"},
    NoneType: _NULL,
    Timestamp: {
        "type": "string",
        "pattern": "^[0-9]{14}$",
        "description": "14 digits, UTC: YYYYMMDDhhmmss",
    },
}
_OF_COLUMN: Mapping[ColumnKind, object] = {
    ColumnKind.TEXT: str,
    ColumnKind.NUMBER: int,
    ColumnKind.TIME: Timestamp,
    ColumnKind.TEXTS: list[str],
    ColumnKind.DECIMAL: float,
    ColumnKind.FLAG: bool,
}
_OF_CAPTURE: Mapping[FieldKind, object] = {
    FieldKind.TIME: Timestamp,
    FieldKind.NUMBER: int,
    FieldKind.LENGTH: Annotated[int, {"minimum": -1}],
}

SCHEMAS: dict[str, Schema] = {}
"""All schemas by name; they refer to each other."""


def ref(name: str) -> Schema:
    """Return a reference to one of `SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


def _listed(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _object(always: Mapping[str, Schema], sometimes: Mapping[str, Schema], about: str) -> Schema:
    """Return the schema of an object with these fields and no others."""
    schema: dict[str, object] = {
        "type": "object",
        "properties": {**always, **sometimes},
        "required": [*always],
        "additionalProperties": False,
    }
    return {**schema, "description": about} if about else schema


def _schema_of(kind: Any, form: CaptureForm | None = None) -> Schema:
    """Return the schema of the values of a declared type.

    Args:
        kind: The type.
        form: The fields of a capture that an object also has.
    """
    origin, of = get_origin(kind), get_args(kind)
    if origin is None and kind in _OF_TYPE:
        return _OF_TYPE[kind]
    if origin is NotRequired:
        return _schema_of(of[0])
    if origin is Annotated:
        return _noted(*of)
    if origin in (Union, UnionType):
        return {"anyOf": [_schema_of(one) for one in of]}
    if origin in (list, Sequence):
        return _listed(_schema_of(of[0]))
    if origin in (dict, Mapping):
        names, values = _schema_of(of[0]).get("enum"), _schema_of(of[1])
        if isinstance(names, list):
            return _object({}, dict.fromkeys(names, values), "")
        return {"type": "object", "additionalProperties": values}
    if hasattr(kind, "__supertype__"):
        return _schema_of(kind.__supertype__)
    if kind.__name__.startswith("_"):
        return _fields_of(kind, form)
    name = kind.__name__.removesuffix("Fields")
    if name not in SCHEMAS:
        SCHEMAS[name] = _fields_of(kind, form)
    return ref(name)


def _noted(kind: Any, *notes: Any) -> Schema:
    """Return the schema of a type with notes."""
    form = next((note for note in notes if isinstance(note, CaptureForm)), None)
    classes = (note for note in notes if isinstance(note, type) and not issubclass(note, Enum))
    schema = _schema_of(next(classes, kind), form)
    for note in notes:
        if isinstance(note, str):
            schema = {**schema, "description": note}
        elif isinstance(note, Mapping):
            schema = {**schema, **note}
        elif isinstance(note, tuple):
            schema = {"enum": [*note]}
        elif isinstance(note, type) and issubclass(note, Enum):
            schema = {"enum": [one.value for one in note]}
    return schema


def _fields_of(
    kind: Any,
    form: CaptureForm | None = None,
    lists: Mapping[str, Sequence[RowColumn]] | None = None,
    has_one_list: bool = False,
) -> Schema:
    """Return the schema of an object.

    Args:
        kind: The class that declares its fields.
        form: See `_schema_of`.
        lists: Its lists of rows.
        has_one_list: Whether it has only one of them.
    """
    always: dict[str, Schema] = {}
    sometimes: dict[str, Schema] = {}
    for name, field in (form.fields if form else {}).items():
        always[name] = _schema_of(_OF_CAPTURE.get(field.kind, str))
    hints, sentences = get_type_hints(kind, include_extras=True), attributes_of(kind)
    for name, of in hints.items():
        fields = always if name in getattr(kind, "__required_keys__", hints) else sometimes
        fields[name] = _noted(of, *([sentences[name]] if name in sentences else []))
    for name, columns in (lists or {}).items():
        (sometimes if has_one_list else always)[name] = _listed(_row_of(columns))
    return _object(always, sometimes, (kind.__doc__ or "").partition("\n")[0])


def _row_of(columns: Sequence[RowColumn]) -> Schema:
    """Return the schema of the rows with these columns; of any rows without columns."""
    always: dict[str, Schema] = {}
    sometimes: dict[str, Schema] = {}
    for one in columns:
        schema = _noted(_OF_COLUMN[one.kind], *([one.values] if one.values else []))
        schema = {"anyOf": [schema, _NULL]} if one.may_be_null else schema
        fields = always if one.is_always else sometimes
        fields[one.name] = {**schema, "description": one.about}
    return _object(always, sometimes, "") if columns else {"type": "object"}


for _answer in (
    *(PagesFields, ProblemFields, LinksFields, QuestionsFields, AddressesFields, SubsetsFields),
    *(ExplanationsFields, TimeMapFields, HealthFields),
):
    _schema_of(_answer)
for _one in map(capability, IN_ROWS):
    SCHEMAS[_one.schema] = _fields_of(_one.head, None, _one.lists, _one.has_one_list)
_COLUMNS_OF_ANSWERS: Sequence[RowColumn] = ()
"""The columns of answers to questions."""
SCHEMAS["Answer"] = _fields_of(AnswerFields, None, {"rows": _COLUMNS_OF_ANSWERS})
SCHEMAS["MergedAnswer"] = _fields_of(MergedAnswerFields, None, {"rows": _COLUMNS_OF_ANSWERS})
