"""``arclink subsets``: list, show and delete the subsets of a store."""

import click

from arclink.access.declarations import TEXT, Given, Parameter
from arclink.access.formats.rows import ROW_FORMAT, Row, RowAnswer
from arclink.cli.options import STORE, takes, write_answer

EXAMPLES = (
    "arclink subsets --store links.db",
    "arclink subsets --store links.db --delete gov",
)

_COLUMNS = ("name", "kind", "captures", "made", "selection")

DELETE = Parameter("delete", "Delete this subset.", TEXT, metavar="NAME")
SHOW = Parameter("show", "Show the selection of this subset as JSON.", TEXT, metavar="NAME")


@click.command()
@takes(STORE, SHOW, DELETE, ROW_FORMAT)
def command(given: Given) -> None:
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
