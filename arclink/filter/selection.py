"""Filter: CDX rows become mementos, and pointers to the payloads worth reading (paper, 3.1).

Strategy. Every capture is a memento. Nearly all mementos are complete from their row. They pass
through the shuffle in blocks of some thousand rows, which are never split on the way. As little as
possible is sorted and grouped: one line for each run of rows with the same original and checksum.

======== =========================== ==============================================================
key      value                       meaning
======== =========================== ==============================================================
m SURT   rows, U+001E between them   a block of mementos; the first row's SURT spreads and sorts
                                     the blocks
p CHECK  ORIGINAL …                  captures whose payload has this checksum, to be grouped; see
                                     `arclink.filter.shuffle.candidate`
p CHECK  U+0001 NUMBER TAB NUMBER    number of further captures with this checksum (for the count
                                     of the checksum rule), and number of those that fail a rule,
                                     so that the payload of a revisit of them is left out
p CHECK  U+0002 OFFSET LENGTH FILE   a record that revisits with this checksum repeat, as rows say
u SPREAD a pointer                   a capture whose row is incomplete: its record is read
======== =========================== ==============================================================

The reducer needs the values of a key sorted. Then equal originals are adjacent, and a payload that
was captured at a million URIs is streamed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from zlib import crc32

from arclink.checksums import is_reference
from arclink.files.spill import Sorted
from arclink.filter.rules import NO_SPANS, About, Rules, Seen, Spans, Verdict, extension_of
from arclink.filter.shuffle import (
    CHECKSUM,
    MORE,
    REPEATED,
    Pair,
    candidate,
    earliest,
    reduce_groups,
    take,
)
from arclink.forgotten import ForgottenParts
from arclink.model import REVISIT, Checksum, Forgotten, Surt, Timestamp, UriR
from arclink.portions import portions
from arclink.reasons import Reason
from arclink.rows.cdx import (
    RESOURCE,
    UNTYPED,
    Details,
    Repeated,
    Row,
    What,
    parse_repeated,
    read_row_lists,
)
from arclink.rows.pointers import (
    FALL_BACKS,
    FIRST_PART,
    NAMES,
    NO_FILE,
    ORIGINALS,
    POINTERS,
    FallBack,
    Pointer,
    PointerKind,
    format_pointer,
)
from arclink.rows.relations import MEMENTOS, ROWS, reference_to
from arclink.uris.resolution import part_of_origin
from arclink.uris.surts import cdx_key, key_of_answer, surt_of, surt_or_none
from arclink.uris.wrapped import Unwrapper

BLOCK = 2_000
"""Number of memento rows that travel as one line."""

_MEMENTO, _UNSAID = b"m", b"u"

PASSED_ON = {_MEMENTO: MEMENTOS, _UNSAID: POINTERS}
"""By the first byte of a key: the relation that gets its values unchanged.

