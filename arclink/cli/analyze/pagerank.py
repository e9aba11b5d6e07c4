"""``arclink analyze pagerank``: the nodes with the highest rank, by window of time."""

from typing import Any

import click

from arclink.cli.analyze.options import cache_asked, slice_options, slices_asked
from arclink.cli.row_options import row_format_option, write_rows
from arclink.errors import UsageError

EXAMPLES = ("arclink analyze pagerank --store links.db --level host --by month --compare",)


@click.command(short_help="Temporal PageRank: who ranks first in each window.")
@slice_options
@click.option(
    "--top",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="How many of the first ones.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Instead, what the first ones of each window and the next, and of all, have in common.",
)
@click.option(
    "--uri",
    default="",
    metavar="URI",
    help="Instead, the rank of one URI (at another level, of its host or domain) through time.",
)
@click.option(
    "--damping",
    default=0.85,
    show_default=True,
    metavar="D",
    help="Chance that a reader follows a link.",
)
@click.option(
    "--weight",
    metavar="WHAT",
    help="A link counts as often as mementos, contents or links show it; without, once.",
)
@click.option("--self-links", is_flag=True, help="Links of a node to itself count, too.")
@click.option(
    "--tolerance",
    default=1e-12,
    show_default=True,
    metavar="T",
    help="Iterate until ranks change by less than this, added up.",
)
@click.option(
    "--iterations",
    default=1000,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="And not more often than this.",
)
@row_format_option
def command(
    store: str,
    top: int,
    compare: bool,
    uri: str,
    damping: float,
    weight: str | None,
    self_links: bool,
    tolerance: float,
    iterations: int,
    name: str,
    **given: Any,  # what `slice_options` add
) -> None:
    """Show the temporal PageRank of the graph: the first nodes of each window, and over all time.

    With --compare, show how many of the first nodes two windows share, and Kendall's tau of their
    order (top 50: --top 50 --compare).
    """
    from arclink.analysis.pagerank import RankOptions
    from arclink.analysis.rank_rows import agreements, history, leaders, ranked
    from arclink.analysis.slice_cache import open_slices

    if compare and uri:
        raise UsageError("--compare and --uri are two questions: ask one of them")
    options = RankOptions(damping, tolerance, iterations, weight is not None, self_links)
    slices = open_slices(store, slices_asked(weight, given), cache_asked(given))
    found = ranked(slices, options, top, uri)
    write_rows(
        history(found, uri) if uri else agreements(found) if compare else leaders(found), name
    )
