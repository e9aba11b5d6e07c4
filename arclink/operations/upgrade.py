"""A store of an earlier version, brought up to date."""

import os
import shutil
import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from arclink import progress
from arclink.access.declarations import ARCHIVES, PATH, Given, Parameter, switch
from arclink.access.texts import counted
from arclink.analysis.matrices.slice_cache import remove_derived
from arclink.analysis.relations.folder import texts_to_read
from arclink.analysis.relations.forgetting import remove_at_addresses
from arclink.captures.subsets.catalog import SubsetCatalog
from arclink.counts import Report
from arclink.mapreduce.runs import JobRunner
from arclink.operations.operation import CORES, Operation, Say, stored_size
from arclink.pipeline.rebuild import read_again
from arclink.pipeline.settings import BuildSettings
from arclink.store.archive_paths import ArchivePaths
from arclink.store.layouts import (
    EXTRACTOR,
    EXTRACTOR_SETTING,
    OldStoreWarning,
    age_of,
    command_for,
    earlier_links,
    is_old_file,
    keeps_titles,
)
from arclink.store.location import kept_next_to, local_path_of, open_store
from arclink.store.locks import only_build, only_change
from arclink.store.protocols import GraphStore
from arclink.store.sqlite.store import SqliteStore

_BYTES_PER_SECOND = 8 << 20
"""Bytes of a store whose keys are made again per second, about."""

_PAGES_PER_SECOND = 500
"""Pages that are read again per CPU second, about."""

_STORE = Parameter(
    "store",
    "The store: a file such as links.db, or a URL.",
    PATH,
    is_required=True,
    is_positional=True,
    metavar="STORE",
)
_DRY_RUN = switch("dry-run", "Say what is old and what an upgrade costs; change nothing.")


@dataclass(frozen=True, slots=True)
class Upgraded(Report):
    """What was old in a store, and what was done.

    Attributes:
        found: What an upgrade writes again, in words; empty if all of it is present.
        pages: Number of pages that an earlier extractor had read, about.
        pages_read: Number of those that were read again.
        pages_changed: Number of pages that got other links.
        pages_left: Number of pages that keep the links of an earlier extractor, about.
    """

    found: Sequence[str] = ()
    pages: int = 0
    pages_read: int = 0
    pages_changed: int = 0
    pages_left: int = 0


def _run(given: Given, say: Say) -> Upgraded:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OldStoreWarning)  # the notes say more about it
        return _upgraded(given, say)


def _upgraded(given: Given, say: Say) -> Upgraded:
    store = _STORE.required(given)
    # Slices and tables are made again; of the others, only these have had another form.
    kept = [path for path in kept_next_to(store) if path.suffix in (".subsets", ".forgotten")]
    files = [path for one in kept for path in (one, *one.rglob("*"))]
    old_files = [path for path in files if path.is_file() and is_old_file(path)]
    with open_store(store) as opened:
        age = age_of(opened)
        pages = _pages_read_before(opened)
        size = opened.sums().bytes
        uncounted = "captures are not counted by time" if opened.days() is None else ""
    if not (age or uncounted or pages or old_files):
        say(f"{store} is up to date.")
    beside = f"{counted(len(old_files), 'file')} next to it" if old_files else ""
    found = [*filter(None, (age, uncounted, beside))]
    if found:
        say(f"{store}: {'; '.join(found)}.")
        seconds = counted(max(1, size // _BYTES_PER_SECOND), "second")
        say(
            f"Keys: about {seconds}; disk space next to it: usually a tenth, at most "
            f"{stored_size(size)}. Until they are written, it answers as before."
        )
    if pages:
        seconds = counted(max(1, pages // _PAGES_PER_SECOND), "CPU second")
        say(
            f"Links: {counted(pages, 'page')} that an earlier extractor has read, about {seconds} "
            "where their archive files are there. They are replaced a portion at a time."
        )
    if _DRY_RUN.required(given) or not (found or pages):
        return Upgraded(found, pages, pages_left=pages)
    with only_build(local_path_of(store)), open_store(store, create=True) as opened:
        if found:
            with only_change(local_path_of(store)):
                _make_present(store, opened, say)
        return Upgraded(found, pages, *_read_again(store, opened, given, say))


def _pages_read_before(store: GraphStore) -> int:
    """Return the number of payloads whose links the present extractor has not read, about."""
    if store.setting(EXTRACTOR_SETTING) not in (None, EXTRACTOR) or not keeps_titles(store):
        return store.sums().payloads
    if isinstance(store, SqliteStore):
        return sum(1 for _ in store.earlier_payloads())
    return sum(
        last - first + 1 for ranges in earlier_links(store).values() for first, last in ranges
    )


def _make_present(where: str, store: GraphStore, say: Say) -> None:
    """Upgrade keys, layout and subsets, and remove what is made again from the store."""
    takedowns = sum(1 for _ in store.forgotten())
    subsets = SubsetCatalog(where).upgrade()  # first: they fit the old keys, too
    store.upgrade()
    texts = texts_to_read(where)
    remove_derived(where)
    remove_at_addresses(store)
    further = sum(1 for _ in store.forgotten()) - takedowns
    also = f", and {further:,} more for the present keys of the same pages" if further else ""
    kept = f"{counted(subsets, 'subset')}, {counted(takedowns, 'takedown')}{also}"
    say(f"{where}: keys and layout are present. Kept: {kept}.{texts}")


def _read_again(where: str, store: GraphStore, given: Given, say: Say) -> tuple[int, int, int]:
    """Read pages again whose links an earlier extractor has read, and say which links stay.

    Returns:
        The numbers of pages that were read, of those with other links, and of those left.
    """
    total = _pages_read_before(store)
    if not total:
        return 0, 0, 0
    read = changed = 0
    if isinstance(store, SqliteStore):
        settings = BuildSettings(cores=CORES.optional(given) or os.cpu_count() or 1)
        path = local_path_of(where)
        work = path.with_name(path.name + ".upgrade")
        archives = ArchivePaths(ARCHIVES.many(given))
        run = JobRunner(settings.runner, settings.cores, work / "tasks")
        with closing(run):
            change = partial(only_change, path)
            portions = read_again(store, archives, settings, work, run, change)
            for more_read, more_changed in portions:
                read, changed = read + more_read, changed + more_changed
                progress.note("reading pages again", read, total)
        progress.clear()
        shutil.rmtree(work, ignore_errors=True)
    say(f"{where}: {counted(read, 'page')} read again; links of {changed:,} replaced.")
    if left := _pages_read_before(store):
        say(
            f"The links of {counted(left, 'page')} stay as an earlier extractor has read them: "
            "their archive files are not there, or could not be read. The store answers and can "
            f"be built; to read them again: {command_for(where)} --archives FOLDER"
        )
    return read, changed, left


UPGRADE = Operation((_STORE, ARCHIVES, CORES, _DRY_RUN), _run)
