"""The relations of a store, kept next to it in ``STORE.tables``.

They are made on first use. A batch adds a part, and parts of about one size become one. ``state``
is replaced in one step: a process that is killed leaves the former relations, and files that the
next process removes.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pyarrow.parquet import read_metadata

from arclink.access.texts import printable_uri
from arclink.analysis.relations.by_tasks import fetch_relations
from arclink.analysis.relations.folder import only_writer, tables_folder
from arclink.analysis.relations.held import HeldRelations
from arclink.analysis.relations.state import (
    ANSWERS,
    CAPTURES,
    LINKS,
    LINKS_BY_PAGE,
    STATE,
    RelationsState,
    are_whole,
    base_of,
    make_part,
    other_files,
    read_state,
    remove_others,
    replace_state,
    rows_in_store,
    state_of,
)
from arclink.analysis.relations.writing import (
    CAPTURES_ORDER,
    IS_REFERENCE,
    IS_REVISIT,
    LINKS_ORDER,
    PartWriter,
    finds,
    quoted,
    reading,
)
from arclink.errors import SealError, WriteError
from arclink.files.atomic import is_utf8
from arclink.files.sealed import read_rows, write_sealed
from arclink.model import Forgotten, Memento
from arclink.store.protocols import Additions, LoadMark

_MERGED = 4
"""A part and the ones after it become one when they hold less than this many times its bytes.

