"""``arclink plan``: the estimated cost of a collection on a cluster."""

import click

from arclink.pipeline.cluster_size import LINKS_A_PAGE, SHARE_READ

EXAMPLES = ("arclink plan --captures 1000000000 --nodes 100",)


@click.command(short_help="Estimate the time and space that a collection needs.")
@click.option(
    "--captures",
    required=True,
    type=click.IntRange(min=1),
    help="Number of captures in the collection: rows of its CDX.",
)
@click.option(
    "--nodes",
    required=True,
    type=click.IntRange(min=1),
    help="Number of machines that run tasks and store the graph.",
)
@click.option(
    "--cores",
    default=8,
    show_default=True,
    type=click.IntRange(min=1),
    help="Processors per machine.",
)
@click.option(
    "--replication",
    default=3,
    show_default=True,
    type=click.IntRange(min=1),
    help="Number of copies in Cassandra (replication factor).",
)
@click.option(
    "--links",
    default=round(LINKS_A_PAGE),
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Number of links per page.",
)
@click.option(
    "--read",
    "share_read",
    default=round(SHARE_READ, 2),
    show_default=True,
    type=click.FloatRange(min=0, min_open=True, max=1),
    help="Share of captures whose payload is read; `arclink filter` shows it for a sample.",
)
def command(
    captures: int, nodes: int, cores: int, replication: int, links: float, share_read: float
) -> None:
    """Estimate the hours and bytes that a collection takes on a cluster.

    The estimate comes from measurements (docs/operations.md).
    """
    from arclink.pipeline.cluster_size import Collection, PlannedCluster, paper_hours, plan

    collection, cluster = (
        Collection(captures, share_read, links),
        PlannedCluster(nodes, cores, replication),
    )
    planned = plan(collection, cluster)
    click.echo(
        f"{captures:,} captures, {collection.pages:,.0f} pages read, {planned.links:,.0f} links"
    )
    click.echo(f"{nodes:,} nodes with {cores} processors each, {replication} copies\n")
    for stage, hours in planned.hours.items():
        click.echo(f"{stage:>16}  {hours:12,.2f} hours")
    click.echo(f"{'in all':>16}  {sum(planned.hours.values()):12,.2f} hours\n")
    for what, size in (
        ("graph files", planned.graph_files),
        ("in Cassandra", planned.stored),
        ("disk per node", planned.disk),
    ):
        click.echo(f"{what:>16}  {_size(size):>12}")
    of_paper = ", ".join(
        f"{stage} {hours:,.1f} hours" for stage, hours in paper_hours(collection, cluster)
    )
    click.echo(f"\nThe paper's model, on machines of 2012: {of_paper}.")


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
