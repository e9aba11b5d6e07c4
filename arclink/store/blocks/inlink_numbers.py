"""The innermost loops of loading and of reading inlinks, which name contents by number.

Cython compiles this file unchanged (`arclink.native`): annotations with ``cython`` give a local
variable a C type, and Python never evaluates them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arclink.native import native
from arclink.store.blocks.byte_layouts import unpack_few

if TYPE_CHECKING:
    import cython

Numbered = range | list[int]
"""Numbers of the contents of a block, by position; a range if they are consecutive."""

OLD = -1
"""The mark of a content that need not be loaded: the store or an earlier block has its links."""


@native("inlink_numbers")
def contents_of(
    links: list[Any],
    blocks: dict[str, Numbered],
    has_repeats: bool,
    packed_head: Callable[[str, str, str | None], str] | None,
) -> tuple[list[str], list[int], list[int]]:
    """Return the links to a target: heads, their numbers of contents, and the contents' numbers.

    The contents' numbers are joined head by head. Contents that are `OLD` are left out, and so are
    heads without other contents.

    Args:
        links: Of one row of graph files: lists of kind, text, rel, and lists of block and
            positions.
        blocks: Numbers of the contents of each block, by name of the block and then by position.
        has_repeats: Whether some contents are `OLD`, or are in two blocks of one name.
        packed_head: Returns the packed head; None if kind, text and rel can be joined unchanged.

    Raises:
        LookupError: A block or position does not exist; the text names the blocks of that head.
    """
    heads: list[str] = []
    counts: list[int] = []
    numbers: list[int] = []
    of_head: list[int]
    sources: list[Any]
    positions: list[int]
    listed: list[int]
    before: cython.Py_ssize_t
    position: cython.Py_ssize_t
    size: cython.Py_ssize_t
    first: cython.Py_ssize_t
    for kind, text, rel, sources in links:
        of_head = [] if has_repeats else numbers
        before = len(of_head)
        try:
            for name, positions in sources:
                block = blocks[name]
                size = len(block)
                if isinstance(block, range):
                    first = block.start
                    for position in positions:
                        if not 0 <= position < size:
                            raise IndexError(f"there is no position {position}")
                        of_head.append(first + position)
                else:
                    listed = block
                    for position in positions:
                        if not 0 <= position < size:
                            raise IndexError(f"there is no position {position}")
                        of_head.append(listed[position])
        except (KeyError, IndexError, OverflowError) as error:  # the last: more than C can count
            raise LookupError(", ".join([name for name, _ in sources])[:200]) from error
        if has_repeats:
            distinct = set(of_head)
            distinct.discard(OLD)
            of_head = sorted(distinct)
            numbers += of_head
        if len(of_head) == before:
            continue
        if packed_head is not None:
            heads.append(packed_head(kind, text, rel))
        elif rel is None:
            heads.append(f"{kind}\t{text}")
        else:
            heads.append(f"{kind}\t{text}\t{rel}")
        counts.append(len(of_head) - before)
    return heads, counts, numbers


@native("inlink_numbers")
def unpack_postings(
    packed_counts: bytes, packed_steps: bytes, first: int, heads: int
) -> list[tuple[int, int]]:
    """Return the contents of a row of inlinks: pairs of number and index of the head, sorted.

    Args:
        packed_counts: The counts of the row.
        packed_steps: The steps of the row.
        first: The number in the key of the row.
        heads: Number of heads of the row.

    Raises:
        ValueError: The counts and steps do not fit each other or the number of heads.
    """
    counts: list[int] = unpack_few(packed_counts)
    steps: list[int] = unpack_few(packed_steps)
    postings: list[tuple[int, int]] = []
    number: cython.longlong
    difference: cython.longlong
    step: cython.Py_ssize_t = 0
    head: cython.Py_ssize_t
    _of_head: cython.Py_ssize_t
    if len(counts) != heads or sum(counts) != len(steps) or 0 in counts:
        raise ValueError(
            f"inlinks of {heads} heads have {len(counts)} counts, of {sum(counts)} numbers"
            f" {len(steps)}, or a head has no count"
        )
    for head in range(len(counts)):
        number = first
        for _of_head in range(counts[head]):
            difference = steps[step]
            number += difference
            step += 1
            postings.append((number, head))
    postings.sort()
    return postings
