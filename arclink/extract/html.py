"""The links of a page, as written, in page order: `extract_links`.

The page is parsed by the algorithm of the HTML Standard (lexbor, through selectolax) and walked once. What decides:

- *Where links are.* The elements and attributes of ``_LINKS``; `DEFAULT_KINDS` are on, `OPTIONAL_KINDS` are off until asked for.
  A page is seen as a crawler without scripts sees it: ``<noscript>`` holds elements. The content of ``<template>`` counts too,
  in its place: a browser would keep it inert, but crawlers that read markup follow it, and declarative shadow roots hold
  what is seen. Comments, scripts, ``<noframes>`` and ``<noembed>`` hold text, so no links.
- *What the parser makes of it.* An ``a`` that is left open, or that stands around blocks in a paragraph, is split as in a
  browser, and each part is a link, perhaps without text.
- *SVG.* ``a`` and ``image`` count, with ``href`` or else ``xlink:href`` (SVG 2, 16.1.5); their kind says ``href`` for both.
- *What is no address.* `PageLinks.counts` has what needs no page URI to be told; resolving tells the rest.
- *Text.* Of an ``a`` what is read on the page; of images, image maps and image buttons their ``alt``; of all others "".

A page may be hostile: the walk never recurses, and reading texts costs no more than a fixed budget, however links nest.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from math import isqrt
from typing import Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from arclink.graph.pages import PART, format_link, parse_link
from arclink.model import Kind, RawLink
from arclink.native import native
from arclink.reasons import Reason


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may cost; what is beyond is counted.

    Attributes:
        links: Links kept of one page; the rest is `Reason.LINK_TOO_MANY`.
        text: Characters kept of one text or ``rel``; a longer one is cut, `Reason.NOTE_TEXT_CUT`.
    """

    links: int = 200_000
    text: int = 1_000


@dataclass(slots=True)
class PageLinks:
    """What one page links to. Every link is either in ``links`` or counted, once.

    Attributes:
        base: The page's base as written, to be resolved against the page's URI; None if it has none that matters.
        written: The links in page order, repeated ones included, each as one string (`arclink.graph.pages.format_link`).
            References are not cleaned: they may start or end with white space and hold line breaks.
        counts: Links that are not in ``written``, by reason; and the notes ``NOTE_TEXT_CUT`` and ``NOTE_BASE_INVALID``.
    """

    base: str | None = None
    written: list[str] = field(default_factory=list)
    counts: Counter[Reason] = field(default_factory=Counter)

    @property
    def links(self) -> list[RawLink]:
        """The links, each as (kind, reference as written, text, rel)."""
        return list(map(parse_link, self.written))


# How an attribute is read, and what it means when it is empty.
_RESOURCE: Final = 0  # nothing is fetched: an empty source (HTML, "If src is the empty string, …")
_HYPERLINK: Final = 1  # the page itself, or its base
_ACTION: Final = 2  # the page itself even where it has a base (HTML, form submission)
_SRCSET: Final = 3  # a list of candidates
_REFRESH: Final = 4  # a declarative refresh, if http-equiv says so
_BUTTON: Final = 5  # a resource if the input's type is image

_LINKS: Final[dict[str, dict[str, int]]] = {
    "a": {"href": _HYPERLINK},
    "area": {"href": _HYPERLINK},
    "link": {"href": _RESOURCE, "imagesrcset": _SRCSET},
    "img": {"src": _RESOURCE, "srcset": _SRCSET},
    "script": {"src": _RESOURCE},
    "iframe": {"src": _RESOURCE},
    "frame": {"src": _RESOURCE},
    "form": {"action": _ACTION},
    "meta": {"refresh": _REFRESH},
    "embed": {"src": _RESOURCE},
    "object": {"data": _RESOURCE},
    "video": {"src": _RESOURCE, "poster": _RESOURCE},
    "audio": {"src": _RESOURCE},
    "source": {"src": _RESOURCE, "srcset": _SRCSET},
    "track": {"src": _RESOURCE},
    "input": {"src": _BUTTON},
    "body": {"background": _RESOURCE},
    "image": {"href": _RESOURCE},  # of SVG; the parser turns HTML's own <image> into <img>
    "blockquote": {"cite": _HYPERLINK},
    "q": {"cite": _HYPERLINK},
    "del": {"cite": _HYPERLINK},
    "ins": {"cite": _HYPERLINK},
}

