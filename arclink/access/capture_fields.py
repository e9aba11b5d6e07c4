"""The fields of a capture, each declared once, for all forms in which captures leave ArcLink.

A form takes the names of its fields, their order, their values and their JSON Schema from `FIELDS`;
so does the table in the documentation (``docs/reference/captures.md``). To add a field, add it to
`arclink.model.Memento` if the store keeps it, and to `FIELDS`: every form has it then, unless its
declaration says otherwise.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from arclink.access.texts import printable, printable_uri
from arclink.checksums import digest_in
from arclink.model import Memento
from arclink.uris.surts import method_of_key

# Rows of captures that are left out because they repeat a field of the row before.
#
# Source: the Internet Archive's Wayback CDX Server, *Collapsing* (``collapse=field:N``); pywb,
# ``cdx_collapse_time_status`` (``collapseTime``).

Field = Callable[[Memento], str]


class Collapse(NamedTuple):
    """A field whose repetitions are left out.

    Attributes:
        name: Name of the field.
        length: Number of its first characters that are compared; 0 for all.
    """

    name: str
    length: int


def parse_collapse(text: str) -> Collapse:
    """Return the field and the length in ``FIELD`` or ``FIELD:N``.

    Raises:
        ValueError: The text has another form.

    >>> parse_collapse("timestamp:4")
    Collapse(name='timestamp', length=4)
    """
    written = re.fullmatch(r"([a-z]+)(?::([0-9]{1,4}))?", text)
    if written is None or written[2] == "0":
        raise ValueError
    return Collapse(written[1], int(written[2] or 0))


class Collapser:
    """Decides which rows are left out; ask about each row once, in order.

    Args:
        fields: For each collapse, the fields that are compared together, with their lengths.
        last: The values of the row before the first one, from `state`; None without one.
    """

    def __init__(
        self,
        fields: Sequence[Sequence[tuple[Field, int]]],
        last: Sequence[str | None] | None = None,
    ) -> None:
        self._fields = fields
        self._last: list[str | None] = list(last) if last is not None else [None] * len(fields)

    def passes(self, memento: Memento) -> bool:
        """Return whether a row differs from the row before, in each collapse."""
        for index, fields in enumerate(self._fields):
            values = [field(memento)[: length or None] for field, length in fields]
            value = " ".join(values)
            if value == self._last[index]:
                return False
            self._last[index] = value
        return True

    @property
    def state(self) -> list[str | None]:
        """The values of the last row, with which a later answer continues."""
        return self._last


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
        about: Its meaning, as a sentence for users.
        names: Its other names, by form; empty in forms that lack it.
        value: Attribute of a memento, or a function of it; by default the attribute ``name``.
    """

    name: str
    kind: FieldKind
    about: str
    names: Mapping[str, str] = {}
    value: str | Callable[[Memento], str] = ""


URI, TEXT, TIME, NUMBER, LENGTH = FieldKind

