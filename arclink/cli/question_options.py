"""Options of the commands that ask about the links of a URI."""

import click

match_type_option = click.option(
    "--match-type",
    "match_type",
    type=click.Choice(["exact", "prefix", "host", "domain"]),
    default="exact",
    show_default=True,
    help="The links of URI alone, of all that begin with it, of its host, or of its host and those below it.",
)

direction_option = click.option(
    "--direction", type=click.Choice(["out", "in", "both"]), default="both", show_default=True, help="Outlinks, inlinks, or both."
)

from_option = click.option("--from", "first", default="", metavar="TIME", help="Observed not before; 1 to 14 digits or ISO 8601.")

to_option = click.option("--to", "last", default="", metavar="TIME", help="Observed not after; 1 to 14 digits or ISO 8601.")

at_option = click.option("--at", default="", metavar="TIME", help="The state at that time: the links of the mementos in force.")

kind_option = click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind, such as a@href or img@src; may come several times."
)

filter_option = click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="FILTER",
    help="Only links that pass [!][=~]field:value; fields are uri, surt, host, kind, text, rel; may come several times.",
)

redirects_option = click.option(
    "--redirects", type=click.Choice(["yes", "no", "only"]), default="yes", show_default=True, help="Whether redirects count as links."
)

cursor_option = click.option("--cursor", default="", metavar="CURSOR", help="Go on where an answer ended.")
