"""``arclink analyze path FROM TO``: a path of links from one URI to another, forward in time."""

import click

from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.formats.table import date_and_time
from arclink.access.kinds import kinds_line
from arclink.access.queries import absolute_uri, surt_asked
from arclink.access.texts import printable, printable_uri
from arclink.analysis.paths import PathAnswer, PathQuery, Usable, Wanted, find_path
from arclink.cli.analyze.history_options import links_asked
from arclink.cli.options import store_option
from arclink.cli.question_options import (
    from_option,
    kinds_to_follow_option,
    redirects_option,
    to_option,
)
from arclink.cli.row_options import row_format_option, write_rows
from arclink.errors import UsageError
from arclink.store.location import open_store

_COLUMNS = ("hop", "time", "seen", "kind", "text", "page", "target")


EXAMPLES = ("arclink analyze path example.org example.net --store links.db",)


@click.command(short_help="A path of links between two URIs that follows time.")
@click.argument("begin", metavar="FROM_URI")
@click.argument("end", metavar="TO_URI")
@store_option
@click.option(
    "--find",
    type=click.Choice([one.value for one in Wanted]),
    default="earliest",
    show_default=True,
    help="The path that arrives first, or the path with the fewest links.",
)
@click.option(
    "--when",
    type=click.Choice([one.value for one in Usable]),
    default="seen",
    show_default=True,
    help="When a link can be followed: at its mementos, or until the next memento of its page.",
)
@from_option
@to_option
@kinds_to_follow_option
@redirects_option
@click.option(
    "--most-pages",
    type=click.IntRange(min=1),
    default=20_000,
    show_default=True,
    metavar="N",
    help="Maximum number of pages to search.",
)
@click.option(
    "--most-hops",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Maximum number of links of a shortest path.",
)
@row_format_option
def command(
    begin: str,
    end: str,
    store: str,
    find: str,
    when: str,
    first: str,
    last: str,
    kinds: tuple[str, ...],
    redirects: str,
    most_pages: int,
    most_hops: int,
    name: str,
) -> None:
    """Show a path of links from FROM_URI to TO_URI whose times never go back.

    --from and --to limit the times at which links are followed.
    """
    links = links_asked(begin, from_=first, to=last, kinds=kinds, redirects=redirects)
    target = surt_asked("TO_URI", end)
    if target == links.surt:
        raise UsageError(f"{begin} and {end} are the same page: name two different ones")
    query = PathQuery(links, target, Usable(when), Wanted(find), most_pages, most_hops)
    with open_store(store) as graph:
        is_captured = next(graph.mementos(links.surt, links.span), None) is not None
        answer = find_path(graph, query)
    write_rows(_as_rows(query, answer, end, is_captured), name)


def _as_rows(query: PathQuery, answer: PathAnswer, end: str, is_captured: bool) -> RowAnswer:
    about = {
        "from_uri": printable_uri(query.links.uri),
        "to_uri": printable_uri(absolute_uri(end)),
        "find": query.wanted.value,
        "when": query.usable.value,
        "kinds": query.links.kinds.words,
        "found": bool(answer.hops),
        "pages": answer.pages,
        "complete": answer.is_complete,
    }
    rows: list[Row] = [
        {
            "hop": number,
            "time": hop.time,
            "seen": hop.seen,
            "kind": printable(hop.link.kind),
            "text": printable(hop.link.text),
            "page": printable_uri(hop.page),
            "target": printable_uri(hop.link.target),
        }
        for number, hop in enumerate(answer.hops, 1)
    ]
    lines = [_told(query, answer, is_captured), kinds_line(query.links.kinds)]
    if not rows and answer.others:
        lines.append(
            f"{answer.others:,} links of other kinds on these pages were not followed: --kinds all follows them."
        )
    lines += [""] if rows else []
    return RowAnswer(about, lines, _COLUMNS, {"hops": rows})


def _told(query: PathQuery, answer: PathAnswer, is_captured: bool) -> str:
    looked = "1 page was searched" if answer.pages == 1 else f"{answer.pages:,} pages were searched"
    if answer.hops:
        links = "1 link" if len(answer.hops) == 1 else f"{len(answer.hops):,} links"
        return f"{links}, arriving {date_and_time(answer.hops[-1].time)}; {looked}."
    if not is_captured:
        return f"No path: {printable_uri(query.links.uri)} was not captured in that time, so its links are unknown."
    if answer.is_complete:
        return f"No path: {looked}, which are all pages that can be reached in that time."
    return (
        f"None found: {looked}, and the search ended there. Allow more (--most-pages, now {query.most_pages:,}; "
        f"for a shortest path also --most-hops, now {query.most_hops:,}), or a shorter time (--from, --to)."
    )
