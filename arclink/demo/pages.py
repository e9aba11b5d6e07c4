"""Pages as lists of parts, each with its markup and the links in it.

Each decision of the generator is written twice: as HTML into the page, and as links into the list
of true links (the *truth*). Neither is derived from the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from arclink.demo.locations import BaseElement, Location, Reference
from arclink.model import Scope

TrueLink = tuple[str, str, str, str | None]
"""(absolute target, kind, text, rel), as in the truth and in the graph files."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the page that the graph must have, unless it leads to its own page.

    Attributes:
        text: Text with white space folded, as in the graph.
        rel: The ``rel`` attribute, folded and in lower case; None if it has no ``rel``.
    """

    kind: str
    reference: Reference
    text: str = ""
    rel: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of markup with its links in page order.

    Unusable references are in the markup only.
    """

    html: str
    links: tuple[Link, ...] = ()


def join(parts: Sequence[Part], before: str = "", between: str = "\n", after: str = "") -> Part:
    """Return ``parts`` as one part, with markup around and between them."""
    html = before + between.join(part.html for part in parts) + after
    return Part(html, tuple(link for part in parts for link in part.links))


def paragraph(*parts: Part | str) -> Part:
    """Return parts and texts in a ``<p>``."""
    return join(
        [part if isinstance(part, Part) else Part(escape(part)) for part in parts],
        "<p>",
        " ",
        "</p>",
    )


def heading(text: str) -> Part:
    """Return a heading without links."""
    return Part(f"<h2>{escape(text)}</h2>")


def attribute(name: str, value: str | None) -> str:
    """Return `` name="value"``, or an empty text if there is no value."""
    return "" if value is None else f' {name}="{escape(value)}"'


def anchor(
    reference: Reference, text: str, rel: str | None = None, markup: str | None = None
) -> Part:
    """Return ``<a href>``.

    Args:
        reference: Where it leads.
        text: Its text in the graph.
        rel: In lower case and folded.
        markup: Content of the element instead of the plain text; it must read as ``text``.
    """
    inside = escape(text) if markup is None else markup
    return Part(
        f"<a{attribute('href', reference.written)}{attribute('rel', rel)}>{inside}</a>",
        (Link("a@href", reference, text, rel),),
    )


def dead_anchor(written: str, text: str) -> Part:
    """Return an anchor without a usable target: ``javascript:``, ``data:``, or not a URI at all."""
    return Part(f"<a{attribute('href', written)}>{escape(text)}</a>")


def image(reference: Reference, alt: str | None = None) -> Part:
    """Return ``<img src>``."""
    return Part(
        f"<img{attribute('src', reference.written)}{attribute('alt', alt)}>",
        (Link("img@src", reference, alt or ""),),
    )


def anchor_around(reference: Reference, images: Sequence[Part], text: str) -> Part:
    """Return an anchor with ``images``; ``text`` is their combined alternate text."""
    inside = join(images, between=" ")
    own = Link("a@href", reference, text)
    return Part(f"<a{attribute('href', reference.written)}>{inside.html}</a>", (own, *inside.links))


def element(
    tag: str,
    name: str,
    reference: Reference,
    text: str = "",
    rel: str | None = None,
    more: str = "",
    closed: bool = False,
) -> Part:
    """Return another element with one link in attribute ``name``.

    Args:
        tag: Name of the element.
        name: Name of the attribute.
        reference: Where it leads.
        text: The alternate text, for elements that have one.
        rel: The ``rel`` attribute, for elements that have one.
        more: Further attributes, as markup.
        closed: Whether the element has an end tag.
    """
    alternate = text if text else None
    html = (
        f"<{tag}{attribute('rel', rel)}{attribute(name, reference.written)}"
        f"{attribute('alt', alternate)}{more}>"
    )
    return Part(
        html + (f"</{tag}>" if closed else ""), (Link(f"{tag}@{name}", reference, text, rel),)
    )


