"""``arclink analyze decay``: the share of links that remain after n months."""

from collections.abc import Mapping
from dataclasses import replace
from math import isnan

import click

from arclink.access.common import COMMON_TO_FOLLOW
from arclink.access.declarations import TEXT, Given, Parameter, choice, switch
from arclink.access.formats.rows import ROW_FORMAT, Row, RowAnswer
from arclink.access.kinds import kinds_line
from arclink.access.queries import LinkQuery
from arclink.analysis.decay import DAY, DAYS_PER_MONTH, Ending, Lives, lives_of_links
from arclink.analysis.link_scope import LinkScope, other_kinds, site_asked
from arclink.analysis.slices import Level
from arclink.cli.analyze.options import BY as WINDOWS
from arclink.cli.analyze.options import requested_links
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, open_requested_graph, requested_tables
from arclink.cli.output import write_answer
from arclink.model import Timestamp

_COLUMNS = ("cohort", "months", "at_risk", "share", "low", "high", "earliest", "latest")

BY = replace(
    WINDOWS,
    about="One curve per window of time, for the links first seen in it.",
    default="all",
)
LEVEL = Parameter("level", "How targets of links are grouped.", choice(Level), default="uri")
_EXTERNAL = switch("external", "Leave out links from the same host or domain.")
SITE = Parameter(
    "site",
    "Only pages of this host and its subdomains.",
    TEXT,
    metavar="HOST",
    otherwise="all pages",
)
_ONLY_NEW = switch("new", "Only links whose page has an earlier capture without them.")

EXAMPLES = ("arclink analyze decay --store links.db",)


@click.command()
@takes(*GRAPH, SITE, LEVEL, BY, _ONLY_NEW, *COMMON_TO_FOLLOW, _EXTERNAL, ROW_FORMAT)
def command(given: Given) -> None:
    """Show the share of links that remain n months after they were first seen (Kaplan-Meier).

    A link is a page and its target. It is gone if a later capture of the page was read and does not
    have it, or is an error or a redirect. If the page was not captured again, nothing is known
    about its links (docs/reference/analysis.md).
    """
    windows, only_new = BY.required(given), _ONLY_NEW.required(given)
    links = requested_links(given)
    scope = LinkScope(LEVEL.required(given), links.wants, _EXTERNAL.required(given))
    site = site_asked(SITE.optional(given) or "")
    with open_requested_graph(given) as graph:
        sums = graph.whole.sums()  # those of a subset would take a scan
        if sums.first:
            windows.refuse_outside(Timestamp(sums.first), Timestamp(sums.last))
        with requested_tables(given, graph) as relations:
            lives = lives_of_links(relations, scope, windows, site, only_new=only_new)
            others = [] if lives else other_kinds(relations, links)
    about = {
        "level": scope.level.value,
        "by": windows.written,
        "kinds": links.kinds.words,
        "new": only_new,
    }
    rows = _as_rows(lives, about, links, others)
    write_answer(ROW_FORMAT.required(given).write(rows))


def _as_rows(
    lives: dict[str, Lives],
    about: Mapping[str, object],
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
    about = {**about, "days_per_month": DAYS_PER_MONTH, "cohorts": cohorts}
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
