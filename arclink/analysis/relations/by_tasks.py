"""Relations that tasks write at an address, a part per task, for engines and for other machines.

::

    ADDRESS/
        VERSION/                          of the store's state: complete if it has the file `state`
            state                         as next to a store (`arclink.analysis.relations.state`)
            captures-00000-of-00004/      captures.parquet, checksums.txt
            links-00003-of-00016/         links.parquet, links-by-page.parquet, checksums.txt

Nothing is replaced: another state of the store has another folder. A task that is repeated, even at
the same time, writes the same files, each in one step.
"""

import json
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from pyarrow.parquet import read_metadata

from arclink.analysis.relations.folder import (
    STATE,
    address_of,
    check_mark,
    note_address,
    remove_at,
    versions_at,
)
from arclink.analysis.relations.state import (
    FILES,
    LINKS_BY_PAGE,
    OF_FILES,
    OF_STORE,
    RelationsState,
    are_whole,
    base_of,
    read_state,
    replace_state,
    rows_in_store,
    state_of,
    whole_parts,
)
from arclink.analysis.relations.writing import PartWriter, make_part
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
from arclink.store.layouts import TABLES
from arclink.store.location import open_store, path_of
from arclink.store.protocols import Additions, GraphStore, Share

_OF_PARTS = (*(file for kind in OF_STORE for file in FILES[kind]), SUMS)
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
    """What a task wrote: the name of its part, its rows, and the bytes of its tables."""

    part: str
    rows: int
    bytes: int


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
        if version is not None and opened.state().version != version:
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
        size = 0
        for file in sorted(made.iterdir(), key=_turn):
            with file.open("rb") as source:
                files.write_whole(f"{path}/{task.name}/{file.name}", source)
            size += file.stat().st_size if file.name != SUMS else 0
        return Written(task.name, read_metadata(made / name).num_rows, size)


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
        remove_at(self.address, except_for=state.version)

    def fetch(self, store: Additions, folder: Path) -> None:
        """Copy relations to a folder of this machine, unless it has those of this state already.

        If the address lacks this state, an earlier one is copied, unless the folder has one that
        can be used: what batches have added since can be added to it.

        Args:
            store: The store.
            folder: The folder, of which the caller is the `only_writer`.

        Raises:
            OperatorError: The relations at the address cannot be read, or are damaged.
            WriteError: The folder cannot be written.
        """
        version, base = store.state().version, base_of(store)
        own = read_state(folder)
        is_usable = own is not None and own.base == base and are_whole(folder, own)
        if own is not None and is_usable and own.version == version:
            return
        check_mark(self.address)
        state = self.state(version) or (None if is_usable else self._earlier(base))
        if state is not None:
            for part in sorted(state.names):
                self._fetch_part(state.version, part, folder / _local(state.version, part))
            parts = {
                kind: [_local(state.version, part) for part in names]
                for kind, names in state.parts.items()
            }
            if own is not None:  # `kept` leaves out what is gone
                whole = whole_parts(folder, own)  # reads all of them
                parts |= {kind: [*whole[kind]] for kind in OF_FILES}
            replace_state(folder, replace(state, parts=parts))

    def _earlier(self, base: str) -> RelationsState | None:
        """Return the last of the states to which batches only have added rows since."""
        states = (self.state(version) for version in versions_at(self._files, self._path))
        usable = [state for state in states if state is not None and state.base == base]
        return max(usable, key=lambda state: state.mark, default=None)

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


def _local(version: str, part: str) -> str:
    """Return the name of a part next to parts of other versions of the store and of the files."""
    return f"{version}-{TABLES}-{part}"


def format_written(written: Written) -> tuple[bytes, bytes]:
    """Return the pair that a task writes about its part."""
    return written.part.encode(), json.dumps(written[1:]).encode()


def _parse_written(line: bytes) -> Written:
    r"""Return the record of a part that a task wrote.

    >>> _parse_written(b"\t".join(format_written(Written("links-00000-of-00001", 3, 800))))
    Written(part='links-00000-of-00001', rows=3, bytes=800)
    """
    part, _, numbers = line.partition(b"\t")
    rows, size = json.loads(numbers)
    return Written(part.decode(), rows, size)


# Writes the relations of a store as a job: a part per task, to an address that all tasks reach.

_ROWS = 10_000_000
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
    if run.is_on_engine and store.shared_url is None:
        raise UsageError(
            f"--runner {run.runner}: tasks on other machines cannot open {where}; leave out "
            "--runner, and processes of this machine write the tables to the same address"
        )
    note_address(where, place.address)
    url = store.shared_url or str(path_of(where).absolute())
    version = store.state().version
    if place.state(version) is not None:
        return {}
    tasks = list(_tasks(store, run.cores, parts))
    manifests = []
    (work / "shares").mkdir()
    for number, task in enumerate(tasks):
        manifests.append(work / "shares" / f"part-{number:05d}")
        manifests[-1].write_text(task.line, encoding="ascii")
    settings = {"store": url, "folder": place.folder_of(store), "version": version}
    output = work / "written"
    try:
        run.run(JOBS["tables"], manifests, output, settings)
        run.fetch(output)
        lines = [line for part in parts_of(output) for line in part.read_bytes().splitlines()]
        with store.snapshot():
            if store.state().version != version:
                raise StoreError(changed(where))
            place.complete(store, tasks)
    except BaseException:
        with suppress(ArclinkError):
            if store.state().version != version:  # a takedown may be what changed it
                remove_at(place.address)
        raise
    written = sorted(map(_parse_written, lines))
    return {
        relation: [one for one in written if one.part.startswith(f"{relation}-")]
        for relation in OF_STORE
    }


def _tasks(store: GraphStore, cores: int, parts: int | None) -> Iterator[PartTask]:
    for relation, number in rows_in_store(store).items():
        count = parts or _parts(number, cores)
        yield from (PartTask(relation, Share(part, count)) for part in range(count))


def _parts(rows: int, cores: int) -> int:
    """Return the number of parts for a number of rows.

    >>> [_parts(rows, 8) for rows in (0, 250_000, 10**7, 10**9)]
    [1, 3, 16, 100]
    """
    return max(1, min(max(2 * cores, -(-rows // _ROWS)), -(-rows // _LEAST_ROWS)))
