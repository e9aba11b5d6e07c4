"""The temporal link graph of a web archive: who linked to a page, when, and with which words.

Open a graph in Python with ``arclink.open("links.db")`` (`arclink.linkgraph`,
``docs/how-to/python.md``). Other functions make, change and copy stores, or ask several archives
(`arclink.operations.functions`).
"""

from collections.abc import Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING

from arclink.version import VERSION

if TYPE_CHECKING:
    from arclink.linkgraph import LinkGraph
    from arclink.operations.functions import (
        aggregate,
        ask,
        backup,
        build,
        fetch,
        forget,
        index,
        load,
        restore,
        tables,
        upgrade,
        verify,
    )

__all__ = [
    "LinkGraph",
    "__version__",
    "aggregate",
    "ask",
    "backup",
    "build",
    "fetch",
    "forget",
    "index",
    "load",
    "open",
    "restore",
    "tables",
    "upgrade",
    "verify",
]
__version__ = VERSION

if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> object:
        """Return a public name when it is first needed: every command imports this package."""
        if name == "LinkGraph":
            from arclink.linkgraph import LinkGraph

            return LinkGraph
        if name in __all__:
            from arclink.operations import functions

            return getattr(functions, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*globals(), *__all__]


def open(  # noqa: A001  # meant to be read as arclink.open
    store: str | PathLike[str], archives: Sequence[str] = ()
) -> "LinkGraph":
    """Return the graph of a store, opened for reading.

    Args:
        store: The same value as ``--store``: a path such as ``links.db``, or a URL.
        archives: Where archive files are now, if they were moved: the values of ``--archives``.

    Raises:
        UsageError: The value does not name a store, or a location in ``archives`` does not exist.
        StoreError: The store does not exist or cannot be used; the text says why.
    """
    # Late, like `LinkGraph`.
    from arclink.linkgraph import LinkGraph
    from arclink.store.location import open_store

    where = fspath(store)
    return LinkGraph(open_store(where), archives=archives, where=where)
