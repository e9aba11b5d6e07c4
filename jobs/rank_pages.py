"""Rank: PageRank by windows over graph files, the same ranks as ``arclink analyze pagerank``.

Input: the parts of ``mementos``, ``payloads`` and ``outlinks`` of all batches of a graph. Output: window, node, rank, parted by tabs.

    python -m jobs.rank_pages -r hadoop --level host --iterations 60 GRAPH/*/part-* --output-dir RANKS
"""

from collections.abc import Iterable, Iterator
from typing import Any

from mrjob.job import MRJob
from mrjob.step import MRStep

from arclink.access.queries import Redirects
from arclink.analysis.rank_steps import RankSteps
from arclink.analysis.slices import Level, SliceOptions, Weight
from arclink.analysis.windows import Windows
from arclink.model import Kind
from jobs.base import ArclinkJob, Pair, as_written


class RankPages(ArclinkJob):
    """Steps: resolve, join, collect, then hand on as often as asked, then share."""

    SORT_VALUES = True

    def configure_args(self) -> None:
        """Add what ``arclink analyze pagerank`` has, too."""
        super().configure_args()
        self.add_passthru_arg("--by", default="month", help="month, year, day, all, or 2009-11,2010-01/2010-03")
        self.add_passthru_arg("--level", default="uri", help="What is a node: uri, host or domain")
        self.add_passthru_arg("--kind", action="append", default=[], help="Only this kind of links; may come several times")
        self.add_passthru_arg("--redirects", default="yes", choices=["yes", "no", "only"], help="Whether redirects count as links")
        self.add_passthru_arg("--damping", type=float, default=0.85, help="Chance that a reader follows a link")
        self.add_passthru_arg(
            "--iterations",
            type=int,
            default=100,
            help="How often ranks are handed on; docs/analysis.md says what is enough",
        )

    def load_args(self, args: list[str]) -> None:
        """Read the options once for all steps."""
        super().load_args(args)
        given = self.options
        kinds = frozenset(Kind(kind) for kind in given.kind)
        asked = SliceOptions(Windows.parse(given.by), Level.parse(given.level), Weight.MEMENTOS, False, kinds, Redirects(given.redirects))
        self.work = RankSteps(asked, given.damping)

    def steps(self) -> list[MRStep]:
        """Return the steps; none of the base's, which has one."""
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
        """Hand a row of the graph files on."""
        return self.work.map_row(value)

    def map_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the pairs of one map task of one of the steps; the last step needs all of its pairs."""
        if step_num == len(self.steps()) - 1:
            return self.work.map_shares(pairs)
        found: Any = MRJob.map_pairs(self, pairs, step_num)  # not that of the base, which knows one step
        return iter(found)

    def reduce_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the pairs of one reduce task of one of the steps."""
        found: Any = MRJob.reduce_pairs(self, as_written(pairs), step_num)
        return iter(found)


if __name__ == "__main__":
    RankPages.run()
