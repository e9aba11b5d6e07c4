"""The links of a page, as written, in page order: `extract_links`.

The parser follows the HTML Standard (lexbor, through selectolax). The document is walked once.
These rules decide:

- *Where links are.* ``_LINKS`` lists the elements and attributes. `DEFAULT_KINDS` are on,
  `OPTIONAL_KINDS` must be named by the caller. The page is read as by a crawler without scripts:
  ``<noscript>`` contains elements. Comments, scripts, ``<noframes>`` and ``<noembed>`` contain
  text, so they have no links.
- *Templates.* Browsers do not show the content of ``<template>``, but crawlers that read markup
  follow its links. These links stay in page order, with ``template`` as the element of their kind
  (``template@href``). The first template with ``shadowrootmode`` in an element that may have a
  shadow root is a declarative one: browsers show its content, so its links have the usual kinds.
- *Refreshes.* Only a refresh that a browser with scripts follows within `_LONGEST_DELAY` seconds is
  a redirect, ``meta@refresh``. After a longer delay it is ``meta@delayed-refresh``; in
  ``<noscript>`` it is ``noscript@refresh``, in a template or shadow root ``template@refresh``.
- *Broken markup.* An ``a`` without an end tag, or around blocks in a paragraph, is split as in a
  browser. Each part is a link, perhaps without text.
- *Namespaces.* An element in SVG or MathML is not the element of HTML with that name: a ``base`` in
  ``<svg>`` changes no link. In SVG, ``a``, ``image``, ``use``, ``feImage`` and ``script`` count,
  with ``href`` or else ``xlink:href`` (SVG 2, 16.1.5); their kind says ``href`` for both.
- *Not read*: see docs/explanation/data-model.md, *Kinds of links*.
- *References that are not addresses.* `PageLinks.counts` counts those that are recognised without
  the page's URI. The others are counted when links are resolved.
- *Text.* An ``a`` has the text that a reader sees; images, image maps and image buttons have their
  ``alt``; other links have no text.
- *Title.* It is the text of the first ``title`` element of HTML in the document (HTML Standard,
  *the title element*), folded and cut as the text of a link is. One in a template, SVG or MathML is
  not the page's.

A page may be hostile: the walk does not recurse, and reading texts has a fixed budget, however deep
links nest.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from arclink.extract.bounds import bounded
from arclink.extract.plain_links import but_plain_links
from arclink.model import Kind, RawLink
from arclink.reasons import Reason
from arclink.rows.pages import format_link, parse_link
from arclink.uris.resolution import C0_OR_SPACE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one page; links and texts over a limit are counted.

    Attributes:
        links: Maximum number of links per page; further ones are counted as `Reason.LINK_TOO_MANY`.
        text: Maximum number of characters of one text, title or ``rel``; a longer one is cut
            (`Reason.NOTE_TEXT_CUT`).
        repeated: Maximum number of characters in texts and ``rel`` that several links share, as
            those of one ``srcset`` do; further links have no text (`Reason.NOTE_TEXT_CUT`).
    """

    links: int = 200_000
    text: int = 1_000
    repeated: int = 16 << 20


# These fold to one space: white space of HTML, the no-break space, the two line ends of Unicode,
# and all controls, which have no form: XML 1.0 does not allow C0, and terminals obey C1.
_WHITE: Final = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029]+")
# Characters that XML 1.0 does not allow.
_NO_CHARACTER: Final = re.compile("[\ud800-\udfff\ufffe\uffff]+")


@dataclass(slots=True)
class PageLinks:
    """The links of one page. Every link is either in ``links`` or counted, once.

    Attributes:
        base: The page's base as written, to be resolved against the page's URI; None if the page
            has no base that changes its links.
        written: The links in page order, repeated ones included, each as one string
            (`arclink.rows.pages.format_link`). References are not cleaned: they may start or end
            with white space and contain line breaks.
        counts: The number of links that are not in ``written``, by reason; and of the notes
            ``NOTE_TEXT_CUT`` and ``NOTE_BASE_INVALID``.
        title: The page's title, empty if it has none; None if no page was read, as for the links
            of headers.
    """

    base: str | None = None
    written: list[str] = field(default_factory=list)
    counts: Counter[Reason] = field(default_factory=Counter)
    title: str | None = None

    @property
    def links(self) -> list[RawLink]:
        """The links, each as (kind, reference as written, text, rel)."""
        return list(map(parse_link, self.written))

    def folded(self, text: str, limits: Limits) -> str:
        """Return a text as stored: white space and controls folded, no noncharacters, cut.

        Unicode is not normalised: combining and right-to-left characters and their marks are
        unchanged.
        """
        # Printable: no control character, no white space except the space, no surrogate.
        if "  " in text or not text.isprintable():
            text = _WHITE.sub(" ", _NO_CHARACTER.sub("", text))
        text = text.strip(" ")
        if len(text) > limits.text:
            self.counts[Reason.NOTE_TEXT_CUT] += 1
            text = text[: limits.text].rstrip(" ")
        return text


