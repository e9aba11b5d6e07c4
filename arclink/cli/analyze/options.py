"""Options that select the slices of an analysis, and the graph they are made from."""

from dataclasses import replace
from pathlib import Path

from arclink.access.common import COMMON_TO_FOLLOW, KINDS_TO_FOLLOW, REDIRECT, SUBSET
from arclink.access.declarations import FOLDER, AnyParameter, Given, Parameter, choice, switch
from arclink.analysis.slices import Level, SliceOptions, Slices, Weight
from arclink.analysis.windows import WINDOWS
from arclink.cli.options import STORE

STORE_OR_FILES = replace(
    STORE,
    about="The link graph: a file such as links.db, a URL such as sqlite:///links.db, or a folder "
    "with graph files.",
    metavar="PATH|URL|FOLDER",
)
BY = Parameter(
    "by",
    "Windows of time.",
    WINDOWS,
    default="month",
    metavar="WINDOWS",
)
LEVEL = Parameter("level", "Level of the nodes.", choice(Level), default="uri")
IN_FORCE = switch(
    "in-force",
    "Count a link in all windows from its first to its last memento, not only in those of its "
    "mementos.",
)
CACHE = Parameter(
    "cache",
    "Folder for slices and counts of the graph.",
    FOLDER,
    metavar="FOLDER",
    otherwise="next to the store",
)
SLICES: tuple[AnyParameter, ...] = (
    STORE_OR_FILES,
    SUBSET,
    BY,
    LEVEL,
    *COMMON_TO_FOLLOW,
    IN_FORCE,
    CACHE,
)
"""The parameters that select the slices and their graph."""

WEIGHT = Parameter(
    "weight",
    "Weight of an edge: its number of mementos, contents or links.",
    choice(Weight),
    otherwise="1 for every edge",
)


def _requested_slices(given: Given) -> SliceOptions:
    """Return the slices that the options select.

    Raises:
        UsageError: A value is not allowed.
    """
    is_in_force = IN_FORCE.required(given)
    return SliceOptions(
        BY.required(given),
        LEVEL.required(given),
        WEIGHT.optional(given) or (Weight.LINKS if is_in_force else Weight.MEMENTOS),
        is_in_force,
        KINDS_TO_FOLLOW.value(given),
        REDIRECT.required(given),
    )


def open_requested_slices(given: Given) -> Slices:
    """Return the slices that the options select, of the store or the subset that they name.

    Raises:
        UsageError: A value is not allowed, or there is no such subset.
        StoreError: There is no store, or it cannot be used.
    """
    from arclink.analysis.slice_cache import open_slices

    subset = SUBSET.optional(given) or ""
    return open_slices(
        STORE_OR_FILES.required(given), _requested_slices(given), _requested_cache(given), subset
    )


def _requested_cache(given: Given) -> Path | None:
    """Return the folder for cached slices; None for the one next to the store."""
    folder = CACHE.optional(given)
    return Path(folder) if folder else None
