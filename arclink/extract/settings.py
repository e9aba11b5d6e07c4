"""`ExtractSettings`: what a build may change about reading pages.

In a module of its own, because commands and filter tasks need nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from arclink.uris.wrapped import Unwrapper


@dataclass(frozen=True, slots=True)
class ExtractSettings:
    """Limits and options for reading one page.

    Attributes:
        payload_bytes: Maximum bytes of decoded HTML; the rest is cut, and counted.
        links: Maximum links of one page; further links are counted, but not kept.
        text: Maximum characters of a link's text; the rest is cut, and counted.
        lazy: Whether to read the ``data-`` attributes of lazy loading as well.
        heritrix_outlinks: Whether to add the links that the crawler recorded
            (`arclink.extract.heritrix`).
        wayback: Prefixes of Wayback Machines whose pages are treated as the original pages; an
            empty list means any Wayback Machine, None means that no page is.
        plain: Whether to read plain text, too, which has no links: its text is read then or later.
        texts: Whether to write the text of pages, too; the links are the same, so a store records
            neither.
    """

    payload_bytes: int = 16 << 20
    links: int = 200_000
    text: int = 1_000
    lazy: bool = False
    heritrix_outlinks: bool = False
    wayback: Sequence[str] | None = None
    plain: bool = False
    texts: bool = False

    def unwrapper(self) -> Unwrapper | None:
        """Return the converter from pages of a Wayback Machine to the originals; None if off."""
        return None if self.wayback is None else Unwrapper(self.wayback)
