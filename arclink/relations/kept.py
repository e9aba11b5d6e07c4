"""The relations of a store, kept next to it in ``STORE.tables`` (`arclink.relations.state`).

They are made on first use. A batch adds a part, and parts of about one size become one. ``state``
is replaced in one step: a process that is killed leaves the former relations, and files that the
next process removes.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pyarrow.parquet import read_metadata

from arclink.access.texts import printable_uri
from arclink.checksums import START_OF_REFERENCE
from arclink.model import Forgotten, Memento
from arclink.relations.folder import tables_folder
from arclink.relations.state import (
    CAPTURES,
    FORMAT,
    LINKS,
    STATE,
    RelationsState,
    are_whole,
    base_of,
    make_part,
    only_writer,
    read_state,
    remove_others,
    replace_state,
    state_of,
)
from arclink.relations.writing import (
    CAPTURES_ORDER,
    LINKS_ORDER,
    PartWriter,
    quoted,
    reading,
)
from arclink.store.protocols import Additions, LoadMark

_MERGED = 4
"""A part and the ones after it become one when they hold less than this many times its bytes.

So a row is written again a few times, however many batches there are."""


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
        state = read_state(folder)
        if state is None or state.version != store.state().version or not are_whole(folder, state):
            with only_writer(folder):
                state = _brought_up(folder, store, read_state(folder))
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
    with only_writer(folder):
        state = read_state(folder)
        if state is not None and state.version != store.state().version:
            state = None  # they are made again when they are needed
        (folder / STATE).unlink(missing_ok=True)  # a reader finds no relations from now on
        try:
            yield
            if state is not None and are_whole(folder, state):
                _forget(folder, store, state, subjects)
        finally:
            if read_state(folder) is None:
                remove_others(folder, set())


# Making


def _brought_up(folder: Path, store: Additions, state: RelationsState | None) -> RelationsState:
    """Return the state of relations that show the present state of the store."""
    if state is not None and not are_whole(folder, state):
        state = None
    if state is not None and state.version == store.state().version:
        return state  # another process made them meanwhile
    if state is not None and state.base == base_of(store) and state.format == FORMAT:
        new = _with_additions(folder, store, state)
    else:
        new = _made(folder, store)
    return replace_state(folder, new)


def _made(folder: Path, store: Additions) -> RelationsState:
    """Write all relations."""

    def write(writer: PartWriter) -> None:
        writer.write_captures(CAPTURES, store, store.scan_mementos(), store.scan_contents())
        writer.write_links(LINKS, store.scan_contents())

    part = make_part(folder, write)
    return state_of(store, (part,), (part,))


def _with_additions(folder: Path, store: Additions, state: RelationsState) -> RelationsState:
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

    part = make_part(folder, write)
    earlier = () if is_changed else state.captures
    return _merged(folder, state_of(store, (*earlier, part), (*state.links, part)))


def _merged(folder: Path, state: RelationsState) -> RelationsState:
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
    part = make_part(folder, lambda writer: writer.copy(f"FROM {reading(paths)}", order, name))
    return (*parts[:first], part)


# Forgetting


def _forget(
    folder: Path, store: Additions, state: RelationsState, subjects: Sequence[Forgotten]
) -> None:
    """Write the parts again that have what the store has forgotten, and the state."""
    captures = _files(folder, state.captures, CAPTURES)
    links = _files(folder, state.links, LINKS)
    if _has_references(folder, state):  # what a revisit shows may have changed

        def write(writer: PartWriter) -> None:
            writer.write_captures(CAPTURES, store, store.scan_mementos(), store.scan_contents())

        new_captures: tuple[str, ...] = (make_part(folder, write),)
    else:
        gone = " OR ".join(map(_covers, subjects)) or "false"
        new_captures = _without(folder, captures, CAPTURES, CAPTURES_ORDER, gone)
    shown = f"SELECT content FROM {reading(_files(folder, new_captures, CAPTURES))}"
    targets = [_has("target_surt", one) for one in subjects if one.has_targets]
    gone = " OR ".join([f"content NOT IN ({shown} WHERE content IS NOT NULL)", *targets])
    new_links = _without(folder, links, LINKS, LINKS_ORDER, gone)
    replace_state(folder, state_of(store, new_captures, new_links))


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
        parts.append(make_part(folder, write) if found else path.parent.name)
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


def _has_references(folder: Path, state: RelationsState) -> bool:
    """Return whether some captures are revisits that name a capture: these may show another one."""
    paths = _files(folder, state.captures, CAPTURES)
    with closing(PartWriter(folder)) as looking:
        return bool(
            looking.run(
                f"SELECT 1 FROM {reading(paths)} WHERE starts_with(checksum, "
                f"{quoted(START_OF_REFERENCE)}) LIMIT 1"
            )
        )


def _files(folder: Path, parts: Iterable[str], name: str) -> list[Path]:
    return [folder / part / name for part in parts]


def _relations(folder: Path, state: RelationsState) -> Relations:
    return Relations(_files(folder, state.captures, CAPTURES), _files(folder, state.links, LINKS))
