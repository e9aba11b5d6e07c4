"""Estimate of what a collection costs on a cluster: hours and bytes, from measured rates.

Like the paper's model (section 4), this one is linear in the number of captures. The stages cost
what builds on the same engine cost;
``benchmarks/results-engines.md`` compares predicted and measured builds. The time of a stage is its
CPU time divided over all processors, of which a part is lost to skew and waiting.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from arclink.errors import UsageError
from arclink.pipeline.inputs import MANY_FILES
from arclink.pipeline.settings import usual_batch_bytes

# What each stage of a build costs on an engine: measured rates, from ``rates.json``.
#
# ``python -m benchmarks.run --only engine_builds`` measures builds and writes the file. A stage
# costs some CPU seconds in every build, such as for starting tasks, and some for every capture,
# page or link.

ENGINE, TASKS = "engine", "tasks"

UNITS: Mapping[str, str] = {
    "share": "captures",
    "filter": "captures",
    "match": "captures",
    "extract": "pages",
    "find": "captures",
    "join": "links",
    "invert": "links",
    "load": "links",
    ENGINE: "captures",
}
"""Unit by stage: rows of the CDX, pages that are read, or links of these pages.

``load`` is the loading of a SQLite store by the driver; `ENGINE` are the processes of the engine
that belong to no task, and on an engine the driver.
"""

MEASURED_ON = 2
"""Processors of the measured builds, and reduce tasks of each of their jobs."""

FILE = "rates.json"


class Amounts(NamedTuple):
    """The size of a collection, by unit."""

    captures: float
    pages: float
    links: float

    def of(self, unit: str) -> float:
        """Return the amount of one of the `UNITS`."""
        return float(getattr(self, unit))


class Rate(NamedTuple):
    """The cost of a stage.

    Attributes:
        start: CPU seconds in every build, with `MEASURED_ON` reduce tasks per job.
        each: CPU seconds for each capture, page or link (`UNITS`).
    """

    start: float
    each: float

    def seconds(self, amount: float) -> float:
        """Return the CPU seconds for an amount."""
        return self.start + self.each * amount


@dataclass(frozen=True, slots=True)
class MeasuredBuild:
    """A build whose cost was measured.

    Attributes:
        amounts: What it read.
        seconds: CPU seconds by stage (`UNITS`).
    """

    amounts: Amounts
    seconds: Mapping[str, float]


Rates = Mapping[str, Rate]
"""Rate by stage."""


def fit(small: MeasuredBuild, large: MeasuredBuild) -> Rates:
    """Return the rates that give the cost of two builds.

    If the larger build was the cheaper one, or the smaller build too cheap for a start, a stage
    costs nothing for each, or nothing in every build.

    >>> small = MeasuredBuild(Amounts(100, 10, 1000), {"extract": 3.0})
    >>> large = MeasuredBuild(Amounts(300, 30, 3000), {"extract": 5.0})
    >>> fit(small, large)
    {'extract': Rate(start=2.0, each=0.1)}
    """
    rates = {}
    for stage in sorted({*small.seconds, *large.seconds}, key=list(UNITS).index):
        few, many = (build.amounts.of(UNITS[stage]) for build in (small, large))
        cheap, dear = (build.seconds.get(stage, 0.0) for build in (small, large))
        each = max((dear - cheap) / (many - few), 0.0)
        start = max(cheap - each * few, 0.0)
        rates[stage] = Rate(start, each if start else dear / many)
    return rates


def per_further_task(few: MeasuredBuild, many: MeasuredBuild, further: int) -> Rates:
    """Return the rate of `TASKS`: the cost of one more reduce task in every job of a build.

    Args:
        few: A build with `MEASURED_ON` reduce tasks per job.
        many: The same build with more.
        further: The number of tasks that each job of it has more.
    """
    more = sum(many.seconds.values()) - sum(few.seconds.values())
    return {TASKS: Rate(0.0, max(more, 0.0) / further)}


def starting(rates: Rates, tasks: int = MEASURED_ON) -> float:
    """Return the CPU seconds that every batch takes, whatever its size.

    Args:
        rates: Those of an engine.
        tasks: Number of reduce tasks per job.
    """
    return sum(
        rate.seconds(tasks - MEASURED_ON if stage == TASKS else 0.0)
        for stage, rate in rates.items()
    )


def _working(rates: Rates, amounts: Amounts) -> dict[str, float]:
    """Return the CPU seconds by stage that captures, pages and links take, without starts."""
    return {
        stage: rate.each * amounts.of(UNITS[stage])
        for stage, rate in rates.items()
        if stage != TASKS
    }


def predicted(rates: Rates, amounts: Amounts, batches: int = 1) -> float:
    """Return the CPU seconds of a build with `MEASURED_ON` reduce tasks per job."""
    return batches * starting(rates) + sum(_working(rates, amounts).values())


def measured_rates(path: Path | None = None) -> dict[str, Rates]:
    """Return the measured rates by engine: ``local``, ``hadoop``, ``spark``.

    Args:
        path: A file that the benchmark wrote; None for that of this package.

    Raises:
        UsageError: There is no such file, or it has something else.
    """
    try:
        text = (path or files("arclink.engines").joinpath(FILE)).read_text("utf-8")
        return {
            engine: {stage: Rate(*map(float, rate)) for stage, rate in rates.items()}
            for engine, rates in json.loads(text)["engines"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path or FILE}: no measured rates ({error}); write the file with "
            "python -m benchmarks.run --only engine_builds"
        ) from error


def format_rates(engines: Mapping[str, Rates], source: Sequence[str]) -> str:
    """Return the text of the file.

    Args:
        engines: Rates by engine.
        source: Machine, versions and command of the measurement.
    """
    return (
        json.dumps(
            {
                "source": list(source),
                "engines": {
                    engine: {
                        stage: [float(f"{number:.4g}") for number in rate]
                        for stage, rate in rates.items()
                    }
                    for engine, rates in engines.items()
                },
            },
            indent=1,
        )
        + "\n"
    )


SHARE_READ = 12_655 / 30_000
"""Share of captures whose payload is read, in the generated archive of benchmarks/results.md.

