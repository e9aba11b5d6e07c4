"""What commands that ask other instances share: options, and how they report failures."""

from collections.abc import Sequence

import click

from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.declarations import field_parameter, number
from arclink.access.formats.table import archive_lines, check_answered
from arclink.federation.limits import QueryLimits

INCOMPLETE = 3
"""Exit code if there is an answer, but an instance failed or gave only a part."""


_SECONDS = number(least=0.1, most=3600)
TIMEOUT = field_parameter(
    QueryLimits, "instance_seconds", _SECONDS, name="timeout", metavar="SECONDS"
)
WHOLE = field_parameter(QueryLimits, "whole_seconds", _SECONDS, name="whole", metavar="SECONDS")


def complain(reports: Sequence[ArchiveReport], *, is_table: bool) -> None:
    """Report failed instances on standard error, unless a table of the answers reports them.

    Raises:
        InstanceError: No instance answered.
    """
    check_answered(reports)
    if is_table:
        return
    for report, line in zip(reports, archive_lines(reports), strict=True):
        if report.outcome is not Outcome.ANSWERED:
            click.echo(f"arclink: {line}", err=True)
