"""A folder with relations: its parts, which state of a store they show, and who may change them.

::

    FOLDER/
        state       sealed: which state of the store they show, and the parts in their order
        PART/       sealed folder with the files of one kind of part (`FILES`): a takedown removes a
                    part of captures, and none of links if the pages had no links
        answers     sealed, if there are any: answers that were read from them, which take long

Parts of captures and links are made of the store, and again when they are damaged or of another
layout. Texts are read from archive files, which may be elsewhere by then: they stay as long as the
store has their contents.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from sys import getsizeof

from arclink.analysis.relations.folder import (
    KIND,
    STATE,
    WAITING,
    have_texts,
    only_writer,
    tables_folder,
)
from arclink.errors import SealError
from arclink.files.sealed import is_whole, make_sealed, read_rows, seal_rows, write_sealed
from arclink.files.spill import room_for_data
from arclink.model import Checksum
from arclink.rows.texts import TextRow, merged_texts, parse_text, read_texts, write_texts
from arclink.store.layouts import TABLES
from arclink.store.protocols import Additions

CAPTURES, LINKS, LINKS_BY_PAGE = "captures.parquet", "links.parquet", "links-by-page.parquet"
TEXTS, WORDS, READ = "texts.parquet", "words.parquet", "read.zst"
"""The files in parts; links are in two orders (`arclink.analysis.relations.writing`)."""

FILES: Mapping[str, tuple[str, ...]] = {
    "captures": (CAPTURES,),
    "links": (LINKS, LINKS_BY_PAGE),
    "texts": (TEXTS, WORDS),
    "read": (READ,),
    "fetched": (TEXTS, WORDS),
}
"""The files of each kind of part; the first one says how large the part is."""

OF_STORE = ("captures", "links")
"""The kinds of parts that are made of a store; the others are read from archive files."""

ANSWERS = "answers"


@dataclass(frozen=True, slots=True)
class RelationsState:
    """What the relations show.

    Attributes:
        format: `TABLES`.
        version: Of the store (`arclink.store.protocols.StoreState`).
        base: Identifies what was in the store and was forgotten or replaced in it: as long as it
            stays the same, batches have only added rows.
        mark: The mark of the store.
        parts: Names of the parts of each kind (`FILES`), in their order.
        taken: Names of parts at addresses whose texts these relations have.
        unsent: Whether they have texts that were read here and sent to no address.
    """

    format: int
    version: str
    base: str
    mark: tuple[int, int]
    parts: Mapping[str, Sequence[str]]
    taken: Sequence[str] = ()
    unsent: bool = False

    def is_of(self, store: Additions) -> bool:
        """Return whether they show the present state of a store, with all texts that were read."""
        is_waiting = any(self.parts[kind] for kind in WAITING)
        return self.version == store.state().version and not is_waiting

    @property
    def names(self) -> set[str]:
        """The names of all parts."""
        return {name for names in self.parts.values() for name in names}

    def files(self, folder: Path, kind: str, file: str = "") -> list[Path]:
        """Return one file of each part of a kind: by default, its first one."""
        return [folder / part / (file or FILES[kind][0]) for part in self.parts[kind]]

    @property
    def _row(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @property
    def as_file(self) -> bytes:
        """The bytes of its file."""
        return seal_rows(KIND, [self._row])

    def write(self, folder: Path) -> None:
        """Write its file in one step."""
        write_sealed(folder / STATE, KIND, [self._row])


def state_of(store: Additions, parts: Mapping[str, Sequence[str]]) -> RelationsState:
    """Return the state of relations that show the present state of a store.

    Args:
        store: The store.
        parts: As in `RelationsState`; kinds that are not named have none.
    """
    of_kinds = {kind: [*parts.get(kind, ())] for kind in FILES}
    return RelationsState(TABLES, store.state().version, base_of(store), store.mark(), of_kinds)


NOTHING = RelationsState(TABLES, "", "", (0, 0), {kind: [] for kind in FILES})
"""The state of no store: without parts."""


def base_of(store: Additions) -> str:
    """Return a text that changes when something is removed from a store or replaced in it."""
    gone = repr([*store.forgotten()]).encode()
    return f"{store.state().order} {hashlib.sha256(gone).hexdigest()[:16]}"


def read_state(folder: Path) -> RelationsState | None:
    """Return the state in a folder; None if its file is missing, damaged or of another format."""
    try:
        row = read_rows(folder / STATE, KIND)[0]
        facts = json.loads(row)
        if facts["format"] != TABLES:
            return None
        return RelationsState(**{**facts, "mark": tuple(facts["mark"])})
    except SealError:
        return None


def replace_state(folder: Path, state: RelationsState) -> RelationsState:
    """Write the state, and remove all files that it does not name."""
    state.write(folder)
    remove_others(folder, state.names)
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
    return whole_parts(folder, state) == state.parts


def whole_parts(folder: Path, state: RelationsState) -> Mapping[str, Sequence[str]]:
    """Return the parts of each kind that are there and undamaged; damaged ones are removed."""
    whole = {name for name in sorted(state.names) if is_whole(folder / name)}
    return {kind: [one for one in names if one in whole] for kind, names in state.parts.items()}


def rows_in_store(store: Additions) -> Mapping[str, int]:
    """Return the number of rows of each relation, about.

    A store that has no counts of captures has at least as many as contents.
    """
    captures, sums = store.known().captures, store.sums()
    return {"captures": sums.contents if captures is None else captures, "links": sums.links}


def new_part(folder: Path, room: int, write: Callable[[Path], None], name: str = "") -> str:
    """Write a new part, and return its name.

    Args:
        folder: Folder of the relations.
        room: Bytes that it needs, and temporary files while it is written; rarely more.
        write: Writes the files to a folder.
        name: The name; a new one if it is not given.

    Raises:
        FullDiskError: There is no room for the part, or for sorting it.
        WriteError: It cannot be written for another reason.
    """
    name = name or os.urandom(6).hex()

    def make(made: Path) -> None:
        made.mkdir()
        with room_for_data(folder, room):
            write(made)

    make_sealed(folder / name, make)
    return name


_MERGED = 4
"""A part and the ones after it become one when they hold less than this many times its bytes.

