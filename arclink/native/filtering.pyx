# cython: language_level=3, boundscheck=False, wraparound=False
"""Captures on their way to the shuffle, and from there: see `arclink.filter.filtering`."""

from arclink.archive_names import WAT_SUFFIXES
from arclink.filter.cdx import EMPTY_CHECKSUMS
from arclink.filter.pointers import FALL_BACKS, POINTERS as _POINTERS, PointerKind
from arclink.model import NO_CHECKSUM
from arclink.reasons import Reason

cdef object OUTSIDE = Reason.ROW_OUTSIDE_SELECTION, FORGOTTEN = Reason.ROW_FORGOTTEN
cdef object SURT_OTHER = Reason.NOTE_SURT_OTHER, SURT_REFUSED = Reason.NOTE_SURT_REFUSED
cdef object REDIRECT = PointerKind.REDIRECT, NOT_MODIFIED = PointerKind.NOT_MODIFIED, UNDIGESTED_KIND = PointerKind.UNDIGESTED
cdef object WITH_PAYLOAD = Reason.MEMENTO_WITH_PAYLOAD, DUPLICATE = Reason.MEMENTO_DUPLICATE, BY_CHECKSUM = Reason.RULE_CHECKSUM
cdef bytes POINTERS = _POINTERS
cdef Py_ssize_t MOST_FALL_BACKS = FALL_BACKS
cdef tuple WAT = tuple([suffix.encode() for suffix in WAT_SUFFIXES])
cdef frozenset UNDIGESTED = frozenset([checksum.encode() for checksum in (*EMPTY_CHECKSUMS, NO_CHECKSUM)])
cdef bytes EXTENSION = Reason.MEMENTO_EXTENSION.name.encode()


def take(object mapper, list rows, list pairs):
    """Do what the function of this name in `arclink.filter.filtering` does."""
    cdef bytes first = mapper.first, last = mapper.last, run_original = mapper.original, run_checksum = mapper.checksum
    cdef bint is_trusted = mapper.is_trusted, is_selected = False, fails_extension = False, is_refused = False, is_digested
    cdef bint is_redirect = False, is_revisit = False
    cdef list run = mapper.run, revisits = mapper.revisits
    cdef list mementos = mapper.mementos, unread = mapper.unread, left_out = mapper.left_out
    cdef Py_ssize_t block = mapper.block, cached = mapper.cached, kept = 0, failing = 0
    cdef bytes key, timestamp, original, checksum, length, offset, file, memento, reason, last_original = b"\t", surt = b"", columns = b"", rule = b""
    cdef tuple row
    cdef object what, last_what = None, verdict = None, capture, kind, spans = ()
    for row in rows:
        key, timestamp, original, checksum, length, offset, file, what, capture = row
        if original is not last_original and original != last_original:
            last_original = original
            surt, is_selected, fails_extension, is_refused, spans = mapper.about(original)
        if not is_selected or not first <= timestamp <= last:
            mapper.counts[OUTSIDE] += 1
            continue
        if spans and any([begin <= timestamp <= end for begin, end in spans]):
            mapper.counts[FORGOTTEN] += 1
            continue
        if what is not last_what:
            if verdict is not None:
                verdict.kept += kept
                verdict.failing_extension += failing
                kept = failing = 0
            last_what = what
            verdict = mapper.verdict(what)
            is_redirect, is_revisit, rule, columns = verdict.is_redirect, verdict.is_revisit, verdict.reason, verdict.columns
        kept += 1
        if key != surt and key:
            mapper.counts[SURT_OTHER] += 1
        if is_refused:
            mapper.counts[SURT_REFUSED] += 1

        kind, reason = None, b"-"
        failing += fails_extension
        if is_redirect:
            kind = REDIRECT
        elif rule or fails_extension:
            reason = rule or EXTENSION
        else:
            if original != run_original or checksum != run_checksum:
                if run or revisits:
                    pairs.append((b"p" + run_checksum, candidate(run_original, run, revisits)))
                    mapper.run = run = []
                    mapper.revisits = revisits = []
                mapper.original = run_original = original
                mapper.checksum = run_checksum = checksum
            is_digested = checksum not in UNDIGESTED
            if is_revisit:
                if is_digested and (capture is None or not capture.is_unmodified):
                    revisits.append(timestamp)
                else:
                    kind = NOT_MODIFIED
            elif is_digested and is_trusted:
                run.append((timestamp, original, file, offset, length))
            else:
                kind = UNDIGESTED_KIND
        if (kind is not None or reason != b"-") and checksum not in UNDIGESTED:
            unread.append(checksum)
            if kind is None:
                left_out.append(checksum)

        memento = b"\t".join((surt, timestamp, original, checksum, columns, file, offset, length, reason))
        if kind is not None:
            pairs.append(mapper.unsaid(kind, memento, capture))
        else:
            if not mementos:
                mapper.place = surt
            mementos.append(memento)
        if len(mementos) >= block or len(unread) >= cached:
            pairs.extend(mapper.spill())
            pairs.extend(mapper.end_run())
            run, revisits = mapper.run, mapper.revisits
            mementos, unread, left_out = mapper.mementos, mapper.unread, mapper.left_out
    if verdict is not None:
        verdict.kept += kept
        verdict.failing_extension += failing


