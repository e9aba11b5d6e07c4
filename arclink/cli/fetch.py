"""``arclink fetch``: downloads captures of a Wayback Machine as WARC files."""

import shlex

import click

from arclink.access.declarations import Given
from arclink.cli.options import perform, takes
from arclink.errors import WaybackError
from arclink.operations.build import NO_REDIRECTS, RULES
from arclink.operations.fetch import FETCH, INTO
from arclink.others.wayback.fetch import FetchReport

EXAMPLES = ("arclink fetch list.txt --wayback http://localhost:8080/collection --into fetched",)


@click.command()
@takes(*FETCH.declared)
def command(given: Given) -> None:
    """Fetch captures from a Wayback Machine into a folder of WARC files.

    LIST is a file with one entry per line, or an entry. An entry is a URI, http://host/path* for
    all URIs with this beginning, or *.host for a domain with its subdomains. Captures that the
    filter rules leave out are not requested, and each payload is requested once. A run can be
    stopped at any time; the same command continues it.
    """
    done = perform(FETCH, given)
    build = ["arclink", "build", INTO.required(given), "--cdx", str(done.index)]
    build += ["--store", "links.db"]
    build += ["--rules", rules] if (rules := RULES.optional(given)) else []
    build += ["--no-redirects"] if NO_REDIRECTS.required(given) else []
    _show(done.report, shlex.join(build))


def _show(report: FetchReport, build: str) -> None:
    """Print the counts of a run and the next command; raise WaybackError if anything is left."""
    from arclink.cli.build import show_counts
    from arclink.reasons import Reason

    show_counts(report.counts)
    has_captures = any(report.counts[reason] for reason in Reason if reason.group == "fetches")
    click.echo(
        f"\n{report.requests:,} requests."
        + (f" To build the graph: {build}" if has_captures else "")
    )
    if not has_captures and not report.entries_left:
        click.echo(
            "Nothing was found: check that --wayback is the part of the archive's addresses "
            "before /TIMESTAMP/URI.",
            err=True,
        )
    if report.entries_left or report.captures_left:
        raise WaybackError(
            f"{report.entries_left:,} entries and {report.captures_left:,} captures are "
            "left; run the same command again to fetch them"
        )
