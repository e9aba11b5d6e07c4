"""A folder with relations: its parts, which state of a store they show, and who may change them.

::

    FOLDER/
        state       sealed: which state of the store they show, and the parts in their order
        PART/       sealed folder with captures.parquet, or with links.parquet and
                    links-by-page.parquet, or with all three
        answers     sealed, if there are any: answers that were read from them, which take long
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from arclink.analysis.relations.writing import SORTING, PartWriter
from arclink.errors import SealError
from arclink.files.sealed import is_whole, make_sealed, read_rows, seal_rows, write_sealed
from arclink.files.spill import room_for_data
from arclink.store.layouts import TABLES
from arclink.store.protocols import Additions

CAPTURES, LINKS = "captures.parquet", "links.parquet"
LINKS_BY_PAGE = "links-by-page.parquet"
"""The links in another order (`arclink.analysis.relations.writing`)."""

_BYTES = 280
"""Bytes that a row takes in a part and while it is sorted; rarely more."""

STATE = "state"
ANSWERS = "answers"
_KIND = "tables"


@dataclass(frozen=True, slots=True)
class RelationsState:
    """What the relations show.

    Attributes:
        format: `TABLES`.
        version: Of the store (`arclink.store.protocols.StoreState`).
        base: Identifies what was in the store and was forgotten or replaced in it: as long as it
            stays the same, batches have only added rows.
        mark: The mark of the store.
        captures: Names of the parts with captures.
        links: Names of the parts with links.
    """

    format: int
    version: str
    base: str
    mark: tuple[int, int]
    captures: tuple[str, ...]
    links: tuple[str, ...]

    @property
    def parts(self) -> set[str]:
        return {*self.captures, *self.links}

    @property
    def _row(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @property
    def as_file(self) -> bytes:
        """The bytes of its file."""
        return seal_rows(_KIND, [self._row])

    def write(self, folder: Path) -> None:
        """Write its file in one step."""
        write_sealed(folder / STATE, _KIND, [self._row])


def state_of(store: Additions, captures: tuple[str, ...], links: tuple[str, ...]) -> RelationsState:
    """Return the state of relations that show the present state of a store."""
    return RelationsState(
        TABLES, store.state().version, base_of(store), store.mark(), captures, links
    )


def base_of(store: Additions) -> str:
    """Return a text that changes when something is removed from a store or replaced in it."""
    gone = repr([*store.forgotten()]).encode()
    return f"{store.state().order} {hashlib.sha256(gone).hexdigest()[:16]}"


def read_state(folder: Path) -> RelationsState | None:
    """Return the state in a folder; None if its file is missing, damaged or of another format."""
    try:
        row = read_rows(folder / STATE, _KIND)[0]
        facts = json.loads(row)
        if facts["format"] != TABLES:
            return None
        lists = {name: tuple(facts[name]) for name in ("mark", "captures", "links")}
        return RelationsState(**{**facts, **lists})
    except SealError:
        return None


def replace_state(folder: Path, state: RelationsState) -> RelationsState:
    """Write the state, and remove all files that it does not name."""
    state.write(folder)
    remove_others(folder, state.parts)
    return state


def other_files(folder: Path, parts: set[str]) -> Iterator[Path]:
    """Yield the files and folders of a folder except for state, these parts, and answers."""
    return (path for path in folder.iterdir() if path.name not in {STATE, ANSWERS, *parts})


def remove_others(folder: Path, parts: set[str]) -> None:
    """Remove all but the state and these parts from a folder; answers are those of other parts."""
    for path in (*other_files(folder, parts), folder / ANSWERS):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def are_whole(folder: Path, state: RelationsState) -> bool:
    """Return whether all parts are there and undamaged; a damaged one is removed."""
    return all(is_whole(folder / part) for part in state.parts)


def rows_in_store(store: Additions) -> Mapping[str, int]:
    """Return the number of rows of each relation, about.

    A store that has no counts of captures has at least as many as contents.
    """
    captures, sums = store.known().captures, store.sums()
    return {"captures": sums.contents if captures is None else captures, "links": sums.links}


def make_part(folder: Path, rows: int, write: Callable[[PartWriter], None], name: str = "") -> str:
    """Write a new part, and return its name.

    Args:
        folder: Folder of the relations.
        rows: Number of rows, at most.
        write: Writes the files.
        name: The name; a new one if it is not given.

    Raises:
        FullDiskError: There is no room for the part, or for sorting it.
        WriteError: It cannot be written for another reason.
    """
    name = name or os.urandom(6).hex()

    def make(made: Path) -> None:
        made.mkdir()
        with room_for_data(folder, rows * _BYTES), closing(PartWriter(made)) as writer:
            write(writer)
        shutil.rmtree(made / SORTING, ignore_errors=True)

    make_sealed(folder / name, make)
    return name