def candidate(bytes original, list run, list revisits):
    """Return what the function of this name in `arclink.filter.filtering` does."""
    cdef bytes timestamp, file, offset, length, start
    if len(run) == 1 and not revisits:
        start = original + b"\t1\t0\t"
    else:
        start = b"\t".join((original, b"%d" % len(run), b"%d" % len(revisits), min(revisits) if revisits else b""))
    if len(run) == 1:
        timestamp, _, file, offset, length = run[0]
        return b"".join((start, b"\t", timestamp, b" ", offset, b" ", length, b" ", file))
    cdef list columns = [start]
    for timestamp, _, file, offset, length in earliest(run) if run else ():
        columns.append(b" ".join((timestamp, offset, length, file)))
    return b"\t".join(columns)


def earliest(captures):
    """Return what the function of this name in `arclink.filter.filtering` does."""
    cdef list found = []
    cdef set files = set()
    cdef tuple capture
    for capture in sorted(captures, key=age):
        if capture[2] not in files:
            files.add(capture[2])
            found.append(capture)
            if len(found) > MOST_FALL_BACKS:
                break
    return found


def age(tuple capture):
    cdef bytes timestamp, original, file, offset
    timestamp, original, file, offset, _ = capture
    return file.endswith(WAT), timestamp, original, file, int(offset)


def reduce_sorted(object pairs, object counts):
    """Do what the function of this name in `arclink.filter.filtering` does."""
    from arclink.filter.filtering import reduce_captures

    cdef Sorted source = Sorted(pairs)
    cdef Count count = Count()
    cdef bytes key, value, pointer
    while source.key is not None:
        key = source.key
        value = source.value
        source.step()
        if source.key != key and key.startswith(b"p") and of_one_value(key, value, count):
            if count.pointer is not None:
                yield POINTERS, count.pointer
        else:
            yield from reduce_captures(key, source.group(key, value), counts)
            while source.key == key:  # values that nobody asked for
                source.step()
    for reason, number in ((WITH_PAYLOAD, count.payloads), (DUPLICATE, count.duplicates), (BY_CHECKSUM, count.repeated)):
        if number:
            counts[reason] += number


cdef class Count:
    """What the short way found: the pointer of the last value, if it has one, and the counts of all."""

    cdef bytes pointer
    cdef Py_ssize_t payloads, duplicates, repeated


cdef class Sorted:
    """Sorted pairs, one after the other: key and value of the one at hand, or None behind the last."""

    cdef object pairs
    cdef bytes key, value

    def __init__(self, object pairs):
        self.pairs = iter(pairs)
        self.step()

    cdef step(self):
        cdef tuple pair = next(self.pairs, None)
        self.key, self.value = (None, None) if pair is None else pair

    def group(self, bytes key, bytes first):
        """Yield the values of a key, of which the first was taken."""
        yield first
        while self.key == key:
            value = self.value
            self.step()
            yield value


cdef bint of_one_value(bytes key, bytes value, Count count):
    """Make the pointer of a checksum that has one value, and count; tell whether that is all there is to say."""
    cdef list columns, captures
    cdef Py_ssize_t number
    cdef bytes original, fall_backs = b"", timestamp, offset, length, file
    count.pointer = None
    if value.startswith(b"\x01"):
        number = int(value[1:].split(b"\t", 1)[0])
        count.repeated += number - 1 if number > 1 else 0
        return True
    if b'"' in value or b"\\" in value or b'"' in key or b"\\" in key:
        return False
    columns = value.split(b"\t")
    if len(columns) < 5:
        return False
    original = columns[0]
    if len(columns) > 5:
        captures = [capture.split(b" ", 3) for capture in columns[5:]]
        fall_backs = b",".join([
            b"".join((b'["', file, b'",', offset, b",", length, b',"', timestamp, b'","', original, b'"]'))
            for timestamp, offset, length, file in captures
        ])
    timestamp, offset, length, file = (<bytes>columns[4]).split(b" ", 3)
    count.pointer = b"".join((
        b'["payload","', key[1:], b'","', file, b'",', offset, b",", length, b',"', timestamp, b'","', original, b'",["', original, b'"],[',
        fall_backs, b'],"",0,"","","",""]',
    ))
    number = int(columns[1]) + int(columns[2]) - 1
    count.payloads += 1
    count.duplicates += number
    count.repeated += number
    return True
