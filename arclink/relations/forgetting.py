"""Takedowns in the relations of a store; a store without relations needs no package for them."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from arclink.model import Forgotten
from arclink.relations.folder import remove_at, tables_folder
from arclink.store.protocols import Additions


@contextmanager
def forgetting(
    where: str, store: Additions, subjects: Sequence[Forgotten], address: str | None = None
) -> Iterator[None]:
    """Remove captures from the relations of a store while they are forgotten in the block.

    Args:
        where: The path or URL of the store.
        store: The store, from which the block removes the captures.
        subjects: What it forgets; nothing for a trial.
        address: Where tasks have written relations of the store, if they have: these are removed.

    Raises:
        OperatorError: The relations cannot be written. They are removed then.
        InputError: The address cannot be used. Nothing is forgotten then.
    """
    if subjects and address is not None:
        remove_at(address)
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
