"""``arclink select NAME SELECTION``: store a subset under a name."""

import click

from arclink.access.declarations import TEXT, Given, Parameter, switch
from arclink.access.texts import counted
from arclink.cli.options import STORE, takes

EXAMPLES = (
    "arclink select gov 'domain:gov and mime:text/html and from:2001 and to:2003' --store links.db",
    "arclink select start 'subset:gov and pick:first' --keep --store links.db",
)

NAME = Parameter(
    "name",
    "The name of the subset; a subset of this name is replaced.",
    TEXT,
    is_required=True,
    is_positional=True,
    metavar="NAME",
)
SELECTION = Parameter(
    "selection",
    "The selection.",
    TEXT,
    is_required=True,
    is_positional=True,
    metavar="SELECTION",
    see="reference/subsets.md",
)
_KEEP = switch(
    "keep",
    "Store the list of captures as it is now; otherwise the subset changes with the store.",
)


@click.command()
@takes(NAME, SELECTION, STORE, _KEEP)
def command(given: Given) -> None:
    """Store the captures that SELECTION selects as the subset NAME.

    Other commands take it with --subset NAME. docs/reference/subsets.md describes selections.
    """
    from arclink.captures.subsets.catalog import SubsetCatalog, subset_of
    from arclink.captures.subsets.language import parse_selection
    from arclink.store.location import open_store

    where, name = STORE.required(given), NAME.required(given)
    selection = parse_selection(SELECTION.required(given))
    catalog = SubsetCatalog(where)
    with open_store(where) as store:
        stored = catalog.put(store, name, selection, keep=_KEEP.required(given))
        count = stored.captures
        if count is None:
            subset = subset_of(store, catalog.define(selection))
            count = sum(1 for _ in subset.scan_mementos())
    click.echo(f"{name}: {stored.text}")
    click.echo(f"{counted(count, 'capture')}{' in a stored list' if stored.is_kept else ' now'}")