FIELDS = (
    CaptureField("surt", URI, "SURT of the URI.", {"cdx": "urlkey", "timemap": ""}),
    CaptureField(
        "uri",
        URI,
        "Captured URI.",
        {"cdx": "url", "timemap": "original", "relation": "written"},
        "original",
    ),
    CaptureField("timestamp", TIME, "Time of the capture, UTC.", {"captures": "time"}),
    CaptureField("status", TEXT, "HTTP status."),
    CaptureField("mime", TEXT, "Mime type; in `/cdx` `warc/revisit` for revisits."),
    CaptureField(
        "checksum",
        TEXT,
        "Checksum of the payload; for captures without payload, what they refer to.",
        {"cdx": "", "stream": "digest", "captures": ""},
    ),
    CaptureField(
        "digest",
        TEXT,
        "Checksum of the payload; not known for captures without payload.",
        {"explain": "", "timemap": "", "stream": "", "relation": ""},
        lambda memento: digest_in(memento.checksum),
    ),
    CaptureField(
        "record_type",
        TEXT,
        "`response`, `revisit` or `resource`.",
        {"cdx": "", "timemap": "", "stream": "type"},
    ),
    CaptureField("file", TEXT, "Name of the archive file.", {"cdx": "filename"}),
    CaptureField(
        "offset",
        NUMBER,
        "Where the record begins in the file, in bytes.",
        {"relation": "record_offset"},
    ),
    CaptureField(
        "length",
        LENGTH,
        "Bytes of the record as stored.",
        {"timemap": "", "relation": "record_length"},
    ),
    CaptureField("languages", TEXT, "Codes of its languages, with commas between them."),
    CaptureField(
        "method",
        TEXT,
        "The HTTP method that it answers, if that is not GET.",
        {"timemap": ""},
        lambda memento: method_of_key(memento.surt) or UNKNOWN,
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
        self._known, self._code = known, code
        items = ", ".join(f"{one!r}: {value}" for one, value in code.items())
        self.of: Callable[[Memento], dict[str, Any]] = eval(f"lambda memento: {{{items}}}", known)
        self._write = write

    @cached_property
    def getters(self) -> Mapping[str, Callable[[Memento], Any]]:
        """Functions that return the value of one field, by name."""
        return {
            one: eval(f"lambda memento: {value}", self._known) for one, value in self._code.items()
        }

    def columns(self, mementos: Sequence[Memento]) -> dict[str, Sequence[Any]]:
        """Return the values of all fields of captures, at least one, by name.

        This is faster than one by one.
        """
        attributes = dict(zip(Memento._fields, zip(*mementos, strict=True), strict=True))
        columns = {}
        for one, field in self.fields.items():
            if callable(field.value):
                values: Sequence[Any] = [*map(field.value, mementos)]
            else:
                values = attributes[field.value or field.name]
            if (write := self._write.get(field.kind)) is not None:
                values = _written(write, values)
            columns[one] = values
        return columns

    def texts(self, values: Iterable[str]) -> Sequence[object]:
        """Return texts as the form writes them; see `columns`."""
        return _written(self._write.get(TEXT, str), [*values])


def _written(write: Callable[[Any], object], values: Sequence[Any]) -> list[object]:
    """Write values; if most of them occur several times, each is written once."""
    distinct = {*values}
    if 2 * len(distinct) > len(values):
        return [*map(write, values)]
    written = {value: write(value) for value in distinct}
    return [*map(written.__getitem__, values)]


def _code_of(field: CaptureField, is_written: bool) -> str:
    """Return the expression for a value; one function has all of them, which is faster."""
    is_function = callable(field.value)
    value = f"{field.name}(memento)" if is_function else f"memento.{field.value or field.name}"
    return f"{field.kind.name}({value})" if is_written else value


_RAW = {URI: printable_uri}
_CLEANED = {**_RAW, TEXT: printable}
_TYPED = {
    **_RAW,
    TEXT: lambda text: None if text == UNKNOWN else printable(text),
    LENGTH: lambda length: length if length >= 0 else None,
}

CDX = CaptureForm(
    "cdx", {**_RAW, NUMBER: str, LENGTH: lambda length: str(length) if length >= 0 else UNKNOWN}
)
"""The rows of a capture index."""

EXPLANATION = CaptureForm(
    "explain", _CLEANED, "uri surt timestamp status mime languages record_type method"
)
"""JSON of the outcome of each capture."""

TIMEMAP = CaptureForm("timemap", _CLEANED, "timestamp original status mime languages")
"""JSON of TimeMaps."""

STREAM = CaptureForm("stream", _RAW, "uri surt timestamp status mime languages type method digest")
"""JSON lines of streams."""

TABLE = CaptureForm("captures", _TYPED)
"""Columns of tables."""

RELATION = CaptureForm("relation", _TYPED)
"""Columns of the relation of captures; ``offset`` is a word of SQL, so it has another name."""
