"""Reading tasks: which task of an extract step reads which records of which archive file.

The shares follow from the sizes of the archive files alone. Tasks that choose pointers therefore
know the reading task of each pointer, and no process needs to see all pointers. One reading task
opens each of its files once and reads it forward.
"""

from bisect import bisect_right
from collections import ChainMap, Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple, cast
from zlib import crc32

import orjson

from arclink.archives.locations import known_as
from arclink.checksums import (
    is_of_page,
    name_of_payload,
    timestamp_of_reference,
    uri_of_reference,
)
from arclink.model import (
    EMPTY_PAYLOAD,
    NO_CHECKSUM,
    REVISIT,
    Checksum,
    Memento,
    Payload,
    Timestamp,
    UriR,
)
from arclink.reasons import Reason
from arclink.rows.pointers import (
    ABSENT_KEY,
    LAST_RESORTS,
    NAMED,
    NO_FILE,
    POINTERS,
    SOUGHT_BY_NAME,
    UNREADABLE,
    WAITING,
    FallBack,
    Pointer,
    PointerKind,
    directed,
    format_pointer,
    parse_pointer,
)
from arclink.rows.relations import PAYLOADS, Row, format_payload, parse_memento
from arclink.shares import shares_of
from arclink.uris.surts import surt_of

# Further captures, in the same batch, of payloads that extract could not read.
#
# Filter names the earliest capture of a payload and two more captures in other files. It groups
# captures by the checksums in their rows. Three cases are therefore found only after its pointers
# were followed:
#
# - all captures that filter named are damaged, but a further capture is sound;
# - all rows with a checksum are revisits, and a capture without a checksum in its row turns out to
#   be their payload;
# - the same for mementos of earlier batches (`arclink.store.known_payloads`).
#
# If these captures were in separate batches, each case would be resolved. This gives the
# same result within one batch: it joins the waiting pointers with the mementos of the batch, once
# per round in which a payload still waits. With ``--heritrix-outlinks``, payloads for which no
# capture is left get the links that the crawler recorded next to their revisits.
#
# If no capture has the checksum of a revisit, the capture that the revisit names is looked for, by
# the SURT of its URI and its time. Each capture that revisits of a payload name takes one pass.
#
# `pairs_of` makes the sorted values of a checksum or of a named capture, and `further_pointers`
# reads them in one pass, in memory that does not grow with the number of captures, revisits or
# originals of a payload.

RECORDED = b"recorded"
"""Name of the relation of pointers to the links that crawlers recorded."""

_WAITS, _TRIED, _CAPTURE, _ORIGINAL, _LINE = b"0", b"1", b"2", b"3", b"4"
"""First bytes of values, in the order in which `further_pointers` needs them.

A payload waits, without its originals; captures that were tried; captures; originals that wait, and
their revisits; the waiting pointers.
"""

_WANTED, _REVISIT = "0", "1"
"""After an original: that it waits, or that it was revisited."""

_OF_CAPTURE = "\x02"
"""First character of the keys of captures; no checksum begins with it."""

_BETWEEN = b"\x01"
"""Between the parts of a value by which it is sorted; it sorts before any character of a row."""

_GROUPED = frozenset({PointerKind.PAYLOAD, PointerKind.REVISIT_ONLY})
"""Kinds of pointers for which filter grouped captures by checksum."""

_AT_HAND = frozenset({Reason.PAYLOAD_MEMORY.name, Reason.PAYLOAD_CRASHED.name})
"""Reasons why a payload that is at hand was not read, or only for some of its originals."""


