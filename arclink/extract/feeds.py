"""The links of feeds and sitemaps, as written, in document order: `extract_feed_links`.

`is_feed` recognises these documents.

These rules decide:

- *What is a feed.* The root element decides, as in browsers: servers send feeds as ``text/html``,
  ``text/xml`` and many other types.
- *What is a link.* ``_LINKS`` lists the elements. A kind consists of the format and the element:
  ``rss@link``, ``atom@link``, ``sitemap@loc``.
- *HTML in entries* (``description``, ``content:encoded``, Atom's ``content`` and ``summary``) is
  read like a page: its links have the kinds of HTML, such as ``a@href``, and their own text. Its
  ``base`` elements are ignored, as feed readers do.
- *Text.* A link has the title of the entry or channel around it; an ``atom@link`` with its own
  ``title`` has that.
- *Title.* It is that of the ``channel`` or ``feed``.
- *Base.* Every ``xml:base`` is relative to that of the elements around it (XML Base, 4; RFC 4287,
  2). The addresses that the feed was captured from are not known here, so `joined` writes each
  reference together with its bases. Elements in an entry's XHTML may have a base, too.

A feed may be hostile: what its entities may add is bounded (`arclink.extract.xhtml`), and so are
depth and texts. A feed may be broken: bare ampersands and HTML's named characters are repaired,
then it is read up to its first error.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from html import escape
from typing import Final
from xml.parsers import expat

from selectolax.lexbor import LexborHTMLParser

from arclink.archives.payloads import DecodedPayload, undo_coding
from arclink.errors import UriError
from arclink.extract.html import (
    DEFAULT_KINDS,
    NO_TAB_NEWLINE,
    Limits,
    PageLinks,
    extract_links,
)
from arclink.extract.xhtml import LEFT_OUT, included
from arclink.model import Kind, RawLink, UriR
from arclink.reasons import Reason
from arclink.rows.pages import format_link
from arclink.uris.resolution import C0_OR_SPACE, Base, joined

_SNIFFED: Final = 256 << 10
"""Bytes in which the root element begins. A document type may declare all characters of HTML."""

_ROOT: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?[^>]*+>\s*+|<!--(?:[^-]|-(?!->))*+-->\s*+|<!DOCTYPE[^>\[]*+"
    rb"(?:\[(?:<!--(?:[^-]|-(?!->))*+-->|\"[^\"]*+\"|'[^']*+'|[^\]\"'])*+\]\s*+)?+>\s*+)*+"
    rb"<(?:[A-Za-z][\w.-]*:)?(rss|feed|RDF|urlset|sitemapindex)[\s>]",
    re.IGNORECASE,
)
_RDF_FEED: Final = re.compile(rb"purl\.org/rss/1\.0|netscape\.com/rdf/simple")

_VOCABULARIES: Final = {
    "": "",
    "http://purl.org/rss/1.0": "rss",
    "http://my.netscape.com/rdf/simple/0.9": "rss",
    "http://backend.userland.com/rss2": "rss",
    "http://www.w3.org/2005/atom": "atom",
    "http://purl.org/atom/ns#": "atom",
    "http://www.sitemaps.org/schemas/sitemap/0.9": "sitemap",
    "http://www.google.com/schemas/sitemap/0.84": "sitemap",
    "http://www.google.com/schemas/sitemap-image/1.1": "image",
    "http://www.google.com/schemas/sitemap-video/1.1": "video",
    "http://search.yahoo.com/mrss": "media",
    "http://purl.org/rss/1.0/modules/content": "content",
    "http://www.w3.org/1999/xhtml": "xhtml",
}
"""Vocabulary per namespace URI, as `_vocabulary_of` finds it."""

_PREFIXES: Final = frozenset({"atom", "content", "image", "media", "video", "xhtml"})
"""Prefixes that name their vocabulary even if a feed does not declare them."""

_OF_ROOT: Final = {
    "rss": "rss",
    "rdf": "rss",
    "feed": "atom",
    "urlset": "sitemap",
    "sitemapindex": "sitemap",
}

_CONTENT: Final = ""
_LINKS: Final[dict[tuple[str, str], tuple[str, Kind]]] = {
    ("rss", "link"): (_CONTENT, Kind("rss@link")),
    ("rss", "guid"): (_CONTENT, Kind("rss@guid")),
    ("rss", "comments"): (_CONTENT, Kind("rss@comments")),
    ("rss", "url"): (_CONTENT, Kind("rss@url")),
    ("rss", "enclosure"): ("url", Kind("rss@enclosure")),
    ("rss", "source"): ("url", Kind("rss@source")),
    ("atom", "link"): ("href", Kind("atom@link")),
    ("atom", "content"): ("src", Kind("atom@content")),
    ("atom", "icon"): (_CONTENT, Kind("atom@icon")),
    ("atom", "logo"): (_CONTENT, Kind("atom@logo")),
    ("atom", "uri"): (_CONTENT, Kind("atom@uri")),
    ("atom", "url"): (_CONTENT, Kind("atom@uri")),  # Atom 0.3
    ("media", "content"): ("url", Kind("media@content")),
    ("media", "thumbnail"): ("url", Kind("media@thumbnail")),
    ("media", "player"): ("url", Kind("media@player")),
    ("sitemap", "loc"): (_CONTENT, Kind("sitemap@loc")),
    ("xhtml", "link"): ("href", Kind("sitemap@link")),
    ("image", "loc"): (_CONTENT, Kind("sitemap@image")),
    ("image", "license"): (_CONTENT, Kind("sitemap@link")),
    ("video", "content_loc"): (_CONTENT, Kind("sitemap@video")),
    ("video", "player_loc"): (_CONTENT, Kind("sitemap@video")),
    ("video", "thumbnail_loc"): (_CONTENT, Kind("sitemap@image")),
    ("video", "gallery_loc"): (_CONTENT, Kind("sitemap@link")),
    ("video", "uploader"): ("info", Kind("sitemap@link")),
}
"""Where each link is: an attribute, or the element's content."""

