"""Takedowns in the relations of a store; a store without relations needs no package for them."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from arclink.analysis.relations.folder import check_mark, only_writer, remove_at, tables_folder
from arclink.errors import OperatorError
from arclink.model import Forgotten
from arclink.store.layouts import keys_of
from arclink.store.protocols import Additions, OpenStore


def remove_at_addresses(store: OpenStore) -> None:
    """Remove the relations that tasks have written, wherever they are.

    Raises:
        OperatorError: They are not removed everywhere; the text names these addresses.
    """
    prevented = []
    for address in store.tables_at():
        try:
            check_mark(address)
            remove_at(address)
        except OperatorError as error:
            prevented.append(
                f"the tables at {address} are not removed: {error}. Repeat the command when the "
                "address can be used; if the place no longer exists, first run: "
                f"arclink tables --remove --lost --tables-at {address}"
            )
    if prevented:
        raise OperatorError("\n".join(prevented))


@contextmanager
def forgetting_at_addresses(store: OpenStore) -> Iterator[None]:
    """Remove the relations that tasks have written while the block makes a store forget captures.

    A place that cannot be used does not prevent the takedown, but is an error after it.

    Raises:
        OperatorError: Relations could not be removed everywhere. The block was run.
    """
    with suppress(OperatorError):
        remove_at_addresses(store)
    yield
    try:
        remove_at_addresses(store)  # also what tasks have written meanwhile
    except OperatorError as error:
        raise OperatorError(
            f"the store has forgotten what was named, but copies of it may remain: {error}"
        ) from error


@contextmanager
def forgetting(where: str, store: Additions, subjects: Sequence[Forgotten]) -> Iterator[None]:
    """Remove captures from the relations of a store while they are forgotten in the block.

    Args:
        where: The path or URL of the store.
        store: The store, from which the block removes the captures.
        subjects: What it forgets and the store has; the cost of a row grows with their number.

    Raises:
        OperatorError: The relations cannot be written. They are removed then.
    """
    folder = tables_folder(where)
    # The lock also where there are no relations: a reader that makes them waits for the takedown.
    with only_writer(folder), _without(folder, store, subjects):
        yield


def _without(
    folder: Path, store: Additions, subjects: Sequence[Forgotten]
) -> AbstractContextManager[object]:
    # The relations of a store with old keys do not show what has which present key.
    if keys_of(store).are_present and next(folder.iterdir(), None) is not None:
        with suppress(ImportError):  # the packages are no longer installed
            from arclink.analysis.relations.kept import forgotten_within

            return forgotten_within(folder, store, subjects)
    removing = ExitStack()
    removing.callback(shutil.rmtree, folder)
    return removing
