"""Reads payloads again whose links an earlier extractor has read, and replaces links that differ.

::

    payloads of the store ──▶ pointers ──▶ extract, join ──▶ links that differ? ──▶ join, invert
                                                                   │                    │
                                                             titles are kept     links are replaced

Payloads are read in portions, and each portion is one step of the store: a killed run continues
after the last one. A payload that cannot be read keeps its links, and stays listed
(`arclink.store.layouts.EARLIER_SETTING`).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import orjson

from arclink.checksums import names_payload
from arclink.mapreduce.runs import JobRunner, room_in
from arclink.model import Checksum, ContentId, Payload, Timestamp, UriR
from arclink.pipeline import stages
from arclink.pipeline.settings import BuildSettings, settings_of_store
from arclink.portions import portions
from arclink.rows.pages import LinkSource, parse_page, source_of
from arclink.rows.pointers import ORIGINALS, Pointer, PointerKind, format_pointer
from arclink.rows.relations import COLUMNS_OF_PAYLOAD, parse_payload
from arclink.store.archive_paths import ArchivePaths
from arclink.store.blocks.byte_layouts import split_content
from arclink.store.graph_files import read_sorted
from arclink.store.protocols import EmptyStore, KnownFile
from arclink.store.sqlite.store import SqliteStore
from arclink.uris.surts import surt_of

AT_ONCE = 20_000
"""Number of payloads of a portion."""

_REDIRECT = "redirect:"


def read_again(
    store: SqliteStore,
    archives: ArchivePaths,
    settings: BuildSettings,
    work: Path,
    run: JobRunner,
    only_change: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[tuple[int, int]]:
    """Read payloads again, a portion at a time, and replace the links that differ.

    Args:
        store: Opened for loading, with the present layout.
        archives: Where archive files are that are not at the path which the store records.
        settings: Number of cores, and the runner.
        work: Folder for the files between the stages.
        run: Runs the jobs.
        only_change: Returns a context that keeps other processes from changing the store, for one
            portion: a takedown waits for it.

    Yields:
        After each portion, the numbers of payloads in it that were read, and whose links differ.
    """
    settings = settings_of_store(store, settings)
    files = list(_files_there(store, archives))
    names = {file.name for file in files}
    portion_of = portions(store.earlier_payloads(), AT_ONCE)
    for portion in portion_of:
        with only_change():
            wanted = [
                payload
                for _, payload in portion
                if _is_to_read(payload, names) and store.payload(payload.checksum) is not None
            ]  # one may have been forgotten meanwhile
            folder = work / "reread"
            run.remove(folder)
            with room_in(folder, "upgrade"):
                (folder / "mementos").mkdir(parents=True)
                _write_pointers(store, wanted, folder / "pointers/part-00000")
                stages.extract(folder, files, EmptyStore(), settings, run)
                stages.join(folder, run)
                done = {payload.checksum: payload for payload in _read_payloads(folder / "graph")}
                changed = _changed(store, folder / "graph", done)
                further = folder / "changed"
                if changed:
                    _copy_pages(run.parts(folder / "pages"), changed, further / "pages/part-00000")
                    stages.join(further, run)
                    stages.invert(further, run)
                numbers = [
                    number
                    for number, payload in portion
                    if payload.checksum in done or not _has_page_links(payload)
                ]
                outcomes = [
                    done[payload.checksum]
                    for _, payload in portion
                    if payload.checksum in done and payload.checksum not in changed
                ]
                store.replace_links(further / "graph", outcomes, changed, numbers, portion[-1][0])
            run.remove(folder)
        yield len(done), len(changed)


def _files_there(store: SqliteStore, archives: ArchivePaths) -> Iterator[KnownFile]:
    """Yield the archive files of a store that are there, with the path at which they are."""
    for file in store.files():
        for path in (file.path, *archives.paths(file.name)):
            if "://" in path or "!/" in path or _has_size(path, file.size):
                yield replace(file, path=path)
                break


def _has_size(path: str, size: int) -> bool:
    try:
        return os.stat(path).st_size == size
    except OSError:
        return False


def _has_page_links(payload: Payload) -> bool:
    """Return whether the links of a payload depend on the extractor."""
    return (
        source_of(payload) in (LinkSource.PAGE, LinkSource.WAT)
        and not payload.checksum.startswith(_REDIRECT)
        and not names_payload(payload.checksum)
    )


def _is_to_read(payload: Payload, names: set[str]) -> bool:
    return _has_page_links(payload) and payload.file in names


def _write_pointers(store: SqliteStore, payloads: Iterable[Payload], path: Path) -> None:
    path.parent.mkdir(parents=True)
    with path.open("wb") as part:
        for payload in payloads:
            timestamp, original = _capture_at(store, payload)
            originals = portions(store.originals_of(payload.checksum), ORIGINALS)
            for chunk, some in enumerate(originals):
                pointer = Pointer(
                    PointerKind.PAYLOAD,
                    payload.checksum,
                    payload.file,
                    payload.offset,
                    -1,
                    timestamp,
                    original,
                    tuple(some),
                    chunk=chunk,
                )
                part.write(format_pointer(pointer) + b"\n")


def _capture_at(store: SqliteStore, payload: Payload) -> tuple[Timestamp, UriR]:
    """Return time and original of the capture that a payload was read from, if it has a memento."""
    for original in store.originals_of(payload.checksum):
        for memento in store.mementos(surt_of(original)):
            if (memento.file, memento.offset) == (payload.file, payload.offset):
                return memento.timestamp, memento.original
    return Timestamp(""), UriR("")


def _read_payloads(graph: Path) -> Iterator[Payload]:
    for row in read_sorted(graph, "payloads", COLUMNS_OF_PAYLOAD, keys=0):
        payload = parse_payload(b"\t".join(row))
        if payload.scope is not None:
            yield payload


def _changed(store: SqliteStore, graph: Path, done: dict[Checksum, Payload]) -> frozenset[Checksum]:
    """Return the payloads whose links, or the scope of these, differ from those of the store."""
    changed = {
        checksum
        for checksum, payload in done.items()
        if (known := store.payload(checksum)) is None or known.scope is not payload.scope
    }
    for _, _, contents, links, lists in read_sorted(graph, "outlinks", 5, keys=1):
        distinct = [tuple(link) for link in orjson.loads(links)]
        for content, numbers in zip(orjson.loads(contents), orjson.loads(lists), strict=True):
            checksum = split_content(content)[0]
            if checksum not in changed:
                stored = [tuple(link) for link in store.outlinks(ContentId(content))]
                if stored != [distinct[number] for number in numbers]:
                    changed.add(checksum)
    return frozenset(changed)


def _copy_pages(parts: Sequence[Path], wanted: frozenset[Checksum], path: Path) -> None:
    """Write the pages of some payloads to a new part."""
    path.parent.mkdir(parents=True)
    with path.open("wb") as copy:
        for part in parts:
            with part.open("rb") as lines:
                for line in lines:
                    if parse_page(line.partition(b"\t")[2]).checksum in wanted:
                        copy.write(line)
