"""Writes the relations of a store as a job: a part per task, to an address that all tasks reach."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from arclink.analysis.relations.by_tasks import (
    FILES,
    PartTask,
    Place,
    Written,
    changed,
    parse_written,
)
from arclink.analysis.relations.folder import note_address, remove_at
from arclink.analysis.relations.state import rows_in_store
from arclink.errors import ArclinkError, StoreError, UsageError
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.store.location import path_of
from arclink.store.protocols import GraphStore, Share

_ROWS = 10_000_000
"""Most rows of a part, about: a task takes a minute or two for them."""

_LEAST_ROWS = 100_000
"""Least rows of a part, about: to start a task takes as long as to write them."""


def write_tables(
    where: str, store: GraphStore, place: Place, run: JobRunner, work: Path, parts: int | None
) -> Mapping[str, list[Written]]:
    """Write the relations of the present state of a store to a place, unless it has them.

    Args:
        where: The path or URL of the store.
        store: The store.
        place: Where to write.
        run: Runs the tasks.
        work: Folder for the files of the job.
        parts: Number of parts of each relation; None for one that suits the store.

    Returns:
        The parts of each relation; no relation if the place has them all.

    Raises:
        UsageError: An engine cannot open the store.
        InputError: The place cannot be used.
        StoreError: The store changed meanwhile, or cannot be read or written.
        PipelineError: A task failed.
    """
    if run.is_on_engine and store.shared_url is None:
        raise UsageError(
            f"--runner {run.runner}: tasks on other machines cannot open {where}; leave out "
            "--runner, and processes of this machine write the tables to the same address"
        )
    note_address(where, place.address)
    url = store.shared_url or str(path_of(where).absolute())
    version = store.state().version
    if place.state(version) is not None:
        return {}
    tasks = list(_tasks(store, run.cores, parts))
    manifests = []
    (work / "shares").mkdir()
    for number, task in enumerate(tasks):
        manifests.append(work / "shares" / f"part-{number:05d}")
        manifests[-1].write_text(task.line, encoding="ascii")
    settings = {"store": url, "folder": place.folder_of(store), "version": version}
    output = work / "written"
    try:
        run.run(JOBS["tables"], manifests, output, settings)
        run.fetch(output)
        lines = [line for part in parts_of(output) for line in part.read_bytes().splitlines()]
        with store.snapshot():
            if store.state().version != version:
                raise StoreError(changed(where))
            place.complete(store, tasks)
    except BaseException:
        with suppress(ArclinkError):
            if store.state().version != version:  # a takedown may be what changed it
                remove_at(place.address)
        raise
    written = sorted(map(parse_written, lines))
    return {
        relation: [one for one in written if one.part.startswith(f"{relation}-")]
        for relation in FILES
    }


def _tasks(store: GraphStore, cores: int, parts: int | None) -> Iterator[PartTask]:
    for relation, number in rows_in_store(store).items():
        count = parts or _parts(number, cores)
        yield from (PartTask(relation, Share(part, count)) for part in range(count))


def _parts(rows: int, cores: int) -> int:
    """Return the number of parts for a number of rows.

    >>> [_parts(rows, 8) for rows in (0, 250_000, 10**7, 10**9)]
    [1, 3, 16, 100]
    """
    return max(1, min(max(2 * cores, -(-rows // _ROWS)), -(-rows // _LEAST_ROWS)))
