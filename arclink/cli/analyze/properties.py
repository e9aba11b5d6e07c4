"""``arclink analyze properties``: the properties of the graph, as a page and tables."""

from pathlib import Path

import click

from arclink.access.declarations import FILE, Given, Parameter
from arclink.access.kinds import kinds_line, others_line
from arclink.analysis.windows import shorten
from arclink.cli.analyze.options import SLICES, STORE_OR_FILES, open_requested_slices
from arclink.cli.options import takes
from arclink.errors import UsageError

INTO = Parameter(
    "into",
    "HTML file of the report; tables are written next to it: .csv and .degrees.csv.",
    FILE,
    default="properties.html",
    was=("output",),
    metavar="FILE",
)

EXAMPLES = ("arclink analyze properties --store links.db --by year --into report.html",)


@click.command()
@takes(*SLICES, INTO)
def command(given: Given) -> None:
    """Write a page with charts of the graph's properties, in total and by window, and its tables.

    The properties are: nodes and links, targets never captured, degrees with a power law,
    reciprocity, components and the bow-tie.
    """
    from arclink.analysis.properties import properties_of
    from arclink.analysis.property_report import as_csv, as_html, degrees_as_csv, law_in_words
    from arclink.files.atomic import written_whole

    store, into = STORE_OR_FILES.required(given), INTO.required(given)
    page = Path(into)
    table, degrees = page.with_suffix(".csv"), page.with_suffix(".degrees.csv")
    if page in (table, degrees):
        raise UsageError(
            f"--into {into}: the table next to the page would have the same name. Name "
            f"the page: --into {page.stem}.html"
        )
    slices = open_requested_slices(given)
    found = [properties_of(slices, number) for number in range(len(slices))]
    name = Path(store).name.encode(errors="backslashreplace").decode()
    with written_whole([table, degrees, page]) as (new_table, new_degrees, new_page):
        new_page.write_text(as_html(slices, found, name), "utf-8")
        new_table.write_text(as_csv(found), "utf-8", newline="")
        new_degrees.write_text(degrees_as_csv(found), "utf-8", newline="")
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
