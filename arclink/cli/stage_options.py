"""Options and helpers of the commands that run one stage alone."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import click
import orjson

from arclink.access.declarations import PATH, AnyParameter, Given, Parameter
from arclink.cli.engine_options import ENGINE, runner_of
from arclink.cli.interrupts import ended_like_interrupts
from arclink.cli.options import CORES
from arclink.errors import InputError, hide_credentials
from arclink.files.atomic import write_whole
from arclink.mapreduce.runs import JobRunner, room_in
from arclink.pipeline.settings import BuildSettings
from arclink.store.protocols import KnownFile

ARCHIVES = "archives.json"
SETTINGS = "settings.json"


INTO = Parameter(
    "into",
    "Folder for the files of this batch, which also has those of earlier stages.",
    PATH,
    is_required=True,
    was=("folder",),
    metavar="FOLDER",
    see="reference/stage-files.md",
)
STAGE: tuple[AnyParameter, ...] = (INTO, *ENGINE, CORES)
"""The parameters of the commands that run one stage."""


@contextmanager
def running(given: Given, name: str) -> Iterator[JobRunner]:
    """Run the stage with this name: yield its runner, then fetch files from an engine.

    Earlier output of this stage and of those after it is removed first.

    Args:
        given: The parameters of `STAGE`.
        name: The name of the stage.

    Raises:
        PipelineError: There is no space in the folder.
    """
    folder = Path(INTO.required(given))
    run = runner_of(given, CORES.optional(given) or os.cpu_count() or 1, folder, folder.name)
    folder.mkdir(parents=True, exist_ok=True)
    clear(folder, name)
    with (
        ended_like_interrupts(run.is_on_engine),
        room_in(folder, name),
        run.visiting(name),
        closing(run),
    ):
        yield run
        for relation in RELATIONS[name]:
            run.fetch(folder / relation)


RELATIONS: Mapping[str, Sequence[str]] = {
    "index": ("rows", "findings"),
    "filter": ("pointers", "mementos"),
    "extract": ("pages", "absent", "mementos", "digested", "graph/payloads", "findings"),
    "graph": (
        "postings",
        "graph/mementos",
        "graph/payloads",
        "graph/outlinks",
        "graph/inlinks",
    ),
}
"""Folders that the jobs of each stage write."""

WRITTEN: Mapping[str, Sequence[str]] = {
    "index": ("rows", "indexed-*", "index-manifests", "findings"),
    "filter": ("filtered", "cdx-rows", "pointers", "mementos/part-filter*", SETTINGS),
    "extract": (
        "pages",
        "extracted-*",
        "retries-*",
        "chosen-*",
        "waiting-*",
        "named-*",
        "referring-*",
        "known",
        "further-*",
        "found-*",
        "recorded-*",
        "awaited",
        "absent",
        "digested",
        "reading-tasks-*",
        "findings/part-extract*",
        "mementos/part-extract*",
        "graph/payloads",
        ARCHIVES,
    ),
    "graph": (
        "joined",
        "inverted",
        "postings",
        "graph/mementos",
        "graph/outlinks",
        "graph/inlinks",
        "graph/payloads/part-join*",
        "graph/manifest.json",
    ),
}
"""Files and folders that each stage writes."""


def clear(folder: Path, stage: str) -> None:
    """Remove the earlier output of a stage and of those after it, which is no longer valid."""
    for later in list(WRITTEN)[list(WRITTEN).index(stage) :]:
        for name in WRITTEN[later]:
            for path in folder.glob(name):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def archives_of(inputs: Sequence[str], known: Mapping[str, KnownFile]) -> list[KnownFile]:
    """Return the given archive files, and report files that are not archive files.

    Raises:
        InputError: See `arclink.pipeline.inputs`.
    """
    from arclink.pipeline.inputs import FileMarks, describe, find_archives, leave_out_foreign

    marks: FileMarks = {}
    paths, complaints = leave_out_foreign(find_archives(inputs), marks)
    for complaint in complaints:
        click.echo(hide_credentials(f"skipped: {complaint}"), err=True)
    return describe(paths, known, marks=marks)


def needs(folder: Path, name: str, stage: str) -> None:
    """Raise InputError if the files of an earlier stage do not exist."""
    if not (folder / name).exists():
        raise InputError(
            f"{folder / name}: does not exist; run `arclink {stage}` with --into {folder} first"
        )


def write_archives(folder: Path, files: Sequence[KnownFile]) -> None:
    """Record the archive files of the stages in this folder."""
    rows = [[file.name, file.path, file.size, file.fingerprint] for file in files]
    write_whole(folder / ARCHIVES, orjson.dumps(rows, option=orjson.OPT_INDENT_2))


def read_archives(folder: Path) -> list[KnownFile]:
    """Return the archive files of the stages in this folder."""
    needs(folder, ARCHIVES, "extract")
    return [KnownFile(*row) for row in orjson.loads((folder / ARCHIVES).read_bytes())]


def write_settings(folder: Path, settings: BuildSettings) -> None:
    """Record the settings that shaped the files of this folder."""
    write_whole(folder / SETTINGS, orjson.dumps(settings.for_store(), option=orjson.OPT_INDENT_2))


def add_settings(folder: Path, settings: BuildSettings) -> None:
    """Record the settings of extract; the rules recorded by filter are kept."""
    noted = {**settings.for_store(), "rules": read_settings(folder)["rules"]}
    write_whole(folder / SETTINGS, orjson.dumps(noted, option=orjson.OPT_INDENT_2))


def read_settings(folder: Path) -> dict[str, str]:
    """Return the settings that shaped the files of this folder, as a store records them."""
    needs(folder, SETTINGS, "filter")
    settings: dict[str, str] = orjson.loads((folder / SETTINGS).read_bytes())
    return settings
