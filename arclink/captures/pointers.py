"""Pointers to the captures of a stream, and functions that are applied to their pages.

`write_pointers` writes the lines that extraction reads (`arclink.extract.extraction`): the path of
an archive file, a tab, and a pointer with the memento of the capture. A task that has such a file
needs no store: `map_pages` reads the pages and applies a function of the user.

A pointer leads to the record that holds the payload; for a revisit, that is the record of another
capture of the store.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Self, cast

import orjson

from arclink.captures.locate import capture_shown, holders_of_payload
from arclink.captures.read import CapturedPage, PageReader, reason_of
from arclink.captures.stream import CaptureStream
from arclink.errors import CaptureError, UsageError
from arclink.files.atomic import written_whole
from arclink.model import ALL_TIME, REVISIT, Checksum, Memento, Span, Surt, UriR
from arclink.reasons import Reason
from arclink.rows.pointers import Pointer, PointerKind, format_pointer, parse_pointer
from arclink.rows.relations import format_memento, parse_memento
from arclink.store.protocols import KnownFile, StoreState

_CAPTURES_PER_FILE = 10_000
"""Number of captures in one file of pointers, which is the input of one task."""

PageFunction = Callable[[CapturedPage], object]
"""A function of the user: it returns a value that JSON can hold, an iterator of such, or None."""


def write_pointers(
    stream: CaptureStream, folder: Path, at_once: int = _CAPTURES_PER_FILE
) -> Iterator[int]:
    """Write pointers to the captures of a stream to ``part-00000`` and so on.

    Args:
        stream: The stream; its order should be that of the archive files.
        folder: Folder to create.
        at_once: Number of captures per file.

    Yields:
        The number of captures in each file, when it is complete.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rest = (_line(stream.reader, capture.memento) for capture in stream)
    for number, first in enumerate(rest):
        with (
            written_whole([folder / f"part-{number:05}"]) as (temporary_path,),
            temporary_path.open("wb") as file,
        ):
            file.write(first)
            count = 1
            while count < at_once and (line := next(rest, None)) is not None:
                file.write(line)
                count += 1
        yield count


def _line(reader: PageReader, memento: Memento) -> bytes:
    shown = memento
    with suppress(CaptureError):  # the task will report it
        shown = capture_shown(reader.store, memento)
    held = shown
    if shown.record_type == REVISIT:
        held = next(holders_of_payload(reader.store, shown), shown)
    pointer = Pointer(
        PointerKind.PAYLOAD,
        shown.checksum,
        held.file,
        held.offset,
        held.length,
        held.timestamp,
        held.original,
        (memento.original,),
        memento=format_memento(memento),
    )
    path = next(reader.paths(pointer.file), "-")
    return orjson.dumps(path) + b"\t" + format_pointer(pointer) + b"\n"


class _PointedFile(NamedTuple):
    """The `Captures` of a task: one file, and no capture, because its pointers name the records."""

    known: KnownFile

    @property
    def whole(self) -> Self:
        return self

    def state(self) -> StoreState:
        return StoreState.of(self.known.name, ())

    def files(self) -> Iterator[KnownFile]:
        return iter((self.known,))

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        return iter(())

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return iter(())


def function_named(name: str) -> PageFunction:
    """Return the function of a user.

    Args:
        name: ``module:function``; the module must be importable.

    Raises:
        UsageError: There is no such function.
    """
    module, colon, function = name.partition(":")
    try:
        found = getattr(import_module(module), function) if colon else None
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"--function {name}: {error}") from error
    if not callable(found):
        raise UsageError(f"--function {name}: expected module:function, such as tools:count_words")
    return cast("PageFunction", found)


def map_pages(
    lines: Iterable[bytes], function: PageFunction, counts: Counter[Reason]
) -> Iterator[bytes]:
    """Yield the values of a function for the pages of some pointers, as JSON without line ends.

    Each value comes with the URI and the time of its capture.

    Args:
        lines: As `write_pointers` writes them.
        function: The function. Its errors end the task, except errors about the bytes of a page.
        counts: Gets the reason for each capture.
    """
    path, reader = "", PageReader(_PointedFile(KnownFile("", "", 0, "")))
    try:
        for line in lines:
            where, _, text = line.partition(b"\t")
            pointer = parse_pointer(text)
            if (found := orjson.loads(where)) != path:
                reader.close()
                path = found
                reader = PageReader(_PointedFile(KnownFile(pointer.file, path, 0, "")))
            memento = parse_memento(pointer.memento)
            try:
                yield from _values(reader, pointer, memento, function)
                counts[Reason.PAYLOAD_READ] += 1
            except CaptureError as error:
                counts[reason_of(error)] += 1
    finally:
        reader.close()


def _values(
    reader: PageReader, pointer: Pointer, memento: Memento, function: PageFunction
) -> Iterator[bytes]:
    held = memento._replace(
        checksum=pointer.checksum,
        file=pointer.file,
        offset=pointer.offset,
        length=pointer.length,
        timestamp=pointer.timestamp,
        original=pointer.original,
    )
    about = {"uri": memento.original, "timestamp": memento.timestamp}
    with reader.read(held) as page:
        page.memento = memento
        result = function(page)
        for value in result if isinstance(result, Iterator) else [result]:
            if value is not None:
                yield orjson.dumps({**about, "value": value})
