"""Options shared by the analyses of links through time, and their values for these analyses."""

from collections.abc import Callable, Iterable

import click

from arclink.access.queries import BadParameterError, LinkQuery, surt_asked
from arclink.analysis.page_histories import PageHistory, page_histories
from arclink.analysis.slices import Level
from arclink.analysis.targets import beginning_of
from arclink.analysis.windows import Windows
from arclink.model import Forgotten, Surt, Timestamp
from arclink.store.protocols import OpenStore, Scans
from arclink.uris.hosts import host_of

level_option = click.option(
    "--level",
    type=click.Choice([level.value for level in Level]),
    default="uri",
    show_default=True,
    help="How targets of links are grouped.",
)

external_option = click.option(
    "--external",
    "is_external",
    is_flag=True,
    help="Leave out links from the same host or domain.",
)

site_option = click.option(
    "--site",
    default="",
    metavar="HOST",
    help="Only pages of this host and its subdomains. Default: all pages.",
)


def windows_option(help_text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option ``--by`` for an analysis per window of time."""
    allowed = "day, month, year, all, or times and ranges: 2009-11,2010-01/2010-03."
    return click.option(
        "--by", default="all", show_default=True, metavar="WINDOWS", help=f"{help_text}: {allowed}"
    )


def windows_asked(store: OpenStore, windows: Windows) -> Windows:
    """Return ``windows``, after a check that at least one overlaps the time of the store.

    Raises:
        UsageError: None does; the message says from when to when there are captures.
    """
    sums = store.sums()
    if sums.first:
        windows.refuse_outside(Timestamp(sums.first), Timestamp(sums.last))
    return windows


def links_asked(uri: str = "http://any.example/", **given: str | tuple[str, ...]) -> LinkQuery:
    """Return the link query for the options; an empty value means that an option is not given.

    ``kinds`` may have several values.

    Raises:
        BadParameterError: A value is not allowed.
    """
    parameters = [("uri", uri)]
    for name, value in given.items():
        parameters += [
            (name.rstrip("_"), one)
            for one in ((value,) if isinstance(value, str) else value)
            if one
        ]
    return LinkQuery.from_parameters(parameters)


def histories_asked(store: Scans, site: str) -> Iterable[PageHistory]:
    """Return the histories of all pages, or of those of a host and its subdomains.

    Raises:
        BadParameterError: ``site`` is not the name of a host.
    """
    if not site:
        return page_histories(store, store.scan_mementos())
    host = host_of(surt_asked("--site", site))
    if not host:
        raise BadParameterError("--site", site, "the name of a host such as example.org")
    part = Forgotten(Surt(beginning_of(host)))
    return page_histories(
        store,
        (
            memento
            for surt in store.surts(part.prefix)
            if part.has(surt)
            for memento in store.mementos(surt)
        ),
    )
