"""The temporal link graph of a web archive: who linked to a page, when, and with which words.

In Python: ``arclink.open("links.db")`` (`arclink.linkgraph`, ``docs/python.md``).
"""

from os import PathLike, fspath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arclink.linkgraph import LinkGraph

__version__ = "0.1.0"


def open(store: str | PathLike[str]) -> "LinkGraph":  # noqa: A001  # meant to be read as arclink.open
    """Return the graph of a store, opened for reading.

    Args:
        store: What ``--store`` takes: a path such as ``links.db``, or a URL.

    Raises:
        UsageError: No store is named so.
        StoreError: There is no store, or it cannot be used; the text says why.
    """
    from arclink.linkgraph import LinkGraph  # late: every command imports this package, and few need it
    from arclink.store.opening import open_store

    return LinkGraph(open_store(fspath(store)))
