"""``arclink analyze path FROM TO``: a path of links from one URI to another, forward in time."""

import click

from arclink.access.common import COMMON_TO_FOLLOW
from arclink.access.declarations import TEXT, Given, Parameter, choice, whole_number
from arclink.access.formats.rows import ROW_FORMAT, Row, RowAnswer
from arclink.access.formats.table import date_and_time
from arclink.access.kinds import kinds_line
from arclink.access.queries import URI, absolute_uri, surt_asked
from arclink.access.texts import printable, printable_uri
from arclink.access.times import FROM, TO
from arclink.analysis.paths import PathAnswer, PathChoice, PathQuery, Usable, find_path
from arclink.cli.analyze.options import requested_links
from arclink.cli.options import GRAPH, open_requested_graph, takes, write_answer
from arclink.errors import UsageError
from arclink.known import KnownLinks
from arclink.store.known_captures import is_read

_COLUMNS = ("hop", "time", "seen", "kind", "text", "page", "target")

BEGIN = Parameter(
    "begin",
    "Where the path begins.",
    TEXT,
    is_required=True,
    is_positional=True,
    metavar="FROM_URI",
)
END = Parameter(
    "end", "Where it ends.", TEXT, is_required=True, is_positional=True, metavar="TO_URI"
)
_FIND = Parameter(
    "find",
    "The path that arrives first, or the path with the fewest links.",
    choice(PathChoice),
    default="earliest",
)
_WHEN = Parameter(
    "when",
    "When a link can be followed: at its mementos, or until the next memento of its page.",
    choice(Usable),
    default="seen",
)
_MOST_PAGES = Parameter(
    "most-pages",
    "Maximum number of pages to search.",
    whole_number(None, least=1),
    default="20000",
    metavar="N",
)
MOST_HOPS = Parameter(
    "most-hops",
    "Maximum number of links of a shortest path.",
    whole_number(None, least=1),
    default="20",
    metavar="N",
)

EXAMPLES = ("arclink analyze path example.org example.net --store links.db",)


@click.command()
@takes(
    BEGIN,
    END,
    *GRAPH,
    _FIND,
    _WHEN,
    FROM,
    TO,
    *COMMON_TO_FOLLOW,
    _MOST_PAGES,
    MOST_HOPS,
    ROW_FORMAT,
)
def command(given: Given) -> None:
    """Show a path of links from FROM_URI to TO_URI whose times never go back.

    --from and --to limit the times at which links are followed.
    """
    begin, end = given.text(BEGIN), given.text(END)
    uri, surt = URI.read(begin)
    links = requested_links(given, uri=uri, surt=surt)
    target = surt_asked("TO_URI", end)
    if target == links.surt:
        raise UsageError(f"{begin} and {end} are the same page: name two different ones")
    query = PathQuery(
        links,
        target,
        _WHEN.required(given),
        _FIND.required(given),
        _MOST_PAGES.required(given),
        MOST_HOPS.required(given),
    )
    with open_requested_graph(given) as graph:
        captures = [*graph.mementos(links.surt, links.span)]
        read = (is_read(graph, one, graph.content_of(one)) for one in captures)
        known = KnownLinks(len(captures), sum(read))
        of_all = graph.known(links.span)
        is_known = any(
            next(rows, None) is not None
            for rows in (graph.inlinks(query.target), graph.mementos(query.target))
        )
        answer = find_path(graph, query)
    unknown = "" if is_known else end
    rows = _as_rows(query, answer, end, (known, of_all), unknown)
    write_answer(ROW_FORMAT.required(given).write(rows))


def _as_rows(
    query: PathQuery,
    answer: PathAnswer,
    end: str,
    known: tuple[KnownLinks, KnownLinks],
    unknown: str,
) -> RowAnswer:
    about = {
        "from_uri": printable_uri(query.links.uri),
        "to_uri": printable_uri(absolute_uri(end)),
        "find": query.wanted.value,
        "when": query.usable.value,
        "kinds": query.links.kinds.words,
        "found": bool(answer.hops),
        "pages": answer.pages,
        "complete": answer.is_complete,
        "begin_read_from": known[0].as_fields,
        "read_from": known[1].as_fields,
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
    lines = [_outcome(query, answer, *known, unknown), kinds_line(query.links.kinds)]
    if not rows and answer.others:
        lines.append(
            f"{answer.others:,} links of other kinds on these pages were not followed: "
            "--kinds all follows them."
        )
    lines += [""] if rows else []
    return RowAnswer(about, lines, _COLUMNS, {"hops": rows})


def _outcome(
    query: PathQuery,
    answer: PathAnswer,
    of_begin: KnownLinks,
    of_all: KnownLinks,
    unknown: str,
) -> str:
    """Return a path in a sentence, or why none was found.

    Args:
        query: The query.
        answer: Its answer.
        of_begin: What is known of the page at which paths begin, in the time of the query.
        of_all: What is known of all pages then.
        unknown: The page at which paths end if the graph has nothing about it; else empty.
    """
    looked = "1 page was searched" if answer.pages == 1 else f"{answer.pages:,} pages were searched"
    if answer.hops:
        links = "1 link" if len(answer.hops) == 1 else f"{len(answer.hops):,} links"
        return f"{links}, arriving {date_and_time(answer.hops[-1].time)}; {looked}."
    if why := of_begin.why_unknown("from that time"):
        return f"Unknown: of {printable_uri(query.links.uri)}, {why}."
    if unknown:
        return (
            f"No path: the graph does not know {printable_uri(unknown)}: it has no capture of it "
            f"and no link to it; {looked}."
        )
    if answer.is_complete:
        read_from = f" ({of_all.read_from})" if of_all.read_from else ""
        return (
            f"No path: {looked}, which are all pages that can be reached in that time{read_from}."
        )
    return (
        f"None found: {looked}, and the search ended there. Allow more (--most-pages, now "
        f"{query.most_pages:,}; for a shortest path also --most-hops, now {query.most_hops:,}), or "
        "a shorter time (--from, --to)."
    )
