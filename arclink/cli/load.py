"""``arclink load``: runs the second half of stage 3 alone, from graph files to a store."""

import click

from arclink.access.declarations import STORE, Given
from arclink.cli.options import perform, takes
from arclink.operations.one_stage import LOAD

EXAMPLES = (
    "arclink load --folder work --store links.db",
    "arclink load hdfs:///chain/graph --archive hdfs:///archive --folder work "
    "--store cassandra://node1/links --runner hadoop",
)


@click.command()
@takes(*LOAD.declared)
def command(given: Given) -> None:
    """Load the graph files in FOLDER/graph, or at the address GRAPH, into a store, as one batch.

    With --runner, tasks of the engine load a store in Cassandra.
    """
    done = perform(LOAD, given)
    click.echo(
        f"{STORE.required(given)}: batch {done.number} loaded; it holds {done.links:,} links now."
    )
