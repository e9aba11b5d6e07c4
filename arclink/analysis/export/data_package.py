"""Data packages: the manifest of an export, with the hashes of its files and their origin.

The manifest of an export, ``FILE.json``, is the descriptor of a data package. Its files are
``resources`` with SHA-256, the archive files of the store are ``sources``. The other fields are
ArcLink's own, which the standard allows.

Source: Data Package 2.0, https://datapackage.org/. A WACZ has one by the same standard, 1.0.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

import orjson

from arclink.access.declarations import SUBSET, AnyParameter, Given
from arclink.access.kinds import kinds_line
from arclink.access.provenance import provenance_of, today
from arclink.analysis.export.queries import ExportFormat, ExportQuery
from arclink.model import ALL_TIME, Span
from arclink.store.protocols import Scans
from arclink.timestamps import now_in_iso
from arclink.version import VERSION, versions_of

_SCHEMA = "https://datapackage.org/profiles/2.0/datapackage.json"
_PACKAGES = ("duckdb", "igraph", "isal", "numpy", "pyarrow", "scipy", "zstandard")
"""Packages whose version can change an export."""

Facts = Mapping[str, object]


class ExportAsked(Protocol):
    """A query for an export, which has the parameters as the caller gave them."""

    DECLARED: ClassVar[tuple[AnyParameter, ...]]

    @property
    def form(self) -> Enum: ...

    @property
    def given(self) -> Given: ...


def origin_of(
    store: Scans, query: ExportAsked, span: Span, archive: str, files: Container[str] | None = None
) -> Facts:
    """Return the fields about the origin of an export.

    Args:
        store: The store, or the part of it that was exported.
        query: The query.
        span: The times of the captures; without limits they are None.
        archive: Name of the archive; may be empty.
        files: Names of the archive files that were read; if None, all that have its captures.
    """
    counts: Counter[tuple[str, str]] = Counter()
    builds: list[dict[str, object]] = []
    for batch in store.batches():
        try:
            made = orjson.loads(batch.manifest)
        except orjson.JSONDecodeError:
            made = {}  # a batch that was made by hand: `verify` reports it
        build = {name: made.get(name) for name in ("settings", "versions")}
        if not builds or any(builds[-1][name] != build[name] for name in build):
            builds.append({"first_batch": batch.number, "last_batch": batch.number, **build})
        builds[-1]["last_batch"] = batch.number
        for group, reasons in made.get("counts", {}).items():
            counts.update({(group, reason): count for reason, count in reasons.items()})
    groups: dict[str, dict[str, int]] = {}
    for (group, reason), count in counts.items():
        groups.setdefault(group, {})[reason] = count
    provenance = provenance_of(store, archive, "export", query.given, (*query.DECLARED, SUBSET))
    return {
        "provenance": provenance.as_fields(today()),
        "arclink": VERSION,
        "written": now_in_iso(),
        "versions": versions_of(*_PACKAGES),
        "format": query.form.value,
        "subset": store.selection or None,
        "from": span.first if span.first != ALL_TIME.first else None,
        "to": span.last if span.last != ALL_TIME.last else None,
        "batches": store.last_batch(),
        "builds": builds,
        "build_counts": groups,
        "sources": [
            {"title": file.name, "bytes": file.size, "fingerprint": file.fingerprint}
            for file in (store.files() if files is None else store.whole.files())
            if files is None or file.name in files
        ],
    }


def package_of(name: str, description: str, resources: Sequence[Facts]) -> Facts:
    """Return the fields of the standard, as a WACZ has them, too."""
    return {
        "profile": "data-package",
        "title": name,
        "description": description,
        "created": now_in_iso(),
        "resources": resources,
    }


def resource_of(path: str, sha256: str, size: int) -> Facts:
    """Return the fields about one file; ``path`` is below the folder of the package."""
    name = path.rpartition("/")[2].lower()
    return {"name": name, "path": path, "hash": f"sha256:{sha256}", "bytes": size}


def write_package(manifest: Path, facts: Facts, files: Mapping[str, Path]) -> None:
    """Write the manifest of an export.

    Args:
        manifest: Its path.
        facts: Its fields about the export.
        files: The files, by their paths below its folder.
    """
    resources = [
        {
            **resource_of(path, *_digest_of(file)),
            "name": _name_of(path),
            "format": path.rpartition(".")[2].lower(),
        }
        for path, file in files.items()
    ]
    name = manifest.name.removesuffix(".json")
    shown = name.encode(errors="backslashreplace").decode()
    package = package_of(shown, str(facts.get("selection", "links of a web archive")), resources)
    names = {"$schema": _SCHEMA, "name": _name_of(shown)}
    manifest.write_bytes(
        orjson.dumps(
            {**names, **package, **facts}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        )
    )


def _name_of(path: str) -> str:
    """Return a path as a name that the standard allows.

    >>> _name_of("Links (2).csv")
    'links-2-.csv'
    """
    return re.sub(r"[^-a-z0-9._/]+", "-", path.lower())


def _digest_of(path: Path) -> tuple[str, int]:
    """Return SHA-256 and size of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()


# The manifest next to each export: its contents, its source, what was left out, and why.


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
