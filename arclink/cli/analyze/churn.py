"""``arclink analyze churn``: number of links that the pages of a host gain and lose."""

from collections.abc import Mapping

import click

from arclink.access.common import COMMON_TO_FOLLOW
from arclink.access.declarations import Given, Parameter, named
from arclink.access.formats.rows import ROW_FORMAT, Row, RowAnswer
from arclink.access.kinds import kinds_line
from arclink.access.queries import LinkQuery
from arclink.access.texts import printable
from arclink.analysis.churn import Churn, churn_of_links
from arclink.analysis.decay import DAY
from arclink.analysis.link_scope import LinkScope, other_kinds
from arclink.analysis.targets import site_asked
from arclink.analysis.windows import Windows
from arclink.cli.analyze.history_options import (
    EXTERNAL,
    LEVEL,
    SITE,
    requested_links,
    requested_relations,
)
from arclink.cli.analyze.options import BY
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH
from arclink.cli.output import write_answer
from arclink.relations.parts import ARCHIVE

_COUNTS = (
    "pages",
    "comparisons",
    "days_apart",
    "links_before",
    "added",
    "removed",
    "added_share",
    "removed_share",
)

_PER = Parameter(
    "per",
    "How linking pages are grouped.",
    named({name: name for name in ("host", "domain", "all")}),
    default="host",
)

EXAMPLES = ("arclink analyze churn --store links.db",)


@click.command()
@takes(*GRAPH, SITE, LEVEL, BY, _PER, *COMMON_TO_FOLLOW, EXTERNAL, ROW_FORMAT)
def command(given: Given) -> None:
    """Show the number of links that the pages of each host gained and lost between captures.

    Consecutive captures of a page are compared if their links are known; an error or a redirect is
    a capture without links. A page that was not captured again does not count as a page that lost
    links (docs/reference/analysis.md).
    """
    by, per = BY.required(given), _PER.required(given)
    windows = Windows.parse(by)
    links = requested_links(given)
    scope = LinkScope(LEVEL.required(given), links.wants, EXTERNAL.required(given))
    site = site_asked(SITE.optional(given) or "")
    with requested_relations(given, windows) as relations:
        found = churn_of_links(relations, scope, windows, per, site)
        is_empty = not any(churn.before or churn.added for churn in found)
        others = other_kinds(relations, links, ARCHIVE, repeated=True) if found and is_empty else []
    about = {"level": scope.level.value, "by": by, "per": per, "kinds": links.kinds.words}
    rows = _as_rows(found, per, about, links, others)
    write_answer(ROW_FORMAT.required(given).write(rows))


def _as_rows(
    found: list[Churn],
    per: str,
    about: Mapping[str, object],
    links: LinkQuery,
    others: list[str],
) -> RowAnswer:
    rows: list[Row] = [_row(per, churn) for churn in found]
    total = sum(churn.comparisons for churn in found)
    lines = [
        f"{total:,} pairs of captures were compared, each with the one before it of the same page."
        if rows
        else (
            "Nothing to compare: no page in the query has two captures that were read, with the "
            "later one in a window."
        ),
        kinds_line(links.kinds),
        *others,
        *([""] if rows else []),
    ]
    columns = ("window", per, *_COUNTS)
    return RowAnswer(
        about,
        lines,
        columns,
        {"churn": rows},
        shown=("window", *_COUNTS, per),
        decimals=3,
    )


def _row(per: str, churn: Churn) -> Row:
    return {
        "window": churn.window,
        per: printable(churn.part),
        "pages": churn.pages,
        "comparisons": churn.comparisons,
        "days_apart": churn.seconds / DAY / churn.comparisons,
        "links_before": churn.before,
        "added": churn.added,
        "removed": churn.removed,
        "added_share": churn.added / churn.before if churn.before else None,
        "removed_share": churn.removed / churn.before if churn.before else None,
    }
