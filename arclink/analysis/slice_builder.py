"""Creation of slices in one pass over a store.

Memory does not grow with the store, except for eight bytes per node.

::

    contents with links, their mementos  ──▶  rows by content, names as hashes   (disk)
    all names, sorted                    ──▶  number of each node
    rows by content, nodes as numbers    ──▶  (window, edge, weight), sorted, added up   (disk)
    of each window                       ──▶  nodes, and the edges as compressed rows
"""

import os
import shutil
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from arclink.analysis.names import CollisionError, Hashes, NameSorter, Numbering
from arclink.analysis.slices import SliceOptions, Slices, Weight, write_about
from arclink.analysis.windows import WHOLE, Window
from arclink.errors import UsageError
from arclink.files.array_sort import ByWindow, Column, Sorter
from arclink.model import Outlink, Timestamp, UriR
from arclink.store.protocols import ContentBlock, Scans
from arclink.uris.surts import surt_of

EXPANDED = 1_000_000
"""Approximate number of edges expanded from contents at a time."""

CONTENTS = 20_000
"""Number of contents read back at a time."""

_KNOWN_URIS = 200_000
_HELD = 1 << 16
_NO_NODE, _NOT_WANTED = -1, -2  # hashes of names are never negative
_TARGET = np.uint64((1 << 32) - 1)


def build_slices(
    store: Scans, options: SliceOptions, folder: Path, keep_on: Callable[[], None] = lambda: None
) -> Slices:
    """Write the slices of a store into a new folder, and return them.

    Args:
        store: The store. It is read once, in order; what is loaded meanwhile may or may not be
            included.
        options: The options of the slices.
        folder: Folder to create. Temporary data of about 30 bytes per link is removed at the end.
        keep_on: Called for each block that is read; an error that it raises ends the work.

    Raises:
        UsageError: The store has no mementos, no window has any, or there are too many windows.
    """
    sums = store.sums()
    if not sums.first:
        raise UsageError(
            "the store has no mementos, so there is nothing to slice. Build it first: arclink build"
        )
    windows = [WHOLE, *options.windows.between(Timestamp(sums.first), Timestamp(sums.last))]
    work = folder / "work"
    # About one in ten thousand graphs of 20 million nodes needs a second salt.
    for salt in range(100):
        work.mkdir(parents=True)
        try:
            collected = _Collector(options, windows, work, salt)
            collected.read(store, keep_on)
            numbering = collected.names.write(folder)
            break
        except CollisionError:
            shutil.rmtree(folder)
    _write_slices(collected, numbering, windows, folder)
    counts = {"without_host": collected.without_host, "other_kinds": collected.other_kinds}
    write_about(folder, options, windows, counts)
    shutil.rmtree(work)
    return Slices(folder)


class _Column:
    """Numbers appended to a file as they arrive, and read back from its beginning."""

    def __init__(self, path: Path, kind: str) -> None:
        self._path = path
        self._waiting = array(kind)
        self._dtype = np.dtype(kind)
        self._read = 0
        path.touch()

    def extend(self, numbers: Iterable[int]) -> None:
        """Append numbers."""
        self._waiting.extend(numbers)
        if len(self._waiting) > _HELD:
            self.flush()

    def extend_array(self, numbers: Hashes) -> None:
        """Append numbers of the column's own type."""
        self._waiting.frombytes(numbers.tobytes())
        if len(self._waiting) > _HELD:
            self.flush()

    def flush(self) -> None:
        """Write the buffered numbers."""
        with self._path.open("ab") as file:
            self._waiting.tofile(file)
        del self._waiting[:]

    def take(self, count: int) -> Column:
        """Return the next ``count`` numbers; fewer at the end."""
        taken = np.fromfile(
            self._path, self._dtype, count, offset=self._read * self._dtype.itemsize
        )
        self._read += len(taken)
        return taken


