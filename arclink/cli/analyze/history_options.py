"""Options shared by the analyses of links through time, and their values for these analyses."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from arclink.access.declarations import TEXT, Given, Parameter, choice, switch, whole_number
from arclink.access.kinds import NAVIGATION
from arclink.access.queries import ANY_PAGE, LinkQuery
from arclink.analysis.slices import Level
from arclink.analysis.windows import Windows
from arclink.cli.options import open_requested_graph, requested_tables
from arclink.model import Timestamp
from arclink.store.protocols import OpenStore

if TYPE_CHECKING:
    from arclink.relations.database import ShownRelations

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


@contextmanager
def requested_relations(given: Given, windows: Windows | None) -> Iterator["ShownRelations"]:
    """Yield the relations of the store or subset that the options name.

    They are made if they do not show its present state.

    Args:
        given: The options.
        windows: The windows that the options name; one of them must overlap the time of the store.

    Raises:
        UsageError: None does, or a package is not installed.
        StoreError: There is no store, or it cannot be used.
        OperatorError: The relations cannot be written.
    """
    with open_requested_graph(given) as graph:
        if windows:
            requested_windows(graph, windows)
        with requested_tables(given, graph) as relations:
            yield relations
