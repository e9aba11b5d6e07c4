"""Files of one relation each, for the output of a job on one machine.

`RelationOutputFormat` does the same in HDFS.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

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


def divide(folder: Path) -> None:
    """Replace the ``part-*`` files of a folder, whose lines are tagged, by files per relation.

    A block of rows that was one line becomes one line per row. The order within a part is kept.
    """
    for part in sorted(folder.glob("part-*")):
        with part.open("rb", buffering=BUFFER) as lines, RelationFiles(part) as files:
            for relation, rows in _by_relation(lines):
                files.put(relation, rows)
        part.unlink()


def _by_relation(lines: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield tagged lines as (relation, rows), with many rows at once where a run has one relation.

    Rows of one relation are usually adjacent.
    """
    while some := lines.readlines(BUFFER):
        relation = some[0].partition(b"\t")[0]
        tag, rows = b"\n" + relation + b"\t", b"\n" + b"".join(some).removesuffix(b"\n")
        if rows.count(tag) == len(some):
            yield relation, rows.replace(tag, b"\n")[1:]
        else:
            for line in some:
                relation, _, row = line.removesuffix(b"\n").partition(b"\t")
                yield relation, row
