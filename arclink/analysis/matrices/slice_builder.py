"""Creation of slices by SQL over the relations of a store.

Memory is limited: DuckDB moves what exceeds its limit to temporary files, and NumPy holds some
bytes per node.

::

    captures, targets of links  ──▶  nodes, sorted by name: their row is their number
    captures, windows           ──▶  shown: the contents that each node shows in each window
    links                       ──▶  targets: the nodes that each content links to
    shown, targets              ──▶  edges: window, source, target, weight, sorted
    edges of each window        ──▶  nodes, and the edges as compressed rows   (files)
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from arclink.analysis.matrices.slices import (
    WHOLE,
    Level,
    SliceOptions,
    Slices,
    SortedNames,
    Weight,
    Window,
    write_about,
    write_names,
)
from arclink.errors import Limit, LimitError, UsageError
from arclink.extras import analysis_extra
from arclink.files.atomic import is_utf8
from arclink.model import Timestamp
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.analysis.relations.database import ShownRelations

Column = npt.NDArray[Any]
"""Numbers, one per row."""

_MEMORY = 400
"""Megabytes that DuckDB may use."""

ROWS = 500_000
"""Approximate number of edges in memory at a time."""

_CAPTURED, _NOTHING = -1, -2
"""What rows have as a target that are not edges."""

_TABLES = """
CREATE TEMP VIEW wanted AS FROM links WHERE list_contains(getvariable('kinds'), kind);
CREATE TEMP TABLE captured AS
    SELECT DISTINCT content, coalesce(written, uri) AS original, timestamp::BIGINT AS time,
        {page} AS page, {source} AS name
    FROM captures WHERE name IS NOT NULL;
CREATE TEMP TABLE nodes AS
    SELECT name FROM captured
    UNION SELECT {target} AS name FROM wanted WHERE name IS NOT NULL
    ORDER BY name;
CREATE TEMP TABLE contents AS
    SELECT DISTINCT content FROM captured WHERE content IS NOT NULL;
CREATE TEMP TABLE shown AS
    SELECT contents.rowid::INTEGER AS content, nodes.rowid::INTEGER AS source, page, number,
        {weight} AS weight, min(time) AS since, max(time) AS until
    FROM captured JOIN contents USING (content) JOIN nodes USING (name)
        JOIN {windows} ON time BETWEEN first AND last
    GROUP BY ALL;
CREATE TEMP TABLE targets AS
    SELECT DISTINCT
        contents.rowid::INTEGER AS content, nodes.rowid::INTEGER AS target, {link} AS link
    FROM wanted JOIN contents USING (content) JOIN nodes ON name = {target}
"""
"""Rows of ``nodes`` and ``contents`` are never removed, so they are numbered from 0 on."""

_ROWS_OF_WINDOWS = f"""
SET preserve_insertion_order = false;
CREATE TEMP TABLE edges AS {{edges}} GROUP BY ALL;
INSERT INTO edges SELECT number, 0, {_NOTHING}, 0 FROM windows;
INSERT INTO edges
    SELECT DISTINCT number, nodes.rowid, {_CAPTURED}, 0
    FROM captured JOIN nodes USING (name) JOIN windows ON time BETWEEN first AND last;
"""
"""At least one row per window. A row without target is a node that was captured in the window."""

_WEIGHED = """
    SELECT number, source, target, sum(weight)::BIGINT AS weight
    FROM shown JOIN targets USING (content)
"""
_OF_LINKS = """
    SELECT number, source, target, count(*) AS weight
    FROM (SELECT DISTINCT number, source, target, page, link
        FROM shown JOIN targets USING (content))
"""
_IN_FORCE = """
    SELECT windows.number, source, target, count(*) AS weight
    FROM (SELECT source, target, page, link, min(since) AS since, max(until) AS until
        FROM shown JOIN targets USING (content) GROUP BY ALL)
    JOIN windows ON since <= last AND until >= first
