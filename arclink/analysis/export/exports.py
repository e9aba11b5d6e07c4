"""`export` writes a store to a file in another tool's format, with a manifest."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arclink.access.formats.statements import RDF, TWG, describe_outlink, ntriples_lines
from arclink.access.reader import Member
from arclink.analysis.export.data_package import ExportTally, manifest_of, write_package
from arclink.analysis.export.graph_formats import (
    MOST_LINKS,
    MOST_NODES,
    write_arcs,
    write_gexf,
    write_graphml,
    write_names,
)
from arclink.analysis.export.graphs import Picture, build_graph, cut, spells_of
from arclink.analysis.export.link_scan import LeftOut, Shown, links_shown
from arclink.analysis.export.queries import ExportFormat, ExportQuery
from arclink.analysis.matrices.slices import Level
from arclink.errors import ExportError
from arclink.extras import analysis_extra
from arclink.files.atomic import written_whole
from arclink.files.spill import Sorted
from arclink.model import ALL_TIME
from arclink.portions import portions
from arclink.store.location import name_of_store
from arclink.store.protocols import OpenStore, Scans
from arclink.uris.surts import surt_of

# N-Quads: every link of a store as RDF, written while the store is read.

_IS_LINK = f" <{RDF}type> <{TWG}Link> .\n".encode()
"""The end of the line that declares a node to be a link; there is one such line per link."""

_AT_ONCE = 5_000
"""Number of lines that are written together."""


def _write_nquads(shown: Iterable[Shown], folder: Path, tally: ExportTally) -> Iterator[bytes]:
    """Yield N-Quads in the profile ``links``: a named node per link.

    The profile is described in `arclink.access.formats.statements`.

    Each statement comes once, in the order of the bytes of its line. Without this, a link in
    several contents would be described once per content, and the target of many links once per
    link.

    Args:
        shown: All links.
        folder: Folder for data that does not fit into memory.
        tally: Receives the number of links (named nodes) and statements.
    """
    lines = Sorted[bytes](folder)
    for one in shown:
        surt = surt_of(one.page)
        for link in dict.fromkeys(one.links):
            member = Member(
                link.target,
                link.kind,
                link.text,
                link.rel,
                tuple(one.timestamps),
                (one.page,),
            )
            for described in ntriples_lines(describe_outlink(member, surt)):
                lines.update(described.splitlines(keepends=True))
    for portion in portions(lines, _AT_ONCE):
        tally.statements += len(portion)
        tally.rows += sum(line.endswith(_IS_LINK) for line in portion)
        yield b"".join(portion)


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Attributes:
        query: The query.
        tally: Counts of what was written and of what was left out.
        files: Size of each file in bytes, by name, without the manifest.
    """

    query: ExportQuery
    tally: ExportTally
    files: Mapping[str, int]


def export(store: Scans, query: ExportQuery, path: Path, where: str = "") -> Exported:
    """Write the export of ``query`` to ``path``, and its manifest to ``path`` with ``.json``.

    Existing files are replaced when everything is written; if anything fails, they stay unchanged.
    A format of several tables is a new folder. An arc list has a third file, ``path`` with
    ``.names``. Memory is limited: a graph is in mapped files of about 100 bytes per pair of linked
    nodes.

    Args:
        store: The store to read.
        query: The query.
        path: The file or folder.
        where: The path or URL of the store: its relations, from which scripts make their tables,
            are kept next to it. If it is empty, they are made for this export.

    Raises:
        ExportError: The folder is missing, nothing was captured in the window, a picture is too
            large for Gephi, or there is already something at the path of a folder.
        UsageError: A package that the format needs is not installed.
        StoreError: The store cannot be reached.
    """
    _check_time(store, query)
    paths = [
        path,
        *([_beside(path, "names")] if query.form is ExportFormat.ARCS else []),
        _beside(path, "json"),
    ]
    tally = ExportTally()
    if query.form.is_folder and path.exists():
        raise ExportError(f"{path} exists. Name a new folder, or remove this one first.")
    with written_whole(paths, ExportError) as temporary_paths:
        *files, manifest = temporary_paths
        if query.form.is_script:
            with analysis_extra():
                from arclink.analysis.export.scripts import write_script
            tally.tables = write_script(query.form, where, store, files[0])
            tally.rows = sum(tally.tables.values())
            files = [one for one in (files[0], *sorted(files[0].rglob("*"))) if one.is_file()]
        elif query.form.is_graph:
            with picture_of(store, query, files[0].parent, where) as picture:
                _write_graph(store, query, picture, files, tally, where)
        else:
            _write_table(store, query, files[0], tally, where)
            if not tally.rows:
                _check_captures(store, query)
        sizes = {
            _printable(str(file.relative_to(manifest.parent))): file.stat().st_size
            for file in files
        }
        exported = Exported(query, tally, sizes)
        facts = manifest_of(store, query, tally, exported.files, name_of_store(where))
        write_package(manifest, facts, dict(zip(sizes, files, strict=True)))
    return exported