# How an attribute is read, and what it means when it is empty.
_RESOURCE: Final = 0  # nothing is fetched: an empty source (HTML, "If src is the empty string, …")
_HYPERLINK: Final = 1  # the page itself, or its base
_ACTION: Final = 2  # the page itself even where it has a base (HTML, form submission)
_USE: Final = 3  # a resource; a fragment alone is in the page even where it has a base (SVG)
_SUBMIT: Final = 4  # as an action, if the element submits its form
_SRCSET: Final = 5  # a list of candidates
_REFRESH: Final = 6  # a declarative refresh, if http-equiv says so
_BUTTON: Final = 7  # a resource if the input's type is image

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
    "input": {"src": _BUTTON, "formaction": _SUBMIT},
    "button": {"formaction": _SUBMIT},
    "body": {"background": _RESOURCE},
    "table": {"background": _RESOURCE},
    "thead": {"background": _RESOURCE},
    "tbody": {"background": _RESOURCE},
    "tfoot": {"background": _RESOURCE},
    "tr": {"background": _RESOURCE},
    "td": {"background": _RESOURCE},
    "th": {"background": _RESOURCE},
    "blockquote": {"cite": _HYPERLINK},
    "q": {"cite": _HYPERLINK},
    "del": {"cite": _HYPERLINK},
    "ins": {"cite": _HYPERLINK},
}

_SVG_LINKS: Final[dict[str, dict[str, int]]] = {
    "a": {"href": _HYPERLINK},
    "image": {"href": _RESOURCE},  # the parser turns HTML's own <image> into <img>
    "use": {"href": _USE},
    "feimage": {"href": _USE},
    "script": {"href": _RESOURCE},
}

# Attributes that scripts use for lazy loading; no standard defines them.
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
    "img": {
        "data-src": _RESOURCE,
        "data-srcset": _SRCSET,
        "data-original": _RESOURCE,
        "data-lazy-src": _RESOURCE,
    },
    "script": {"data-src": _RESOURCE},
    "iframe": {"data-src": _RESOURCE},
    "video": {"data-src": _RESOURCE, "data-poster": _RESOURCE},
    "audio": {"data-src": _RESOURCE},
    "source": {"data-src": _RESOURCE, "data-srcset": _SRCSET},
}


# Of HTTP: `arclink.extract.header_links` reads them.
_HEADER_LINKS: Final[dict[str, dict[str, int]]] = {
    "http": {"refresh": _REFRESH, "link": _HYPERLINK},
}


def _kinds(links: dict[str, dict[str, int]]) -> frozenset[Kind]:
    return frozenset(
        Kind(f"{element}@{attribute}")
        for element, attributes in links.items()
        for attribute in attributes
    )


DEFAULT_KINDS: Final = _kinds(_LINKS) | _kinds(_SVG_LINKS)
"""Kinds of links that are extracted by default."""

OPTIONAL_KINDS: Final = _kinds(_OPTIONAL_LINKS)
"""Kinds of links that are extracted only if the caller names them: ``data-`` attributes of lazy
loading.
"""

HEADER_KINDS: Final = _kinds(_HEADER_LINKS)
"""Kinds of links in HTTP headers, without the kind of ``Location``."""

_LONGEST_DELAY: Final = 30
"""Seconds. A refresh after a longer delay is an ordinary link: people read the page first."""

_DELAYED: Final = {
    Kind("meta@refresh"): Kind("meta@delayed-refresh"),
    Kind("http@refresh"): Kind("http@delayed-refresh"),
}
_NOSCRIPT_REFRESH: Final = Kind("noscript@refresh")
_TEMPLATE_REFRESH: Final = Kind("template@refresh")

DERIVED_KINDS: Final = frozenset(
    {
        *_DELAYED.values(),
        _NOSCRIPT_REFRESH,
        *(Kind(f"template@{kind.partition('@')[2]}") for kind in DEFAULT_KINDS | OPTIONAL_KINDS),
    }
)
"""Kinds that are derived from context: links in templates, refreshes that are not redirects."""

