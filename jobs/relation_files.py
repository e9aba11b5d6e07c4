"""Writes each relation of a task's output to a file of its own, on one machine; as `RelationOutputFormat` does in HDFS."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from arclink.graph.relations import ROWS
from arclink.pipeline.running import BUFFER


class RelationFiles(ExitStack):
    """Writes ``RELATION/part-NNNNN`` for each relation in the output of one task. Close it, or use it as a context.

    What another attempt at the task wrote goes first: it may have written a relation that this one does not.

    Args:
        part: Where the task's output would be if all relations stood in one file.
    """

    def __init__(self, part: Path) -> None:
        super().__init__()
        self._part = part
        self._writers: dict[bytes, Callable[[bytes], int]] = {}
        for written in part.parent.glob(f"*/{part.name}"):
            written.unlink()

    def put(self, relation: bytes, rows: bytes) -> None:
        """Write a row, or a block of rows that travelled as one."""
        write = self._writers.get(relation) or self._open(relation)
        write(rows.replace(ROWS, b"\n") if ROWS in rows else rows)
        write(b"\n")

    def _open(self, relation: bytes) -> Callable[[bytes], int]:
        path = self._part.parent / relation.decode() / self._part.name
        path.parent.mkdir(exist_ok=True)
        write = self._writers[relation] = self.enter_context(path.open("wb", buffering=BUFFER)).write
        return write
