"""Relations that tasks write at an address, a part per task, for engines and for other machines.

::

    ADDRESS/
        VERSION/                          of the store's state: complete if it has the file `state`
            state                         as next to a store (`arclink.analysis.relations.state`)
            captures-00000-of-00004/      captures.parquet, checksums.txt
            links-00003-of-00016/         links.parquet, links-by-page.parquet, checksums.txt
        texts-BASE/                       of all states since the last takedown
            texts-1f0c58e3a7d2964b/       texts.parquet, words.parquet, checksums.txt

Nothing is replaced: another state of the store has another folder. A task that is repeated, even at
the same time, writes the same files, each in one step. Texts take long to read, so a later state
keeps them, and tasks add the parts of those that are missing (`arclink.captures.texts`).
"""

import hashlib
import json
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from pyarrow.parquet import read_metadata

from arclink.analysis.relations.folder import (
    OF_FILES,
    OF_TEXTS,
    STATE,
    address_of,
    check_mark,
    note_address,
    remove_at,
    written_at,
)
from arclink.analysis.relations.state import (
    FILES,
    LINKS_BY_PAGE,
    NOTHING,
    OF_STORE,
    READ,
    TEXTS,
    WORDS,
    RelationsState,
    base_of,
    make_read,
    read_state,
    replace_state,
    rows_in_store,
    state_of,
    whole_parts,
)
from arclink.analysis.relations.writing import PartWriter, make_part, rows_of_texts
from arclink.errors import (
    ArclinkError,
    InputError,
    OperatorError,
    SealError,
    StoreError,
    TaskError,
    UsageError,
    WriteError,
    hide_credentials,
)
from arclink.files.atomic import folder_next_to, room_for
from arclink.files.sealed import SUMS, check_folder, is_whole
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.network.engine_files import WrittenFiles, files_at
from arclink.rows.texts import TextRow, merged_texts, read_texts
from arclink.store.layouts import TABLES
from arclink.store.location import open_store, path_of
from arclink.store.protocols import Additions, GraphStore, Share

_OF_PARTS = (*(file for kind in (*OF_STORE, "texts") for file in FILES[kind]), SUMS)
"""The names of all files in parts, in the order in which they are written."""


class PartTask(NamedTuple):
    """A task: it writes one part of a relation, from one share of the store."""

    relation: str
    share: Share

    @property
    def name(self) -> str:
        """The name of the part."""
        return f"{self.relation}-{self.share.number:05d}-of-{self.share.of:05d}"

    @property
    def line(self) -> str:
        r"""The line of a manifest.

        >>> PartTask("links", Share(3, 16)).line
        'links 3 16\n'
        """
        return f"{self.relation} {self.share.number} {self.share.of}\n"


class Written(NamedTuple):
    """What a task wrote.

    Attributes:
        part: Name of the part.
        rows: Number of its rows; a part of texts without rows is not written.
        bytes: Bytes of its tables.
        counts: Of texts, the numbers of pages that were read, and of others by reason.
    """

    part: str
    rows: int
    bytes: int
    counts: Mapping[str, int] = {}


def _parse_task(line: bytes) -> PartTask:
    """Return the task of a line of a manifest.

    Raises:
        TaskError: The line is not one.
    """
    relation, *numbers = line.decode(errors="replace").split() or [""]
    if relation not in OF_STORE or len(numbers) != 2 or not all(map(str.isdecimal, numbers)):
        raise TaskError(f"{line[:80]!r}: expected captures or links, number and number of parts")
    share = Share(*map(int, numbers))
    if share.number >= share.of:
        raise TaskError(f"{line[:80]!r}: the number of a part is less than the number of parts")
    return PartTask(relation, share)


def write_parts(
    lines: Iterable[bytes], store: str, folder: str, version: str | None
) -> Iterator[Written]:
    """Write the parts that a manifest lists; yield what was written.

    Args:
        lines: Lines of the manifest.
        store: The path or URL of the store.
        folder: Address of the folder for the parts.
        version: The version that the store must have (`StoreState`); None for any.

    Raises:
        TaskError: The store has another version.
        OperatorError: A part cannot be written.
        StoreError: The store cannot be read.
    """
    with open_store(store) as opened, opened.snapshot():
        if version is not None and _version_of(opened) != version:
            raise TaskError(changed(store))
        files = files_at(folder)
        for task in map(_parse_task, lines):
            yield write_part(task, opened, files, files.path_of(folder))


