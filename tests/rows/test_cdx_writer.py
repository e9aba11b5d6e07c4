"""ArcLink's index of odd files, and that of another program; cdx-writer.md has the differences."""

import re
from collections import Counter
from pathlib import Path

import pytest

from arclink.errors import CdxError
from arclink.filter.index import index_archive
from arclink.reasons import Reason
from arclink.rows.cdx import Capture, parse_row

ROOT = Path(__file__).resolve().parents[2]
FIELDS = ("key", "timestamp", "original", "mime", "status", "checksum", "length", "record_type")
UNKNOWN = ("-", "unk")


def theirs(path: Path) -> dict[int, Capture | None]:
    """Return the captures in a CDX by offset; None for one that cannot be placed in time."""
    captures: dict[int, Capture | None] = {}
    for line in path.read_bytes().splitlines():
        try:
            capture = parse_row(line)
        except CdxError as error:
            if error.reason is Reason.ROW_MALFORMED:
                captures[int(line.split()[-2])] = None
        else:
            captures[capture.offset] = capture
    return captures


def ours(path: Path) -> dict[int, Capture]:
    counts: Counter[Reason] = Counter()
    captures = [parse_row(row) for row in index_archive(str(path), path.name, counts)]
    return {capture.offset: capture for capture in captures}


def differences(path: Path) -> set[tuple[str, str, str, str]]:
    """Return file, field, theirs and ours, wherever the two disagree."""
    name = path.name
    cdx = path.with_name(f"{name}.all.cdx")
    if not cdx.exists():
        return set()
    other, own = theirs(cdx), ours(path)
    found = {(name, "row", "-", "no row") for offset in other.keys() - own.keys()}
    found |= {
        (name, "row", "no row", capture.original)
        for offset, capture in own.items()
        if offset not in other
    }
    for offset, capture in own.items():
        row = other.get(offset)
        for field in FIELDS if row else ():
            one, two = str(getattr(row, field)), str(getattr(capture, field))
            if one != two and not (field == "mime" and {one, two} == set(UNKNOWN)):
                found.add((name, field, one, two))
    return found


def documented() -> set[tuple[str, str, str, str]]:
    text = (ROOT / "tests/rows/cdx-writer.md").read_text("utf-8")
    rows = re.findall(
        r"^\| `([^`]+)` \| (\w[\w ]*) \| `([^`]+)` \| `([^`]+)` \| [A-Z].{10,} \|$",
        text,
        re.MULTILINE,
    )
    return {
        (name, field.replace("record type", "record_type"), one, two)
        for name, field, one, two in rows
    }


@pytest.fixture(scope="module")
def archives(shared_data: Path) -> list[Path]:
    found = sorted((shared_data / "cdx/cdx_writer").glob("*.gz"))
    assert len(found) == 34
    return found


def test_every_difference_is_explained(archives: list[Path]) -> None:
    assert set().union(*map(differences, archives)) == documented()


def test_the_default_rows_are_those_of_all_records(archives: list[Path]) -> None:
    """What it writes by default leaves out records, and changes none."""
    compared = 0
    for path in archives:
        defaults = path.with_name(f"{path.name}.defaults.cdx")
        if defaults.exists():
            everything = (
                theirs(path.with_name(f"{path.name}.all.cdx"))
                if path.with_name(f"{path.name}.all.cdx").exists()
                else ours(path)
            )
            for offset, capture in theirs(defaults).items():
                assert everything[offset] == capture
                compared += 1
    assert compared == 29
