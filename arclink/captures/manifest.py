"""The manifest of captures in files: their selection, counts by reason, and added originals."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from arclink.captures.queries import TakeAwayQuery
from arclink.captures.tally import TakeAwayTally
from arclink.model import ALL_TIME
from arclink.store.protocols import OpenStore
from arclink.version import VERSION


def manifest_of(
    store: OpenStore,
    query: TakeAwayQuery,
    selection: str,
    tally: TakeAwayTally,
    files: Mapping[str, int],
) -> Mapping[str, object]:
    """Return the manifest as a JSON object (``docs/how-to/take-away.md``, *Manifest*).

    Args:
        store: The store that was read.
        query: The query.
        selection: The captures in words.
        tally: Counts.
        files: Size of each file in bytes, by name.
    """
    span = query.span
    return {
        "arclink": VERSION,
        "written": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "format": query.form.value,
        "selection": selection,
        "from": span.first if span.first != ALL_TIME.first else None,
        "to": span.last if span.last != ALL_TIME.last else None,
        "checked": query.is_checked,
        "counts": tally.counts() if query.form.has_records else {"captures": tally.captures},
        "added_originals": [asdict(one) for one in tally.added_named],
        "batches": store.last_batch(),
        "files": files,
    }
