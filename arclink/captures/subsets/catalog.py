"""The catalog: named subsets of a store, in a folder next to it.

::

    links.db.subsets/NAME.subset     a sealed file (`arclink.files.sealed`)

Its row is JSON: the selection as text, and when it was stored. Its data are the captures of a kept
list (`arclink.captures.subsets.evaluation`). Subsets that earlier versions stored are read, too
(`arclink.store.layouts.read_old_subset`); they get this form when they are next written.

A *view* is a definition: its captures change with the store. A *kept list* has the captures that
the definition selected when it was stored. A takedown removes its captures from kept lists
(`SubsetCatalog.reduce_lists`).
"""

import fcntl
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from arclink.captures.subsets.evaluation import (
    CaptureSet,
    Evaluation,
    KeptList,
    conditions_on_words,
    number_of,
)
from arclink.captures.subsets.fields import END, EVERYWHERE, SurtRanges, is_name
from arclink.captures.subsets.language import (
    KEPT,
    AllOf,
    AnyOf,
    Condition,
    Except,
    Selection,
    all_of,
    any_of,
    conditions_in,
    outside,
    parse_selection,
    text_of,
)
from arclink.captures.subsets.view import SubsetStore
from arclink.errors import SealError, StoreError, UsageError
from arclink.files.sealed import read_rows, read_sealed, write_sealed
from arclink.model import Surt
from arclink.rooms import TEXTS, taken
from arclink.store.layouts import read_old_subset
from arclink.store.location import local_path_of, open_store
from arclink.store.protocols import Scans
from arclink.store.takedown_files import takedown_digest
from arclink.timestamps import now_in_iso

if TYPE_CHECKING:
    from arclink.captures.subsets.view import SubsetStore

# Opens a store, or a subset of it.


def open_graph(where: str, subset: str = "") -> Scans:
    """Return the store at a path or URL, or a subset of it; closing it closes the store.

    Args:
        where: As `open_store` takes it.
        subset: The name of a stored subset, or a selection; empty for the whole store.

    Raises:
        UsageError: There is no such subset, or the selection cannot be read.
        StoreError: The store is missing or cannot be used.
    """
    store = open_store(where)
    try:
        return narrowed(store, where, subset)
    except BaseException:
        store.close()
        raise


def narrowed(store: Scans, where: str, subset: str) -> Scans:
    """Return a subset of an open store; the store itself if ``subset`` is empty.

    Raises:
        UsageError: There is no such subset, or the selection cannot be read.
    """
    if not subset:
        return store

    return subset_in(store, SubsetCatalog(where), subset)


def subset_in(store: Scans, catalog: "SubsetCatalog", subset: str) -> "SubsetStore":
    """Return a subset of an open store as a store.

    Args:
        store: The store.
        catalog: The named subsets of the store.
        subset: The name of a stored subset, or a selection.

    Raises:
        UsageError: There is no such subset, or the selection cannot be read.
    """
    return subset_of(store, catalog.define(catalog.named_or_written(subset)))


_KIND = "subset"
_SUFFIX = ".subset"
_OLD_SUFFIX = ".json"
_OLD_SUFFIXES = (_OLD_SUFFIX, ".captures")
_REMEDY = "Select the subset again: arclink select NAME SELECTION"

_MOST_RANGES = 1_000
"""Largest number of ranges that are stored with a list."""


@dataclass(frozen=True, slots=True)
class StoredSubset:
    """An entry of the catalog.

    Attributes:
        name: Its name.
        text: The canonical text of its selection.
        made: When it was stored: UTC, ``2026-11-21T20:00:00Z``.
        is_kept: Whether its captures are a stored list.
        captures: Number of captures in the list when it was stored; None for a view.
        takedowns: For a list, identifies the takedowns that it has been reduced by.
        ranges: For a list, the stems of the ranges of SURTs that its captures are in.
    """

    name: str
    text: str
    made: str
    is_kept: bool = False
    captures: int | None = None
    takedowns: str = ""
    ranges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Definition:
    """A selection that needs no other subset.

    Attributes:
        selection: The selection; other subsets are replaced by their selections or lists.
        lists: The lists it uses, by the value of their ``kept`` condition.
        where: Path or URL of the store; empty if it has none.
    """

    selection: Selection
    lists: dict[str, KeptList]
    where: str = ""

    @property
    def identity(self) -> str:
        """20 hex digits: equal definitions have equal identities."""
        return sha256(text_of(self.selection).encode()).hexdigest()[:20]


