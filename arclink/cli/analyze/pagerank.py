"""``arclink analyze pagerank``: the nodes with the highest rank, by window of time."""

from collections.abc import Iterable

import click

from arclink.access.declarations import NUMBER, TEXT, Given, Parameter, switch, whole_number
from arclink.access.formats.rows import ROW_FORMAT, ROW_FORMATS, RowAnswer
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
_CAPTURED = switch(
    "captured",
    "Show and compare only nodes captured in the window; ranks are still those of all nodes.",
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
    _CAPTURED,
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

    The table has a column for each window, as Table 4 of the paper. With --compare, it is Table 5:
    how many of the top nodes two windows share, and Kendall's tau of their order. To compare the
    first 50 nodes: --top 50 --compare. Other formats have a row for each window and node, or for
    each pair of windows.
    """
    from arclink.analysis import rank_rows
    from arclink.analysis.pagerank import RankOptions

    uri, compare = _RANK_OF.optional(given) or "", _COMPARE.required(given)
    only_captured, form = _CAPTURED.required(given), ROW_FORMAT.required(given)
    for switched in (one for one in (_COMPARE, _CAPTURED) if uri and one.required(given)):
        raise UsageError(f"--{switched.name} and --uri cannot be used together")
    options = RankOptions(
        DAMPING.required(given),
        TOLERANCE.required(given),
        ITERATIONS.required(given),
        WEIGHT.optional(given) is not None,
        _SELF_LINKS.required(given),
    )
    slices = open_requested_slices(given)
    top = TOP.required(given)
    found = rank_rows.ranked(slices, options, top, uri, only_captured=only_captured)
    if uri:
        answers: Iterable[RowAnswer] = [rank_rows.history(found, uri)]
    elif form is ROW_FORMATS["table"]:
        answers = rank_rows.as_table_5(found) if compare else rank_rows.as_table_4(found)
    else:
        answers = [rank_rows.agreements(found) if compare else rank_rows.leaders(found)]
    write_answer(piece for answer in answers for piece in form.write(answer))