These values do not depend on the other values of their key.
"""

UNDIVIDED = 10
"""Maximum number of full pointers for the originals of a payload that is not divided."""

_MIMES_OF_REQUESTS = ("-", "application/x-www-form-urlencoded", "multipart/form-data")
"""Mime types of requests in indexes that list those, too: of GET and of forms."""
_TIMESTAMP = 14
"""Digits of a timestamp."""

_CACHED = 10_000


def map_captures(
    lines: Iterable[bytes],
    rules: Rules,
    counts: Counter[Reason],
    block: int = BLOCK,
    forgotten: Sequence[Forgotten] = (),
    unwrapper: Unwrapper | None = None,
) -> Iterator[Pair]:
    """Yield memento blocks, candidates and ready pointers of CDX or CDXJ lines.

    Keys and values are in the table at the head of this module. A run of rows with the same
    original and checksum is one candidate, so rows in the order of CDX files give the smallest
    shuffle; any order gives correct results.

    Args:
        lines: With or without line end; a header line is counted, and used if it names another
            column order.
        rules: Define which payloads are read, and which captures are outside the selection.
        counts: Every line ends in one reason of ``rows``. Mementos that the reducer does not count
            end in one reason of ``mementos`` here.
        block: Rows per memento block.
        forgotten: Captures that the graph must not have, independent of the rules.
        unwrapper: Turns captures of a Wayback Machine into captures of the original pages; by
            default they are only counted.
    """
    row_lists = read_row_lists(lines, counts)
    unwrapped = (
        _noticed(row_lists, counts)
        if unwrapper is None
        else _unwrapped(row_lists, unwrapper, counts)
    )
    return Mapper(rules, counts, block, forgotten).pairs(unwrapped)


_IN_URI = b"/http"
"""Part of the URI of each capture that may wrap another URI, except for FTP."""


def _noticed(row_lists: Iterable[list[Row]], counts: Counter[Reason]) -> Iterator[list[Row]]:
    """Yield rows unchanged; count those whose URI looks like that of a Wayback Machine."""
    any_archive = Unwrapper()
    for rows in row_lists:
        for original in [row[2] for row in rows if _IN_URI in row[2]]:
            if any_archive.unwrap(original.decode()) is not None:
                counts[Reason.NOTE_WAYBACK_URI] += 1
        yield rows


def _unwrapped(
    row_lists: Iterable[list[Row]], unwrapper: Unwrapper, counts: Counter[Reason]
) -> Iterator[list[Row]]:
    """Yield rows, those of a Wayback Machine as rows of the original pages; count them.

    Changes of their times are counted, too.
    """
    for rows in row_lists:
        yield [_unwrapped_row(row, unwrapper, counts) for row in rows]


def _unwrapped_row(row: Row, unwrapper: Unwrapper, counts: Counter[Reason]) -> Row:
    _, _, original, checksum, length, offset, file, what, details, languages = row
    wrapped = unwrapper.unwrap(original.decode())
    if wrapped is None:
        return row
    counts[Reason.NOTE_UNWRAPPED] += 1
    if wrapped.note is not None:
        counts[wrapped.note] += 1
    if details is not None:
        # It repeats a capture of the Wayback Machine: keep that only if it wraps an original, too.
        earlier = unwrapper.unwrap(details[0])
        repeated = (earlier.original, earlier.timestamp) if earlier else ("", "")
        details = (*repeated, *details[2:])
    rest = checksum, length, offset, file, what, details, languages
    return (b"", wrapped.timestamp.encode(), wrapped.original.encode(), *rest)


def reduce_sorted(pairs: Iterable[Pair], counts: Counter[Reason]) -> Iterator[Pair]:
    """Yield the results of `reduce_captures` for each key.

    Args:
        pairs: The pairs that `map_captures` yielded, sorted.
        counts: Complete after the last pair.
    """
    return reduce_groups(pairs, counts, reduce_captures)


def reduce_captures(key: bytes, values: Iterator[bytes], counts: Counter[Reason]) -> Iterator[Pair]:
    """Yield memento blocks and pointers under the names of their relations.

    The names are ``mementos`` and ``pointers``. The capture to read of a checksum is the earliest
    (by timestamp, original, file, offset). Memory: the originals of one pointer, and those of
    further pointers up to 4 MiB; more of them go to a temporary file.

    Args:
        key: A key of `map_captures`.
        values: All values of the key, sorted.
        counts: Gets the ``mementos`` reasons of the capture to read and its duplicates.
    """
    relation = PASSED_ON.get(key[:1])
    if relation:
        for value in values:
            yield relation, value
    else:
        for pointer in _reduce_checksum(Checksum(key[1:].decode()), values, counts):
            yield POINTERS, format_pointer(pointer)


class Mapper:
    """The rows of one task on their way to the shuffle.

    Its attributes are those of `FilterTask`. Memory holds one block, one run, and caches of bounded
    size.
    """

    def __init__(
        self, rules: Rules, counts: Counter[Reason], block: int, forgotten: Sequence[Forgotten]
    ) -> None:
        self.counts = counts
        self.block, self.cached = block, _CACHED
        self.first, self.last = rules.first.encode(), rules.last.encode()
        self.is_trusted = rules.checksum
        self.run: list[Seen] = []
        self.revisits: list[bytes] = []
        self.original = self.checksum = b""
        self.mementos: list[bytes] = []
        self.first_surt = b""
        self.unread: list[bytes] = []
        self.left_out: list[bytes] = []
        self._rules = rules
        self._forgotten = ForgottenParts(forgotten)
        self._verdicts: dict[What, Verdict] = {}
        self._abouts: dict[bytes, About] = {}
        self._extensions = frozenset(rules.extensions_excluded)  # `Rules.fails_extension`, faster

    def pairs(self, row_lists: Iterable[list[Row]]) -> Iterator[Pair]:
        """Yield the pairs of `map_captures` for these rows."""
        for rows in row_lists:
            pairs: list[Pair] = []
            take(self, rows, pairs)
            yield from pairs
        yield from self.end_run()
        yield from self.spill()
        self._settle()

    def end_run(self) -> Iterator[Pair]:
        """Yield the run as a candidate, if it has captures, and begin the next."""
        if self.run or self.revisits:
            yield CHECKSUM + self.checksum, candidate(self.original, self.run, self.revisits)
            self.run, self.revisits = [], []

    def spill(self) -> Iterator[Pair]:
        """Yield a memento block, and per checksum the number of captures that are no candidates.

        Then both are empty again.
        """
        if self.mementos:
            yield _MEMENTO + self.first_surt, ROWS.join(self.mementos)
        failing = Counter(self.left_out)
        for checksum, number in Counter(self.unread).items():
            yield CHECKSUM + checksum, b"%b%d\t%d" % (MORE, number, failing[checksum])
        self.mementos, self.unread, self.left_out = [], [], []

    def about(self, original: bytes) -> About:
        """Return the facts that follow from an original."""
        return self._abouts.get(original) or self._learn(original)

    def verdict(self, what: What) -> Verdict:
        """Return the result of the rules for a mime type, status and record type."""
        return self._verdicts.get(what) or self._judge(what)

    def reference_in(self, original: bytes, details: Details | None) -> bytes:
        """Return the reference of a revisit without a usable digest to a capture of another URI.

        Empty if its row names none.
        """
        if details is None or not details[0] or details[0].encode() == original:
            return b""
        reference = reference_to(UriR(original.decode()), details[0], details[1])
        return reference.encode() if reference else b""

    def _learn(self, original: bytes) -> About:
        if len(self._abouts) >= _CACHED:
            self._abouts.clear()
        uri = original.decode()
        surt = surt_or_none(uri)
        is_refused = surt is None
        if surt is None:
            surt = surt_of(uri)
        prefixes = self._rules.prefixes
        is_selected = not prefixes or surt.startswith(prefixes)
        spans = self._forgotten_of(surt) if self._forgotten else NO_SPANS
        about = (
            surt.encode(),
            is_selected,
            extension_of(uri) in self._extensions,
            self._may_be_attached(uri),
            is_refused,
            spans,
        )
        self._abouts[original] = about
        return about

    def forgets(self, key: bytes, timestamp: bytes) -> bool:
        """Return whether a capture is forgotten, by the key that it gets because of its method."""
        surt, when = key.decode(), timestamp.decode()
        return any(what.covers(surt, when) for what in self._forgotten.of(surt))

    def _may_be_attached(self, uri: str) -> bool:
        return not self._rules.attachments and uri[:5].lower() == "file:"

    def is_key_of_others(self, key: bytes, original: bytes) -> bool:
        """Return whether a key is that which other tools give to an original in CDX files."""
        return key == cdx_key(original.decode()).encode()

    def _forgotten_of(self, surt: str) -> Spans:
        return [
            (what.span.first.encode(), what.span.last.encode()) for what in self._forgotten.of(surt)
        ]

    def _judge(self, what: What) -> Verdict:
        if len(self._verdicts) >= _CACHED:
            self._settle()
            self._verdicts.clear()
        mime, status, record_type, method = (part.decode() for part in what)
        is_revisit = record_type == REVISIT
        fails_method = self._rules.fails_method(method)
        fails_status = self._rules.fails_status(status, record_type)
        fails_mime = not is_revisit and self._rules.fails_mime(mime)
        verdict = Verdict(
            columns=b"\t".join((what[1], what[0], what[2] or RESOURCE.encode())),
            of_method=key_of_answer(Surt(""), method).encode() if fails_method else b"",
            reason=(
                Reason.MEMENTO_METHOD.name
                if fails_method
                else Reason.MEMENTO_STATUS.name
                if fails_status
                else Reason.MEMENTO_MIME.name
                if fails_mime
                else ""
            ).encode(),
            fails_method=fails_method,
            fails_status=fails_status,
            fails_mime=fails_mime,
            is_redirect=(
                self._rules.read_redirects
                and status.startswith("3")
                and status != "304"
                and not fails_method
            ),
            is_revisit=is_revisit,
            is_untyped=what[2] == UNTYPED,
            is_doubtful=what[2] == UNTYPED and mime.lower().startswith(_MIMES_OF_REQUESTS),
            names_page=self._rules.names_page(mime),
        )
        self._verdicts[what] = verdict
        return verdict

    def unsaid(self, kind: PointerKind, memento: bytes, details: Details | None) -> Pair:
        """Return a pointer to a record that has the facts missing in its row; count its memento."""
        _, timestamp, original, checksum, _, _, _, file, offset, length, reason, *_ = (
            memento.decode().split("\t")
        )
        if kind is PointerKind.UNDIGESTED and reason == "-":
            self.counts[Reason.MEMENTO_WITH_PAYLOAD] += 1
        elif kind is PointerKind.NOT_MODIFIED:
            self.counts[Reason.MEMENTO_DUPLICATE] += 1
        refers_to_uri, refers_to_timestamp, location, *_ = details or ("", "", "")
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
            location=location,
            refers_to_uri=refers_to_uri,
            refers_to_timestamp=refers_to_timestamp,
        )
        return b"%b%04x" % (_UNSAID, crc32(memento) & 0xFFFF), format_pointer(pointer)

    def _settle(self) -> None:
        """Turn the counts of the verdicts into reasons."""
        counts: Counter[Reason] = Counter()
        for verdict in self._verdicts.values():
            counts[Reason.ROW_KEPT] += verdict.kept
            counts[Reason.RULE_METHOD] += verdict.kept * verdict.fails_method
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


def _reduce_checksum(
    checksum: Checksum, values: Iterable[bytes], counts: Counter[Reason]
) -> Iterator[Pointer]:
    """Yield the pointers of one checksum; count its captures."""
    more = left_out = payloads = revisits = 0
    best: list[Seen] = []
    repeated: list[Repeated] = []
    names: set[tuple[bytes, bytes]] = set()
    first_revisit: tuple[bytes, bytes] | None = None
    originals = _Originals()
    for value in values:
        if value.startswith(MORE):
            number, failing = value[1:].split(b"\t")
            more += int(number)
            left_out += int(failing)
            continue
        if value.startswith(REPEATED):
            address = parse_repeated(value[1:].decode())
            if address not in repeated and len(repeated) <= FALL_BACKS:
                repeated.append(address)
            continue
        original, number, again, revisited, *seen = value.split(b"\t")
        payloads += int(number)
        revisits += int(again)
        originals.add(original)
        if name := revisited[_TIMESTAMP + 1 :]:
            if len(names) < NAMES and not payloads:
                names.add((original, name))
            revisited = revisited[:_TIMESTAMP]
        if revisited and (first_revisit is None or (revisited, original) < first_revisit):
            first_revisit = revisited, original
        if seen:
            best = earliest([*best, *(_parse_seen(one, original) for one in seen)])
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
        nowhere = FallBack(
            NO_FILE,
            0,
            -1,
            Timestamp(first_revisit[0].decode()),
            UriR(first_revisit[1].decode()),
        )
        reason = Reason.PAYLOAD_LEFT_OUT.name if left_out else ""
        others = [] if left_out else [_record_at(address) for address in repeated]
        yield from originals.pointers(
            PointerKind.REVISIT_ONLY,
            checksum,
            nowhere,
            others,
            reason,
            () if left_out else _references(checksum, names),
        )


def _references(checksum: Checksum, names: Iterable[tuple[bytes, bytes]]) -> list[Checksum]:
    """Return the references to the captures that revisits of a payload name, sorted.

    Args:
        checksum: Of the payload.
        names: Original of a revisit, and the time and URI of the capture that it names.
    """
    if is_reference(checksum):
        return [checksum]
    references = set()
    for original, name in names:
        when, _, uri = name.decode().partition(" ")
        reference = reference_to(UriR(original.decode()), uri, when)
        if reference is not None:
            references.add(reference)
    return sorted(references)


def _parse_seen(text: bytes, original: bytes) -> Seen:
    timestamp, offset, length, file = text.split(b" ", 3)
    return timestamp, original, file, offset, length


def _record_at(address: Repeated) -> FallBack:
    """Return a capture of which only the address is known."""
    return FallBack(address.file, address.offset, address.length, Timestamp(""), UriR(""))


def _fall_back(capture: Seen) -> FallBack:
    timestamp, original, file, offset, length = capture
    return FallBack(
        file.decode(),
        int(offset),
        int(length),
        Timestamp(timestamp.decode()),
        UriR(original.decode()),
    )


class _Originals:
    """The distinct originals of one checksum, added in order, in portions for one pointer each.

    The last portion is in memory. Full ones may go to disk, because a pointer must name the capture
    to read, which is only known at the end. If there are more than `UNDIVIDED` of
    these, the originals are sorted out by parts of their origins (docs/decisions/20261124-skew.md).
    """

    def __init__(self) -> None:
        self._portion: list[str] = []
        self._last = b""
        self._full: Sorted[tuple[int, str]] | None = None  # made late: few checksums need it
        self._written = 0  # portions

    def add(self, original: bytes) -> None:
        """Add an original, unless it is equal to the last one."""
        if original == self._last:
            return
        self._last = original
        if len(self._portion) == ORIGINALS:
            if self._full is None:
                self._full = Sorted()
            self._full.update(enumerate(self._portion, self._written * ORIGINALS))
            self._written += 1
            self._portion = []
        self._portion.append(original.decode())

    def pointers(
        self,
        kind: PointerKind,
        checksum: Checksum,
        found: FallBack,
        others: Sequence[FallBack],
        reason: str = "",
        names: Sequence[Checksum] = (),
    ) -> Iterator[Pointer]:
        """Yield one pointer per portion."""
        of_parts = (
            _by_part(chain.from_iterable(self._portions()))
            if self._written > UNDIVIDED
            else ((portion, "") for portion in self._portions())
        )
        for chunk, (portion, part) in enumerate(of_parts):
            originals = tuple(map(UriR, portion))
            capture = (found.file, found.offset, found.length, found.timestamp, found.original)
            yield Pointer(
                kind,
                checksum,
                *capture,
                originals=originals,
                fall_backs=tuple(others),
                chunk=chunk,
                reason=reason,
                part=part,
                names=tuple(names),
            )

    def _portions(self) -> Iterator[list[str]]:
        yield from portions((original for _, original in self._full or ()), ORIGINALS)
        yield self._portion


def _by_part(originals: Iterable[str]) -> Iterator[tuple[list[str], str]]:
    """Yield originals in portions of one part of their origins each, and the name of the part.

    The portions of a part are adjacent, and their order is kept. The first part is that of the
    first original, whose links join counts.
    """
    parts: dict[tuple[str, str], int] = {}  # numbered as they come
    by_part = Sorted[tuple[int, int, str]]()
    for index, original in enumerate(originals):
        part = part_of_origin(UriR(original))
        by_part.add((parts.setdefault(part, len(parts)), index, original))
    schemes: set[str] = set()
    for (scheme, rest), (_, of_part) in zip(parts, groupby(by_part, itemgetter(0)), strict=True):
        name = scheme + rest + ("" if scheme in schemes else FIRST_PART)
        schemes.add(scheme)
        for portion in portions((original for *_, original in of_part), ORIGINALS):
            yield portion, name
