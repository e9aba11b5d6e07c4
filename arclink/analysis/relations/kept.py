"""The relations of a store, kept next to it in ``STORE.tables``.

They are made on first use. A batch adds a part, and parts of about one size become one. ``state``
is replaced in one step: a process that is killed leaves the former relations, and files that the
next process removes.
"""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from arclink.access.texts import printable_uri
from arclink.analysis.relations.by_tasks import UnusedTablesWarning, fetch_relations
from arclink.analysis.relations.folder import OF_FILES, STATE, WAITING, only_writer, tables_folder
from arclink.analysis.relations.held import HeldRelations, translated
from arclink.analysis.relations.state import (
    ANSWERS,
    CAPTURES,
    FILES,
    LINKS,
    LINKS_BY_PAGE,
    NOTHING,
    OF_STORE,
    READ,
    TEXTS,
    WORDS,
    RelationsState,
    are_whole,
    base_of,
    merged_parts,
    other_files,
    read_state,
    remove_others,
    replace_state,
    rows_in_store,
    state_of,
    whole_parts,
)
from arclink.analysis.relations.writing import (
    CAPTURES_ORDER,
    IS_REFERENCE,
    IS_REVISIT,
    LINKS_ORDER,
    PAYLOAD,
    PartWriter,
    connected,
    finds,
    make_part,
    quoted,
    reading,
    rows_in,
    rows_of_texts,
)
from arclink.errors import OperatorError, SealError, WriteError
from arclink.files.atomic import is_utf8
from arclink.files.sealed import read_rows, write_sealed
from arclink.model import Forgotten, Memento
from arclink.rows.texts import TextRow, merged_texts, read_texts
from arclink.store.protocols import Additions, LoadMark

_MOST_VIEWS = 4
_MOST_BYTES = 8_000_000
"""Bounds of all answers that are kept: those of the views that were written last stay."""


Relations = Mapping[str, Sequence[Path]]
"""The files of the relations of one state of a store, by the names of the relations in SQL."""


def relations_of(
    where: str, store: Additions, folder: Path | None = None, *, takes_texts: bool = False
) -> Relations:
    """Return the relations of a store; if they do not show its present state, they are brought up.

    They are copied from where tasks have written them, or made.

    Another process may remove or damage the files as soon as this returns; `held_relations` keeps
    them.

    Args:
        where: The path or URL of the store.
        store: The store, with all its captures. Not inside a snapshot: of a former state, relations
            could have what was forgotten since.
        folder: Folder of the relations; next to the store if not given.
        takes_texts: Whether to look for texts that tasks have read of this state of the store, too.

    Raises:
        OperatorError: They cannot be written.
        StoreError: The store cannot be read.
    """
    folder = folder or tables_folder(where)
    _check_name(folder)
    state = None if takes_texts and store.tables_at() else _current(folder, store)
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
        or not state.is_of(store)
        or any(not (folder / part).is_dir() for part in state.names)
        or any(other_files(folder, state.names))  # a process was killed while it removed them
    ):
        return None
    return state


def held_relations(
    where: str, store: Additions, folder: Path | None = None, *, with_texts: bool = False
) -> HeldRelations:
    """Return the relations of a store, open and checked; the caller closes them.

    Other arguments and errors are those of `relations_of`. ``with_texts`` is whether texts and
    words are wanted, too: to check them takes a second for a gigabyte.
    """
    while (held := opened_relations(where, store, folder, with_texts=with_texts)) is None:
        relations_of(where, store, folder)
    return held