class _Finder:
    """The numbers of the windows that a timestamp is in: 0 is the whole, the others follow."""

    def __init__(self, options: SliceOptions, windows: Sequence[Window]) -> None:
        period = options.windows.period
        self._digits = period.value if period else 0
        self._by_digits = {
            window.span.first[: self._digits]: (0, number)
            for number, window in enumerate(windows)
            if number
        }
        self._spans = [window.span for window in windows]

    def of(self, timestamp: Timestamp) -> Sequence[int]:
        if self._digits:
            return self._by_digits.get(timestamp[: self._digits], (0,))
        return [number for number, span in enumerate(self._spans) if timestamp in span]


class _Collector:
    """The data that one pass over the store collects on disk.

    The rows of a content are its distinct targets (or links), and the nodes and windows that show
    it, with their counts.
    """

    def __init__(
        self, options: SliceOptions, windows: Sequence[Window], folder: Path, salt: int
    ) -> None:
        self.names = NameSorter(folder, salt)
        self.folder = folder
        self.options = options
        self.without_host = 0
        self.other_kinds = 0
        self.is_of_links = options.weight is Weight.LINKS
        self._windows = _Finder(options, windows)
        self._uris: dict[str, int] = {}
        kinds = {
            "targets": "Q", "links": "Q", "target_counts": "q",
            "sources": "Q", "pages": "Q", "windows": "i", "weights": "q", "lasts": "q",
            "source_counts": "q",
            "captured": "Q", "captured_windows": "i",
        }  # fmt: skip
        self.columns = {name: _Column(folder / name, kind) for name, kind in kinds.items()}

    def read(self, store: Scans, keep_on: Callable[[], None]) -> None:
        """Collect all data of a store."""
        for memento in store.scan_mementos():
            name = self.options.level.name_of(memento.surt)
            if name:
                numbers = self._windows.of(memento.timestamp)
                self.columns["captured"].extend([self.names.hash_of(name)] * len(numbers))
                self.columns["captured_windows"].extend(numbers)
        for block in store.scan_contents():
            keep_on()
            self._read_block(store, block)
        for column in self.columns.values():
            column.flush()

    def _read_block(self, store: Scans, block: ContentBlock) -> None:
        wants = {kind: self.options.wants(kind) for kind in {link.kind for link in block.links}}
        nodes = np.fromiter(
            (self._node(link.target) if wants[link.kind] else _NOT_WANTED for link in block.links),
            np.int64,
            len(block.links),
        )
        is_wanted, lacks_host, is_other = nodes >= 0, nodes == _NO_NODE, nodes == _NOT_WANTED
        hashes = nodes.astype(np.uint64)
        links = (
            np.fromiter(map(_hash_of_link, block.links), np.uint64, len(nodes))
            if self.is_of_links
            else hashes
        )
        for indexes, pages in zip(block.lists, store.sources(block.contents), strict=True):
            self.without_host += int(lacks_host[indexes].sum())
            self.other_kinds += int(is_other[indexes].sum())
            wanted = np.unique(indexes[is_wanted[indexes]])
            if not len(wanted):
                for _ in pages:
                    pass
                continue
            sources = self._sources(pages)
            if self.is_of_links:
                distinct, firsts = np.unique(links[wanted], return_index=True)
                self.columns["links"].extend_array(distinct)
                self.columns["targets"].extend_array(hashes[wanted[firsts]])
            else:
                distinct = np.unique(hashes[wanted])
                self.columns["targets"].extend_array(distinct)
            self.columns["target_counts"].extend([len(distinct)])
            self.columns["source_counts"].extend([sources])

    def _sources(self, pages: Iterator[tuple[UriR, Sequence[Timestamp]]]) -> int:
        """Collect the pages that show a content; return the number of rows."""
        counts: Counter[tuple[int, int]] = Counter()
        rows = 0
        for original, timestamps in pages:
            node = self._node(original)
            if node == _NO_NODE:
                continue
            if self.is_of_links:
                surt = surt_of(original)
                numbers = (
                    [0]
                    if self.options.is_in_force
                    else sorted({n for time in timestamps for n in self._windows.of(time)})
                )
                self.columns["pages"].extend([_hash(surt)] * len(numbers))
                self._add_sources(
                    [(node, number) for number in numbers],
                    [int(timestamps[0])] * len(numbers),
                    int(timestamps[-1]),
                )
                rows += len(numbers)
            else:
                for time in timestamps:
                    for number in self._windows.of(time):
                        counts[node, number] += 1
        if counts:
            weights = (
                list(counts.values())
                if self.options.weight is Weight.MEMENTOS
                else [1] * len(counts)
            )
            self._add_sources(list(counts), weights, 0)
        return rows + len(counts)

    def _add_sources(
        self, sources: Sequence[tuple[int, int]], weights: Sequence[int], last: int
    ) -> None:
        self.columns["sources"].extend([node for node, _ in sources])
        self.columns["windows"].extend([number for _, number in sources])
        self.columns["weights"].extend(weights)
        if self.options.is_in_force:
            self.columns["lasts"].extend([last] * len(sources))

    def _node(self, uri: str) -> int:
        """Return the hash of the node that a URI belongs to; `_NO_NODE` if it has no node."""
        node = self._uris.get(uri)
        if node is None:
            if len(self._uris) >= _KNOWN_URIS:
                self._uris.clear()
            name = self.options.level.name_of(surt_of(uri))
            node = self._uris[uri] = self.names.hash_of(name) if name else _NO_NODE
        return node


