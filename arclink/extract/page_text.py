"""The readable text of HTML, in blocks: `read_page_text`.

The parser removes what is not shown and writes the rest again, and one loop reads that
(`arclink.extract.text_blocks`): an object of Python for each node would take five times as long.
Without scripts and the like, each ``<`` in what it writes begins a tag or a comment.
"""

from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from arclink.errors import UriError
from arclink.extract.bounds import bounded
from arclink.extract.html import BREAKS, NOT_SHOWN
from arclink.extract.text_blocks import (
    EMPTY,
    END,
    IMAGE,
    LINK,
    LINK_END,
    START,
    Block,
    folded,
    read_blocks,
)
from arclink.filter.rules import PLAIN_TEXT
from arclink.model import UriR
from arclink.rows.texts import TextParts
from arclink.uris.resolution import Base

MOST_TEXT: Final = 4_000_000
"""Maximum length of the text of a page."""

_LONGEST_LANGUAGE: Final = 35
"""Maximum characters of a language tag (BCP 47, 4.4.1)."""

HTML_MIMES: Final = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of pages."""

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_KINDS: Final = {**{name: name for name in HEADINGS}, "li": "item", "pre": "pre"}

# The parser writes the text of these as it is, so that it looks like markup.
_RAW: Final = ("xmp", "plaintext")
_NOT_READ: Final = ",".join(
    [
        *sorted(NOT_SHOWN),
        *("template", "select", "title", "textarea", "object", "svg", "math"),
        "[hidden]:not(body)",
        *_RAW,
    ]
)

_MEANINGS: Final = {
    "img": IMAGE,
    **dict.fromkeys(BREAKS, START),
    **{f"/{name}": END for name in BREAKS},
    **dict.fromkeys(("br", "col", "hr"), EMPTY),
}
_WITH_LINKS: Final = {**_MEANINGS, "a": LINK, "/a": LINK_END}


@dataclass(frozen=True, slots=True)
class ReadText:
    """The text of HTML.

    Attributes:
        title: Empty if the page has none.
        blocks: In page order; each as (kind, runs), a run as (text, target).
        language: As declared by the page, in lower case; None if it declares none.
        is_cut: Whether the page is longer than what was read.
    """

    title: str
    blocks: list[Block]
    language: str | None
    is_cut: bool

    @property
    def text(self) -> str:
        """The texts of all blocks, one a line, without the title."""
        return "\n".join(["".join([text for text, _ in runs]).strip() for _, runs in self.blocks])


def has_text(mime: str) -> bool | None:
    """Return whether documents of a media type are HTML or plain text, whose text is read.

    None if their type is not known, so that only their beginning could tell.

    Args:
        mime: In lower case, without parameters; empty or ``-`` if it is not known.

    >>> [*map(has_text, ("application/xhtml+xml", "text/plain", "x", "-"))]
    [True, True, False, None]
    """
    return mime == PLAIN_TEXT or mime in HTML_MIMES if mime not in ("", "-") else None


def plain_text(
    mime: str, text: bytes | str, language: str, read: ReadText | None = None, *, is_cut: bool
) -> TextParts | None:
    """Return title, language and text of a document, and whether it is cut.

    Args:
        mime: Its media type, as `has_text` takes it.
        text: Decoded; bytes are UTF-8. XHTML as HTML.
        language: Of its header; may be empty.
        read: What was read of the document, if it was parsed already.
        is_cut: Whether its end is missing.

    Returns:
        Without text for a document that is no HTML and no plain text; None if only its beginning
        could tell.
    """
    known = has_text(mime)
    if not known:
        return None if known is None else (None, None, None, None)
    if mime != PLAIN_TEXT:
        html = text if isinstance(text, bytes) else text.encode("utf-8", "ignore")
        read = read or read_page_text(html)
        return (
            read.title,
            read.language or first_language(language),
            read.text,
            is_cut or read.is_cut,
        )
    plain = text if isinstance(text, str) else text.decode("utf-8", "replace")
    is_cut = is_cut or len(plain) > MOST_TEXT
    return "", first_language(language), plain[:MOST_TEXT].strip(), is_cut


def first_language(header: str) -> str | None:
    """Return the first language of a ``Content-Language`` header; None without one."""
    return _declared_language(header.partition(",")[0])


def _declared_language(written: str | None) -> str | None:
    """Return a declared language in lower case; None if it is empty or too long.

    >>> _declared_language(" pt-BR "), _declared_language("")
    ('pt-br', None)
    """
    language = (written or "").strip().lower()
    return language if 0 < len(language) <= _LONGEST_LANGUAGE else None


def read_page_text(html: bytes, uri: UriR | None = None, charset: str = "utf-8") -> ReadText:
    """Return the readable text of HTML.

    White space is folded as a browser folds it, also where a link begins or ends.

    Args:
        html: UTF-8.
        uri: The URI of the page, against which its links resolve; None to read no links, which is
            faster: each block has one run.
        charset: WHATWG name of its charset, which says how queries of its links are written.

    >>> read = read_page_text(b"<h1>News</h1><p>See <a href=x>more</a>", UriR("http://a.example/"))
    >>> read.blocks[1]
    ('text', [('See ', None), ('more', 'http://a.example/x')])
    """
    sound, notes = bounded(html)
    parser = LexborHTMLParser(sound, options=LexborDocumentOptions.WO_EVENTS)
    return read_parsed(parser, uri, charset, is_cut=bool(notes))


def read_parsed(
    parser: LexborHTMLParser, uri: UriR | None = None, charset: str = "utf-8", *, is_cut: bool
) -> ReadText:
    """Return the readable text of a parsed page, of which it removes what is not shown.

    Other arguments are those of `read_page_text`; ``is_cut`` is whether its end is missing.
    """
    titles = parser.tags("title")
    title = folded(titles[0].text()).strip() if titles else ""
    root = parser.root.attributes if parser.root else {}
    base = Base(uri, _base_of(parser), charset) if uri is not None else None

    def resolve(href: str) -> UriR | None:
        assert base is not None  # otherwise ``a`` has no meaning
        try:
            resolved = base.resolve(href)
        except UriError:
            return None
        # Only pages: a text is shown where javascript: would be run.
        return resolved if resolved.startswith(("http:", "https:")) else None

    meanings = _MEANINGS if base is None else _WITH_LINKS
    blocks, has_more = read_blocks(_shown(parser), meanings, _KINDS, resolve, MOST_TEXT)
    return ReadText(
        title,
        blocks,
        _declared_language(root.get("lang")) or _declared_language(root.get("xml:lang")),
        is_cut or has_more,
    )


def _base_of(parser: LexborHTMLParser) -> str | None:
    bases = (node.attributes for node in parser.tags("base"))
    return next((attributes["href"] for attributes in bases if "href" in attributes), None)


def _shown(parser: LexborHTMLParser) -> str:
    """Return the content of ``body`` without what is not shown; empty if there is no ``body``."""
    body = parser.body
    if body is None:
        return ""
    for node in body.css(_NOT_READ):
        if node.tag in _RAW and "hidden" not in node.attributes:
            node.unwrap()
        else:
            node.decompose(recursive=False)
    return body.inner_html or ""