_WITH_ALT: Final = {"area", "img", "input"}
_WITH_REL: Final = {"a", "area", "link", "form"}
_ALL_LINKS: Final = {
    element: _LINKS.get(element, {})
    | _SVG_LINKS.get(element, {})
    | _OPTIONAL_LINKS.get(element, {})
    | _HEADER_LINKS.get(element, {})
    for element in _LINKS | _SVG_LINKS | _OPTIONAL_LINKS | _HEADER_LINKS
}


@dataclass(frozen=True, slots=True)
class _Element:
    """The attributes to read from one element: (name, kind, how), in the order of links.

    Attributes:
        attributes: If it is of HTML.
        in_svg: If it is of SVG.
        needs: The attribute without which the element has no link; empty if there is no such one.
    """

    attributes: tuple[tuple[str, Kind, int], ...]
    in_svg: tuple[tuple[str, Kind, int], ...] = ()
    needs: str = ""
    has_text: bool = False
    has_alt: bool = False
    has_rel: bool = False


_HREF_OF_A: Final = (("href", Kind("a@href"), _HYPERLINK),)
_A: Final = _Element(_HREF_OF_A, _HREF_OF_A, has_text=True, has_rel=True)
_TEMPLATE: Final = _Element(())
_BASE: Final = _Element(())
_FOREIGN: Final = _Element(())
_TITLE: Final = _Element(())

_document = LexborHTMLParser("")


def _tag_id(tag: str) -> int:
    # lexbor's number for an element; selectolax does not publish the list.
    return _document.create_node(tag).tag_id


def _tag_ids(tags: str) -> frozenset[int]:
    return frozenset(_tag_id(tag) for tag in tags.split())


_NOSCRIPT: Final = _tag_id("noscript")
_TITLE_ELEMENT: Final = _tag_id("title")
_BUTTON_ELEMENT: Final = _tag_id("button")
_IMAGES: Final = _tag_ids("img input area")
NOT_SHOWN: Final = frozenset({"script", "style", "iframe", "noembed", "noframes"})
"""Elements whose text no reader sees."""
BREAKS: Final = frozenset(
    (  # noqa: SIM905  prose
        "address article aside blockquote br center dd details dialog dir div dl dt fieldset "
        "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav "
        "ol optgroup option p pre section summary table caption colgroup col tbody td tfoot th "
        "thead tr ul"
    ).split()
)
"""Elements that begin a new line of text."""
_NOT_SHOWN_IDS: Final = _tag_ids(" ".join(NOT_SHOWN))
_BREAK_IDS: Final = _tag_ids(" ".join(BREAKS))


_HOSTS: Final = frozenset(
    (  # noqa: SIM905  prose
        "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span"
    ).split()
)
"""Elements of HTML that may have a shadow root, besides custom elements (DOM, 4.9)."""

_NO_CUSTOM_ELEMENTS: Final = frozenset(
    (  # noqa: SIM905  prose
        "annotation-xml color-profile font-face font-face-src font-face-uri font-face-format "
        "font-face-name missing-glyph"
    ).split()
)
"""Names with a hyphen that are not of custom elements (HTML, 4.13.3)."""

_UNNUMBERED: Final = -1
"""Number of ``use``, for which lexbor chooses another number in each document."""

_SVG: Final = _tag_id("svg")
_MATH: Final = _tag_id("math")
_ANNOTATION: Final = _tag_id("annotation-xml")
_HTML_IN_SVG: Final = _tag_ids("foreignobject desc title")
_HTML_IN_MATH: Final = _tag_ids("mi mo mn ms mtext")