So a row is written again a few times, however many batches there are."""

_LARGEST = 200_000_000
"""Bytes of the last parts from which on no more are merged: tasks have written such parts, and one
process would merge them for hours."""


def merged_parts(
    folder: Path, state: RelationsState, kind: str, merge: Callable[[Sequence[Path]], str]
) -> Sequence[str]:
    """Return the parts of a kind after the last ones were merged, if they are small.

    Args:
        folder: Folder of the relations.
        state: Names the parts.
        kind: The kind.
        merge: Writes one part of several folders, and returns its name.
    """
    parts, files = state.parts[kind], state.files(folder, kind)
    sizes = [path.stat().st_size for path in files]
    first, rest = len(parts) - 1, 0
    for index in range(len(parts) - 1, 0, -1):
        rest += sizes[index]
        if rest > _LARGEST:
            break
        if sizes[index - 1] < _MERGED * rest:
            first = index - 1
    if first >= len(parts) - 1:
        return parts
    return [*parts[:first], merge([path.parent for path in files[first:]])]


# Texts that were read, by payload, before they are texts of contents


def keep_texts(where: str, store: Additions, parts: Iterable[Path]) -> None:
    """Add the texts that extract has written to the relations of a store.

    Args:
        where: The path or URL of the store.
        store: The store.
        parts: The files that extract wrote.

    Raises:
        OperatorError: The relations cannot be written.
    """

    def rows() -> Iterator[TextRow]:
        for part in parts:
            with part.open("rb") as lines:
                yield from map(parse_text, lines)

    add_texts(where, store, rows())


def add_texts(where: str, store: Additions, rows: Iterable[TextRow]) -> None:
    """Add texts to the relations of a store, in portions: a process that is killed loses the last.

    They are in the relations when these are brought up. Texts of payloads that the store lacks are
    left out: it may have forgotten them meanwhile.

    Args:
        where: The path or URL of the store.
        store: The store.
        rows: The texts by payload (in place of the content).

    Raises:
        OperatorError: They cannot be written.
    """
    for portion in portions_of_texts(rows):
        _add_portion(tables_folder(where), store, portion)
    if not have_texts(where):  # that no page has a text is known then
        _add_portion(tables_folder(where), store, [])


_PORTION = 100_000_000
"""Bytes of texts that are held in memory and added at a time, about."""


def portions_of_texts(rows: Iterable[TextRow]) -> Iterator[list[TextRow]]:
    """Yield texts in portions that fit into memory."""
    portion: list[TextRow] = []
    size = 0
    for row in rows:
        portion.append(row)
        size += getsizeof(row[3])
        if size >= _PORTION:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def make_read(folder: Path, rows: Iterable[TextRow]) -> str:
    """Write a part of texts, which are sorted for it, and return its name."""
    texts = sorted(rows)
    size = sum(len(row[3] or "") for row in texts)
    return new_part(folder, size, lambda made: write_texts(made / READ, texts))


def _add_portion(folder: Path, store: Additions, rows: Iterable[TextRow]) -> None:
    with only_writer(folder):
        state = read_state(folder) or NOTHING
        kept = (row for row in rows if store.payload(Checksum(row[0])) is not None)
        part = make_read(folder, kept)
        state = replace(state, parts={**state.parts, "read": [*state.parts["read"], part]})
        merge = partial(_merge_read, folder)
        parts = {**state.parts, "read": merged_parts(folder, state, "read", merge)}
        replace_state(folder, replace(state, parts=parts))


def _merge_read(folder: Path, parts: Sequence[Path]) -> str:
    texts = merged_texts(map(read_texts, [part / READ for part in parts]))
    size = sum((part / READ).stat().st_size for part in parts)
    return new_part(folder, size, lambda made: write_texts(made / READ, texts))
