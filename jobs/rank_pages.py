"""Rank: PageRank by windows of time over graph files; same ranks as ``arclink analyze pagerank``.

Input: the parts of ``mementos``, ``payloads`` and ``outlinks`` of all batches of a graph. Output:
window, node and rank, separated by tabs.

    python jobs/rank_pages.py -r hadoop --level host --iterations 100 GRAPH/*/*/part-*
    --output-dir RANKS
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mrjob.job import MRJob
from mrjob.step import MRStep

from arclink.access.queries import KINDS_TO_FOLLOW, Redirects, requested_kinds
from arclink.analysis.matrices.rank_steps import RankSteps
from arclink.analysis.matrices.slices import Level, SliceOptions, Weight, Windows
from arclink.mapreduce.job import ArclinkJob, Pair, as_written


class RankPages(ArclinkJob):
    """Steps: resolve, join, collect, then pass ranks on once per iteration, then share."""

    SORT_VALUES = True

    def add_own_args(self) -> None:
        """Add the options of ``arclink analyze pagerank``."""
        self.add_passthru_arg(
            "--by", default="month", help="month, year, day, all, or 2009-11,2010-01/2010-03"
        )
        self.add_passthru_arg(
            "--level",
            default=Level.URI.value,
            choices=[level.value for level in Level],
            help="Level of the nodes",
        )
        self.add_passthru_arg(
            f"--{KINDS_TO_FOLLOW.name}",
            action="append",
            default=[],
            help=f"{KINDS_TO_FOLLOW.about} {KINDS_TO_FOLLOW.default} by default; "
            f"{KINDS_TO_FOLLOW.form.allowed}",
        )
        self.add_passthru_arg(
            "--redirects",
            default="yes",
            choices=["yes", "no", "only"],
            help="Whether redirects count as links",
        )
        self.add_passthru_arg(
            "--damping", type=float, default=0.85, help="Chance that a reader follows a link"
        )
        self.add_passthru_arg(
            "--iterations",
            type=int,
            default=100,
            help="Number of iterations; docs/explanation/analysis-methods.md explains how many "
            "are enough",
        )

    def load_args(self, args: Sequence[str]) -> None:
        """Read the options once for all steps."""
        super().load_args(args)
        given = self.options
        asked = SliceOptions(
            Windows.parse(given.by),
            Level(given.level),
            Weight.MEMENTOS,
            False,
            requested_kinds(given.kinds),
            Redirects(given.redirects),
        )
        self.work = RankSteps(asked, given.damping)

    def steps(self) -> list[MRStep]:
        """Return the steps of this job, not the single step of the base class."""
        work = self.work
        hand_on = MRStep(mapper=work.map_links, reducer=work.reduce_links)
        return [
            MRStep(mapper=self.map_row, reducer=work.reduce_original),
            MRStep(reducer=work.reduce_checksum),
            MRStep(reducer=work.reduce_node),
            *[hand_on] * self.options.iterations,
            MRStep(mapper=self.map_row, reducer=work.reduce_shares),
        ]

    def map_row(self, key: bytes, value: bytes) -> Iterator[Pair]:
        """Pass a row of the graph files on."""
        return self.work.map_row(value)

    def map_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the pairs of one map task of one step.

        The last step reads all of its pairs at once.
        """
        if step_num == len(self.steps()) - 1:
            return self.work.map_shares(pairs)
        # Not the method of the base class, which supports one step only.
        found: Any = MRJob.map_pairs(self, pairs, step_num)
        return iter(found)

    def reduce_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the pairs of one reduce task of one of the steps."""
        found: Any = MRJob.reduce_pairs(self, as_written(pairs), step_num)
        return iter(found)


if __name__ == "__main__":
    RankPages.run()
