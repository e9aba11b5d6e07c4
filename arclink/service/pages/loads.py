"""What was loaded into a store, and what was left out and why, in the words of historians.

Builds count every item under a reason (`arclink.reasons`). This module says which of these reasons
mean that something is missing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from arclink.counts import Counts
from arclink.pipeline.damage import MANIFEST_FIELD
from arclink.reasons import Reason
from arclink.store.protocols import OpenStore

_MOST_BATCHES = 8
"""Number of batches that are listed, those loaded last."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A way in which something of the archive files can be missing.

    Attributes:
        heading: What is missing.
        noun: What is counted, in the singular.
        reasons: The reasons that mean this.
    """

    heading: str
    noun: str
    reasons: frozenset[Reason]


ABSENCES = (
    Absence(
        "Not in the graph",
        "capture",
        frozenset(
            {
                Reason.ROW_MALFORMED,
                Reason.ROW_TOO_LONG,
                Reason.ROW_OUTSIDE_SELECTION,
                Reason.ROW_FORGOTTEN,
                Reason.ROW_FILE_NOT_GIVEN,
                Reason.ROW_OTHER_ARCHIVE,
                Reason.RECORD_DAMAGED,
                Reason.RECORD_NO_URI,
                Reason.RECORD_TOO_LONG,
                Reason.RECORD_NO_DATE,
            }
        ),
    ),
    Absence(
        "Captured, but the links are unknown",
        "page",
        frozenset(
            {
                Reason.PAYLOAD_NOT_AT_HAND,
                Reason.PAYLOAD_FILE_MISSING,
                Reason.PAYLOAD_PAST_END,
                Reason.PAYLOAD_DAMAGED,
                Reason.PAYLOAD_OTHER_RECORD,
                Reason.PAYLOAD_CODING,
                Reason.PAYLOAD_NOT_IN_WAT,
                Reason.PAYLOAD_NO_DIGEST,
                Reason.PAYLOAD_CRASHED,
                Reason.PAYLOAD_MEMORY,
                Reason.PAYLOAD_TOO_LONG,
                Reason.PAYLOAD_FAILED,
            }
        ),
    ),
    Absence(
        "Captured, and not searched for links",
        "capture",
        frozenset(
            {
                Reason.MEMENTO_METHOD,
                Reason.MEMENTO_STATUS,
                Reason.MEMENTO_MIME,
                Reason.MEMENTO_ATTACHMENT,
                Reason.MEMENTO_EXTENSION,
                Reason.PAYLOAD_LEFT_OUT,
                Reason.PAYLOAD_NOT_A_CAPTURE,
                Reason.PAYLOAD_EMPTY,
            }
        ),
    ),
    Absence(
        "Only in part in the graph",
        "page",
        frozenset(
            {
                Reason.NOTE_PAYLOAD_TRUNCATED,
                Reason.NOTE_PAYLOAD_CUT,
                Reason.NOTE_TEXT_CUT,
                Reason.NOTE_NESTING_CUT,
                Reason.NOTE_TREE_CUT,
                Reason.NOTE_ATTRIBUTES_CUT,
                Reason.NOTE_FEED_BROKEN,
                Reason.NOTE_ANSWER_CUT,
                Reason.NOTE_ANSWER_SHORT,
            }
        ),
    ),
    Absence(
        "Links that are not in the graph",
        "link",
        frozenset(
            {
                Reason.LINK_JAVASCRIPT,
                Reason.LINK_DATA,
                Reason.LINK_ABOUT,
                Reason.LINK_EMPTY,
                Reason.LINK_INVALID,
                Reason.LINK_TOO_LONG,
                Reason.LINK_TOO_MANY,
                Reason.LINK_OTHER_KIND,
                Reason.LINK_OTHER_CONTEXT,
                Reason.LINK_FORGOTTEN,
            }
        ),
    ),
)
"""What can be missing, the most serious first."""


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
    for absence in ABSENCES:
        reasons = [(reason, counts[reason]) for reason in absence.reasons if counts[reason]]
        if reasons:
            yield absence, sorted(reasons, key=lambda one: (-one[1], one[0].text))
