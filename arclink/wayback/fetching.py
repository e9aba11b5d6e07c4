"""Fetching: what a list of URIs has in a Wayback Machine, into a folder of WARC files, with as few requests as can be.

Strategy. An entry is listed, then what is new of it is fetched, then comes the next. What is worth fetching is decided by the
rules of filter, from the rows of the archive's index: a payload is asked for once, whatever the number of its captures; the
others become revisits. Should that capture fail for good, the next one with the checksum is asked for. What the rules leave
out is a row of the index only. Every capture ends in one of the ``fetches`` reasons.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arclink.errors import FetchError, UsageError
from arclink.filter.cdx import EMPTY_CHECKSUMS, RESPONSE, REVISIT, REVISIT_MIME, Capture, format_row
from arclink.filter.rules import Rules
from arclink.model import NO_CHECKSUM, Checksum
from arclink.pipeline.counts import Counts
from arclink.reasons import Reason
from arclink.uris.surts import surt_of
from arclink.wayback.client import Client
from arclink.wayback.indexes import parse_entry
from arclink.wayback.listing import DONE, Archive, Listed, list_step
from arclink.wayback.records import WarcFiles, cut_back
from arclink.wayback.replay import MODIFIERS, Fetched, Replay
from arclink.wayback.state import Known, State, at_place

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
"""Reasons that may be gone another time."""

_BLANK_IN_KEY = str.maketrans({" ": "%20"})


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """What is fetched, and how.

    Attributes:
        rules: What of the index is selected, and whose payload is worth asking for.
        payload_limit: Bytes of one payload; what is larger is cut.
        file_size: Bytes of a WARC file before the next one is begun.
        modifiers: See `arclink.wayback.replay.Replay`.
    """

    rules: Rules = field(default_factory=Rules)
    payload_limit: int = 16 << 20
    file_size: int = 1 << 30
    modifiers: Sequence[str] = MODIFIERS


@dataclass(slots=True)
class FetchReport:
    """What a run did, and where the folder stands now.

    Attributes:
        requests: Sent by this run.
        counts: Rows and notes of this run; entries and captures of the folder, over all runs.
        entries_left: Entries that the next run goes on with.
        captures_left: Captures that the next run goes on with.
        problems: The first few things that went wrong in this run, in words.
    """

    requests: int = 0
    counts: Counts = field(default_factory=Counts)
    entries_left: int = 0
    captures_left: int = 0
    problems: list[str] = field(default_factory=list)


MOST_PROBLEMS = 10


def fetch(
    entries: Sequence[str],
    archive: Archive,
    folder: Path,
    client: Client,
    settings: FetchSettings,
    told: Callable[[str], None] = lambda line: None,
) -> FetchReport:
    """Fetch a list of URIs, or go on where a run before stopped; then write ``index.cdxj``.

    Args:
        entries: URIs, ``http://host/path*`` or ``*.host``; those the folder has already are not listed again.
        archive: Where to fetch from.
        folder: Where to; made if it is not there.
        client: Asks.
        settings: What and how.
        told: Called with a line about where the run is, after every step.

    Raises:
        UsageError: The folder was begun with another archive or other rules.
        InputError: The folder is not as it was left.
        WaybackError: Another run is at work on the folder, or the archive does not answer, or asks for a long wait.
            What was fetched is kept, and in the index.
    """
    with State(folder, {"--wayback": archive.base, "rules (--rules, --from, --to, --no-redirects)": settings.rules.to_json()}) as state:
        cut_back(folder, state.file_ends())
        run = _Run(archive, folder, client, settings, state, told)
        try:
            run.all_of(entries)
        finally:
            run.close()
            write_index(state, folder)
        run.report.requests = client.requests
        run.report.counts += state.counts()
        run.report.entries_left, run.report.captures_left = state.waiting()
        return run.report


def write_index(state: State, folder: Path) -> None:
    """Write the CDXJ of what is ended, sorted, in place of the last one."""
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
    """One run: what it has open, and how far it is."""

    def __init__(
        self, archive: Archive, folder: Path, client: Client, settings: FetchSettings, state: State, told: Callable[[str], None]
    ) -> None:
        self.report = FetchReport()
        self._archive = archive
        self._client = client
        self._settings = settings
        self._state = state
        self._told = told
        self._files = WarcFiles(folder, archive.base, settings.file_size)
        self._replay = Replay(client, archive.base, settings.payload_limit, settings.modifiers)
        self._tried = 0
        self._fetched = 0

    def close(self) -> None:
        self._files.close()

    def all_of(self, entries: Sequence[str]) -> None:
        """List and fetch every entry that is not ended yet."""
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
                listed = list_step(self._client, self._archive, entry, self._settings.rules.span, cursor)
            except FetchError as error:
                self._problem(text, error)
                if error.reason not in WAITING:
                    with self._state.step():
                        self._state.move_entry(number, cursor, 0, Reason.ENTRY_NO_INDEX)
                return
            cursor = listed.cursor
            self._keep(number, listed)
            self._told(f"{text}: {self._state.captures_of_entry(number):,} captures listed")

    def _keep(self, number: int, listed: Listed) -> None:
        """Keep one answer of the index: as a record, and its captures in the state."""
        captures = [] if listed.answer is None else sorted(listed.answer.captures, key=lambda capture: capture.record_type == REVISIT)
        place = self._files.write_answer(listed.question, listed.raw, listed.mime) if captures else None
        counts: Counts = Counts()
        with self._state.step():
            if place is not None:
                self._state.wrote(place)
                for capture in captures:
                    counts[self._add(at_place(capture, place))] += 1
                    if capture.note is not None:
                        counts[capture.note] += 1
            known = self._state.captures_of_entry(number) + len(captures)
            ended = Reason.ENTRY_LISTED if known else Reason.ENTRY_EMPTY
            self._state.move_entry(number, listed.cursor, len(captures), ended if listed.cursor == DONE else Reason.ENTRY_WAITING)
        self.report.counts += counts + (listed.answer.counts if listed.answer else Counts())

    def _add(self, capture: Capture) -> Reason:
        """Add a capture to the state with what is to become of it; return what its row is counted as."""
        surt = surt_of(capture.original)
        if not self._settings.rules.selects(surt, capture.timestamp):
            return Reason.ROW_OUTSIDE_SELECTION
        reason = self._verdict(capture)
        is_new = self._state.add_capture(capture, surt, reason, is_ended=reason is Reason.FETCH_LEFT_OUT)
        return Reason.ROW_KEPT if is_new else Reason.ROW_REPEATED

    def _verdict(self, capture: Capture) -> Reason:
        """Return what is to become of a capture: the order of `arclink.filter.filtering`."""
        rules = self._settings.rules
        if rules.read_redirects and is_redirect(capture):
            return Reason.FETCH_WAITING
        if rules.first_failing(capture) is not None:
            return Reason.FETCH_LEFT_OUT
        if capture.is_unmodified:
            return Reason.FETCH_NOT_MODIFIED
        if not capture.is_digested or not rules.checksum:
            return Reason.FETCH_WAITING
        return Reason.FETCH_DUPLICATE if self._state.is_wanted(capture.checksum) else Reason.FETCH_WAITING

    # Fetching

    def _fetch_wanted(self) -> None:
        """Fetch what is to be fetched and was not tried in this run; before, write what needs no request."""
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
            self._told(f"{self._fetched:,} captures fetched, {self._client.requests:,} requests; now {known.capture.original}")

    def _fetch(self, known: Known) -> Known | None:
        """Fetch one capture; return the one to fetch in its place, if it failed for good and another has its payload."""
        capture = known.capture
        try:
            fetched = self._replay.fetch(capture, lambda checksum: self._state.has_sibling(capture, checksum))
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
        """Write a capture that was fetched, and those that wait for its payload."""
        capture = known.capture
        if capture.checksum == NO_CHECKSUM or (capture.checksum in EMPTY_CHECKSUMS and not is_redirect(capture)):
            capture = replace(capture, checksum=fetched.checksum)
        capture = replace(capture, status=fetched.status, mime=fetched.mime)
        is_page = not is_redirect(capture) and capture.is_digested and self._settings.rules.checksum
        holder = self._state.holder(capture.checksum) if is_page else None
        if holder is not None and holder.number != known.number:
            self._write_revisit(known, capture, fetched.uri_m, holder, Reason.FETCH_SAME_PAYLOAD)
            return
        record_type = RESPONSE if capture.record_type == REVISIT else capture.record_type
        place = self._files.write_capture(replace(capture, record_type=record_type), fetched)
        if capture.original.lower().startswith(("http:", "https:")):
            record_type = RESPONSE
        with self._state.step():
            self._state.wrote(place)
            self._state.end_capture(known, replace(at_place(capture, place), record_type=record_type), Reason.FETCH_STORED)
        if is_page:
            self._write_duplicates(replace(known, capture=capture))

    def _write_duplicates(self, stored: Known) -> None:
        """Write the captures that wait for a payload that is at hand now."""
        for duplicate in self._state.duplicates(stored.capture.checksum):
            self._write_revisit(duplicate, duplicate.capture, self._uri_m(duplicate.capture), stored, Reason.FETCH_DUPLICATE)

    def _give_up(self, known: Known, reason: Reason) -> Known | None:
        """End a capture that cannot be fetched; return the one that is to bring its payload instead, if there is one."""
        capture = known.capture
        if is_redirect(capture) or not capture.is_digested:
            with self._state.step():
                self._state.end_capture(known, capture, reason)  # its row points to the answer of the index that names it
            return None
        self._write_revisit(known, capture, self._uri_m(capture), None, reason)
        return next(self._state.duplicates(capture.checksum), None) if self._settings.rules.checksum else None

    def _write_revisit(self, known: Known, capture: Capture, uri_m: str, payload: Known | None, reason: Reason) -> None:
        refers_to = None if payload is None else (payload.capture.original, payload.capture.timestamp)
        place = self._files.write_revisit(capture, uri_m, refers_to)
        row = replace(at_place(capture, place), record_type=REVISIT, mime=REVISIT_MIME)
        with self._state.step():
            self._state.wrote(place)
            self._state.end_capture(known, row, reason)

    def _uri_m(self, capture: Capture) -> str:
        return f"{self._archive.base}/{capture.timestamp}/{capture.original}"

    def _problem(self, what: str, error: FetchError) -> None:
        if len(self.report.problems) < MOST_PROBLEMS:
            self.report.problems.append(f"{what[:200]}: {error}")


def is_redirect(capture: Capture) -> bool:
    """Tell whether a capture is a redirect: its record says where it leads, its payload nothing."""
    return capture.status.startswith("3") and capture.status != "304"


def _reason_of_entry(text: str) -> Reason:
    try:
        parse_entry(text)
    except UsageError:
        return Reason.ENTRY_MALFORMED
    return Reason.ENTRY_WAITING
