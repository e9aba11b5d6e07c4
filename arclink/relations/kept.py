"""The relations of a store, kept next to it in ``STORE.tables``.

::

    STORE.tables/
        state       sealed: which state of the store they show, and the parts in their order
        PART/       sealed folder with one or both of captures.parquet and links.parquet

They are made on first use. A batch adds a part, and parts of about one size become one. ``state``
is replaced in one step: a process that is killed leaves the former relations, and files that the
next process removes.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pyarrow.parquet import read_metadata

from arclink.access.texts import printable_uri
from arclink.checksums import START_OF_REFERENCE
from arclink.errors import SealError
from arclink.files.atomic import room_for
from arclink.files.sealed import is_whole, make_sealed, read_rows, write_sealed
from arclink.model import Forgotten, Memento
from arclink.relations.folder import tables_folder
from arclink.relations.writing import (
    CAPTURES_ORDER,
    LINKS_ORDER,
    SORTING,
    PartWriter,
    quoted,
    reading,
)
from arclink.store.protocols import Additions, LoadMark

FORMAT = 1
"""Version of the columns: relations of another version are made again."""

CAPTURES, LINKS = "captures.parquet", "links.parquet"

_MERGED = 4
"""A part and the ones after it become one when they hold less than this many times its bytes.

So a row is written again a few times, however many batches there are."""

_STATE = "state"
_KIND = "tables"


@dataclass(frozen=True, slots=True)
class _State:
    """What the relations show.

    Attributes:
        format: `FORMAT`.
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


@dataclass(frozen=True, slots=True)
class Relations:
    """The files of the relations of one state of a store.

    Attributes:
        captures: Files with the captures, a row per memento.
        links: Files with the links, a row per distinct link of a content.
    """

    captures: Sequence[Path]
    links: Sequence[Path]


def relations_of(where: str, store: Additions, folder: Path | None = None) -> Relations:
    """Return the relations of a store; they are made if they do not show its present state.

    Args:
        where: The path or URL of the store.
        store: The store, with all its captures.
        folder: Folder of the relations; next to the store if not given.

    Raises:
        OperatorError: They cannot be written.
        StoreError: The store cannot be read.
    """
    folder = folder or tables_folder(where)
    with store.snapshot():
        state = _read(folder)
        if state is None or state.version != store.state().version or not _is_whole(folder, state):
            with _only_writer(folder):
                state = _brought_up(folder, store, _read(folder))
    return _relations(folder, state)


def rows_in(paths: Iterable[Path]) -> int:
    """Return the number of rows of some files of a relation."""
    return sum(read_metadata(path).num_rows for path in paths)


@contextmanager
def forgotten_within(
    folder: Path, store: Additions, subjects: Sequence[Forgotten]
) -> Iterator[None]:
    """Remove captures from relations while they are forgotten in the block.

    Args:
        folder: Folder of the relations.
        store: The store, from which the block removes the captures.
        subjects: What it forgets.

    Raises:
        OperatorError: The relations cannot be written. They are removed then.
    """
    with _only_writer(folder):
        state = _read(folder)
        if state is not None and state.version != store.state().version:
            state = None  # they are made again when they are needed
        (folder / _STATE).unlink(missing_ok=True)  # a reader finds no relations from now on
        try:
            yield
            if state is not None and _is_whole(folder, state):
                _forget(folder, store, state, subjects)
        finally:
            if _read(folder) is None:
                _remove_others(folder, set())


# Making


def _brought_up(folder: Path, store: Additions, state: _State | None) -> _State:
    """Return the state of relations that show the present state of the store."""
    if state is not None and not _is_whole(folder, state):
        state = None
    if state is not None and state.version == store.state().version:
        return state  # another process made them meanwhile
    if state is not None and state.base == _base(store) and state.format == FORMAT:
        new = _with_additions(folder, store, state)
    else:
        new = _made(folder, store)
    return _replace(folder, new)


def _made(folder: Path, store: Additions) -> _State:
    """Write all relations."""

    def write(writer: PartWriter) -> None:
        writer.write_captures(CAPTURES, store, store.scan_mementos(), store.scan_contents())
        writer.write_links(LINKS, store.scan_contents())

    part = _part(folder, write)
    return _state_of(store, (part,), (part,))


def _with_additions(folder: Path, store: Additions, state: _State) -> _State:
    """Write what was loaded since the relations were written."""
    mark = LoadMark(*state.mark)
    is_changed = _has_references(folder, state)

    def write(writer: PartWriter) -> None:
        nonlocal is_changed
        writer.write_links(LINKS, store.contents_after(mark))
        added: list[bool] = []

        def captures() -> Iterator[Memento]:
            for memento, replaces in store.mementos_after(mark):
                added.append(replaces)
                yield memento

        writer.write_captures(CAPTURES, store, captures(), None)
        # A batch may also bring a better copy of an earlier capture, or its payload.
        is_changed = (
            is_changed
            or any(added)
            or writer.others_show(store, store.contents_after(mark), CAPTURES)
        )
        if is_changed:  # rare, and captures are few: all of them are written again
            writer.write_captures(CAPTURES, store, store.scan_mementos(), store.scan_contents())

    part = _part(folder, write)
    earlier = () if is_changed else state.captures
    return _merged(folder, _state_of(store, (*earlier, part), (*state.links, part)))


def _merged(folder: Path, state: _State) -> _State:
    """Merge the last parts of each relation while they are small compared with the one before."""
    captures = _merged_files(folder, state.captures, CAPTURES, CAPTURES_ORDER)
    return replace(
        state, captures=captures, links=_merged_files(folder, state.links, LINKS, LINKS_ORDER)
    )