def opened_relations(
    where: str, store: Additions, folder: Path | None = None, *, with_texts: bool = False
) -> HeldRelations | None:
    """Return the relations of a store, open and checked, if they show its present state.

    None if they do not, or are damaged: then what is damaged is removed, and `relations_of` makes
    it again.
    """
    folder = folder or tables_folder(where)
    while (state := _current(folder, store)) is not None:
        try:
            files = _relations(folder, state)
            if not with_texts:
                files = {name: files[name] for name in files if name not in ("texts", "words")}
            return HeldRelations(files)
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
    if state is not None and not state.is_of(store):
        # They are made again when they are needed; but texts cannot be made of the store.
        try:
            has_texts = any(state.parts[kind] for kind in OF_FILES)
            state = _brought_up(folder, store, state) if has_texts else None
        except (OSError, OperatorError) as error:  # a full disk does not prevent a takedown
            state = None
            text = f"the texts of pages are removed, too: {error}. Read them again: arclink tables"
            warnings.warn(f"{text} --text", UnusedTablesWarning, stacklevel=2)
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
    whole = whole_parts(folder, state) if state is not None else {}
    texts = {kind: whole.get(kind, ()) for kind in OF_FILES}
    before = state or NOTHING
    if any(texts[kind] != before.parts[kind] for kind in ("texts", "fetched")):
        before = replace(before, taken=())  # what is lost here may be at an address
    if state is not None and any(whole[kind] != state.parts[kind] for kind in OF_STORE):
        state = None
    # A store inside a snapshot of the caller may be older than they are.
    is_earlier = state is not None and LoadMark(*state.mark) <= store.mark()
    if state is not None and state.version == store.state().version:
        pass  # another process made them, or texts were read
    elif state is not None and is_earlier and state.base == base_of(store):
        state = _with_additions(folder, store, state)
    else:
        state = _made(folder, store)
    state = replace(state, taken=before.taken, unsent=before.unsent or bool(texts["read"]))
    return replace_state(folder, _with_texts(folder, state, texts))


def _made(folder: Path, store: Additions) -> RelationsState:
    """Write all relations that are made of the store."""

    def write_captures(writer: PartWriter) -> None:
        writer.write_captures(CAPTURES, store, store.scan_mementos())

    def write_links(writer: PartWriter) -> None:
        writer.write_links(LINKS, LINKS_BY_PAGE, store.scan_contents())

    rows = rows_in_store(store)
    captures = make_part(folder, rows["captures"], write_captures)
    links = make_part(folder, rows["links"], write_links)
    return state_of(store, {"captures": [captures], "links": [links]})


def _with_texts(
    folder: Path, state: RelationsState, parts: Mapping[str, Sequence[str]]
) -> RelationsState:
    """Return a state with those texts of some parts whose contents are shown."""
    shown = _contents(state.files(folder, "captures"))
    texts = _kept(folder, shown, parts["texts"])
    doubtful = _doubtful(folder, _lacking(folder, shown, texts), parts["fetched"])
    texts += [one for one in parts["fetched"] if one not in doubtful]
    for one in doubtful:
        texts += _kept(folder, _lacking(folder, shown, texts), [one])
    if parts["read"]:
        new = _lacking(folder, shown, texts)
        files = [folder / one / READ for one in parts["read"]]

        def write(writer: PartWriter) -> None:
            with _titles(state.files(folder, "captures"), new) as titles:
                writer.write_texts(
                    TEXTS, _by_content(merged_texts(map(read_texts, files)), titles), WORDS
                )

        texts = [*texts, make_part(folder, rows_of_texts(files), write)]
    state = replace(state, parts={**state.parts, "texts": texts, **{kind: [] for kind in WAITING}})
    return replace(state, parts={**state.parts, "texts": _merged_parts(folder, state, "texts")})


def _lacking(folder: Path, shown: str, texts: Iterable[str]) -> str:
    """Return the SQL of the contents that are shown, and have no text in some parts."""
    of_texts = (f"SELECT content FROM {reading([folder / one / TEXTS])}" for one in texts)
    return " EXCEPT ".join((shown, *of_texts))


