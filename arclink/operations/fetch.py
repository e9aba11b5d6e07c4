"""Captures of a Wayback Machine, downloaded as WARC files."""

from dataclasses import dataclass
from pathlib import Path

from arclink.access.declarations import (
    FROM,
    PATH,
    TEXT,
    TO,
    Given,
    Parameter,
    field_parameter,
    named,
    number,
    whole_number,
)
from arclink.counts import Report
from arclink.errors import InputError, UsageError
from arclink.files.sealed import lines_of_list
from arclink.operations.build import NO_REDIRECTS, RULES, rules_from
from arclink.operations.operation import QUIET, Operation, Say, size, size_text
from arclink.others.wayback.capture_lists import Archive, parse_entry
from arclink.others.wayback.client import Client, Manners
from arclink.others.wayback.fetch import INDEX, FetchReport, FetchSettings, fetch
from arclink.progress import display_for

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


@dataclass(frozen=True, slots=True)
class FetchedCaptures(Report):
    """The captures in the folder of a download.

    Attributes:
        folder: The folder of the WARC files.
        index: The CDXJ file with a row for each capture.
        report: Requests, counts, and what is left; the same call continues with this.
    """

    folder: Path
    index: Path
    report: FetchReport


def _run(given: Given, say: Say) -> FetchedCaptures:
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
    wanted, folder = _read_entries(_ENTRIES.many(given)), Path(INTO.required(given))
    display = display_for(is_quiet=QUIET.required(given))
    with Client(archive.origins, manners) as client:

        def show_line(line: str) -> None:
            display.show(lambda: line)

        report = fetch(wanted, archive, folder, client, settings, show_line)
    display.close()
    for problem in report.problems:
        say(problem)
    return FetchedCaptures(folder, folder / INDEX, report)


def _read_entries(given: tuple[str, ...]) -> list[str]:
    """Return the entries of list files and of the command line, in order, each once.

    Raises:
        InputError: A list file cannot be read, or there is no entry.
        UsageError: An argument is neither a file nor an entry.
    """
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


FETCH = Operation(
    (
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
    ),
    _run,
)
