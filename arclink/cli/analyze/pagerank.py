"""``arclink analyze pagerank``: the nodes with the highest rank, by window of time."""

import click

from arclink.access.declarations import NUMBER, TEXT, Given, Parameter, switch, whole_number
from arclink.access.formats.rows import ROW_FORMAT
from arclink.cli.analyze.options import SLICES, WEIGHT, open_requested_slices
from arclink.cli.options import takes, write_answer
from arclink.errors import UsageError

TOP = Parameter(
    "top", "Number of nodes to show.", whole_number(None, least=1), default="10", metavar="N"
)
_COMPARE = switch(
    "compare",
    "Compare the top nodes of each window with those of the next window and of all time.",
)
_RANK_OF = Parameter(
    "uri",
    "Show the rank of one URI, or of its host or domain, through time.",
    TEXT,
    metavar="URI",
)
DAMPING = Parameter(
    "damping", "Probability that a reader follows a link.", NUMBER, default="0.85", metavar="D"
)
_SELF_LINKS = switch("self-links", "Also count links of a node to itself.")
TOLERANCE = Parameter(
    "tolerance",
    "Stop when the sum of the changes of all ranks is less than this.",
    NUMBER,
    default="1e-12",
    metavar="T",
)
ITERATIONS = Parameter(
    "iterations",
    "Maximum number of iterations.",
    whole_number(None, least=1),
    default="1000",
    metavar="N",
)

EXAMPLES = ("arclink analyze pagerank --store links.db --level host --by month --compare",)


@click.command()
@takes(
    *SLICES,
    TOP,
    _COMPARE,
    _RANK_OF,
    DAMPING,
    WEIGHT,
    _SELF_LINKS,
    TOLERANCE,
    ITERATIONS,
    ROW_FORMAT,
)
def command(given: Given) -> None:
    """Show temporal PageRank: the nodes with the highest ranks in each window, and over all time.

    With --compare, show how many of the top nodes two windows share, and Kendall's tau of their
    order. To compare the first 50 nodes: --top 50 --compare.
    """
    from arclink.analysis.pagerank import RankOptions
    from arclink.analysis.rank_rows import agreements, history, leaders, ranked

    uri, compare = _RANK_OF.optional(given) or "", _COMPARE.required(given)
    if compare and uri:
        raise UsageError("--compare and --uri cannot be used together")
    options = RankOptions(
        DAMPING.required(given),
        TOLERANCE.required(given),
        ITERATIONS.required(given),
        WEIGHT.optional(given) is not None,
        _SELF_LINKS.required(given),
    )
    slices = open_requested_slices(given)
    found = ranked(slices, options, TOP.required(given), uri)
    rows = history(found, uri) if uri else agreements(found) if compare else leaders(found)
    write_answer(ROW_FORMAT.required(given).write(rows))
