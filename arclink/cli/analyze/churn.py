"""``arclink analyze churn``: number of links that the pages of a host gain and lose."""

import click

from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.kinds import kinds_line
from arclink.access.queries import LinkQuery
from arclink.access.texts import printable
from arclink.analysis.churn import Churn, churn_of_links
from arclink.analysis.decay import DAY
from arclink.analysis.link_scope import LinkScope, other_kinds_in
from arclink.analysis.page_histories import TargetsOf
from arclink.analysis.slices import Level
from arclink.analysis.windows import Windows
from arclink.cli.analyze.history_options import (
    external_option,
    histories_asked,
    level_option,
    links_asked,
    site_option,
    windows_asked,
)
from arclink.cli.options import store_option
from arclink.cli.question_options import kinds_to_follow_option, redirects_option
from arclink.cli.row_options import row_format_option, write_rows
from arclink.store.location import open_store

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


EXAMPLES = ("arclink analyze churn --store links.db",)


@click.command(short_help="The number of links that pages gain and lose, per host and month.")
@store_option
@site_option
@level_option
@click.option(
    "--by",
    default="month",
    show_default=True,
    metavar="WINDOWS",
    help="Windows: day, month, year, all, or times and ranges: 2009-11,2010-01/2010-03.",
)
@click.option(
    "--per",
    type=click.Choice(["host", "domain", "all"]),
    default="host",
    show_default=True,
    help="How linking pages are grouped.",
)
@kinds_to_follow_option
@redirects_option
@external_option
@row_format_option
def command(
    store: str,
    site: str,
    level: str,
    by: str,
    per: str,
    kinds: tuple[str, ...],
    redirects: str,
    is_external: bool,
    name: str,
) -> None:
    """Show the number of links that the pages of each host gained and lost between captures.

    Only two captures of one page that were both read are compared: a page that was not captured
    again lost nothing (docs/analysis.md).
    """
    windows = Windows.parse(by)
    links = links_asked(kinds=kinds, redirects=redirects)
    scope = LinkScope(Level(level), links.wants, is_external)
    group_of = (lambda _: "all") if per == "all" else Level(per).name_of
    with open_store(store) as graph:
        windows_asked(graph, windows)
        found = churn_of_links(
            histories_asked(graph, site),
            TargetsOf(graph, scope.name_of),
            scope,
            windows.names_at,
            group_of,
        )
        is_empty = not any(churn.before or churn.added for churn in found.values())
        others = other_kinds_in(graph, links) if found and is_empty else []
    write_rows(_as_rows(found, level, by, per, links, others), name)


def _as_rows(
    found: dict[tuple[str, str], Churn],
    level: str,
    by: str,
    per: str,
    links: LinkQuery,
    others: list[str],
) -> RowAnswer:
    rows: list[Row] = [
        _row(window, per, group, churn) for (window, group), churn in sorted(found.items())
    ]
    total = sum(churn.comparisons for churn in found.values())
    lines = [
        f"{total:,} pairs of captures were compared, each with the one before it of the same page."
        if rows
        else "Nothing to compare: no page in the query has two captures that were read, with the later one in a window.",
        kinds_line(links.kinds),
        *others,
        *([""] if rows else []),
    ]
    columns = ("window", per, *_COUNTS)
    return RowAnswer(
        {"level": level, "by": by, "per": per, "kinds": links.kinds.words},
        lines,
        columns,
        {"churn": rows},
        shown=("window", *_COUNTS, per),
        decimals=3,
    )


def _row(window: str, per: str, group: str, churn: Churn) -> Row:
    return {
        "window": window,
        per: printable(group),
        "pages": churn.pages,
        "comparisons": churn.comparisons,
        "days_apart": churn.seconds / DAY / churn.comparisons,
        "links_before": churn.before,
        "added": churn.added,
        "removed": churn.removed,
        "added_share": churn.added / churn.before if churn.before else None,
        "removed_share": churn.removed / churn.before if churn.before else None,
    }
