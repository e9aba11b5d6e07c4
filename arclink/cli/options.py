"""Options that several commands share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from arclink.access.common import SUBSET
from arclink.access.declarations import (
    PATH,
    TEXT,
    AnyParameter,
    Form,
    Given,
    Parameter,
    switch,
    whole_number,
)
from arclink.access.replay import ReplayPrefix, parse_replay
from arclink.cli.declared_options import declared
from arclink.errors import InputError
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.relations.database import ShownRelations

STORE = Parameter(
    "store",
    "The link graph: a file such as links.db, or a URL such as sqlite:///links.db or "
    "cassandra://node1,node2/links.",
    PATH,
    is_required=True,
    metavar="PATH|URL",
    envvar="ARCLINK_STORE",
)
store_option = declared(STORE)

GRAPH: tuple[AnyParameter, ...] = (STORE, SUBSET)
"""The parameters of commands that read a store, or a subset of it."""


def open_requested_graph(given: Given) -> Scans:
    """Return the store that the options of `GRAPH` name, or the subset of it.

    Raises:
        UsageError: There is no such subset, or the selection cannot be read.
        StoreError: The store is missing or cannot be used.
    """
    from arclink.subsets.opener import open_graph

    return open_graph(STORE.required(given), SUBSET.optional(given) or "")


@contextmanager
def requested_tables(given: Given, graph: Scans) -> Iterator["ShownRelations"]:
    """Yield the relations of a store or subset that was opened for the options of `GRAPH`.

    They are made if they do not show its present state.

    Raises:
        UsageError: A package is not installed.
        StoreError: The store cannot be read.
        OperatorError: The relations cannot be written.
    """
    from arclink.extras import analysis_extra

    with analysis_extra():
        from arclink.relations.database import ShownRelations
    with ShownRelations(STORE.required(given), graph) as relations:
        yield relations


def lines_of_list(path: Path) -> list[str]:
    """Return the lines of a list file without blank lines and comments (``#``).

    Raises:
        InputError: The file cannot be read as text.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # editors begin it with a mark
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a list: byte {error.start} is not UTF-8") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def replay_prefix(name: str) -> Form[ReplayPrefix]:
    """Return the form of a URL that mementos or pages have below it; errors name the option."""
    return Form("", {"type": "string"}, lambda text: parse_replay(f"--{name}", text))


REPLAY = Parameter(
    "replay",
    "Address of a replay system up to TIMESTAMP/URI, such as https://web.archive.org/web/. "
    "Answers then include the replay address (URI-M) of each memento.",
    replay_prefix("replay"),
    metavar="PREFIX",
    envvar="ARCLINK_REPLAY",
)

INSTANCE = Parameter(
    "instance",
    "A service that answers link queries, with a name for its archive.",
    TEXT,
    is_required=True,
    is_list=True,
    metavar="[NAME=]URL",
    envvar="ARCLINK_INSTANCES",
    keeps_empty=True,
)
CORES = Parameter(
    "cores",
    "Number of parallel tasks; on an engine, the number of its cores.",
    whole_number(100_000, least=1),
    metavar="N",
    otherwise="the number of processors; on Hadoop, one for each 250 MB of a batch",
    see="reference/engines.md#options",
)
QUIET = switch("quiet", "Show only the summary, no progress.")
INPUTS = Parameter(
    "inputs",
    "Archive files, folders, globs, list files, or addresses of these.",
    PATH,
    is_required=True,
    is_list=True,
    is_positional=True,
    metavar="INPUT...",
    see="reference/inputs.md",
    keeps_empty=True,
)

ARCHIVES = Parameter(
    "archives",
    "Where archive files are now, if they were moved: a folder, a URL that ends in /, or a file "
    "with a name and a path on each line, separated by a tab.",
    PATH,
    is_list=True,
    metavar="FOLDER|INDEX",
    keeps_empty=True,
)

LAZY = switch(
    "lazy",
    "Also extract the data- attributes of lazy loading, such as data-src.",
    "explanation/data-model.md#kinds-of-links",
)
HERITRIX_OUTLINKS = switch(
    "heritrix-outlinks", "Add the links that Heritrix recorded for a page.", "reference/heritrix.md"
)
SOURCES: tuple[AnyParameter, ...] = (LAZY, HERITRIX_OUTLINKS)
"""The parameters that say where links are looked for."""
