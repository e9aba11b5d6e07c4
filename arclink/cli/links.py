"""``arclink links URI``: its outlinks and inlinks, with their times and words."""

import sys
from collections.abc import Sequence

import click

from arclink.access.answers import answer_link_query
from arclink.access.formats import FORMATS, PROFILES, field_names
from arclink.access.formats.levels import level_as_rows
from arclink.access.formats.rows import ROW_FORMATS
from arclink.access.levels import LevelQuery, answer_level
from arclink.access.queries import (
    DEFAULT_LIMIT,
    MATCH_TYPE,
    BadParameterError,
    LinkQuery,
    MatchType,
)
from arclink.access.replay import parse_replay
from arclink.cli.options import replay_option, store_option
from arclink.cli.question_options import (
    at_option,
    cursor_option,
    direction_option,
    filter_option,
    from_option,
    kinds_option,
    match_type_option,
    redirects_option,
    to_option,
)
from arclink.cli.row_options import write_rows
from arclink.store.location import open_store

EXAMPLES = (
    "arclink links example.org --store links.db",
    "arclink links example.org --store links.db --direction in --from 2010 --to 201003",
    "arclink links example.org --store links.db --at 20100217 --format csv > links.csv",
)


@click.command("links", short_help="Show the links of a URI through time.")
@click.argument("uri")
@store_option
@match_type_option
@direction_option
@from_option
@to_option
@at_option
@kinds_option
@filter_option
@redirects_option
@click.option(
    "--follow",
    is_flag=True,
    help="If the URI redirects at that time, answer for the redirect's target.",
)
@click.option(
    "--limit",
    default=str(DEFAULT_LIMIT),
    show_default=True,
    metavar="N",
    help="Number of links per direction; 0 for all, as jsonl, csv or RDF.",
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
    "--fields",
    "fields",
    default="",
    metavar="NAMES",
    help="With jsonl and csv: only these fields, separated by commas.",
)
@click.option(
    "--profile", type=click.Choice(PROFILES), help="RDF as in the paper, or with one node per link."
)
@click.option(
    "--level",
    type=click.Choice(["uri", "host", "domain"]),
    default="uri",
    show_default=True,
    help="Count links per host or domain instead of listing them.",
)
@click.option(
    "--by",
    default="",
    metavar="UNIT",
    help="With --level host or domain: count per day, month (the default) or year.",
)
@click.option(
    "--evidence",
    is_flag=True,
    help="Show the mementos of each link: file, offset, checksum; not with --format table.",
)
@click.option(
    "--validity",
    is_flag=True,
    help="Show between which mementos each link appeared and disappeared.",
)
@replay_option
def command(
    uri: str,
    store: str,
    match_type: str,
    direction: str,
    first: str,
    last: str,
    at: str,
    kinds: tuple[str, ...],
    filters: tuple[str, ...],
    redirects: str,
    follow: bool,
    limit: str,
    cursor: str,
    name: str,
    fields: str,
    profile: str | None,
    level: str,
    by: str,
    evidence: bool,
    validity: bool,
    replay: str,
) -> None:
    """Show the outlinks and inlinks of URI, with their times and words.

    Any variant of the URI (http or https, with or without www.) gives the same answer.
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
    parameters += [("filter", one) for one in filters]
    switches = {"evidence": evidence, "validity": validity, "follow": follow}
    parameters += [(option, "true") for option, is_asked in switches.items() if is_asked]
    parameters += [("by", by)] if by else []
    parameters += [(MATCH_TYPE.name, match_type)] if match_type != MatchType.EXACT.value else []
    if level != "uri":
        _count(
            [*parameters, ("level", level), *([("profile", profile)] if profile else [])],
            store,
            name,
        )
        return
    query = LinkQuery.from_parameters(parameters)
    prefix = parse_replay("--replay", replay)
    form = FORMATS[name].in_profile(profile or "").with_fields(field_names(fields))
    form.check(query)
    with open_store(store) as graph:
        for piece in form.write(answer_link_query(graph, query, replay=prefix)):
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _count(parameters: Sequence[tuple[str, str]], store: str, name: str) -> None:
    query = LevelQuery.from_parameters(parameters)
    if name not in ROW_FORMATS:
        raise BadParameterError(
            "format", name, f"with --level {query.level.value}: {', '.join(ROW_FORMATS)}"
        )
    with open_store(store) as graph:
        write_rows(level_as_rows(answer_level(graph, query)), name)