So a row is written again a few times, however many batches there are."""


_MOST_VIEWS = 4
_MOST_BYTES = 8_000_000
"""Bounds of all answers that are kept: those of the views that were written last stay."""


@dataclass(frozen=True, slots=True)
class Relations:
    """The files of the relations of one state of a store.

    Attributes:
        captures: Files with the captures, a row per memento.
        links: Files with the links, a row per distinct link of a content.
        links_by_page: Files with the same links in the order of the store's contents.
    """

    captures: Sequence[Path]
    links: Sequence[Path]
    links_by_page: Sequence[Path]


def relations_of(where: str, store: Additions, folder: Path | None = None) -> Relations:
    """Return the relations of a store; if they do not show its present state, they are brought up.

    They are copied from where tasks have written them, or made.

    Another process may remove or damage the files as soon as this returns; `held_relations` keeps
    them.

    Args:
        where: The path or URL of the store.
        store: The store, with all its captures. Not inside a snapshot: of a former state, relations
            could have what was forgotten since.
        folder: Folder of the relations; next to the store if not given.

    Raises:
        OperatorError: They cannot be written.
        StoreError: The store cannot be read.
    """
    folder = folder or tables_folder(where)
    _check_name(folder)
    state = _current(folder, store)
    if state is None or not are_whole(folder, state):
        # The snapshot begins when no other process writes: the files never show a later state.
        with only_writer(folder):
            fetch_relations(store, folder)
            with store.snapshot():
                state = _brought_up(folder, store, read_state(folder))
    return _relations(folder, state)


def are_current(where: str, store: Additions) -> bool:
    """Return whether a store has relations that show its present state; they may be damaged."""
    return _current(tables_folder(where), store) is not None


def _current(folder: Path, store: Additions) -> RelationsState | None:
    state = read_state(folder)
    if (
        state is None
        or state.version != store.state().version
        or any(not (folder / part).is_dir() for part in state.parts)
        or any(other_files(folder, state.parts))  # a process was killed while it removed them
    ):
        return None
    return state


def held_relations(where: str, store: Additions, folder: Path | None = None) -> HeldRelations:
    """Return the relations of a store, open and checked; the caller closes them.

    Arguments and errors are those of `relations_of`.
    """
    while (held := opened_relations(where, store, folder)) is None:
        relations_of(where, store, folder)
    return held


def opened_relations(
    where: str, store: Additions, folder: Path | None = None
) -> HeldRelations | None:
    """Return the relations of a store, open and checked, if they show its present state.

    None if they do not, or are damaged: then what is damaged is removed, and `relations_of` makes
    it again.
    """
    folder = folder or tables_folder(where)
    while (state := _current(folder, store)) is not None:
        made = _relations(folder, state)
        try:
            return HeldRelations(made.captures, made.links, made.links_by_page)
        except SealError:
            if not are_whole(folder, state):  # or another process has replaced them just now
                return None
    return None


def keep_answers(where: str, version: str, view: str, rows: Iterable[bytes]) -> Sequence[bytes]:
    """Keep answers next to the relations that they were read from, in place of those of the view.

    Those of a few other views stay: of services that hide captures, or show a subset. Nothing is
    kept if these relations have been replaced: what was forgotten since is in no file.

    Args:
        where: The path or URL of the store.
        version: Of the state of the store that the relations show.
        view: What of it the answers show: the version of the view.
        rows: The answers, texts without line feeds.

    Returns:
        Those of them that are kept, in the same order.

    Raises:
        OperatorError: They cannot be written.
    """
    folder = tables_folder(where)
    if read_state(folder) is None:
        return []
    with only_writer(folder):  # a takedown waits, or was before this
        state = read_state(folder)
        if state is not None and state.version == version:
            kept = _answers_by_view(folder, version)
            kept.pop(view, None)
            kept[view] = list(rows)
            while len(kept) > _MOST_VIEWS or (len(kept) > 1 and _bytes_of(kept) > _MOST_BYTES):
                del kept[next(iter(kept))]
            while _bytes_of(kept) > _MOST_BYTES:
                kept[view].pop()
            written = [json.dumps(one).encode() + b"\t" + row for one in kept for row in kept[one]]
            write_sealed(folder / ANSWERS, ANSWERS, [version.encode(), *written])
            return kept[view]
    return []


def kept_answers(where: str, version: str, view: str) -> Sequence[bytes]:
    """Return the answers that were kept for a state of a store and a view; see `keep_answers`."""
    return _answers_by_view(tables_folder(where), version).get(view, [])


def _answers_by_view(folder: Path, version: str) -> dict[str, list[bytes]]:
    """Return the answers that were kept for a state, by view, those written last at the end."""
    kept: dict[str, list[bytes]] = {}
    with suppress(SealError):
        about, *rows = read_rows(folder / ANSWERS, ANSWERS)
        for row in rows if about == version.encode() else ():
            view, _, answer = row.partition(b"\t")
            kept.setdefault(json.loads(view), []).append(answer)
    return kept


def _bytes_of(kept: Mapping[str, Sequence[bytes]]) -> int:
    return sum(len(row) for rows in kept.values() for row in rows)


def rows_in(paths: Iterable[Path]) -> int:
    """Return the number of rows of some files of a relation."""
    return sum(read_metadata(path).num_rows for path in paths)


@contextmanager
def forgotten_within(
    folder: Path, store: Additions, subjects: Sequence[Forgotten]
) -> Iterator[None]:
    """Remove captures from relations while they are forgotten in the block.

    Args:
        folder: Folder of the relations, of which the caller is the `only_writer`.
        store: The store, from which the block removes the captures.
        subjects: What it forgets.

    Raises:
        OperatorError: The relations cannot be written. They are removed then.
    """
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
        remove_others(folder, state.parts)
        return state  # another process made them meanwhile
    # A store inside a snapshot of the caller may be older than they are.
    is_earlier = state is not None and LoadMark(*state.mark) <= store.mark()
    if state is not None and is_earlier and state.base == base_of(store):
        new = _with_additions(folder, store, state)
    else:
        new = _made(folder, store)
    return replace_state(folder, new)


def _made(folder: Path, store: Additions) -> RelationsState:
    """Write all relations."""

    def write(writer: PartWriter) -> None:
        writer.write_captures(CAPTURES, store, store.scan_mementos())
        writer.write_links(LINKS, LINKS_BY_PAGE, store.scan_contents())

    part = make_part(folder, sum(rows_in_store(store).values()), write)
    return state_of(store, (part,), (part,))


def _with_additions(folder: Path, store: Additions, state: RelationsState) -> RelationsState:
    """Write what was loaded since the relations were written."""
    mark = LoadMark(*state.mark)
    is_changed = False

    def write(writer: PartWriter) -> None:
        nonlocal is_changed
        writer.write_links(LINKS, LINKS_BY_PAGE, store.contents_after(mark))
        added: list[bool] = []

        def captures() -> Iterator[Memento]:
            for memento, replaces in store.mementos_after(mark):
                added.append(replaces)
                yield memento

        writer.write_captures(CAPTURES, store, captures())
        # A batch may also bring a better copy of an earlier capture, or its payload.
        earlier = _files(folder, state.captures, CAPTURES)
        is_changed = any(added) or writer.changes(earlier, store.contents_after(mark), CAPTURES)
        if is_changed:  # rare, and captures are few: all of them are written again
            writer.write_captures(CAPTURES, store, store.scan_mementos())

    rows = sum(rows_in_store(store).values()) - rows_in(_files(folder, state.links, LINKS))
    part = make_part(folder, rows, write)
    earlier = () if is_changed else state.captures
    return _merged(folder, state_of(store, (*earlier, part), (*state.links, part)))


def _merged(folder: Path, state: RelationsState) -> RelationsState:
    """Merge the last parts of each relation while they are small compared with the one before."""
    return replace(
        state,
        captures=_merged_parts(folder, state.captures, CAPTURES, _merge_captures),
        links=_merged_parts(folder, state.links, LINKS, _merge_links),
    )


def _merge_captures(parts: Sequence[Path], writer: PartWriter) -> None:
    writer.copy(f"FROM {reading(part / CAPTURES for part in parts)}", CAPTURES_ORDER, CAPTURES)


def _merge_links(parts: Sequence[Path], writer: PartWriter) -> None:
    writer.copy(f"FROM {reading(part / LINKS for part in parts)}", LINKS_ORDER, LINKS)
    by_page = reading(part / LINKS_BY_PAGE for part in parts)
    writer.copy_by_page(f"FROM {by_page}", LINKS_BY_PAGE)


def _merged_parts(
    folder: Path,
    parts: tuple[str, ...],
    name: str,
    merge: Callable[[Sequence[Path], PartWriter], None],
) -> tuple[str, ...]:
    """Return the parts of a relation after the last ones were merged, if they are small.

    Args:
        folder: Folder of the relations.
        parts: Names of the parts.
        name: Name of the file in each part that says how large it is.
        merge: Writes the files of several parts as those of one.
    """
    sizes = [path.stat().st_size for path in _files(folder, parts, name)]
    first, rest = len(parts) - 1, 0
    for index in range(len(parts) - 1, 0, -1):
        rest += sizes[index]
        if sizes[index - 1] < _MERGED * rest:
            first = index - 1
    if first >= len(parts) - 1:
        return parts
    rows = rows_in(_files(folder, parts[first:], name))
    part = make_part(folder, rows, partial(merge, [folder / part for part in parts[first:]]))
    return (*parts[:first], part)


# Forgetting


def _forget(
    folder: Path, store: Additions, state: RelationsState, subjects: Sequence[Forgotten]
) -> None:
    """Write the parts again that have what the store has forgotten, and the state."""
    captures = _files(folder, state.captures, CAPTURES)
    links = _files(folder, state.links, LINKS)
    of_subjects = " OR ".join(_has("surt", one) for one in subjects) or "false"
    gone = " OR ".join(map(_covers, subjects)) or "false"
    repeated = f"SELECT checksum FROM {reading(captures)} WHERE NOT {IS_REVISIT} AND ({gone})"
    repeats = f"{IS_REVISIT} AND NOT ({gone}) AND checksum IN ({repeated})"
    if finds(captures, f"({IS_REFERENCE} AND ({of_subjects})) OR ({repeats})"):
        # What a revisit shows may have changed.

        def write(writer: PartWriter) -> None:
            writer.write_captures(CAPTURES, store, store.scan_mementos())

        new_captures: tuple[str, ...] = (make_part(folder, rows_in(captures), write),)
    else:
        new_captures = _without(folder, captures, gone, partial(_write_captures_without, gone))
    before, after = (
        f"SELECT content FROM {reading(files)} WHERE content IS NOT NULL"
        for files in (captures, _files(folder, new_captures, CAPTURES))
    )
    gone = f"content IN ({before} EXCEPT {after})"
    targets = " OR ".join(_has("target_surt", one) for one in subjects if one.has_targets)
    gone, targets = f"({gone})", f"({targets or 'false'})"
    of_links = partial(_write_links_without, gone, targets)
    new_links = _without(folder, links, f"{gone} OR {targets}", of_links)
    state = state_of(store, new_captures, new_links)
    remove_others(folder, state.parts)  # a process that is killed here leaves nothing forgotten
    replace_state(folder, state)


def _without(
    folder: Path,
    paths: Sequence[Path],
    gone: str,
    write: Callable[[Path, PartWriter], None],
) -> tuple[str, ...]:
    """Return the parts of a relation without some rows; those that have none of them stay.

    Args:
        folder: Folder of the relations.
        paths: A file of each part.
        gone: Condition of SQL of the rows.
        write: Writes the files of a part, of which the folder is given, without these rows.
    """
    parts = []
    for path in paths:
        part = path.parent
        is_changed = finds([path], gone)
        parts.append(
            make_part(folder, rows_in([path]), partial(write, part)) if is_changed else part.name
        )
    return tuple(parts)


def _write_captures_without(gone: str, part: Path, writer: PartWriter) -> None:
    rows = f"FROM {reading([part / CAPTURES])} WHERE NOT ({gone})"
    writer.copy(rows, CAPTURES_ORDER, CAPTURES)


def _write_links_without(gone: str, targets: str, part: Path, writer: PartWriter) -> None:
    """Write the links of a part without some; see `_without`.

    Args:
        gone: Condition of SQL of links of contents that are gone.
        targets: Condition of further links; those after them in page order move up.
        part: Folder of the part.
        writer: Writes the files.
    """
    links = reading([part / LINKS])
    rows = f"""
        SELECT * EXCLUDE (removed) REPLACE (
            (position - coalesce(len(list_filter(removed, lambda one: one < position)), 0))
            ::INTEGER AS position)
        FROM {links} LEFT JOIN (
            SELECT content, list(position) AS removed FROM {links} WHERE {targets} GROUP BY content
        ) USING (content)
        WHERE NOT ({gone} OR {targets})"""
    writer.copy(rows, LINKS_ORDER, LINKS)
    by_page = f"FROM {reading([part / LINKS_BY_PAGE])} WHERE NOT ({gone} OR {targets})"
    writer.copy_by_page(by_page, LINKS_BY_PAGE)


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


def _check_name(folder: Path) -> None:
    if not is_utf8(folder):
        reason = "DuckDB writes only to folders with names in UTF-8"
        raise WriteError(folder, reason, "Move the store to another folder.")


def _files(folder: Path, parts: Iterable[str], name: str) -> list[Path]:
    return [folder / part / name for part in parts]


def _relations(folder: Path, state: RelationsState) -> Relations:
    return Relations(
        _files(folder, state.captures, CAPTURES),
        _files(folder, state.links, LINKS),
        _files(folder, state.links, LINKS_BY_PAGE),
    )
