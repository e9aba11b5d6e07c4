"""The catalog: named subsets of a store, in a folder next to it.

::

    links.db.subsets/NAME.json       the selection as text, and when it was stored
                     NAME.captures   the captures of a kept list (`arclink.subsets.capture_sets`)

A *view* is a definition: its captures change with the store. A *kept list* has the captures that
the definition selected when it was stored. A takedown removes its captures from kept lists
(`SubsetCatalog.reduce_lists`).
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from arclink.errors import StoreError, UsageError
from arclink.files.atomic import write_whole
from arclink.model import Surt
from arclink.store.location import local_path_of
from arclink.store.protocols import Scans
from arclink.store.takedown_files import takedown_digest
from arclink.subsets.capture_sets import CaptureSet, number_of
from arclink.subsets.evaluation import Evaluation, KeptList
from arclink.subsets.fields import is_name
from arclink.subsets.language import (
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
from arclink.subsets.ranges import END, EVERYWHERE, SurtRanges
from arclink.subsets.view import SubsetStore

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
    """

    selection: Selection
    lists: dict[str, KeptList]

    @property
    def identity(self) -> str:
        """20 hex digits: equal definitions have equal identities."""
        return sha256(text_of(self.selection).encode()).hexdigest()[:20]


class SubsetCatalog:
    """The named subsets of one store.

    Args:
        where: Path or URL of the store. The catalog of a remote store is in the current folder.
            Empty for a store without a place, which has no named subsets.
    """

    def __init__(self, where: str) -> None:
        self._where = where

    @property
    def folder(self) -> Path:
        """The folder of the catalog; it may be missing.

        Raises:
            UsageError: The store has no place.
        """
        path = local_path_of(self._where)
        return path.with_name(path.name + ".subsets")

    def names(self) -> list[str]:
        """Return the names of all subsets, sorted."""
        return sorted(path.stem for path in self.folder.glob("*.json")) if self._where else []

    def __iter__(self) -> Iterator[StoredSubset]:
        return map(self.get, self.names())

    def get(self, name: str) -> StoredSubset:
        """Return a subset.

        Raises:
            UsageError: There is no subset with this name.
            StoreError: Its file is damaged.
        """
        if name not in self.names():
            known = ", ".join(self.names())
            stored = f"Stored subsets: {known}" if known else "No subset is stored"
            raise UsageError(f"no subset {name!r}. {stored}; a selection has a form such as host:a")
        path = self.folder / f"{name}.json"
        try:
            fields = json.loads(path.read_text("utf-8"))
            return StoredSubset(**{**fields, "ranges": tuple(fields["ranges"])})
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"{path} is damaged. Select the subset again.") from error

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
            OperatorError: The files cannot be written.
        """
        if not is_name(name):
            raise UsageError(
                f"{name!r} is not a name of a subset: 1 to 64 letters, digits, '_', '-' and '.', "
                "the first one a letter or a digit"
            )
        definition = self.define(selection, within=(name,))
        made = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        stored = StoredSubset(name, text_of(selection), made)
        self.folder.mkdir(parents=True, exist_ok=True)
        if not keep:
            self._write(stored)
            self._list_path(name).unlink(missing_ok=True)
            return stored
        evaluation = evaluated(store, definition)
        captures = CaptureSet(map(number_of, evaluation.scan()))
        stems = evaluation.ranges.stems
        stored = replace(
            stored,
            is_kept=True,
            captures=len(captures),
            takedowns=takedown_digest(store),
            ranges=stems if len(stems) <= _MOST_RANGES else EVERYWHERE.stems,
        )
        write_whole(self._list_path(name), captures.to_bytes())
        self._write(stored)
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
        (self.folder / f"{name}.json").unlink()
        self._list_path(name).unlink(missing_ok=True)

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
        return Definition(self._expanded(selection, within, lists), lists)

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
                path = self._list_path(stored.name)
                captures = CaptureSet.read(path)
                present = map(number_of, store.scan_mementos())
                captures = CaptureSet(number for number in present if number in captures)
                stems = [
                    stem
                    for stem in stored.ranges
                    if not stem.endswith(END)
                    or next(store.mementos(Surt(stem[:-1])), None) is not None
                ]
                write_whole(path, captures.to_bytes())
                self._write(
                    replace(
                        stored, captures=len(captures), takedowns=takedowns, ranges=tuple(stems)
                    )
                )

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
        captures = CaptureSet.read(self._list_path(name))
        value = f"{name}.{captures.crc}"
        lists[value] = KeptList(captures, SurtRanges(stored.ranges))
        return Condition(KEPT, value)

    def _write(self, stored: StoredSubset) -> None:
        text = json.dumps(asdict(stored), indent=1, ensure_ascii=False) + "\n"
        write_whole(self.folder / f"{stored.name}.json", text.encode())

    def _list_path(self, name: str) -> Path:
        return self.folder / f"{name}.captures"


def evaluated(store: Scans, definition: Definition, most_pages: int = sys.maxsize) -> Evaluation:
    """Return the evaluation of a definition on the present state of a store.

    Raises:
        SubsetCostError: A condition on links leads to more than ``most_pages`` pages.
    """
    return Evaluation(store, definition.selection, definition.lists, most_pages)


def subset_of(store: Scans, definition: Definition, most_pages: int = sys.maxsize) -> SubsetStore:
    """Return the captures of a store that a definition selects, as a store.

    Its first query raises `SubsetCostError` if a condition on links leads to more than
    ``most_pages`` pages.
    """
    return SubsetStore(
        store,
        definition.identity,
        lambda base: evaluated(base, definition, most_pages),
        text_of(definition.selection),
    )


def _conditions(stored: StoredSubset) -> list[Condition]:
    return list(conditions_in(parse_selection(stored.text)))