FEED_KINDS: Final = frozenset(kind for _, kind in _LINKS.values())
"""Kinds of links that feeds and sitemaps have."""

_CONTAINERS: Final = frozenset(
    [
        ("rss", "channel"),
        ("rss", "item"),
        ("rss", "image"),
        ("rss", "textinput"),
        ("atom", "feed"),
        ("atom", "entry"),
        ("atom", "source"),
    ]
)
"""Elements that have a title, which is the text of the links in them."""

_WHOLE: Final = frozenset([("rss", "channel"), ("atom", "feed")])
"""Elements whose title is that of the document."""

_MARKUP: Final[dict[tuple[str, str], str | None]] = {
    ("rss", "description"): "html",
    ("content", "encoded"): "html",
    ("atom", "content"): None,
    ("atom", "summary"): None,
    ("media", "description"): None,
}
"""Elements that contain HTML, and its type.

None: the attribute ``type`` has it (RFC 4287, 3.1.1; in Atom 0.3, the mime type).
"""

_XHTML: Final = frozenset({"xhtml", "application/xhtml+xml"})
_HTML: Final = frozenset({"html", "text/html"})
_VOID: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
"""Elements of HTML that have no end tag."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_MARKUP_START: Final = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\x00]*+<")
_LIMITS: Final = Limits()
_MOST_DEPTH: Final = 1_000
_MOST_PREFIXES: Final = 1_000
"""Maximum number of namespace declarations in effect at one place; further ones are ignored."""

_MOST_CHARACTERS: Final = 80_000
"""Maximum length of one element's content, longer than a URI may be."""

_NO_XML: Final = bytes({*range(0x20)} - {*b"\t\n\r"})
_ANY_PAGE: Final = UriR("http://page.invalid/")
"""An address at which a base is usable or not as at any other."""

_NO_ADDRESS: Final = (
    ("javascript:", Reason.LINK_JAVASCRIPT),
    ("data:", Reason.LINK_DATA),
    ("about:", Reason.LINK_ABOUT),
)


def is_feed(document: bytes | str) -> bool:
    """Return whether a document is RSS (0.9 to 2.0), Atom or a sitemap, by its root element.

    Source:
        MIME Sniffing Standard, *distinguish if a resource is a feed or HTML*, which tests for the
        same roots.

    >>> is_feed("<?xml version='1.0'?><rss version='2.0'>"), is_feed("<html>")
    (True, False)
    """
    start = (
        document[:_SNIFFED].encode("utf-8", "ignore")
        if isinstance(document, str)
        else document[:_SNIFFED]
    )
    root = _ROOT.match(start)
    if root is None:
        return False
    return root[1].lower() != b"rdf" or _RDF_FEED.search(start) is not None


