"""``arclink aggregate URI``: the links of a URI in several archives, merged."""

import sys

import click

from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.formats import FORMATS, PROFILES
from arclink.access.formats.table import archive_lines
from arclink.access.queries import DEFAULT_LIMIT
from arclink.cli.question_options import (
    at_option,
    cursor_option,
    direction_option,
    from_option,
    kinds_option,
    redirects_option,
    to_option,
)
from arclink.errors import InstanceError
from arclink.federation.instances import parse_instances
from arclink.federation.merge import merge
from arclink.federation.merged_answers import MergedQuery, answer_of
from arclink.federation.requests import Asking, QueryLimits

LIMITS = QueryLimits()
INCOMPLETE = 3
"""Exit code if there is an answer, but an instance failed or gave only a part."""


EXAMPLES = ("arclink aggregate example.org --instance olympics=http://127.0.0.1:8080/olympics",)


@click.command("aggregate", short_help="Merge the answers of several archives for a URI.")
@click.argument("uri")
@click.option(
    "--instance",
    "instances",
    multiple=True,
    required=True,
    metavar="[NAME=]URL",
    envvar="ARCLINK_INSTANCES",
    show_envvar=True,
    help="A service that answers link queries. May be given again.",
)
@direction_option
@from_option
@to_option
@at_option
@kinds_option
@redirects_option
@click.option(
    "--limit",
    default=str(DEFAULT_LIMIT),
    show_default=True,
    metavar="N",
    help="Number of links per direction.",
)
@cursor_option
@click.option(
    "--format",
    "name",
    type=click.Choice(list(FORMATS)),
    default="table",
    show_default=True,
    help="Format of the answer.",
)
@click.option(
    "--profile", type=click.Choice(PROFILES), help="RDF as in the paper, or with one node per link."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=3600),
    default=LIMITS.instance_seconds,
    show_default=True,
    metavar="SECONDS",
    help="Seconds to wait for one page of one instance.",
)
@click.option(
    "--whole",
    type=click.FloatRange(min=0.1, max=3600),
    default=LIMITS.whole_seconds,
    show_default=True,
    metavar="SECONDS",
    help="Seconds to wait for all pages of all instances.",
)
def command(
    uri: str,
    instances: tuple[str, ...],
    direction: str,
    first: str,
    last: str,
    at: str,
    kinds: tuple[str, ...],
    redirects: str,
    limit: str,
    cursor: str,
    name: str,
    profile: str | None,
    timeout: float,
    whole: float,
) -> None:
    """Query several services for the links of URI at once, and merge their answers link by link.

    Exit code 3 means that an instance failed or gave only a part of its answer. Standard error
    names the instance and the reason.
    """
    given = {
        "direction": direction,
        "from": first,
        "to": last,
        "at": at,
        "redirects": redirects,
        "limit": limit,
        "cursor": cursor,
    }
    parameters = [
        ("uri", uri),
        *((option, value) for option, value in given.items() if value),
        *(("kinds", kind) for kind in kinds),
    ]
    asked = MergedQuery.from_parameters(parameters)
    form = FORMATS[name].in_profile(profile or "")
    asking = Asking(
        parse_instances(instances), QueryLimits(instance_seconds=timeout, whole_seconds=whole)
    )
    found = asking.ask(asked.query)
    reports = [report for _, report in found]
    _complain(reports, is_table=name == "table")
    if all(report.outcome is Outcome.FAILED for report in reports):
        raise InstanceError("no instance answered")
    for piece in form.write(answer_of(merge(findings for findings, _ in found), asked, reports)):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
    if any(report.outcome is not Outcome.ANSWERED for report in reports):
        sys.exit(INCOMPLETE)


def _complain(reports: list[ArchiveReport], *, is_table: bool) -> None:
    """Report failed instances on standard error, unless a table of the answers reports them."""
    if is_table and any(report.outcome is not Outcome.FAILED for report in reports):
        return
    for report, line in zip(reports, archive_lines(reports), strict=True):
        if report.outcome is not Outcome.ANSWERED:
            click.echo(f"arclink: {line}", err=True)