@lru_cache(maxsize=16)
def _elements(kinds: frozenset[Kind], *, is_inert: bool = False) -> dict[int, _Element]:
    """Return the attributes to read, by element number; ``is_inert``: in a template."""
    elements = {
        _tag_id("template"): _TEMPLATE,
        _tag_id("base"): _BASE,
        _SVG: _FOREIGN,
        _MATH: _FOREIGN,
        _TITLE_ELEMENT: _TITLE,
    }

    def wanted(tag: str, attributes: dict[str, int]) -> tuple[tuple[str, Kind, int], ...]:
        return tuple(
            (
                "content" if how == _REFRESH else name,
                Kind(f"{'template' if is_inert else tag}@{name}"),
                how,
            )
            for name, how in attributes.items()
            if f"{tag}@{name}" in kinds
        )

    for tag in _LINKS | _SVG_LINKS | _OPTIONAL_LINKS:
        in_html = wanted(tag, _LINKS.get(tag, {}) | _OPTIONAL_LINKS.get(tag, {}))
        in_svg = wanted(tag, _SVG_LINKS.get(tag, {}))
        if in_html or in_svg:
            single = in_html[0][0] if len(in_html) == 1 and not in_svg else ""
            element = _Element(
                in_html,
                in_svg,
                single if single != "href" else "",
                tag == "a",
                tag in _WITH_ALT,
                tag in _WITH_REL,
            )
            elements[_tag_id(tag) if tag != "use" else _UNNUMBERED] = (
                _A if element == _A else element
            )
    return elements


# Maximum number of nodes (and blocks of _BLOCK characters) that reading the texts of one page may
# visit. In valid pages links do not nest, and each node is visited once. Without this limit, time
# would grow with the square of the depth where links nest.
_TEXT_BUDGET: Final = 1_000_000
_BLOCK: Final = 64

NO_TAB_NEWLINE: Final = str.maketrans("", "", "\t\n\r")
"""Removes the characters that a URL loses everywhere."""

# A reference with another first character is an address; no further test is needed.
_CLOSER_LOOK: Final = frozenset(["", "#", *"jJdDaA", *C0_OR_SPACE])

_NO_ADDRESS: Final = (
    ("javascript:", Reason.LINK_JAVASCRIPT),
    ("data:", Reason.LINK_DATA),
    ("about:", Reason.LINK_ABOUT),
)


def extract_links(
    html: bytes | str,
    limits: Limits = Limits(),
    kinds: frozenset[Kind] = DEFAULT_KINDS,
    base: str | None = None,
    then: Callable[[LexborHTMLParser, bool], None] | None = None,
) -> PageLinks:
    """Return the links of one page.

    Args:
        html: The page, decoded; bytes are UTF-8, and invalid bytes become U+FFFD.
        limits: Limits for one page.
        kinds: Kinds to extract, from `DEFAULT_KINDS` and `OPTIONAL_KINDS`; links of other kinds are
            neither returned nor counted.
        base: Of a part of another document: the base there, empty if it has none. ``base`` elements
            are then ignored.
        then: Called with the parsed page, which it may change, and whether its end is missing.

    Returns:
        The links in page order; those of one element are in the order of ``_LINKS``. The result
        depends only on the arguments.

    Source:
        HTML Standard (parsing, links, images, declarative refresh), URL Standard (characters that
        are removed before parsing).

    >>> page = extract_links(
    ...     '<base href="/d/"><a href="b.html" rel=NoFollow>Next <b>page</b></a>'
    ...     '<a href="javascript:x()">x</a>'
    ... )
    >>> page.base, page.links
    ('/d/', [('a@href', 'b.html', 'Next page', 'nofollow')])
    >>> [(reason.name, count) for reason, count in page.counts.items()]
    [('LINK_JAVASCRIPT', 1)]
    """
    if isinstance(html, str):
        html = html.encode("utf-8", "ignore")  # drops lone surrogates, which cannot be encoded
    sound, notes = bounded(html)
    # Without events parsing takes 10 % less time; they would only copy the chosen <option>, with
    # its links, into <selectedcontent>.
    parser = LexborHTMLParser(sound, options=LexborDocumentOptions.WO_EVENTS)
    page = _Page(limits, base)
    page.walk(parser, kinds)
    if page.came_base_late:
        page = _Page(limits, page.found.base)
        page.walk(parser, kinds)
    page.found.counts.update(notes)
    if then is not None:
        then(parser, bool(notes))
    return page.found


