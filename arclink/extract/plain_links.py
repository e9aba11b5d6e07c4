"""Plain links of a page: the innermost loop of extract.

Cython compiles this file unchanged (`arclink.native`). Python never evaluates annotations of local
variables.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from selectolax.lexbor import LexborNode

from arclink.native import native
from arclink.rows.pages import PART


class _Needy(Protocol):
    @property
    def needs(self) -> str:
        """The attribute without which an element has no link; empty if there is no such one."""


_Element = TypeVar("_Element", bound=_Needy)


@native("plain_links")
def but_plain_links(
    nodes: Iterable[LexborNode],
    elements: dict[int, _Element],
    a: _Element,
    closer_look: frozenset[str],
    links: list[str],
    most: int,
    longest: int,
) -> Iterator[tuple[LexborNode, _Element, dict[str, str | None]]]:
    """Yield the elements to read, with their attributes; add plain links to ``links`` instead.

    A link is plain if it is an ``a`` whose ``href`` needs no further test, and whose text and
    ``rel`` are stored as written. Nearly all links are plain, and a build spends most of its time
    here.

    Args:
        nodes: Nodes in page order; the caller reads each yielded element before it takes the next.
        elements: The attributes to read, by lexbor's number for the element.
        a: The member of ``elements`` for ``a``.
        closer_look: First characters of a ``href`` that needs further tests.
        links: Links of the page in the form of `arclink.extract.html.PageLinks.written`; plain
            links are appended.
        most: Maximum number of links of the page.
        longest: Maximum number of characters of a text or ``rel``.
    """
    attributes: dict[str, str | None]
    reference: str | None
    text: str | None
    rel: str | None
    for node in nodes:
        element = elements.get(node.tag_id)
        if element is None:
            continue
        attributes = node.attributes
        if element.needs and element.needs not in attributes:
            continue
        if element is a and len(links) < most:
            reference = attributes.get("href")
            if reference and reference[0] not in closer_look and PART not in reference:
                child = node.first_child
                text = "" if child is None else child.text_content
                rel = attributes.get("rel") or ""
                # Printable: no control character, no white space except the space, and no `PART`.
                if (
                    text is not None
                    and (child is None or child.next is None)
                    and len(text) <= longest
                    and "  " not in text
                    and text.isprintable()
                ):
                    if text and (text[0] == " " or text[-1] == " "):
                        text = text.strip(" ")
                    if not rel:
                        links.append(f"a@href\x1f{reference}\x1f{text}\x1f")
                        continue
                    if len(rel) <= longest and "  " not in rel and rel.isprintable():
                        rel = rel.strip(" ").lower()
                        links.append(f"a@href\x1f{reference}\x1f{text}\x1f{rel}")
                        continue
        yield node, element, attributes