def unpacked(payload: DecodedPayload, limit: int) -> DecodedPayload:
    """Return the document in a gzip-compressed payload such as ``sitemap.xml.gz``.

    The body is empty if the gzip file contains no document. Any other payload is returned
    unchanged.

    Args:
        payload: A payload with its codings undone.
        limit: Maximum number of bytes to return.

    Source:
        sitemaps.org protocol: "you can compress your Sitemap files using gzip".
    """
    if not payload.body.startswith(_GZIP_MAGIC):
        return payload
    undone = undo_coding(payload.body, "gzip", limit)
    if undone is None:
        return DecodedPayload(b"", payload.cut, True)
    body, is_complete, is_cut = undone
    if not _MARKUP_START.match(body):
        return DecodedPayload(b"", payload.cut, payload.truncated)
    cut = payload.cut or is_cut
    return DecodedPayload(body, cut, payload.truncated or not (is_complete or cut))


def links_of(
    document: bytes | str,
    limits: Limits = _LIMITS,
    kinds: frozenset[Kind] = DEFAULT_KINDS,
    then: Callable[[LexborHTMLParser, bool], None] | None = None,
) -> PageLinks:
    """Return the links of a document, which is a feed, a sitemap or HTML.

    Args:
        document: Decoded; bytes are UTF-8.
        limits: Limits for the document.
        kinds: Kinds to extract from HTML; the kinds of feeds are always extracted.
        then: See `arclink.extract.html.extract_links`; not called for feeds and sitemaps.
    """
    return (
        extract_feed_links(document, limits, kinds)
        if is_feed(document)
        else extract_links(document, limits, kinds, then=then)
    )


def extract_feed_links(
    feed: bytes | str, limits: Limits = _LIMITS, kinds: frozenset[Kind] = DEFAULT_KINDS
) -> PageLinks:
    """Return the links of a feed or sitemap.

    Args:
        feed: Decoded; bytes are UTF-8. The charset in its XML declaration is ignored.
        limits: Limits for the document.
        kinds: Kinds to extract from the HTML of entries.

    Returns:
        The links in document order, as `arclink.extract.html.extract_links` returns those of a
        page. If the document is not well-formed XML, ``NOTE_FEED_BROKEN`` is counted and the links
        before the error are returned.

    Source:
        RSS 2.0 and RSS 1.0 specifications, RFC 4287 (Atom), sitemaps.org protocol, XML Base.

    >>> extract_feed_links("<rss><channel><item><title>News</title><link>http://a.example/1</link></item></channel></rss>").links
    [('rss@link', 'http://a.example/1', 'News', None)]
    """
    data = feed.encode("utf-8", "ignore") if isinstance(feed, str) else feed
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    sound, left_out = included(data)
    reading = _Reading(limits, kinds)
    is_whole = reading.read(sound)
    if not is_whole:
        # Most errors are a bare ampersand, or a character name that HTML defines and XML does not.
        repaired, left_out = included(data, repairs=True)
        repaired = repaired.translate(None, _NO_XML)
        if repaired != sound:  # else it would take as long again, and end at the same error
            reading = _Reading(limits, kinds)
            is_whole = reading.read(repaired)
    counts = reading.found.counts
    counts.update(
        {Reason.NOTE_FEED_BROKEN: int(not is_whole), Reason.NOTE_ENTITY_LEFT_OUT: left_out}
    )
    reading.found.counts = +counts
    return reading.found


def _vocabulary_of(namespace: str) -> str:
    """Return the vocabulary of a namespace; ``https`` and a last slash are frequent mistakes."""
    name = namespace.strip().lower().rstrip("/")
    return _VOCABULARIES.get(re.sub("^https:", "http:", name), "?")


class _RefusedError(Exception):
    """The document exceeds a limit that no ordinary feed reaches."""


@dataclass(slots=True)
class _Element:
    """An open element.

    Attributes:
        vocabularies: Vocabulary per prefix, as in effect inside of the element.
        base: Base of the references in the element, relative to the document's address.
        container: The innermost element with a title for its links: this one, or one around it.
    """

    name: tuple[str, str]
    vocabularies: dict[str, str]
    base: str
    container: "_Element | None" = None
    kind: Kind | None = None
    title: str | None = None
    links: list[int] = field(default_factory=list)
    has_markup: bool = False