"""


def build_slices(
    where: str,
    store: Scans,
    options: SliceOptions,
    folder: Path,
    most_windows: int | None = None,
) -> Slices:
    """Write the slices of a store into a new folder, and return them.

    Args:
        where: The path or URL of the store: its relations are kept next to it. If it is empty, they
            are made for this use.
        store: The store, or a view of it.
        options: The options of the slices.
        folder: Folder to create. Temporary files are next to it meanwhile, or in the system's
            folder if its name is not UTF-8.
        most_windows: Largest number of slices; None for any.

    Raises:
        LimitError: There are more windows.
        UsageError: The store has no mementos, no window has any, there are too many windows, or a
            package is not installed.
    """
    with analysis_extra():
        from arclink.analysis.relations.database import ShownRelations, SqlLimits

    folder.parent.mkdir(parents=True, exist_ok=True)
    work = folder.parent if is_utf8(folder.parent) else None
    with ShownRelations(where, store, SqlLimits(_MEMORY), work) as relations:
        windows = [WHOLE, *_windows(relations, options)]
        if most_windows is not None and len(windows) > most_windows:
            raise LimitError(
                Limit.TIME,
                f"there are {len(windows):,} windows, and an answer has at most {most_windows}: "
                "ask by longer ones",
            )
        folder.mkdir()
        counts = _make_tables(relations, options, windows)
        with relations.reading("SELECT name, strlen(name) FROM nodes") as names:
            write_names(folder, names)
        total = len(SortedNames(folder))
        relations.run(_ROWS_OF_WINDOWS.format(edges=_edges(options)))
        with relations.reading("FROM edges ORDER BY number, source, target", ROWS) as rows:
            for number, blocks in groupby(_by_window(rows), itemgetter(0)):
                (folder / str(number)).mkdir()
                _write_slice(total, (block for _, block in blocks), folder / str(number))
    # Not all names are in the slice of all time: an address without host has links, but no name.
    whole, captured = folder / "0", np.zeros(total, dtype=np.bool_)
    captured[np.load(whole / "nodes.npy")] = np.load(whole / "captured.npy")
    np.save(folder / "captured.npy", captured)
    write_about(folder, options, windows, counts)
    return Slices(folder)


def name_of(level: Level, prefix: str = "") -> str:
    """Return the SQL for the name of a node: of a capture or, with ``target_``, of a target."""
    surt, host = f"{prefix}surt", f"{prefix}host"
    if level is Level.URI:
        return f"CASE WHEN {host} IS NOT NULL THEN {surt} END"
    return host if level is Level.HOST else f"{prefix}domain"


def _windows(relations: "ShownRelations", options: SliceOptions) -> Sequence[Window]:
    [(first, last)] = relations.run("SELECT min(timestamp), max(timestamp) FROM captures")
    if first is None:
        raise UsageError(
            "there are no captures to slice: the subset selects none, or the store is empty. "
            "`arclink count` counts them, with the same --subset and --store"
        )
    return options.windows.between(Timestamp(first), Timestamp(last))


def _make_tables(
    relations: "ShownRelations", options: SliceOptions, windows: Sequence[Window]
) -> dict[str, int]:
    """Make the tables of all slices; return the numbers of links that are in none."""
    is_of_links = options.weight is Weight.LINKS
    source, target = name_of(options.level), name_of(options.level, "target_")
    spans = ", ".join(
        f"({number}, {span.first}, {span.last})" for number, (_, span) in enumerate(windows)
    )
    relations.run(
        "SET threads = 1;"  # each further one needs memory of its own
        f"CREATE TEMP TABLE windows AS FROM (VALUES {spans}) AS spans (number, first, last)"
    )
    relations.set({"kinds": relations.kinds(options.wants)})
    relations.run(
        _TABLES.format(
            source=source,
            target=target,
            page="hash(surt)" if is_of_links else "0",
            link="hash(target, kind, text, rel)" if is_of_links else "0",
            weight="count(*)" if options.weight is Weight.MEMENTOS else "1",
            windows="(FROM windows LIMIT 1)" if options.is_in_force else "windows",
        )
    )
    [(other_kinds, without_host)] = relations.run(
        "SELECT coalesce(sum(occurrences) FILTER (NOT is_wanted), 0)::BIGINT, coalesce("
        f"sum(occurrences) FILTER (is_wanted AND {target} IS NULL), 0)::BIGINT "
        "FROM (SELECT *, list_contains(getvariable('kinds'), kind) AS is_wanted FROM links)"
    )
    return {"without_host": without_host, "other_kinds": other_kinds}


def _edges(options: SliceOptions) -> str:
    if options.is_in_force:
        return _IN_FORCE
    return _OF_LINKS if options.weight is Weight.LINKS else _WEIGHED


def _by_window(batches: Iterable[Any]) -> Iterator[tuple[int, Sequence[Column]]]:
    """Yield the rows of record batches by the window in their first column, in blocks."""
    for batch in batches:
        numbers, *columns = (column.to_numpy() for column in batch.columns)
        distinct, begins = np.unique(numbers, return_index=True)
        for number, begin, end in zip(
            distinct.tolist(), begins, np.append(begins[1:], len(numbers)), strict=True
        ):
            yield number, [column[begin:end] for column in columns]


def _write_slice(total: int, blocks: Iterable[Sequence[Column]], folder: Path) -> None:
    """Write one slice.

    Args:
        total: Number of all nodes.
        blocks: Blocks of (source, target, weight), sorted; see `_ROWS_OF_WINDOWS`.
        folder: Folder of the slice.
    """
    captured = np.zeros(total, dtype=np.bool_)
    is_target = np.zeros(total, dtype=np.bool_)
    degrees = np.zeros(total, dtype=np.int64)
    with TemporaryFile(dir=folder) as targets, (folder / "weights.npy").open("wb") as weights:
        _write_head(weights, np.int64, 0)
        for sources, of_block, weight in blocks:
            captured[sources[of_block == _CAPTURED]] = True
            is_edge = of_block >= 0
            is_target[of_block[is_edge]] = True
            distinct, counts = np.unique(sources[is_edge], return_counts=True)
            degrees[distinct] += counts
            of_block[is_edge].tofile(targets)
            weight[is_edge].tofile(weights)
        count = int(degrees.sum())
        _write_head(weights, np.int64, count)
        is_there = captured | is_target | (degrees > 0)
        index_of = np.cumsum(is_there, dtype=np.int32) - np.int32(1)
        index = np.int32 if count < 1 << 31 else np.int64
        targets.seek(0)
        with (folder / "indices.npy").open("wb") as indices:
            _write_head(indices, index, count)
            while len(block := np.fromfile(targets, np.int32, ROWS)):
                index_of[block].astype(index).tofile(indices)
    nodes = np.flatnonzero(is_there).astype(np.int32)
    np.save(folder / "indptr.npy", np.append(0, np.cumsum(degrees[is_there])).astype(index))
    np.save(folder / "nodes.npy", nodes)
    np.save(folder / "captured.npy", captured[nodes])


def _write_head(file: BinaryIO, kind: type[np.integer[Any]], count: int) -> None:
    """Write the beginning of a file of NumPy, whose size does not depend on the count."""
    file.seek(0)
    np.lib.format.write_array_header_1_0(
        file, {"descr": np.dtype(kind).str, "fortran_order": False, "shape": (count,)}
    )
