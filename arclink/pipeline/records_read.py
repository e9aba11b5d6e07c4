"""Which records of its archive files a store has: all of them, or those that an index named.

The manifest of each batch says how the records of its files were found. A file is complete if its
records were found by reading it. If rows of a CDX named them, the file may have more: a later build
skips it for an equal index only. For another index, or without one, the file takes part in a batch
again. Payloads that the store has are not read then, and the store leaves out records that it has
(`arclink.store.protocols.Builds.load`).
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import orjson

from arclink.archives.byte_sources import special_kind
from arclink.archives.locations import Location, location_of, split_entry
from arclink.archives.marks import of_each, read_mark
from arclink.archives.names import known_as
from arclink.errors import InputError, unreadable
from arclink.mapreduce.runs import parts_of
from arclink.model import Batch
from arclink.pipeline.damage import MANIFEST_FIELD, Damage
from arclink.reasons import Reason
from arclink.rows.relations import parse_memento
from arclink.store.protocols import KnownFile, OpenStore

READ_FIELD = "records read"
"""Name of the manifest field with the files that were read: `ALL`, or the digest of the index."""

INDEXES_FIELD = "indexes"
"""Name of the manifest field with the paths of the CDX files of a batch."""

ALL = "all"

_UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Index:
    """The CDX files of a build.

    Attributes:
        paths: From `arclink.rows.cdx_files.find_cdx`.
        digest: Distinguishes them from others; empty if they can be read once only.
    """

    paths: Sequence[Location] = ()
    digest: str = _UNKNOWN

    @classmethod
    def of(cls, paths: Sequence[Location]) -> "Index":
        """Return the index in these files.

        Raises:
            InputError: One cannot be read.
        """
        if not paths or any(isinstance(path, Path) and special_kind(path) for path in paths):
            return cls(paths)
        marks = sorted(of_each(_mark_of, paths))
        return cls(paths, sha256(orjson.dumps(marks)).hexdigest()[:16])


def _mark_of(path: Location) -> str:
    """Return a text that distinguishes a CDX file; a row may change inside of a local one."""
    entry = split_entry(str(path))
    if entry:  # an index may be compressed in its WACZ
        return f"{read_mark(location_of(entry[0])).fingerprint} {entry[1]}"
    if isinstance(path, Path):
        try:
            with path.open("rb") as file:
                return file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise unreadable(f"{path}: cannot be read: {error.strerror}", error) from error
    return read_mark(path).fingerprint


NO_INDEX = Index()
"""The index of a build without CDX files."""


@dataclass(slots=True)
class StoredFile:
    """What a store knows about one archive file.

    Attributes:
        fingerprint: Of the file when it was read last.
        read: How its records were found: `ALL`, or digests of indexes; empty if it is not known.
        damage: Its fault when it was read last.
    """

    fingerprint: str
    read: set[str] = field(default_factory=set)
    damage: Damage | None = None

    def has_records_of(self, index: Index) -> bool:
        """Return whether the store has all records that a build with this index would read."""
        return ALL in self.read or (index.digest != _UNKNOWN and index.digest in self.read)


def stored_files(store: OpenStore) -> dict[str, StoredFile]:
    """Return the facts that a store has about its archive files, by name."""
    known: dict[str, StoredFile] = {}
    for batch in store.batches():
        manifest = manifest_of(batch)
        read = _read_in(manifest)
        for file in manifest.get("files", ()):
            name, fingerprint = file["name"], file["fingerprint"]
            stored = known.get(name)
            if stored is None or stored.fingerprint != fingerprint:
                stored = known[name] = StoredFile(fingerprint)
            stored.damage = None
            if how := read.get(name):
                stored.read.add(how)
        for fault in manifest.get(MANIFEST_FIELD, ()):
            if fault["file"] in known:
                known[fault["file"]].damage = Damage(**fault)
    return known


def indexes_of(store: OpenStore) -> Iterator[str]:
    """Yield the path or URL of each CDX file of each batch."""
    for batch in store.batches():
        yield from manifest_of(batch).get(INDEXES_FIELD, ())


def known_damage(store: OpenStore) -> dict[str, Damage]:
    """Return the damage of a store's archive files by name, as found when each was last read."""
    return {name: file.damage for name, file in stored_files(store).items() if file.damage}


def manifest_of(batch: Batch) -> Mapping[str, Any]:
    """Return the manifest of a batch; empty if it cannot be read, which `verify` reports."""
    try:
        manifest = orjson.loads(batch.manifest)
    except orjson.JSONDecodeError:
        manifest = None
    # A manifest that was made by hand may be any text.
    return manifest if isinstance(manifest, dict) else {}


def _read_in(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """Return how the records of each file of a batch were found, where it is known.

    Older manifests say only how many files were indexed: it is known if these are all.
    """
    if READ_FIELD in manifest:
        recorded: Mapping[str, str] = manifest[READ_FIELD]
        return recorded
    names = [file["name"] for file in manifest.get("files", ())]
    indexed = manifest.get("counts", {}).get("files", {}).get(Reason.FILE_INDEXED.name, 0)
    return dict.fromkeys(names, ALL) if indexed == len(names) else {}


def how_read(
    files: Sequence[KnownFile], named: Container[str], missing: Container[str], index: Index
) -> dict[str, str]:
    """Return how the records of the files of a batch were found, for its manifest.

    Args:
        files: The files of the batch.
        named: Names of those that rows of the index name.
        missing: Names of those that could not be opened: nothing of them was read.
        index: The index of the build.
    """
    return {
        file.name: index.digest if file.name in named else ALL
        for file in files
        if file.name not in missing
    }


def check_read(graph: Path, files: Sequence[KnownFile]) -> tuple[list[KnownFile], int]:
    """Return the archive files of graph files, and the number of payloads whose file was missing.

    Args:
        graph: Folder of the graph files, on this machine.
        files: The archive files that the stages were given. Those without a memento are left out.

    Raises:
        InputError: The file of every payload was missing, so there is nothing to load.
    """
    reasons = Counter(
        row.split(b"\t", 6)[5] for part in parts_of(graph / "payloads") for row in _rows_of(part)
    )
    missing = reasons[Reason.PAYLOAD_FILE_MISSING.name.encode()]
    if missing and missing == reasons.total():
        raise InputError(
            f"{graph}: the archive files of all {missing:,} payloads were missing. Give them to "
            "`arclink extract`, run `arclink graph` again, and then load"
        )
    names = {file.name for file in files}
    named = {
        known_as(parse_memento(row).file, names)
        for part in parts_of(graph / "mementos")
        for row in _rows_of(part)
    }
    return [file for file in files if file.name in named], missing


def _rows_of(part: Path) -> Iterator[bytes]:
    with part.open("rb") as rows:
        for row in rows:
            yield row.rstrip(b"\n")
