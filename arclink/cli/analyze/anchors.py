"""``arclink analyze anchors URI``: texts of links to a URI, host or domain, weighed by tf-idf."""

from dataclasses import replace
from itertools import groupby, islice
from operator import attrgetter

import click

from arclink.access.common import COMMON_TO_FOLLOW
from arclink.access.declarations import Given, Parameter, choice
from arclink.access.formats.anchors import count_fields
from arclink.access.formats.rows import ROW_FORMAT, Row, RowAnswer
from arclink.access.formats.table import known_line
from arclink.access.kinds import kinds_line
from arclink.access.queries import URI, Direction
from arclink.access.reader import Reading
from arclink.access.texts import printable, printable_uri
from arclink.access.times import TIMES
from arclink.analysis.anchor_texts import (
    AnchorTextQuery,
    Term,
    TextCounts,
    WeighedTerm,
    anchor_texts,
)
from arclink.analysis.link_scope import other_kinds
from arclink.analysis.slices import Level
from arclink.analysis.targets import Target
from arclink.analysis.windows import Windows
from arclink.cli.analyze.history_options import (
    EXTERNAL,
    LEVEL,
    ROWS,
    requested_links,
    requested_windows,
)
from arclink.cli.analyze.options import BY as WINDOWS
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, open_requested_graph, requested_tables
from arclink.cli.output import write_answer

_COUNTS = ("links", "contents", "mementos", "hosts", "first", "last")

_OF = Parameter("of", "Count whole texts, or words.", choice(Term), default="text")
BY = replace(
    WINDOWS,
    about="Windows in which texts are counted: day, month, year, all, or times and ranges: "
    "2009-11,2010-01/2010-03.",
    default="all",
)

EXAMPLES = ("arclink analyze anchors example.org --store links.db --by year",)


@click.command()
@takes(
    *GRAPH,
    URI,
    LEVEL,
    _OF,
    BY,
    *TIMES,
    *COMMON_TO_FOLLOW,
    EXTERNAL,
    ROWS,
    ROW_FORMAT,
)
def command(given: Given) -> None:
    """Show the texts or words of links to URI, or to its host or domain.

    Each has its count, times and weight (tf-idf). No capture of URI itself is needed.
    """
    by = BY.required(given)
    target = Target.asked(given.text(URI), LEVEL.required(given))
    links = requested_links(given, direction=Direction.IN)
    query = AnchorTextQuery(
        target, links, _OF.required(given), Windows.parse(by), EXTERNAL.required(given)
    )
    with open_requested_graph(given) as graph:
        requested_windows(graph, query.windows)
        with requested_tables(given, graph) as database:
            terms, found = anchor_texts(database, query)
            is_none = not found.links and not found.inner
            others = other_kinds(database, links, target.part) if is_none else []
        known = (
            known_line(links, Reading(graph, links).summary())
            if target.level is Level.URI
            else None
        )
    limit = ROWS.required(given)
    rows = _as_rows(query, by, terms, found, limit, known, others)
    write_answer(ROW_FORMAT.required(given).write(rows))


def _as_rows(
    query: AnchorTextQuery,
    by: str,
    terms: list[WeighedTerm],
    found: TextCounts,
    limit: int,
    known: str | None,
    others: list[str],
) -> RowAnswer:
    shown = [
        one
        for _, same in groupby(terms, attrgetter("window"))
        for one in (islice(same, limit) if limit else same)
    ]
    target, what = query.target, query.term.value
    before = [] if by == "all" else ["window"]
    names = [*before, "tf_idf", "tf", "df", what, *_COUNTS]
    about = {
        "uri": printable_uri(target.uri),
        "level": target.level.value,
        "name": printable_uri(target.name),
        "by": by,
        "external": query.is_external,
        "kinds": query.links.kinds.words,
        "total": len(terms),
        "documents": found.documents,
        "found": {
            "links": found.links,
            "inner": found.inner,
            "textless": found.textless,
            "uris": found.targets,
            "captured": found.captured,
        },
    }
    lines = [
        f"{printable_uri(target.uri)}  ({printable_uri(target.name)})",
        known
        or (
            f"{found.targets:,} URIs of this {target.level.value} are linked to, "
            f"{found.captured:,} of them were captured."
        ),
        kinds_line(query.links.kinds),
        *others,
        f"{found.links:,} links of contents, {found.textless:,} of them without text"
        + (f"; {found.inner:,} from within left out." if query.is_external else "."),
        f"{len(shown):,} of {len(terms):,} {what}s. tf-idf = tf · log10(N / df); N = "
        f"{found.documents:,} {target.level.plural}"
        " that a text leads to, df = those that this one leads to.",
        *([""] if shown else []),
    ]
    rows: list[Row] = [
        {
            "window": one.window,
            "tf_idf": round(one.tf_idf, 4),
            "tf": one.occurrences,
            "df": one.documents,
            what: printable(one.term),
            **count_fields(one.counts),
        }
        for one in shown
    ]
    return RowAnswer(
        about,
        lines,
        names,
        {f"{what}s": rows},
        decimals=3,
        shown=[*before, "tf_idf", "tf", "df", "links", "hosts", "first", "last", what],
    )
