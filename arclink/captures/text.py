"""Readable text of a page, with its links: for people without JavaScript, and for search.

The page is parsed like pages in extraction: same charset, same bounds. Text is folded as a browser
folds it, and divided where an element begins a new line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from arclink.archives.payloads import DEFAULT_LIMIT
from arclink.archives.records import charset_in
from arclink.captures.libraries import is_html
from arclink.captures.read import CapturedPage, one_capture
from arclink.errors import CaptureError, UriError
from arclink.extract.bounds import bounded
from arclink.extract.charsets import decode_html
from arclink.extract.html import BREAKS, NOT_SHOWN
from arclink.model import UriR
from arclink.reasons import Reason
from arclink.uris.resolution import Base

_MOST_CHARACTERS = 4_000_000
"""Maximum length of the text of a page."""

_TEXT: Final = re.compile(
    r"text/.*|application/(?:json|javascript|x-javascript|ecmascript|xml|.*\+xml|.*\+json)"
)
_BLANKS: Final = re.compile(r"[ \t\n\f\r]+")
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_KINDS: Final = {**{name: name for name in _HEADINGS}, "li": "item", "pre": "pre"}
_LEFT_OUT: Final = frozenset({"template", "select", "title", "textarea", "object", "svg", "math"})


@dataclass(frozen=True, slots=True)
class TextRun:
    """A piece of text.

    Attributes:
        text: White space is folded, but may be at both ends.
        target: Where it links to, absolute, without fragment; None if it is not a link.
    """

    text: str
    target: UriR | None = None


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text between two line breaks.

    Attributes:
        kind: ``h1`` to ``h6``, ``item`` of a list, ``pre``, or ``text``.
        runs: Pieces in page order; at least one.
    """

    kind: str
    runs: tuple[TextRun, ...]

    @property
    def text(self) -> str:
        """The text of all pieces, without white space at its ends."""
        return "".join(run.text for run in self.runs).strip()


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page.

    Attributes:
        title: Empty if the page has none.
        blocks: In page order.
        charset: WHATWG name of the charset it was decoded with.
        is_cut: Whether the page is longer than what was read.
    """

    title: str
    blocks: tuple[TextBlock, ...]
    charset: str
    is_cut: bool

    def lines(self) -> Iterator[str]:
        """Yield the title and the text of each block; an empty line before each heading."""
        if self.title:
            yield self.title
        for block in self.blocks:
            if block.kind in _HEADINGS:
                yield ""
            yield f"- {block.text}" if block.kind == "item" else block.text


def read_text(page: CapturedPage, limit: int = DEFAULT_LIMIT) -> PageText:
    """Return the readable text of a page.

    Args:
        page: The capture; it must be open.
        limit: Maximum bytes of its body to read.

    Raises:
        CaptureError: It has no text, because it is an image, for example (``MEMENTO_MIME``), or its
            body cannot be read.
    """
    with one_capture(page.memento):
        return _read_text(page, limit)


def _read_text(page: CapturedPage, limit: int) -> PageText:
    mime = page.mime
    if mime and not is_html(mime) and _TEXT.fullmatch(mime) is None:
        memento = page.memento
        raise CaptureError(
            f"{memento.original} at {memento.timestamp} is {mime}, which has no text; use "
            "--format body",
            Reason.MEMENTO_MIME,
            memento.file,
        )
    body, is_cut = _beginning(page, limit)
    decoded = decode_html(body, charset_in(page.content_type))
    if is_html(mime, body):
        return _text_of_html(
            _utf8(decoded.text), page.memento.original, decoded.charset, is_cut=is_cut
        )
    text = (
        decoded.text if isinstance(decoded.text, str) else decoded.text.decode("utf-8", "replace")
    )
    runs = (TextRun(text[:_MOST_CHARACTERS]),)
    blocks = (TextBlock("pre", runs),) if text.strip() else ()
    return PageText("", blocks, decoded.charset, is_cut or len(text) > _MOST_CHARACTERS)


def _utf8(text: str | bytes) -> bytes:
    return text.encode("utf-8", "ignore") if isinstance(text, str) else text


def _title_in(parser: LexborHTMLParser) -> str:
    title = parser.css_first("title")
    return _BLANKS.sub(" ", title.text()).strip() if title else ""


def _beginning(page: CapturedPage, limit: int) -> tuple[bytes, bool]:
    """Return the first ``limit`` bytes of a body, and whether there are more."""
    body = bytearray()
    try:
        for piece in page.decoded(limit):
            body += piece
    except CaptureError as error:
        if error.reason is not Reason.PAYLOAD_TOO_LONG:
            raise
        return bytes(body), True
    return bytes(body), False


def _text_of_html(
    html: bytes, uri: UriR, charset: str = "utf-8", *, is_cut: bool = False
) -> PageText:
    """Return the readable text of HTML.

    Args:
        html: UTF-8.
        uri: The URI of the page, against which its links resolve.
        charset: WHATWG name of its charset, which says how queries of its links are written.
        is_cut: Whether its end is missing.

    >>> page = _text_of_html(b"<h1>News</h1><p>See <a href=x>more</a>", UriR("http://a.example/"))
    >>> [block.text for block in page.blocks], page.blocks[1].runs[1].target
    (['News', 'See more'], 'http://a.example/x')
    """
    sound, notes = bounded(html)
    parser = LexborHTMLParser(sound)
    base = parser.css_first("base[href]")
    walk = _Walk(Base(uri, base.attributes.get("href") if base else None, charset))
    if parser.body is not None:
        walk.read(parser.body)
    return PageText(
        _title_in(parser),
        tuple(walk.blocks),
        charset,
        is_cut or walk.is_cut or bool(notes),
    )


@dataclass
class _Walk:
    """The text of a page while it is read; elements nest deeply, so there is no recursion."""

    base: Base
    blocks: list[TextBlock] = field(default_factory=list)
    is_cut: bool = False
    _runs: list[TextRun] = field(default_factory=list)
    _kind: str = "text"
    _room: int = _MOST_CHARACTERS

    def read(self, body: LexborNode) -> None:
        """Collect the text of an element."""
        # Each entry: the next node, and the link, kind and folding that hold for it.
        stack: list[tuple[LexborNode | None, UriR | None, str]] = [(body.child, None, "text")]
        while stack and not self.is_cut:
            node, target, kind = stack.pop()
            if node is None:
                self._break(kind)
                continue
            stack.append((node.next, target, kind)) if node.next is not None else None
            tag = node.tag or ""
            if tag == "-text":
                self._add(node.text_content or "", target, kind)
            elif not tag.startswith(("-", "!")) and self._is_shown(node, tag):
                is_break = node.tag_id in BREAKS
                inner = _KINDS.get(tag, kind)
                if is_break:
                    self._break(inner)
                    stack.append((None, None, kind))
                if tag == "img":
                    self._add(node.attributes.get("alt") or "", target, kind)
                elif node.child is not None:
                    stack.append((node.child, self._target(node, tag, target), inner))
        self._break("text")

    def _is_shown(self, node: LexborNode, tag: str) -> bool:
        if tag in _LEFT_OUT or node.tag_id in NOT_SHOWN:
            return False
        return "hidden" not in node.attributes

    def _target(self, node: LexborNode, tag: str, target: UriR | None) -> UriR | None:
        """Return where the text in an element leads."""
        href = node.attributes.get("href") if tag == "a" else None
        if href is None:
            return target
        try:
            resolved = self.base.resolve(href)
        except UriError:
            return None
        # Only pages: a text is shown where javascript: would be run.
        return resolved if resolved.startswith(("http:", "https:")) else None

    def _add(self, text: str, target: UriR | None, kind: str) -> None:
        folded = text if kind == "pre" else _BLANKS.sub(" ", text)
        if len(folded) > self._room:
            self.is_cut = True
            folded = folded[: self._room]
        self._room -= len(folded)
        if not folded or (kind != "pre" and folded == " " and not self._runs):
            return
        if self._runs and self._runs[-1].target == target:
            before = self._runs.pop().text
            if kind != "pre" and before.endswith(" "):
                folded = folded.lstrip(" ")
            folded = before + folded
        self._runs.append(TextRun(folded, target))

    def _break(self, kind: str) -> None:
        """End the block, and begin one of another kind."""
        runs = tuple(run for run in self._runs if run.text)
        if any(run.text.strip() for run in runs):
            self.blocks.append(TextBlock(self._kind, runs))
        self._runs = []
        self._kind = kind
