"""The table in odd-files.md: what happens to each record of each odd file.

It also lists the records that two other readers find. ``python -m tests.archives.odd_files FOLDER >
tests/archives/odd-files.md`` writes the table, and a test compares it with the code.
"""

import io
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path

import warcio  # type: ignore[import-untyped]  # it has no types
from fastwarc import ArchiveIterator, WarcRecordType

from arclink.errors import InputError
from arclink.filter.index import index_archive
from arclink.reasons import Reason
from arclink.rows.cdx import read_rows
from arclink.rows.cdx_files import read_lines

ARCHIVES = ("malformed", "formats", "cdx/cdx_writer", "pywb/warcs")
ROWS = (
    "cdx",
    "cdx/cdx_writer",
    "formats",
    "pywb/cdx",
    "pywb/cdxj",
    "pywb/non-surt-cdx",
    "pywb/zipcdx",
)

HEAD = """# Odd files

This page lists the odd files of the tests, with the outcome of each record of archive files and each line of CDX
files. The files are test data of other projects and not in this repository. *Records* is the number of records
that ArcLink finds; each is *kept* or has a [reason](../../docs/reference/reasons.md). *warcio* and *fastwarc* are the numbers
of records that these readers return before they end, with `!` if they end with an error; fastwarc does not read
ARC. A test makes this page again and compares.

Where ArcLink finds fewer records than another reader, the test has the reason (`FEWER_RECORDS`): the other reader
returns something that is not a record.

## Archive files

| file | records | kept | skipped | notes | warcio | fastwarc |
| --- | --- | --- | --- | --- | --- | --- |
"""

CDX_HEAD = """
## CDX and CDXJ files

| file | lines | kept | skipped | notes |
| --- | --- | --- | --- | --- |
"""


def odd_files(shared: Path) -> str:
    """Return the page."""
    archives = "".join(
        _archive_row(path, folder)
        for folder in ARCHIVES
        for path in _files(shared / folder, are_rows=False)
    )
    rows = "".join(
        _cdx_row(path, folder) for folder in ROWS for path in _files(shared / folder, are_rows=True)
    )
    return HEAD + archives + CDX_HEAD + rows


def _files(folder: Path, *, are_rows: bool) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        is_cdx = path.name.endswith((".cdx", ".cdxj", ".cdx.gz"))
        if path.is_file() and path.suffix != ".tsv" and is_cdx is are_rows:
            yield path


def _archive_row(path: Path, folder: str) -> str:
    counts: Counter[Reason] = Counter()
    try:
        kept = sum(1 for _ in index_archive(str(path), path.name, counts))
    except InputError as error:
        what = str(error).replace(str(path), "").partition(";")[0].strip()
        return (
            f"| {folder}/{path.name} | refused: {what} | | | | {_by_warcio(path)} | "
            f"{_by_fastwarc(path)} |\n"
        )
    records = sum(count for reason, count in counts.items() if reason.group == "records")
    skipped, notes = _others(counts, "records"), _others(counts, "notes")
    return (
        f"| {folder}/{path.name} | {records} | {kept} | {skipped} | {notes} | "
        f"{_by_warcio(path)} | {_by_fastwarc(path)} |\n"
    )


def _cdx_row(path: Path, folder: str) -> str:
    counts: Counter[Reason] = Counter()
    lines = list(read_lines(path))
    kept = sum(1 for _ in read_rows(lines, counts))
    return (
        f"| {folder}/{path.name} | {len(lines)} | {kept} | {_others(counts, 'rows')} | "
        f"{_others(counts, 'notes')} |\n"
    )


def _others(counts: Counter[Reason], group: str) -> str:
    kept = (Reason.RECORD_INDEXED, Reason.ROW_KEPT)
    return "; ".join(
        f"{counts[reason]} {reason.text}"
        for reason in Reason
        if counts[reason] and reason.group == group and reason not in kept
    )


def _by_warcio(path: Path) -> str:
    count = 0
    try:
        with path.open("rb") as file, redirect_stderr(io.StringIO()):
            for record in warcio.ArchiveIterator(file):
                record.raw_stream.read()
                count += 1
    except Exception:  # whatever another reader ends with is its error
        return f"{count} !"
    return str(count)


def _by_fastwarc(path: Path) -> str:
    count = 0
    try:
        for record in ArchiveIterator(
            str(path), record_types=WarcRecordType.any_type, parse_http=False
        ):
            record.reader.read()
            count += 1
    except Exception:  # whatever another reader ends with is its error
        return f"{count} !"
    return str(count)


if __name__ == "__main__":
    sys.stdout.write(odd_files(Path(sys.argv[1])))
