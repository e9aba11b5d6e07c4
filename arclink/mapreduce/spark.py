"""Jobs on Spark: files between the stages are in the work folder, at one path on all workers."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arclink.errors import PipelineError
from arclink.mapreduce.runs import JobArguments, JobRunner, same_versions
from arclink.network.hdfs import ADDRESS, AUTHORITY

PARTS = "part-*"
SPECIAL = frozenset(",*?[]{}\\")
"""Characters that a path must not have."""


@dataclass(slots=True)
class SparkRunner(JobRunner):
    """Runs jobs on Spark."""

    def prepare(self, inputs: Sequence[Path], output: Path, *, are_relations: bool) -> JobArguments:
        """Remove an existing output folder, because Spark does not write to one.

        Raises:
            PipelineError: A path has a character that Spark treats as a pattern.
        """
        shutil.rmtree(output, ignore_errors=True)
        options = same_versions()
        for name in (ADDRESS, AUTHORITY):
            if value := os.environ.get(name):
                options += ["--cmdenv", f"{name}={value}"]
        return JobArguments(_names(inputs), _address(output), options)

    def tidy(self, output: Path) -> None:
        """Remove the files of Hadoop's file systems: a success marker, and a checksum per part."""
        for note in (*output.glob("_*"), *output.glob(".*.crc")):
            note.unlink()


def _names(paths: Sequence[Path]) -> list[str]:
    """Return Spark's names of files: one pattern for all parts of a folder, else one name per file.

    Patterns keep the argument short: it has room for about a thousand names.
    """
    names: list[str] = []
    for folder in dict.fromkeys(path.parent for path in paths):
        here = [path for path in paths if path.parent == folder]
        # Empty parts, which the callers leave out, change nothing.
        others = {path for path in folder.glob(PARTS) if path.stat().st_size} - set(here)
        is_whole = not others and all(path.match(PARTS) for path in here)
        names += [f"{_address(folder)}/{PARTS}"] if is_whole else [_address(path) for path in here]
    return names


def _address(path: Path) -> str:
    """Return the ``file://`` address of a path.

    Raises:
        PipelineError: The path has a character that Hadoop treats as a pattern or separator.

    >>> _address(Path("/data/work of mine"))
    'file:///data/work of mine'
    """
    if special := sorted(SPECIAL & set(str(path))):
        raise PipelineError(
            f"{path}: Spark takes {' '.join(special)} in a path as a pattern; name another "
            "folder with --work (--folder, for one stage)"
        )
    return f"file://{path.absolute()}"
