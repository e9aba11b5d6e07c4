"""``arclink analyze properties``: the properties of the graph, as a page and tables."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from arclink.access.declarations import FILE, Given, Parameter
from arclink.access.formats.rows import ROW_FORMAT, ROW_FORMATS, RowAnswer, address_of, next_to
from arclink.access.kinds import kinds_line, others_line
from arclink.access.provenance import today
from arclink.analysis.matrices.graph_queries import PROPERTIES, PropertiesQuery, opened_slices
from arclink.analysis.matrices.slices import Slices, shorten
from arclink.cli.analyze.options import GRAPH_OR_FILES, STORE_OR_FILES, to_answer
from arclink.cli.options import takes, write_answer
from arclink.errors import UsageError

INTO = Parameter(
    "into",
    "HTML file of the report; tables are written next to it (.csv and .degrees.csv), each with "
    "its metadata (CSVW).",
    FILE,
    default="properties.html",
    was=("output",),
    metavar="FILE",
)

_FORMAT = replace(
    ROW_FORMAT,
    about="Print the table in this format, and write no files.",
    default=None,
    otherwise="files",
)

EXAMPLES = ("arclink analyze properties --store links.db --by year --into report.html",)


@click.command()
@takes(*GRAPH_OR_FILES, *PropertiesQuery.DECLARED, INTO, _FORMAT)
def command(given: Given) -> None:
    """Write a page with charts of the graph's properties, in total and by window, and its tables.

    The properties are: nodes and links, targets never captured, degrees with a power law,
    reciprocity, components and the bow-tie.
    """
    if form := _FORMAT.optional(given):
        if given.has(INTO):
            raise UsageError("--format prints a table, and --into names a page: give one of them")
        with to_answer(given, PropertiesQuery.of(given)) as asked:
            write_answer(form.write(PROPERTIES.rows(asked, given)))
        return
    store, into = STORE_OR_FILES.required(given), INTO.required(given)
    page = Path(into)
    table, degrees = page.with_suffix(".csv"), page.with_suffix(".degrees.csv")
    if page in (table, degrees):
        raise UsageError(
            f"--into {into}: the table next to the page would have the same name. Name "
            f"the page: --into {page.stem}.html"
        )
    with to_answer(given, PropertiesQuery.of(given)) as asked, opened_slices(asked) as slices:
        said_from = partial(PROPERTIES.said_from, asked=asked, given=given)
        _write_report(slices, store, said_from, (page, table, degrees))


def _write_report(
    slices: Slices, store: str, said_from: Callable[[RowAnswer], RowAnswer], paths: Sequence[Path]
) -> None:
    """Write the page and the tables, with their metadata, and print what is in them."""
    from arclink.analysis.matrices.properties import properties_of
    from arclink.analysis.matrices.property_report import (
        as_html,
        degrees_as_csv,
        describe_degrees,
        law_in_words,
        properties_as_rows,
    )
    from arclink.files.atomic import written_whole

    found = [properties_of(slices, number) for number in range(len(slices))]
    name = Path(store).name.encode(errors="backslashreplace").decode()
    page, table, degrees = paths
    rows = said_from(properties_as_rows(slices, found))
    assert rows.provenance is not None
    cite, fields = rows.provenance.cite(today()), rows.provenance.as_fields(today())
    metadata = [next_to(one) for one in (table, degrees)]
    with written_whole([table, degrees, *metadata, page]) as (
        *(new_table, new_degrees, of_table, of_degrees),
        new_page,
    ):
        new_page.write_text(as_html(slices, found, name, cite), "utf-8")
        new_table.write_bytes(b"".join(ROW_FORMATS["csv"].write(rows)))
        new_degrees.write_text(degrees_as_csv(found), "utf-8", newline="")
        of_table.write_bytes(rows.as_csvw(address_of(table), today()))
        of_degrees.write_bytes(describe_degrees(address_of(degrees), fields))
    whole = found[0]
    click.echo(
        f"{whole.nodes:,} nodes ({slices.level.plural}), {whole.edges:,} links between them; "
        f"captured: {whole.captured:,} nodes"
    )
    click.echo(kinds_line(slices.kinds))
    if not whole.edges and slices.other_kinds:
        click.echo(others_line(slices.kinds, slices.other_kinds))
    if whole.targets:
        click.echo(
            f"never captured: {whole.never_captured:,} of {whole.targets:,} targets "
            f"({whole.never_captured / whole.targets:.1%})"
        )
    click.echo(f"links to a node: {law_in_words(whole.inward.law)}")
    click.echo(f"links of a node: {law_in_words(whole.outward.law)}")
    if empty := [one.window for one in found if not one.nodes]:
        click.echo(f"there are no captures in {shorten(empty)}")
    click.echo(f"page: {page}\ntable: {table}\ndegrees: {degrees}")
