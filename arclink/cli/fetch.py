"""``arclink fetch``: downloads captures of a Wayback Machine as WARC files."""

import shlex
import sys
import time
from pathlib import Path

import click

from arclink.errors import InputError, UsageError, WaybackError
from arclink.wayback.fetch import FetchReport

SECONDS_BETWEEN_LINES = 30.0

REPLAY = {"auto": ("id_", "if_", ""), "original": ("id_",), "rewritten": ("if_", "")}


EXAMPLES = ("arclink fetch list.txt --wayback http://localhost:8080/collection --into fetched",)


@click.command(short_help="Fetch captures from a Wayback Machine as WARC files.")
@click.argument("entries", nargs=-1, required=True, metavar="LIST...")
@click.option(
    "--wayback",
    "base",
    required=True,
    metavar="BASE",
    help="Part of the archive's addresses before /TIMESTAMP/URI.",
)
@click.option(
    "--into",
    "folder",
    required=True,
    type=click.Path(),
    help="Folder for the WARC files. The same folder continues an earlier fetch.",
)
@click.option(
    "--cdx-server",
    metavar="URL",
    default="",
    help="Address of the CDX server. Default: the usual addresses are tried.",
)
@click.option(
    "--timemap",
    metavar="URL",
    default="",
    help="Part of TimeMap addresses before the URI; TimeMaps are then used instead of a CDX server.",
)
@click.option(
    "--rules", "rules_file", type=click.Path(), help="JSON file of filter rules (docs/filter.md)."
)
@click.option(
    "--from", "first", help="Only captures from this time on: 1 to 14 digits, or ISO 8601."
)
@click.option("--to", "last", help="Only captures up to and including this time.")
@click.option("--no-redirects", is_flag=True, help="Do not fetch redirects to learn their targets.")
@click.option(
    "--replay",
    type=click.Choice(list(REPLAY)),
    default="auto",
    show_default=True,
    help="Fetch original bytes, or rewritten pages and undo the rewriting.",
)
@click.option(
    "--delay",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Seconds between requests.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    help="Seconds without a byte after which a request fails.",
)
@click.option(
    "--tries",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Number of attempts per request, with growing pauses.",
)
@click.option(
    "--longest-wait",
    type=click.FloatRange(min=0),
    default=600.0,
    show_default=True,
    help="Longest pause in seconds that the archive may request.",
)
@click.option(
    "--payload-limit",
    default="16M",
    show_default=True,
    help="Largest payload in bytes; larger ones are cut.",
)
@click.option(
    "--contact",
    default="",
    help="Your address, which the archive's operators see in the User-Agent.",
)
@click.option("--quiet", is_flag=True, help="Show only the summary, no progress.")
def command(
    entries: tuple[str, ...],
    base: str,
    folder: str,
    cdx_server: str,
    timemap: str,
    rules_file: str | None,
    first: str | None,
    last: str | None,
    no_redirects: bool,
    replay: str,
    delay: float,
    timeout: float,
    tries: int,
    longest_wait: float,
    payload_limit: str,
    contact: str,
    quiet: bool,
) -> None:
    """Fetch captures from a Wayback Machine into a folder of WARC files.

    LIST is a file with one entry per line, or an entry. An entry is a URI, http://host/path* for
    all
    URIs with this beginning, or *.host for a domain with its subdomains. Captures that the filter
    rules leave out are not requested, and each payload is requested once. A run can be stopped at
    any time; the same command continues it.
    """
    from arclink.cli.build import parse_size
    from arclink.cli.rules import rules_from_options
    from arclink.wayback.capture_lists import Archive
    from arclink.wayback.client import Client, Manners
    from arclink.wayback.fetch import INDEX, FetchSettings, fetch

    archive = Archive(base, cdx_server, timemap)
    settings = FetchSettings(
        rules=rules_from_options(rules_file, (), first, last, read_redirects=not no_redirects),
        payload_limit=parse_size(payload_limit, "--payload-limit"),
        modifiers=REPLAY[replay],
    )
    wanted = read_entries(entries)
    with Client(archive.origins, Manners(delay, timeout, tries, longest_wait, contact)) as client:
        report = fetch(wanted, archive, Path(folder), client, settings, _Told(is_silent=quiet))
    build = ["arclink", "build", folder, "--cdx", str(Path(folder, INDEX)), "--store", "links.db"]
    build += ["--rules", rules_file] if rules_file else []
    build += ["--no-redirects"] if no_redirects else []
    _show(report, shlex.join(build))


def read_entries(given: tuple[str, ...]) -> list[str]:
    """Return the entries of list files and of the command line, in order, each once.

    Raises:
        InputError: A list file cannot be read, or there is no entry.
        UsageError: An argument is neither a file nor an entry.
    """
    from arclink.wayback.indexes import parse_entry

    entries: list[str] = []
    for text in given:
        path = Path(text)
        if path.is_file():
            try:
                lines = path.read_text(encoding="utf-8").splitlines()
            except UnicodeDecodeError as error:
                raise InputError(f"{path}: not a list: byte {error.start} is not UTF-8") from error
            entries += [
                line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")
            ]
        elif "://" in text or text.startswith("*."):
            try:
                parse_entry(text)
            except UsageError as error:
                raise UsageError(f"{text}: {error}") from error
            entries.append(text)
        else:
            raise UsageError(
                f"{text}: no such file; an entry on the command line must begin with http://, https:// or *."
            )
    if not entries:
        raise InputError(f"{' '.join(given)}: the list is empty; write one URI per line")
    return list(dict.fromkeys(entries))


def _show(report: FetchReport, build: str) -> None:
    """Print the counts of a run and the next command; raise WaybackError if anything is left."""
    from arclink.cli.summary import show_counts
    from arclink.reasons import Reason

    for problem in report.problems:
        click.echo(problem, err=True)
    show_counts(report.counts)
    has_captures = any(report.counts[reason] for reason in Reason if reason.group == "fetches")
    click.echo(
        f"\n{report.requests:,} requests."
        + (f" To build the graph: {build}" if has_captures else "")
    )
    if not has_captures and not report.entries_left:
        click.echo(
            "Nothing was found: check that --wayback is the part of the archive's addresses before /TIMESTAMP/URI.",
            err=True,
        )
    if report.entries_left or report.captures_left:
        raise WaybackError(
            f"{report.entries_left:,} entries and {report.captures_left:,} captures are left; run the same command again to fetch them"
        )


class _Told:
    """Prints the progress of a run to standard error, at intervals."""

    def __init__(self, *, is_silent: bool) -> None:
        self._pause = 1.0 if sys.stderr.isatty() else SECONDS_BETWEEN_LINES
        self._is_silent = is_silent
        self._shown = time.monotonic()

    def __call__(self, line: str) -> None:
        if not self._is_silent and time.monotonic() - self._shown > self._pause:
            self._shown = time.monotonic()
            click.echo(line, err=True)
