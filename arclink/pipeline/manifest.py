"""The manifest of a batch: its files, settings and versions, and the counts of every outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import orjson

from arclink.counts import Counts, by_group
from arclink.pipeline.records_read import (
    INDEXES_FIELD,
    MANIFEST_FIELD,
    NO_INDEX,
    READ_FIELD,
    Damage,
    Index,
    to_manifest,
)
from arclink.store.graph_files import AFTER_FIELD
from arclink.store.protocols import KnownFile
from arclink.timestamps import now_in_iso
from arclink.version import versions_of

FORMAT = 2
_VERSIONS_OF = ("selectolax", "surt", "ada-url", "chardet", "webencodings", "mrjob")
"""Packages whose version can change a graph."""


def format_manifest(
    files: Sequence[KnownFile],
    settings: Mapping[str, str],
    counts: Counts,
    rows: int,
    seconds: Mapping[str, float],
    damaged: Sequence[Damage] = (),
    read: Mapping[str, str] | None = None,
    index: Index = NO_INDEX,
    after: int = 0,
) -> str:
    """Return the manifest of a batch that is loaded now, as JSON.

    Args:
        files: Archive files of the batch.
        settings: Settings that shape the graph, by name.
        counts: Counts by reason of all stages.
        rows: Number of CDX rows given to filter, counted separately from ``counts``.
        seconds: CPU seconds by job.
        damaged: Files of the batch that are empty, cut short or damaged.
        read: From `arclink.pipeline.records_read.how_read`; if not given, the next build reads the
            files again.
        index: The index of the build.
        after: The last batch before this one, if one of the files was read before; else 0.
    """
    groups = by_group(counts)
    manifest = {
        "format": FORMAT,
        "loaded": now_in_iso(),
        "files": [asdict(file) for file in files],
        MANIFEST_FIELD: to_manifest(damaged),
        **({AFTER_FIELD: after} if after else {}),
        READ_FIELD: dict(read or {}),
        INDEXES_FIELD: [str(path) for path in index.paths],
        "settings": dict(settings),
        "versions": versions_of(*_VERSIONS_OF),
        "rows given": rows,
        "totals": {group: sum(named.values()) for group, named in groups.items()},
        "counts": groups,
        "cpu seconds": {name: round(value, 2) for name, value in seconds.items()},
    }
    return orjson.dumps(manifest, option=orjson.OPT_INDENT_2).decode()
