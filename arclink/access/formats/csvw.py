"""Metadata of a CSV file: what its columns mean, and where its rows are from.

Source: Metadata Vocabulary for Tabular Data (CSVW), W3C Recommendation, 2015.
"""

import os
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from arclink.access.texts import percent_encoded

_SUFFIX = "-metadata.json"
"""End of the name by which programs find such a file (Model for Tabular Data, section 5.3)."""

_CONTEXT = "http://www.w3.org/ns/csvw"

# CSVW has no form for times of 14 digits, so they are texts of such a form.
_TIME = {
    "base": "string",
    "format": "[0-9]{14}",
    "dc:description": "UTC: YYYYMMDDhhmmss",
}
_DATATYPES: Mapping[str, object] = {
    "bool": {"base": "boolean", "format": "True|False"},
    "double": "double",
    "float": "float",
    "decimal128": "decimal",
    "date32[day]": "date",
    "time": _TIME,
    **{f"{sign}int{bits}": "integer" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""Datatypes by Arrow types; any other is a text."""


def csvw(
    columns: Iterable[str],
    kind_of: Callable[[str], str],
    about: Mapping[str, str],
    notes: object = None,
    *,
    url: str = "answer.csv",
    cite: str = "",
    archive: str = "",
    never_null: Container[str] = (),
) -> bytes:
    """Return the metadata of a CSV file as JSON.

    Args:
        columns: Names of its columns, in order; two may be equal.
        kind_of: Returns the Arrow type of a column or its name, ``time`` for 14 digits, or a name
            that begins with ``list`` for texts that are separated by spaces.
        about: What columns mean, by name.
        notes: Members of JSON about the file.
        url: Address of the file, relative to that of its metadata.
        cite: A line to cite.
        archive: Name of the archive.
        never_null: Columns in which an empty cell is an empty text, not a missing value.
    """
    names: dict[str, None] = {}
    fields = []
    for column in columns:
        name = base = _name_of(column)
        number = 2
        while name in names:
            name, number = f"{base}.{number}", number + 1
        names[name] = None
        kind = kind_of(column)
        field: dict[str, Any] = {"name": name, "titles": column or " "}
        if column in about:
            field["dc:description"] = about[column]
        field["datatype"] = _DATATYPES.get(kind.partition("(")[0], "string")
        if kind.startswith("list"):
            field["separator"] = " "
        elif column in never_null:
            field["null"] = []  # without it, an empty cell is null (section 5.1.1)
        fields.append(field)
    document = {
        "@context": [_CONTEXT, {"@language": "en"}],
        "url": url,
        **({"dc:source": archive} if archive else {}),
        **({"dc:bibliographicCitation": cite} if cite else {}),
        "dialect": {"header": True, "encoding": "utf-8", "lineTerminators": ["\r\n"]},
        "tableSchema": {"columns": fields},
        **({"notes": notes if isinstance(notes, list) else [notes]} if notes else {}),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def saying(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `csvw` that say where a file is from, from the members of JSON."""
    return {
        "notes": provenance,
        "cite": provenance["cite"],
        "archive": provenance["archive"] or "",
    }


def next_to(path: Path) -> Path:
    """Return the path of the metadata of a CSV file."""
    return path.with_name(f"{path.name}{_SUFFIX}")


def remove_metadata(path: Path) -> None:
    """Remove the metadata that ArcLink wrote about the CSV file that was at a path.

    Raises:
        OSError: It cannot be removed.
    """
    metadata = next_to(path)
    with suppress(ValueError, LookupError, TypeError):  # not ours
        if metadata.is_file():
            found = orjson.loads(metadata.read_bytes())
            if found["url"] == address_of(path) and found["notes"][0]["arclink"]:
                metadata.unlink()


def address_of(path: Path) -> str:
    """Return the address of a file for metadata next to it.

    >>> address_of(Path("answers/of 2010.csv"))
    'of%202010.csv'
    """
    return quote(os.fsencode(path.name))


def _name_of(column: str) -> str:
    """Return a name that variables of URI templates may have (RFC 6570, section 2.3).

    >>> _name_of("first_seen"), _name_of("_count(*)")
    ('first_seen', '%5Fcount%28%2A%29')
    """
    written = "".join(
        one if one.isascii() and (one.isalnum() or one in "_.") else percent_encoded(one)
        for one in column
    )
    if written[:1] in ("_", "."):
        written = percent_encoded(written[0]) + written[1:]
    return written or "%20"
