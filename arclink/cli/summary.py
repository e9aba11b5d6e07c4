"""What a build says when it is done."""

import click

from arclink.pipeline.build import BuildReport
from arclink.pipeline.counts import Counts
from arclink.reasons import Reason
from arclink.store import GraphStore

GROUPS = ("entries", "fetches", "records", "rows", "mementos", "payloads", "links", "notes")


def show_summary(report: BuildReport, store: GraphStore, where: str) -> None:
    """Print counts per reason, and what the store holds now."""
    if report.skipped:
        click.echo(f"{report.skipped:,} archive files were in the store already and were passed over.")
    show_counts(report.counts)
    sums = store.sums()
    time = f", captured from {sums.first} to {sums.last}" if sums.first else ""
    click.echo(f"\n{where} holds {sums.links:,} links of {sums.contents:,} contents{time} ({sums.bytes:,} bytes).")
    if report.seconds:
        click.echo("CPU seconds: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in report.seconds.items()))


def show_counts(counts: Counts) -> None:
    """Print counts by group, each reason on a line of its own."""
    for group in GROUPS:
        named = [(reason, counts[reason]) for reason in Reason if reason.group == group and counts[reason]]
        if not named:
            continue
        click.echo(f"\n{group}" + ("" if group == "notes" else f": {sum(count for _, count in named):,}"))
        for reason, count in named:
            click.echo(f"  {count:>14,}  {reason.text}")
