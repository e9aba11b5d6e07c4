"""Options that select the slices of an analysis, and the graph they are made from."""

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import click

from arclink.access.queries import Redirects, kinds_asked
from arclink.analysis.slices import Level, SliceOptions, Weight
from arclink.analysis.windows import Windows
from arclink.cli.question_options import kinds_to_follow_option, redirects_option
from arclink.errors import UsageError

Command = Callable[..., object]

_OPTIONS: Sequence[Callable[[Any], Any]] = [
    click.option(
        "--store",
        "store",
        required=True,
        metavar="PATH|URL|FOLDER",
        envvar="ARCLINK_STORE",
        show_envvar=True,
        help="The link graph: a file such as links.db, a URL such as sqlite:///links.db, or a folder with graph files.",
    ),
    click.option(
        "--by",
        "windows",
        default="month",
        show_default=True,
        metavar="WINDOWS",
        help="month, year, day, all, or 2009-11,2010-01/2010-03.",
    ),
    click.option(
        "--level",
        default="uri",
        show_default=True,
        metavar="LEVEL",
        help="Level of the nodes: uri, host or domain.",
    ),
    kinds_to_follow_option,
    redirects_option,
    click.option(
        "--in-force",
        is_flag=True,
        help="Count a link from its first to its last memento. Default: only in windows with a memento of it.",
    ),
    click.option(
        "--cache",
        type=click.Path(file_okay=False),
        metavar="FOLDER",
        help="Folder for slices of the graph. Default: next to the store.",
    ),
]


def slice_options(command: Command) -> Command:
    """Add the options that select the slices and their graph to a command."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


def slices_asked(
    weight: str | None, given: dict[str, Any]
) -> SliceOptions:  # Any: what click hands over
    """Return the slices that the options select.

    Args:
        weight: Value of ``--weight``; None if it was not given.
        given: The values of the options, by name.

    Raises:
        UsageError: A value is not allowed.
    """
    is_in_force = bool(given["in_force"])
    try:
        counted = Weight(weight or ("links" if is_in_force else "mementos"))
    except ValueError as error:
        raise UsageError(
            f"--weight {weight!r}: allowed are {', '.join(one.value for one in Weight)}"
        ) from error
    return SliceOptions(
        Windows.parse(given["windows"]),
        Level.parse(given["level"]),
        counted,
        is_in_force,
        kinds_asked(given["kinds"]),
        Redirects(given["redirects"]),
    )


def cache_asked(given: dict[str, Any]) -> Path | None:  # Any: what click hands over
    """Return the folder for cached slices; None for the one next to the store."""
    return Path(given["cache"]) if given["cache"] else None
