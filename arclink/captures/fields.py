"""The facts about a capture as others read them: the fields of JSON, of tables, and of index rows.

The digest of tables and rows is empty for redirects and "not modified" revisits: the store knows a
redirect by its target, and a "not modified" by the capture that it refers to.
"""

from typing import Any

from arclink.access.texts import printable, printable_uri
from arclink.checksums import digest_in
from arclink.model import Memento
from arclink.rows.cdx import Capture
from arclink.uris.methods import method_of_key, with_query_of_method
from arclink.uris.surts import cdx_key

COLUMNS = (
    "surt",
    "uri",
    "time",
    "status",
    "mime",
    "digest",
    "record_type",
    "file",
    "offset",
    "length",
    "languages",
    "method",
)
"""The columns of tables."""


def cells_of(memento: Memento) -> tuple[str | int | None, ...]:
    """Return the cells of a capture in a table; None if not known, and for the method GET."""
    return (
        printable_uri(memento.surt),
        printable_uri(memento.original),
        memento.timestamp,
        _value(memento.status),
        _value(memento.mime),
        _value(digest_in(memento.checksum)),
        memento.record_type,
        printable(memento.file),
        memento.offset,
        memento.length if memento.length >= 0 else None,
        _value(memento.languages),
        method_of_key(memento.surt) or None,
    )


def _value(text: str) -> str | None:
    return None if text == "-" else printable(text)


def facts_of(memento: Memento) -> dict[str, object]:
    """Return the fields of a capture in JSON; the method only if it is not GET."""
    method = method_of_key(memento.surt)
    return {
        "uri": printable_uri(memento.original),
        "surt": printable_uri(memento.surt),
        "timestamp": memento.timestamp,
        "status": memento.status,
        "mime": memento.mime,
        "languages": memento.languages,
        "type": memento.record_type,
        **({"method": method} if method else {}),
        "digest": memento.checksum,
        "file": memento.file,
        "offset": memento.offset,
        "length": memento.length,
    }


def row_of(memento: Memento, **known: Any) -> Capture:  # Any: any field of a row
    """Return the index row of a capture in its archive file; ``known`` replaces fields of it."""
    method = method_of_key(memento.surt)
    facts: dict[str, Any] = {
        "key": cdx_key(with_query_of_method(memento.original, method)),
        "timestamp": memento.timestamp,
        "original": memento.original,
        "mime": memento.mime,
        "status": memento.status,
        "checksum": digest_in(memento.checksum),
        "length": memento.length,
        "offset": memento.offset,
        "file": memento.file,
        "record_type": memento.record_type,
        "languages": memento.languages,
        "method": method,
    }
    return Capture(**facts | known)
