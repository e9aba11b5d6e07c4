"""The facts about a capture as others read them: the fields of JSON, of tables, and of index rows.

The digest of tables and rows is empty for redirects and "not modified" revisits: the store knows a
redirect by its target, and a "not modified" by the capture that it refers to.
"""

from typing import Any

from arclink.access.capture_fields import STREAM, TABLE, UNKNOWN
from arclink.checksums import digest_in
from arclink.model import Memento
from arclink.rows.cdx import Capture
from arclink.uris.methods import method_of_key, with_query_of_method
from arclink.uris.surts import cdx_key


def cells_of(memento: Memento) -> tuple[str | int | None, ...]:
    """Return the cells of a capture in a table; None if not known, and for the method GET."""
    return tuple(TABLE.of(memento).values())


def facts_of(memento: Memento) -> dict[str, object]:
    """Return the fields of a capture in JSON; the method only if it is not GET."""
    facts = STREAM.of(memento)
    if facts["method"] == UNKNOWN:
        del facts["method"]
    return facts


def row_of(memento: Memento, **known: Any) -> Capture:  # Any: any field of a row
    """Return the index row of a capture in its archive file; ``known`` replaces fields of it."""
    method = method_of_key(memento.surt)
    facts: dict[str, Any] = {
        **memento._asdict(),
        "key": cdx_key(with_query_of_method(memento.original, method)),
        "checksum": digest_in(memento.checksum),
        "method": method,
    }
    del facts["surt"], facts["reason"]
    return Capture(**facts | known)
