"""Rows of the relation ``known``: the payloads that a store on one machine knows.

Columns, separated by tabs: the word ``known``; checksum; one of the payload's contents or originals
(`CONTENT` or `ORIGINAL` and its cut or URI), or `NOTHING`; scope (a number, ``-`` if the payload
was not read); file; reason; offset. Originals are listed only if extract may still need them: those
of a payload that was not read, or whose links came from a poor source
(`arclink.rows.link_sources`), and those that lack their content.
"""

from arclink.model import Checksum, Payload, Scope

KNOWN = b"known"
"""Name of the relation, and the first column of its rows."""

CONTENT, ORIGINAL, NOTHING = "content:", "original:", "-"

_START = KNOWN + b"\t"


def format_known(checksum: Checksum, item: str, state: str, offset: int) -> bytes:
    """Return a row as a line, without line end.

    Args:
        checksum: Of the payload.
        item: `CONTENT` and a cut (which may be empty), `ORIGINAL` and a URI, or `NOTHING`.
        state: From `format_state`; few differ, so that a caller can cache them.
        offset: Of the record that the payload was read from.
    """
    return f"known\t{checksum}\t{item}\t{state}\t{offset}".encode()


def format_state(payload: Payload) -> str:
    """Return the columns for scope, file and reason of a payload."""
    scope = "-" if payload.scope is None else str(int(payload.scope))
    return f"{scope}\t{payload.file}\t{payload.reason}"


def split_known(line: bytes) -> tuple[bytes, bytes] | None:
    """Return checksum and the other columns of a row; None if the line is of another relation."""
    if not line.startswith(_START):
        return None
    checksum, _, columns = line[len(_START) :].partition(b"\t")
    return checksum, columns


def parse_known(checksum: Checksum, columns: bytes) -> tuple[Payload, str]:
    """Return the payload and the item of a row that `split_known` split.

    Raises:
        ValueError: It does not have the columns of a row.
    """
    item, scope, file, reason, offset = columns.decode().split("\t")
    known = None if scope == "-" else Scope(int(scope))
    return Payload(checksum, known, "-", file, int(offset), reason), item
