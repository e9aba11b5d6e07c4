"""Estimate of what a collection costs on a cluster: hours and bytes, from measured rates.

The module holds values only. Like the paper's model (section 4), this one is linear in the number
of captures; ``benchmarks/results.md`` and ``results-cassandra.md`` report how linear the measured
costs were. Costs are processor seconds. The time of a stage is its cost divided over all
processors, of which a part is lost to task starts, skew and waiting.
"""

from collections.abc import Iterator
from dataclasses import dataclass

FILTER = 0.79 / 30_000
"""Processor seconds per capture: 0.79 s for 30,000 captures.

Source: benchmarks/results.md, *End to end: corpus-30000*, with CDX.
"""

EXTRACT = 9.53 / 12_655
"""Processor seconds per page that is read; the same table: 9.53 s for 12,655 pages."""

JOIN_AND_INVERT = (5.02 + 1.07) / 1_235_318
"""Processor seconds per link; the same table: 6.09 s for 1,235,318 links."""

SHARE_READ = 12_655 / 30_000
"""Share of captures whose payload is read, in the same corpus.

The others are duplicates, errors and images.
"""

LINKS_A_PAGE = 1_235_318 / 12_655
"""Links per page that is read, in the same corpus."""

LOAD = 12.34 / 1_235_318
"""Processor seconds per link of the loading tasks: 12.34 s for 1,235,318 links.

Source: benchmarks/results-cassandra.md.
"""

STORE = 22.16 / 1_235_318
"""Processor seconds per link of each node that keeps a copy: 22.16 s for 1,235,318 links.

Source: the same section; the node had just been started.
"""

SHARE_ROW = 0.972 / 1e6
"""Processor seconds of tasks per capture: they distribute CDX rows to batches.

Source: benchmarks/results-rows.md, *The driver of a build on a cluster*.
"""

PART_POINTER = 28.6 / 1e6
"""Processor seconds of tasks per page: they distribute pointers to extract tasks; the
same table."""

ASK = 309 / 1e6
"""Processor seconds of tasks per page: they ask Cassandra which payloads it has.

Source: docs/decisions/20261123-tasks-ask-for-known-payloads.md.
"""

START_JOB = 10.0
"""Seconds until the tasks of a job run, and from their end until the next job.

Source: docs/reference/engines.md, *How tasks share the work*.
"""

JOBS_OF_BATCH = 11
"""Number of jobs of a batch.

Filter, choose, extract, a search for further captures and extract for these, sort, join, invert,
and three phases of load.
"""

CAPTURES_OF_BATCH = 10_000_000
"""Captures of a batch of 200 GB with 20 kB per capture."""

BYTES_A_LINK = 40.1
"""Bytes per link of one copy in Cassandra, compacted.

Both directions, with texts, URIs and mementos. Source: the same section. It measured 40.1 bytes
where half of the links lead to a page that no other link leads to, and 21.6 where pages share
their menus.
"""

GRAPH_FILE_BYTES_A_LINK = 82.0
"""Bytes per link of graph files, as text; the same section: 101 MB for 1,235,318 links."""

USE = 0.6
"""Share of the processors' time that does the work.

Two workers ran the stages 1.5 to 1.9 times as fast as one (benchmarks/results.md, *Stages and
workers*), and a cluster has skew in addition.
"""

ROOM = 1.5
"""Bytes of disk per byte stored.

A compaction writes the new file before it removes the old ones. Tiered compaction needs up to
twice the largest group of files (Cassandra's documentation, *Compaction*).
"""


@dataclass(frozen=True, slots=True)
class Collection:
    """The collection to build.

    Attributes:
        captures: Rows of its CDX that are captures.
        share_read: Share of the captures whose payload is read; above 0 and at most 1.
        links: Links per page that is read.
    """

    captures: int
    share_read: float = SHARE_READ
    links: float = LINKS_A_PAGE

    @property
    def pages(self) -> float:
        """Number of pages that are read."""
        return self.captures * self.share_read

    @property
    def all_links(self) -> float:
        """Number of links of all pages that are read."""
        return self.pages * self.links


@dataclass(frozen=True, slots=True)
class PlannedCluster:
    """The cluster that builds and stores a collection.

    Attributes:
        nodes: Number of machines; each runs tasks and keeps a part of the store.
        cores: Processors per machine.
        replication: Copies of every row in Cassandra.
    """

    nodes: int
    cores: int = 8
    replication: int = 3

    def hours(self, seconds: float) -> float:
        """Return the hours that ``seconds`` of processor time take on the whole cluster."""
        return seconds / (self.nodes * self.cores * USE) / 3600


@dataclass(frozen=True, slots=True)
class BuildEstimate:
    """Estimated hours and bytes of a build.

    Attributes:
        hours: Hours by stage, in the order of the stages.
        starts: Hours in which the jobs of all batches start, one after the other; no further node
            shortens them. Looking at archive files is not included: it depends on their number.
        links: Number of links of the collection.
        graph_files: Bytes of the graph files of all batches.
        stored: Bytes of all copies in Cassandra.
        disk: Bytes of disk that each node needs for its part of the store.
    """

    hours: dict[str, float]
    starts: float
    links: float
    graph_files: float
    stored: float
    disk: float


def plan(collection: Collection, cluster: PlannedCluster) -> BuildEstimate:
    """Return the estimated cost of building a collection on a cluster.

    >>> small, large = (plan(Collection(10**digits), PlannedCluster(100)) for digits in (6, 9))
    >>> round(large.stored / small.stored)
    1000
    """
    links = collection.all_links
    # Each link is written by one loader and by every node that keeps a copy of it.
    seconds = {
        "filter": collection.captures * (SHARE_ROW + FILTER),
        "extract": collection.pages * (ASK + PART_POINTER + EXTRACT),
        "join and invert": links * JOIN_AND_INVERT,
        "load": links * (LOAD + STORE * cluster.replication),
    }
    stored = links * BYTES_A_LINK * cluster.replication
    return BuildEstimate(
        {stage: cluster.hours(one) for stage, one in seconds.items()},
        collection.captures / CAPTURES_OF_BATCH * JOBS_OF_BATCH * START_JOB / 3600,
        links,
        links * GRAPH_FILE_BYTES_A_LINK,
        stored,
        stored * ROOM / cluster.nodes,
    )


def paper_hours(collection: Collection, cluster: PlannedCluster) -> Iterator[tuple[str, float]]:
    """Yield the hours by stage of the paper's equations 1 and 3, for machines of 2012.

    They give 88 s (filter) and 5.5 h (extract) for a million captures on one machine.
    """
    millions = collection.captures / 1_000_000
    yield "filter", millions * 88 / cluster.nodes / 3600
    yield "extract", millions * 5.5 / cluster.nodes
