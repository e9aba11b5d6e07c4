"""Filter: rows of CDX files become mementos, and pointers to the payloads worth reading (paper, 3.1).

Strategy. Every capture is a memento; nearly all of them are known whole from their row, and pass through the shuffle in
blocks of some thousand rows that nothing has to take apart. What is sorted and grouped is as little as can be: one line
for each run of rows with the same original and checksum.

======== ============================ =====================================================================
key      value                        what
======== ============================ =====================================================================
m SURT   rows, U+001E between them    memento blocks; the SURT of the first row spreads and sorts them
p CHECK  ORIGINAL …, see `_candidate` captures whose payload has this checksum, to be grouped
p CHECK  U+0001 NUMBER TAB NUMBER     how many more captures have it, which the rule's own effect counts, and how
                                      many of them fail a rule: what revisits of it would show is not read
u SPREAD a pointer                    captures whose row does not say what they hold: read one by one
======== ============================ =====================================================================

The reducer needs the values of a key sorted: then equal originals stand together, and a payload captured at a million
URIs is streamed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from tempfile import SpooledTemporaryFile
from typing import Self
from zlib import crc32

import orjson

from arclink.archive_names import WAT_SUFFIXES
from arclink.filter.cdx import EMPTY_CHECKSUMS, REVISIT, Capture, Layout, Row, What, read_row_lists
from arclink.filter.pointers import (
    FALL_BACKS,
    NO_FILE,
    ORIGINALS,
    POINTERS,
    FallBack,
    Pointer,
    PointerKind,
    format_plain_pointer,
    format_pointer,
)
from arclink.filter.rules import Rules, extension_of
from arclink.graph.relations import MEMENTOS, ROWS
from arclink.model import NO_CHECKSUM, Checksum, Forgotten, Timestamp, UriR
from arclink.native import native
from arclink.reasons import Reason
from arclink.uris.surts import surt_of, surt_or_none

Pair = tuple[bytes, bytes]

BLOCK = 2_000
"""Memento rows that travel as one line."""

_MEMENTO, _CHECKSUM, _UNSAID = b"m", b"p", b"u"

PASSED_ON = {_MEMENTO: MEMENTOS, _UNSAID: POINTERS}
"""By the first byte of a key: the relation that its values belong to as they are; nothing about them depends on their key's others."""

_MORE = b"\x01"
_EXTENSION = Reason.MEMENTO_EXTENSION.name.encode()
_REVISIT = REVISIT.encode()
_UNDIGESTED = frozenset(checksum.encode() for checksum in (*EMPTY_CHECKSUMS, NO_CHECKSUM))
_WAT = tuple(suffix.encode() for suffix in WAT_SUFFIXES)
_CACHED = 10_000
_SPOOLED = 4 << 20


@dataclass(slots=True)
class _Verdict:
    """What the rules say to one `What`, and how many captures it was said to.

    Attributes:
        columns: Status, mime and record type as they stand in a ``mementos`` row.
        reason: Name of the first of status and mime rule that it fails; empty if it passes.
        kept: Captures inside the selection.
        failing_extension: Of these, those that fail the extension rule, too.
    """

    columns: bytes
    reason: bytes
    fails_status: bool
    fails_mime: bool
    is_redirect: bool
    is_revisit: bool
    kept: int = 0
    failing_extension: int = 0


_Spans = Sequence[tuple[bytes, bytes]]
_NO_SPANS: _Spans = ()

_About = tuple[bytes, bool, bool, bool, _Spans]
"""What follows from an original: SURT, is it selected, does it fail the extension rule, did `surt` refuse it, when it is forgotten."""

_Seen = tuple[bytes, bytes, bytes, bytes, bytes]
"""A payload that might be read: timestamp, original, file, offset, length."""


def map_captures(
    lines: Iterable[bytes],
    rules: Rules,
    counts: Counter[Reason],
    block: int = BLOCK,
    layout: Layout | None = None,
    forgotten: Sequence[Forgotten] = (),
) -> Iterator[Pair]:
    """Yield memento blocks, candidates and ready pointers of CDX or CDXJ lines, as the table above says.

    A run of rows with the same original and checksum is one candidate, so rows sorted as CDX files are shuffle least;
    any order is right.

    Args:
        lines: With or without line end; a header line is counted, and followed if it names another column order.
        rules: What is read, and what is outside the selection.
        counts: Every line ends in one of ``rows``. Of ``mementos``, those that the reducer does not count end here.
        block: Rows to a memento block.
        layout: Column order of the lines (`arclink.filter.cdx.parse_header`) if their header may be elsewhere.
        forgotten: Captures that the graph must not have, whatever the rules say.
    """
    return _Mapper(rules, counts, block, forgotten).pairs(read_row_lists(lines, counts, layout))