def _hash(text: str) -> int:
    return int.from_bytes(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )


def _hash_of_link(link: Outlink) -> int:
    return _hash(
        f"{link.target}\0{link.kind}\0{link.text}\0{'' if link.rel is None else ' ' + link.rel}"
    )


def _write_slices(
    collected: _Collector, numbering: Numbering, windows: Sequence[Window], folder: Path
) -> None:
    columns = collected.columns
    edges = ByWindow(_edges(collected, numbering, windows).merged())
    captured = Sorter(collected.folder, keys=2)
    while len(hashes := columns["captured"].take(EXPANDED)):
        captured.add(columns["captured_windows"].take(EXPANDED), numbering.of(hashes))
    captures = ByWindow(captured.merged())
    for number in range(len(windows)):
        (folder / str(number)).mkdir()
        found = np.zeros(len(numbering), dtype=np.bool_)
        for (nodes,) in captures.take(number):
            found[nodes] = True
        if not number:
            np.save(folder / "captured.npy", found)
        _write_slice(folder / str(number), found, edges.take(number))


def _write_slice(
    folder: Path, captured: npt.NDArray[np.bool_], edges: Iterator[Sequence[Column]]
) -> None:
    """Write one slice.

    Args:
        folder: Folder of the slice.
        captured: For each node, whether it was captured in the window.
        edges: Blocks of (source and target, weight), sorted; source and target form one number of
            64 bits.
    """
    is_there = captured.copy()
    count = 0
    with (folder / "keys").open("wb") as keys, (folder / "values").open("wb") as values:
        for pairs, weights in edges:
            is_there[pairs >> np.uint64(32)] = True
            is_there[pairs & _TARGET] = True
            pairs.tofile(keys)
            weights.tofile(values)
            count += len(pairs)
    nodes = np.flatnonzero(is_there).astype(np.int32)
    index_of = np.cumsum(is_there, dtype=np.int32) - np.int32(1)
    index = np.dtype(np.int32 if count < 1 << 31 else np.int64)
    indices = np.lib.format.open_memmap(folder / "indices.npy", "w+", index, (count,))
    weights_there = np.lib.format.open_memmap(folder / "weights.npy", "w+", np.int64, (count,))
    for name in ("indices.npy", "weights.npy"):
        _reserve(folder / name)
    degrees = np.zeros(len(nodes), dtype=np.int64)
    with (folder / "keys").open("rb") as keys, (folder / "values").open("rb") as values:
        for begin in range(0, count, EXPANDED):
            pairs = np.frombuffer(keys.read(8 * EXPANDED), np.uint64)
            indices[begin : begin + len(pairs)] = index_of[pairs & _TARGET]
            weights_there[begin : begin + len(pairs)] = np.frombuffer(
                values.read(8 * EXPANDED), np.int64
            )
            sources, of_source = np.unique(index_of[pairs >> np.uint64(32)], return_counts=True)
            degrees[sources] += of_source
    np.save(folder / "indptr.npy", np.concatenate(([0], np.cumsum(degrees))).astype(index))
    np.save(folder / "nodes.npy", nodes)
    np.save(folder / "captured.npy", captured[nodes])
    (folder / "keys").unlink()
    (folder / "values").unlink()


