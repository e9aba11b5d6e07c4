"""Packs a run in a second process, next to the one that has the database open.

Packing is most of the work of loading and needs no database. The packed blocks wait in a file until
the loader reads them, so neither process waits for the other before its own work is done.
"""

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection
from tempfile import TemporaryFile, gettempdir
from typing import IO

from arclink.closing import Closing
from arclink.errors import StoreError
from arclink.store.blocks.byte_layouts import Sizes
from arclink.store.blocks.relations import BlockWriter
from arclink.store.sqlite.runs import PackedBlock, block_packer


class DiedError(StoreError):
    """The process that packed a run died; the caller can pack the run again."""


class PackingProcess(Closing):
    """A run that another process packs while this context is open.

    Args:
        write: Writes the run to the `BlockWriter` that it gets, and closes that. It runs in the
            other process, on a copy of the present memory.

    Raises:
        OSError: The system has no resources for another process, or for a file.
    """

    def __init__(self, write: Callable[[BlockWriter], None]) -> None:
        self._file = TemporaryFile()  # noqa: SIM115  closed on exit
        context = get_context("fork")  # a fork has the large input already
        self._outcome, tells = context.Pipe(duplex=False)
        self._process = context.Process(target=_pack, args=(write, self._file, tells))
        try:
            self._process.start()
        except BaseException:
            self._outcome.close()
            self._file.close()
            raise
        finally:
            tells.close()

    def close(self) -> None:
        """End the process and remove its file."""
        self._process.kill()  # it has already ended, unless this process failed
        self._process.join()
        self._outcome.close()
        self._file.close()

    def blocks(self) -> Iterator[PackedBlock]:
        """Return the blocks in order, once all are packed.

        Raises:
            DiedError: The process died.
            Exception: Any error that ``write`` raised.
        """
        try:
            outcome: int | Exception = self._outcome.recv()
        except EOFError:
            self._process.join()
            raise DiedError(
                f"the process that compressed a part of the batch died (exit code "
                f"{self._process.exitcode}), perhaps for lack of memory: use smaller "
                "batches, or one core"
            ) from None
        if isinstance(outcome, Exception):
            raise outcome
        return self._unpickled(outcome)

    def _unpickled(self, count: int) -> Iterator[PackedBlock]:
        self._file.seek(0)
        for _ in range(count):
            yield pickle.load(self._file)


def may_start_packing() -> bool:
    """Return whether this process may start another one; workers of a pool may not."""
    return not current_process().daemon


def _pack(write: Callable[[BlockWriter], None], file: IO[bytes], outcome: Connection) -> None:
    """Pack a run, then send the number of its blocks, or the error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interrupted loader ends this process too
    blocks = _BlocksInFile(file)
    try:
        write(blocks)
    except Exception as error:  # the edge of this process: the loader raises the error
        outcome.send(error)
    else:
        outcome.send(blocks.count)


class _BlocksInFile:
    """A `BlockWriter` that keeps its blocks in a file while the process that reads them lives.

    Raises:
        StoreError: There is no space for the file.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._pack = block_packer()
        self._reader = os.getppid()
        self.count = 0

    def add_block(self, keys: Sequence[bytes], columns: Iterable[tuple[Sizes, bytes]]) -> None:
        """Pack rows and append them to the file."""
        if os.getppid() != self._reader:
            sys.exit("the process that loads the batch died")
        packed = self._pack(keys, columns)
        with _room():
            pickle.dump(packed, self._file)
        self.count += 1

    def close(self) -> None:
        """Flush all blocks to the file; the process that made the file closes it."""
        with _room():
            self._file.flush()


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{gettempdir()}: {error.strerror}, where a part of the batch is compressed: free some "
            "space there, name another folder in TMPDIR, or use one core"
        ) from error