@native
def reduce_sorted(pairs: Iterable[Pair], counts: Counter[Reason]) -> Iterator[Pair]:
    """Yield what `reduce_captures` makes of each key.

    Args:
        pairs: What `map_captures` yielded, sorted.
        counts: Whole when the last pair was yielded.
    """
    for key, same in groupby(pairs, itemgetter(0)):
        yield from reduce_captures(key, map(itemgetter(1), same), counts)


def reduce_captures(key: bytes, values: Iterator[bytes], counts: Counter[Reason]) -> Iterator[Pair]:
    """Yield memento blocks and pointers under the names of their relations, ``mementos`` and ``pointers``.

    Of a checksum, the capture to read is the earliest (by timestamp, original, file, offset). Memory: one pointer's
    originals, and those of further pointers up to 4 MiB; the rest waits in a temporary file.

    Args:
        key: As `map_captures` writes it.
        values: All values of the key, sorted.
        counts: Of ``mementos``, the one to read and its duplicates are counted here.
    """
    relation = PASSED_ON.get(key[:1])
    if relation:
        for value in values:
            yield relation, value
    else:
        first, second = next(values), next(values, None)
        pointers_of_one = _of_one_value(key[1:], first, counts) if second is None else None
        if pointers_of_one is not None:
            for line in pointers_of_one:
                yield POINTERS, line
            return
        all_values = chain([first] if second is None else [first, second], values)
        for pointer in _reduce_checksum(Checksum(key[1:].decode()), all_values, counts):
            yield POINTERS, format_pointer(pointer)


def _of_one_value(checksum: bytes, value: bytes, counts: Counter[Reason]) -> Sequence[bytes] | None:
    """Return the pointer of a checksum that has one value, as most do, or none if nothing of it can be read.

    A short way to what `_reduce_checksum` gives, and counts. None where only that knows: there are revisits alone, or
    JSON would escape something.
    """
    if value.startswith(_MORE):
        number = int(value[1:].partition(b"\t")[0])
        if number > 1:
            counts[Reason.RULE_CHECKSUM] += number - 1
        return ()
    if b'"' in value or b"\\" in value or b'"' in checksum or b"\\" in checksum:
        return None
    original, payloads, revisits, _, *seen = value.split(b"\t")
    if not seen:
        return None
    counts[Reason.MEMENTO_WITH_PAYLOAD] += 1
    if payloads != b"1" or revisits != b"0":
        duplicates = int(payloads) + int(revisits) - 1
        counts[Reason.MEMENTO_DUPLICATE] += duplicates
        counts[Reason.RULE_CHECKSUM] += duplicates
    return (format_plain_pointer(checksum, original, [one.split(b" ", 3) for one in seen]),)


