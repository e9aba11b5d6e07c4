"""``arclink analyze pagerank``: the nodes with the highest rank, by window of time."""

from typing import Any

import click

from arclink.cli.analyze.options import cache_asked, slice_options, slices_asked
from arclink.cli.row_options import row_format_option, write_rows
from arclink.errors import UsageError

EXAMPLES = ("arclink analyze pagerank --store links.db --level host --by month --compare",)


@click.command(short_help="Temporal PageRank: the first nodes of each window.")
@slice_options
@click.option(
    "--top",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Number of nodes to show.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Compare the first nodes of each window with the next window and with all time.",
)
@click.option(
    "--uri",
    default="",
    metavar="URI",
    help="Show the rank of one URI, or of its host or domain, through time.",
)
@click.option(
    "--damping",
    default=0.85,
    show_default=True,
    metavar="D",
    help="Probability that a reader follows a link.",
)
@click.option(
    "--weight",
    metavar="WHAT",
    help="Weight of an edge: its number of mementos, contents or links. Default: 1.",
)
@click.option("--self-links", is_flag=True, help="Also count links of a node to itself.")
@click.option(
    "--tolerance",
    default=1e-12,
    show_default=True,
    metavar="T",
    help="Iterate until the sum of changes of all ranks is less than this.",
)
@click.option(
    "--iterations",
    default=1000,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Maximum number of iterations.",
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
        raise UsageError("--compare and --uri cannot be used together")
    options = RankOptions(damping, tolerance, iterations, weight is not None, self_links)
    slices = open_slices(store, slices_asked(weight, given), cache_asked(given))
    found = ranked(slices, options, top, uri)
    write_rows(
        history(found, uri) if uri else agreements(found) if compare else leaders(found), name
    )
