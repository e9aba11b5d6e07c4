"""``arclink extract``: runs stage 2 alone, from pointers to the links in payloads."""

from pathlib import Path

import click
import orjson

from arclink.access.declarations import PATH, Given, Parameter
from arclink.cli.interrupts import ended_like_interrupts
from arclink.cli.options import say, takes
from arclink.cli.summary import end_stage
from arclink.operations.engine import uses_engine
from arclink.operations.one_stage import (
    INTO,
    STAGE,
    add_settings,
    archives_of,
    needs,
    read_settings,
    running,
    write_archives,
)
from arclink.operations.operation import HERITRIX_OUTLINKS, INPUTS, LAZY, SOURCES
from arclink.reasons import Reason

EXAMPLES = ("arclink extract /data/crawl --into work",)

_STORE_OF_EXTRACT = Parameter(
    "store", "Skip the payloads that this store already has.", PATH, metavar="PATH|URL"
)


@click.command()
@takes(INPUTS, *STAGE, *SOURCES, _STORE_OF_EXTRACT)
def command(given: Given) -> None:
    """Read the payloads that FOLDER/pointers names in archive files; write FOLDER/pages.

    INPUT is as for `arclink build`.
    """
    from arclink.extract.listed_files import write_list
    from arclink.extract.settings import ExtractSettings
    from arclink.pipeline import stages
    from arclink.pipeline.records_read import check_given, damage_in
    from arclink.pipeline.settings import WAYBACK_SETTING, BuildSettings
    from arclink.store.location import open_store
    from arclink.store.protocols import EmptyStore

    where, store = Path(INTO.required(given)), _STORE_OF_EXTRACT.optional(given)
    needs(where, "pointers", "filter")
    wayback = orjson.loads(read_settings(where).get(WAYBACK_SETTING, "null"))
    settings = BuildSettings(
        extract=ExtractSettings(
            lazy=LAZY.required(given),
            heritrix_outlinks=HERITRIX_OUTLINKS.required(given),
            wayback=wayback,  # as in filter: its pointers name the original pages
        )
    )
    with EmptyStore() if not store else open_store(store) as known:
        stored = {file.name: file for file in known.files()}
        files = archives_of(INPUTS.many(given), stored, say)
        with ended_like_interrupts(uses_engine(given)), running(given, "extract") as run:
            run.scratch.mkdir(parents=True, exist_ok=True)
            earlier = run.scratch / "earlier-archives"
            write_list({file.name: file.path for file in stored.values()}, earlier)
            counts = stages.extract(where, files, known, settings, run, earlier)
    # Without a list of archive files, these links are not loaded: the files were not read.
    if files_not_given := check_given(where, files):
        click.echo(f"warning: {files_not_given}", err=True)
    write_archives(where, files)
    add_settings(where, settings)
    with_cdx = set() if (where / "rows").exists() else {file.name for file in files}
    end_stage(counts, damage_in(where, files, with_cdx), Reason.PAYLOAD_READ)
