"""Commands for clusters: ``arclink plan``, ``pack`` and ``schema``."""

from dataclasses import replace
from math import ceil
from pathlib import Path

import click

from arclink.access.declarations import (
    FILE,
    PATH,
    Given,
    Parameter,
    field_parameter,
    named,
    number,
    switch,
    whole_number,
)
from arclink.access.texts import counted
from arclink.cli.options import store_option, takes
from arclink.engines.cluster_size import (
    LINKS_A_PAGE,
    SHARE_READ,
    Collection,
    PlannedCluster,
    Rates,
    measured_rates,
    paper_bytes,
    paper_hours,
    plan,
)
from arclink.errors import UsageError
from arclink.operations.operation import size

# ``arclink plan``: the estimated cost of a collection on a cluster.

_PLAN_EXAMPLES = (
    "arclink plan --captures 1000000000 --bytes 100T --nodes 100",
    "arclink plan --captures 1000000000 --nodes 100 --runner spark --batch 20000000",
)

_LARGER = 10
_WORTH_SAYING = 0.1
"""Larger batches: how much larger, and the least share of all hours that they must save."""

_FROM_ONE = whole_number(None, least=1)
CAPTURES = Parameter(
    "captures",
    "Number of captures in the collection: rows of its CDX.",
    _FROM_ONE,
    is_required=True,
    metavar="N",
)
_NODES = Parameter(
    "nodes",
    "Number of machines that run tasks and store the graph.",
    _FROM_ONE,
    is_required=True,
    metavar="N",
)
CORES = field_parameter(PlannedCluster, "cores", _FROM_ONE, metavar="N")
_REPLICATION = field_parameter(PlannedCluster, "replication", _FROM_ONE, metavar="N")
RUNNER = field_parameter(
    PlannedCluster, "engine", named({"hadoop": "hadoop", "spark": "spark"}), name="runner"
)
BATCH = field_parameter(
    PlannedCluster,
    "batch",
    _FROM_ONE,
    metavar="N",
    otherwise="as in a build without --batch-size",
)
BYTES = Parameter(
    "bytes",
    "Bytes of the archive files.",
    size("bytes"),
    metavar="SIZE",
    otherwise="20 kB per capture",
)
LINKS = Parameter(
    "links",
    "Number of links per page.",
    number(least=0, is_above=True),
    default=str(round(LINKS_A_PAGE)),
    metavar="N",
)
_SHARE = Parameter(
    "read",
    "Share of captures whose payload is read; `arclink filter` shows it for a sample.",
    number(least=0, most=1, is_above=True),
    default=str(round(SHARE_READ, 2)),
    metavar="SHARE",
)
FILES = Parameter(
    "files",
    "Number of archive files.",
    _FROM_ONE,
    metavar="N",
    otherwise="files of 1 GB",
)
_RATES = Parameter(
    "rates",
    "File with the measured rates of your own machines (`rates.json` of the benchmark "
    "`engine_builds`).",
    FILE,
    metavar="FILE",
)


@click.command()
@takes(CAPTURES, BYTES, _NODES, CORES, _REPLICATION, RUNNER, BATCH, LINKS, _SHARE, FILES, _RATES)
def plan_command(given: Given) -> None:
    """Estimate the hours and bytes that a collection takes on a cluster.

    The estimate comes from measured builds (docs/how-to/operations.md).
    """
    captures, nodes, cores = CAPTURES.required(given), _NODES.required(given), CORES.required(given)
    replication, engine = _REPLICATION.required(given), RUNNER.required(given)
    collection = Collection(
        captures,
        _SHARE.required(given),
        LINKS.required(given),
        FILES.optional(given),
        BYTES.optional(given),
    )
    cluster = PlannedCluster(nodes, cores, replication, engine, BATCH.optional(given))
    rates = _RATES.optional(given)
    measured = measured_rates(Path(rates) if rates else None)
    if engine not in measured:
        raise UsageError(f"{rates}: no rates of {engine}; it has those of {', '.join(measured)}")
    planned = plan(collection, cluster, measured[engine])
    click.echo(
        f"{captures:,} captures, {collection.pages:,.0f} pages read, {planned.links:,.0f} links"
    )
    click.echo(f"{nodes:,} nodes with {cores} processors each, {replication} copies")
    click.echo(
        f"{counted(planned.batches, 'batch', 'batches')} for {_size(collection.all_bytes)} of "
        "archive files\n"
    )
    for stage, hours in planned.shared.items():
        click.echo(f"{stage:>16}  {hours:12,.2f} hours")
    for what, hours in planned.serial.items():
        click.echo(f"{what:>16}  {hours:12,.2f} hours (one after the other)")
    click.echo(f"{'in all':>16}  {planned.hours:12,.2f} hours\n")
    _compare_batches(collection, cluster, measured[engine], planned.hours)
    for what, bytes_of_it in (
        ("graph files", planned.graph_files),
        ("in Cassandra", planned.stored),
        ("disk per node", planned.disk),
    ):
        click.echo(f"{what:>16}  {_size(bytes_of_it):>12}")
    of_paper = ", ".join(
        f"{stage} {hours:,.1f} hours" for stage, hours in paper_hours(collection, cluster)
    )
    click.echo(
        f"\nThe paper's model, on machines of 2012: {of_paper}, "
        f"{_size(paper_bytes(collection))} in Cassandra."
    )


