"""Checks every invariant of a Cassandra store that several tables share.

`arclink.store.blocks.verification` has the checks that both stores share; here are those of blocks,
lists of SURTs and totals. Tables are read by ranges of tokens, once or twice.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from arclink.checksums import names_payload
from arclink.engines.cassandra.reader import CassandraReader
from arclink.engines.cassandra.rows import unpack_content_number
from arclink.engines.cassandra.stored_rows import CassandraRows
from arclink.engines.cassandra.surt_lists import FENCES, LAST, unpack_surts
from arclink.portions import portions
from arclink.store.blocks.byte_layouts import split_content, unpack_checksum
from arclink.store.blocks.checks import hashes_of, uri_id_collisions
from arclink.store.blocks.counted_times import miscounted_days
from arclink.store.blocks.relations import unpack_outcome
from arclink.store.blocks.verification import AT_ONCE, RowChecks, miscounted, violations_of
from arclink.store.protocols import Violation


def violations(store: CassandraReader) -> Iterator[Violation]:
    """Yield broken invariants, the first few of each kind.

    Reads one state of the store, whatever is loaded meanwhile.
    """
    rows = CassandraRows(store)
    verifier = _Verifier(rows)
    checks = [
        verifier.shared.mementos,
        verifier.links,
        verifier.shared.forgotten,
        verifier.surts,
        verifier.sums,
        verifier.times,
    ]
    rows.answers.tables.note_damage(rows.note_damage)
    yield from violations_of(checks, notes=rows.unreadable)


class _Verifier:
    def __init__(self, rows: CassandraRows) -> None:
        self._rows, self._store, self._tables = rows, rows.answers, rows.answers.tables
        self._view = self._store.view
        self.shared = RowChecks(rows)
        self._links = self._contents = 0

    # Blocks of outlinks

    def links(self) -> Iterator[Violation]:
        yield from self.shared.links(self._check_block)

    def _check_block(
        self, load: int, numbers: Sequence[int], counts: Sequence[int]
    ) -> Iterator[Violation]:
        """Check the contents of a block, their payloads and the number of links of each."""
        if not numbers:
            return
        self._contents += len(numbers)
        self._links += sum(counts)
        part, block, _ = unpack_content_number(numbers[0])
        block_key = load, part, block
        contents = [content for content in self._store.contents(load, numbers) if content]
        for content, number, found in zip(
            contents, numbers, self._store.numbers(contents), strict=True
        ):
            if found != (load, number):
                yield Violation(
                    "each content has its outlinks",
                    f"{content} is in block {block_key}, but found at {found}",
                )
        checksums = [split_content(content)[0] for content in contents]
        for content, checksum, count, outcome in zip(
            contents, checksums, counts, self._store.outcomes(checksums), strict=True
        ):
            if self._rows.scope_of(checksum, outcome) is None or outcome is None:
                yield Violation("only payloads that were read have contents", content)
            elif not split_content(content)[1]:  # the only content of its payload
                yield from miscounted(
                    checksum, unpack_outcome(checksum, outcome, self._store.names), count
                )

    # The lists of SURTs, and counts

    def surts(self) -> Iterator[Violation]:
        yield from uri_id_collisions(self._store.lists.surts(self._view, ""))
        mementos, inlinks = self._tables.mementos, self._tables.inlinks
        captured = np.zeros(2, np.uint64)
        for key, _ in self._rows.scan(mementos):
            captured += hashes_of([key.decode()])[0]
        stored = captured.copy()
        targets = (key for key, _ in self._rows.scan(inlinks))
        for chunk in portions(targets, AT_ONCE):
            alone = [
                key.decode()
                for key, streams in zip(
                    chunk, mementos.streams_of_each(chunk, self._view), strict=True
                )
                if not streams
            ]
            stored += hashes_of(alone).sum(axis=0, dtype=np.uint64)
        are_equal = (captured == self._listed(captured=True)).all() and (
            stored == self._listed()
        ).all()
        found = [] if are_equal else [*self._surt_differences()]
        found += self._check_fences()
        # Lists that were merged while they were compared may be deleted.
        if self._store.lists.is_present(self._view):
            yield from found

    def _listed(self, *, captured: bool = False) -> np.ndarray:
        """Return the sum of the hashes of all listed SURTs, or of the captured ones."""
        total = np.zeros(2, np.uint64)
        for surt in self._store.lists.surts(self._view, "", captured=captured):
            total += hashes_of([surt])[0]
        return total

    def _check_fences(self) -> Iterator[Violation]:
        """Check that each row of the SURT lists is inside the range that its list's index gives.

        Rows that lost SURTs are compared by the remaining ones.
        """
        for load, part, rows, *_ in self._store.lists.ranges(self._view):
            row_keys = [(load, part, chunk) for chunk in range(FENCES, rows)]
            for row_key in self._tables.surts.missing(row_keys, self._view):
                yield Violation("SURTs are listed", f"row {row_key} of the lists is lost")
            found = self._tables.surts.get_each(row_keys, self._view)
            with self._rows.reading(f"list of SURTs {(load, part)}"):
                fences, *surts = map(unpack_surts, found)
                borders = [*fences, LAST]
                if len(fences) != rows or not all(
                    low <= one[0] and one[-1] < high
                    for (low, high), one in zip(pairwise(borders), surts, strict=True)
                    if one
                ):
                    yield Violation(
                        "SURTs are listed",
                        f"the list {(load, part)} has {rows} rows, and its row {FENCES} has "
                        "another number",
                    )

    def _surt_differences(self) -> Iterator[Violation]:
        captured, targets = (
            {key.decode() for key, _ in self._rows.scan(table)}
            for table in (self._tables.mementos, self._tables.inlinks)
        )
        stored, listed = captured | targets, set(self._store.lists.surts(self._view, ""))
        # A list of an older ArcLink may also hold SURTs whose captures were forgotten.
        of_captures = set(self._store.lists.surts(self._view, "", captured=True))
        for missing, where in (
            (stored - listed, "in no list of SURTs"),
            (captured & listed - of_captures, "captured, but in no list of captured SURTs"),
            (listed - stored, "listed, but neither captured nor linked to"),
        ):
            for surt in sorted(missing):
                yield Violation("SURTs are listed", f"{surt} is {where}")

    def sums(self) -> Iterator[Violation]:
        stored_sums = self._store.sums()
        payloads = sum(
            not names_payload(unpack_checksum(key))
            for key, _ in self._rows.scan(self._tables.payloads)
        )
        for name, counted, added in (
            ("contents", self._contents, stored_sums.contents),
            ("links", self._links, stored_sums.links),
            ("payloads", payloads, stored_sums.payloads),
        ):
            if counted != added:
                yield Violation(
                    "batches add up", f"{counted} {name}, but the batches added {added}"
                )

    def times(self) -> Iterator[Violation]:
        counted = self._rows.history.counted
        for day in miscounted_days(self._store, self._store.times()):
            # Rows of times may be joined, and deleted, while they are compared.
            if self._store.steps.history(fresh=True).counted == counted:
                yield Violation("captures are counted by their times", day)
