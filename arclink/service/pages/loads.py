"""What was loaded into a store, and what was left out and why, in the words of historians.

Builds count every item under a reason, which says whether something is missing
(`arclink.reasons`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from arclink.counts import Counts
from arclink.pipeline.damage import MANIFEST_FIELD
from arclink.reasons import Absence, Reason
from arclink.store.protocols import OpenStore

_MOST_BATCHES = 8
"""Number of batches that are listed, those loaded last."""


@dataclass(frozen=True, slots=True)
class Load:
    """One batch: archive files that were loaded together.

    Attributes:
        number: 1, 2, … in the order they were loaded.
        when: Day on which it was loaded, as ``2026-11-26``; empty if an earlier version loaded it.
        files: Names of its archive files.
        captures: Number of captures; None if what was read was not counted.
        pages: Number of payloads whose links were read; likewise.
        damaged: Number of archive files that are empty, cut short or damaged.
    """

    number: int
    when: str
    files: Sequence[str]
    captures: int | None
    pages: int | None
    damaged: int


@dataclass(frozen=True, slots=True)
class Loads:
    """All batches of a store.

    Attributes:
        shown: The batches that were loaded last, oldest first.
        total: Number of all batches.
        missing: What is missing, with the number of each reason, most frequent first.
        are_counted: Whether what is missing was counted for all batches.
        removed: Number of captures that were removed on request.
    """

    shown: Sequence[Load]
    total: int
    missing: Sequence[tuple[Absence, Sequence[tuple[Reason, int]]]]
    are_counted: bool
    removed: int


def loads_of(store: OpenStore) -> Loads | None:
    """Return the batches of a store; None if some captures are hidden: it would tell of them.

    Raises:
        StoreError: The store cannot be read.
    """
    loads, counts = list[Load](), Counts()
    for batch in store.batches():
        manifest = orjson.loads(batch.manifest)
        if not manifest:
            return None
        named = _named(manifest.get("counts", {}))
        counts += named
        loads.append(
            Load(
                batch.number,
                manifest.get("loaded", "")[: len("2026-11-26")],
                batch.files,
                named[Reason.ROW_KEPT] if named else None,
                named[Reason.PAYLOAD_READ] if named else None,
                len(manifest.get(MANIFEST_FIELD, ())),
            )
        )
    removed = sum(numbers.mementos for _, numbers in store.forgotten())
    are_counted = all(load.captures is not None for load in loads)
    return Loads(loads[-_MOST_BATCHES:], len(loads), [*_missing(counts)], are_counted, removed)


def _named(groups: Mapping[str, Mapping[str, int]]) -> Counts:
    return Counter(
        {
            Reason[name]: count
            for named in groups.values()
            for name, count in named.items()
            if name in Reason.__members__  # a later version of ArcLink may know others
        }
    )


def _missing(counts: Counts) -> Iterator[tuple[Absence, Sequence[tuple[Reason, int]]]]:
    for absence in Absence:
        reasons = [
            (reason, counts[reason])
            for reason in Reason
            if reason.absence is absence and counts[reason]
        ]
        if reasons:
            yield absence, sorted(reasons, key=lambda one: (-one[1], one[0].text))
