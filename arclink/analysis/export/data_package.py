"""Data packages: the manifest of an export, with the hashes of its files and their origin.

The manifest of an export, ``FILE.json``, is the descriptor of a data package. Its files are
``resources`` with SHA-256, the archive files of the store are ``sources``. The other fields are
ArcLink's own, which the standard allows.

Source: Data Package 2.0, https://datapackage.org/. A WACZ has one by the same standard, 1.0.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import ClassVar, Protocol

import orjson

from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter, Given
from arclink.access.provenance import provenance_of, today
from arclink.archives.warc_fields import now_as_warc_date
from arclink.model import ALL_TIME, Span
from arclink.store.protocols import Scans
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
        "written": now_as_warc_date(),
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
        "created": now_as_warc_date(),
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
