"""``arclink verify``: checks that a store, or its archive files, are sound."""

import sys
from collections import Counter
from collections.abc import Sequence

import click

from arclink.access.declarations import Given, switch
from arclink.access.texts import counted
from arclink.cli.options import ARCHIVES, STORE, takes
from arclink.errors import UsageError

EXAMPLES = (
    "arclink verify --store links.db",
    "arclink verify --store links.db --files --archives /new/place",
)

FILES = switch(
    "files",
    "Read the archive files of the store again instead, and compare them with what it knows.",
    "how-to/operations.md#archive-files-that-change",
)

_INTACT = "files next to the store have their checksums"
"""Name of the invariant of the files next to a store."""

_LONGEST_WORD = 200
"""Characters of a URI or SURT in a line; a capture may have one of megabytes."""


@click.command()
@takes(STORE, FILES, ARCHIVES)
def command(given: Given) -> None:
    """Check every invariant of a store, and the checksums of the files kept next to it.

    For example, its file must be sound, and outlinks and inlinks must be the same links. The files
    next to it are the list of takedowns, subsets, slices and rank tables. Prints a line for each
    violation, and exits with 1 if there is one. If two URIs have the
    same URI-ID, this is reported but harmless: no data is merged by URI-ID.

    With --files, each archive file is reported as sound, changed, moved, missing or unknown. Exits
    with 1 if one is changed or missing. If this is interrupted, the same command goes on after the
    files that were read.
    """
    store, archives = STORE.required(given), ARCHIVES.many(given)
    if FILES.required(given):
        _verify_files(store, archives)
        return
    if archives:
        raise UsageError("--archives needs --files: other checks read no archive file")
    _verify_store(store)


def _verify_files(store: str, archives: Sequence[str]) -> None:
    from arclink.captures.archive_paths import ArchivePaths
    from arclink.captures.file_checks import CheckProgress, FileState, check_files
    from arclink.pipeline.records_read import known_damage
    from arclink.progress import clear
    from arclink.store.location import checked_path, open_store

    paths, path = ArchivePaths(archives), checked_path(store)
    counts: Counter[FileState] = Counter()
    with open_store(store) as opened, CheckProgress(path) as progress:
        if progress.known:
            click.echo(
                f"Going on with the check of {progress.since}: {counted(progress.known, 'file')} "
                f"done. To read all files, remove {path}.",
                err=True,
            )
        damaged = {name: damage.offset for name, damage in known_damage(opened).items()}
        for file in check_files(opened, paths, damaged, progress):
            counts[file.state] += 1
            clear()
            shown = (file.state.value, file.name, file.path, file.detail)
            click.echo(": ".join(part for part in shown if part))
    found = ", ".join(f"{counts[state]:,} {state.value}" for state in FileState if counts[state])
    click.echo(f"{store}: {counted(counts.total(), 'archive file')}: {found or 'none'}.")
    if counts[FileState.CHANGED] or counts[FileState.MISSING]:
        sys.exit(1)


def _verify_store(store: str) -> None:
    from arclink.access.formats.table import cut_in_the_middle
    from arclink.files.sealed import problems_in
    from arclink.store.blocks.checks import COLLISION
    from arclink.store.layouts import age_of, command_for, is_old_file
    from arclink.store.location import kept_next_to, open_store
    from arclink.store.seals import REMEDY

    found = [problem for path in kept_next_to(store) for problem in problems_in(path)]
    problems = [problem for problem in found if not is_old_file(problem.path)]
    old_files = len(found) - len(problems)
    for problem in problems:
        click.echo(f"violated: {_INTACT}: {problem}")
    breaches = 0
    with open_store(store) as opened:
        age = age_of(opened)
        for violation in opened.verify():
            is_harmless = violation.invariant == COLLISION
            breaches += not is_harmless
            kind = "note" if is_harmless else "violated"
            detail = " ".join(
                cut_in_the_middle(word, _LONGEST_WORD) for word in violation.detail.split(" ")
            )
            click.echo(f"{kind}: {violation.invariant}: {detail}")
    if problems:
        click.echo(
            f"{store}: damaged files next to it: {len(problems)}. Slices and rank tables are made "
            "again when they are needed, or can be removed; select subsets again.",
            err=True,
        )
    if breaches:
        click.echo(f"{store}: violations: {breaches}. {REMEDY}", err=True)
    if age or old_files:
        old = [age, f"{counted(old_files, 'file')} next to it" if old_files else ""]
        click.echo(
            f"note: {store} was written by an earlier ArcLink ({'; '.join(filter(None, old))}). "
            f"Bring it up to date: {command_for(store)}"
        )
    if problems or breaches:
        sys.exit(1)
    click.echo(f"{store}: every invariant holds.")
