"""One export of captures: its selection, its records, its counts and its manifest.

Everything is read through the protocols of the store, so captures that the store hides are not
exported. The originals of revisits are read from a second store, because they may be outside of the
selection. Memory is limited: captures are sorted on disk.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from arclink.analysis.export.data_package import Facts, origin_of
from arclink.captures.index import ExportedRows
from arclink.captures.queries import CaptureFormat, TakeAwayQuery
from arclink.captures.read import PageReader
from arclink.captures.records import ChosenRecord, ChosenRecords, TakenRecord, taken_records
from arclink.captures.subsets.fields import is_name
from arclink.captures.tally import TakeAwayTally
from arclink.errors import ExportError
from arclink.model import Memento
from arclink.store.archive_paths import ArchivePaths
from arclink.store.protocols import Scans
from arclink.store.takedown_files import takedown_digest

_ATTEMPTS = 3
"""Number of times that the captures are listed if the store changes meanwhile."""


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
        self._reader = PageReader(source.store.unselected, source.archive_paths)

    @contextmanager
    def records(self) -> Iterator[Iterator[TakenRecord]]:
        """Yield the records of the selection.

        Raises:
            ExportError: The selection has no capture, or the store changed again and again.
        """
        store = self._source.store
        takedowns = takedown_digest(store)
        with self._reader as reader:
            chosen = self._chosen()
            self._check_captures()
            yield taken_records(
                self._noted(chosen),
                reader,
                self.tally,
                is_checked=self.query.is_checked,
                is_limited=self.is_download,
            )
            if takedown_digest(store) != takedowns:
                raise ExportError(
                    "captures were forgotten during the export, and may be in it. Export again."
                )

    def _noted(self, chosen: Iterable[ChosenRecord]) -> Iterator[ChosenRecord]:
        """Yield records, and note the archive files that they are in."""
        for record in chosen:
            self._files.add(record.captures[0].file)
            yield record

    def _title_of(self, memento: Memento) -> str:
        payload = self._source.store.payload(memento.checksum)
        return "" if payload is None else payload.title or ""

    def _chosen(self) -> ChosenRecords:
        store = self._source.store
        for _ in range(_ATTEMPTS):
            state = store.state().version
            mementos = store.scan_mementos(self.query.span)
            chosen = ChosenRecords(mementos, self._reader, self.folder)
            if store.state().version == state:
                self.tally.captures = chosen.captures
                return chosen
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