class _Mapper:
    """The rows of one task on their way to the shuffle. Memory: one block, one run, and caches of bounded size.

    Attributes:
        run: Payloads of the run at hand.
        revisits: Timestamps of its revisits.
        original: Of the run.
        checksum: Of the run.
        mementos: Rows of the block at hand.
        place: SURT of the first of them.
        unread: Checksums of captures that are no candidates.
        left_out: Of these, those that fail a rule.
    """

    def __init__(self, rules: Rules, counts: Counter[Reason], block: int, forgotten: Sequence[Forgotten]) -> None:
        self.counts = counts
        self.block, self.cached = block, _CACHED
        self.first, self.last = rules.first.encode(), rules.last.encode()
        self.is_trusted = rules.checksum
        self.run: list[_Seen] = []
        self.revisits: list[bytes] = []
        self.original = self.checksum = b""
        self.mementos: list[bytes] = []
        self.place = b""
        self.unread: list[bytes] = []
        self.left_out: list[bytes] = []
        self._rules = rules
        self._forgotten = forgotten
        self._verdicts: dict[What, _Verdict] = {}
        self._abouts: dict[bytes, _About] = {}
        self._extensions = frozenset(rules.extensions_excluded)  # `Rules.fails_extension`, faster

    def pairs(self, row_lists: Iterable[list[Row]]) -> Iterator[Pair]:
        """Yield what `map_captures` yields."""
        for rows in row_lists:
            pairs: list[Pair] = []
            _take(self, rows, pairs)
            yield from pairs
        yield from self.end_run()
        yield from self.spill()
        self._settle()

    def end_run(self) -> Iterator[Pair]:
        """Yield the run as a candidate, if it has captures; the next begins."""
        if self.run or self.revisits:
            yield _CHECKSUM + self.checksum, _candidate(self.original, self.run, self.revisits)
            self.run, self.revisits = [], []

    def spill(self) -> Iterator[Pair]:
        """Yield a memento block, and once per checksum how many captures are no candidates; forget them."""
        if self.mementos:
            yield _MEMENTO + self.place, ROWS.join(self.mementos)
        failing = Counter(self.left_out)
        for checksum, number in Counter(self.unread).items():
            yield _CHECKSUM + checksum, b"%b%d\t%d" % (_MORE, number, failing[checksum])
        self.mementos, self.unread, self.left_out = [], [], []

    def about(self, original: bytes) -> _About:
        """Return what follows from an original."""
        return self._abouts.get(original) or self._learn(original)

    def verdict(self, what: What) -> _Verdict:
        """Return what the rules say about mime type, status and record type."""
        return self._verdicts.get(what) or self._judge(what)

    def _learn(self, original: bytes) -> _About:
        if len(self._abouts) >= _CACHED:
            self._abouts.clear()
        uri = original.decode()
        surt = surt_or_none(uri)
        is_refused = surt is None
        if surt is None:
            surt = surt_of(uri)
        prefixes = self._rules.prefixes
        is_selected = not prefixes or surt.startswith(prefixes)
        spans = self._forgotten_of(surt) if self._forgotten else _NO_SPANS
        about = surt.encode(), is_selected, extension_of(uri) in self._extensions, is_refused, spans
        self._abouts[original] = about
        return about

    def _forgotten_of(self, surt: str) -> _Spans:
        return [(what.span.first.encode(), what.span.last.encode()) for what in self._forgotten if what.has(surt)]

    def _judge(self, what: What) -> _Verdict:
        if len(self._verdicts) >= _CACHED:
            self._settle()
            self._verdicts.clear()
        mime, status, record_type = (part.decode() for part in what)
        is_revisit = record_type == REVISIT
        fails_status = not is_revisit and self._rules.fails_status(status)
        fails_mime = not is_revisit and self._rules.fails_mime(mime)
        verdict = _Verdict(
            columns=b"\t".join((what[1], what[0], what[2])),
            reason=(Reason.MEMENTO_STATUS.name if fails_status else Reason.MEMENTO_MIME.name if fails_mime else "").encode(),
            fails_status=fails_status,
            fails_mime=fails_mime,
            is_redirect=self._rules.read_redirects and status.startswith("3") and status != "304",
            is_revisit=is_revisit,
        )
        self._verdicts[what] = verdict
        return verdict

    def unsaid(self, kind: PointerKind, memento: bytes, capture: Capture | None) -> Pair:
        """Return a pointer to a record that says what its row does not, and count its memento."""
        _, timestamp, original, checksum, _, _, _, file, offset, length, _ = memento.decode().split("\t")
        if kind is PointerKind.UNDIGESTED:
            self.counts[Reason.MEMENTO_WITH_PAYLOAD] += 1
        elif kind is PointerKind.NOT_MODIFIED:
            self.counts[Reason.MEMENTO_DUPLICATE] += 1
        pointer = Pointer(
            kind,
            Checksum(checksum),
            file,
            int(offset),
            int(length),
            Timestamp(timestamp),
            UriR(original),
            originals=(UriR(original),),
            memento=memento,
            location=capture.location if capture else "",
            refers_to_uri=capture.refers_to_uri if capture else "",
            refers_to_timestamp=capture.refers_to_timestamp if capture else "",
        )
        return b"%b%04x" % (_UNSAID, crc32(memento) & 0xFFFF), format_pointer(pointer)

    def _settle(self) -> None:
        """Turn what the verdicts counted into reasons."""
        counts: Counter[Reason] = Counter()
        for verdict in self._verdicts.values():
            counts[Reason.ROW_KEPT] += verdict.kept
            counts[Reason.RULE_STATUS] += verdict.kept * verdict.fails_status
            counts[Reason.RULE_MIME] += verdict.kept * verdict.fails_mime
            counts[Reason.RULE_EXTENSION] += verdict.failing_extension
            if verdict.is_redirect:
                counts[Reason.MEMENTO_WITH_PAYLOAD] += verdict.kept
            elif verdict.reason:
                counts[Reason[verdict.reason.decode()]] += verdict.kept
            else:
                counts[Reason.MEMENTO_EXTENSION] += verdict.failing_extension
            verdict.kept = verdict.failing_extension = 0
        self.counts.update(+counts)