def pairs_of(
    line: bytes, *, recorded: bool, by_name: bool = False
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the pairs (key, value) of a row; values sort as `further_pointers` needs them.

    Args:
        line: A waiting, named or absent pointer, a pointer that filter wrote, or a memento. A
            memento has tabs; a pointer does not.
        recorded: Whether revisits may lead to recorded links.
        by_name: Whether some pointers wait for a capture that is named.

    Yields:
        Keys are checksums, or SURT and time of a capture that may be named.
    """
    if line.startswith(ABSENT_KEY):
        line = _after_tab(line)
    if b"\t" in line:
        memento = parse_memento(line)
        if memento.reason != "-":
            return
        if is_of_page(memento.checksum):
            yield from _pairs_of_memento(memento, recorded=recorded)
        if by_name and may_be_named(memento):
            yield _key_of_capture(memento.surt, memento.timestamp), _capture_in(memento)
        return
    pointer = parse_pointer(line)
    key = pointer.checksum.encode()
    if pointer.kind in SOUGHT_BY_NAME:
        yield _key_of_reference(pointer.names[0]), b"%b\t" % _WAITS + line
        yield _key_of_reference(pointer.names[0]), b"%b%09d\t%b" % (_LINE, pointer.chunk, line)
    elif pointer.kind in UNREADABLE:
        head = format_pointer(replace(pointer, originals=()))
        yield key, b"%b%09d\t%b" % (_WAITS, pointer.chunk, head)
        if recorded:
            for original in pointer.originals:
                yield key, _sorted(_ORIGINAL, original, _WANTED)
        yield key, b"%b%09d\t%b" % (_LINE, pointer.chunk, line)
    elif pointer.kind in _GROUPED and not pointer.chunk:
        tried = [(pointer.file, pointer.offset), *((f.file, f.offset) for f in pointer.fall_backs)]
        yield key, _TRIED + b"\t" + orjson.dumps(tried)


def may_be_named(memento: Memento) -> bool:
    """Return whether a memento can be the one that a revisit names: it has a page or a redirect."""
    return (
        memento.reason == "-"
        and memento.record_type != REVISIT
        and memento.checksum not in (NO_CHECKSUM, EMPTY_PAYLOAD)
    )


def _key_of_capture(surt: str, timestamp: str) -> bytes:
    """Return the key at which a capture and the revisits that name it meet."""
    return f"{_OF_CAPTURE}{timestamp} {surt}".encode()


def _key_of_reference(reference: Checksum) -> bytes:
    surt = surt_of(uri_of_reference(reference))
    return _key_of_capture(surt, timestamp_of_reference(reference) or "")


def _capture_in(memento: Memento) -> bytes:
    address = memento.file, f"{memento.offset:020d}"
    value = _sorted(_CAPTURE, memento.timestamp, memento.original, *address)
    return b"%b\t%d" % (value, memento.length)


def _pairs_of_memento(memento: Memento, *, recorded: bool) -> Iterator[tuple[bytes, bytes]]:
    if memento.record_type != REVISIT:
        yield memento.checksum.encode(), _capture_in(memento)
    elif recorded:
        address = memento.file, f"{memento.offset:020d}"
        value = _sorted(_ORIGINAL, memento.original, _REVISIT, memento.timestamp, *address)
        yield memento.checksum.encode(), b"%b\t%d" % (value, memento.length)


def _sorted(first: bytes, *parts: str) -> bytes:
    return first + _BETWEEN.join(part.encode() for part in parts)


def further_pointers(values: Iterable[bytes], counts: Counter[Reason]) -> Iterator[Row]:
    """Yield what is to be read for a payload that waits; nothing for any other payload.

    Args:
        values: All values of a key from `pairs_of`, sorted.
        counts: Gets the reason of a payload that cannot be read.

    Yields:
        `POINTERS` to captures that were not tried yet; if none is left, `NAMED` pointers to look
        for the capture that revisits name; if they name none, `RECORDED` pointers to the revisits
        of the waiting originals; without these, a row of ``payloads`` with the reason. A payload
        has only one of the four.
    """
    first: Pointer | None = None
    tried: set[tuple[str, int]] = set()
    captures: list[FallBack] = []
    is_recorded = False
    groups = groupby(values, itemgetter(slice(1)))
    for step, of_step in groups:
        if step == _WAITS:
            first = parse_pointer(_after_tab(next(of_step)))
            if first.kind in SOUGHT_BY_NAME:
                waiting = (first, *map(parse_pointer, map(_after_tab, of_step)))
                of_batch = {one.checksum for one in waiting if one.kind is PointerKind.NAMED}
                yield from _named_pointers(groups, of_batch, counts)
                return
        elif first is None:
            return
        elif step == _TRIED:
            tried.update(
                (file, at) for value in of_step for file, at in orjson.loads(_after_tab(value))
            )
        elif step == _CAPTURE:
            if first.kind is not PointerKind.GIVEN_UP:
                captures = list(islice(_untried(of_step, first, tried), LAST_RESORTS))
        elif step == _ORIGINAL:
            if not captures and not first.names and _may_be_recorded(first):
                for number, (original, revisits) in enumerate(_revisits(of_step)):
                    is_recorded = True
                    pointer = directed(first, PointerKind.RECORDED, revisits)
                    pointer = replace(pointer, originals=(original,), chunk=number)
                    yield RECORDED, format_pointer(pointer)
        elif not is_recorded:
            yield from _resolved(map(_after_tab, of_step), captures, counts)


def _resolved(
    lines: Iterable[bytes], captures: list[FallBack], counts: Counter[Reason]
) -> Iterator[Row]:
    """Yield the waiting pointers, directed to captures; without captures, the payload's reason."""
    for line in lines:
        pointer = parse_pointer(line)
        if captures:
            yield POINTERS, format_pointer(directed(pointer, PointerKind.LAST_RESORT, captures))
        elif pointer.names:
            yield NAMED, format_pointer(replace(pointer, kind=PointerKind.NAMED))
        else:
            yield from unread(pointer, counts)


def _named_pointers(
    groups: Iterable[tuple[bytes, Iterator[bytes]]],
    of_batch: Collection[Checksum],
    counts: Counter[Reason],
) -> Iterator[Row]:
    """Yield the rows for the pointers that wait for one named capture.

    Pointers of one payload come from several revisits, so their chunks get new numbers.

    Args:
        groups: The values by their first byte, after those that only say what waits.
        of_batch: Payloads of revisits of this batch. Their pointers have all originals, so those
            for revisits of earlier batches are not needed.
        counts: As in `further_pointers`.
    """
    captures: list[FallBack] = []
    chunks: Counter[Checksum] = Counter()
    for step, of_step in groups:
        if step == _CAPTURE:
            captures = list(islice(_captures_in(of_step), LAST_RESORTS))
        elif step == _LINE:
            for pointer in map(parse_pointer, map(_after_tab, of_step)):
                if pointer.kind is PointerKind.AWAITED and pointer.checksum in of_batch:
                    continue
                if captures:
                    chunk = chunks[pointer.checksum]
                    chunks[pointer.checksum] += 1
                    found = directed_by_name(replace(pointer, chunk=chunk), captures)
                    yield POINTERS, format_pointer(found)
                else:
                    yield from _not_named(pointer, chunks, counts)


def directed_by_name(pointer: Pointer, captures: Iterable[FallBack]) -> Pointer:
    """Return a pointer that reads one of the captures that its first name refers to.

    Those of the very URI that is named come first, then those of its variants.
    """
    uri = uri_of_reference(pointer.names[0])
    exact_first = sorted(captures, key=lambda capture: capture.original != uri)
    pointer = replace(pointer, names=pointer.names[1:])
    return directed(pointer, PointerKind.LAST_RESORT, exact_first)


def _not_named(
    pointer: Pointer, chunks: Counter[Checksum], counts: Counter[Reason]
) -> Iterator[Row]:
    """Yield the rows for a pointer if this batch does not have the capture that it names."""
    if pointer.kind is PointerKind.AWAITED:
        return
    reference, *others = pointer.names
    is_first = not chunks[pointer.checksum]
    chunks[pointer.checksum] += 1
    name = name_of_payload(pointer.checksum, reference)
    if is_first and name != pointer.checksum:  # the reference of a payload is its row
        yield PAYLOADS, format_payload(_unread_payload(replace(pointer, checksum=name)))
    if others:
        yield NAMED, format_pointer(replace(pointer, names=others))
    elif name != pointer.checksum:
        yield WAITING, format_pointer(replace(pointer, kind=PointerKind.UNREAD, names=()))
    elif is_first:
        yield from unread(replace(pointer, chunk=0), counts)


def unread(pointer: Pointer, counts: Counter[Reason]) -> Iterator[Row]:
    """Yield the row of a payload that cannot be read, for the first of its pointers.

    Args:
        pointer: A pointer that waited.
        counts: Gets the reason.
    """
    if pointer.chunk == 0:
        payload = _unread_payload(pointer)
        counts[Reason[payload.reason]] += 1
        yield PAYLOADS, format_payload(payload)


def _unread_payload(pointer: Pointer) -> Payload:
    """Return the payload of a pointer that leads to no readable capture."""
    reason = pointer.reason or Reason.PAYLOAD_NOT_AT_HAND.name
    return Payload(pointer.checksum, None, "-", pointer.file, pointer.offset, reason)


def _untried(
    values: Iterable[bytes], first: Pointer, tried: set[tuple[str, int]]
) -> Iterator[FallBack]:
    """Yield the captures that were not tried, each once, earliest first."""
    passed: tuple[str, str, str, int] | None = None
    if first.kind is PointerKind.PASSED:
        passed = first.timestamp, first.original, first.file, first.offset
    for capture in _captures_in(values):
        if (capture.file, capture.offset) in tried:
            continue
        position = capture.timestamp, capture.original, capture.file, capture.offset
        if passed is None or position > passed:
            yield capture


def _captures_in(values: Iterable[bytes]) -> Iterator[FallBack]:
    """Yield the captures in sorted values, each once, earliest first."""
    for _, same in groupby(values, lambda value: value.partition(b"\t")[0]):
        fields, _, length = next(same)[1:].partition(b"\t")
        timestamp, original, file, offset = fields.decode().split(_BETWEEN.decode())
        yield FallBack(file, int(offset), int(length), Timestamp(timestamp), UriR(original))


def _may_be_recorded(first: Pointer) -> bool:
    """Return whether a payload may get recorded links: no part of it was read, or is at hand."""
    is_whole = first.chunk == 0 and first.reason not in _AT_HAND
    return is_whole and first.kind is not PointerKind.GIVEN_UP


def _revisits(values: Iterable[bytes]) -> Iterator[tuple[UriR, list[FallBack]]]:
    """Yield the waiting originals that were revisited, with their earliest revisits."""
    for name, same in groupby(values, lambda value: value[1:].partition(_BETWEEN)[0]):
        original = UriR(name.decode())
        is_wanted = next(same).endswith(_BETWEEN + _WANTED.encode())
        if not is_wanted:
            continue
        revisits = []
        for value, _ in islice(groupby(same), LAST_RESORTS):
            fields, _, length = value.partition(b"\t")
            _, _, timestamp, file, offset = fields.decode().split(_BETWEEN.decode())
            when = Timestamp(timestamp)
            revisits.append(FallBack(file, int(offset), int(length), when, original))
        if revisits:
            yield original, revisits


def _after_tab(value: bytes) -> bytes:
    return value.partition(b"\t")[2]


LARGE = 2
"""Number of times the bytes of a mean task from which an archive file is read by several tasks."""


class ReadFile(NamedTuple):
    """An archive file, and the tasks that read it.

    Attributes:
        name: Its name in pointers.
        path: Its path or address.
        starts: Offsets at which ranges of the file begin.
        tasks: The number of the task that reads each range.
    """

    name: str
    path: str
    starts: Sequence[int]
    tasks: Sequence[int]


def assign_files(files: Iterable[tuple[str, str, int]], tasks: int) -> list[ReadFile]:
    """Return the archive files with the tasks that read them.

    Where there are at least as many files as tasks, a task reads whole files, except a file with
    more than `LARGE` times the bytes of a mean task. Otherwise it reads ranges of files. So one
    large file keeps all tasks busy.

    Args:
        files: Name, path and size in bytes of each archive file of the batch.
        tasks: Maximum number of tasks.
    """
    listed = sorted(files)
    most = sum(size for *_, size in listed) // tasks + 1
    are_few = len(listed) < tasks
    ranges = [
        (number, start, min(step, size - start))
        for number, (*_, size) in enumerate(listed)
        for step in (most if are_few or size > LARGE * most else max(size, 1),)
        for start in range(0, max(size, 1), step)
    ]
    task_of = {
        piece: task
        for task, share in enumerate(shares_of(ranges, itemgetter(2), tasks))
        for piece in share
    }
    ranges_of = groupby(ranges, itemgetter(0))
    return [
        ReadFile(name, path, [start for _, start, _ in own], [task_of[piece] for piece in own])
        for (name, path, _), own in zip(
            listed, (list(group) for _, group in ranges_of), strict=True
        )
    ]


class FilesInFolder(Mapping[str, str]):
    """Paths of archive files by name, where all files are in one folder and are not listed.

    >>> FilesInFolder("hdfs:///archive/").get("crawl/a.warc.gz")
    'hdfs:///archive/crawl/a.warc.gz'
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder.rstrip("/")

    def __getitem__(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class ReadingTasks:
    """The reading tasks of pointers.

    Args:
        files: From `assign_files`.
        tasks: Number of tasks.
        others: Paths of other archive files, by name.
    """

    def __init__(
        self, files: Iterable[ReadFile], tasks: int, others: Mapping[str, str] | None = None
    ) -> None:
        self._tasks = tasks
        self._files = {file.name: (number, file) for number, file in enumerate(files)}
        own = {name: file.path for name, (_, file) in self._files.items()}
        # The length of the others is not asked for: a folder has none, a list is read for it. A
        # look-up does not change a ChainMap, whose type asks for mappings that can change.
        no_others: Mapping[str, str] = {}
        self._paths = ChainMap(own, cast("dict[str, str]", no_others if others is None else others))

    def assign(self, pointer: Pointer) -> tuple[int, bytes, bytes]:
        """Return task, order and line of a pointer.

        The order sorts the lines of a task by file, offset and chunk.
        """
        known = known_as(pointer.file, self._paths) or pointer.file
        if known in self._files:
            number, file = self._files[known]
            task = file.tasks[bisect_right(file.starts, pointer.offset) - 1]
        else:
            digest = crc32(known.encode())
            number, task = len(self._files) + digest, digest % self._tasks
        order = b"%010d %020d %09d" % (number, pointer.offset, pointer.chunk)
        return task, order, _line_of(pointer, self._paths)


def _line_of(pointer: Pointer, paths: Mapping[str, str]) -> bytes:
    """Return the line of a manifest for a pointer, without line end.

    One with many captures to try gets the paths of all of them.

    Args:
        pointer: The pointer.
        paths: Paths of the archive files, by name.
    """
    path = path_of(pointer.file, paths)
    all_paths: str | list[str] = path
    if pointer.kind in (PointerKind.LAST_RESORT, PointerKind.RECORDED):
        all_paths = [path, *(path_of(other.file, paths) for other in pointer.fall_backs)]
    return orjson.dumps(all_paths) + b"\t" + format_pointer(pointer)


def path_of(file: str, paths: Mapping[str, str]) -> str:
    """Return the path of an archive file that a pointer names; `NO_FILE` if it is not known."""
    return paths.get(file) or paths.get(known_as(file, paths) or "") or NO_FILE


def format_files(files: Iterable[ReadFile]) -> bytes:
    """Return files as lines of JSON."""
    return b"".join(orjson.dumps([*file]) + b"\n" for file in files)


def parse_files(lines: Iterable[bytes]) -> list[ReadFile]:
    """Return the files that `format_files` wrote."""
    return [ReadFile(*orjson.loads(line)) for line in lines]
