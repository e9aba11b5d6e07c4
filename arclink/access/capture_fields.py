"""The fields of a capture, each declared once, for all forms in which captures leave ArcLink.

A form takes the names of its fields, their order, their values and their JSON Schema from `FIELDS`;
so does the table in the documentation (``docs/reference/captures.md``). To add a field, add it to
`arclink.model.Memento` if the store keeps it, and to `FIELDS`: every form has it then, unless its
declaration says otherwise.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from arclink.access.texts import printable, printable_uri
from arclink.checksums import digest_in
from arclink.model import Memento
from arclink.uris.methods import method_of_key

UNKNOWN = "-"
"""A text that is not known."""


class FieldKind(Enum):
    """What the values of a field are."""

    URI = "URI"
    TEXT = "text"
    TIME = "time"
    NUMBER = "number"
    LENGTH = "length"
    """A number of bytes, -1 if it is not known."""


class CaptureField(NamedTuple):
    """One field of a capture.

    Attributes:
        name: Its name in forms that have no other name for it.
        kind: What its values are.
        about: Its meaning, as a sentence for users.
        value: Attribute of a memento, or a function of it.
        names: Its names in forms that have another one; empty in those that lack it.
    """

    name: str
    kind: FieldKind
    about: str
    value: str | Callable[[Memento], str]
    names: Mapping[str, str]


def _field(
    name: str,
    kind: FieldKind,
    about: str,
    value: str | Callable[[Memento], str] = "",
    **names: str,
) -> CaptureField:
    return CaptureField(name, kind, about, value or name, names)


FIELDS = (
    _field(
        "surt", FieldKind.URI, "SURT of the URI, the key in the store.", cdx="urlkey", timemap=""
    ),
    _field(
        "uri",
        FieldKind.URI,
        "The captured URI.",
        "original",
        cdx="url",
        timemap="original",
    ),
    _field("timestamp", FieldKind.TIME, "Time of the capture, UTC.", table="time"),
    _field("status", FieldKind.TEXT, "HTTP status."),
    _field("mime", FieldKind.TEXT, "Mime type; in `/cdx` `warc/revisit` for revisits."),
    _field(
        "checksum",
        FieldKind.TEXT,
        "Checksum of the payload; for captures without payload, what they refer to.",
        cdx="",
        stream="digest",
        table="",
    ),
    _field(
        "digest",
        FieldKind.TEXT,
        "Checksum of the payload; not known for captures without payload.",
        lambda memento: digest_in(memento.checksum),
        explain="",
        timemap="",
        stream="",
    ),
    _field(
        "record_type",
        FieldKind.TEXT,
        "`response`, `revisit` or `resource`.",
        cdx="",
        timemap="",
        stream="type",
    ),
    _field("file", FieldKind.TEXT, "Name of the archive file.", cdx="filename"),
    _field("offset", FieldKind.NUMBER, "Where the record begins in the file, in bytes."),
    _field("length", FieldKind.LENGTH, "Bytes of the record as stored.", timemap=""),
    _field("languages", FieldKind.TEXT, "Codes of its languages, with commas between them."),
    _field(
        "method",
        FieldKind.TEXT,
        "The HTTP method that it answers, if that is not GET.",
        lambda memento: method_of_key(memento.surt) or UNKNOWN,
        timemap="",
    ),
)
"""The fields in the order of columns."""


class CaptureForm:
    """A form in which captures leave ArcLink.

    Args:
        name: Its name in `CaptureField.names`.
        write: Makes the values of fields of a kind; other values are written unchanged.
        begin: The names that come first, with blanks between them; the others follow in the order
            of `FIELDS`.

    Attributes:
        fields: The fields by their names in the form, in its order.
        getters: Functions that return their values, by the same names.
        of: Returns the values of all fields of a capture, by name.
    """

    def __init__(
        self, name: str, write: Mapping[FieldKind, Callable[[Any], object]], begin: str = ""
    ) -> None:
        self.name = name
        by_name = {field.names.get(name, field.name): field for field in FIELDS}
        order = dict.fromkeys((*begin.split(), *by_name))
        self.fields = {one: by_name[one] for one in order if one}
        known: dict[str, object] = {kind.name: function for kind, function in write.items()}
        known |= {field.name: field.value for field in FIELDS}
        code = {one: _code_of(field, field.kind in write) for one, field in self.fields.items()}
        self.getters: Mapping[str, Callable[[Memento], Any]] = {
            one: eval(f"lambda memento: {value}", known) for one, value in code.items()
        }
        items = ", ".join(f"{one!r}: {value}" for one, value in code.items())
        self.of: Callable[[Memento], dict[str, Any]] = eval(f"lambda memento: {{{items}}}", known)


def _code_of(field: CaptureField, is_written: bool) -> str:
    """Return the expression for a value; one function has all of them, which is faster."""
    is_attribute = isinstance(field.value, str)
    value = f"memento.{field.value}" if is_attribute else f"{field.name}(memento)"
    return f"{field.kind.name}({value})" if is_written else value


_RAW = {FieldKind.URI: printable_uri}
_CLEANED = {**_RAW, FieldKind.TEXT: printable}

CDX = CaptureForm(
    "cdx",
    {
        **_RAW,
        FieldKind.NUMBER: str,
        FieldKind.LENGTH: lambda length: str(length) if length >= 0 else UNKNOWN,
    },
)
"""The rows of a capture index."""

EXPLANATION = CaptureForm(
    "explain", _CLEANED, "uri surt timestamp status mime languages record_type method"
)
"""JSON of the outcome of each capture."""

TIMEMAP = CaptureForm("timemap", _CLEANED, "timestamp original status mime languages")
"""JSON of TimeMaps."""