class _Page:
    """The state of reading one page."""

    __slots__ = (
        "budget",
        "came_base_late",
        "foreign",
        "found",
        "has_base_element",
        "hosts",
        "is_in_document",
        "is_refreshed",
        "is_refreshed_without_scripts",
        "limits",
        "repeated",
    )

    def __init__(self, limits: Limits, base: str | None = None) -> None:
        self.found = PageLinks(base or None)
        self.limits = limits
        self.budget = _TEXT_BUDGET
        self.foreign: dict[int, int] = {}  # memory of elements of SVG and MathML → which of both
        self.hosts: set[int] = set()  # memory of elements that have a shadow root
        self.is_in_document = True  # False in a template or shadow root
        self.repeated = 0
        self.is_refreshed = False
        self.is_refreshed_without_scripts = False
        self.has_base_element = base is not None
        self.came_base_late = False

    def walk(self, parser: LexborHTMLParser, kinds: frozenset[Kind]) -> None:
        """Collect the links of the document; templates are read at their place in page order."""
        if parser.root is None:
            return
        found = self.found
        found.title = ""
        # Pairs of nodes and ``is_inert``: whether browsers hide their content.
        walks: list[tuple[Iterator[LexborNode], bool]] = [(parser.root.traverse(), False)]
        # Copies: `note_foreign` adds to them, and the title is removed when it was read.
        elements = tuple(dict(_elements(kinds, is_inert=is_inert)) for is_inert in (False, True))
        while walks:
            nodes, is_inert = walks[-1]
            self.is_in_document = len(walks) == 1
            closer = but_plain_links(
                nodes,
                elements[is_inert],
                _A,
                _CLOSER_LOOK,
                found.written,
                self.limits.links,
                self.limits.text,
            )
            for node, element, attributes in closer:
                if element is _TEMPLATE:
                    # The content of a template is a separate fragment, which the walk does not
                    # enter; it may contain further templates.
                    is_inert = is_inert or not self.is_shadow_root(node, attributes)
                    walks.extend(
                        (fragment.traverse(), is_inert) for fragment in node.template_fragments()
                    )
                    break
                if element is _FOREIGN:
                    self.note_foreign(parser, node, elements[is_inert])
                elif element is not _BASE and element is not _TITLE:
                    self.read(node, element, attributes)
                elif self.is_in_document and node.mem_id not in self.foreign:
                    if element is _BASE:
                        self.read_base(attributes)
                    else:
                        self.read_title(node)
                        for of_document_or_template in elements:
                            del of_document_or_template[_TITLE_ELEMENT]
            else:
                walks.pop()

    def note_foreign(
        self, parser: LexborHTMLParser, root: LexborNode, elements: dict[int, _Element]
    ) -> None:
        """Note the elements below ``<svg>`` or ``<math>`` that are not of HTML.

        Args:
            parser: Has parsed the page.
            root: The ``<svg>`` or ``<math>``.
            elements: Gets the number that ``use`` has in this document.
        """
        if root.mem_id in self.foreign:
            return  # it is below another one, and so was noted
        if _UNNUMBERED in elements:
            elements[parser.create_node("use").tag_id] = elements.pop(_UNNUMBERED)
        for node in root.traverse():
            if node.tag_id in elements:
                namespace = self.namespace_of(node)
                if namespace:
                    self.foreign[node.mem_id] = namespace

    def is_shadow_root(self, node: LexborNode, attributes: dict[str, str | None]) -> bool:
        """Return whether a template is a declarative shadow root, and note its host.

        Source:
            HTML Standard, 13.2.6.4.4 (a start tag ``template``); DOM Standard, *attach a shadow
            root*. Another template in a host that has a shadow root is not one.
        """
        host = node.parent
        if host is None or (attributes.get("shadowrootmode") or "").lower() not in (
            "open",
            "closed",
        ):
            return False
        name = host.tag or ""
        is_custom = "-" in name and "a" <= name[0] <= "z" and name not in _NO_CUSTOM_ELEMENTS
        if host.mem_id in self.hosts or not (is_custom or name in _HOSTS):
            return False
        self.hosts.add(host.mem_id)
        return True

    def namespace_of(self, node: LexborNode) -> int:
        """Return the number of ``svg`` or ``math`` for their elements; 0 for an element of HTML.

        Assumed to be of HTML if the page nests too deep.

        Source:
            HTML Standard, 13.2.6 (adjusted current node, integration points).
        """
        if node.tag_id in (_SVG, _MATH):
            return node.tag_id
        may_be_html = False  # in SVG, but not in MathML
        above = node.parent
        while above is not None and self.budget > 0:
            self.budget -= 1
            tag_id = above.tag_id
            if tag_id == _SVG:
                return 0 if may_be_html else _SVG
            if tag_id == _MATH:
                return _MATH
            if tag_id in _HTML_IN_SVG:
                may_be_html = True
            elif tag_id in _HTML_IN_MATH or (
                tag_id == _ANNOTATION
                and (above.attributes.get("encoding") or "").lower()
                in ("text/html", "application/xhtml+xml")
            ):
                return 0
            above = above.parent
        return 0

    def read_base(self, attributes: dict[str, str | None]) -> None:
        """Take the base of the first ``base`` that has an ``href``, usable or not (HTML, 4.2.3)."""
        if self.has_base_element or "href" not in attributes:
            return
        self.has_base_element = True
        href = attributes["href"] or ""
        cleaned = href.strip(C0_OR_SPACE).translate(NO_TAB_NEWLINE)
        if cleaned[:11].lower().startswith(("javascript:", "data:")):
            self.found.counts[Reason.NOTE_BASE_INVALID] += 1
        # Otherwise the base is the page's own URI, which changes no link.
        elif cleaned and cleaned[0] != "#":
            self.found.base = href
            # These links were judged without the base.
            self.came_base_late = self.found.counts[Reason.LINK_SAME_PAGE] > 0

    def read_title(self, node: LexborNode) -> None:
        """Take the text of the ``title`` element, which the parser reads as one piece of text."""
        child = node.first_child
        text = None if child is None else child.text_content
        self.found.title = self.folded(text or "")

    def read(self, node: LexborNode, element: _Element, attributes: dict[str, str | None]) -> None:
        """Collect the links of an element; count references that are not kept."""
        text = rel = None  # read once for all candidates of a srcset
        wanted = element.attributes
        if self.foreign and (namespace := self.foreign.get(node.mem_id)):
            wanted = element.in_svg if namespace == _SVG else ()
        for name, kind, how in wanted:
            if name not in attributes:
                if name != "href" or "xlink:href" not in attributes:
                    continue
                name = "xlink:href"
            value = attributes[name] or ""  # None: an attribute without value
            if how == _REFRESH:
                self.read_refresh(node, attributes, value)
                continue
            if how == _SUBMIT and not _submits(node, attributes):
                continue
            for reference in (
                (value,) if how <= _SUBMIT else self.references(value, how, attributes)
            ):
                if reference[:1] in _CLOSER_LOOK and not self.is_address(reference, how):
                    continue
                if len(self.found.written) >= self.limits.links:
                    self.found.counts[Reason.LINK_TOO_MANY] += 1
                    continue
                if text is None or rel is None:
                    text = self.text_of(node, element, attributes)
                    rel = (
                        self.folded(attributes.get("rel") or "").lower() if element.has_rel else ""
                    )
                    written = format_link((kind, reference, text, rel or None))
                else:
                    again = self.again(text), self.again(rel)
                    written = format_link((kind, reference, *again))
                self.found.written.append(written)

    def again(self, text: str) -> str:
        """Return a text that an earlier link has, too; empty if shared texts exceed their limit."""
        self.repeated += len(text)
        if not text or self.repeated <= self.limits.repeated:
            return text
        self.found.counts[Reason.NOTE_TEXT_CUT] += 1
        return ""

    def read_refresh(self, node: LexborNode, attributes: dict[str, str | None], value: str) -> None:
        """Collect the link of a ``meta`` element if it is a refresh.

        Only the first valid refresh takes effect. One in ``<noscript>`` takes effect only in a
        browser without scripts, so a later one can still be a redirect.
        """
        if self.is_refreshed or (attributes.get("http-equiv") or "").lower() != "refresh":
            return
        references = parse_refresh(value)
        if references is None:
            return
        if not self.is_in_document:
            kind = _TEMPLATE_REFRESH
        elif self.is_in_noscript(node):
            if self.is_refreshed_without_scripts:
                return
            self.is_refreshed_without_scripts = True
            kind = _NOSCRIPT_REFRESH
        else:
            self.keep_refresh(Kind("meta@refresh"), value)
            return
        for reference in references:
            self.keep(kind, reference, "", "", _REFRESH)

    def keep_refresh(self, kind: Kind, value: str) -> None:
        """Collect the link of a refresh if it is valid and the first that takes effect."""
        references = None if self.is_refreshed else parse_refresh(value)
        if references is None:
            return
        self.is_refreshed = True
        for reference in references:
            self.keep(kind_of_refresh(kind, value), reference, "", "", _REFRESH)

    def is_in_noscript(self, node: LexborNode) -> bool:
        """Return whether an element is in ``<noscript>``; assumed if the page nests too deep."""
        above = node.parent
        while above is not None and self.budget > 0:
            if above.tag_id == _NOSCRIPT:
                return True
            self.budget -= 1
            above = above.parent
        return above is not None

    def keep(self, kind: Kind, reference: str, text: str, rel: str, how: int) -> None:
        """Collect a link whose text and ``rel`` are known, or count it."""
        if reference[:1] in _CLOSER_LOOK and not self.is_address(reference, how):
            return
        if len(self.found.written) >= self.limits.links:
            self.found.counts[Reason.LINK_TOO_MANY] += 1
            return
        self.found.written.append(
            format_link((kind, reference, self.folded(text), self.folded(rel).lower() or None))
        )

    def references(self, value: str, how: int, attributes: dict[str, str | None]) -> Iterable[str]:
        """Return the references in a ``srcset``, or in the ``src`` of an image button."""
        if how == _SRCSET:
            return parse_srcset(value)
        return (value,) if (attributes.get("type") or "").lower() == "image" else ()

    def is_address(self, reference: str, how: int) -> bool:
        """Return whether a reference is kept; count it if not."""
        reason = self.reason_against(reference.strip(C0_OR_SPACE).translate(NO_TAB_NEWLINE), how)
        if reason is None:
            return True
        self.found.counts[reason] += 1
        return False

    def reason_against(self, cleaned: str, how: int) -> Reason | None:
        """Return the reason why a reference is not a link; None if it may be one."""
        if not cleaned:
            if how not in (_HYPERLINK, _ACTION, _SUBMIT, _REFRESH):
                return Reason.LINK_EMPTY
            is_own = how in (_ACTION, _SUBMIT) or self.found.base is None
            return Reason.LINK_SAME_PAGE if is_own else None
        if cleaned[0] == "#":
            return Reason.LINK_SAME_PAGE if how == _USE or self.found.base is None else None
        start = cleaned[:11].lower()
        return next((reason for scheme, reason in _NO_ADDRESS if start.startswith(scheme)), None)

    def text_of(
        self, node: LexborNode, element: _Element, attributes: dict[str, str | None]
    ) -> str:
        """Return the text of a link: the text in an ``a``, or the ``alt`` of an image."""
        if element.has_text:
            child = node.first_child
            if child is None:
                return ""
            text = child.text_content
            return (
                self.folded(text)
                if text is not None and child.next is None
                else self.text_below(child)
            )
        return self.folded(attributes.get("alt") or "") if element.has_alt else ""

    def folded(self, text: str) -> str:
        """Return a text as stored; see `PageLinks.folded`."""
        return self.found.folded(text, self.limits)

    def text_below(self, first: LexborNode) -> str:
        """Return the text of ``first``, its following siblings and all descendants.

        If there is no text, return the ``alt`` of the images among them.

        A line break or the edge of a block separates words; the content of scripts and styles is
        not read.
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
            elif (tag_id := node.tag_id) not in _NOT_SHOWN_IDS:
                is_break = tag_id in _BREAK_IDS
                if is_break:
                    pieces.append(" ")
                elif tag_id in _IMAGES:
                    images.append(node)
                if (below := node.first_child) is not None:
                    parents.append((node, is_break))
                    node = below
                    continue
            while (following := node.next) is None and parents:
                node, is_break = parents.pop()
                if is_break:
                    pieces.append(" ")
            if following is None:
                break
            node = following
        text = self.folded("".join(pieces))
        return text or (
            self.folded(" ".join([image.attributes.get("alt") or "" for image in images]))
            if images
            else ""
        )


@dataclass(frozen=True, slots=True)
class WrittenLink:
    """A link in a page that was found by another program than ArcLink's parser.

    Attributes:
        value: The value of the attribute; for ``meta@refresh``, the ``content``.
        text: The text as found; it will be folded and cut like any other.
    """

    kind: Kind
    value: str
    text: str = ""
    rel: str = ""


def _submits(node: LexborNode, attributes: dict[str, str | None]) -> bool:
    """Return whether a ``button`` or ``input`` submits its form (HTML, 4.10.18.6)."""
    kind = (attributes.get("type") or "").lower()
    if node.tag_id == _BUTTON_ELEMENT:
        return kind not in ("button", "reset")
    return kind in ("submit", "image")


def collect_links(
    written: Iterable[WrittenLink],
    limits: Limits = Limits(),
    base: str | None = None,
    kinds: frozenset[Kind] = DEFAULT_KINDS,
    title: str | None = None,
) -> PageLinks:
    """Return links found by another program, by the rules, limits and counts of `extract_links`.

    Args:
        written: The links in the order of the result. A link of a kind not in ``kinds`` is counted
            (``LINK_OTHER_KIND``).
        limits: See `extract_links`.
        base: The ``href`` of the page's ``base`` element; None if the page has no such element.
        kinds: See `extract_links`.
        title: The page's title as found; None if it is not known.

    >>> links = [("b.html", " Next  page "), ("#top", "")]
    >>> collect_links(WrittenLink(Kind("a@href"), *link) for link in links).links
    [('a@href', 'b.html', 'Next page', None)]
    """
    page = _Page(limits)
    if base is not None:
        page.read_base({"href": base})
    if title is not None:
        page.found.title = page.folded(title)
    for link in written:
        if link.kind not in kinds:
            page.found.counts[Reason.LINK_OTHER_KIND] += 1
            continue
        element, _, attribute = link.kind.partition("@")
        how = _ALL_LINKS[element][attribute]
        if how == _REFRESH:
            page.keep_refresh(link.kind, link.value)
            continue
        # The program that found the link has checked that its input is an image button.
        references = (
            (link.value,) if how <= _SUBMIT else page.references(link.value, how, {"type": "image"})
        )
        text, rel = link.text, link.rel
        for number, reference in enumerate(references):
            if number == 1:
                text, rel = page.folded(text), page.folded(rel)
            if number:
                page.keep(link.kind, reference, page.again(text), page.again(rel), how)
            else:
                page.keep(link.kind, reference, text, rel, how)
    return page.found


# All quantifiers are possessive: text that does not match is refused in linear time.
_REFRESH_TIME: Final = re.compile(
    r"[\t\n\f\r ]*+(?:[0-9]++|(?=\.))[0-9.]*+(?:\Z|(?=[;,\t\n\f\r ])[\t\n\f\r "
    r"]*+[;,]?+[\t\n\f\r ]*+)"
)
_REFRESH_DELAY: Final = re.compile(r"[\t\n\f\r ]*+0*+([0-9]*+)")
_REFRESH_URL: Final = re.compile(r"[Uu][Rr][Ll][\t\n\f\r ]*+=[\t\n\f\r ]*+")


def parse_refresh(content: str) -> tuple[str, ...] | None:
    """Return the address in the ``content`` of a ``meta`` refresh, as a tuple of at most one.

    The tuple is empty if the refresh reloads the page itself. None: this is not a valid refresh.

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
    # A relative address that starts like "url": all of it is the address, quotes included.
    elif rest[:1] in (
        "u",
        "U",
    ):
        return (rest,)
    quote = rest[:1]
    return (rest[1:].partition(quote)[0] if quote in ("'", '"') else rest,)