# A habit of scripts, not a standard.
_OPTIONAL_LINKS: Final[dict[str, dict[str, int]]] = {
    "a": {"data-href": _HYPERLINK},
    "article": {"data-href": _HYPERLINK},
    "button": {"data-href": _HYPERLINK},
    "div": {"data-href": _HYPERLINK},
    "li": {"data-href": _HYPERLINK},
    "link": {"data-href": _RESOURCE},
    "span": {"data-href": _HYPERLINK},
    "td": {"data-href": _HYPERLINK},
    "tr": {"data-href": _HYPERLINK},
    "img": {"data-src": _RESOURCE, "data-srcset": _SRCSET, "data-original": _RESOURCE, "data-lazy-src": _RESOURCE},
    "script": {"data-src": _RESOURCE},
    "iframe": {"data-src": _RESOURCE},
    "video": {"data-src": _RESOURCE, "data-poster": _RESOURCE},
    "audio": {"data-src": _RESOURCE},
    "source": {"data-src": _RESOURCE, "data-srcset": _SRCSET},
}


def _kinds(links: dict[str, dict[str, int]]) -> frozenset[Kind]:
    return frozenset(Kind(f"{element}@{attribute}") for element, attributes in links.items() for attribute in attributes)


DEFAULT_KINDS: Final = _kinds(_LINKS)
"""Kinds of links that are looked for unless a caller says otherwise."""

OPTIONAL_KINDS: Final = _kinds(_OPTIONAL_LINKS)
"""Kinds of links that are looked for only when asked: the ``data-`` attributes of lazy loading."""

_WITH_ALT: Final = {"area", "img", "input"}
_WITH_REL: Final = {"a", "area", "link", "form"}


@dataclass(frozen=True, slots=True)
class _Element:
    """What to read from one element. ``attributes``: (name, kind, how), in the order their links are given."""

    attributes: tuple[tuple[str, Kind, int], ...]
    has_text: bool = False
    has_alt: bool = False
    has_rel: bool = False


_A: Final = _Element((("href", Kind("a@href"), _HYPERLINK),), has_text=True, has_rel=True)
_TEMPLATE: Final = _Element(())
_BASE: Final = _Element(())

_document = LexborHTMLParser("")


def _tag_id(tag: str) -> int:
    # lexbor's number of an element; the package does not publish the list.
    return _document.create_node(tag).tag_id


def _tag_ids(tags: str) -> frozenset[int]:
    return frozenset(_tag_id(tag) for tag in tags.split())


_IMAGES: Final = _tag_ids("img input area")
_NOT_READ: Final = _tag_ids("script style iframe noembed noframes")
_BREAKS: Final = _tag_ids(
    "address article aside blockquote br center dd details dialog dir div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol optgroup option p pre section summary table caption "
    "colgroup col tbody td tfoot th thead tr ul"
)


@lru_cache(maxsize=16)
def _elements(kinds: frozenset[Kind]) -> dict[int, _Element]:
    """Return what to read, by lexbor's number of the element."""
    elements = {_tag_id("template"): _TEMPLATE, _tag_id("base"): _BASE}
    for tag in _LINKS | _OPTIONAL_LINKS:
        attributes = _LINKS.get(tag, {}) | _OPTIONAL_LINKS.get(tag, {})
        wanted = tuple(
            ("content" if how == _REFRESH else name, Kind(f"{tag}@{name}"), how)
            for name, how in attributes.items()
            if f"{tag}@{name}" in kinds
        )
        if wanted:
            element = _Element(wanted, tag == "a", tag in _WITH_ALT, tag in _WITH_REL)
            elements[_tag_id(tag)] = _A if element == _A else element
    return elements


# Reading the texts of one page may visit this many nodes (and blocks of _BLOCK characters) below links. Links do not nest
# in sound pages, so that each node is visited once; where they nest a thousand deep, time would grow with the square.
_TEXT_BUDGET: Final = 1_000_000
_BLOCK: Final = 64

# What WHATWG URL parsing removes: C0 control or space at both ends, tab and newline everywhere.
_C0_OR_SPACE: Final = "".join(map(chr, range(0x21)))
_NO_TAB_NEWLINE: Final = str.maketrans("", "", "\t\n\r")
# A reference that starts otherwise is an address without a closer look.
_CLOSER_LOOK: Final = frozenset(["", "#", *"jJdDaA", *_C0_OR_SPACE])

_NO_ADDRESS: Final = (
    ("javascript:", Reason.LINK_JAVASCRIPT),
    ("data:", Reason.LINK_DATA),
    ("about:", Reason.LINK_ABOUT),
)

