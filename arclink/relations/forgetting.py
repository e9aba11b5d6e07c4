"""Takedowns in the relations of a store; a store without relations needs no package for them."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from arclink.model import Forgotten
from arclink.relations.folder import only_writer, remove_at, tables_folder
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
    if not subjects:
        yield
        return
    if address is not None:
        remove_at(address)
    folder = tables_folder(where)
    # The lock also where there are no relations: a reader that makes them waits for the takedown.
    with only_writer(folder), _without(folder, store, subjects):
        yield


def _without(
    folder: Path, store: Additions, subjects: Sequence[Forgotten]
) -> AbstractContextManager[object]:
    if next(folder.iterdir(), None) is not None:
        with suppress(ImportError):  # the packages are no longer installed
            from arclink.relations.kept import forgotten_within

            return forgotten_within(folder, store, subjects)
    removing = ExitStack()
    removing.callback(shutil.rmtree, folder)
    return removing
