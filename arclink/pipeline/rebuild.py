"""A rebuild: a new store is built next to the present one, and takes its place when it is complete.

::

    links.db                     the present store, which answers until the end
    links.db.rebuild/links.db    the new store, with the takedowns of the present one

A rebuild that is killed leaves both, and the same command continues. A store is replaced only if
the new one was built from all of its archive files, and has no fewer captures.

Below, `arclink upgrade` reads single payloads again.
"""

import os
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from arclink.access.texts import counted
from arclink.archives.locations import Location, RemotePath, location_of, split_entry
from arclink.checksums import names_payload
from arclink.errors import ArclinkError, InputError, StoreError
from arclink.mapreduce.runs import JobRunner, room_in
from arclink.model import Checksum, ContentId, Forgotten, Payload, Timestamp, UriR
from arclink.pipeline import stages
from arclink.pipeline.build import BuildReport, check_settings
from arclink.pipeline.records_read import ALL, StoredFile, indexes_of, stored_files
from arclink.pipeline.settings import BuildSettings, settings_of_store
from arclink.portions import portions
from arclink.rooms import DERIVED, DERIVED_AT_ADDRESSES, taken
from arclink.rows.pages import LinkSource, parse_page, source_of
from arclink.rows.pointers import ORIGINALS, Pointer, PointerKind, format_pointer
from arclink.rows.relations import COLUMNS_OF_PAYLOAD, parse_payload
from arclink.store.archive_paths import ArchivePaths
from arclink.store.backups import replace_store
from arclink.store.blocks.byte_layouts import split_content
from arclink.store.graph_files import read_sorted
from arclink.store.location import checked_path, open_store, path_of, rebuilt_path, takedowns_path
from arclink.store.protocols import EmptyStore, KnownFile, Scans, Takedown
from arclink.store.sqlite.store import SqliteStore
from arclink.store.takedown_files import add_to_list, listed, missing_in, read_takedowns, united
from arclink.uris.surts import surt_of

# Reads payloads again whose links an earlier extractor has read, and replaces links that differ.
#
# ::
#
#    payloads of the store ──▶ pointers ──▶ extract, join ──▶ links that differ? ──▶ join, invert
#                                                                   │                    │
#                                                             titles are kept     links are replaced
#
# Payloads are read in portions, and each portion is one step of the store: a killed run continues
# after the last one. A payload that cannot be read keeps its links, and stays listed
# (`arclink.store.layouts.EARLIER_SETTING`).

AT_ONCE = 20_000
"""Number of payloads of a portion."""

_REDIRECT = "redirect:"