# HTML white space, no-break space, controls and the two Unicode line ends: what folds to one space.
_WHITE: Final = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029]+")
# What no XML 1.0 document may hold.
_NO_CHARACTER: Final = re.compile("[\ud800-\udfff\ufffe\uffff]+")


# Elements that stay open until they are closed. (Not those that the next of their kind closes, none
# of SVG, and no table or object, beyond which the parser does not look.)
_NESTING: Final = frozenset(
    b"abbr acronym address article aside b big blockquote center cite code del details dfn dialog dir div dl em fieldset figcaption "
    b"figure font footer header hgroup i ins kbd label main mark menu nav ol pre q s samp section small span strike strong sub "
    b"summary sup tt u ul var".split()
)
_TAG: Final = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*+)")
_FLAT: Final = (b"</", b"<td", b"<a ", b"<tr", b"<li", b"<br", b"<p>", b"<img")
# Parsing may climb the open elements at every tag. This many steps are about four seconds.
_MOST_STEPS: Final = 500_000_000
_FEW_TAGS: Final = isqrt(2 * _MOST_STEPS)  # cannot add up to that, were each nested in the one before


def _cut_where_nested(html: bytes) -> bytes:
    """Return a page without the part from where it nests so deep that parsing would take minutes; most often all of it.

    The depth is estimated from the tags alone; it takes tens of thousands of open elements to be cut.
    """
    if len(html) < 3 * _FEW_TAGS or (tags := html.count(b"<")) <= _FEW_TAGS:
        return html
    # Looking at each tag costs as much as parsing does; counting what does not nest costs little and is nearly always enough.
    deepest = tags
    for flat in _FLAT:
        deepest -= html.count(flat)
        if deepest * tags <= _MOST_STEPS:
            return html
    depth = steps = 0
    for tag in _TAG.finditer(html):
        steps += depth
        if steps > _MOST_STEPS:
            return html[: tag.start()]
        if tag[2].lower() in _NESTING:
            depth = max(0, depth - 1) if tag[1] else depth + 1
    return html


def extract_links(html: bytes | str, limits: Limits = Limits(), kinds: frozenset[Kind] = DEFAULT_KINDS) -> PageLinks:
    """Return the links of one page.

    Args:
        html: The page, decoded; bytes are UTF-8, and what is not becomes U+FFFD.
        limits: What one page may cost.
        kinds: Kinds to look for, of `DEFAULT_KINDS` and `OPTIONAL_KINDS`; links of other kinds are neither kept nor counted.

    Returns:
        The links in page order, those of one element in the order of the table above; equal input, equal output.

    Source:
        HTML Standard (parsing, links, images, declarative refresh), URL Standard (what is removed before parsing).

    >>> page = extract_links('<base href="/d/"><a href="b.html" rel=NoFollow>Next <b>page</b></a><a href="javascript:x()">x</a>')
    >>> page.base, page.links
    ('/d/', [('a@href', 'b.html', 'Next page', 'nofollow')])
    >>> page.counts
    Counter({<Reason.LINK_JAVASCRIPT: ('links', 'javascript: is no address')>: 1})
    """
    if isinstance(html, str):
        html = html.encode("utf-8", "ignore")  # leaves lone surrogates out, which cannot be encoded
    sound = _cut_where_nested(html)
    # Without events: a tenth faster; lexbor would only copy the chosen <option> into <selectedcontent>, links and all.
    parser = LexborHTMLParser(sound, options=LexborDocumentOptions.WO_EVENTS)
    elements = _elements(kinds)
    page = _Page(limits)
    page.walk(parser, elements)
    if page.came_base_late:
        page = _Page(limits, page.found.base)
        page.walk(parser, elements)
    if len(sound) < len(html):
        page.found.counts[Reason.NOTE_NESTING_CUT] += 1
    return page.found


