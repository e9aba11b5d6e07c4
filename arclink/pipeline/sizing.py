"""What a collection will cost: hours of a cluster and bytes on it, from what was measured. Values only.

The paper's model (section 4) is linear in captures; so is this one, and ``benchmarks/results.md`` and
``docs/operations.md`` say how linear it was found to be. Costs are processor time: what a stage takes is that, shared out over
all processors, of which some part is lost to starts, skew and waiting.
"""

from collections.abc import Iterator
from dataclasses import dataclass

FILTER = 0.79 / 30_000
"""Processor seconds a capture; benchmarks/results.md, *End to end: corpus-30000*, with CDX: 0.79 s for 30,000 captures."""

EXTRACT = 9.53 / 12_655
"""Processor seconds a page that is read; the same table: 9.53 s for 12,655 pages."""

JOIN_AND_INVERT = (5.02 + 1.07) / 1_235_318
"""Processor seconds a link; the same table: 6.09 s for 1,235,318 links."""

SHARE_READ = 12_655 / 30_000
"""Of the captures, those whose payload is read: the others are duplicates, errors, images. The same corpus."""

LINKS_A_PAGE = 1_235_318 / 12_655
"""Links of a page that is read; the same corpus."""

LOAD = 12.34 / 1_235_318
"""Processor seconds of the tasks that load, a link; docs/operations.md, *What was measured*: 12.34 s for 1,235,318 links."""

STORE = 22.16 / 1_235_318
"""Processor seconds of each node that keeps a copy, a link; the same place: a node that had just been started, 22.16 s."""

BYTES_A_LINK = 40.1
"""Of one copy in Cassandra, compacted, both directions with texts, URIs and mementos; the same place: 40.1 where half of the links
lead where no other does, 21.6 where pages share their menus."""

GRAPH_FILE_BYTES_A_LINK = 82.0
"""Of graph files, as text; the same place: 101 MB for 1,235,318 links."""

USE = 0.6
"""Part of the processors' time that does the work: two workers made the stages 1.5 to 1.9 times as fast as one
(benchmarks/results.md, *Stages and workers*), and a cluster has skew besides."""

ROOM = 1.5
"""Disk for each byte stored: a compaction writes the new file before it removes the old ones. Tiered compaction needs up to twice
the largest group of files (Cassandra's documentation, *Compaction*)."""


@dataclass(frozen=True, slots=True)
class Collection:
    """What is to be built.

    Attributes:
        captures: Rows of its CDX that are captures.
        share_read: Of these, the part whose payload is read; above 0 and at most 1.
        links: Of a page that is read.
    """

    captures: int
    share_read: float = SHARE_READ
    links: float = LINKS_A_PAGE

    @property
    def pages(self) -> float:
        """Pages that are read."""
        return self.captures * self.share_read

    @property
    def all_links(self) -> float:
        """Links of all pages that are read."""
        return self.pages * self.links


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where it is built.

    Attributes:
        nodes: Machines; each runs tasks and keeps a part of the store.
        cores: Processors of each.
        replication: Copies of everything in Cassandra.
    """

    nodes: int
    cores: int = 8
    replication: int = 3

    def hours(self, seconds: float) -> float:
        """Return the hours that so many processor seconds take on all of it."""
        return seconds / (self.nodes * self.cores * USE) / 3600


@dataclass(frozen=True, slots=True)
class Plan:
    """Hours by stage, and bytes.

    Attributes:
        hours: By stage, in their order.
        links: In all.
        graph_files: Bytes of the graph files of all batches.
        stored: Bytes of all copies in Cassandra.
        disk: Bytes that each node is to have for them.
    """

    hours: dict[str, float]
    links: float
    graph_files: float
    stored: float
    disk: float


def plan(collection: Collection, cluster: Cluster) -> Plan:
    """Return what a collection takes on a cluster.

    >>> round(plan(Collection(1_000_000_000), Cluster(100)).stored / plan(Collection(1_000_000), Cluster(100)).stored)
    1000
    """
    links = collection.all_links
    # A link is written by one loader, and by each node that keeps a copy.
    seconds = {
        "filter": collection.captures * FILTER,
        "extract": collection.pages * EXTRACT,
        "join and invert": links * JOIN_AND_INVERT,
        "load": links * (LOAD + STORE * cluster.replication),
    }
    stored = links * BYTES_A_LINK * cluster.replication
    return Plan(
        {stage: cluster.hours(one) for stage, one in seconds.items()},
        links,
        links * GRAPH_FILE_BYTES_A_LINK,
        stored,
        stored * ROOM / cluster.nodes,
    )


def paper_hours(collection: Collection, cluster: Cluster) -> Iterator[tuple[str, float]]:
    """Yield the hours of the paper's equations 1 and 3, on machines of 2012: 88 s and 5.5 h for a million captures and one machine."""
    millions = collection.captures / 1_000_000
    yield "filter", millions * 88 / cluster.nodes / 3600
    yield "extract", millions * 5.5 / cluster.nodes