The others are duplicates, errors and images.
"""

LINKS_A_PAGE = 1_235_318 / 12_655
"""Links per page that is read, in the same archive."""

LOAD = 12.34 / 1_235_318
"""Processor seconds per link of the loading tasks: 12.34 s for 1,235,318 links.

Source: benchmarks/results-cassandra.md.
"""

STORE = 22.16 / 1_235_318
"""Processor seconds per link of each node that keeps a copy: 22.16 s for 1,235,318 links.

Source: the same section; the node had just been started.
"""

ASK = 309 / 1e6
"""Processor seconds of tasks per page: they ask Cassandra which payloads it has.

Source: docs/decisions/20261123-tasks-ask-for-known-payloads.md.
"""

_START_JOB = 10.0
"""Seconds until the tasks of a job run, and from their end until the next job.

Source: docs/reference/engines.md, *How tasks share the work*.
"""

LOOK_AT_FILE = 7.0 / 1000
"""CPU seconds per archive file for a first look at it, when a build starts.

Five requests to HDFS. The driver looks, or tasks if there are `MANY_FILES`. Source:
benchmarks/results-rows.md, *The driver of a build on a cluster*.
"""

NOTE_FILE = 55.0 / 1e6
"""CPU seconds of the driver per archive file at which a task looked. Source: the same section."""

UNPACK = 30.0
"""CPU seconds per node, once per build, for a packed environment: it is fetched and unpacked.

Five jobs on two nodes took 89 s with a packed environment of 81 MB at a fixed address, and 29 s
with installed packages (benchmarks/results-engines.md).
"""

BYTES_A_CAPTURE = 20_000
"""Archive bytes per capture, if not given."""

_BYTES_OF_FILE = 10**9
"""Bytes per archive file, if their number is not given."""

_JOBS_OF_BATCH = 9
"""Number of jobs of a batch.

Filter, extract, a search for further captures and extract for these, join, invert, and three phases
of load.
"""

_JOBS_OF_STAGE = {
    "filter": ("share", "filter"),
    "extract": ("match", "extract", "find"),
    "join and invert": ("join", "invert"),
}
"""Measured jobs by stage."""

BYTES_A_LINK = 40.1
"""Bytes per link of one copy in Cassandra, compacted.

Both directions, with texts, URIs and mementos. Source: the same section. It measured 40.1 bytes
where half of the links lead to a page that no other link leads to, and 21.6 where pages share
their menus.
"""

_GRAPH_FILE_BYTES_A_LINK = 82.0
"""Bytes per link of graph files, as text; the same section: 101 MB for 1,235,318 links."""

USE = 0.6
"""Share of the processors' time that does the work.

