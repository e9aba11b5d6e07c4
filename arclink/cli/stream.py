"""``arclink stream``: writes every capture once, with its bytes, in a chosen order."""

from dataclasses import replace
from pathlib import Path

import click

from arclink.access.common import SUBSET, SUBSET_FIRST
from arclink.access.declarations import FOLDER, Given, Parameter
from arclink.captures.queries import STREAM_PARAMETERS, StreamQuery
from arclink.cli.options import ARCHIVES, GRAPH, STORE, open_requested_graph, takes, write_answer
from arclink.errors import UsageError
from arclink.operations.sizes import size
from arclink.progress import hide_from_output

EXAMPLES = (
    "arclink stream --store links.db --order file > captures.jsonl",
    (
        "arclink stream --store links.db --subset gov --order file --part 3/16 --format warc "
        "> part-3.warc"
    ),
    "arclink stream --store links.db --order rank --limit 1000 --format text > best.wet",
)

_FIRST_WORD = replace(SUBSET_FIRST, name="first-word", about="The same as --subset.")
CACHE = Parameter(
    "cache",
    "Folder for rank tables.",
    FOLDER,
    metavar="FOLDER",
    otherwise="next to the store",
)

_PAYLOAD_LIMIT = Parameter(
    "payload-limit",
    "Maximum bytes that a capture may become, or twice the bytes that its archive file stores "
    "for it, if that is more: a few may decode to gigabytes. A longer body is cut, and counted as "
    "PAYLOAD_TOO_LONG; WARC leaves the record out.",
    size("payload-limit"),
    otherwise="16M; no limit for WARC",
    metavar="SIZE",
)
POINTERS = Parameter(
    "pointers",
    "Write pointers to the captures, not the captures, to files in this folder: the input of "
    "the job arclink.jobs.map_pages.",
    FOLDER,
    metavar="FOLDER",
    see="how-to/streams.md",
)


@click.command()
@takes(_FIRST_WORD, *GRAPH, *STREAM_PARAMETERS, ARCHIVES, _PAYLOAD_LIMIT, CACHE, POINTERS)
def command(given: Given) -> None:
    """Write the captures of a store or a subset to standard output, with status, headers and body.

    Each capture has a token; after an interruption, --after TOKEN continues after it. The last
    line or record says whether the stream is complete, and counts the captures without bytes by
    reason. Without this last line, the output was cut off.
    """
    # Late: other commands need no archive files and no NumPy.
    from arclink.analysis.slice_cache import cache_of
    from arclink.captures.archive_paths import ArchivePaths
    from arclink.captures.formats import write_stream
    from arclink.captures.pointers import write_pointers
    from arclink.captures.ranks import RankTables
    from arclink.captures.read import PageReader
    from arclink.captures.stream import CaptureStream

    if first := given.text(_FIRST_WORD):
        if given.text(SUBSET):
            raise UsageError(f"{first}: the subset is already named with --subset")
        given = Given({**given.texts, SUBSET.name: (first,)})
    query = StreamQuery.of(given)
    archive_paths = ArchivePaths(ARCHIVES.many(given))
    where, cache = STORE.required(given), CACHE.optional(given)
    with open_requested_graph(given) as graph, PageReader(graph, archive_paths) as reader:
        tables = RankTables(Path(cache) if cache else cache_of(where), where)
        stream = CaptureStream(graph, reader, query, tables=tables)
        if folder := POINTERS.optional(given):
            captures = sum(write_pointers(stream, Path(folder)))
            click.echo(f"{captures:,} pointers in {folder}; to continue: {stream.after}")
            return
        hide_from_output()
        write_answer(write_stream(stream, query.form, _PAYLOAD_LIMIT.optional(given)))
