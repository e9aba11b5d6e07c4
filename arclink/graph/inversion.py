"""Invert: the links under one key of a target, merged from the postings of all tasks."""

from collections.abc import Iterator

import orjson

from arclink.rows.relations import Groups, Row, format_groups, split_target_key

_MOST_CONTENTS = 50_000
"""Approximate maximum of contents in one ``inlinks`` row.

A hub has several rows, so that no reducer holds all of its links.
"""


def reduce_postings(
    key: bytes, postings: Iterator[bytes], most: int = _MOST_CONTENTS
) -> Iterator[Row]:
    """Yield the links under one key: one row, or several if it has more than ``most`` links.

    A hub has several keys (`arclink.graph.block_links.hold_postings`), which are adjacent when
    sorted, and may be reduced by several tasks.

    Yields:
        ``(target SURT, rest of the ``inlinks`` row)``.
    """
    surt, target = split_target_key(key)
    first = next(postings)
    second = next(postings, None)
    if second is None:
        yield surt, target + b"\t" + first
        return
    groups: Groups = [*orjson.loads(first), *orjson.loads(second)]
    size = _size(groups)
    for line in postings:
        if size >= most:
            yield surt, target + b"\t" + format_groups(groups)
            groups, size = [], 0
        more: Groups = orjson.loads(line)
        groups += more
        size += _size(more)
    yield surt, target + b"\t" + format_groups(groups)


def _size(groups: Groups) -> int:
    return sum(len(positions) for *_, sources in groups for _, positions in sources)
