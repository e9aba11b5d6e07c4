"""One export of captures: its selection, its records, its counts and its manifest.

Everything is read through the protocols of the store, so captures that the store hides are not
exported. The originals of revisits are read from a second store, because they may be outside of the
selection. Memory is limited: captures are sorted on disk.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO

from arclink.analysis.export.data_package import Facts, origin_of
from arclink.archives.payloads import DEFAULT_LIMIT
from arclink.captures.order import OutgoingCapture, SelectedCaptures
from arclink.captures.queries import CaptureFormat, TakeAwayQuery
from arclink.captures.read import PageReader, Rewritten, WarcMember, reason_of
from arclink.captures.subsets.fields import is_name
from arclink.captures.warc import ExportedRows
from arclink.errors import CaptureError, ExportError
from arclink.model import REVISIT, Memento, Timestamp, UriR
from arclink.reasons import Reason
from arclink.store.archive_paths import ArchivePaths
from arclink.store.protocols import Scans
from arclink.store.takedown_files import takedown_digest

_ATTEMPTS = 3
"""Number of times that the captures are listed if the store changes meanwhile."""

_MOST_NAMED = 1_000
"""Largest number of added originals that a manifest names; the index of the export has all."""


@dataclass(frozen=True, slots=True)
class AddedOriginal:
    """A capture outside the selection that a revisit of the selection refers to."""

    original: UriR
    timestamp: Timestamp
    file: str
    offset: int


@dataclass(slots=True)
class TakeAwayTally:
    """Counts, updated while captures are written.

    Attributes:
        captures: Captures of the selection.
        written: Those of them that were written.
        copied: Records that were copied byte for byte.
        copied_bytes: Their bytes.
        rewritten: Records that were rewritten, by reason.
        left_out: Captures of the selection without bytes, by reason.
        revisits: Revisits of the selection that were written.
        without_original: Those of them whose payload is not at hand.
        added: Originals outside the selection that were written for revisits.
        added_named: The first `_MOST_NAMED` of them.
    """

    captures: int = 0
    written: int = 0
    copied: int = 0
    copied_bytes: int = 0
    rewritten: Counter[Rewritten] = field(default_factory=Counter)
    left_out: Counter[Reason] = field(default_factory=Counter)
    revisits: int = 0
    without_original: int = 0
    added: int = 0
    added_named: list[AddedOriginal] = field(default_factory=list)

    def add(self, capture: OutgoingCapture, member: WarcMember) -> None:
        """Count a record that is written."""
        if member.rewritten is None:
            self.copied += 1
            self.copied_bytes += member.record.length
        else:
            self.rewritten[member.rewritten] += 1
        memento = capture.memento
        if capture.is_added:
            self.added += 1
            if len(self.added_named) < _MOST_NAMED:
                self.added_named.append(
                    AddedOriginal(memento.original, memento.timestamp, memento.file, memento.offset)
                )
            return
        self.written += len(capture.captures)
        if memento.record_type == REVISIT:
            self.revisits += 1
            self.without_original += not capture.has_original

    def counts(self) -> Mapping[str, object]:
        """Return the counts as JSON; see ``docs/how-to/take-away.md``."""
        return {
            "captures": self.captures,
            "written": self.written,
            "copied": self.copied,
            "rewritten": {
                reason.name.lower(): self.rewritten[reason]
                for reason in Rewritten
                if self.rewritten[reason]
            },
            "left_out": {
                reason.name: self.left_out[reason] for reason in Reason if self.left_out[reason]
            },
            "revisits": self.revisits,
            "revisits_without_original": self.without_original,
            "added_originals": self.added,
        }

    def lines(self) -> Iterator[str]:
        """Yield the counts as lines for users."""
        yield f"{self.written:,} of {self.captures:,} captures"
        if self.copied or self.rewritten:
            yield f"{self.copied:,} records copied ({self.copied_bytes:,} bytes)"
        for reason in Rewritten:
            if self.rewritten[reason]:
                yield f"{self.rewritten[reason]:,} records rewritten: each was {reason.value}"
        if self.added:
            yield (
                f"{self.added:,} added originals: captures outside the selection that revisits "
                "refer to; they have an index of their own"
            )

    def warnings(self) -> Iterator[str]:
        """Yield lines about captures that are not there, or not completely."""
        for reason in Reason:
            if self.left_out[reason]:
                yield f"warning: {self.left_out[reason]:,} captures left out: {reason.text}"
        if self.without_original:
            yield (
                f"warning: {self.without_original:,} revisits were written without their payload: "
                "no capture at hand holds it"
            )


@dataclass(frozen=True, slots=True)
class Source:
    """Where captures come from.

    Attributes:
        store: A store, or a subset of it: its captures are the selection.
        archive_paths: Where archive files are, if they were moved.
        subset: The subset as the caller named or wrote it; empty if not known.
        archive: Name of the archive; may be empty.
    """

    store: Scans
    archive_paths: ArchivePaths | None = None
    subset: str = ""
    archive: str = ""

    def describe(self, query: TakeAwayQuery) -> str:
        """Return the captures of a query in words."""
        if text := self.store.selection:
            name = f"{self.subset}: " if is_name(self.subset) else ""
            return f"{query.description} of the subset {name}{text}"
        return query.description


class Export:
    """One export: what a format writes, and where.

    Args:
        source: Where the captures come from.
        query: The query.
        folder: Folder for temporary files; the caller removes it.
        name: Name of the file.
        open_file: Returns a new file with this name.
        is_download: Whether there is one file only, and a record that is rewritten may have
            `most_bytes` at most.

    Attributes:
        tally: Counts of what was written and of what was left out.
        selection: The captures in words.
        rows: The index of the records.
    """

    def __init__(
        self,
        source: Source,
        query: TakeAwayQuery,
        folder: Path,
        name: str,
        open_file: Callable[[str], BinaryIO],
        *,
        is_download: bool = False,
    ) -> None:
        self.query = query
        self.folder = folder
        self.name = name
        self.open = open_file
        self.is_download = is_download
        self.tally = TakeAwayTally()
        self._source = source
        self._files: set[str] = set()
        self.selection = source.describe(query)
        is_wacz = query.form is CaptureFormat.WACZ
        self.rows = ExportedRows(folder, self._title_of if is_wacz else None)
        self.reader = PageReader(source.store.unselected, source.archive_paths)

    def records(self) -> Iterator[tuple[OutgoingCapture, WarcMember]]:
        """Yield the captures of the selection that can be read, with their records.

        Raises:
            ExportError: The selection has no capture, the store changed again and again, or
                captures were forgotten meanwhile.
        """
        store, limit = self._source.store, DEFAULT_LIMIT if self.is_download else None
        takedowns = takedown_digest(store)
        with self.reader:
            selected = self._selected()
            self._check_captures()
            for capture in selected.of(self):
                self._files.add(capture.memento.file)
                try:
                    member = self.reader.member(
                        capture.memento, is_checked=self.query.is_checked, limit=limit
                    )
                except CaptureError as error:
                    capture.lose(reason_of(error))
                    continue
                self.tally.add(capture, member)
                yield capture, member
        if takedown_digest(store) != takedowns:
            raise ExportError(
                "captures were forgotten during the export, and may be in it. Export again."
            )

    def lose(self, capture: OutgoingCapture, reason: Reason) -> None:
        if not capture.is_added:
            self.tally.left_out[reason] += len(capture.captures)

    @property
    def after(self) -> str:
        return ""  # an export cannot continue

    def _title_of(self, memento: Memento) -> str:
        payload = self._source.store.payload(memento.checksum)
        return "" if payload is None else payload.title or ""

    def _selected(self) -> SelectedCaptures:
        store = self._source.store
        for _ in range(_ATTEMPTS):
            state = store.state().version
            mementos = store.scan_mementos(self.query.span)
            selected = SelectedCaptures(mementos, self.reader, self.folder)
            if store.state().version == state:
                self.tally.captures = selected.captures
                return selected
        raise ExportError(
            f"the store changed {_ATTEMPTS} times while its captures were listed. "
            "Export when no build runs."
        )

    def _check_captures(self) -> None:
        if not self.tally.captures:
            raise ExportError(f"nothing to export: the graph has no capture in: {self.selection}")

    def check_written(self) -> None:
        """Raise an error if no capture was written.

        Raises:
            ExportError: None was; the text counts the reasons.
        """
        self._check_captures()
        if not self.tally.written:
            reasons = "; ".join(
                f"{count:,}: {reason.text}" for reason, count in self.tally.left_out.items()
            )
            raise ExportError(
                f"nothing to export: none of {self.tally.captures:,} captures could be read "
                f"({reasons}). If archive files were moved, name their folder with --archives."
            )

    def mementos(self) -> Iterator[Memento]:
        """Yield the captures of the selection, and count them as written."""
        for memento in self._source.store.scan_mementos(self.query.span):
            self.tally.captures += 1
            self.tally.written += 1
            self._files.add(memento.file)
            yield memento

    def put(self, name: str, pieces: Iterable[bytes]) -> Iterator[None]:
        """Write a file; yield after each piece."""
        with self.open(name) as out:
            for piece in pieces:
                out.write(piece)
                yield

    def manifest(self, files: Mapping[str, int]) -> Facts:
        """Return the manifest as a JSON object (``docs/how-to/take-away.md``, *Manifest*).

        Args:
            files: Size of each file in bytes, by name.
        """
        query, tally = self.query, self.tally
        return {
            **origin_of(self._source.store, query, query.span, self._source.archive, self._files),
            "selection": self.selection,
            "file_size": query.file_size if query.form.has_records else None,
            "checked": query.is_checked,
            "counts": tally.counts() if query.form.has_records else {"captures": tally.captures},
            "added_originals": [asdict(one) for one in tally.added_named],
            "files": files,
        }
