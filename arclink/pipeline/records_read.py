"""Which records of its archive files a store has: all of them, or those that an index named.

The manifest of each batch says how the records of its files were found. A file is complete if its
records were found by reading it. If rows of a CDX named them, the file may have more: a later build
skips it for an equal index only. For another index, or without one, the file takes part in a batch
again. Payloads that the store has are not read then, and the store leaves out records that it has
(`arclink.store.protocols.Builds.load`). What was damaged is noted with it.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import orjson

from arclink.archives.byte_sources import special_kind
from arclink.archives.locations import Location, is_wat, known_as, location_of, split_entry
from arclink.archives.marks import of_each, read_mark
from arclink.archives.opener import open_bytes
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.archives.wat import Described, describe, is_described
from arclink.errors import InputError, RecordError, unreadable
from arclink.mapreduce.runs import parts_of
from arclink.model import Batch
from arclink.reasons import Reason
from arclink.rows.cdx import CAPTURES
from arclink.rows.file_ranges import CUT, Finding, parse_finding
from arclink.rows.relations import parse_memento
from arclink.store.protocols import KnownFile, OpenStore

# Pairs of a WAT and the archive file that it describes: only the archive file is read.
#
# The archive file holds more information than its WAT.


def leave_out_described(
    paths: Sequence[Location], known: Mapping[str, KnownFile]
) -> tuple[list[Location], list[str]]:
    """Return the paths without WATs whose archive file is available, and a message per omitted WAT.

    A WAT that the store already has is kept: it was built when only the WAT was available, and the
    build must recognise it as known.

    Args:
        paths: Archive files.
        known: The files that the store has, by name.

    Raises:
        InputError: A WAT cannot be read.
    """
    at_hand: dict[str, list[str]] = {}
    for location in [*map(str, paths), *(file.path for file in known.values())]:
        at_hand.setdefault(location_of(location).name, []).append(location)
    remaining: list[Location] = []
    reasons = []
    for path in paths:
        described = _first_capture(path) if is_wat(path.name) and path.name not in known else None
        candidates = at_hand.get(described.container.rsplit("/", 1)[-1], []) if described else []
        file = next(
            (candidate for candidate in candidates if described and _holds(candidate, described)),
            None,
        )
        if file is None:
            remaining.append(path)
        else:
            reasons.append(f"{path} describes {file}, which is in the input itself")
    return remaining, reasons


def _first_capture(path: Location) -> Described | None:
    with ArchiveFile(str(path)) as records:
        return next(_captures(records.records()), None)


def _captures(records: Iterable[ArchiveRecord | RecordError]) -> Iterator[Described]:
    for record in records:
        try:
            if not isinstance(record, RecordError) and is_described(record):
                described = describe(record)
                if described.capture.record_type in CAPTURES:
                    yield described
        except RecordError:
            continue


def _holds(path: str, described: Described) -> bool:
    """Return whether a file has the capture at the offset that the WAT names.

    A file that can no longer be opened counts as having it, because its name matches.
    """
    try:
        open_bytes(path).close()
    except (OSError, InputError):
        return True
    try:
        with ArchiveFile(path) as records:
            record = records.record_at(described.offset)
    except (InputError, RecordError):
        return False
    return (record.uri, record.timestamp) == (described.capture.uri, described.capture.timestamp)


# Damage: archive files of a batch that are empty, cut short, damaged or do not fit their CDX.
#
# Each fault is described in words and kept in the manifest of its batch. The next build can then
# report a file again that has not changed, and read it again when it has.

_SHOWN = 10
"""Number of files that a message names."""

MANIFEST_FIELD = "damaged files"
"""Name of the manifest field that holds the damage."""


@dataclass(frozen=True, slots=True)
class Damage:
    """The fault of one archive file.

    Attributes:
        file: Name of the file in the graph.
        path: Path or URL of the file.
        size: Bytes in the file.
        offset: Of the first fault, in bytes of the file as stored.
        cause: Description of that fault, with the likely cause and the remedy.
        gave_nothing: Whether no capture of the file could be read.
    """

    file: str
    path: str
    size: int
    offset: int
    cause: str
    gave_nothing: bool

    def __str__(self) -> str:
        nothing = "; no capture of it could be read" if self.gave_nothing else ""
        return f"{self.path}: {self.cause}{nothing}"


def damage_in(
    folder: Path, files: Sequence[KnownFile], with_cdx: Container[str] = ()
) -> list[Damage]:
    """Return the damage of a batch's archive files, from the files in its ``findings`` folder.

    Args:
        folder: Folder of the batch.
        files: Archive files of the batch.
        with_cdx: Names of the files that are read by the rows of a CDX. The other files are
            indexed by reading them.
    """
    findings = _findings_in(folder, files)
    return [
        damage
        for file in files
        if (damage := _damage_of(file, findings.get(file.name, {}), file.name in with_cdx))
        is not None
    ]


def missing_in(folder: Path, files: Sequence[KnownFile]) -> set[str]:
    """Return the names of archive files that could not be opened to read a record.

    Of files that are not in ``files``, they are the names that rows have.
    """
    of_files = _findings_in(folder, files)
    return {
        name
        for name, of_file in of_files.items()
        if any(found.is_missing for found in of_file.values())
    }


def check_given(folder: Path, files: Sequence[KnownFile]) -> str:
    """Return a warning about archive files that rows name and that were not given; or no text.

    Args:
        folder: Folder of the batch.
        files: The archive files that were given.

    Raises:
        InputError: No row names a given file, so nothing was read.
    """
    given = {file.name for file in files}
    missing = sorted(missing_in(folder, files) - given)
    if not missing:
        return ""
    names = ", ".join(missing[:_SHOWN]) + (", …" if len(missing) > _SHOWN else "")
    text = (
        f"{len(missing):,} archive files that rows name were not given, so the links of their "
        f"captures are unknown: {names}"
    )
    if given.isdisjoint(_findings_in(folder, files)):
        raise InputError(
            f"no row names one of the given archive files, such as {files[0].name}; {text}. "
            "Give these files"
        )
    return text


def _findings_in(folder: Path, files: Sequence[KnownFile]) -> dict[str, dict[str, Finding]]:
    """Return the findings of a batch by name of the archive file and by stage."""
    findings: dict[str, dict[str, Finding]] = {}
    names = {file.name for file in files}
    for part in parts_of(folder / "findings"):
        for line in part.read_bytes().splitlines():
            finding = parse_finding(line)
            of_file = findings.setdefault(known_as(finding.file, names) or finding.file, {})
            if finding.stage in of_file:
                of_file[finding.stage].add(finding)
            else:
                of_file[finding.stage] = finding
    return findings


def _damage_of(file: KnownFile, of_stages: Mapping[str, Finding], has_cdx: bool) -> Damage | None:
    index, extract = of_stages.get("index"), of_stages.get("extract")
    faults = [finding for finding in (index, extract) if finding and finding.failed]
    if extract and extract.is_missing:
        nothing = not extract.read
        cause = "missing when its records were to be read; put it back and repeat the command"
        return Damage(file.name, file.path, file.size, 0, cause, nothing)
    if file.size == 0:
        return Damage(file.name, file.path, 0, 0, "empty: 0 bytes; fetch or copy it again", True)
    if index and not index.records and not index.failed:
        cause = f"no record in its {file.size:,} bytes; fetch or copy it again"
        return Damage(file.name, file.path, file.size, 0, cause, True)
    if not faults:
        return None
    gave_nothing = any(finding.failed and not finding.read for finding in faults)
    first = faults[0]
    cause = _cause_with_cdx(first, file.size) if has_cdx else _cause(first, file.size)
    return Damage(file.name, file.path, file.size, first.offset, cause, gave_nothing)


def _cause(finding: Finding, size: int) -> str:
    """Return a fault in words: what is wrong, where, and what to do."""
    more = f", and {finding.failed - 1:,} more faults" if finding.failed > 1 else ""
    what = "cut short" if finding.detail.startswith(CUT) else "damaged"
    where = f"at byte {finding.offset:,} of {size:,}"
    return f"{what}: {finding.detail} {where}{more}; fetch or copy it again"


def _cause_with_cdx(finding: Finding, size: int) -> str:
    """Return a fault in words for a file read by CDX rows, where the rows may be what is wrong."""
    if finding.offset < size and finding.detail.startswith(CUT):
        return _cause(finding, size)
    named = f"{finding.failed:,} of {finding.failed + finding.read:,} records that its CDX lists"
    if finding.offset >= size:
        return (
            f"{named} are past its end, the first at byte {finding.offset:,} of {size:,}: the file "
            "is truncated, or the CDX belongs to another version of it; fetch or copy it again, or "
            "use its own CDX or none"
        )
    mismatch = "another record is there"
    detail = mismatch if finding.reason == Reason.PAYLOAD_OTHER_RECORD.name else finding.detail
    return (
        f"{named} are not at these places, the first at byte {finding.offset:,} of {size:,} "
        f"({detail}): the CDX belongs to another version of the file, or the file is damaged; use "
        "its own CDX, or none"
    )


def to_manifest(damaged: Iterable[Damage]) -> list[dict[str, object]]:
    """Return damage in the form that a manifest stores."""
    return [asdict(damage) for damage in damaged]


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