Two workers ran the stages 1.5 to 1.9 times as fast as one (benchmarks/results.md, *Stages and
workers*), and a cluster has skew in addition.
"""

_ROOM = 1.5
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
        files: Number of archive files; None for files of 1 GB.
        bytes: Archive bytes; None for `BYTES_A_CAPTURE`.
    """

    captures: int
    share_read: float = SHARE_READ
    links: float = LINKS_A_PAGE
    files: int | None = None
    bytes: int | None = None

    @property
    def all_bytes(self) -> int:
        """Bytes of the archive files."""
        return self.captures * BYTES_A_CAPTURE if self.bytes is None else self.bytes

    @property
    def all_files(self) -> float:
        """Number of archive files."""
        return self.all_bytes / _BYTES_OF_FILE if self.files is None else self.files

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
        engine: What runs the jobs: ``hadoop`` or ``spark``.
        batch: Captures per batch.
    """

    nodes: int
    cores: int = 8
    replication: int = 3
    engine: str = "hadoop"
    batch: int | None = None

    @property
    def processors(self) -> int:
        """Number of processors of all machines."""
        return self.nodes * self.cores

    def captures_of_batch(self, collection: Collection) -> int:
        """Return the captures per batch; if not given, those of a build without a batch size."""
        if self.batch:
            return self.batch
        usual = usual_batch_bytes(self.processors)
        return max(1, usual * collection.captures // max(collection.all_bytes, 1))

    def hours(self, seconds: float) -> float:
        """Return the hours that ``seconds`` of processor time take on the whole cluster."""
        return seconds / (self.processors * USE) / 3600


@dataclass(frozen=True, slots=True)
class BuildEstimate:
    """Estimated hours and bytes of a build.

    Attributes:
        shared: Hours by stage that all processors share, in the order of the stages. ``engine`` are
            the engine's own processes; ``environment`` is for workers without ArcLink; ``starts of
            tasks`` is CPU time until tasks have their first line.
        serial: Hours by name that no further node shortens: the jobs of all batches start one after
            the other, and the driver looks at archive files, or notes what tasks saw.
        batches: Number of batches.
        links: Number of links of the collection.
        graph_files: Bytes of the graph files of all batches.
        stored: Bytes of all copies in Cassandra.
        disk: Bytes of disk that each node needs for its part of the store.
    """

    shared: dict[str, float]
    serial: dict[str, float]
    batches: int
    links: float
    graph_files: float
    stored: float
    disk: float

    @property
    def hours(self) -> float:
        """Hours of all stages."""
        return sum((*self.shared.values(), *self.serial.values()))


def plan(
    collection: Collection, cluster: PlannedCluster, rates: Rates | None = None
) -> BuildEstimate:
    """Return the estimated cost of building a collection on a cluster.

    Args:
        collection: What is built.
        cluster: Where.
        rates: Those of the engine; None for the project's own.

    >>> small, large = (plan(Collection(10**digits), PlannedCluster(100)) for digits in (6, 9))
    >>> round(large.stored / small.stored)
    1000
    """
    links = collection.all_links
    batches = math.ceil(collection.captures / cluster.captures_of_batch(collection))
    amounts = Amounts(collection.captures, collection.pages, links)
    rates = {
        job: rate
        for job, rate in (rates or measured_rates()[cluster.engine]).items()
        if job != "load"  # of a SQLite store
    }
    each = _working(rates, amounts)
    # Each link is written by one loader and by every node that keeps a copy of it.
    seconds = {
        stage: sum(each.get(job, 0.0) for job in jobs) for stage, jobs in _JOBS_OF_STAGE.items()
    }
    seconds["extract"] += collection.pages * ASK
    seconds["load"] = links * (LOAD + STORE * cluster.replication)
    seconds["engine"] = each.get(ENGINE, 0.0)
    are_many = collection.all_files >= MANY_FILES
    seconds["archive files"] = collection.all_files * LOOK_AT_FILE * are_many
    seconds["environment"] = cluster.nodes * UNPACK
    seconds["starts of tasks"] = batches * starting(rates, cluster.processors)
    stored = links * BYTES_A_LINK * cluster.replication
    return BuildEstimate(
        {stage: cluster.hours(one) for stage, one in seconds.items()},
        {
            "starts of jobs": batches * _JOBS_OF_BATCH * _START_JOB / 3600,
            "list of files": collection.all_files
            * (NOTE_FILE if are_many else LOOK_AT_FILE)
            / 3600,
        },
        batches,
        links,
        links * _GRAPH_FILE_BYTES_A_LINK,
        stored,
        stored * _ROOM / cluster.nodes,
    )


def paper_hours(collection: Collection, cluster: PlannedCluster) -> Iterator[tuple[str, float]]:
    """Yield the hours by stage of the paper's equations 1 and 3, for machines of 2012.

    They give 88 s (filter) for a million captures on one machine, and 5.5 h (extract) for a million
    of those that filter keeps: the paper's example has 72 billion of 240 billion.
    """
    yield "filter", collection.captures / 1_000_000 * 88 / cluster.nodes / 3600
    yield "extract", collection.pages / 1_000_000 * 5.5 / cluster.nodes


def paper_bytes(collection: Collection) -> float:
    """Return the bytes in Cassandra by the paper's equation 4: 10.2 % of the archive files.

    Outlinks and inlinks have 5 % each, and the ids of URIs 0.2 %.
    """
    return collection.all_bytes * (0.05 + 0.05 + 0.002)
