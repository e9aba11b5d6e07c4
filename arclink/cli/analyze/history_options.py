"""Options shared by the analyses of links through time, and their values for these analyses."""

from collections.abc import Iterable

from arclink.access.declarations import (
    TEXT,
    BadParameterError,
    Given,
    Parameter,
    choice,
    switch,
    whole_number,
)
from arclink.access.kinds import NAVIGATION
from arclink.access.queries import ANY_PAGE, LinkQuery, surt_asked
from arclink.analysis.page_histories import PageHistory, page_histories
from arclink.analysis.slices import Level
from arclink.analysis.targets import beginning_of
from arclink.analysis.windows import Windows
from arclink.model import Forgotten, Surt, Timestamp
from arclink.store.protocols import OpenStore, Scans
from arclink.uris.hosts import host_of

LEVEL = Parameter("level", "How targets of links are grouped.", choice(Level), default="uri")
EXTERNAL = switch("external", "Leave out links from the same host or domain.")
SITE = Parameter(
    "site",
    "Only pages of this host and its subdomains.",
    TEXT,
    metavar="HOST",
    otherwise="all pages",
)
ROWS = Parameter(
    "limit",
    "Maximum number of rows per window; 0 for all.",
    whole_number(None),
    default="50",
    metavar="N",
)


def requested_windows(store: OpenStore, windows: Windows) -> Windows:
    """Return ``windows``, after a check that at least one overlaps the time of the store.

    Raises:
        UsageError: None does; the message says from when to when there are captures.
    """
    sums = store.whole.sums()  # those of a subset would take a scan
    if sums.first:
        windows.refuse_outside(Timestamp(sums.first), Timestamp(sums.last))
    return windows


def requested_links(given: Given, **otherwise: object) -> LinkQuery:
    """Return the link query for the options; without a URI, for the links of any page.

    Raises:
        BadParameterError: A value is not allowed.
    """
    defaults = {"uri": ANY_PAGE, "kinds": NAVIGATION, **otherwise}
    return LinkQuery.of(given.without("limit"), **defaults)


def requested_histories(store: Scans, site: str) -> Iterable[PageHistory]:
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
