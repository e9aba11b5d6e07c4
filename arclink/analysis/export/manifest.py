"""The manifest next to each export: its contents, its source, what was left out, and why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from arclink.access.kinds import kinds_line
from arclink.analysis.export.data_package import Facts, origin_of
from arclink.analysis.export.queries import ExportFormat, ExportQuery
from arclink.store.protocols import Scans


class Cut(NamedTuple):
    """The effect of one rule.

    Attributes:
        rule: The option, with its value.
        nodes: Number of nodes that it removed.
        links: Number of links that it removed.
    """

    rule: str
    nodes: int
    links: int


@dataclass(slots=True)
class ExportTally:
    """Counts of what was written, updated during the export.

    Attributes:
        rows: Rows of a table; 0 for a graph.
        statements: Distinct statements of RDF; ``rows`` is then the number of links that they
            describe.
        nodes: Nodes of a graph; 0 for a table.
        links: Links of a graph; 0 for a table.
        tables: Rows of each table, for formats with several.
        left_out: Links (link and memento) without a place at the level: one end has no host.
        other_kinds: Links (link and memento) of kinds that the query excludes.
        cuts: The effects of rules: removed nodes and links of a graph, or removed rows and links of
            a table of counts.
    """

    rows: int = 0
    statements: int = 0
    nodes: int = 0
    links: int = 0
    tables: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0
    other_kinds: int = 0
    cuts: list[Cut] = field(default_factory=list)


def manifest_of(
    store: Scans,
    query: ExportQuery,
    tally: ExportTally,
    files: Mapping[str, int],
    archive: str = "",
) -> Facts:
    """Return the manifest as a JSON object (``docs/reference/exports.md``, *Manifest*).

    Args:
        store: The store that was read.
        query: The query.
        tally: Counts of what was written.
        files: Size of each file in bytes, by name.
        archive: Name of the archive; may be empty.
    """
    links = query.links
    return {
        **origin_of(store, query, links.span, archive),
        "level": query.level.value,
        "at": links.at,
        "kinds": list(links.kinds.words),
        "redirects": links.redirects.value,
        "spells": query.spells.value if query.is_dynamic else None,
        "counts": _counts(query, tally),
        "cut": [
            {
                "rule": cut.rule,
                "nodes" if query.form.is_graph else "rows": cut.nodes,
                "links": cut.links,
            }
            for cut in tally.cuts
        ],
        "without_host": tally.left_out,
        "other_kinds": tally.other_kinds,
        "files": files,
    }


def _counts(query: ExportQuery, tally: ExportTally) -> Mapping[str, object]:
    if query.form.is_script:
        return {"rows": tally.rows, "tables": tally.tables}
    if query.form.is_graph:
        return {"nodes": tally.nodes, "links": tally.links}
    if query.form is ExportFormat.NQUADS:
        return {"rows": tally.rows, "statements": tally.statements}
    return {"rows": tally.rows}


def summary(query: ExportQuery, tally: ExportTally, files: Mapping[str, int]) -> Iterator[str]:
    """Yield lines for users about what was written."""
    is_graph = query.form.is_graph
    if query.form is ExportFormat.NQUADS:
        yield f"{tally.rows:,} links, {tally.statements:,} statements"
    else:
        yield (
            f"{tally.nodes:,} nodes, {tally.links:,} links" if is_graph else f"{tally.rows:,} rows"
        )
    for table, rows in tally.tables.items():
        yield f"{table}: {rows:,} rows"
    if not query.form.is_script:
        yield kinds_line(query.links.kinds)
    for rule, nodes, links in tally.cuts:
        yield f"{rule} left out {nodes:,} {'nodes' if is_graph else 'rows'} and {links:,} links"
    if tally.left_out:
        yield (
            f"{tally.left_out:,} links of mementos were left out because one end has no host, "
            "such as mailto:"
        )
    if tally.other_kinds:
        wider = "" if tally.links or tally.rows else "; --kinds all includes them"
        yield (
            f"{tally.other_kinds:,} links of mementos were left out because they are of other "
            f"kinds{wider}"
        )
    if query.form.is_folder:
        yield f"{len(files)} files with {sum(files.values()):,} bytes"
        return
    for name, size in files.items():
        yield f"{name}: {size:,} bytes"
