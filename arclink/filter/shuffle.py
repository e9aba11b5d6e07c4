"""The innermost loops of filter: captures on their way into the shuffle and out of it.

`arclink.filter.selection` has a table of the keys and values. Cython compiles this file unchanged
(`arclink.native`): annotations with ``cython`` give a local variable a C type, and Python never
evaluates them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from arclink.archives.locations import INSIDE_WACZ, WAT_SUFFIXES
from arclink.checksums import EMPTY_CHECKSUMS
from arclink.filter.rules import Seen
from arclink.model import NO_CHECKSUM
from arclink.native import native
from arclink.reasons import Reason
from arclink.rows.cdx import NOT_MODIFIED, Row, What
from arclink.rows.pointers import FALL_BACKS, POINTERS, PointerKind

if TYPE_CHECKING:
    import cython

    from arclink.filter.rules import FilterTask, Verdict

Pair = tuple[bytes, bytes]

CHECKSUM = b"p"
"""First byte of the keys of checksums."""

MORE = b"\x01"
"""First byte of a value that counts captures which are not candidates."""

REPEATED = b"\x02"
"""First byte of a value with the address of a record that a revisit repeats."""

_IN_WACZ = INSIDE_WACZ.encode()
_ATTACHMENT = Reason.MEMENTO_ATTACHMENT.name.encode()
_EXTENSION = Reason.MEMENTO_EXTENSION.name.encode()
_UNDIGESTED = frozenset(checksum.encode() for checksum in (*EMPTY_CHECKSUMS, NO_CHECKSUM))
_WAT = tuple(suffix.encode() for suffix in WAT_SUFFIXES)
_NO_ROW_HAS_IT = b"\t"


@native("shuffle")
def take(mapper: "FilterTask", rows: list[Row], pairs: list[Pair]) -> None:
    """Process rows for the shuffle, and append the pairs that are ready.

    Most rows need no function call, because there are billions of them.

    Args:
        mapper: State of the task; changed.
        rows: The next rows.
        pairs: Gets the pairs.
    """
    counts = mapper.counts
    first: bytes = mapper.first
    last: bytes = mapper.last
    is_trusted: cython.bint = mapper.is_trusted
    block: cython.Py_ssize_t = mapper.block
    cached: cython.Py_ssize_t = mapper.cached
    run: list[Seen] = mapper.run
    revisits: list[bytes] = mapper.revisits
    run_original: bytes = mapper.original
    run_checksum: bytes = mapper.checksum
    mementos: list[bytes] = mapper.mementos
    unread: list[bytes] = mapper.unread
    left_out: list[bytes] = mapper.left_out

    # Results for the last original and for the last `What`, reused if the next row has the same.
    last_original: bytes = _NO_ROW_HAS_IT
    surt: bytes = b""
    is_selected: cython.bint = False
    is_excluded: cython.bint = False
    fails_extension: cython.bint = False
    names_page: cython.bint = False
    may_be_attached: cython.bint = False
    is_refused: cython.bint = False
    last_what: What | None = None
    verdict: Verdict | None = None
    is_redirect: cython.bint = False
    is_revisit: cython.bint = False
    is_untyped: cython.bint = False
    is_doubtful: cython.bint = False
    of_method: bytes = b""
    rule: bytes = b""
    columns: bytes = b""
    kept: cython.Py_ssize_t = 0
    failing: cython.Py_ssize_t = 0

    timestamp: bytes
    original: bytes
    checksum: bytes
    reason: bytes
    memento: bytes
    reference: bytes
    uri: bytes
    is_digested: cython.bint
    kind: PointerKind | None
    for (
        key,
        timestamp,
        original,
        checksum,
        length,
        offset,
        file,
        what,
        details,
        languages,
    ) in rows:
        if original is not last_original and original != last_original:
            last_original = original
            surt, is_selected, is_excluded, may_be_attached, is_refused, spans = mapper.about(
                original
            )
        if not is_selected or not first <= timestamp <= last:
            counts[Reason.ROW_OUTSIDE_SELECTION] += 1
            continue
        if spans and any([begin <= timestamp <= end for begin, end in spans]):  # noqa: C419  no closure
            counts[Reason.ROW_FORGOTTEN] += 1
            continue
        if what is not last_what:
            if verdict is not None:
                verdict.kept += kept
                verdict.failing_extension += failing
                kept = failing = 0
            last_what = what
            verdict = mapper.verdict(what)
            is_redirect, is_revisit = verdict.is_redirect, verdict.is_revisit
            rule, columns, names_page = verdict.reason, verdict.columns, verdict.names_page
            of_method = verdict.of_method
            is_untyped, is_doubtful = verdict.is_untyped, verdict.is_doubtful
        if of_method and mapper.forgets(surt + of_method, timestamp):
            counts[Reason.ROW_FORGOTTEN] += 1
            continue
        kept += 1
        if key != surt and key and not what[3] and not mapper.is_key_of_others(key, original):
            counts[Reason.NOTE_SURT_OTHER] += 1
        if is_refused:
            counts[Reason.NOTE_SURT_REFUSED] += 1

        kind, reason = None, b"-"
        fails_extension = is_excluded and not names_page
        if fails_extension:
            failing += 1
        if is_redirect:
            kind = PointerKind.REDIRECT
        elif rule or fails_extension:
            reason = rule or _EXTENSION
            if is_doubtful:
                kind = PointerKind.UNDIGESTED
        elif may_be_attached and _IN_WACZ in file.lower():
            reason = _ATTACHMENT
            counts[Reason.MEMENTO_ATTACHMENT] += 1
        else:
            if original != run_original or checksum != run_checksum:
                if run or revisits:
                    pairs.append((CHECKSUM + run_checksum, candidate(run_original, run, revisits)))
                    mapper.run = run = []
                    mapper.revisits = revisits = []
                mapper.original = run_original = original
                mapper.checksum = run_checksum = checksum
            is_digested = checksum not in _UNDIGESTED
            if is_revisit:
                if is_digested and (details is None or NOT_MODIFIED not in details[3]):
                    if details is None or not details[1]:
                        revisits.append(timestamp)
                    else:
                        uri = details[0].encode()
                        uri = b"" if uri == original else uri
                        revisits.append(b"%b %b %b" % (timestamp, details[1].encode(), uri))
                    if details is not None and details[4]:
                        pairs.append((CHECKSUM + checksum, REPEATED + details[4].encode()))
                else:
                    reference = mapper.reference_in(original, details)
                    if reference:
                        checksum = reference
                        pairs.append((CHECKSUM + checksum, candidate(original, [], [timestamp])))
                    else:
                        kind = PointerKind.NOT_MODIFIED
            elif is_digested and is_trusted and not is_untyped:
                run.append((timestamp, original, file, offset, length))
            else:
                kind = PointerKind.UNDIGESTED
        if (kind is not None or reason != b"-") and checksum not in _UNDIGESTED:
            unread.append(checksum)
            if reason != b"-" and not is_revisit:  # the payload itself
                left_out.append(checksum)

        memento = b"\t".join(
            (
                surt + of_method if of_method else surt,
                timestamp,
                original,
                checksum,
                columns,
                file,
                offset,
                length,
                reason,
                languages,
            )
        )
        if kind is not None:
            pairs.append(mapper.unsaid(kind, memento, details))
        else:
            if not mementos:
                mapper.first_surt = surt
            mementos.append(memento)
        if len(mementos) >= block or len(unread) >= cached:
            pairs.extend(mapper.spill())
            pairs.extend(mapper.end_run())  # bounds the size of a run
            run, revisits = mapper.run, mapper.revisits
            mementos, unread, left_out = mapper.mementos, mapper.unread, mapper.left_out
    if verdict is not None:
        verdict.kept += kept
        verdict.failing_extension += failing


@native("shuffle")
def candidate(original: bytes, run: list[Seen], revisits: list[bytes]) -> bytes:
    """Return a run of captures of one original and checksum as one value, which sorts by original.

    Columns: original, number of payloads, number of revisits, timestamp of the earliest revisit
    (may be empty) with time and URI of the capture that it names, and one column for each of the
    earliest payloads in different files: timestamp, offset, length and file, separated by blanks.
    """
    if len(run) == 1 and not revisits:  # the usual case
        timestamp, _, file, offset, length = run[0]
        return b"%b\t1\t0\t\t%b %b %b %b" % (original, timestamp, offset, length, file)
    columns = [
        original,
        b"%d" % len(run),
        b"%d" % len(revisits),
        min(revisits) if revisits else b"",
    ]
    for timestamp, _, file, offset, length in earliest(run) if len(run) > 1 else run:
        columns.append(b"%b %b %b %b" % (timestamp, offset, length, file))
    return b"\t".join(columns)


@native("shuffle")
def earliest(captures: Iterable[Seen]) -> list[Seen]:
    """Return the earliest of the captures and its fall-backs, each in another file.

    Passing the results of earlier calls again gives the same result as passing all captures at
    once: an excluded capture is later than a capture in each of the required number of other files,
    and these can only become earlier.
    """
    found: list[Seen] = []
    files: set[bytes] = set()
    for capture in sorted(captures, key=_age):
        if capture[2] not in files:
            files.add(capture[2])
            found.append(capture)
            if len(found) > FALL_BACKS:
                break
    return found


def _age(capture: Seen) -> tuple[bool, bytes, bytes, bytes, int]:
    """Return the sort key of captures of one payload; WATs come last: they have less data."""
    timestamp, original, file, offset, _ = capture
    return file.endswith(_WAT), timestamp, original, file, int(offset)


@native("shuffle")
def reduce_groups(
    pairs: Iterable[Pair],
    counts: Counter[Reason],
    reduce_group: Callable[[bytes, Iterator[bytes], Counter[Reason]], Iterator[Pair]],
) -> Iterator[Pair]:
    """Yield the results of ``reduce_group`` for each key.

    A checksum with only one candidate does not need ``reduce_group``: its pointer is made directly,
    which is faster.

    Args:
        pairs: The pairs that `take` appended, sorted.
        counts: Complete after the last pair.
        reduce_group: Reduces a key with all its values.
    """
    iterator = iter(pairs)
    pair: Pair | None = next(iterator, None)
    following: Pair | None
    key: bytes
    value: bytes
    rest: list[Pair | None]
    payloads: cython.Py_ssize_t = 0
    duplicates: cython.Py_ssize_t = 0
    repeated: cython.Py_ssize_t = 0
    number: cython.Py_ssize_t
    while pair is not None:
        key, value = pair
        following = next(iterator, None)
        if (following is not None and following[0] == key) or not key.startswith(CHECKSUM):
            rest = []
            values = _values(key, value, following, iterator, rest)
            yield from reduce_group(key, values, counts)
            for _ in values:  # drop the values that the reducer did not read
                pass
            following = rest[0]
        elif value.startswith(MORE):
            number = int(value[1:].partition(b"\t")[0])
            if number > 1:
                repeated += number - 1
        else:
            columns: list[bytes] = value.split(b"\t")
            if (
                len(columns) < 5  # only revisits
                or b'"' in value  # JSON escapes these two
                or b"\\" in value
                or b'"' in key
                or b"\\" in key
            ):
                yield from reduce_group(key, iter((value,)), counts)
            else:
                yield POINTERS, _pointer_of(key, columns)
                number = int(columns[1]) + int(columns[2]) - 1
                payloads += 1
                duplicates += number
                repeated += number
        pair = following
    for reason, total in (
        (Reason.MEMENTO_WITH_PAYLOAD, payloads),
        (Reason.MEMENTO_DUPLICATE, duplicates),
        (Reason.RULE_CHECKSUM, repeated),
    ):
        if total:
            counts[reason] += total


def _values(
    key: bytes,
    value: bytes,
    following: Pair | None,
    pairs: Iterator[Pair],
    rest: list[Pair | None],
) -> Iterator[bytes]:
    """Yield the values of a key; then append the pair after them, or None, to ``rest``."""
    yield value
    while following is not None and following[0] == key:
        yield following[1]
        following = next(pairs, None)
    rest.append(following)


def _pointer_of(key: bytes, columns: list[bytes]) -> bytes:
    """Return the pointer of the only candidate of a checksum.

    JSON escapes nothing in nearly all pointers. These are joined from the bytes of the candidate,
    in the form of `arclink.rows.pointers.format_pointer`.
    """
    original = columns[0]
    timestamp, offset, length, file = columns[4].split(b" ", 3)
    fall_backs: list[bytes] = []
    fall_back: list[bytes]
    for column in columns[5:]:
        fall_back = column.split(b" ", 3)
        fall_backs.append(
            b'["%b",%b,%b,"%b","%b"]'
            % (fall_back[3], fall_back[1], fall_back[2], fall_back[0], original)
        )
    return b'["payload","%b","%b",%b,%b,"%b","%b",["%b"],[%b],"",0,"","","",""]' % (
        key[1:],
        file,
        offset,
        length,
        timestamp,
        original,
        original,
        b",".join(fall_backs),
    )