@native
def _but_plain_links(
    nodes: Iterable[LexborNode],
    elements: dict[int, _Element],
    a: _Element,
    closer_look: frozenset[str],
    links: list[str],
    most: int,
    longest: int,
) -> Iterator[tuple[LexborNode, _Element, dict[str, str | None]]]:
    """Yield the elements to be read, with their attributes, but for plain links, which are added to ``links`` at once.

    Plain is an ``a`` with a ``href`` that needs no closer look, and a text and ``rel`` that are kept as they stand there. Nearly all
    links are, and most of the time of a build is spent here.

    Args:
        nodes: In page order; at each, what was yielded before has been read.
        elements: What to read, by lexbor's number of the element.
        a: That of ``a``.
        closer_look: What a ``href`` that needs one begins with.
        links: Of the page, as `PageLinks.written` has them.
        most: Links that the page may have.
        longest: Characters of a text or ``rel``.
    """
    read = elements.get
    append = links.append
    for node in nodes:
        element = read(node.tag_id)
        if element is None:
            continue
        attributes = node.attributes
        if element is a and (reference := attributes.get("href")) and reference[0] not in closer_look and len(links) < most:
            child = node.first_child
            text = "" if child is None else child.text_content
            rel = attributes.get("rel") or ""
            # Printable: no control, no white space but the blank, and none of what parts the fields of a link.
            if text is not None and (child is None or child.next is None) and PART not in reference:
                words = text + rel
                if "  " not in text and "  " not in rel and words.isprintable() and len(text) <= longest and len(rel) <= longest:
                    append(f"a@href{PART}{reference}{PART}{text.strip(' ')}{PART}{rel.strip(' ').lower()}")
                    continue
        yield node, element, attributes


