"""Blocks of contents: what one ``outlinks`` row holds.

Pages of one site share most of their links. So a row holds the contents of some dozen pages, their distinct links once,
and each content's list of numbers; and who links to a target is told by block and position in it. Thus a link that a
thousand pages repeat is written, sorted, parsed and stored once per block, and each further occurrence is a small number.
"""

from hashlib import sha1

import orjson

from arclink.model import ContentId, Surt
from arclink.native import native

BLOCK_LINKS = 2500
"""Distinct links of a block, about; measured in docs/decisions/20261121-blocks-of-contents.md."""

BLOCK_CONTENTS = 4096
"""A block has at most so many contents: error pages have few links."""

BLOCK_NUMBERS = 200_000
"""Links of a block, repeated ones included: a page that says the same thing a hundred thousand times is soon full."""


class Block:
    """The block that is being filled.

    Attributes:
        number_of: Numbers of the distinct links, by their JSON ``[target, kind, text, rel]``; whoever adds a content
            gives its new links the next numbers before.
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
        """Whether it is time to write this block and begin another."""
        return len(self.number_of) >= BLOCK_LINKS or len(self._contents) >= BLOCK_CONTENTS or self._numbers >= BLOCK_NUMBERS

    def add(self, content: ContentId, numbers: list[int]) -> None:
        """Add a content with the numbers of its links, in page order."""
        self._contents.append(content)
        self._lists.append(numbers)
        self._numbers += len(numbers)

    @property
    def name(self) -> str:
        """The block's name: 20 hex digits of SHA-1 over its content ids, so that blocks of one name hold the same contents."""
        return sha1("\n".join(self._contents).encode(), usedforsecurity=False).hexdigest()[:20]

    def row(self, place: Surt | str) -> bytes:
        """Return the ``outlinks`` row of this block."""
        links = b"[" + b",".join(self.number_of) + b"]"
        return b"\t".join((place.encode(), self.name.encode(), orjson.dumps(self._contents), links, orjson.dumps(self._lists)))

    def positions(self) -> list[list[int]]:
        """Return, for each distinct link in the order of their numbers, the positions of the contents that hold it, sorted."""
        return _positions(self._lists, len(self.number_of))


@native
def _positions(lists: list[list[int]], links: int) -> list[list[int]]:
    """Return, for each of so many links, the positions of the lists that have its number."""
    positions: list[list[int]] = [[] for _ in range(links)]
    for position, numbers in enumerate(lists):
        for number in set(numbers):
            positions[number].append(position)
    return positions
