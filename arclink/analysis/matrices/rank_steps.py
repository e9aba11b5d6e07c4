"""PageRank per window over graph files, as the maps and reduces of a job.

The results are the unweighted ranks of `arclink.analysis.matrices.pagerank`. The steps compute a
vector v with ``v = 1 + damping * Aᵀ v``, in which dangling nodes pass nothing on; the ranks are v
divided by its sum (Del Corso, Gullì and Romani, Fast PageRank computation via a sparse linear
system, 2005). So only the last step needs a sum over all nodes.

::

    resolve   original  ──▶ captures; revisits that only refer to a capture show its payload
    join      checksum  ──▶ (window, node): targets
    collect   node      ──▶ (window, node): 1, distinct targets
    hand on   node      ──▶ (window, node): v, targets          again and again
    share     window    ──▶ (window, node): rank

Keys and values are bytes without newlines, keys also without tabs. The values of a key arrive
sorted; their first characters determine the order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import fsum

import orjson

from arclink.analysis.matrices.slices import WHOLE, SliceOptions
from arclink.checksums import is_own_reference, timestamp_of_reference
from arclink.model import (
    EMPTY_PAYLOAD,
    NO_CHECKSUM,
    Checksum,
    ContentId,
    Kind,
    Scope,
    Timestamp,
    UriR,
)
from arclink.rows.relations import COLUMNS_OF_MEMENTO, COLUMNS_OF_PAYLOAD
from arclink.uris.resolution import checksum_of, content_id
from arclink.uris.surts import surt_of

Pair = tuple[bytes, bytes]

OF_ORIGINAL, OF_CHECKSUM, OF_NODE = b"o", b"c", b"n"
"""The first byte of a key: the type of the rest."""

PAYLOAD, CONTENT, CAPTURE = b"0", b"1", b"2"
HANDED_ON, LINKS = b"0", b"1"
SUM, RANK = b"0", b"1"

_PART = b"\x01"
"""Separator between window and node."""

_COLUMNS = {
    COLUMNS_OF_MEMENTO: "mementos",
    COLUMNS_OF_MEMENTO + 1: "mementos",
    COLUMNS_OF_PAYLOAD: "payloads",
    COLUMNS_OF_PAYLOAD + 1: "payloads",
    5: "outlinks",
}
"""Relations of graph files by the number of their columns, which distinguishes them."""


@dataclass(frozen=True, slots=True)
class RankSteps:
    """The maps and reduces of the job.

    Attributes:
        options: Levels, windows and kinds; jobs support neither weights nor links in force.
    """

    options: SliceOptions
    damping: float

    # Resolve

    def map_row(self, row: bytes) -> Iterator[Pair]:
        """Yield the pairs of one row of graph files.

        The number of columns identifies the relation; rows of ``inlinks`` yield nothing.
        """
        columns = row.split(b"\t")
        relation = _COLUMNS.get(len(columns))
        if relation == "mementos":
            timestamp, original, checksum = columns[1:4]
            reason = columns[COLUMNS_OF_MEMENTO - 1]
            yield OF_ORIGINAL + original, timestamp + b"\t" + checksum + b"\t" + reason
        elif relation == "payloads":
            if columns[1] != b"-":
                yield OF_CHECKSUM + columns[0], PAYLOAD + columns[1]
        elif relation == "outlinks":
            yield from self._contents(*columns[2:])

    def _contents(self, contents: bytes, links: bytes, lists: bytes) -> Iterator[Pair]:
        wants = self.options.wants
        targets = [
            self.options.level.name_of(surt_of(target)) if wants(Kind(kind)) else ""
            for target, kind, *_ in orjson.loads(links)
        ]
        for content, numbers in zip(orjson.loads(contents), orjson.loads(lists), strict=True):
            distinct = sorted({targets[number] for number in numbers} - {""})
            yield (
                OF_CHECKSUM + checksum_of(content).encode(),
                CONTENT + content.encode() + b"\t" + orjson.dumps(distinct),
            )

    def reduce_original(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the captures of one original by checksum, and its node; pass on other keys."""
        if not key.startswith(OF_ORIGINAL):
            yield from ((key, value) for value in values)
            return
        original = UriR(key[1:].decode())
        node = self.options.level.name_of(surt_of(original))
        rows = sorted({tuple(value.decode().split("\t")) for value in values})
        at: dict[str, list[str]] = {}
        for timestamp, checksum, reason in rows:
            if not is_own_reference(Checksum(checksum), original):
                at.setdefault(timestamp, []).extend(
                    [checksum] if _shows_payload(checksum, reason) else []
                )
        shown: set[tuple[str, str]] = set()
        for timestamp, checksum, reason in rows:
            if not is_own_reference(Checksum(checksum), original):
                shown.update(
                    (one, timestamp) for one in [checksum] if _shows_payload(checksum, reason)
                )
            elif reason == "-":
                when = timestamp_of_reference(Checksum(checksum)) or max(
                    (other for other in at if other <= timestamp), default=""
                )
                shown.update((one, timestamp) for one in at.get(when, []))
        if node:
            for window in sorted(
                {window for timestamp, *_ in rows for window in self._windows(timestamp)}
            ):
                yield _node_key(window, node), b""
        for checksum, timestamp in sorted(shown):
            yield (
                OF_CHECKSUM + checksum.encode(),
                CAPTURE + original.encode() + b"\t" + timestamp.encode(),
            )

    # Join

    def reduce_checksum(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        """Yield per node and window that shows a payload its targets, and each target as a node.

        Other keys are passed on unchanged.
        """
        if not key.startswith(OF_CHECKSUM):
            yield from ((key, value) for value in values)
            return
        checksum = Checksum(key[1:].decode())
        scope: Scope | None = None
        targets: dict[ContentId, bytes] = {}
        done: set[tuple[str, str, ContentId]] = set()
        for value in values:
            kind, rest = value[:1], value[1:]
            if kind == PAYLOAD:
                scope = Scope(int(rest))
            elif kind == CONTENT:
                content, _, names = rest.partition(b"\t")
                targets.setdefault(ContentId(content.decode()), names)
            elif scope is not None:
                original, _, timestamp = rest.decode().partition("\t")
                shown = content_id(checksum, UriR(original), scope)
                source = self.options.level.name_of(surt_of(original))
                for window in self._windows(timestamp):
                    if source and shown in targets and (window, source, shown) not in done:
                        done.add((window, source, shown))
                        yield _node_key(window, source), targets[shown]
                        yield from (
                            (_node_key(window, target), b"")
                            for target in orjson.loads(targets[shown])
                        )

    # Collect, hand on, share

    def reduce_node(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        """Yield a node with its distinct targets, except itself."""
        node = key.partition(_PART)[2].decode()
        targets: set[str] = set()
        for value in values:
            targets.update(orjson.loads(value) if value else ())
        yield key, orjson.dumps([1.0, sorted(targets - {node})])

    def map_links(self, key: bytes, value: bytes) -> Iterator[Pair]:
        """Yield the links of a node, and the value that it passes on to each target."""
        whole, targets = orjson.loads(value)
        yield key, LINKS + orjson.dumps(targets)
        if targets:
            share = HANDED_ON + repr(self.damping * whole / len(targets)).encode()
            window = key.partition(_PART)[0]
            yield from ((window + _PART + target.encode(), share) for target in targets)

    def reduce_links(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        """Yield a node with its new value, which does not depend on the order of input."""
        targets: list[str] = []

        def handed_on() -> Iterator[float]:
            for value in values:
                if value.startswith(LINKS):
                    targets.extend(orjson.loads(value[1:]))
                else:
                    yield float(value[1:])

        whole = 1 + fsum(handed_on())
        yield key, orjson.dumps([whole, targets])

    def map_shares(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the nodes of one map task by window, and their sum."""
        sums: dict[bytes, list[float]] = {}
        for key, value in pairs:
            window, _, node = key[1:].partition(_PART)
            whole = float(orjson.loads(value)[0])
            parts = sums.setdefault(window, [])
            parts.append(whole)
            if len(parts) > 1000:
                parts[:] = [fsum(parts)]
            yield window, RANK + node + b"\t" + repr(whole).encode()
        for window, parts in sums.items():
            yield window, SUM + repr(fsum(parts)).encode()

    def reduce_shares(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        """Yield (window, node TAB rank)."""
        total = 0.0
        for kind, of_kind in groupby(values, lambda value: value[:1]):
            if kind == SUM:
                total = fsum(float(value[1:]) for value in of_kind)
                continue
            for value in of_kind:
                node, _, whole = value[1:].partition(b"\t")
                yield key, node + b"\t" + repr(float(whole) / total).encode()

    def _windows(self, timestamp: str) -> Sequence[str]:
        """Return the names of the windows that a timestamp is in."""
        windows = self.options.windows
        if windows.period:
            return [WHOLE.name, windows.period.of(Timestamp(timestamp))]
        return [
            WHOLE.name,
            *(window.name for window in windows.listed if Timestamp(timestamp) in window.span),
        ]


def _node_key(window: str, node: str) -> bytes:
    return OF_NODE + window.encode() + _PART + node.encode()


def _shows_payload(checksum: str, reason: str) -> bool:
    return reason == "-" and checksum not in {NO_CHECKSUM, EMPTY_PAYLOAD}