@contextmanager
def picture_of(
    store: Scans, query: ExportQuery, folder: Path | None = None, where: str = ""
) -> Iterator[Picture]:
    """Yield the picture of ``query``: the graph at its level, reduced by its rules.

    The arrays of the picture are on disk until the block ends.

    Args:
        store: The store to read.
        query: The query; its format is ignored.
        folder: Folder with space for the arrays; the system's temporary folder if None.
        where: As in `export`.

    Raises:
        UsageError: A package is not installed.
        StoreError: The store cannot be reached.
    """
    with tempfile.TemporaryDirectory(prefix="arclink-graph-", dir=folder) as work:
        yield cut(build_graph(store, query, Path(work), where), query)


def _write_graph(
    store: Scans,
    query: ExportQuery,
    picture: Picture,
    files: list[Path],
    tally: ExportTally,
    where: str,
) -> None:
    if not len(picture.graph.links):
        _check_captures(store, query)
    tally.nodes, tally.links = len(picture.nodes), len(picture.links)
    tally.left_out, tally.cuts = picture.graph.left_out, list(picture.cuts)
    tally.other_kinds = picture.graph.other_kinds
    description = describe(query, picture)
    if query.form is ExportFormat.GEXF:
        _check_size(query, picture)
        spells = spells_of(store, query, picture, files[0], where) if query.is_dynamic else None
        _write(files[0], write_gexf(picture, description, spells))
    elif query.form is ExportFormat.GRAPHML:
        _write(files[0], write_graphml(picture, description))
    else:
        _write(files[0], write_arcs(picture))
        _write(files[1], write_names(picture))


def _write_table(
    store: Scans, query: ExportQuery, path: Path, tally: ExportTally, where: str
) -> None:
    if query.form is ExportFormat.NQUADS:
        left_out = LeftOut()
        shown = links_shown(store, query.links, left_out)
        _write(path, _write_nquads(shown, path.parent, tally))
        tally.other_kinds = left_out.other_kinds
        return
    with analysis_extra():
        from arclink.analysis.export.scripts import write_links
    write_links(query, where, store, path, tally)


def describe(query: ExportQuery, picture: Picture) -> str:
    """Return a description of a graph for users: level, time, and what was left out."""
    links = query.links
    times = (
        "at any time" if links.span == ALL_TIME else f"from {links.span.first} to {links.span.last}"
    )
    when = f"in force at {links.at}" if links.at else f"observed {times}"
    cuts = (
        "; ".join(
            f"{one.rule} left out {one.nodes:,} nodes and {one.links:,} links"
            for one in picture.cuts
        )
        or "nothing was left out"
    )
    spells = f"; spells: {query.spells.value}" if query.is_dynamic else ""
    kinds = f"kinds of links: {links.kinds}"
    return (
        f"Links between {query.level.value}s, {when}; {kinds}; weight: mementos that show "
        f"them{spells}; {cuts}."
    )


def _check_time(store: OpenStore, query: ExportQuery) -> None:
    sums, links = store.sums(), query.links
    first, last = (ALL_TIME.first, links.at) if links.at else (links.span.first, links.span.last)
    if not sums.first:
        raise ExportError("nothing to export: the store, or its subset, has no captures")
    if last < sums.first or first > sums.last:
        raise ExportError(
            f"nothing to export from {first} to {last}: the store has captures from {sums.first} "
            f"to {sums.last}. Choose other times."
        )


def _check_captures(store: Scans, query: ExportQuery) -> None:
    """Refuse a window without captures between the first and the last capture.

    It is called if no link was found.
    """
    span = query.links.span
    if query.links.at or next(store.scan_mementos(span), None) is not None:
        return
    before, after = ALL_TIME.first, ALL_TIME.last
    for memento in store.scan_mementos():
        if memento.timestamp < span.first:
            before = max(before, memento.timestamp)
        else:
            after = min(after, memento.timestamp)
    raise ExportError(
        f"nothing to export from {span.first} to {span.last}: there are no captures from then. "
        f"The nearest captures are from {before} and {after}: choose a range with one of them."
    )


def _check_size(query: ExportQuery, picture: Picture) -> None:
    nodes, links = len(picture.nodes), len(picture.links)
    if nodes <= MOST_NODES and links <= MOST_LINKS:
        return
    ways = (
        []
        if query.level is Level.DOMAIN
        else ["--level host or domain" if query.level is Level.URI else "--level domain"]
    )
    ways += [
        f"--top {MOST_NODES // 100}",
        "--backbone 0.05",
        "--core 3",
        _min_count(picture),
        "--from and --to",
    ]
    raise ExportError(
        f"the graph would have {nodes:,} nodes and {links:,} links, and Gephi shows up to "
        f"{MOST_NODES:,} and {MOST_LINKS:,}. Cut it: {', '.join(way for way in ways if way)}. Or "
        "write the whole graph as graphml, for tools that do not draw it."
    )


def _min_count(picture: Picture) -> str:
    """Return the least ``--min-count`` for a small enough picture, with its size; may be empty."""
    mementos = picture.links["mementos"]
    for count in (2, 3, 5, 10, 20, 50, 100, 1000):
        left = picture.links[mementos >= count]
        nodes = len(np.union1d(left["source"], left["target"]))
        if 0 < len(left) <= MOST_LINKS and nodes <= MOST_NODES:
            return f"--min-count {count} (leaves {nodes:,} nodes and {len(left):,} links)"
    return ""


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("wb") as stream:
        stream.writelines(pieces)


def _printable(name: str) -> str:
    """Return a file name as text for every format; bytes that are not UTF-8 become escapes."""
    return name.encode(errors="backslashreplace").decode()


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")
