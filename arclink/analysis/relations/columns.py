"""The columns of the relations: files and reference follow from this table.

``links JOIN captures USING (content)`` is the graph of pages; the relations themselves are the
graph of contents (paper, figure 4).
"""

from collections.abc import Mapping
from typing import NamedTuple

from arclink.access.capture_fields import LENGTH, NUMBER, RELATION


class Column(NamedTuple):
    """A column.

    Attributes:
        name: Its name.
        kind: Its type in DuckDB.
        about: Its meaning, for users.
    """

    name: str
    kind: str
    about: str


_TEXT, _ID, _TIME, _NUMBER = "VARCHAR", "UUID", "TIMESTAMP", "BIGINT"

_FIELDS = {
    name: Column(name, _NUMBER if field.kind in (NUMBER, LENGTH) else _TEXT, field.about)
    for name, field in RELATION.fields.items()
}
_OF_URI = (
    Column("uri", _TEXT, "Captured URI, written as browsers write it: as targets are."),
    Column("written", _TEXT, "URI as captured, if that differs; else null."),
    Column("uri_id", _ID, "URI-ID of the URI: the 128-bit SimHash of its SURT."),
    Column("host", _TEXT, "Host of the URI; null if it has none."),
    Column("domain", _TEXT, "Registered domain of the host; null if it has none."),
    Column("time", _TIME, "The timestamp as a time, UTC."),
    Column(
        "content",
        _TEXT,
        "The content that it shows (`links.content`); null if its payload was not read.",
    ),
    Column(
        "title",
        _TEXT,
        "Title of the page; empty if the page has none, null if it is not known.",
    ),
)

_SAID = (
    Column(
        "shown_status",
        "SMALLINT",
        "HTTP status that it shows: a revisit without its own, or with 304, shows that of the "
        "capture which it repeats.",
    ),
    Column("shown_mime", _TEXT, "Mime type that it shows; not `warc/revisit`."),
    Column(
        "leads_to_itself",
        "BOOLEAN",
        "Whether it redirects to a variant of its own URI: then it says nothing about its page.",
    ),
)

CAPTURES = (
    _FIELDS["surt"],
    *_OF_URI[:5],
    _FIELDS["timestamp"],
    _OF_URI[5],
    _FIELDS["status"]._replace(kind="SMALLINT"),
    *(_FIELDS[name] for name in ("mime", "languages", "record_type", "method")),
    _FIELDS["checksum"],
    *_OF_URI[6:],
    *(_FIELDS[name] for name in ("file", "record_offset", "record_length")),
    *_SAID,
)
"""A row per capture (memento), sorted by SURT and time."""

LINKS = (
    Column("content", _TEXT, "The content that has the link: a payload, and where it was."),
    Column("position", "INTEGER", "Number of the link in the content, in page order, from 0 on."),
    Column("occurrences", "INTEGER", "How often the content has the link."),
    Column("target", _TEXT, "URI that the link leads to, without fragment."),
    Column("target_surt", _TEXT, "SURT of the target: the key with which it joins captures."),
    Column("target_id", _ID, "URI-ID of the target."),
    Column("target_host", _TEXT, "Host of the target; null if it has none, as `mailto:`."),
    Column("target_domain", _TEXT, "Registered domain of the host; null if it has none."),
    Column("kind", _TEXT, "Element and attribute of the link, such as `a@href`."),
    Column("text", _TEXT, "Text of the link, or alternate text of an image; may be empty."),
    Column("rel", _TEXT, "The `rel` attribute; null if it is missing."),
)
"""A row per distinct link of a content, sorted by target."""

_NOT_BY_PAGE = ("position", "occurrences", "target_id")
"""Columns that no question reads; the identifiers would be 30 % of the file."""

LINKS_BY_PAGE = (
    *(column for column in LINKS if column.name not in _NOT_BY_PAGE),
    Column("row_group", "INTEGER", "The number of the row group, from 0 on, about."),
)
"""The same rows in the order of the store's contents, so that links of a site are neighbours."""

TEXTS = (
    Column("content", _TEXT, "The content whose text it is."),
    Column("title", _TEXT, "Its title; empty if the page has none, null if it is not known."),
    Column("language", _TEXT, "Language that the page declares; null if it declares none."),
    Column(
        "text",
        _TEXT,
        "Its text, a line for each line of the page; null if it is no HTML and no plain text.",
    ),
    Column(
        "is_cut",
        "BOOLEAN",
        "Whether the page is longer than what was read; null if it has no text here.",
    ),
)
"""A row per content whose text was read, sorted by content."""

MOST_PLACES, LONGEST_WORD = 128, 1_000

WORDS = (
    Column("word", _TEXT, f"A word, as `words_of` writes it, of up to {LONGEST_WORD:,} bytes."),
    Column("content", _TEXT, "A content that has the word in its title or text."),
    Column("times", "INTEGER", "How often it has the word; null in further rows of the same word."),
    Column(
        "places",
        "INTEGER[]",
        "Numbers of its words that are this one, from 1 on: those of the title, a number that no "
        f"word has, and those of the text. A row has up to {MOST_PLACES}; further ones follow.",
    ),
)
"""A row per distinct word of a content, sorted by word and content.

Files name a content by the number of its row in the texts of the same part, from 0 on: its name
would be nine tenths of them. A word with many places has further rows. No one can ask for a word
that is longer than a question.
"""

RELATIONS: Mapping[str, tuple[Column, ...]] = {
    "captures": CAPTURES,
    "links": LINKS,
    "links_by_page": LINKS_BY_PAGE,
    "texts": TEXTS,
    "words": WORDS,
}
"""The columns of each relation, by its name in SQL."""
