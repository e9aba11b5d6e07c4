"""``arclink analyze decay``: the share of links that survives n months."""

from math import isnan

import click

from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.kinds import kinds_line
from arclink.access.queries import LinkQuery
from arclink.analysis.decay import DAY, DAYS_PER_MONTH, Ending, Lives, lives_of_links
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
    windows_option,
)
from arclink.cli.options import store_option
from arclink.cli.question_options import kinds_to_follow_option, redirects_option
from arclink.cli.row_options import row_format_option, write_rows
from arclink.store.location import open_store

_COLUMNS = ("cohort", "months", "at_risk", "share", "low", "high", "earliest", "latest")


EXAMPLES = ("arclink analyze decay --store links.db",)


@click.command(short_help="The share of links that remain after n months.")
@store_option
@site_option
@level_option
@windows_option("One curve per window, for the links first seen in it")
@click.option(
    "--new",
    "only_new",
    is_flag=True,
    help="Only links whose page has an earlier capture without them.",
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
    only_new: bool,
    kinds: tuple[str, ...],
    redirects: str,
    is_external: bool,
    name: str,
) -> None:
    """Show the share of links that survives n months after they were first seen (Kaplan-Meier).

    A link is a page and its target. It is gone if a later capture of the page was read and does not
    have it; a page that was not captured again shows nothing (docs/analysis.md).
    """
    windows = Windows.parse(by)
    links = links_asked(kinds=kinds, redirects=redirects)
    scope = LinkScope(Level(level), links.wants, is_external)
    with open_store(store) as graph:
        windows_asked(graph, windows)
        lives = lives_of_links(
            histories_asked(graph, site),
            TargetsOf(graph, scope.name_of),
            scope,
            windows.names_at,
            only_new=only_new,
        )
        others = [] if lives else other_kinds_in(graph, links)
    write_rows(_as_rows(lives, level, by, only_new, links, others), name)


def _as_rows(
    lives: dict[str, Lives],
    level: str,
    by: str,
    only_new: bool,
    links: LinkQuery,
    others: list[str],
) -> RowAnswer:
    rows: list[Row] = []
    lines: list[str] = []
    cohorts: dict[str, object] = {}
    for cohort, lived in sorted(lives.items()):
        rows += _months(cohort, lived)
        median = lived.curve(Ending.MIDDLE).median()
        gap = lived.gap_seconds / DAY / lived.gone if lived.gone else None
        cohorts[cohort] = {
            "links": lived.links,
            "gone": lived.gone,
            "mean_gap_days": gap,
            "median_days": median,
        }
        lines.append(
            f"{cohort}: {lived.links:,} links, {lived.gone:,} of them were removed"
            + (
                f", each between two captures that are {gap:,.0f} days apart on average"
                if gap is not None
                else ""
            )
            + (
                f"; half are gone after {median:,} days."
                if median is not None
                else "; more than half remain at the end of the observation."
            )
        )
    if not lives:
        lines.append(
            "Nothing to follow: no link of a page in the query was first seen in a window."
        )
    lines += [kinds_line(links.kinds), *others]
    about = {
        "level": level,
        "by": by,
        "kinds": links.kinds.words,
        "new": only_new,
        "days_per_month": DAYS_PER_MONTH,
        "cohorts": cohorts,
    }
    return RowAnswer(
        about, [*lines, *([""] if rows else [])], _COLUMNS, {"months": rows}, decimals=3
    )


def _months(cohort: str, lived: Lives) -> list[Row]:
    """Return a row for each whole month up to the age of the oldest link."""
    curves = {ending: lived.curve(ending) for ending in Ending}
    middle = curves[Ending.MIDDLE]
    rows: list[Row] = []
    while (day := int(len(rows) * DAYS_PER_MONTH)) < len(middle.share):
        at = {ending: min(day, len(curve.share) - 1) for ending, curve in curves.items()}
        row = {
            "cohort": cohort,
            "months": len(rows),
            "at_risk": int(middle.at_risk[day]),
            "share": float(middle.share[day]),
            "low": float(middle.low[day]),
            "high": float(middle.high[day]),
            "earliest": float(curves[Ending.EARLIEST].share[at[Ending.EARLIEST]]),
            "latest": float(curves[Ending.LATEST].share[at[Ending.LATEST]]),
        }
        rows.append(
            {
                name: None if isinstance(value, float) and isnan(value) else value
                for name, value in row.items()
            }
        )
    return rows