def _doubtful(folder: Path, new: str, parts: Sequence[str]) -> list[str]:
    """Return those of some parts that have texts of other contents, or of those in other parts.

    Args:
        folder: Folder of the relations.
        new: SQL of the contents whose texts are wanted.
        parts: Parts that were fetched. Usually all their texts are wanted, so one query finds out.
    """
    if not parts:
        return []
    texts = reading(folder / one / TEXTS for one in parts)
    query = f"""
        SELECT DISTINCT filename FROM {texts} WHERE content NOT IN ({new}) OR content IN (
            SELECT content FROM {texts} GROUP BY content HAVING count(*) > 1)"""
    with closing(connected(threads=1)) as connection, translated():
        found = {Path(name).parent.name for (name,) in connection.execute(query).fetchall()}
    return [one for one in parts if one in found]


_Titles = Iterator[tuple[str, str, str | None]]


@contextmanager
def _titles(captures: Sequence[Path], contents: str) -> Iterator[_Titles]:
    """Yield payload, name and title of some contents, sorted; ``contents`` is SQL."""
    with closing(connected(threads=1)) as connection, translated():
        found = connection.execute(
            f"SELECT {PAYLOAD}, content, any_value(title) FROM {reading(captures)} "
            f"WHERE content IN ({contents}) GROUP BY content ORDER BY ALL"
        )
        yield chain.from_iterable(iter(partial(found.fetchmany, 10_000), []))


def _by_content(texts: Iterable[TextRow], contents: _Titles) -> Iterator[TextRow]:
    """Yield the texts of payloads as those of their contents; both are sorted by payload."""
    of = next(contents, None)
    for payload, title, language, text, is_cut in texts:
        while of is not None and of[0] < payload:
            of = next(contents, None)
        while of is not None and of[0] == payload:
            yield of[1], of[2] or title, language, text, is_cut
            of = next(contents, None)


def _kept(folder: Path, shown: str, parts: Iterable[str]) -> list[str]:
    """Return parts with those texts whose contents are shown; ``shown`` is SQL."""
    gone = f"content NOT IN ({shown})"
    write = partial(_write_texts_without, gone)
    return _without(folder, [folder / one / TEXTS for one in parts], gone, write)


def _with_additions(folder: Path, store: Additions, state: RelationsState) -> RelationsState:
    """Write what was loaded since the relations were written."""
    mark = LoadMark(*state.mark)
    is_changed = False

    def write_links(writer: PartWriter) -> None:
        writer.write_links(LINKS, LINKS_BY_PAGE, store.contents_after(mark))

    def write_captures(writer: PartWriter) -> None:
        nonlocal is_changed
        added: list[bool] = []

        def captures() -> Iterator[Memento]:
            for memento, replaces in store.mementos_after(mark):
                added.append(replaces)
                yield memento

        writer.write_captures(CAPTURES, store, captures())
        # A batch may also bring a better copy of an earlier capture, or its payload.
        earlier = state.files(folder, "captures")
        is_changed = any(added) or writer.changes(earlier, store.contents_after(mark), CAPTURES)
        if is_changed:  # rare, and captures are few: all of them are written again
            writer.write_captures(CAPTURES, store, store.scan_mementos())

    rows = rows_in_store(store)
    links = make_part(folder, rows["links"] - rows_in(state.files(folder, "links")), write_links)
    part = make_part(folder, rows["captures"], write_captures)
    captures = [part] if is_changed else [*state.parts["captures"], part]
    parts = {**state.parts, "captures": captures, "links": [*state.parts["links"], links]}
    return _merged(folder, state_of(store, parts))


def _merged(folder: Path, state: RelationsState) -> RelationsState:
    """Merge the last parts of each kind while they are small compared with the one before."""
    merged = {kind: _merged_parts(folder, state, kind) for kind in OF_STORE}
    return replace(state, parts={**state.parts, **merged})


def _merge_captures(parts: Sequence[Path], writer: PartWriter) -> None:
    writer.copy(f"FROM {reading(part / CAPTURES for part in parts)}", CAPTURES_ORDER, CAPTURES)


