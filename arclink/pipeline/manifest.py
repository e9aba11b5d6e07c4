"""The manifest of a batch: what went in, with which settings and versions, and what became of all of it."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version

import orjson

from arclink import __version__
from arclink.pipeline.counts import Counts, by_group
from arclink.store import ArchiveFile

FORMAT = 2
VERSIONS_OF = ("selectolax", "surt", "ada-url", "chardet", "webencodings", "mrjob")
"""Packages that can change what a graph holds."""


def format_manifest(
    files: Sequence[ArchiveFile], settings: Mapping[str, str], counts: Counts, rows: int, seconds: Mapping[str, float]
) -> str:
    """Return the manifest as JSON.

    Args:
        files: The archive files of the batch.
        settings: What shapes the graph, by name.
        counts: Of all stages.
        rows: CDX rows that filter was given, counted apart from ``counts``.
        seconds: CPU seconds by job.
    """
    groups = by_group(counts)
    manifest = {
        "format": FORMAT,
        "files": [asdict(file) for file in files],
        "settings": dict(settings),
        "versions": {"arclink": __version__, "python": platform.python_version(), **_versions()},
        "rows given": rows,
        "totals": {group: sum(named.values()) for group, named in groups.items()},
        "counts": groups,
        "cpu seconds": {name: round(value, 2) for name, value in seconds.items()},
    }
    return orjson.dumps(manifest, option=orjson.OPT_INDENT_2).decode()


def _versions() -> dict[str, str]:
    found = {}
    for name in VERSIONS_OF:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
