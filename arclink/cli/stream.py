"""``arclink stream``: writes every capture once, with its bytes, in a chosen order."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import click

from arclink.access.declarations import FOLDER, PATH, SUBSET, SUBSET_FIRST, Form, Given, Parameter
from arclink.captures.queries import FORM, STREAM_PARAMETERS, StreamQuery
from arclink.cli.options import ARCHIVES, GRAPH, STORE, open_requested_graph, takes, write_answer
from arclink.errors import UsageError
from arclink.operations.operation import size
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
_CACHE = Parameter(
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
_POINTERS = "pointers"
_FORMAT = replace(
    FORM,
    about=f"{FORM.about} pointers: where the captures are, as the input of the job "
    "arclink.jobs.map_pages.",
    form=Form(
        f"{FORM.form.allowed} or {_POINTERS}",
        {"type": "string", "enum": [*cast(list[str], FORM.form.schema["enum"]), _POINTERS]},
        FORM.form.read,
    ),
    see="how-to/streams.md",
)
INTO = Parameter(
    "into",
    "Output file; with --format pointers, a folder for files with pointers.",
    PATH,
    was=(_POINTERS,),
    instead=f"--format {_POINTERS} --into",
    metavar="FILE",
    otherwise="standard output",
)
_COMMAND = tuple(_FORMAT if one is FORM else one for one in STREAM_PARAMETERS)


@click.command()
@takes(_FIRST_WORD, *GRAPH, *_COMMAND, ARCHIVES, _PAYLOAD_LIMIT, _CACHE, INTO)
def command(given: Given) -> None:
    """Write the captures of a store or a subset, with status, headers and body.

    Each capture has a token; after an interruption, --after TOKEN continues after it. The last
    line or record says whether the stream is complete, and counts the captures without bytes by
    reason. Without this last line, the output was cut off.
    """
    # Late: other commands need no archive files and no NumPy.
    from arclink.analysis.matrices.slice_cache import cache_of
    from arclink.captures.pointers import write_pointers
    from arclink.captures.ranks import RankTables
    from arclink.captures.read import PageReader
    from arclink.captures.stream import CaptureStream
    from arclink.captures.write import write_stream
    from arclink.store.archive_paths import ArchivePaths

    if first := given.text(_FIRST_WORD):
        if given.text(SUBSET):
            raise UsageError(f"{first}: the subset is already named with --subset")
        given = Given({**given.texts, SUBSET.name: (first,)})
    into, is_pointers = INTO.optional(given), given.text(FORM) == _POINTERS
    if is_pointers:
        given = given.without(*FORM.names)
        if into is None:
            raise UsageError(f"--into must name a folder for --format {_POINTERS}")
    is_pointers = is_pointers or given.found(INTO)[0] == _POINTERS
    query = StreamQuery.of(given)
    archive_paths = ArchivePaths(ARCHIVES.many(given))
    where, cache = STORE.required(given), _CACHE.optional(given)
    with open_requested_graph(given) as graph, PageReader(graph, archive_paths) as reader:
        tables = RankTables(Path(cache) if cache else cache_of(where), where)
        stream = CaptureStream(graph, reader, query, tables=tables)
        if into and is_pointers:
            captures = sum(write_pointers(stream, Path(into)))
            click.echo(f"{captures:,} pointers in {into}; to continue: {stream.after}")
            return
        pieces = write_stream(stream, query.form, _PAYLOAD_LIMIT.optional(given))
        if into is None:
            hide_from_output()
        write_answer(pieces, into)