def write_part(task: PartTask, store: Additions, files: WrittenFiles, path: str) -> Written:
    """Write one part.

    Args:
        task: The part.
        store: The store, of which one state is read.
        files: Where to write.
        path: The path of the folder for the parts.
    """
    name = FILES[task.relation][0]

    def write(writer: PartWriter) -> None:
        if task.relation == "links":
            writer.write_links(name, LINKS_BY_PAGE, store.share_of_contents(task.share))
        else:
            writer.write_captures(name, store, store.share_of_mementos(task.share))

    rows = rows_in_store(store)[task.relation] // task.share.of
    with tempfile.TemporaryDirectory() as work:
        made = Path(work, make_part(Path(work), rows, write, task.name))
        size = _send(made, files, path)
        return Written(task.name, read_metadata(made / name).num_rows, size)


def write_texts(
    name: str, portions: Iterable[Sequence[TextRow]], files: WrittenFiles, path: str
) -> Written:
    """Write a part of texts and words, unless there are no texts.

    Args:
        name: Name of the part.
        portions: Texts of contents; each portion fits into memory.
        files: Where to write.
        path: The path of the folder for the parts.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        read = [work / make_read(work, rows) / READ for rows in portions]
        if not read:
            return Written(name, 0, 0)

        def write(writer: PartWriter) -> None:
            writer.write_texts(TEXTS, merged_texts(map(read_texts, read)), WORDS)

        made = work / make_part(work, rows_of_texts(read), write, name)
        size = _send(made, files, path)
        return Written(name, read_metadata(made / TEXTS).num_rows, size)


def _send(part: Path, files: WrittenFiles, path: str) -> int:
    """Copy a part to a folder at an address, and return the bytes of its tables."""
    size = 0
    for file in sorted(part.iterdir(), key=_turn):
        with file.open("rb") as source:
            files.write_whole(f"{path}/{part.name}/{file.name}", source)
        size += file.stat().st_size if file.name != SUMS else 0
    return size


def _turn(file: Path) -> int:
    """Return when a file of a part is written: after the checksums, the part is whole."""
    return _OF_PARTS.index(file.name)


def changed(store: str) -> str:
    """Return the message about a store that changes while its relations are written."""
    return (
        f"{store} changed while its tables were written, so they would show two states of it; "
        "run the command again when no build and no takedown is running"
    )


class Place:
    """The relations of one store at an address.

    Args:
        address: Address of a folder in HDFS or S3, or a folder that all tasks share.
    """

    def __init__(self, address: str) -> None:
        self._files = files_at(address)
        self._path = self._files.path_of(address)
        self.address = address_of(address)

    def folder_of(self, store: Additions) -> str:
        """Return the address of the folder for the present state of a store."""
        return f"{self.address}/{store.state().version}"

    def texts_of(self, store: Additions) -> str:
        """Return the address of the folder for the texts of a store, as long as it only grows."""
        return f"{self.address}/{_texts_folder(store)}"

    def files_of_texts(self, store: Additions) -> list[Mapping[str, int]]:
        """Return the sizes of the files of each whole part of the texts of a store, in bytes."""
        folder = _texts_folder(store)
        parts = (self._files.entries(f"{self._path}/{folder}/{one}") for one in self._texts(folder))
        files = ({file.name: file.size for file in entries} for entries in parts)
        return [sizes for sizes in files if SUMS in sizes]

    def state(self, version: str) -> RelationsState | None:
        """Return the state of the relations of a version; None if they are not complete."""
        folder = f"{self._path}/{version}"
        if all(entry.name != STATE for entry in self._files.entries(folder)):
            return None
        with tempfile.TemporaryDirectory() as work:
            self._copy(f"{folder}/{STATE}", Path(work, STATE))
            return read_state(Path(work))

    def complete(self, store: Additions, parts: Iterable[PartTask]) -> None:
        """Note that tasks have written all parts, and remove everything else at the address.

        Raises:
            InputError: A part is missing, or the address cannot be used.
        """
        names: dict[str, list[str]] = {relation: [] for relation in OF_STORE}
        for part in parts:
            names[part.relation].append(part.name)
        state = state_of(store, names)
        folder = f"{self._path}/{state.version}"
        there = {entry.name for entry in self._files.entries(folder)}
        if missing := sorted(state.names - there):
            raise InputError(f"{self.address}: {missing[0]} is missing; write the tables again")
        for name in there - state.names:
            self._files.remove(f"{folder}/{name}")
        self._files.write_whole(f"{folder}/{STATE}", BytesIO(state.as_file))
        remove_at(self.address, except_for={state.version, _texts_folder(store)})

    def fetch(self, store: Additions, folder: Path) -> None:
        """Copy relations to a folder of this machine, unless it has those of this state already.

        If the address lacks this state, an earlier one is copied, unless the folder has one that
        can be used: what batches have added since can be added to it. Texts that the folder lacks
        are copied, too.

        Args:
            store: The store.
            folder: The folder, of which the caller is the `only_writer`.

        Raises:
            OperatorError: The relations at the address cannot be read, or are damaged.
            WriteError: The folder cannot be written.
        """
        version, base = store.state().version, base_of(store)
        own = read_state(folder) or NOTHING
        whole = whole_parts(folder, own)  # reads all of them
        of_files = {kind: whole[kind] for kind in OF_FILES}
        # What is lost here may be at an address.
        taken = own.taken if all(own.parts[kind] == of_files[kind] for kind in OF_FILES) else ()
        state = own
        check_mark(self.address)
        is_usable = own.base == base and own.parts == whole
        if not is_usable or own.version != version:
            at_address = self.state(version) or (None if is_usable else self._earlier(base))
            if at_address is not None:
                for part in sorted(at_address.names):
                    local = folder / _local(at_address.version, part)
                    self._fetch_part(at_address.version, part, local)
                parts = {
                    kind: [_local(at_address.version, part) for part in names]
                    for kind, names in at_address.parts.items()
                }
                state = replace(at_address, parts=parts, unsent=own.unsent)
        texts = self._fetch_texts(_texts_folder(store), folder, {*taken, *own.names})
        if texts or state is not own:  # `kept` leaves out what is gone
            fetched = dict.fromkeys([*of_files["fetched"], *texts])
            state = replace(state, parts={**state.parts, **of_files, "fetched": [*fetched]})
            replace_state(folder, replace(state, taken=[*taken, *texts]))

    def _earlier(self, base: str) -> RelationsState | None:
        """Return the last of the states to which batches only have added rows since."""
        states = (self.state(version) for version in written_at(self._files, self._path))
        usable = [state for state in states if state is not None and state.base == base]
        return max(usable, key=lambda state: state.mark, default=None)

    def _texts(self, folder: str) -> list[str]:
        """Return the names of the parts in a folder for texts, also of those that are not whole."""
        entries = self._files.entries(f"{self._path}/{folder}")
        return [entry.name for entry in entries if entry.is_folder]

    def _has_texts(self, folder: str, part: str) -> bool:
        """Return whether a part was written to its end."""
        entries = self._files.entries(f"{self._path}/{folder}/{part}")
        return any(entry.name == SUMS for entry in entries)

    def _fetch_texts(self, texts: str, folder: Path, known: set[str]) -> list[str]:
        """Copy the parts of texts whose names are not known, and return their names."""
        fetched = []
        for part in self._texts(texts):
            if part in known or not self._has_texts(texts, part):
                continue
            try:
                self._fetch_part(texts, part, folder / part)
                fetched.append(part)
            except InputError as error:  # the others are as good as before
                warnings.warn(str(error), UnusedTablesWarning, stacklevel=2)
        return fetched

    def send_texts(self, store: Additions, folder: Path) -> None:
        """Copy the texts of this machine to the address, unless it has them.

        What is left of killed tasks, damaged, or part of what is copied, is removed there.

        Args:
            store: The store.
            folder: Folder of its relations, which are current and have all texts of the address;
                the caller is its `only_writer`.

        Raises:
            OperatorError: The address cannot be used, or the folder cannot be written.
        """
        check_mark(self.address)
        state, texts = read_state(folder) or NOTHING, _texts_folder(store)
        there, own = self._texts(texts), state.parts["texts"]
        wanted = {*state.taken}
        if own and (state.unsent or wanted.isdisjoint(there)):
            wanted = {*own}
            for part in own:
                if not self._has_texts(texts, part):
                    _send(folder / part, self._files, f"{self._path}/{texts}")
        for part in there:
            if part not in wanted:
                self._files.remove(f"{self._path}/{texts}/{part}")
        taken = sorted({*state.taken, *wanted})
        replace_state(folder, replace(state, taken=taken, unsent=False))

    def _fetch_part(self, version: str, part: str, target: Path) -> None:
        if is_whole(target):  # of a fetch that was killed
            return
        source = f"{self._path}/{version}/{part}"
        with room_for(target), folder_next_to(target) as work:
            for entry in self._files.entries(source):
                if entry.name in _OF_PARTS:
                    self._copy(f"{source}/{entry.name}", work / entry.name)
            try:
                check_folder(work)
            except SealError as error:
                raise InputError(
                    f"{self.address}/{version}/{part} is damaged: {error}; write the tables again"
                ) from error
            target.mkdir()
            for file in sorted(work.iterdir(), key=_turn):
                file.rename(target / file.name)

    def _copy(self, path: str, target: Path) -> None:
        with target.open("wb") as file:
            file.writelines(self._files.read(path))


class UnusedTablesWarning(UserWarning):
    """Relations that tasks have written cannot be read, so they are made again."""


def fetch_relations(store: Additions, folder: Path) -> None:
    """Copy relations from where tasks have written them to a folder; see `Place.fetch`.

    An address that cannot be used is skipped with a warning: it has nothing that cannot be made
    from the store.
    """
    for address in store.tables_at():
        try:
            Place(address).fetch(store, folder)
        except WriteError:
            raise
        except OperatorError as error:
            text = f"the tables at {hide_credentials(address)} are not used: {error}"
            warnings.warn(text, UnusedTablesWarning, stacklevel=2)


def _texts_folder(store: Additions) -> str:
    """Return the name of the folder for texts: another one after each takedown."""
    base = f"{TABLES} {base_of(store)}"
    return OF_TEXTS + hashlib.sha256(base.encode()).hexdigest()[:16]


def _local(version: str, part: str) -> str:
    """Return the name of a part next to parts of other versions of the store and of the files."""
    return f"{version}-{TABLES}-{part}"


def format_written(written: Written) -> tuple[bytes, bytes]:
    """Return the pair that a task writes about its part."""
    return written.part.encode(), json.dumps(written[1:]).encode()


def _parse_written(line: bytes) -> Written:
    r"""Return the record of a part that a task wrote.

    >>> _parse_written(b"\t".join(format_written(Written("links-00000-of-00001", 3, 800))))
    Written(part='links-00000-of-00001', rows=3, bytes=800, counts={})
    """
    part, _, numbers = line.partition(b"\t")
    return Written(part.decode(), *json.loads(numbers))


# Writes the relations of a store as a job: a part per task, to an address that all tasks reach.

_MOST_ROWS = 10_000_000
"""Most rows of a part, about: a task takes a minute or two for them."""

_LEAST_ROWS = 100_000
"""Least rows of a part, about: to start a task takes as long as to write them."""


def write_tables(
    where: str, store: GraphStore, place: Place, run: JobRunner, work: Path, parts: int | None
) -> Mapping[str, list[Written]]:
    """Write the relations of the present state of a store to a place, unless it has them.

    Args:
        where: The path or URL of the store.
        store: The store.
        place: Where to write.
        run: Runs the tasks.
        work: Folder for the files of the job.
        parts: Number of parts of each relation; None for one that suits the store.

    Returns:
        The parts of each relation; no relation if the place has them all.

    Raises:
        UsageError: An engine cannot open the store.
        InputError: The place cannot be used.
        StoreError: The store changed meanwhile, or cannot be read or written.
        PipelineError: A task failed.
    """
    check_reach(where, store, run)
    note_address(where, place.address)
    if place.state(_version_of(store)) is not None:
        return {}
    tasks = [
        PartTask(relation, Share(part, count))
        for relation, rows in rows_in_store(store).items()
        for count in [parts or parts_for(rows, run.cores, _LEAST_ROWS, _MOST_ROWS)]
        for part in range(count)
    ]
    settings = {"folder": place.folder_of(store)}
    complete = partial(place.complete, store, tasks)
    shares = write_manifests(work / "shares", ([task.line] for task in tasks))
    written = run_tasks(where, store, place, run, shares, settings, _version_of, complete)
    return {
        relation: [one for one in written if one.part.startswith(f"{relation}-")]
        for relation in OF_STORE
    }


def check_reach(where: str, store: GraphStore, run: JobRunner) -> None:
    """Check that tasks can open a store.

    Raises:
        UsageError: They run on other machines, and the store is on this one.
    """
    if run.is_on_engine and store.shared_url is None:
        raise UsageError(
            f"--runner {run.runner}: tasks on other machines cannot open {where}; leave out "
            "--runner, and processes of this machine write the tables to the same address"
        )


def _version_of(store: Additions) -> str:
    """Return the version of a store: captures and links are those of one version."""
    return store.state().version


def write_manifests(folder: Path, manifests: Iterable[Iterable[str]]) -> list[Path]:
    """Write the lines of each manifest to a file in a new folder, and return the files."""
    folder.mkdir()
    paths = []
    for number, lines in enumerate(manifests):
        paths.append(folder / f"part-{number:05d}")
        with paths[-1].open("w", encoding="ascii") as manifest:
            manifest.writelines(lines)
    return paths


def run_tasks(
    where: str,
    store: GraphStore,
    place: Place,
    run: JobRunner,
    manifests: Sequence[Path],
    settings: Mapping[str, object],
    state_of_store: Callable[[Additions], str],
    complete: Callable[[], None] = lambda: None,
) -> list[Written]:
    """Run a task for each manifest; return a record of each part, sorted by name.

    Args:
        where: The path or URL of the store.
        store: The store.
        place: Where the tasks write.
        run: Runs them.
        manifests: Files in one folder of their own; the output is next to it.
        settings: Of the job, but for the store and its version.
        state_of_store: Returns the state that must stay the same; otherwise, all relations at the
            place are removed.
        complete: Called when all tasks have ended, while the store does not change.

    Raises:
        StoreError: The store changed meanwhile, or cannot be read.
        OperatorError: The place cannot be used, or a task failed.
    """
    url = store.shared_url or str(path_of(where).absolute())
    before = state_of_store(store)
    folder = manifests[0].parent
    output = folder.with_name(f"{folder.name}-written")
    try:
        run.run(JOBS["tables"], manifests, output, {**settings, "store": url, "version": before})
        run.fetch(output)
        with store.snapshot():
            if state_of_store(store) != before:
                raise StoreError(changed(where))
            complete()
    except BaseException:
        with suppress(ArclinkError):
            if state_of_store(store) != before:  # a takedown may be what changed it
                remove_at(place.address)
        raise
    lines = [line for part in parts_of(output) for line in part.read_bytes().splitlines()]
    return sorted(map(_parse_written, lines), key=attrgetter("part"))


def parts_for(rows: int, cores: int, least: int, most: int) -> int:
    """Return the number of parts for a number of rows.

    >>> [parts_for(rows, 8, 100_000, 10**7) for rows in (0, 250_000, 10**7, 10**9)]
    [1, 3, 16, 100]

    Args:
        rows: Their number, about.
        cores: Tasks at a time.
        least: Rows of a part if there are several, at least.
        most: Rows that a part has at most, about.
    """
    return max(1, min(max(2 * cores, -(-rows // most)), -(-rows // least)))