@native
def _take(mapper: _Mapper, rows: list[Row], pairs: list[Pair]) -> None:
    """Take rows on their way to the shuffle, and append the pairs that are ready. No call where most rows pass: they are billions."""
    counts, first, last, is_trusted = mapper.counts, mapper.first, mapper.last, mapper.is_trusted
    run, revisits, run_original, run_checksum = mapper.run, mapper.revisits, mapper.original, mapper.checksum
    mementos, unread, left_out = mapper.mementos, mapper.unread, mapper.left_out
    last_original = b"\t"  # no row has it
    last_what: What | None = None
    for key, timestamp, original, checksum, length, offset, file, what, capture in rows:
        if original != last_original:
            last_original = original
            surt, is_selected, fails_extension, is_refused, spans = mapper.about(original)
        if not is_selected or not first <= timestamp <= last:
            counts[Reason.ROW_OUTSIDE_SELECTION] += 1
            continue
        if spans and any(begin <= timestamp <= end for begin, end in spans):
            counts[Reason.ROW_FORGOTTEN] += 1
            continue
        if what is not last_what:
            last_what = what
            verdict = mapper.verdict(what)
        verdict.kept += 1
        if key != surt and key:
            counts[Reason.NOTE_SURT_OTHER] += 1
        if is_refused:
            counts[Reason.NOTE_SURT_REFUSED] += 1

        kind, reason = None, b"-"
        if fails_extension:
            verdict.failing_extension += 1
        if verdict.is_redirect:
            kind = PointerKind.REDIRECT
        elif verdict.reason or fails_extension:
            reason = verdict.reason or _EXTENSION
        else:
            if original != run_original or checksum != run_checksum:
                if run or revisits:
                    pairs.append((_CHECKSUM + run_checksum, _candidate(run_original, run, revisits)))
                    mapper.run, mapper.revisits = run, revisits = [], []
                mapper.original, mapper.checksum = run_original, run_checksum = original, checksum
            is_digested = checksum not in _UNDIGESTED
            if verdict.is_revisit:
                if is_digested and (capture is None or not capture.is_unmodified):
                    revisits.append(timestamp)
                else:
                    kind = PointerKind.NOT_MODIFIED
            elif is_digested and is_trusted:
                run.append((timestamp, original, file, offset, length))
            else:
                kind = PointerKind.UNDIGESTED
        if (kind or reason != b"-") and checksum not in _UNDIGESTED:
            unread.append(checksum)
            if not kind:
                left_out.append(checksum)

        memento = b"\t".join((surt, timestamp, original, checksum, verdict.columns, file, offset, length, reason))
        if kind:
            pairs.append(mapper.unsaid(kind, memento, capture))
        else:
            if not mementos:
                mapper.place = surt
            mementos.append(memento)
        if len(mementos) >= mapper.block or len(unread) >= mapper.cached:
            pairs.extend(mapper.spill())
            pairs.extend(mapper.end_run())  # one page captured every minute is not collected, either
            run, revisits = mapper.run, mapper.revisits
            mementos, unread, left_out = mapper.mementos, mapper.unread, mapper.left_out


@native
def _candidate(original: bytes, run: list[_Seen], revisits: list[bytes]) -> bytes:
    """Return a run of captures of one original and checksum as one value, which sorts by original.

    Columns: original, number of payloads, number of revisits, the earliest revisit's timestamp or nothing, and for the
    earliest payloads in different files: timestamp, offset, length and file with a blank between.
    """
    if len(run) == 1 and not revisits:  # most are
        timestamp, _, file, offset, length = run[0]
        return b"%b\t1\t0\t\t%b %b %b %b" % (original, timestamp, offset, length, file)
    start = b"%b\t%d\t%d\t%b" % (original, len(run), len(revisits), min(revisits) if revisits else b"")
    run = _earliest(run) if len(run) > 1 else run
    return b"\t".join((start, *[b" ".join((timestamp, offset, length, file)) for timestamp, _, file, offset, length in run]))