def srcset(
    tag: str,
    candidates: Sequence[tuple[Reference, str]],
    alt: str | None = None,
    src: Reference | None = None,
) -> Part:
    """Return an element whose ``srcset`` names several images.

    Args:
        tag: ``img`` or ``source``.
        candidates: References and their descriptors (``2x``, ``640w``).
        alt: Alternate text, of an ``img``.
        src: The plain image, of an ``img``.
    """
    written = ", ".join(
        f"{reference.written} {descriptor}".rstrip() for reference, descriptor in candidates
    )
    plain = "" if src is None else attribute("src", src.written)
    links = [Link(f"{tag}@srcset", reference, alt or "") for reference, _ in candidates]
    first = [] if src is None else [Link(f"{tag}@src", src, alt or "")]
    return Part(
        f"<{tag}{plain}{attribute('srcset', written)}{attribute('alt', alt)}>", (*first, *links)
    )


def meta_refresh(
    seconds: int, reference: Reference, spelling: str = "{seconds}; url={uri}"
) -> Part:
    """Return ``<meta http-equiv=refresh>``, for the head."""
    content = spelling.format(seconds=seconds, uri=reference.written)
    return Part(
        f'<meta http-equiv="refresh"{attribute("content", content)}>',
        (Link("meta@refresh", reference),),
    )


@dataclass(frozen=True, slots=True)
class Charset:
    """The encoding of a page, and where it is declared.

    Attributes:
        codec: Python's name.
        label: The name in the declaration.
        declared: ``header``, ``meta``, ``http-equiv``, ``bom``, or ``none``.
    """

    codec: str = "utf-8"
    label: str = "utf-8"
    declared: str = "meta"

    @property
    def markup(self) -> str:
        """The declaration in the head; empty if it is elsewhere."""
        match self.declared:
            case "meta":
                return f'<meta charset="{self.label}">\n'
            case "http-equiv":
                return (
                    f'<meta http-equiv="Content-Type" content="text/html; charset={self.label}">\n'
                )
        return ""

    @property
    def parameter(self) -> str:
        """The parameter of the Content-Type header; empty if the declaration is elsewhere."""
        return f"; charset={self.label}" if self.declared == "header" else ""

    def encode(self, text: str) -> bytes:
        """Return ``text`` in bytes; characters outside the charset become character references."""
        mark = "\ufeff" if self.declared == "bom" else ""
        return (mark + text).encode(self.codec, errors="xmlcharrefreplace")


UTF_8 = Charset()


@dataclass(frozen=True, eq=False)
class DemoPage:
    """A payload: the page that a server answers with, at any location.

    Attributes:
        title: Distinct from that of other pages, so that no two pages have equal bytes by accident.
        parts: Contents of the body, in order.
        head: Contents of the head besides title, charset and base.
        base: None without ``<base href>``.
        language: For ``<html lang>``.
        body_tag: ``body``, or ``frameset``.
    """

    title: str
    parts: Sequence[Part]
    head: Sequence[Part] = ()
    base: BaseElement | None = None
    charset: Charset = UTF_8
    language: str = "en"
    body_tag: str = "body"

    @cached_property
    def payload(self) -> bytes:
        """The bytes of the page."""
        direction = ' dir="rtl"' if self.language in {"ar", "he"} else ""
        base = "" if self.base is None else f"<base{attribute('href', self.base.written)}>\n"
        head = f"{self.charset.markup}{base}<title>{escape(self.title)}</title>\n" + "".join(
            f"{part.html}\n" for part in self.head
        )
        body = "".join(f"{part.html}\n" for part in self.parts)
        return self.charset.encode(
            f'<!DOCTYPE html>\n<html lang="{self.language}"{direction}>\n<head>\n{head}</head>\n'
            f"<{self.body_tag}>\n{body}</{self.body_tag}>\n</html>\n"
        )

    def links_at(self, location: Location) -> Iterator[TrueLink]:
        """Yield the links of the page at ``location``, in page order, except links to itself."""
        read_at = location if self.base is None else self.base.at(location)
        stays = self.base is None or self.base.scope is Scope.DOCUMENT
        for part in (*self.head, *self.parts):
            for link in part.links:
                if stays and link.reference.scope is Scope.DOCUMENT:
                    continue
                yield link.reference.target(read_at), link.kind, link.text, link.rel
