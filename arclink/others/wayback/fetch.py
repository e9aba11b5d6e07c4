"""Download of a list of URIs from a Wayback Machine into a folder of WARC files.

Strategy. The number of requests is kept low. An entry is listed, then its new captures are fetched,
then the next entry follows. The rules of filter decide, from the rows of the archive's index, what
is worth fetching: a payload is requested once, whatever the number of its captures; the others
become revisits. If that capture fails permanently, the next capture with the same checksum is
requested. Captures that the rules leave out are only rows of the index. Every capture ends in one
of the ``fetches`` reasons.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arclink.checksums import EMPTY_CHECKSUMS
from arclink.counts import Counts
from arclink.errors import FetchError, UsageError
from arclink.filter.rules import Rules
from arclink.model import NO_CHECKSUM, REVISIT, Checksum
from arclink.others.wayback.capture_lists import DONE, Archive, Listed, list_step, parse_entry
from arclink.others.wayback.client import Client
from arclink.others.wayback.records import WarcFiles, cut_back
from arclink.others.wayback.replay import MODIFIERS, Fetched, Replay
from arclink.others.wayback.state import FolderState, Known, at_address
from arclink.reasons import Reason
from arclink.rows.cdx import RESPONSE, REVISIT_MIME, Capture, format_row
from arclink.uris.surts import key_of_answer, surt_of

INDEX = "index.cdxj"

WAITING = frozenset(
    {
        Reason.FETCH_NOT_REACHED,
        Reason.FETCH_TIMED_OUT,
        Reason.FETCH_BUSY,
        Reason.FETCH_SERVER_ERROR,
        Reason.FETCH_BROKE_OFF,
        Reason.FETCH_WAITING,
    }
)
"""Reasons that may no longer apply at another time."""

_BLANK_IN_KEY = str.maketrans({" ": "%20"})


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """Settings of a download.

    Attributes:
        rules: Select the rows of the index, and the captures whose payload is requested.
        payload_limit: Maximum bytes of one payload; a larger one is truncated.
        file_size: Bytes of a WARC file after which the next one is begun.
        modifiers: See `arclink.others.wayback.replay.Replay`.
    """

    rules: Rules = field(default_factory=Rules)
    payload_limit: int = 16 << 20
    file_size: int = 1 << 30
    modifiers: Sequence[str] = MODIFIERS


@dataclass(slots=True)
class FetchReport:
    """The result of a run, and the state of the folder.

    Attributes:
        requests: Number of requests sent by this run.
        counts: Rows and notes of this run; entries and captures of the folder, over all runs.
        entries_left: Number of entries left for the next run.
        captures_left: Number of captures left for the next run.
        problems: Messages of the first `_MOST_PROBLEMS` failures of this run.
    """

    requests: int = 0
    counts: Counts = field(default_factory=Counts)
    entries_left: int = 0
    captures_left: int = 0
    problems: list[str] = field(default_factory=list)


_MOST_PROBLEMS = 10


def fetch(
    entries: Sequence[str],
    archive: Archive,
    folder: Path,
    client: Client,
    settings: FetchSettings,
    report_line: Callable[[str], None] = lambda line: None,
) -> FetchReport:
    """Fetch a list of URIs, or continue a run that was stopped; then write ``index.cdxj``.

    Args:
        entries: URIs, ``http://host/path*`` or ``*.host``; entries that the folder has already are
            not listed again.
        archive: The archive to fetch from.
        folder: Folder for the WARC files; created if it does not exist.
        client: Sends the requests.
        settings: Settings of the download.
        report_line: Called with a line about the progress of the run, after every step.

    Raises:
        UsageError: The folder was begun with another archive or other rules.
        InputError: The files in the folder were changed since the last run.
        WaybackError: Another run uses the folder, or the archive does not answer or asks for a long
            wait. Fetched captures are kept and are in the index.
    """
    with FolderState(
        folder,
        {
            "--wayback": archive.base,
            "rules (--rules, --from, --to, --no-redirects)": settings.rules.to_json(),
        },
    ) as state:
        cut_back(folder, state.file_ends())
        run = _Run(archive, folder, client, settings, state, report_line)
        try:
            run.all_of(entries)
        finally:
            run.close()
            _write_index(state, folder)
        run.report.requests = client.requests
        run.report.counts += state.counts()
        run.report.entries_left, run.report.captures_left = state.waiting()
        return run.report


def _write_index(state: FolderState, folder: Path) -> None:
    """Write the sorted CDXJ of all finished captures, in place of the previous one."""
    path = folder / INDEX
    new = path.with_suffix(".new")
    with new.open("wb") as rows:
        for surt, capture, reason in state.ended():
            if capture.file:
                rows.write(format_row(replace(capture, key=surt.translate(_BLANK_IN_KEY))) + b"\n")
            assert reason.group == "fetches"
        rows.flush()
        os.fsync(rows.fileno())
    new.replace(path)


class _Run:
    """One run: its open files and its progress."""

    def __init__(
        self,
        archive: Archive,
        folder: Path,
        client: Client,
        settings: FetchSettings,
        state: FolderState,
        report_line: Callable[[str], None],
    ) -> None:
        self.report = FetchReport()
        self._archive = archive
        self._client = client
        self._settings = settings
        self._state = state
        self._report_line = report_line
        self._files = WarcFiles(folder, archive.base, settings.file_size)
        self._replay = Replay(client, archive.base, settings.payload_limit, settings.modifiers)
        self._tried = 0
        self._fetched = 0

    def close(self) -> None:
        self._files.close()

    def all_of(self, entries: Sequence[str]) -> None:
        """List and fetch every entry that is not finished yet."""
        self._state.add_entries((text, _reason_of_entry(text)) for text in entries)
        number = 0
        self._fetch_wanted()
        while entry := self._state.next_entry(number):
            number, text, cursor = entry
            self._list(number, text, cursor)
            self._fetch_wanted()

    # Listing

    def _list(self, number: int, text: str, cursor: str) -> None:
        """List one entry from its cursor to its end, as far as the archive answers."""
        entry = parse_entry(text)
        while cursor != DONE:
            try:
                listed = list_step(
                    self._client, self._archive, entry, self._settings.rules.span, cursor
                )
            except FetchError as error:
                self._problem(text, error)
                if error.reason not in WAITING:
                    with self._state.step():
                        self._state.move_entry(number, cursor, 0, Reason.ENTRY_NO_INDEX)
                return
            cursor = listed.cursor
            self._keep(number, listed)
            self._report_line(f"{text}: {self._state.captures_of_entry(number):,} captures listed")

    def _keep(self, number: int, listed: Listed) -> None:
        """Store one answer of the index: as a WARC record, and its captures in the state."""
        captures = (
            []
            if listed.answer is None
            else sorted(listed.answer.captures, key=lambda capture: capture.record_type == REVISIT)
        )
        address = (
            self._files.write_answer(listed.question, listed.raw, listed.mime) if captures else None
        )
        counts: Counts = Counts()
        with self._state.step():
            if address is not None:
                self._state.wrote(address)
                for capture in captures:
                    counts[self._add(at_address(capture, address))] += 1
                    if capture.note is not None:
                        counts[capture.note] += 1
            known = self._state.captures_of_entry(number) + len(captures)
            ended = Reason.ENTRY_LISTED if known else Reason.ENTRY_EMPTY
            self._state.move_entry(
                number,
                listed.cursor,
                len(captures),
                ended if listed.cursor == DONE else Reason.ENTRY_WAITING,
            )
        self.report.counts += counts + (listed.answer.counts if listed.answer else Counts())

    def _add(self, capture: Capture) -> Reason:
        """Add a capture to the state with the verdict on it.

        Return the reason that counts its row.
        """
        surt = surt_of(capture.original)
        if not self._settings.rules.selects(surt, capture.timestamp):
            return Reason.ROW_OUTSIDE_SELECTION
        surt = key_of_answer(surt, capture.method)
        reason = self._verdict(capture)
        is_new = self._state.add_capture(
            capture, surt, reason, is_ended=reason is Reason.FETCH_LEFT_OUT
        )
        return Reason.ROW_KEPT if is_new else Reason.ROW_REPEATED

    def _verdict(self, capture: Capture) -> Reason:
        """Return the reason for a capture, by rules in the order of `arclink.filter.selection`."""
        rules = self._settings.rules
        failing = rules.first_failing(capture)
        if (
            rules.read_redirects
            and is_redirect(capture)
            and failing is not Reason.MEMENTO_METHOD  # replay sends GET
        ):
            return Reason.FETCH_WAITING
        if failing is not None:
            return Reason.FETCH_LEFT_OUT
        if capture.is_unmodified:
            return Reason.FETCH_NOT_MODIFIED
        if not capture.is_digested or not rules.checksum:
            return Reason.FETCH_WAITING
        return (
            Reason.FETCH_DUPLICATE
            if self._state.is_wanted(capture.checksum)
            else Reason.FETCH_WAITING
        )

    # Fetching

    def _fetch_wanted(self) -> None:
        """Fetch the waiting captures that this run has not tried.

        First write those without a request.
        """
        for stored in self._state.payloads_at_hand():
            self._write_duplicates(stored)
        while unmodified := self._state.next_not_modified():
            row = replace(unmodified.capture, checksum=Checksum(NO_CHECKSUM))
            self._write_revisit(unmodified, row, self._uri_m(row), None, Reason.FETCH_NOT_MODIFIED)
        while known := self._state.next_wanted(self._tried):
            self._tried = known.number
            instead: Known | None = known
            while instead is not None:
                instead = self._fetch(instead)
            self._report_line(
                f"{self._fetched:,} captures fetched, {self._client.requests:,} requests; "
                f"now {known.capture.original}"
            )

    def _fetch(self, known: Known) -> Known | None:
        """Fetch one capture; return the capture to fetch instead, if any.

        If the capture failed permanently, that is another capture with its payload.
        """
        capture = known.capture
        try:
            fetched = self._replay.fetch(
                capture, lambda checksum: self._state.has_sibling(capture, checksum)
            )
        except FetchError as error:
            self._problem(f"{capture.timestamp}/{capture.original}", error)
            if error.reason not in WAITING:
                return self._give_up(known, error.reason)
            with self._state.step():
                self._state.end_capture(known, capture, error.reason, is_ended=False)
            return None
        self._fetched += 1
        self.report.counts.update(fetched.notes)
        self._store(known, fetched)
        return None

    def _store(self, known: Known, fetched: Fetched) -> None:
        """Write a fetched capture, and the captures that wait for its payload."""
        capture = known.capture
        if capture.checksum == NO_CHECKSUM or (
            capture.checksum in EMPTY_CHECKSUMS and not is_redirect(capture)
        ):
            capture = replace(capture, checksum=fetched.checksum)
        capture = replace(capture, status=fetched.status, mime=fetched.mime)
        is_page = not is_redirect(capture) and capture.is_digested and self._settings.rules.checksum
        holder = self._state.holder(capture.checksum) if is_page else None
        if holder is not None and holder.number != known.number:
            self._write_revisit(known, capture, fetched.uri_m, holder, Reason.FETCH_SAME_PAYLOAD)
            return
        record_type = RESPONSE if capture.record_type == REVISIT else capture.record_type
        address = self._files.write_capture(replace(capture, record_type=record_type), fetched)
        if capture.original.lower().startswith(("http:", "https:")):
            record_type = RESPONSE
        with self._state.step():
            self._state.wrote(address)
            self._state.end_capture(
                known,
                replace(at_address(capture, address), record_type=record_type),
                Reason.FETCH_STORED,
            )
        if is_page:
            self._write_duplicates(replace(known, capture=capture))

    def _write_duplicates(self, stored: Known) -> None:
        """Write the captures that wait for a payload that has been fetched."""
        for duplicate in self._state.duplicates(stored.capture.checksum):
            self._write_revisit(
                duplicate,
                duplicate.capture,
                self._uri_m(duplicate.capture),
                stored,
                Reason.FETCH_DUPLICATE,
            )

    def _give_up(self, known: Known, reason: Reason) -> Known | None:
        """End a capture that cannot be fetched; return the next one with its payload, or None."""
        capture = known.capture
        if is_redirect(capture) or not capture.is_digested:
            with self._state.step():
                # Its row points to the index answer that names it.
                self._state.end_capture(known, capture, reason)
            return None
        self._write_revisit(known, capture, self._uri_m(capture), None, reason)
        return (
            next(self._state.duplicates(capture.checksum), None)
            if self._settings.rules.checksum
            else None
        )

    def _write_revisit(
        self, known: Known, capture: Capture, uri_m: str, payload: Known | None, reason: Reason
    ) -> None:
        refers_to = (
            None if payload is None else (payload.capture.original, payload.capture.timestamp)
        )
        address = self._files.write_revisit(capture, uri_m, refers_to)
        row = replace(at_address(capture, address), record_type=REVISIT, mime=REVISIT_MIME)
        with self._state.step():
            self._state.wrote(address)
            self._state.end_capture(known, row, reason)

    def _uri_m(self, capture: Capture) -> str:
        return f"{self._archive.base}/{capture.timestamp}/{capture.original}"

    def _problem(self, what: str, error: FetchError) -> None:
        if len(self.report.problems) < _MOST_PROBLEMS:
            self.report.problems.append(f"{what[:200]}: {error}")


def is_redirect(capture: Capture) -> bool:
    """Return whether a capture is a redirect: its record holds the target, its payload no links."""
    return capture.status.startswith("3") and capture.status != "304"


def _reason_of_entry(text: str) -> Reason:
    try:
        parse_entry(text)
    except UsageError:
        return Reason.ENTRY_MALFORMED
    return Reason.ENTRY_WAITING
