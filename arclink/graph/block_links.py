"""The links of a block: their numbers, the contents that hold them, and their postings.

These are the innermost loops of join. Cython compiles this file unchanged (`arclink.native`):
annotations with ``cython`` give a local variable a C type, and Python never evaluates them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from orjson import dumps

from arclink.model import Scope
from arclink.native import native
from arclink.rows.relations import HUB

if TYPE_CHECKING:
    import cython

Target = tuple[bytes, bytes, Scope]
"""A resolved reference: JSON of the target, its shuffle key, and the reference's scope."""

Link = tuple[bytes, bytes, bytes, Scope]
"""A resolved link: (JSON, JSON of kind, text and rel, key, scope).

The first JSON is ``[target, kind, text, rel]``; the second has no closing bracket.
"""

Refused = tuple[int, Scope]
"""A reference without a target: the number of the reason, and the reference's scope."""

Postings = dict[bytes, dict[bytes, list[bytes]]]
"""Blocks and positions in them, as JSON, by the key of a target and then by kind, text and rel.

The latter are JSON without the closing bracket.
"""

MOST_POSITIONS = 64
"""Maximum positions of a posting under the key of its target; more have a key of their own.

So a hub with links from very many contents has several keys, and several reduce tasks.
"""

# The code of a link on a page: its number in the block and, in the last three bits, its scope; or,
# inverted (so negative), the number of a reason.


class TargetCache:
    """Results for one origin or one directory, where equal references have equal targets.

    Attributes:
        links: Results by the whole link as written: a repeated link costs one look-up.
        targets: Results by reference: the same reference with another text is not resolved again.
    """

    __slots__ = ("links", "name", "targets")

    def __init__(self, name: tuple[str | None, ...]) -> None:
        self.name = name
        self.links: dict[str, Link | Refused] = {}
        self.targets: dict[str, Target | Refused] = {}


@native("block_links")
def number_links(
    written_links: Sequence[str],
    codes: dict[str, int],
    number_of: dict[bytes, int],
    links: list[Link],
    of_origin: TargetCache,
    of_directory: TargetCache,
    follow: Callable[[str], tuple[Any, ...]],
) -> tuple[list[int], int, list[int]]:
    """Return the links of a page: their numbers, the widest scope, and the reasons of the others.

    The numbers are those in the block, in page order; the reasons are numbers, too.

    Args:
        written_links: Links in the form of `arclink.rows.pages.format_link`.
        codes: Codes of links in the block that have the same target on the whole origin; grows.
        number_of: Numbers of the block's distinct links by their JSON; grows.
        links: The block's distinct links; grows.
        of_origin: Results for this origin; grows.
        of_directory: Results for this directory; grows.
        follow: Resolves a reference to a `Target` or `Refused`.
    """
    origin_links: dict[str, Any] = of_origin.links
    directory_links: dict[str, Any] = of_directory.links
    origin_targets: dict[str, Any] = of_origin.targets
    directory_targets: dict[str, Any] = of_directory.targets
    numbers: list[int] = []
    refused: list[int] = []
    written: str
    head: bytes
    link: tuple[Any, ...] | None
    target: tuple[Any, ...]
    code: cython.long
    scope: cython.int
    widest: cython.int = 0
    origin: cython.int = Scope.ORIGIN
    directory: cython.int = Scope.DIRECTORY
    for written in written_links:
        known = codes.get(written)
        if known is not None:
            code = known
        else:
            # 20 % of all links take this branch, and cost more than all others together.
            link = origin_links.get(written) or directory_links.get(written)
            if link is not None:
                scope = link[-1]
            else:
                kind, reference, text, rel = written.split("\x1f")
                target = (
                    origin_targets.get(reference)
                    or directory_targets.get(reference)
                    or follow(reference)
                )
                scope = target[-1]
                if len(target) == 2:
                    link = target
                else:
                    head = dumps((kind, text, rel or None))
                    json = b"".join((b"[", target[0], b",", head[1:]))
                    link = json, head[:-1], target[1], target[2]
                if scope <= origin:
                    origin_targets[reference] = target
                    origin_links[written] = link
                elif scope <= directory:
                    directory_targets[reference] = target
                    directory_links[written] = link
            if len(link) == 2:
                code = -1 - link[0]
            else:
                number = number_of.get(link[0])
                if number is None:
                    number = number_of[link[0]] = len(links)
                    links.append(link)
                code = number
                code = code << 3 | scope
            if scope <= origin:
                codes[written] = code
        if code < 0:
            refused.append(-1 - code)
        else:
            numbers.append(code >> 3)
            if code & 7 > widest:
                widest = code & 7
    return numbers, widest, refused


@native("block_links")
def positions_of(lists: list[list[int]], links: int) -> list[list[int]]:
    """Return, for each number below ``links``, the sorted positions of the lists that have it."""
    positions: list[list[int]] = [[] for _ in range(links)]
    numbers: list[int]
    of_link: list[int]
    index: cython.Py_ssize_t
    for index in range(len(lists)):
        numbers = lists[index]
        position = index
        for number in numbers:
            of_link = positions[number]
            if not of_link or of_link[-1] != position:  # a page may repeat a link
                of_link.append(position)
    return positions


@native("block_links")
def hold_postings(
    postings: dict[bytes, dict[bytes, list[bytes]]],
    links: list[Link],
    positions: list[list[int]],
    name: bytes,
) -> None:
    """Add the links of a block to the postings in memory.

    If more than `MOST_POSITIONS` contents of the block hold a link, the key of its target gets a
    suffix: `HUB` and the first hex digit of the block's name. The suffix depends on nothing but the
    block: two tasks that wrote the same block use the same keys.

    Args:
        postings: `Postings`; grows.
        links: The block's distinct links.
        positions: For each link, the positions of the contents that hold it.
        name: JSON of the block's name.
    """
    alone: dict[int, bytes] = {}
    of_target: dict[bytes, list[bytes]] | None
    blocks: list[bytes] | None
    held_at: list[int]
    link: tuple[Any, ...]
    posting: bytes | None
    key: bytes
    of_hubs: bytes = HUB + name[1:2]
    number: cython.Py_ssize_t
    if len(links) != len(positions):
        raise ValueError(f"{len(links)} links, {len(positions)} lists of positions")
    for number in range(len(links)):
        link = links[number]
        held_at = positions[number]
        if len(held_at) == 1:
            posting = alone.get(held_at[0])
            if posting is None:
                posting = alone[held_at[0]] = b"[%b,[%d]]" % (name, held_at[0])
        else:
            posting = b"".join((b"[", name, b",", dumps(held_at), b"]"))
        key = link[2]
        if len(held_at) > MOST_POSITIONS:
            key += of_hubs
        of_target = postings.get(key)
        if of_target is None:
            postings[key] = {link[1]: [posting]}
            continue
        blocks = of_target.get(link[1])
        if blocks is None:
            of_target[link[1]] = [posting]
        else:
            blocks.append(posting)


@native("block_links")
def posting_rows(postings: dict[bytes, dict[bytes, list[bytes]]]) -> Iterator[bytes]:
    """Yield the ``postings`` rows of the postings in memory, unsorted: the shuffle sorts them."""
    groups: dict[bytes, list[bytes]]
    parts: list[bytes]
    for key, groups in postings.items():
        parts = []
        for head, blocks in groups.items():
            parts.append(b"".join((head, b",[", b",".join(blocks), b"]]")))
        yield b"".join((key, b"\t[", b",".join(parts), b"]"))