@native
def _earliest(captures: Iterable[_Seen]) -> list[_Seen]:
    """Return the earliest of the captures and its fall-backs, each in another file.

    Taken again and again with what it returned, it gives what it would of all captures at once: what was left out is
    later than a capture in each of as many other files as are wanted, and those only get earlier.
    """
    found: list[_Seen] = []
    files: set[bytes] = set()
    for capture in sorted(captures, key=_age):
        if capture[2] not in files:
            files.add(capture[2])
            found.append(capture)
            if len(found) > FALL_BACKS:
                break
    return found


def _age(capture: _Seen) -> tuple[bool, bytes, bytes, bytes, int]:
    """Return what captures of one payload are sorted by; whatever is in a WAT comes last, which has less to tell."""
    timestamp, original, file, offset, _ = capture
    return file.endswith(_WAT), timestamp, original, file, int(offset)


def _reduce_checksum(checksum: Checksum, values: Iterable[bytes], counts: Counter[Reason]) -> Iterator[Pointer]:
    """Yield the pointers of one checksum; count its captures."""
    more = left_out = payloads = revisits = 0
    best: list[_Seen] = []
    first_revisit: tuple[bytes, bytes] | None = None
    with _Originals() as originals:
        for value in values:
            if value.startswith(_MORE):
                number, failing = value[1:].split(b"\t")
                more += int(number)
                left_out += int(failing)
                continue
            original, number, again, revisited, *seen = value.split(b"\t")
            payloads += int(number)
            revisits += int(again)
            originals.add(original)
            if revisited and (first_revisit is None or (revisited, original) < first_revisit):
                first_revisit = revisited, original
            if seen:
                best = _earliest([*best, *(_parse_seen(one, original) for one in seen)])
        if payloads:
            counts[Reason.MEMENTO_WITH_PAYLOAD] += 1
        if payloads + revisits > bool(payloads):
            counts[Reason.MEMENTO_DUPLICATE] += payloads + revisits - bool(payloads)
        if more + payloads + revisits > 1:
            counts[Reason.RULE_CHECKSUM] += more + payloads + revisits - 1
        if best:
            found, *others = (_fall_back(one) for one in best)
            yield from originals.pointers(PointerKind.PAYLOAD, checksum, found, others)
        elif first_revisit:
            nowhere = FallBack(NO_FILE, 0, -1, Timestamp(first_revisit[0].decode()), UriR(first_revisit[1].decode()))
            reason = Reason.PAYLOAD_LEFT_OUT.name if left_out else ""
            yield from originals.pointers(PointerKind.REVISIT_ONLY, checksum, nowhere, [], reason)


def _parse_seen(text: bytes, original: bytes) -> _Seen:
    timestamp, offset, length, file = text.split(b" ", 3)
    return timestamp, original, file, offset, length


def _fall_back(capture: _Seen) -> FallBack:
    timestamp, original, file, offset, length = capture
    return FallBack(file.decode(), int(offset), int(length), Timestamp(timestamp.decode()), UriR(original.decode()))


class _Originals:
    """The distinct originals of one checksum, given in order, in portions of what one pointer carries.

    The first portion stays in memory; the others wait in a file, because a pointer must name the capture to read, and
    that is known when all are seen.
    """

    def __init__(self) -> None:
        self._portion: list[str] = []
        self._last = b""
        self._waiting: SpooledTemporaryFile[bytes] | None = None  # few checksums need it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._waiting is not None:
            self._waiting.close()

    def add(self, original: bytes) -> None:
        """Add an original; one equal to the last is the same."""
        if original == self._last:
            return
        self._last = original
        if len(self._portion) == ORIGINALS:
            if self._waiting is None:
                self._waiting = SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115  closed on exit
            self._waiting.write(orjson.dumps(self._portion) + b"\n")
            self._portion = []
        self._portion.append(original.decode())

    def pointers(
        self, kind: PointerKind, checksum: Checksum, found: FallBack, others: Sequence[FallBack], reason: str = ""
    ) -> Iterator[Pointer]:
        """Yield one pointer per portion."""
        portions: Iterable[list[str]] = [self._portion]
        if self._waiting is not None:
            self._waiting.seek(0)
            portions = chain((orjson.loads(line) for line in self._waiting), portions)
        for chunk, portion in enumerate(portions):
            originals = tuple(map(UriR, portion))
            place = (found.file, found.offset, found.length, found.timestamp, found.original)
            yield Pointer(kind, checksum, *place, originals=originals, fall_backs=tuple(others), chunk=chunk, reason=reason)
