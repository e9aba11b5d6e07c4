"""How often pages stayed the same from crawl to crawl, and what one copy of each would save.

Source: the Cornell Web library, 2.1.1: it kept one copy of each content, and "surprisingly, there
is as yet very little data about how many pages remain unchanged between crawls".
"""

from collections.abc import Iterator, Mapping

from arclink.access.common import SUBSET
from arclink.access.formats.rows import RowAnswer
from arclink.access.provenance import provenance_of
from arclink.access.texts import counted
from arclink.analysis.relations.asking import ask
from arclink.analysis.relations.database import RelationsDatabase
from arclink.archives.names import WAT_SUFFIXES
from arclink.checksums import EMPTY_CHECKSUMS
from arclink.store.protocols import Scans

_SHOWN = ("period", "captures", "first", "same", "changed", "unknown", "payloads", "revisits")
_BYTES = ("bytes", "revisit_bytes", "saved_bytes")


def count_duplicates(database: RelationsDatabase, store: Scans, archive: str) -> RowAnswer:
    """Return the counts by month or year, and in total, for all formats of rows.

    Args:
        database: The relations of the store.
        store: The store, or the part of it that is counted.
        archive: Name of the archive; may be empty.

    Raises:
        OperatorError: The files of the relations cannot be read.
        StoreError: The store cannot be read.
    """
    values = {"empty": sorted(EMPTY_CHECKSUMS), "wat": WAT_SUFFIXES}
    *periods, whole = ask(database, "common", "duplicates", values=values)
    total = {name: value for name, value in whole.items() if name != "period"}
    return RowAnswer(
        {"total": total},
        [*_lines(total), *([""] if periods else [])],
        ["period", *total],
        {"periods": periods},
        shown=[*_SHOWN, *_BYTES],
        types={"period": "string", **dict.fromkeys(total, "int64")},  # `first` is no time here
        provenance=provenance_of(store, archive, "stats --duplicates", declared=(SUBSET,)),
    )


def _lines(total: Mapping[str, int]) -> Iterator[str]:
    """Yield the total in sentences; what is not known is said apart."""
    same, known = total["same"], total["same"] + total["changed"]
    yield f"{counted(total['captures'], 'capture')} of {counted(total['first'], 'URI')}"
    yield f"{same:,} of {known:,} captures have the payload of the one before{_share(same, known)}"
    if total["unknown"]:
        yield f"{total['unknown']:,} more may have it: one of the two payloads is unknown"
    full, saved = total["bytes"] - total["revisit_bytes"], total["saved_bytes"]
    yield (
        f"One copy of each payload would save {saved:,} of {full:,} bytes of records"
        f"{_share(saved, full)}; {counted(total['revisits'], 'revisit')} with "
        f"{total['revisit_bytes']:,} bytes saved theirs already"
    )
    if total["unknown_bytes"]:
        yield f"The bytes of {counted(total['unknown_bytes'], 'record')} are unknown"


def _share(part: int, whole: int) -> str:
    return f" ({part / whole:.1%})" if whole else ""