def _edges(collected: _Collector, numbering: Numbering, windows: Sequence[Window]) -> Sorter:
    """Return a sorter of the rows (window, source and target, weight), ready to be merged."""
    edges = Sorter(collected.folder, keys=2, reducers=[np.add])
    if not collected.is_of_links:
        for window, pairs, _, weights, _ in _expanded(collected, numbering):
            edges.add(window, pairs, weights)
        return edges
    is_in_force = collected.options.is_in_force
    links = Sorter(
        collected.folder,
        keys=3,
        reducers=[np.minimum, np.maximum] if is_in_force else [],
    )
    for window, pairs, link, firsts, lasts in _expanded(collected, numbering):
        links.add(window, pairs, link, *([firsts, lasts] if is_in_force else []))
    for window, pairs, _, *interval in links.merged():
        if not is_in_force:
            edges.add(window, pairs, np.ones(len(pairs), dtype=np.int64))
            continue
        for number, (_, span) in enumerate(windows):
            meets = (interval[0] <= int(span.last)) & (interval[1] >= int(span.first))
            there = pairs[meets]
            edges.add(
                np.full(len(there), number, dtype=np.int32),
                there,
                np.ones(len(there), dtype=np.int64),
            )
    return edges


def _expanded(collected: _Collector, numbering: Numbering) -> Iterator[Sequence[Column]]:
    """Yield blocks of (window, source and target, link, weight, last), the edges of contents.

    There is one row per target of each source of each content. Link is the hash of a link of a
    page; it is meaningful only if the weight counts links. For links in force, weight and last are
    the first and last time at which the link was seen.
    """
    columns = collected.columns
    while len(target_counts := columns["target_counts"].take(CONTENTS)):
        source_counts = columns["source_counts"].take(CONTENTS)
        targets = numbering.of(columns["targets"].take(int(target_counts.sum()))).astype(np.uint64)
        rows = int(source_counts.sum())
        sources = numbering.of(columns["sources"].take(rows)).astype(np.uint64) << np.uint64(32)
        in_window, weights = columns["windows"].take(rows), columns["weights"].take(rows)
        links, pages, lasts = targets, sources, weights
        if collected.is_of_links:
            links, pages = columns["links"].take(len(targets)), columns["pages"].take(rows)
        if collected.options.is_in_force:
            lasts = columns["lasts"].take(rows)
        width = np.repeat(target_counts, source_counts)  # number of targets of each source
        start = np.repeat(np.cumsum(target_counts) - target_counts, source_counts)
        ends = np.cumsum(width)
        begin = 0
        while begin < rows:
            before = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + EXPANDED, "right")))
            wide = width[begin:end]
            source = np.repeat(np.arange(begin, end), wide)
            index = np.arange(len(source)) - np.repeat(np.cumsum(wide) - wide, wide) + start[source]
            # Mixing the hashes of page and link distinguishes links of several pages of one node.
            link = links[index] ^ (pages[source] * np.uint64(0x9E3779B97F4A7C15))
            yield (
                in_window[source],
                sources[source] | targets[index],
                link,
                weights[source],
                lasts[source],
            )
            begin = end


def _reserve(path: Path) -> None:
    """Allocate disk space for a whole file.

    Writing to a mapped file without disk space ends the process (SIGBUS).
    """
    with path.open("r+b") as file:
        if size := os.fstat(file.fileno()).st_size:
            os.posix_fallocate(file.fileno(), 0, size)
