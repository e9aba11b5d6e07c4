"""What commands that ask other instances share: options, and how they report failures."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from arclink.access.declarations import Given, Parameter, field_parameter, number
from arclink.access.formats.table import archive_lines, check_answered
from arclink.access.provenance import ArchiveReport, Outcome
from arclink.others.federation.instances import QueryLimits

if TYPE_CHECKING:
    from arclink.others.federation.requests import Asking

_INCOMPLETE = 3
"""Exit code if there is an answer, but an instance failed or gave only a part."""


_SECONDS = number(least=0.1, most=3600)
TIMEOUT = field_parameter(
    QueryLimits, "instance_seconds", _SECONDS, name="timeout", metavar="SECONDS"
)
WHOLE = field_parameter(QueryLimits, "whole_seconds", _SECONDS, name="whole", metavar="SECONDS")


def client_for(given: Given, instances: Parameter[str]) -> "Asking":
    """Return the client for the instances that a parameter names.

    Raises:
        UsageError: One of them has no usable name or address.
    """
    from arclink.others.federation.instances import parse_instances  # late: a plain `ask` asks none
    from arclink.others.federation.requests import Asking

    limits = QueryLimits(
        instance_seconds=TIMEOUT.required(given), whole_seconds=WHOLE.required(given)
    )
    return Asking(parse_instances(instances.many(given)), limits)


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


def end_if_incomplete(reports: Sequence[ArchiveReport]) -> None:
    """End the command with code 3 if an instance failed or gave only a part."""
    if any(report.outcome is not Outcome.ANSWERED for report in reports):
        sys.exit(_INCOMPLETE)
