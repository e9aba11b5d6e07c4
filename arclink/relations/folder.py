"""The folder of a store's relations, for commands that need not read them.

It imports neither DuckDB nor Arrow: both are in an extra, and a store without relations needs none.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from arclink.model import Forgotten
from arclink.store.location import local_path_of
from arclink.store.protocols import Additions


def tables_folder(where: str) -> Path:
    """Return the folder with the relations of a store."""
    path = local_path_of(where)
    return path.with_name(f"{path.name}.tables")


def remove_relations(where: str) -> None:
    """Remove the relations of a store."""
    shutil.rmtree(tables_folder(where), ignore_errors=True)


@contextmanager
def forgetting(where: str, store: Additions, subjects: Sequence[Forgotten]) -> Iterator[None]:
    """Remove captures from the relations of a store while they are forgotten in the block.

    Args:
        where: The path or URL of the store.
        store: The store, from which the block removes the captures.
        subjects: What it forgets; nothing for a trial.

    Raises:
        OperatorError: The relations cannot be written. They are removed then.
    """
    folder = tables_folder(where)
    if not subjects or not folder.exists():
        yield
        return
    try:
        from arclink.relations.kept import forgotten_within
    except ImportError:  # the packages are no longer installed
        shutil.rmtree(folder)
        yield
        return
    with forgotten_within(folder, store, subjects):
        yield