def _compare_batches(
    collection: Collection, cluster: PlannedCluster, rates: Rates, hours: float
) -> None:
    """Say what larger batches save, if it is much."""
    captures = cluster.captures_of_batch(collection)
    if collection.captures <= captures:
        return
    larger = _LARGER * captures
    less = plan(collection, replace(cluster, batch=larger), rates).hours
    if less <= hours * (1 - _WORTH_SAYING):
        batch_bytes = larger * collection.all_bytes / collection.captures
        click.echo(
            f"Batches of {larger:,} captures take {less:,.2f} hours, because jobs and tasks start "
            f"less often (--batch {larger}; in a build, "
            f"--batch-size {ceil(batch_bytes / (1 << 30))}G).\n"
        )


def _size(count: float) -> str:
    """Return a number of bytes with a unit.

    >>> _size(2_500_000_000_000)
    '2.50 TB'
    """
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:,.2f} {unit}"
        count /= 1000
    return f"{count:,.2f} PB"


# ``arclink pack``: this environment as an archive for a cluster.

_PACK_EXAMPLES = ("arclink pack --into arclink-environment.tar.gz",)

_INTO = Parameter(
    "into", "File for the archive.", PATH, is_required=True, was=("FILE",), metavar="FILE"
)
_TABLES = switch(
    "tables", "Also pack what `arclink tables` needs, which more than doubles the size."
)


@click.command()
@takes(_INTO, _TABLES)
def pack_command(given: Given) -> None:
    """Write ArcLink and the packages it needs to FILE (.tar.gz), for workers without them.

    The workers' Python must have the same version as this one, on the same system and processor
    (docs/how-to/engines.md).
    """
    from arclink.engines.environment import FOR_TABLES, pack_environment

    file = Path(_INTO.required(given))
    versions = pack_environment(file, FOR_TABLES if _TABLES.required(given) else ())
    click.echo(f"{file}: {len(versions)} packages, {file.stat().st_size:,} bytes")


# ``arclink schema``: the tables of a Cassandra store.


@click.group()
def schema_command() -> None:
    """Create the tables of a Cassandra store. A SQLite store creates its own tables."""


EXAMPLE = "arclink schema apply --store 'cassandra://node1,node2/links?replication=3'"


@schema_command.command(
    "apply",
    short_help="Create the keyspace and tables, or check their version.",
    epilog=f"\b\nExamples:\n  {EXAMPLE}",
)
@store_option
def apply(store: str) -> None:
    """Create the keyspace and tables in Cassandra, or check the version of existing ones.

    Existing tables and rows are not changed. The URL holds the options:
    cassandra://node1,node2:9042/links?replication=3&consistency=QUORUM
    """
    from arclink.store.location import is_remote

    if not is_remote(store):
        raise UsageError(
            f"--store {store}: only a Cassandra store (cassandra://host/keyspace) has a "
            "schema to apply; SQLite stores create their own"
        )
    from arclink.engines.cassandra.location import CassandraLocation, needs_driver
    from arclink.engines.cassandra.schema import apply_schema
    from arclink.store.layouts import STORE as LAYOUT

    needs_driver()
    address = CassandraLocation(store).address
    is_new = apply_schema(address)
    click.echo(
        f"{address.name}: {'made' if is_new else 'exists'}, layout {LAYOUT}, "
        f"replication {address.replication}."
    )


COMMANDS = {
    "plan": (plan_command, _PLAN_EXAMPLES),
    "pack": (pack_command, _PACK_EXAMPLES),
    "schema": (schema_command, ()),
}
"""The commands of this module, with their examples, by name."""
