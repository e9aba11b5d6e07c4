"""Damage: archive files of a batch that are empty, cut short, damaged or do not fit their CDX.

Each fault is described in words and kept in the manifest of its batch. The next build can then
report a file again that has not changed, and read it again when it has.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from arclink.archives.names import known_as
from arclink.errors import InputError
from arclink.mapreduce.runs import parts_of
from arclink.reasons import Reason
from arclink.rows.findings import CUT, Finding, parse_finding
from arclink.store.protocols import KnownFile

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
