"""Blocks of contents: each ``outlinks`` row holds one block.

Pages of one site share most of their links. So a row holds the contents of some dozen pages, their
distinct links once, and a list of link numbers for each content. The source of a link is named by
the block and the position of the content in it. Thus a link that a thousand pages repeat is
written, sorted, parsed and stored once per block, and each further occurrence is a small number.
"""

from hashlib import sha1

import orjson

from arclink.graph.block_links import positions_of
from arclink.model import ContentId, Surt

BLOCK_LINKS = 2500
"""Approximate number of distinct links per block.

Measured in docs/decisions/20261121-blocks-of-contents.md.
"""

BLOCK_CONTENTS = 4096
"""Maximum contents per block; it matters for error pages, which have few links."""

_BLOCK_NUMBERS = 200_000
"""Maximum links per block, with repetitions: one link may be on a page a hundred thousand times."""


class Block:
    """A block in the making.

    Attributes:
        number_of: Numbers of the distinct links, by their JSON ``[target, kind, text, rel]``.
            Before a caller adds a content, it gives the content's new links the next numbers.
    """

    __slots__ = ("_contents", "_lists", "_numbers", "number_of")

    def __init__(self) -> None:
        self.number_of: dict[bytes, int] = {}
        self._contents: list[ContentId] = []
        self._lists: list[list[int]] = []
        self._numbers = 0

    def __len__(self) -> int:
        return len(self._contents)

    @property
    def is_full(self) -> bool:
        """Whether this block should be written and another one begun."""
        return (
            len(self.number_of) >= BLOCK_LINKS
            or len(self._contents) >= BLOCK_CONTENTS
            or self._numbers >= _BLOCK_NUMBERS
        )

    def add(self, content: ContentId, numbers: list[int]) -> None:
        """Add a content with the numbers of its links, in page order."""
        self._contents.append(content)
        self._lists.append(numbers)
        self._numbers += len(numbers)

    @property
    def name(self) -> str:
        """The block's name: 20 hex digits of SHA-1 over its content ids.

        Blocks with the same name hold the same contents.
        """
        return sha1("\n".join(self._contents).encode(), usedforsecurity=False).hexdigest()[:20]

    def row(self, first_surt: Surt | str) -> bytes:
        """Return the ``outlinks`` row of this block."""
        links = b"[" + b",".join(self.number_of) + b"]"
        return b"\t".join(
            (
                first_surt.encode(),
                self.name.encode(),
                orjson.dumps(self._contents),
                links,
                orjson.dumps(self._lists),
            )
        )

    def positions(self) -> list[list[int]]:
        """Return, for each distinct link, the sorted positions of the contents that hold it.

        The links are in the order of their numbers.
        """
        return positions_of(self._lists, len(self.number_of))
