"""The facts about a capture as others read them: the fields of JSON, and of index rows.

The digest of rows is empty for redirects and "not modified" revisits: the store knows a
redirect by its target, and a "not modified" by the capture that it refers to.
"""

from typing import Any

from arclink.access.capture_fields import STREAM, UNKNOWN
from arclink.checksums import digest_in
from arclink.model import Memento
from arclink.rows.cdx import Capture
from arclink.uris.surts import cdx_key, method_of_key, with_query_of_method


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
