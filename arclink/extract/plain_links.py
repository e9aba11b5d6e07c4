"""Plain links of a page: the innermost loop of extract.

Cython compiles this file as it is (`arclink.native`); Python never evaluates annotations of local
variables.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from selectolax.lexbor import LexborNode

from arclink.native import native
from arclink.rows.pages import PART

_Element = TypeVar("_Element")


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
    """Yield the elements to be read, with their attributes; plain links are added to ``links`` instead.

    A link is plain if it is an ``a`` whose ``href`` needs no closer look, and whose text and ``rel`` are kept as written.
    Nearly all links are, and most of the time of a build is spent here.

    Args:
        nodes: In page order; each element that was yielded has been read when the next node is taken.
        elements: What to read, by lexbor's number of the element.
        a: The member of ``elements`` for ``a``.
        closer_look: First characters of a ``href`` that needs a closer look.
        links: Of the page, as `arclink.extract.html.PageLinks.written` has them; grows.
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
        if element is a and len(links) < most:
            reference = attributes.get("href")
            if reference and reference[0] not in closer_look and PART not in reference:
                child = node.first_child
                text = "" if child is None else child.text_content
                rel = attributes.get("rel") or ""
                # Printable: no control, no white space but the blank, and no `PART`.
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
