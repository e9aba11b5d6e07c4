"""What stands beside each export: what it holds, of what, what was left out, and why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from arclink import __version__
from arclink.export.cutting import Cut
from arclink.export.queries import ExportQuery
from arclink.model import ALL_TIME
from arclink.store import GraphStore


@dataclass(slots=True)
class Tally:
    """What was written, counted while it is.

    Attributes:
        rows: Of a table; 0 of a graph.
        nodes: Of a graph; 0 of a table.
        links: Of a graph; 0 of a table.
        left_out: Links (link and memento) that have no place at the level: one end has no host.
        cuts: What was asked to be left out: of a graph nodes and links, of a table of counts rows and links.
    """

    rows: int = 0
    nodes: int = 0
    links: int = 0
    left_out: int = 0
    cuts: list[Cut] = field(default_factory=list)


def manifest_of(store: GraphStore, query: ExportQuery, tally: Tally, files: Mapping[str, int]) -> Mapping[str, object]:
    """Return the manifest as JSON has it (``docs/export.md``, *Manifest*).

    Args:
        store: That was read.
        query: What was asked.
        tally: What was written.
        files: Bytes of each file, by name.
    """
    links = query.links
    return {
        "arclink": __version__,
        "written": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "format": query.form.value,
        "level": query.level.value,
        "from": links.span.first if links.span.first != ALL_TIME.first else None,
        "to": links.span.last if links.span.last != ALL_TIME.last else None,
        "at": links.at,
        "kinds": sorted(links.kinds) or None,
        "redirects": links.redirects.value,
        "spells": query.spells.value if query.is_dynamic else None,
        "counts": {"nodes": tally.nodes, "links": tally.links} if query.form.is_graph else {"rows": tally.rows},
        "cut": [{"rule": cut.rule, "nodes" if query.form.is_graph else "rows": cut.nodes, "links": cut.links} for cut in tally.cuts],
        "without_host": tally.left_out,
        "batches": store.last_batch(),
        "files": files,
    }


def summary(query: ExportQuery, tally: Tally, files: Mapping[str, int]) -> Iterator[str]:
    """Yield what was written, as lines for people."""
    is_graph = query.form.is_graph
    yield f"{tally.nodes:,} nodes, {tally.links:,} links" if is_graph else f"{tally.rows:,} rows"
    for rule, nodes, links in tally.cuts:
        yield f"{rule} left out {nodes:,} {'nodes' if is_graph else 'rows'} and {links:,} links"
    if tally.left_out:
        yield f"{tally.left_out:,} links of mementos left out: one end has no host, such as mailto:"
    for name, size in files.items():
        yield f"{name}: {size:,} bytes"
