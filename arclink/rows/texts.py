"""Texts of pages, as extract passes them to the relations next to a store: a JSON list a line."""

import orjson

TEXTS = b"texts"

TextParts = tuple[str | None, str | None, str | None, bool | None]
"""What `TextRow` has of a page."""

TextRow = tuple[str, str | None, str | None, str | None, bool | None]
"""The text of a payload, or of a content.

Checksum of the payload, or id of the content; title (null if it is not known), declared language,
text (null for what has none), and whether it is longer than what was read (null without text).
"""


def format_text(row: TextRow) -> bytes:
    """Return a row as a line."""
    return orjson.dumps(row)


def parse_text(line: bytes) -> TextRow:
    """Return the row that `format_text` wrote."""
    checksum, title, language, text, is_cut = orjson.loads(line)
    return checksum, title, language, text, is_cut