class _Page:
    """One page while it is read."""

    __slots__ = ("budget", "came_base_late", "found", "has_base_element", "is_refreshed", "limits")

    def __init__(self, limits: Limits, base: str | None = None) -> None:
        self.found = PageLinks(base)
        self.limits = limits
        self.budget = _TEXT_BUDGET
        self.is_refreshed = False
        self.has_base_element = base is not None
        self.came_base_late = False

    def walk(self, parser: LexborHTMLParser, elements: dict[int, _Element]) -> None:
        """Collect the links of the document, entering templates where they stand."""
        if parser.root is None:
            return
        found = self.found
        walks: list[Iterator[LexborNode]] = [parser.root.traverse()]
        while walks:
            closer = _but_plain_links(walks[-1], elements, _A, _CLOSER_LOOK, found.written, self.limits.links, self.limits.text)
            for node, element, attributes in closer:
                if element is _TEMPLATE:
                    # Its content is a fragment of its own, which the walk does not enter; it may hold templates again.
                    walks.extend(fragment.traverse() for fragment in node.template_fragments())
                    break
                if element is not _BASE:
                    self.read(node, element, attributes)
                elif len(walks) == 1:  # in a template it is no part of the document
                    self.read_base(attributes)
            else:
                walks.pop()

    def read_base(self, attributes: dict[str, str | None]) -> None:
        """Take the base of the first ``base`` that has an ``href``, usable or not (HTML, 4.2.3)."""
        if self.has_base_element or "href" not in attributes:
            return
        self.has_base_element = True
        href = attributes["href"] or ""
        cleaned = href.strip(_C0_OR_SPACE).translate(_NO_TAB_NEWLINE)
        if cleaned[:11].lower().startswith(("javascript:", "data:")):
            self.found.counts[Reason.NOTE_BASE_INVALID] += 1
        elif cleaned and cleaned[0] != "#":  # else it is the page's own URI, which is as good as no base
            self.found.base = href
            self.came_base_late = self.found.counts[Reason.LINK_SAME_PAGE] > 0  # they were judged without it

    def read(self, node: LexborNode, element: _Element, attributes: dict[str, str | None]) -> None:
        """Collect the links of any element; count what is none to keep."""
        text = rel = None  # read once, however many candidates a srcset has
        for name, kind, how in element.attributes:
            if name not in attributes:
                if name != "href" or "xlink:href" not in attributes:
                    continue
                name = "xlink:href"
            value = attributes[name] or ""  # None: an attribute without value
            for reference in (value,) if how <= _ACTION else self.references(value, how, attributes):
                if reference[:1] in _CLOSER_LOOK and not self.is_address(reference, how):
                    continue
                if len(self.found.written) >= self.limits.links:
                    self.found.counts[Reason.LINK_TOO_MANY] += 1
                    continue
                if text is None:
                    text = self.text_of(node, element, attributes)
                    rel = self.folded(attributes.get("rel") or "").lower() if element.has_rel else ""
                self.found.written.append(format_link((kind, reference, text, rel or None)))

    def keep(self, kind: Kind, reference: str, text: str, rel: str, how: int) -> None:
        """Collect a link whose text and ``rel`` are known already, or count it."""
        if reference[:1] in _CLOSER_LOOK and not self.is_address(reference, how):
            return
        if len(self.found.written) >= self.limits.links:
            self.found.counts[Reason.LINK_TOO_MANY] += 1
            return
        self.found.written.append(format_link((kind, reference, self.folded(text), self.folded(rel).lower() or None)))

    def references(self, value: str, how: int, attributes: dict[str, str | None]) -> Iterable[str]:
        """Return the references in an attribute that is more than a reference."""
        if how == _SRCSET:
            return parse_srcset(value)
        if how == _BUTTON:
            return (value,) if (attributes.get("type") or "").lower() == "image" else ()
        if self.is_refreshed or (attributes.get("http-equiv") or "").lower() != "refresh":
            return ()
        references = parse_refresh(value)
        self.is_refreshed = references is not None  # the first that is valid takes effect, no other
        return references or ()

    def is_address(self, reference: str, how: int) -> bool:
        """Tell whether a reference is one to keep; if not, count it."""
        reason = self.reason_against(reference.strip(_C0_OR_SPACE).translate(_NO_TAB_NEWLINE), how)
        if reason is None:
            return True
        self.found.counts[reason] += 1
        return False

    def reason_against(self, cleaned: str, how: int) -> Reason | None:
        """Return why a reference leads nowhere else; None if it may be an address."""
        if not cleaned:
            if how not in (_HYPERLINK, _ACTION, _REFRESH):
                return Reason.LINK_EMPTY
            return Reason.LINK_SAME_PAGE if how == _ACTION or self.found.base is None else None
        if cleaned[0] == "#":
            return Reason.LINK_SAME_PAGE if self.found.base is None else None
        start = cleaned[:11].lower()
        return next((reason for scheme, reason in _NO_ADDRESS if start.startswith(scheme)), None)

    def text_of(self, node: LexborNode, element: _Element, attributes: dict[str, str | None]) -> str:
        """Return the text of a link: what an ``a`` shows, or the ``alt`` of an image."""
        if element.has_text:
            child = node.first_child
            if child is None:
                return ""
            text = child.text_content
            return self.folded(text) if text is not None and child.next is None else self.text_below(child)
        return self.folded(attributes.get("alt") or "") if element.has_alt else ""

    def folded(self, text: str) -> str:
        """Return a text as it is kept: white space folded, nothing in it that a line or XML cannot hold, not too long.

        No normalisation: combining and right-to-left characters and their marks stay as they are.
        """
        if "  " in text or not text.isprintable():  # printable: no control, no white space but the space, no surrogate
            text = _WHITE.sub(" ", _NO_CHARACTER.sub("", text))
        text = text.strip(" ")
        if len(text) > self.limits.text:
            self.found.counts[Reason.NOTE_TEXT_CUT] += 1
            text = text[: self.limits.text].rstrip(" ")
        return text

    def text_below(self, first: LexborNode) -> str:
        """Return the text of ``first``, the siblings behind it, and what is below them; without text, the images' ``alt``.

        A line break or the edge of a block parts words; the content of scripts and styles is not read.
        """
        pieces: list[str] = []
        images: list[LexborNode] = []
        parents: list[tuple[LexborNode, bool]] = []
        node = first
        while True:
            self.budget -= 1
            if self.budget < 0:
                self.found.counts[Reason.NOTE_TEXT_CUT] += 1
                break
            text = node.text_content
            if text is not None:
                pieces.append(text)
                self.budget -= len(text) // _BLOCK
            elif (tag_id := node.tag_id) not in _NOT_READ:
                is_break = tag_id in _BREAKS
                if is_break:
                    pieces.append(" ")
                elif tag_id in _IMAGES:
                    images.append(node)
                if (below := node.first_child) is not None:
                    parents.append((node, is_break))
                    node = below
                    continue
            while (behind := node.next) is None and parents:
                node, is_break = parents.pop()
                if is_break:
                    pieces.append(" ")
            if behind is None:
                break
            node = behind
        text = self.folded("".join(pieces))
        return text or (self.folded(" ".join([image.attributes.get("alt") or "" for image in images])) if images else "")


@dataclass(frozen=True, slots=True)
class WrittenLink:
    """A link that something else than our parser found in a page.

    Attributes:
        value: What the attribute holds; of ``meta@refresh`` the ``content``.
        text: As found: it is folded and cut like any other.
    """

    kind: Kind
    value: str
    text: str = ""
    rel: str = ""


