"""Writer of one file per relation of a task's output on one machine.

`RelationOutputFormat` does the same in HDFS.
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from arclink.archives.opener import BUFFER
from arclink.rows.relations import ROWS


class RelationFiles(ExitStack):
    """Writes ``RELATION/part-NNNNN`` for each relation in the output of one task.

    Close it, or use it as a context manager. Files from another attempt of the task are removed
    first: that attempt may have written a relation that this one does not.

    Args:
        part: Path of the task's output if all relations were in one file.
    """

    def __init__(self, part: Path) -> None:
        super().__init__()
        self._part = part
        self._writers: dict[bytes, Callable[[bytes], int]] = {}
        for written in part.parent.glob(f"*/{part.name}"):
            written.unlink()

    def put(self, relation: bytes, rows: bytes) -> None:
        """Write a row, or a block of rows that was passed on as one."""
        write = self._writers.get(relation) or self._open(relation)
        write(rows.replace(ROWS, b"\n") if ROWS in rows else rows)
        write(b"\n")

    def _open(self, relation: bytes) -> Callable[[bytes], int]:
        path = self._part.parent / relation.decode() / self._part.name
        path.parent.mkdir(exist_ok=True)
        write = self._writers[relation] = self.enter_context(
            path.open("wb", buffering=BUFFER)
        ).write
        return write
