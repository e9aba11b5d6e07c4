"""A check that a store, or its archive files, are sound."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arclink.access.declarations import ARCHIVES, STORE, Given, switch
from arclink.access.texts import counted, cut_in_the_middle
from arclink.captures.file_checks import CheckedFile, CheckProgress, FileState, check_files
from arclink.counts import Report
from arclink.errors import UsageError
from arclink.files.sealed import problems_in
from arclink.operations.operation import Operation, Say
from arclink.pipeline.records_read import known_damage
from arclink.progress import clear
from arclink.store.archive_paths import ArchivePaths
from arclink.store.blocks.verification import COLLISION
from arclink.store.layouts import age_of, command_for, is_old_file
from arclink.store.location import checked_path, kept_next_to, open_store
from arclink.store.protocols import Violation
from arclink.store.seals import REMEDY

_FILES = switch(
    "files",
    "Read the archive files of the store again instead, and compare them with what it knows.",
    "how-to/operations.md#archive-files-that-change",
)

_INTACT = "files next to the store have their checksums"
"""Name of the invariant of the files next to a store."""

_LONGEST_WORD = 200
"""Characters of a URI or SURT in a line; a capture may have one of megabytes."""


@dataclass(frozen=True, slots=True)
class Verified(Report):
    """What a check of a store found.

    Attributes:
        violations: Broken invariants, each with its ``detail``; also damaged files next to the
            store.
        harmless: URIs with the same URI-ID: no data is merged by it.
        old: What an earlier ArcLink wrote, in words; empty if nothing is.
        files: With ``files``, the result for each archive file: ``name``, ``state``, ``path``,
            ``detail``.
    """

    violations: Sequence[Violation] = ()
    harmless: Sequence[Violation] = ()
    old: str = ""
    files: Sequence[CheckedFile] = ()

    @property
    def is_sound(self) -> bool:
        """Whether no invariant is violated, and no archive file changed or missing."""
        wrong = (FileState.CHANGED, FileState.MISSING)
        return not self.violations and not any(one.state in wrong for one in self.files)


def check(given: Given, say: Say, show: Callable[[str], object]) -> Verified:
    """Check a store or its archive files.

    Args:
        given: The parameters of `VERIFY`.
        say: Gets notes on the check, and what to do.
        show: Gets a line for each finding at once, and for the whole at the end.

    Raises:
        UsageError: Archives are named, but no archive file is read.
        StoreError: The store cannot be read.
    """
    store, archives = STORE.required(given), ARCHIVES.many(given)
    if _FILES.required(given):
        return _check_files(store, archives, say, show)
    if archives:
        raise UsageError("--archives needs --files: other checks read no archive file")
    return _check_store(store, say, show)


def _check_files(
    store: str, archives: Sequence[str], say: Say, show: Callable[[str], object]
) -> Verified:
    paths, path = ArchivePaths(archives), checked_path(store)
    files = []
    with open_store(store) as opened, CheckProgress(path) as progress:
        if progress.known:
            say(
                f"Going on with the check of {progress.since}: {counted(progress.known, 'file')} "
                f"done. To read all files, remove {path}."
            )
        damaged = {name: damage.offset for name, damage in known_damage(opened).items()}
        for file in check_files(opened, paths, damaged, progress):
            files.append(file)
            clear()
            shown = (file.state.value, file.name, file.path, file.detail)
            show(": ".join(part for part in shown if part))
    counts = Counter(file.state for file in files)
    found = ", ".join(f"{counts[state]:,} {state.value}" for state in FileState if counts[state])
    show(f"{store}: {counted(counts.total(), 'archive file')}: {found or 'none'}.")
    return Verified(files=files)


def _check_store(store: str, say: Say, show: Callable[[str], object]) -> Verified:
    found = [problem for path in kept_next_to(store) for problem in problems_in(path)]
    violations = [
        Violation(_INTACT, str(problem)) for problem in found if not is_old_file(problem.path)
    ]
    harmless: list[Violation] = []
    damaged = len(violations)
    old_files = len(found) - damaged
    for violation in violations:
        show(f"violated: {violation.invariant}: {violation.detail}")
    with open_store(store) as opened:
        age = age_of(opened)
        for violation in opened.verify():
            is_harmless = violation.invariant == COLLISION
            (harmless if is_harmless else violations).append(violation)
            detail = " ".join(
                cut_in_the_middle(word, _LONGEST_WORD) for word in violation.detail.split(" ")
            )
            show(f"{'note' if is_harmless else 'violated'}: {violation.invariant}: {detail}")
    if damaged:
        say(
            f"{store}: damaged files next to it: {damaged}. Slices and rank tables are made again "
            "when they are needed, or can be removed; select subsets again."
        )
    if len(violations) > damaged:
        say(f"{store}: violations: {len(violations) - damaged}. {REMEDY}")
    beside = f"{counted(old_files, 'file')} next to it" if old_files else ""
    old = "; ".join(filter(None, (age, beside)))
    if old:
        show(
            f"note: {store} was written by an earlier ArcLink ({old}). Bring it up to date: "
            f"{command_for(store)}"
        )
    if not violations:
        show(f"{store}: every invariant holds.")
    return Verified(violations=violations, harmless=harmless, old=old)


VERIFY = Operation((STORE, _FILES, ARCHIVES), lambda given, say: check(given, say, len))