def _merged_files(folder: Path, parts: tuple[str, ...], name: str, order: str) -> tuple[str, ...]:
    sizes = [path.stat().st_size for path in _files(folder, parts, name)]
    first, rest = len(parts) - 1, 0
    for index in range(len(parts) - 1, 0, -1):
        rest += sizes[index]
        if sizes[index - 1] < _MERGED * rest:
            first = index - 1
    if first >= len(parts) - 1:
        return parts
    paths = _files(folder, parts[first:], name)
    part = _part(folder, lambda writer: writer.copy(f"FROM {reading(paths)}", order, name))
    return (*parts[:first], part)


# Forgetting


def _forget(folder: Path, store: Additions, state: _State, subjects: Sequence[Forgotten]) -> None:
    """Write the parts again that have what the store has forgotten, and the state."""
    captures = _files(folder, state.captures, CAPTURES)
    links = _files(folder, state.links, LINKS)
    if _has_references(folder, state):  # what a revisit shows may have changed

        def write(writer: PartWriter) -> None:
            writer.write_captures(CAPTURES, store, store.scan_mementos(), store.scan_contents())

        new_captures: tuple[str, ...] = (_part(folder, write),)
    else:
        gone = " OR ".join(map(_covers, subjects)) or "false"
        new_captures = _without(folder, captures, CAPTURES, CAPTURES_ORDER, gone)
    shown = f"SELECT content FROM {reading(_files(folder, new_captures, CAPTURES))}"
    targets = [_has("target_surt", one) for one in subjects if one.has_targets]
    gone = " OR ".join([f"content NOT IN ({shown} WHERE content IS NOT NULL)", *targets])
    new_links = _without(folder, links, LINKS, LINKS_ORDER, gone)
    _replace(folder, _state_of(store, new_captures, new_links))


def _without(
    folder: Path, paths: Sequence[Path], name: str, order: str, gone: str
) -> tuple[str, ...]:
    """Return the parts of a relation without some rows; those that have none stay."""
    parts = []
    for path in paths:
        rows = reading([path])

        def write(writer: PartWriter, rows: str = rows) -> None:
            writer.copy(f"SELECT * FROM {rows} WHERE NOT ({gone})", order, name)

        with closing(PartWriter(folder)) as looking:
            found = looking.run(f"SELECT 1 FROM {rows} WHERE {gone} LIMIT 1")
        parts.append(_part(folder, write) if found else path.parent.name)
    return tuple(parts)


def _covers(what: Forgotten) -> str:
    """Return the condition of SQL that a row of captures is one of these captures."""
    first, last = what.span.first, what.span.last
    return f"({_has('surt', what)} AND timestamp BETWEEN {quoted(first)} AND {quoted(last)})"


def _has(column: str, what: Forgotten) -> str:
    """Return the condition of SQL that a SURT belongs to a part of the web (`Forgotten.has`)."""
    prefix = printable_uri(what.prefix)
    begins = f"starts_with({column}, {quoted(prefix)})"
    if not what.is_whole_labels:
        return begins
    return f"({begins} AND substr({column}, {len(prefix) + 1}, 1) IN (')', ',', ':'))"


# Files


def _has_references(folder: Path, state: _State) -> bool:
    """Return whether some captures are revisits that name a capture: these may show another one."""
    paths = _files(folder, state.captures, CAPTURES)
    with closing(PartWriter(folder)) as looking:
        return bool(
            looking.run(
                f"SELECT 1 FROM {reading(paths)} WHERE starts_with(checksum, "
                f"{quoted(START_OF_REFERENCE)}) LIMIT 1"
            )
        )


def _part(folder: Path, write: Callable[[PartWriter], None]) -> str:
    """Write a new part, and return its name."""
    name = os.urandom(6).hex()

    def make(made: Path) -> None:
        made.mkdir()
        with closing(PartWriter(made)) as writer:
            write(writer)
        shutil.rmtree(made / SORTING, ignore_errors=True)

    make_sealed(folder / name, make)
    return name


def _state_of(store: Additions, captures: tuple[str, ...], links: tuple[str, ...]) -> _State:
    return _State(FORMAT, store.state().version, _base(store), store.mark(), captures, links)


def _base(store: Additions) -> str:
    """Return a text that changes when something is removed from a store or replaced in it."""
    gone = repr([*store.forgotten()]).encode()
    return f"{store.state().order} {hashlib.sha256(gone).hexdigest()[:16]}"


def _read(folder: Path) -> _State | None:
    """Return the state of the relations in a folder; None if it has none, or they are damaged."""
    try:
        row = read_rows(folder / _STATE, _KIND)[0]
        facts = json.loads(row)
        if facts["format"] != FORMAT:
            return None
        lists = {name: tuple(facts[name]) for name in ("mark", "captures", "links")}
        return _State(**{**facts, **lists})
    except SealError:
        return None


def _replace(folder: Path, state: _State) -> _State:
    """Write the state, and remove all files that it does not name."""
    write_sealed(folder / _STATE, _KIND, [json.dumps(asdict(state)).encode()])
    _remove_others(folder, state.parts)
    return state


def _remove_others(folder: Path, parts: set[str]) -> None:
    for path in folder.iterdir():
        if path.name not in {_STATE, *parts}:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _is_whole(folder: Path, state: _State) -> bool:
    return all(is_whole(folder / part) for part in state.parts)


def _files(folder: Path, parts: Iterable[str], name: str) -> list[Path]:
    return [folder / part / name for part in parts]


def _relations(folder: Path, state: _State) -> Relations:
    return Relations(_files(folder, state.captures, CAPTURES), _files(folder, state.links, LINKS))


@contextmanager
def _only_writer(folder: Path) -> Iterator[None]:
    """Wait until no other process writes to a folder, which is made if it is missing."""
    with room_for(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