def read_again(
    store: SqliteStore,
    archives: ArchivePaths,
    settings: BuildSettings,
    work: Path,
    run: JobRunner,
    only_change: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[tuple[int, int]]:
    """Read payloads again, a portion at a time, and replace the links that differ.

    Args:
        store: Opened for loading, with the present layout.
        archives: Where archive files are that are not at the path which the store records.
        settings: Number of cores, and the runner.
        work: Folder for the files between the stages.
        run: Runs the jobs.
        only_change: Returns a context that keeps other processes from changing the store, for one
            portion: a takedown waits for it.

    Yields:
        After each portion, the numbers of payloads in it that were read, and whose links differ.
    """
    settings = settings_of_store(store, settings)
    files = list(_files_there(store, archives))
    names = {file.name for file in files}
    portion_of = portions(store.earlier_payloads(), AT_ONCE)
    for portion in portion_of:
        with only_change():
            wanted = [
                payload
                for _, payload in portion
                if _is_to_read(payload, names) and store.payload(payload.checksum) is not None
            ]  # one may have been forgotten meanwhile
            folder = work / "reread"
            run.remove(folder)
            with room_in(folder, "upgrade"):
                (folder / "mementos").mkdir(parents=True)
                _write_pointers(store, wanted, folder / "pointers/part-00000")
                stages.extract(folder, files, EmptyStore(), settings, run)
                stages.join(folder, run)
                done = {payload.checksum: payload for payload in _read_payloads(folder / "graph")}
                changed = _changed(store, folder / "graph", done)
                further = folder / "changed"
                if changed:
                    _copy_pages(run.parts(folder / "pages"), changed, further / "pages/part-00000")
                    stages.join(further, run)
                    stages.invert(further, run)
                numbers = [
                    number
                    for number, payload in portion
                    if payload.checksum in done or not _has_page_links(payload)
                ]
                outcomes = [
                    done[payload.checksum]
                    for _, payload in portion
                    if payload.checksum in done and payload.checksum not in changed
                ]
                store.replace_links(further / "graph", outcomes, changed, numbers, portion[-1][0])
            run.remove(folder)
        yield len(done), len(changed)


def _files_there(store: SqliteStore, archives: ArchivePaths) -> Iterator[KnownFile]:
    """Yield the archive files of a store that are there, with the path at which they are."""
    for file in store.files():
        for path in (file.path, *archives.paths(file.name)):
            if "://" in path or "!/" in path or _has_size(path, file.size):
                yield replace(file, path=path)
                break


def _has_size(path: str, size: int) -> bool:
    try:
        return os.stat(path).st_size == size
    except OSError:
        return False


def _has_page_links(payload: Payload) -> bool:
    """Return whether the links of a payload depend on the extractor."""
    return (
        source_of(payload) in (LinkSource.PAGE, LinkSource.WAT)
        and not payload.checksum.startswith(_REDIRECT)
        and not names_payload(payload.checksum)
    )


def _is_to_read(payload: Payload, names: set[str]) -> bool:
    return _has_page_links(payload) and payload.file in names


def _write_pointers(store: SqliteStore, payloads: Iterable[Payload], path: Path) -> None:
    path.parent.mkdir(parents=True)
    with path.open("wb") as part:
        for payload in payloads:
            timestamp, original = _capture_at(store, payload)
            originals = portions(store.originals_of(payload.checksum), ORIGINALS)
            for chunk, some in enumerate(originals):
                pointer = Pointer(
                    PointerKind.PAYLOAD,
                    payload.checksum,
                    payload.file,
                    payload.offset,
                    -1,
                    timestamp,
                    original,
                    tuple(some),
                    chunk=chunk,
                )
                part.write(format_pointer(pointer) + b"\n")


def _capture_at(store: SqliteStore, payload: Payload) -> tuple[Timestamp, UriR]:
    """Return time and original of the capture that a payload was read from, if it has a memento."""
    for original in store.originals_of(payload.checksum):
        for memento in store.mementos(surt_of(original)):
            if (memento.file, memento.offset) == (payload.file, payload.offset):
                return memento.timestamp, memento.original
    return Timestamp(""), UriR("")


def _read_payloads(graph: Path) -> Iterator[Payload]:
    for row in read_sorted(graph, "payloads", COLUMNS_OF_PAYLOAD, keys=0):
        payload = parse_payload(b"\t".join(row))
        if payload.scope is not None:
            yield payload


def _changed(store: SqliteStore, graph: Path, done: dict[Checksum, Payload]) -> frozenset[Checksum]:
    """Return the payloads whose links, or the scope of these, differ from those of the store."""
    changed = {
        checksum
        for checksum, payload in done.items()
        if (known := store.payload(checksum)) is None or known.scope is not payload.scope
    }
    for _, _, contents, links, lists in read_sorted(graph, "outlinks", 5, keys=1):
        distinct = [tuple(link) for link in orjson.loads(links)]
        for content, numbers in zip(orjson.loads(contents), orjson.loads(lists), strict=True):
            checksum = split_content(content)[0]
            if checksum not in changed:
                stored = [tuple(link) for link in store.outlinks(ContentId(content))]
                if stored != [distinct[number] for number in numbers]:
                    changed.add(checksum)
    return frozenset(changed)


def _copy_pages(parts: Sequence[Path], wanted: frozenset[Checksum], path: Path) -> None:
    """Write the pages of some payloads to a new part."""
    path.parent.mkdir(parents=True)
    with path.open("wb") as copy:
        for part in parts:
            with part.open("rb") as lines:
                for line in lines:
                    if parse_page(line.partition(b"\t")[2]).checksum in wanted:
                        copy.write(line)


SHOWN = 10
"""Number of files that a message names."""


@dataclass(frozen=True, slots=True)
class PresentStore:
    """The store that is to be replaced, and what it was built from.

    Attributes:
        where: Its path or URL, as the user names it.
        inputs: The input that the user names; empty for the archive files of the store.
        options: The options of the command, for the commands in messages.
        files: Its archive files.
        complete: The paths of those that were read completely, not by an index.
        indexes: The paths or URLs of the CDX files that named the records of the others.
        settings: The settings that it records.
        damaged: The paths of archive files that were empty, cut short or damaged.
    """

    where: str
    inputs: Sequence[str]
    options: Sequence[str]
    files: Sequence[KnownFile]
    complete: frozenset[str]
    indexes: Sequence[str]
    settings: BuildSettings
    damaged: frozenset[str]

    @classmethod
    def of(cls, where: str, inputs: Sequence[str], options: Sequence[str]) -> "PresentStore":
        """Return the store at a path.

        Raises:
            StoreError: It is missing, or cannot be read.
        """
        with open_store(where) as store:
            files, known = [*store.files()], stored_files(store)
            of_files = [(file, known.get(file.name, StoredFile(""))) for file in files]
            return cls(
                where,
                inputs,
                options,
                files,
                frozenset(file.path for file, stored in of_files if ALL in stored.read),
                list(dict.fromkeys(indexes_of(store))),
                BuildSettings.from_store(store),
                frozenset(file.path for file, stored in of_files if stored.damage),
            )

    @property
    def path(self) -> Path:
        """The path of its file: of a symbolic link, the target is replaced."""
        return path_of(self.where).resolve()

    @property
    def new(self) -> Path:
        """The path of the new store, which may exist."""
        return rebuilt_path(self.where)

    def at_hand(self) -> tuple[str, ...]:
        """Return the paths and URLs of its archive files.

        Raises:
            InputError: Files on this machine are gone.
        """
        gone = [file.path for file in self.files if not _is_there(location_of(file.path))]
        if gone:
            raise InputError(
                f"{len(gone):,} of the {len(self.files):,} archive files that {self.where} names "
                f"are not there, so nothing was changed:\n{_listing(gone)}\n"
                "Put them back, or name the folders where all files are now:\n"
                f"  {self._command('INPUT...', '--store', self.where, '--rebuild')}\n"
                "For a store of other files only, name a new one:\n"
                f"  {self._command('INPUT...', '--store', self._another)}"
            )
        if not self.files:
            raise InputError(
                f"{self.where} names no archive files; name them:\n"
                f"  {self._command('INPUT...', '--store', self.where)}"
            )
        return tuple(file.path for file in self.files)

    def indexes_at_hand(self) -> tuple[str, ...]:
        """Return the paths and URLs of the CDX files; empty if one on this machine is gone.

        Archive files without an index are read completely, so their records are found all the same.
        """
        there = all(_is_there(location_of(index)) for index in self.indexes)
        return tuple(self.indexes) if there else ()

    def _check(self, given: Sequence[KnownFile]) -> None:
        """Raise InputError if archive files of the store are not among the given ones.

        A file that was moved has the same size and fingerprint at another path, a file that has
        grown another fingerprint at the same path.
        """
        marks = {(file.size, file.fingerprint) for file in given}
        paths = {_resolved(file.path) for file in given}
        missing = [
            file.path
            for file in self.files
            if (file.size, file.fingerprint) not in marks and _resolved(file.path) not in paths
        ]
        if missing:
            inputs = self.inputs or ["INPUT..."]
            raise InputError(
                f"{len(missing):,} of the {len(self.files):,} archive files of {self.where} are "
                f"not among the input, so nothing was changed:\n{_listing(missing)}\n"
                "To rebuild the store from its own files, and then add the input:\n"
                f"  {self._command('--store', self.where, '--rebuild')} && "
                f"{self._command(*inputs, '--store', self.where)}\n"
                "For a store of the input only, name a new one:\n"
                f"  {self._command(*inputs, '--store', self._another)}"
            )

    @property
    def _another(self) -> str:
        path = path_of(self.where)
        return str(path.with_name(f"{path.stem}-2{path.suffix}"))

    def _command(self, *words: str) -> str:
        """Return a command line; ``INPUT...`` stays for the user to fill in."""
        line = shlex.join(["arclink", "build", *words, *self.options])
        return line.replace("'INPUT...'", "INPUT...")

    def announcement(self, free: int) -> str:
        """Return a text for the user: the work of the build, and the room that it needs."""
        size = self.path.stat().st_size
        return (
            f"{self.where} is rebuilt from {counted(len(self.files), 'archive file')}. It "
            f"answers until the new store is complete, which needs about {size:,} bytes in "
            f"{self.new.parent} ({free:,} are free)."
        )

    def begin(self, files: Sequence[KnownFile], settings: BuildSettings) -> int:
        """Prepare the folder of the new store, and return the bytes that are free for it.

        A new store that an earlier rebuild has left stays if it has no other files and settings.

        Args:
            files: The archive files to read.
            settings: The settings of the new store.

        Raises:
            InputError: The store has archive files that are not among ``files``.
            StoreError: There is no room for a second store.
        """
        self._check(files)
        folder, takedowns = self.new.parent, self._takedowns()
        if self.new.exists() and not self._continues(files, settings):
            shutil.rmtree(folder)
        free = shutil.disk_usage(folder.parent).free
        size = self.path.stat().st_size
        done = self.new.stat().st_size if self.new.exists() else 0
        if free < size - done:
            raise StoreError(
                f"a rebuild needs about {size - done:,} bytes for the new store in {folder}, and "
                f"{free:,} are free; nothing was changed. Free some space, and repeat the command"
            )
        folder.mkdir(exist_ok=True)
        add_to_list(self.new, takedowns)
        return free

    def _continues(self, files: Sequence[KnownFile], settings: BuildSettings) -> bool:
        """Return whether the new store is the beginning of a store of these files."""
        known = {(file.name, file.size, file.fingerprint) for file in files}
        with suppress(ArclinkError), open_store(str(self.new)) as store:
            check_settings(store, settings, str(self.new))
            return all((file.name, file.size, file.fingerprint) in known for file in store.files())
        return False

    def _takedowns(self) -> list[Takedown]:
        """Return the takedowns that the present store and the files next to it name."""
        with open_store(self.where) as store:
            recorded = [takedown for takedown, _ in store.forgotten()]
        aside = takedowns_path(self.where)
        return united(
            listed(path_of(self.where)), recorded, read_takedowns(aside) if aside.exists() else ()
        )

    def finish(self, report: BuildReport) -> tuple[int | None, int]:
        """Replace the present store by the new one.

        Returns:
            The numbers of captures before and now; before, None if it cannot be read.

        Raises:
            StoreError: The new store lacks captures of the present one, which is unchanged.
        """
        if damaged := [fault for fault in report.damaged if fault.path not in self.damaged]:
            raise StoreError(
                "archive files are damaged that were not when the store was built, so "
                f"{self.where} was not replaced:\n"
                + _listing(str(fault) for fault in damaged)
                + "\nRepair them, and repeat the command"
            )
        takedowns = self._takedowns()
        with open_store(str(self.new), create=True) as store:
            for takedown in missing_in([one for one, _ in store.forgotten()], takedowns):
                store.forget(takedown)
            store.trim()
            now = sum(1 for _ in store.scan_mementos())
        before: int | None = None
        with open_store(self.where) as present:
            with suppress(StoreError):  # a damaged store is rebuilt for this reason
                before = _captures_of(present, [takedown.what for takedown in takedowns])
            if before is not None and now < before:
                raise StoreError(
                    f"the new store has {now:,} captures and {self.where} has {before:,}, so it "
                    f"was not replaced. The new store is {self.new}. To use it all the same:\n"
                    f"  arclink restore {self.new} --store {self.where} --replace"
                )
            taken(DERIVED_AT_ADDRESSES)(present)
        # What was made from the present store can be made again from it, too.
        taken(DERIVED)(self.where)
        checked_path(self.where).unlink(missing_ok=True)
        replace_store(self.new, self.path)
        # A takedown may have been listed meanwhile: a store that is opened for loading applies it.
        open_store(self.where, create=True).close()
        takedowns_path(self.where).unlink(missing_ok=True)
        shutil.rmtree(self.new.parent, ignore_errors=True)
        return before, now


def _is_there(path: Location) -> bool:
    """Return whether a file exists; a file on another machine is taken to exist."""
    if isinstance(path, RemotePath):
        return True
    entry = split_entry(str(path))
    return (Path(entry[0]) if entry else path).exists()


def _resolved(path: str) -> str:
    location = location_of(path)
    return str(location if isinstance(location, RemotePath) else location.resolve())


def in_cassandra(where: str, inputs: Sequence[str]) -> None:
    """Let an empty store in Cassandra be built.

    Raises:
        StoreError: It has data, which would be gone before the new data is complete.
    """
    with open_store(where) as store:
        if next(store.batches(), None) is None:
            return
        files = [file.path for file in store.files()]
    before, mark, options = where.partition("?")
    new = f"{before}2{mark}{options}"
    words = [*inputs] if inputs else files[:SHOWN]
    left_out = f"  # and {len(files) - SHOWN:,} more" if len(words) < len(files) else ""
    raise StoreError(
        f"{where}: a keyspace cannot take the place of another one, so a rebuild would remove the "
        "store before the new one is complete. Nothing was changed. Build the new one in a "
        "keyspace of its own, then let services use that one:\n"
        f"  {shlex.join(['arclink', 'schema', 'apply', '--store', new])}\n"
        f"  {shlex.join(['arclink', 'forget', '--into', 'takedowns', '--store', where])}\n"
        f"  {shlex.join(['arclink', 'forget', '--import', 'takedowns', '--store', new])}\n"
        f"  {shlex.join(['arclink', 'build', *words, '--store', new])}{left_out}"
    )


def _captures_of(store: Scans, forgotten: Sequence[Forgotten]) -> int:
    """Return the number of captures of a store that no takedown covers."""
    return sum(
        not any(what.covers(memento.surt, memento.timestamp) for what in forgotten)
        for memento in store.scan_mementos()
    )


def _listing(texts: Iterable[str]) -> str:
    """Return the first `SHOWN` texts as indented lines, and the number of the others."""
    lines = [f"  {text}" for text in texts]
    more = [f"  … and {len(lines) - SHOWN:,} more"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *more])
