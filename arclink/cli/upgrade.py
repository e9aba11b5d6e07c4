"""``arclink upgrade``: brings a store of an earlier version up to date."""

import click

from arclink.access.declarations import Given
from arclink.cli.options import perform, takes
from arclink.operations.upgrade import UPGRADE

EXAMPLES = (
    "arclink upgrade links.db",
    "arclink upgrade links.db --archives /new/place",
)


@click.command()
@takes(*UPGRADE.declared)
def command(given: Given) -> None:
    """Bring a store that an earlier version of ArcLink wrote up to date.

    The store keeps its captures, links, subsets and takedowns. Its keys are made again from its
    URIs, as one step: until then it answers as before. Then pages whose links an earlier version
    has read are read again from their archive files, a portion at a time, and links that differ are
    replaced. Pages whose archive file is not at its path keep their links; --archives says where
    it is now. If this is interrupted or killed, the same command goes on.
    """
    perform(UPGRADE, given, click.echo)