class _Reading:
    """The state of reading one document."""

    def __init__(self, limits: Limits, kinds: frozenset[Kind]) -> None:
        self.found = PageLinks(title="")
        self._limits = limits
        self._kinds = kinds
        self._markup: list[str] | None = None  # HTML that is being collected; None outside of it
        self._is_xhtml = False
        self._links: list[RawLink] = []
        self._open: list[_Element] = []
        self._pieces: list[str] | None = None
        self._size = 0
        self._repeated = 0  # characters that links share with others

    def read(self, data: bytes) -> bool:
        """Collect the links; return whether the document is well-formed XML."""
        is_whole = self._parse(data)
        self.found.written = list(map(format_link, self._links))
        return is_whole

    def _parse(self, data: bytes) -> bool:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        try:
            parser.Parse(data, True)
        except (expat.ExpatError, _RefusedError) as error:
            with suppress(_RefusedError):
                parser.buffer_text = False  # passes the text before the error to its handler
            for element in self._open:
                element.kind = None  # its content is cut off: half an address is a wrong address
            while self._open:
                self._close()
            # Text after the last end tag is not part of any element.
            return (
                isinstance(error, expat.ExpatError)
                and error.code == expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
            )
        return True

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        outer = self._open[-1] if self._open else None
        if len(self._open) >= _MOST_DEPTH:
            raise _RefusedError
        prefix, _, local = tag.rpartition(":")
        local = local.lower()
        if outer is not None and not attributes:  # most elements
            vocabularies, base = outer.vocabularies, outer.base
        else:
            vocabularies = self._vocabularies(prefix, local, attributes, outer)
            base = self._base(attributes, outer)
        name = vocabularies.get(prefix, prefix if prefix in _PREFIXES else "?"), local
        element = _Element(name, vocabularies, base)
        element.container = (
            element if name in _CONTAINERS else outer.container if outer is not None else None
        )
        self._open.append(element)
        if self._markup is not None:
            if outer is not None and base != outer.base:
                self._add_markup(outer.base)
            written = [
                f' {attribute.rpartition(":")[2]}="{escape(value)}"'
                for attribute, value in attributes.items()
            ]
            self._markup.append(f"<{local}{''.join(written)}>")
            return
        where = _LINKS.get(name)
        if where is not None:
            attribute, kind = where
            if attribute == _CONTENT:
                if local != "guid" or attributes.get("isPermaLink", "true").lower() != "false":
                    element.kind = kind
                    self._pieces, self._size = [], 0
            elif attribute in attributes:
                self._add(
                    kind, attributes[attribute], attributes.get("rel"), attributes.get("title")
                )
        elif (
            local == "title"
            and outer is not None
            and outer.name in _CONTAINERS
            and name[0] == outer.name[0]
        ):
            self._pieces, self._size = [], 0
        if name in _MARKUP:
            self._begin_markup(element, attributes.get("type", "").strip().lower())

    def _begin_markup(self, element: _Element, declared: str) -> None:
        """Collect the content of an element if it is HTML."""
        if element.kind is None:
            markup = _MARKUP[element.name] or declared
            if markup in _HTML or markup in _XHTML:
                element.has_markup = True
                self._markup, self._is_xhtml = [], markup in _XHTML

    def _vocabularies(
        self, own_prefix: str, local: str, attributes: dict[str, str], outer: _Element | None
    ) -> dict[str, str]:
        """Return the vocabulary of each prefix inside of an element."""
        of_root = _OF_ROOT.get(local, "?")
        vocabularies = {"": of_root, own_prefix: of_root} if outer is None else outer.vocabularies
        declared = {name: value for name, value in attributes.items() if name.startswith("xmlns")}
        if not declared:
            return vocabularies
        vocabularies = dict(vocabularies)
        for name, value in declared.items():
            meant = _vocabulary_of(value)
            prefix = name.partition(":")[2]
            if len(vocabularies) >= _MOST_PREFIXES and prefix not in vocabularies:
                continue
            # A root in an unknown namespace has the vocabulary of its name.
            if meant != "?" or outer is not None or prefix != own_prefix:
                vocabularies[prefix] = meant or vocabularies[""]
        return vocabularies

    def _base(self, attributes: dict[str, str], outer: _Element | None) -> str:
        """Return the base of an element's references; empty for the document's address.

        An unusable base has no effect, as that of a page.
        """
        above = "" if outer is None else outer.base
        written = attributes.get("xml:base")
        if written is None:
            return above
        try:
            base = joined(above, written)
        except UriError:
            base = None
        if base is None or not Base(_ANY_PAGE, base).usable:
            self.found.counts[Reason.NOTE_BASE_INVALID] += 1
            return above
        if not self._has_room_for(len(base) - len(written)):
            raise _RefusedError
        return base

    def _text(self, text: str) -> None:
        if self._markup is not None:
            self._markup.append(escape(text) if self._is_xhtml else text)
        elif self._pieces is not None and self._size < _MOST_CHARACTERS:
            self._pieces.append(text)
            self._size += len(text)

    def _end(self, tag: str) -> None:
        self._close()

    def _close(self) -> None:
        element = self._open.pop()
        text = "" if self._pieces is None else "".join(self._pieces)
        if element.has_markup:
            self._add_markup(element.base)
            self._markup = None
        elif self._markup is not None:
            if element.name[1] not in _VOID:
                self._markup.append(f"</{element.name[1]}>")
            if element.base != self._open[-1].base:
                self._add_markup(element.base)
        elif element.kind is not None:
            self._pieces = None
            self._open.append(element)
            self._add(element.kind, text, None, None)
            self._open.pop()
        elif element.name[1] == "title" and self._pieces is not None:
            self._pieces = None
            container = self._open[-1]
            container.title = container.title or self._folded(text)
            if container.name in _WHOLE:
                self.found.title = self.found.title or container.title
        for index, number in enumerate(element.links):
            kind, reference, _, rel = self._links[number]
            title = element.title or ""
            if index and title and not self._has_room_for(len(title)):
                self.found.counts[Reason.NOTE_TEXT_CUT] += 1
                title = ""
            self._links[number] = (kind, reference, title, rel)

    def _has_room_for(self, size: int) -> bool:
        """Count characters that links share; return whether they are within the limit."""
        self._repeated += max(size, 0)
        return self._repeated <= self._limits.repeated

    def _keep(self, base: str, link: RawLink) -> bool:
        """Keep a link with its base, or count it; return whether it was kept."""
        kind, reference, text, rel = link
        reason = None
        if LEFT_OUT in reference:
            reason = Reason.LINK_INVALID
        elif base:
            try:
                reference = joined(base, reference)
            except UriError as error:
                reason = error.reason
            else:
                if not self._has_room_for(len(reference) - len(link[1])):
                    reason = Reason.LINK_TOO_MANY
        if reason is None:
            self._links.append((kind, reference, text, rel))
        else:
            self.found.counts[reason] += 1
        return reason is None

    def _add_markup(self, base: str) -> None:
        """Keep the links in the HTML collected so far, or count them; begin to collect again."""
        markup, self._markup = "".join(self._markup or ()), []
        if "<" not in markup:
            return
        page = extract_links(markup, self._limits_of_rest(), self._kinds, base)
        self.found.counts.update(page.counts)
        self._repeated += max(sum(map(len, page.written)) - len(markup), 0)
        for kind, reference, text, rel in page.links:
            self._keep(base, (kind, reference, text.replace(LEFT_OUT, ""), rel))

    def _limits_of_rest(self) -> Limits:
        """Return the limits for the rest of the document."""
        return replace(
            self._limits,
            links=max(self._limits.links - len(self._links), 0),
            repeated=max(self._limits.repeated - self._repeated, 0),
        )

    def _add(self, kind: Kind, reference: str, rel: str | None, title: str | None) -> None:
        """Keep a link, or count it."""
        cleaned = reference.strip(C0_OR_SPACE).translate(NO_TAB_NEWLINE)
        if kind == "rss@guid" and not cleaned.lower().startswith(("http:", "https:")):
            return  # an identifier, even if it claims to be a permalink
        reason = next(
            (reason for scheme, reason in _NO_ADDRESS if cleaned[:11].lower().startswith(scheme)),
            None,
        )
        if not cleaned:
            reason = Reason.LINK_EMPTY
        elif len(self._links) >= self._limits.links:
            reason = reason or Reason.LINK_TOO_MANY
        if reason is not None:
            self.found.counts[reason] += 1
            return
        element = self._open[-1]
        rel = self._folded(rel or "").lower() or None
        number = len(self._links)
        if (
            self._keep(element.base, (kind, reference, self._folded(title or ""), rel))
            and not title
            and element.container is not None
        ):
            element.container.links.append(number)

    def _folded(self, text: str) -> str:
        """Return a text as stored, without the places of references that were left out."""
        return self.found.folded(text.replace(LEFT_OUT, ""), self._limits)