def kind_of_refresh(kind: Kind, content: str) -> Kind:
    """Return the kind of a valid refresh by its delay; fractions of a second are ignored.

    Args:
        kind: The kind if the refresh is a redirect: ``meta@refresh`` or ``http@refresh``.
        content: As `parse_refresh` takes it.

    >>> kind_of_refresh(Kind("meta@refresh"), "30;a"), kind_of_refresh(Kind("meta@refresh"), "31;a")
    ('meta@refresh', 'meta@delayed-refresh')
    """
    delay = _REFRESH_DELAY.match(content)
    seconds = delay[1] if delay else ""
    is_long = len(seconds) > len(str(_LONGEST_DELAY)) or int(seconds or "0") > _LONGEST_DELAY
    return _DELAYED[kind] if is_long else kind


_SRCSET_URL: Final = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_SRCSET_DESCRIPTORS: Final = re.compile(r"(?:[^,(]++|\([^)]*+\)?+)*+")
_COMMON_DESCRIPTOR: Final = re.compile(r"[\t\n\f\r ]*+(?:[1-9][0-9]*+[wx])?+[\t\n\f\r ]*+")
_DESCRIPTOR: Final = re.compile(
    r"([0-9]++)([wh])|(-?(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+)(x)"
)


def parse_srcset(value: str) -> Iterator[str]:
    """Yield the addresses of the candidates in a ``srcset`` or ``imagesrcset``.

    Candidates with invalid descriptors are left out.

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
    """Return whether a candidate has no descriptor, a density, a width, or a width and a height."""
    if _COMMON_DESCRIPTOR.fullmatch(descriptors):
        return True
    units = ""
    for descriptor in re.split("[\t\n\f\r ]+", descriptors.strip("\t\n\f\r ")):
        match = _DESCRIPTOR.fullmatch(descriptor)
        if match is None or len(units) == 2:
            return False
        integer, unit, number, density = match.groups()
        if not 0 <= float(number) < inf if density else not integer.strip("0"):
            return False
        units += density or unit
    return units in ("x", "w", "wh", "hw")
