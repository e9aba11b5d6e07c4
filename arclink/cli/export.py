"""``arclink export``: the graph, or captures themselves, in files for other tools."""

from dataclasses import replace
from pathlib import Path

import click

from arclink.access.declarations import PATH, SUBSET, Given, Parameter, named
from arclink.analysis.export.queries import EXPORT_PARAMETERS, FORMAT, ExportFormat, ExportQuery
from arclink.captures.queries import (
    CHECK,
    FILE_SIZE,
    FORMATS_OF_FILES,
    TAKE_AWAY_PARAMETERS,
    CaptureFormat,
    TakeAwayQuery,
)
from arclink.cli.options import ARCHIVES, GRAPH, STORE, open_requested_graph, takes
from arclink.errors import UsageError
from arclink.store.location import name_of_store

EXAMPLES = (
    "arclink export --store links.db --format parquet --into links.parquet",
    "arclink export --store links.db --format gexf --level domain --into domains.gexf",
    "arclink export --store links.db --format weblab --into weblab",
    "arclink export --store links.db --subset domain:gov --format wacz --into gov.wacz",
)

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")

INTO = Parameter(
    "into",
    "Output file; its manifest is FILE.json. A new folder with weblab, cc-index and arch.",
    PATH,
    is_required=True,
    metavar="FILE",
)
ANY_FORMAT = replace(
    FORMAT, form=named({form.value: form for form in (*ExportFormat, *FORMATS_OF_FILES)})
)
OPTIONS = (
    ANY_FORMAT,
    *(parameter for parameter in EXPORT_PARAMETERS if parameter is not FORMAT),
    FILE_SIZE,
    CHECK,
    ARCHIVES,
)


@click.command()
@takes(*GRAPH, *OPTIONS, INTO)
def command(given: Given) -> None:
    """Write links or captures of a store, or of a part of it, to FILE, with a manifest FILE.json.

    The manifest says what is in the file, and what was left out for which reason.
    """
    path = Path(INTO.required(given))
    if isinstance(ANY_FORMAT.required(given), CaptureFormat):
        _export_captures(given, path)
    else:
        _export_links(given, path)


def _export_links(given: Given, path: Path) -> None:
    from arclink.analysis.export.data_package import summary
    from arclink.analysis.export.exports import export

    query = ExportQuery.of(given.sorted_out(EXPORT_PARAMETERS, *GRAPH, INTO))
    if path.suffix in _COMPRESSED:
        raise UsageError(
            f"--into {path}: links are written without compression; name a file that does not end "
            f"in {path.suffix}, and compress it afterwards"
        )
    with open_requested_graph(given) as graph:
        exported = export(graph, query, path, STORE.required(given))
    for line in summary(exported.query, exported.tally, exported.files):
        click.echo(line)
    click.echo(f"The manifest is {path}.json")


def _export_captures(given: Given, path: Path) -> None:
    from arclink.captures.export import Source
    from arclink.captures.write import take_away
    from arclink.store.archive_paths import ArchivePaths

    query = TakeAwayQuery.of(given.sorted_out(TAKE_AWAY_PARAMETERS, *GRAPH, ARCHIVES, INTO))
    archive_paths = ArchivePaths(ARCHIVES.many(given))
    subset, archive = SUBSET.optional(given) or "", name_of_store(STORE.required(given))
    with open_requested_graph(given) as graph:
        taken = take_away(Source(graph, archive_paths, subset, archive), query, path)
    for line in taken.tally.lines():
        click.echo(line)
    for name, size in taken.files.items():
        click.echo(f"{name}: {size:,} bytes")
    click.echo(f"The manifest is {path}.json")
    for line in taken.tally.warnings():
        click.echo(line, err=True)
