"""``arclink fetch``: downloads captures of a Wayback Machine as WARC files."""

import shlex
from pathlib import Path

import click

from arclink.access.declarations import (
    PATH,
    TEXT,
    Given,
    Parameter,
    field_parameter,
    named,
    number,
    whole_number,
)
from arclink.access.times import FROM, TO
from arclink.cli.options import QUIET, lines_of_list, takes
from arclink.cli.rules import NO_REDIRECTS, RULES, rules_from
from arclink.cli.sizes import size, size_text
from arclink.errors import InputError, UsageError, WaybackError
from arclink.progress import display_for
from arclink.wayback.capture_lists import Archive
from arclink.wayback.client import Client, Manners
from arclink.wayback.fetch import INDEX, FetchReport, FetchSettings, fetch

_ENTRIES = Parameter(
    "entries",
    "Lists of entries, or entries.",
    PATH,
    is_required=True,
    is_list=True,
    is_positional=True,
    metavar="LIST...",
    keeps_empty=True,
)
BASE = Parameter(
    "wayback",
    "Address of the archive up to /TIMESTAMP/URI, such as https://web.archive.org/web.",
    TEXT,
    is_required=True,
    metavar="BASE",
)
INTO = Parameter(
    "into",
    "Folder for the WARC files. The same folder continues an earlier fetch.",
    PATH,
    is_required=True,
    metavar="FOLDER",
)
_CDX_SERVER = Parameter(
    "cdx-server",
    "Address of the CDX server.",
    TEXT,
    metavar="URL",
    otherwise="the usual addresses are tried",
)
TIMEMAP = Parameter(
    "timemap",
    "Address of TimeMaps up to the URI; TimeMaps are then used instead of a CDX server.",
    TEXT,
    metavar="URL",
)
REPLAY = Parameter(
    "replay",
    "Fetch original bytes, or rewritten pages and undo the rewriting; auto: original bytes "
    "if the archive has them.",
    named({"auto": ("id_", "if_", ""), "original": ("id_",), "rewritten": ("if_", "")}),
    default="auto",
)
_SECONDS = number(least=0)
_DELAY = field_parameter(Manners, "delay", _SECONDS, metavar="SECONDS")
TIMEOUT = field_parameter(Manners, "timeout", number(least=0.1), metavar="SECONDS")
_TRIES = field_parameter(Manners, "tries", whole_number(None, least=1), metavar="N")
_LONGEST_WAIT = field_parameter(Manners, "longest_wait", _SECONDS, metavar="SECONDS")
_PAYLOAD_LIMIT = field_parameter(
    FetchSettings, "payload_limit", size("payload-limit"), text=size_text, metavar="SIZE"
)
_CONTACT = field_parameter(Manners, "contact", TEXT, metavar="TEXT")

EXAMPLES = ("arclink fetch list.txt --wayback http://localhost:8080/collection --into fetched",)


@click.command()
@takes(
    _ENTRIES,
    BASE,
    INTO,
    _CDX_SERVER,
    TIMEMAP,
    RULES,
    FROM,
    TO,
    NO_REDIRECTS,
    REPLAY,
    _DELAY,
    TIMEOUT,
    _TRIES,
    _LONGEST_WAIT,
    _PAYLOAD_LIMIT,
    _CONTACT,
    QUIET,
)
def command(given: Given) -> None:
    """Fetch captures from a Wayback Machine into a folder of WARC files.

    LIST is a file with one entry per line, or an entry. An entry is a URI, http://host/path* for
    all URIs with this beginning, or *.host for a domain with its subdomains. Captures that the
    filter rules leave out are not requested, and each payload is requested once. A run can be
    stopped at any time; the same command continues it.
    """
    archive = Archive(
        BASE.required(given), _CDX_SERVER.optional(given) or "", TIMEMAP.optional(given) or ""
    )
    settings = FetchSettings(
        rules=rules_from(given),
        payload_limit=_PAYLOAD_LIMIT.required(given),
        modifiers=REPLAY.required(given),
    )
    manners = Manners(
        _DELAY.required(given),
        TIMEOUT.required(given),
        _TRIES.required(given),
        _LONGEST_WAIT.required(given),
        _CONTACT.optional(given) or "",
    )
    wanted, folder = _read_entries(_ENTRIES.many(given)), INTO.required(given)
    display = display_for(is_quiet=QUIET.required(given))
    with Client(archive.origins, manners) as client:

        def show_line(line: str) -> None:
            display.show(lambda: line)

        report = fetch(wanted, archive, Path(folder), client, settings, show_line)
    display.close()
    build = ["arclink", "build", folder, "--cdx", str(Path(folder, INDEX)), "--store", "links.db"]
    build += ["--rules", rules] if (rules := RULES.optional(given)) else []
    build += ["--no-redirects"] if NO_REDIRECTS.required(given) else []
    _show(report, shlex.join(build))


def _read_entries(given: tuple[str, ...]) -> list[str]:
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
            entries += lines_of_list(path)
        elif "://" in text or text.startswith("*."):
            try:
                parse_entry(text)
            except UsageError as error:
                raise UsageError(f"{text}: {error}") from error
            entries.append(text)
        else:
            raise UsageError(
                f"{text}: no such file; an entry on the command line must begin with "
                "http://, https:// or *."
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
            "Nothing was found: check that --wayback is the part of the archive's addresses "
            "before /TIMESTAMP/URI.",
            err=True,
        )
    if report.entries_left or report.captures_left:
        raise WaybackError(
            f"{report.entries_left:,} entries and {report.captures_left:,} captures are "
            "left; run the same command again to fetch them"
        )
