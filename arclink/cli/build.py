"""``arclink build``: turns archive files into a store."""

from collections.abc import Sequence
from dataclasses import replace

import click

from arclink.access.declarations import Given
from arclink.access.formats.rows import ROW_FORMATS, RowAnswer
from arclink.access.texts import counted
from arclink.cli.options import perform, takes
from arclink.counts import Counts
from arclink.filter.rules import Rules
from arclink.operations.build import BUILD
from arclink.operations.operation import stored_size
from arclink.operations.tables import texts_line
from arclink.pipeline.build import BuildReport, needs_a_person
from arclink.pipeline.records_read import Damage
from arclink.pipeline.rule_table import rule_table
from arclink.reasons import Reason
from arclink.store.protocols import StoreSums

# The summary that a build or a stage prints at its end.

_GROUPS = ("entries", "fetches", "records", "rows", "mementos", "payloads", "links", "notes")


_LEFT_OUT = (
    "not counted: starting and loading on this machine, and the processes of an engine or store"
)


def copied_line(sums: StoreSums, *, is_verified: bool) -> str:
    """Return the numbers of a copy of a store, for `backup` and `restore`."""
    return (
        f"{counted(sums.batches, 'batch', 'batches')}, {counted(sums.contents, 'content')}, "
        f"{counted(sums.links, 'link')} "
        f"({stored_size(sums.bytes)}{', verified' if is_verified else ''})"
    )


def _show_summary(report: BuildReport, rules: Rules, sums: StoreSums, where: str) -> None:
    """Print counts by reason, what the rules left out, and the present size of the store."""
    if report.skipped:
        click.echo(
            f"{report.skipped:,} archive files were skipped because the store has them already."
        )
    show_counts(report.counts)
    if report.counts[Reason.ROW_KEPT]:
        table = rule_table(
            report.counts, rules, report.seconds.get("filter"), batches=report.batches
        )
        click.echo("\nrules: " + shown_table(table).decode(), nl=False)
    _show_damage(report.damaged)
    time = f", captured from {sums.first} to {sums.last}" if sums.first else ""
    click.echo(
        f"\n{where} holds {counted(sums.links, 'link')} (repeats on a page count) of "
        f"{counted(sums.contents, 'content')}{time} ({stored_size(sums.bytes)})."
    )
    if report.seconds:
        click.echo(
            "CPU seconds: "
            + ", ".join(f"{name} {seconds:.1f}" for name, seconds in report.seconds.items())
            + f"; {_LEFT_OUT}"
        )


def shown_table(table: RowAnswer) -> bytes:
    """Return the table of the filter rules as lines, without parameters and unknown times."""
    rows = table.sections["rules"]
    names = [
        name
        for name in table.columns
        if name != "parameter" and any(row[name] is not None for row in rows)
    ]
    return b"".join(ROW_FORMATS["table"].write(replace(table, shown=names)))


def show_captures(before: int | None, now: int, note: str = "") -> None:
    """Print how many captures a store had before a build and has now; before, None if unknown."""
    had = "an unknown number" if before is None else f"{before:,}"
    click.echo(f"captures: {had} before, {now:,} now{note and f' ({note})'}")


def _show_damage(damaged: Sequence[Damage]) -> None:
    """Print a line for each archive file that is empty, cut short or damaged, to standard error."""
    for damage in damaged:
        click.echo(f"warning: {damage}", err=True)


def end_stage(
    counts: Counts, damaged: Sequence[Damage] = (), gave: Reason = Reason.LINK_KEPT
) -> None:
    """Print what a stage counted and what was damaged; end as a build with this result would.

    Args:
        counts: Of the stage.
        damaged: From `arclink.pipeline.records_read.damage_in`.
        gave: Counted for each item that the stage is run for.

    Raises:
        Exit: With code 1: a whole file gave nothing, or the stage had failures only.
    """
    show_counts(counts)
    _show_damage(damaged)
    if needs_a_person(counts, damaged, gave):
        raise click.exceptions.Exit(1)


MANY = 10
"""Minimum number of captures with URIs like those of a Wayback Machine for a hint.

They must also be at least 1 % of all captures.
"""


def show_counts(counts: Counts) -> None:
    """Print counts by group, one line per reason.

    Also print a hint if many captures are pages of a Wayback Machine.
    """
    _show_groups(counts)
    wrapped, kept = counts[Reason.NOTE_WAYBACK_URI], counts[Reason.ROW_KEPT]
    if wrapped >= MANY and wrapped * 100 >= kept:
        click.echo(
            f"\n{wrapped:,} of {kept:,} captures look like pages of a Wayback Machine, with the "
            "time of their crawl. For the graph of the original pages and times, build a new store "
            "with --unwrap-wayback."
        )


def _show_groups(counts: Counts) -> None:
    for group in _GROUPS:
        named = [
            (reason, counts[reason])
            for reason in Reason
            if reason.group == group and counts[reason]
        ]
        if not named:
            continue
        click.echo(
            f"\n{group}" + ("" if group == "notes" else f": {sum(count for _, count in named):,}")
        )
        for reason, count in named:
            click.echo(f"  {count:>14,}  {reason.text}")


EXAMPLES = (
    "arclink build /data/crawl --store links.db",
    "arclink build crawl.warc.gz --cdx crawl.cdxj --store links.db",
    "arclink build --store links.db --rebuild",
    "arclink build hdfs:///crawl --runner hadoop --store cassandra://node1/links",
)


@click.command()
@takes(*BUILD.declared)
def command(given: Given) -> None:
    """Build the link graph of archive files, or add more files to it.

    INPUT is an archive file, a folder, a glob, an address (https, s3 or hdfs), or a list file
    (.txt, .lst, .list) with one of these per line. Files that the store has already are skipped,
    so the same command continues a build that was stopped.
    """
    done = perform(BUILD, given)
    _show_summary(done.report, done.rules, done.sums, done.store)
    if done.captures:
        show_captures(*done.captures)
    if done.texts is not None:
        click.echo(texts_line(done.texts))
    if done.report.needs_a_person:
        raise click.exceptions.Exit(1)
