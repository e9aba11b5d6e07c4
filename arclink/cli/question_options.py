"""Options of the commands that query the links of a URI."""

from collections.abc import Callable

import click

from arclink.access.declarations import Parameter
from arclink.access.kinds import Kinds
from arclink.access.queries import KINDS, KINDS_TO_FOLLOW

match_type_option = click.option(
    "--match-type",
    "match_type",
    type=click.Choice(["exact", "prefix", "host", "domain"]),
    default="exact",
    show_default=True,
    help="Links of this URI, of all URIs that begin with it, of its host, or of its host and all subdomains.",
)

direction_option = click.option(
    "--direction",
    type=click.Choice(["out", "in", "both"]),
    default="both",
    show_default=True,
    help="Outlinks, inlinks, or both.",
)

from_option = click.option(
    "--from",
    "first",
    default="",
    metavar="TIME",
    help="Only links observed from this time on; 1 to 14 digits or ISO 8601.",
)

to_option = click.option(
    "--to",
    "last",
    default="",
    metavar="TIME",
    help="Only links observed up to this time; 1 to 14 digits or ISO 8601.",
)

at_option = click.option(
    "--at",
    default="",
    metavar="TIME",
    help="Links of the mementos that are in force at this time.",
)


def _kinds_option(
    parameter: Parameter[Kinds], *also: str, default: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option of a declared parameter.

    ``default`` is shown in the help where the command itself sets the default.
    """
    return click.option(
        f"--{parameter.name}",
        *also,
        "kinds",
        multiple=True,
        metavar="KINDS",
        default=None if default else (parameter.default,),
        show_default=default or True,
        help=f"{parameter.about} {parameter.form.allowed}; several with commas.",
    )


kinds_option = _kinds_option(KINDS, *(f"--{name}" for name in KINDS.also))
kinds_to_follow_option = _kinds_option(KINDS_TO_FOLLOW)
kinds_of_export_option = _kinds_option(
    KINDS_TO_FOLLOW, default="navigation; a@href in csv, img@src in csv-images, all in nquads"
)

filter_option = click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="FILTER",
    help="Only links that match [!][=~]field:value; fields are uri, surt, host, kind, text, rel. May be given again.",
)

redirects_option = click.option(
    "--redirects",
    type=click.Choice(["yes", "no", "only"]),
    default="yes",
    show_default=True,
    help="Whether redirects count as links.",
)

cursor_option = click.option(
    "--cursor", default="", metavar="CURSOR", help="Continue where an earlier answer ended."
)
