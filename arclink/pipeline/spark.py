"""Jobs on Spark: the files between the stages are in the work folder, at the same path on every worker."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from arclink.errors import PipelineError
from arclink.files.places import WEBHDFS
from arclink.pipeline.counts import Counts
from arclink.pipeline.running import JobRunner

PARTS = "part-*"
SPECIAL = frozenset(",*?[]{}\\")
"""Characters that no path may have."""


@dataclass(slots=True)
class SparkRunner(JobRunner):
    """Runs jobs on Spark."""

    def run(
        self, name: str, inputs: Sequence[Path], output: Path, settings: Mapping[str, object], *, are_relations: bool = False
    ) -> Counts:
        """Run the job called ``name``; its ``part-*`` files are in ``output`` afterwards.

        Spark writes to no folder that is there, so what is there goes first.

        Raises:
            PipelineError: A task failed, or a path holds what Spark takes for a pattern.
        """
        from jobs.versions import versions_here

        shutil.rmtree(output, ignore_errors=True)
        options = ["--no-check-input-paths", "--expects", orjson.dumps(versions_here()).decode()]
        if address := os.environ.get(WEBHDFS):
            options += ["--cmdenv", f"{WEBHDFS}={address}"]
        counts = self.run_job(name, _names(inputs), _address(output), settings, options)
        # Notes of Hadoop's file systems: that the job succeeded, and a checksum beside each part.
        for note in (*output.glob("_*"), *output.glob(".*.crc")):
            note.unlink()
        return counts


def _names(paths: Sequence[Path]) -> list[str]:
    """Return how Spark is told of files: all parts of a folder as one pattern, for an argument has room for a thousand at most."""
    names: list[str] = []
    for folder in dict.fromkeys(path.parent for path in paths):
        here = [path for path in paths if path.parent == folder]
        # Empty parts, which nobody names, change nothing.
        others = {path for path in folder.glob(PARTS) if path.stat().st_size} - set(here)
        is_whole = not others and all(path.match(PARTS) for path in here)
        names += [f"{_address(folder)}/{PARTS}"] if is_whole else [_address(path) for path in here]
    return names


def _address(path: Path) -> str:
    """Return the address of a path.

    Raises:
        PipelineError: It holds what Hadoop takes for a pattern, or for the end of a name.

    >>> _address(Path("/data/work of mine"))
    'file:///data/work of mine'
    """
    if special := sorted(SPECIAL & set(str(path))):
        raise PipelineError(
            f"{path}: Spark takes {' '.join(special)} in a path for a pattern; name another folder with --work (--folder, for one stage)"
        )
    return f"file://{path.absolute()}"
