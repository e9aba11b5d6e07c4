"""How far each filter rule alone reduces a collection, and how far all do (paper, Table 2).

Filter applies all rules in one pass and counts for each how many captures fail it, so the table
costs nothing more. ``pig/table2.pig`` makes the same rows from a CDX.
"""

from collections.abc import Iterable, Sequence

from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.texts import counted
from arclink.counts import Counts, by_group, from_counters
from arclink.errors import UsageError
from arclink.filter.rules import DEFAULT_RULES, Rules
from arclink.model import Batch
from arclink.pipeline.records_read import manifest_of
from arclink.reasons import Reason

INCLUDE, EXCLUDE = "INCLUDE", "EXCLUDE"

_COLUMNS = ("type", "rule", "records", "share", "cpu_seconds", "parameter")

_ROWS = [reason for reason in Reason if reason.group == "rows" and reason is not Reason.ROW_KEPT]

_MOST_VALUES = 4
"""Largest number of values of a rule in its row."""


def rule_table(
    counts: Counts,
    rules: Rules,
    seconds: float | None = None,
    *,
    batches: int = 1,
    unknown: int = 0,
) -> RowAnswer:
    """Return a row per rule with the captures that it alone would leave, and their share of all.

    The first row is the collection without rules, the last one has the captures that all rules
    together leave: those that are read, with redirects unless the rules say otherwise.

    Args:
        counts: Of filter. The reasons of ``rows`` are the fields before the rows.
        rules: The rules of this filter.
        seconds: CPU seconds of filter; None if unknown.
        batches: Number of batches that were counted.
        unknown: Number of further batches of which the counts are unknown.
    """
    kept = counts[Reason.ROW_KEPT]
    mime = (*rules.mimes, *(f"not {mime}" for mime in rules.mimes_excluded))
    checksum = ("duplicates",) if rules.checksum else ()
    alone = [
        (INCLUDE, "status", rules.statuses, Reason.RULE_STATUS),
        (INCLUDE if rules.mimes else EXCLUDE, "mime", mime, Reason.RULE_MIME),
        (EXCLUDE, "extension", rules.extensions_excluded, Reason.RULE_EXTENSION),
        (EXCLUDE, "checksum", checksum, Reason.RULE_CHECKSUM),
    ]
    left = {
        "no rule": ("", kept, ""),
        **{
            name: (kind if values else "", kept - counts[failing], _in_words(values))
            for kind, name, values, failing in alone
        },
        "all": ("", counts[Reason.MEMENTO_WITH_PAYLOAD], ""),
    }
    rows: list[Row] = [
        {
            "type": kind,
            "rule": name,
            "records": records,
            "share": records / kept if kept else None,
            "cpu_seconds": round(seconds, 2) if seconds is not None and name == "all" else None,
            "parameter": parameter,
        }
        for name, (kind, records, parameter) in left.items()
    ]
    lines = [
        f"{counted(kept, 'capture')}: what each filter rule alone leaves of them, and all together "
        "(paper, Table 2)"
    ]
    if passed_over := _counts_in_words(counts, _ROWS):
        lines.append(f"other rows: {passed_over}")
    if left_out := _counts_in_words(counts, (Reason.RULE_METHOD, Reason.MEMENTO_ATTACHMENT)):
        lines.append(f"all rules together also leave out: {left_out}")
    if seconds is not None:
        lines.append("one pass applied all rules: its CPU time is in the last row")
    if batches > 1:
        lines.append(f"a payload in several of the {batches:,} batches counts in each")
    if unknown:
        lines.append(f"unknown for {counted(unknown, 'further batch', 'further batches')}")
    about = {
        "rows": by_group(counts).get("rows", {}),
        "batches": batches,
        "unknown_batches": unknown,
    }
    return RowAnswer(about, lines, _COLUMNS, {"rules": rows}, decimals=2)


def table_of_batches(batches: Iterable[Batch]) -> RowAnswer | None:
    """Return the table of the batches of a store, from their manifests.

    Their CPU time is unknown: a manifest has that of its build so far. None if no manifest has
    counts of kept rows.
    """
    counts, rules, number, unknown = Counts(), DEFAULT_RULES, 0, 0
    for batch in batches:
        manifest = manifest_of(batch)
        of_batch = from_counters([manifest.get("counts") or {}])
        if not of_batch[Reason.ROW_KEPT]:
            unknown += not manifest.get("counts")  # such as those of `arclink load`
            continue
        try:
            rules = Rules.from_json(manifest["settings"]["rules"])
        except (KeyError, UsageError):  # made by hand, or of a later version
            unknown += 1
            continue
        counts += of_batch
        number += 1
    if not number:
        return None
    return rule_table(counts, rules, batches=number, unknown=unknown)


def _in_words(values: Sequence[str]) -> str:
    """Return the first values of a rule, and the number of others; "off" without values."""
    more = len(values) - _MOST_VALUES
    return ", ".join(values[:_MOST_VALUES]) + f" and {more} more" * (more > 0) or "off"


def _counts_in_words(counts: Counts, reasons: Iterable[Reason]) -> str:
    return ", ".join(f"{counts[reason]:,} {reason.text}" for reason in reasons if counts[reason])