def _merge_links(parts: Sequence[Path], writer: PartWriter) -> None:
    writer.copy(f"FROM {reading(part / LINKS for part in parts)}", LINKS_ORDER, LINKS)
    by_page = reading(part / LINKS_BY_PAGE for part in parts)
    writer.copy_by_page(f"FROM {by_page}", LINKS_BY_PAGE)


def _merge_texts(parts: Sequence[Path], writer: PartWriter) -> None:
    writer.merge_texts(parts, TEXTS, WORDS)


_MERGES: Mapping[str, Callable[[Sequence[Path], PartWriter], None]] = {
    "captures": _merge_captures,
    "links": _merge_links,
    "texts": _merge_texts,
}
"""By kind, what writes the files of several parts as those of one."""


def _merged_parts(folder: Path, state: RelationsState, kind: str) -> Sequence[str]:
    def merge(parts: Sequence[Path]) -> str:
        rows = rows_in(part / FILES[kind][0] for part in parts)
        return make_part(folder, rows, partial(_MERGES[kind], parts))

    return merged_parts(folder, state, kind, merge)


# Forgetting


def _forget(
    folder: Path, store: Additions, state: RelationsState, subjects: Sequence[Forgotten]
) -> None:
    """Write the parts again that have what the store has forgotten, and the state."""
    captures = state.files(folder, "captures")
    of_subjects = " OR ".join(_has("surt", one) for one in subjects) or "false"
    gone = " OR ".join(map(_covers, subjects)) or "false"
    repeated = f"SELECT checksum FROM {reading(captures)} WHERE NOT {IS_REVISIT} AND ({gone})"
    repeats = f"{IS_REVISIT} AND NOT ({gone}) AND checksum IN ({repeated})"
    if finds(captures, f"({IS_REFERENCE} AND ({of_subjects})) OR ({repeats})"):
        # What a revisit shows may have changed.

        def write(writer: PartWriter) -> None:
            writer.write_captures(CAPTURES, store, store.scan_mementos())

        new_captures = [make_part(folder, rows_in(captures), write)]
    else:
        new_captures = _without(folder, captures, gone, partial(_write_captures_without, gone))
    after = _contents(folder / part / CAPTURES for part in new_captures)
    gone = f"(content IN ({_contents(captures)} EXCEPT {after}))"
    targets = " OR ".join(_has("target_surt", one) for one in subjects if one.has_targets)
    targets = f"({targets or 'false'})"
    of_links = partial(_write_links_without, gone, targets)
    links, texts = state.files(folder, "links"), state.files(folder, "texts")
    new = {
        "captures": new_captures,
        "links": _without(folder, links, f"{gone} OR {targets}", of_links),
        "texts": _without(folder, texts, gone, partial(_write_texts_without, gone)),
    }
    state = state_of(store, new)
    remove_others(folder, state.names)  # a process that is killed here leaves nothing forgotten
    replace_state(folder, state)


def _contents(captures: Iterable[Path]) -> str:
    """Return the SQL of the contents that captures show."""
    return f"SELECT content FROM {reading(captures)} WHERE content IS NOT NULL"


def _without(
    folder: Path,
    paths: Sequence[Path],
    gone: str,
    write: Callable[[Path, PartWriter], None],
) -> list[str]:
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
    return parts


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


def _write_texts_without(gone: str, part: Path, writer: PartWriter) -> None:
    found = writer.run(f"SELECT content FROM {reading([part / TEXTS])} WHERE {gone}")
    writer.merge_texts([part], TEXTS, WORDS, {content for (content,) in found})


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


def _relations(folder: Path, state: RelationsState) -> Relations:
    return {
        file.removesuffix(".parquet").replace("-", "_"): state.files(folder, kind, file)
        for kind, files in FILES.items()
        for file in files
        if kind not in WAITING
    }