def collect_links(
    written: Iterable[WrittenLink], limits: Limits = Limits(), base: str | None = None, kinds: frozenset[Kind] = DEFAULT_KINDS
) -> PageLinks:
    """Return links that were found already as `extract_links` would return them: the same rules, limits and counts.

    Args:
        written: In the order they are to have. A kind not in ``kinds`` is counted (``LINK_OTHER_KIND``).
        limits: See `extract_links`.
        base: The ``href`` of the page's ``base`` element; None without.
        kinds: See `extract_links`.

    >>> collect_links([WrittenLink(Kind("a@href"), "b.html", " Next  page "), WrittenLink(Kind("a@href"), "#top")]).links
    [('a@href', 'b.html', 'Next page', None)]
    """
    page = _Page(limits)
    if base is not None:
        page.read_base({"href": base})
    for link in written:
        if link.kind not in kinds:
            page.found.counts[Reason.LINK_OTHER_KIND] += 1
            continue
        element, _, attribute = link.kind.partition("@")
        how = (_LINKS.get(element, {}) | _OPTIONAL_LINKS.get(element, {}))[attribute]
        # Who found it has seen to what makes it a link.
        taken = (link.value,) if how <= _ACTION else page.references(link.value, how, {"type": "image", "http-equiv": "refresh"})
        for reference in taken:
            page.keep(link.kind, reference, link.text, link.rel, how)
    return page.found


# Possessive throughout: what does not match is refused in linear time.
_REFRESH_TIME: Final = re.compile(r"[\t\n\f\r ]*+(?:[0-9]++|(?=\.))[0-9.]*+(?:\Z|(?=[;,\t\n\f\r ])[\t\n\f\r ]*+[;,]?+[\t\n\f\r ]*+)")
_REFRESH_URL: Final = re.compile(r"[Uu][Rr][Ll][\t\n\f\r ]*+=[\t\n\f\r ]*+")


def parse_refresh(content: str) -> tuple[str, ...] | None:
    """Return the address in the ``content`` of a ``meta`` refresh, nothing if the page itself is meant, None if it is no refresh.

    Source:
        HTML Standard, shared declarative refresh steps.

    >>> parse_refresh("5; url='next.html'"), parse_refresh("5"), parse_refresh("next.html")
    (('next.html',), (), None)
    """
    time = _REFRESH_TIME.match(content)
    if time is None:
        return None
    rest = content[time.end() :]
    if not rest:
        return ()
    url = _REFRESH_URL.match(rest)
    if url is not None:
        rest = rest[url.end() :]
    elif rest[:1] in ("u", "U"):  # a relative address that starts like "url": taken whole, quotes and all
        return (rest,)
    quote = rest[:1]
    return (rest[1:].partition(quote)[0] if quote in ("'", '"') else rest,)


_SRCSET_URL: Final = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_SRCSET_DESCRIPTORS: Final = re.compile(r"(?:[^,(]++|\([^)]*+\)?+)*+")
_COMMON_DESCRIPTOR: Final = re.compile(r"[\t\n\f\r ]*+(?:[1-9][0-9]*+[wx])?+[\t\n\f\r ]*+")
_DESCRIPTOR: Final = re.compile(r"([0-9]++)([wh])|(-?(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+)(x)")


def parse_srcset(value: str) -> Iterator[str]:
    """Yield the addresses of the candidates in a ``srcset`` or ``imagesrcset``; a candidate with bad descriptors is none.

    Source:
        HTML Standard, parse a srcset attribute.

    >>> list(parse_srcset("a.png, b.png 2x, data:,c 100w, d.png 1x 2x"))
    ['a.png', 'b.png', 'data:,c']
    """
    position = 0
    while (url := _SRCSET_URL.match(value, position)) is not None:
        position = url.end()
        reference = url[1]
        if reference.endswith(","):
            yield reference.rstrip(",")
            continue
        descriptors = _SRCSET_DESCRIPTORS.match(value, position)
        assert descriptors is not None  # it matches the empty string
        position = descriptors.end()
        if _are_descriptors_valid(descriptors[0]):
            yield reference


def _are_descriptors_valid(descriptors: str) -> bool:
    """Tell whether a candidate's descriptors are nothing, a density, a width, or a width and a height."""
    if _COMMON_DESCRIPTOR.fullmatch(descriptors):
        return True
    units = ""
    for descriptor in re.split("[\t\n\f\r ]+", descriptors.strip("\t\n\f\r ")):
        match = _DESCRIPTOR.fullmatch(descriptor)
        if match is None or len(units) == 2:
            return False
        integer, unit, number, density = match.groups()
        if (float(number) < 0) if density else not integer.strip("0"):
            return False
        units += density or unit
    return units in ("x", "w", "wh", "hw")
