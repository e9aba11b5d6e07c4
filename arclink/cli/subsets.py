"""``arclink subsets``: list, show and delete the subsets of a store."""

import click

from arclink.access.declarations import TEXT, Given, Parameter, switch
from arclink.access.formats.rows import ROW_FORMAT, Row, RowAnswer
from arclink.access.texts import counted
from arclink.cli.options import STORE, takes, write_answer

# ``arclink select NAME SELECTION``: store a subset under a name.

_SELECT_EXAMPLES = (
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
def select_command(given: Given) -> None:
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


_SUBSETS_EXAMPLES = (
    "arclink subsets --store links.db",
    "arclink subsets --store links.db --delete gov",
)

_COLUMNS = ("name", "kind", "captures", "made", "selection")

DELETE = Parameter("delete", "Delete this subset.", TEXT, metavar="NAME")
SHOW = Parameter("show", "Show the selection of this subset as JSON.", TEXT, metavar="NAME")


@click.command()
@takes(STORE, SHOW, DELETE, ROW_FORMAT)
def subsets_command(given: Given) -> None:
    """List the subsets of a store, or show or delete one of them.

    A subset of the kind `list` was stored with `arclink select --keep`, and its number of captures
    is shown. A `view` changes with the store; `arclink count` counts its captures.
    """
    import orjson

    from arclink.captures.subsets.catalog import SubsetCatalog
    from arclink.captures.subsets.language import json_of, parse_selection
    from arclink.store.location import open_store

    where = STORE.required(given)
    catalog = SubsetCatalog(where)
    with open_store(where) as store:
        if (name := DELETE.optional(given)) is not None:
            catalog.remove(name)
            click.echo(f"{name}: deleted")
            return
        if (name := SHOW.optional(given)) is not None:
            selection = parse_selection(catalog.get(name).text)
            click.echo(orjson.dumps(json_of(selection), option=orjson.OPT_INDENT_2).decode())
            return
        catalog.reduce_lists(store)
    rows: list[Row] = [
        {
            "name": stored.name,
            "kind": "list" if stored.is_kept else "view",
            "captures": stored.captures,
            "made": stored.made,
            "selection": stored.text,
        }
        for stored in catalog
    ]
    lines = [] if rows else ["no subsets: `arclink select NAME SELECTION` stores one"]
    answer = RowAnswer({}, lines, _COLUMNS, {"subsets": rows})
    write_answer(ROW_FORMAT.required(given).write(answer))


COMMANDS = {
    "select": (select_command, _SELECT_EXAMPLES),
    "subsets": (subsets_command, _SUBSETS_EXAMPLES),
}
"""The commands of this module, with their examples, by name."""