class SubsetCatalog:
    """The named subsets of one store.

    Args:
        where: Path or URL of the store. The catalog of a remote store is in the current folder.
            Empty for a store without a location, which has no named subsets.
    """

    def __init__(self, where: str) -> None:
        self._where = where

    @property
    def folder(self) -> Path:
        """The folder of the catalog; it may be missing.

        Raises:
            UsageError: The store has no location.
        """
        path = local_path_of(self._where)
        return path.with_name(path.name + ".subsets")

    def names(self) -> list[str]:
        """Return the names of all subsets, sorted."""
        if not self._where:
            return []
        names = {
            path.name.removesuffix(suffix)
            for suffix in (_SUFFIX, _OLD_SUFFIX)
            for path in self.folder.glob(f"*{suffix}")
        }
        return sorted(names)

    def __iter__(self) -> Iterator[StoredSubset]:
        return map(self.get, self.names())

    def get(self, name: str) -> StoredSubset:
        """Return a subset.

        Raises:
            UsageError: There is no subset with this name.
            SealError: Its file is damaged.
        """
        if name not in self.names():
            known = ", ".join(self.names())
            stored = f"Stored subsets: {known}" if known else "No subset is stored"
            raise UsageError(f"no subset {name!r}. {stored}; a selection has a form such as host:a")
        try:
            if self._is_old(name):
                fields, _ = read_old_subset(self.folder, name)
            else:
                [row] = read_rows(self._path(name), _KIND)
                fields = json.loads(row)
        except SealError as error:
            raise error.with_remedy(_REMEDY) from error
        return StoredSubset(**{**fields, "ranges": tuple(fields["ranges"])})

    def put(self, store: Scans, name: str, selection: Selection, *, keep: bool) -> StoredSubset:
        """Store a subset; one of the same name is replaced.

        Args:
            store: The store, of which a list is made.
            name: Its name.
            selection: Its selection.
            keep: Store the list of its captures, not only the definition.

        Raises:
            UsageError: The name is not allowed, or a subset that the selection names does not
                exist, or they refer to each other in a circle.
            StoreError: Another process is storing a subset of the store.
            OperatorError: The file cannot be written.
        """
        if not is_name(name):
            raise UsageError(
                f"{name!r} is not a name of a subset: 1 to 64 letters, digits, '_', '-' and '.', "
                "the first one a letter or a digit"
            )
        definition = self.define(selection, within=(name,))
        made = now_in_iso()
        stored = StoredSubset(name, text_of(selection), made)
        with self._storing():
            if not keep:
                self._write(stored)
                return stored
            evaluation = _evaluated(store, definition)
            captures = CaptureSet(map(number_of, evaluation.scan()))
            stems = evaluation.ranges.stems
            stored = replace(
                stored,
                is_kept=True,
                captures=len(captures),
                takedowns=takedown_digest(store),
                ranges=stems if len(stems) <= _MOST_RANGES else EVERYWHERE.stems,
            )
            self._write(stored, captures)
        return stored

    def remove(self, name: str) -> None:
        """Remove a subset.

        Raises:
            UsageError: There is no such subset, or another one refers to it.
        """
        self.get(name)
        users = [
            other.name
            for other in self
            if other.name != name and Condition("subset", name) in _conditions(other)
        ]
        if users:
            raise UsageError(f"{name!r} is used by {', '.join(users)}: delete these first")
        self._unlink(name, _SUFFIX, *_OLD_SUFFIXES)

    def named_or_written(self, text: str) -> Selection:
        """Return the selection that a text names or describes.

        Raises:
            UsageError: It is neither the name of a subset nor a selection.
        """
        if is_name(text):
            self.get(text)
            return Condition("subset", text)
        return parse_selection(text)

    def define(self, selection: Selection, within: tuple[str, ...] = ()) -> Definition:
        """Return a selection with all subsets that it names replaced.

        Args:
            selection: The selection.
            within: Names of the subsets that it is part of.

        Raises:
            UsageError: A named subset does not exist, or is part of itself.
            StoreError: A list is damaged.
        """
        lists: dict[str, KeptList] = {}
        return Definition(self._expanded(selection, within, lists), lists, self._where)

    def reduce_lists(self, store: Scans) -> None:
        """Remove captures that the store has forgotten from kept lists.

        Answers do not need it: they have captures of the store only. Afterwards the files do not
        show either that there was such a capture. Each list that is older than the last takedown
        takes a scan of the store.

        Args:
            store: The store with all captures.
        """
        takedowns = takedown_digest(store)
        for stored in self:
            if stored.is_kept and stored.takedowns != takedowns:
                captures = self._captures(stored.name)
                present = map(number_of, store.scan_mementos())
                captures = CaptureSet(number for number in present if number in captures)
                stems = [
                    stem
                    for stem in stored.ranges
                    if not stem.endswith(END)
                    or next(store.mementos(Surt(stem[:-1])), None) is not None
                ]
                self._write(
                    replace(
                        stored, captures=len(captures), takedowns=takedowns, ranges=tuple(stems)
                    ),
                    captures,
                )

    def upgrade(self) -> int:
        """Write all subsets in the present form, and return their number.

        The ranges of kept lists are those of keys that an upgrade of the store changes, so they
        become the whole store, which is right before and after it.
        """
        stored = list(self)
        for one in stored:
            if one.is_kept:
                self._write(replace(one, ranges=EVERYWHERE.stems), self._captures(one.name))
            elif self._is_old(one.name):
                self._write(one)
        return len(stored)

    def _expanded(
        self,
        selection: Selection,
        within: tuple[str, ...],
        lists: dict[str, KeptList],
    ) -> Selection:
        match selection:
            case Condition("subset", name):
                return self._of_name(name, within, lists)
            case Condition():
                return selection
            case AllOf(parts, pick):
                expanded = [self._expanded(part, within, lists) for part in parts]
                return all_of(expanded, pick)
            case AnyOf(parts):
                return any_of([self._expanded(part, within, lists) for part in parts])
            case Except(part):
                return outside(self._expanded(part, within, lists))

    def _of_name(self, name: str, within: tuple[str, ...], lists: dict[str, KeptList]) -> Selection:
        if name in within:
            circle = " -> ".join((*within[within.index(name) :], name))
            raise UsageError(f"a subset cannot be part of itself: {circle}")
        stored = self.get(name)
        if not stored.is_kept:
            return self._expanded(parse_selection(stored.text), (*within, name), lists)
        captures = self._captures(name)
        value = f"{name}.{captures.crc}"
        lists[value] = KeptList(captures, SurtRanges(stored.ranges))
        return Condition(KEPT, value)

    @contextmanager
    def _storing(self) -> Iterator[None]:
        """Lock the catalog: of two processes that store a subset, the second one is refused."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise StoreError(
                f"another process is storing a subset in {self.folder}. Repeat the command when it "
                "is done."
            ) from error
        finally:
            os.close(lock)

    def _captures(self, name: str) -> CaptureSet:
        """Return the captures of a kept list.

        Raises:
            SealError: Its file is damaged.
        """
        try:
            if self._is_old(name):
                return CaptureSet.from_bytes(read_old_subset(self.folder, name)[1])
            return CaptureSet.from_bytes(read_sealed(self._path(name), _KIND).data)
        except SealError as error:
            raise error.with_remedy(_REMEDY) from error

    def _write(self, stored: StoredSubset, captures: CaptureSet | None = None) -> None:
        row = json.dumps(asdict(stored), ensure_ascii=False).encode()
        data = b"" if captures is None else captures.to_bytes()
        write_sealed(self._path(stored.name), _KIND, [row], data)
        self._unlink(stored.name, *_OLD_SUFFIXES)

    def _unlink(self, name: str, *suffixes: str) -> None:
        for suffix in suffixes:
            (self.folder / f"{name}{suffix}").unlink(missing_ok=True)

    def _is_old(self, name: str) -> bool:
        return not self._path(name).exists() and (self.folder / f"{name}{_OLD_SUFFIX}").exists()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"


def _evaluated(store: Scans, definition: Definition, most_pages: int = sys.maxsize) -> Evaluation:
    """Return the evaluation of a definition on the present state of a store.

    Raises:
        SubsetCostError: A condition on links leads to more than ``most_pages`` pages.
    """
    return Evaluation(store, definition.selection, definition.lists, most_pages, definition.where)


def subset_of(store: Scans, definition: Definition, most_pages: int = sys.maxsize) -> SubsetStore:
    """Return the captures of a store that a definition selects, as a store.

    Its first query raises `SubsetCostError` if a condition on links leads to more than
    ``most_pages`` pages.
    """
    has_words = any(conditions_on_words(definition.selection))
    return SubsetStore(
        store,
        definition.identity,
        lambda base: _evaluated(base, definition, most_pages),
        text_of(definition.selection),
        partial(taken(TEXTS), definition.where) if has_words else tuple,
    )


def _conditions(stored: StoredSubset) -> list[Condition]:
    return list(conditions_in(parse_selection(stored.text)))
