"""``arclink links URI``: the outlinks and inlinks of a URI, with their times and texts."""

import sys

import click

from arclink.access.answers import answer_link_query
from arclink.access.declarations import ConflictError, Given
from arclink.access.formats import FIELDS, FORM, FORMAT, chosen_format
from arclink.access.formats.levels import level_as_rows
from arclink.access.formats.rows import ROW_FORMATS
from arclink.access.groups import PATIENT
from arclink.access.levels import LEVEL_PARAMETERS, LINKS_OR_LEVEL, LevelQuery, answer_level
from arclink.access.parameters import BY_PERIOD
from arclink.access.queries import LINK_PARAMETERS, LinkQuery
from arclink.access.replay import NO_REPLAY
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, REPLAY, open_requested_graph
from arclink.cli.row_options import write_rows

EXAMPLES = (
    "arclink links example.org --store links.db",
    "arclink links example.org --store links.db --direction in --from 2010 --to 201003",
    "arclink links example.org --store links.db --at 20100217 --format csv > links.csv",
)


@click.command()
@takes(*GRAPH, *LINK_PARAMETERS, *FORM, LINKS_OR_LEVEL, BY_PERIOD, REPLAY)
def command(given: Given) -> None:
    """Show the outlinks and inlinks of URI, with their times and words.

    Any variant of the URI (http or https, with or without www.) gives the same answer.
    """
    if LINKS_OR_LEVEL.required(given) != "uri":
        _count(given)
        return
    if period := given.text(BY_PERIOD):
        raise ConflictError("by", period, "counts links: also give --level host or --level domain")
    query = LinkQuery.of(given.sorted_out(LINK_PARAMETERS, *GRAPH, REPLAY, LINKS_OR_LEVEL, *FORM))
    prefix = REPLAY.optional(given) or NO_REPLAY
    form = chosen_format(FORMAT.required(given), given)
    form.check(query)
    with open_requested_graph(given) as graph:
        for piece in form.write(answer_link_query(graph, query, PATIENT, prefix)):
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _count(given: Given) -> None:
    query = LevelQuery.of(given.sorted_out(LEVEL_PARAMETERS, *GRAPH, REPLAY, FORMAT, FIELDS))
    name = FORMAT.required(given).name
    if name not in ROW_FORMATS:
        raise ConflictError(
            "format",
            name,
            f"cannot be {name} with --level {query.level.value}: use one of "
            f"{', '.join(ROW_FORMATS)}",
        )
    with open_requested_graph(given) as graph:
        write_rows(level_as_rows(answer_level(graph, query)), ROW_FORMATS[name])
