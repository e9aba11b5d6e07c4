"""CDXJ rows of archive files without CDX, before stage 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arclink.access.declarations import Given
from arclink.counts import Counts
from arclink.operations.one_stage import FOLDER, STAGE, archives_of, running
from arclink.operations.operation import Operation, Say
from arclink.operations.parameters import INPUTS
from arclink.pipeline.damage import Damage
from arclink.reports import Report


@dataclass(frozen=True, slots=True)
class Indexed(Report):
    """The rows of archive files.

    Attributes:
        rows: The folder of the files with the rows.
        counts: Counts by reason.
        damaged: Archive files that are empty, cut short or damaged.
    """

    rows: Path
    counts: Counts
    damaged: Sequence[Damage]


def _run(given: Given, say: Say) -> Indexed:
    from arclink.pipeline import stages
    from arclink.pipeline.damage import damage_in

    folder = Path(FOLDER.required(given))
    files = archives_of(INPUTS.many(given), {}, say)
    with running(given, "index") as run:
        counts = stages.index(files, folder, run)
    return Indexed(folder / "rows", counts, damage_in(folder, files))


INDEX = Operation((INPUTS, *STAGE), _run)
