"""What the commands that run one stage alone share."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

import click
import orjson

from arclink.cli.engine_options import engine_options, runner_of
from arclink.errors import InputError
from arclink.pipeline.running import JobRunner, room_in
from arclink.pipeline.settings import BuildSettings
from arclink.store import ArchiveFile

ARCHIVES = "archives.json"
SETTINGS = "settings.json"


@dataclass(frozen=True, slots=True)
class Stage:
    """Where one stage works, and what runs its jobs.

    Attributes:
        folder: Of the batch (docs/stage-files.md).
        runner: As `arclink.cli.engine_options.runner_of` says; so are the next three.
        cores: As many as there are processors if not given.
    """

    folder: Path
    runner: str
    cores: int | None
    engine_conf: str | None
    hdfs: str | None

    @contextmanager
    def running(self, name: str) -> Iterator[JobRunner]:
        """Run the stage called ``name``: what it and those behind it wrote before goes first; an engine's files are fetched.

        Raises:
            PipelineError: There is no space in the folder.
        """
        run = runner_of(self.runner, self.cores or os.cpu_count() or 1, self.folder, self.engine_conf, self.hdfs, self.folder.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        clear(self.folder, name)
        with room_in(self.folder, name), run.visiting(name):
            yield run
            for relation in RELATIONS[name]:
                run.fetch(self.folder / relation)


def stage_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add ``--folder``, ``--runner`` and what goes with it; the command gets them as one `Stage`, its argument ``stage``."""

    @wraps(function)
    def command(*, folder: str, runner: str, cores: int | None, engine_conf: str | None, hdfs: str | None, **others: object) -> None:
        function(stage=Stage(Path(folder), runner, cores, engine_conf, hdfs), **others)

    cores = click.option("--cores", type=click.IntRange(min=1), help="Tasks at a time; as many as there are processors by default.")
    folder = click.option("--folder", required=True, type=click.Path(), help="Folder of this batch; docs/stage-files.md has what is in it.")
    return folder(engine_options(cores(command)))


RELATIONS: Mapping[str, Sequence[str]] = {
    "index": ("rows",),
    "filter": ("pointers", "mementos"),
    "extract": ("pages", "mementos"),
    "graph": ("postings", "graph/payloads", "graph/outlinks", "graph/inlinks"),
}
"""What jobs of each stage write to its folder."""

WRITTEN: Mapping[str, Sequence[str]] = {
    "index": ("rows", "index-manifests"),
    "filter": ("filtered", "cdx-rows", "pointers", "mementos/part-filter*", SETTINGS),
    "extract": ("pages", "extracted-*", "retries-*", "manifests-*", "mementos/part-extract*", "graph/payloads", "graph/mementos", ARCHIVES),
    "graph": ("joined", "postings", "graph/outlinks", "graph/inlinks", "graph/payloads/part-join*", "graph/manifest.json"),
}
"""What each stage writes to its folder."""


def clear(folder: Path, stage: str) -> None:
    """Remove what a stage and those behind it wrote before: it is no longer what they would write now."""
    for later in list(WRITTEN)[list(WRITTEN).index(stage) :]:
        for name in WRITTEN[later]:
            for path in folder.glob(name):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def archives_of(inputs: Sequence[str], known: Mapping[str, ArchiveFile]) -> list[ArchiveFile]:
    """Return the archive files that are given; say which files are none.

    Raises:
        InputError: As `arclink.pipeline.inputs` says.
    """
    from arclink.pipeline.inputs import describe, find_archives, leave_out_foreign

    paths, complaints = leave_out_foreign(find_archives(inputs))
    for complaint in complaints:
        click.echo(f"passed over: {complaint}", err=True)
    return describe(paths, known)


def needs(folder: Path, name: str, stage: str) -> None:
    """Raise InputError if the files of an earlier stage are not there."""
    if not (folder / name).exists():
        raise InputError(f"{folder / name}: not there; run `arclink {stage}` with this --folder first")


def write_archives(folder: Path, files: Sequence[ArchiveFile]) -> None:
    """Note which archive files the stages of this folder are about."""
    rows = [[file.name, file.path, file.size, file.fingerprint] for file in files]
    (folder / ARCHIVES).write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2))


def read_archives(folder: Path) -> list[ArchiveFile]:
    """Return the archive files the stages of this folder are about."""
    needs(folder, ARCHIVES, "extract")
    return [ArchiveFile(*row) for row in orjson.loads((folder / ARCHIVES).read_bytes())]


def write_settings(folder: Path, settings: BuildSettings) -> None:
    """Note the settings that shaped the files of this folder."""
    (folder / SETTINGS).write_bytes(orjson.dumps(settings.for_store(), option=orjson.OPT_INDENT_2))


def add_settings(folder: Path, settings: BuildSettings) -> None:
    """Note the settings of extract; those of filter stay."""
    noted = {**settings.for_store(), "rules": read_settings(folder)["rules"]}
    (folder / SETTINGS).write_bytes(orjson.dumps(noted, option=orjson.OPT_INDENT_2))


def read_settings(folder: Path) -> dict[str, str]:
    """Return the settings that shaped the files of this folder, as a store keeps them."""
    needs(folder, SETTINGS, "filter")
    settings: dict[str, str] = orjson.loads((folder / SETTINGS).read_bytes())
    return settings
