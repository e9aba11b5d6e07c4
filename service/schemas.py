"""JSON Schemas of the JSON answers, for the description of the service (``/openapi.json``).

They are made from the declarations next to the functions that make the answers. An object is a
`TypedDict` (`arclink.access.formats.fields` says how it is read), a row has `RowColumn`s, a capture
the fields of a `CaptureForm`. A class with fields has a schema of its own with its name; one whose
name begins with an underscore is a part of the schemas that have it.

Every object is closed: a field in an answer that its schema lacks is an error, which the tests
detect.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints

from arclink.access.capabilities import ColumnKind, RowColumn, capability
from arclink.access.capture_fields import CaptureForm, FieldKind
from arclink.access.captures import PagesFields
from arclink.access.declarations import attributes_of
from arclink.access.formats.explanations import ExplanationsFields
from arclink.access.formats.fields import LinksFields
from arclink.access.formats.timemaps import TimeMapFields
from arclink.access.provenance import ProvenanceFields
from arclink.analysis.questions.merged import ARCHIVES, NAMES_OF_ARCHIVES, MergedAnswerFields
from arclink.analysis.questions.rows import AnswerFields, QuestionsFields
from arclink.analysis.questions.table import COLUMNS
from arclink.model import Timestamp
from arclink.rooms import CAPABILITIES
from arclink.service.problems import ProblemFields
from arclink.service.query_resources import AddressesFields
from arclink.service.responses import HealthFields
from arclink.service.selecting import SubsetsFields

Schema = Mapping[str, object]

TEXT: Schema = {"type": "string"}
_OF_TYPE: Mapping[object, Schema] = {
    str: TEXT,
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    object: {"type": "object"},
    NoneType: {"type": "null"},
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


def _object(fields: Iterable[tuple[str, Schema, bool]], about: str = "") -> Schema:
    """Return the schema of an object with these fields, and whether each is always there."""
    listed = [*fields]
    return {
        "type": "object",
        "properties": {name: schema for name, schema, _ in listed},
        "required": [name for name, _, is_always in listed if is_always],
        "additionalProperties": False,
        **({"description": about} if about else {}),
    }


def _schema_of(kind: Any, form: CaptureForm | None = None) -> Schema:
    """Return the schema of the values of a declared type.

    Args:
        kind: The type.
        form: The form of a capture whose fields an object has, too.
    """
    origin, of = get_origin(kind), get_args(kind)
    if origin is None and kind in _OF_TYPE:
        return _OF_TYPE[kind]
    if origin is NotRequired:
        return _schema_of(of[0])
    if origin is Annotated:
        return _noted(*of)
    if origin in (Union, UnionType):
        return {"anyOf": [*map(_schema_of, of)]}
    if origin in (list, Sequence):
        return {"type": "array", "items": _schema_of(of[0])}
    if origin in (dict, Mapping):
        names, values = _schema_of(of[0]).get("enum"), _schema_of(of[1])
        if isinstance(names, list):
            return _object((name, values, False) for name in names)
        return {"type": "object", "additionalProperties": values}
    if hasattr(kind, "__supertype__"):
        return _schema_of(kind.__supertype__)
    if kind.__name__.startswith("_"):
        return _object(_fields_of(kind, form), _about(kind))
    name = kind.__name__.removesuffix("Fields")
    if name not in SCHEMAS:
        SCHEMAS[name] = _object(_fields_of(kind, form), _about(kind))
    return ref(name)


def _about(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


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


def _fields_of(kind: Any, form: CaptureForm | None) -> Iterator[tuple[str, Schema, bool]]:
    """Yield the fields of a class; see `_schema_of`."""
    for name, field in (form.fields if form else {}).items():
        yield name, _noted(_OF_CAPTURE.get(field.kind, str), field.about), True
    hints, sentences = get_type_hints(kind, include_extras=True), attributes_of(kind)
    for name, of in hints.items():
        schema = _noted(of, *([sentences[name]] if name in sentences else []))
        yield name, schema, name in getattr(kind, "__required_keys__", hints)


def _row_of(columns: Sequence[RowColumn]) -> Schema:
    """Return the schema of the rows with these columns."""
    return _object((one.name, _of_column(one), one.is_always) for one in columns)


def _of_column(one: RowColumn) -> Schema:
    of: Any = Annotated[_OF_COLUMN[one.kind], one.values] if one.values else _OF_COLUMN[one.kind]
    return _noted(of | None if one.may_be_null else of, one.about)


def _in_rows(
    head: type,
    lists: Mapping[str, Sequence[RowColumn]],
    *,
    has_one_list: bool = False,
    is_of_one_store: bool = True,
) -> Schema:
    """Return the schema of an answer in rows; see `Capability`. One store says where it is from."""
    from_where = (("provenance", _schema_of(ProvenanceFields), True),) if is_of_one_store else ()
    rows = (
        (name, {"type": "array", "items": _row_of(columns)}, not has_one_list)
        for name, columns in lists.items()
    )
    return _object((*_fields_of(head, None), *from_where, *rows), _about(head))


for _answer in (
    *(PagesFields, ProblemFields, LinksFields, QuestionsFields, AddressesFields, SubsetsFields),
    *(ExplanationsFields, TimeMapFields, HealthFields),
):
    _schema_of(_answer)
for _one in map(capability, CAPABILITIES):
    SCHEMAS[_one.schema] = _in_rows(_one.head, _one.lists, has_one_list=_one.has_one_list)
_OF_ANSWERS = [
    RowColumn(name, column.kind, column.about, is_always=False, may_be_null=True)
    for name, column in COLUMNS.items()
]
"""The columns of all questions; an answer has some of them."""
_NAMES = RowColumn(ARCHIVES, ColumnKind.TEXTS, NAMES_OF_ARCHIVES)
SCHEMAS["Answer"] = _in_rows(AnswerFields, {"rows": _OF_ANSWERS})
SCHEMAS["MergedAnswer"] = _in_rows(
    MergedAnswerFields, {"rows": [_NAMES, *_OF_ANSWERS]}, is_of_one_store=False
)
