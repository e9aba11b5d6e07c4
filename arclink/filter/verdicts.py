"""State of a filter task: its originals and rows, and the output that waits for the shuffle."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from arclink.reasons import Reason
from arclink.rows.cdx import Details, What
from arclink.rows.pointers import PointerKind

Seen = tuple[bytes, bytes, bytes, bytes, bytes]
"""A payload that may be read: timestamp, original, file, offset, length."""

Spans = Sequence[tuple[bytes, bytes]]
NO_SPANS: Spans = ()

About = tuple[bytes, bool, bool, bool, bool, Spans]
"""The facts that follow from an original.

Its SURT, whether it is selected, whether its extension is excluded, whether it is an attachment if
it is in a WACZ, whether ``surt`` refused it, and the time spans in which it is forgotten.
"""


@dataclass(slots=True)
class Verdict:
    """The result of the rules for one `What`, and the number of captures it was used for.

    Attributes:
        columns: Status, mime and record type in the form of a ``mementos`` row.
        of_method: The end of the keys of these captures (`arclink.uris.methods.key_of_answer`);
            empty for captures of the URI itself.
        reason: Name of the first of the rules about method, status and mime that it fails; empty
            if it passes.
        is_untyped: Whether each record must be read, because it may not be a capture.
        is_doubtful: Whether it must be read even if a rule leaves it out.
        names_page: Whether the mime type names a page, so that the extension does not count.
        kept: Captures inside the selection.
        failing_extension: Number of these that fail the extension rule, too.
    """

    columns: bytes
    of_method: bytes
    reason: bytes
    fails_method: bool
    fails_status: bool
    fails_mime: bool
    is_redirect: bool
    is_revisit: bool
    is_untyped: bool
    is_doubtful: bool
    names_page: bool
    kept: int = 0
    failing_extension: int = 0


class FilterTask(Protocol):
    """State that `arclink.filter.shuffle.take` reads and changes, kept by the `Mapper`.

    Attributes:
        counts: Gets a reason for each row.
        block: Number of rows of a block.
        cached: Number of checksums in ``unread`` that end a block.
        first: First timestamp of the selection.
        last: Last timestamp of the selection.
        is_trusted: Whether equal checksums mean equal payloads.
        run: Payloads of the current run.
        revisits: Timestamps of the revisits of the current run; after each, if it names a capture,
            the time of that, as written, and its URI, or nothing if it is that of the run.
        original: Original of the run.
        checksum: Checksum of the run.
        mementos: Rows of the current block.
        first_surt: SURT of the first of these rows.
        unread: Checksums of captures that are not candidates.
        left_out: Checksums of those of them that fail a rule.
    """

    counts: Counter[Reason]
    block: int
    cached: int
    first: bytes
    last: bytes
    is_trusted: bool
    run: list[Seen]
    revisits: list[bytes]
    original: bytes
    checksum: bytes
    mementos: list[bytes]
    first_surt: bytes
    unread: list[bytes]
    left_out: list[bytes]

    def about(self, original: bytes) -> About:
        """Return the facts that follow from an original."""

    def verdict(self, what: What) -> Verdict:
        """Return the result of the rules for a mime type, status and record type."""

    def forgets(self, key: bytes, timestamp: bytes) -> bool:
        """Return whether a capture is forgotten, by the key that it gets because of its method."""

    def is_key_of_others(self, key: bytes, original: bytes) -> bool:
        """Return whether a key is that which other tools give to an original in CDX files."""

    def unsaid(
        self, kind: PointerKind, memento: bytes, details: Details | None
    ) -> tuple[bytes, bytes]:
        """Return a pointer to a record that has the facts missing in its row; count its memento."""

    def reference_in(self, original: bytes, details: Details | None) -> bytes:
        """Return the reference of a revisit without a usable digest to a capture of another URI.

        Empty if its row names none.
        """

    def end_run(self) -> Iterable[tuple[bytes, bytes]]:
        """Yield the run as a candidate, if it has captures, and begin the next."""

    def spill(self) -> Iterable[tuple[bytes, bytes]]:
        """Yield a memento block, and per checksum the number of captures that are no candidates.

        Then both are empty again.
        """
