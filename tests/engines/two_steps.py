"""A job of two steps with different jobconf."""

from collections.abc import Iterable, Iterator

from mrjob.step import MRStep

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.reasons import Reason


class CountCounts(ArclinkJob):
    """First how often each line occurs, then how many lines occur so often."""

    def steps(self) -> list[MRStep]:
        return [
            MRStep(mapper=self.mapper, reducer=self.reducer, jobconf={"mapreduce.job.reduces": 2}),
            MRStep(mapper=self.mapper, reducer=self.reducer, jobconf={"mapreduce.job.reduces": 1}),
        ]

    def map_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        self.increment_counter(Reason.ROW_KEPT.group, Reason.ROW_KEPT.name, 1)
        for _, value in pairs:
            yield value, b"1"

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        yield key, str(sum(map(int, values))).encode()


if __name__ == "__main__":
    CountCounts.run()
