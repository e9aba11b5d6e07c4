"""Packs a run in a process beside the one that has the database: packing is most of the work, and needs none.

The blocks wait in a file until they are asked for, so that neither process waits for the other before its own work is done.
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
from types import TracebackType
from typing import IO, Self

from arclink.errors import StoreError
from arclink.store.packing import Numbers
from arclink.store.relations import BlockWriter
from arclink.store.runs import PackedBlock, block_packer


class RunApart:
    """A run that another process packs, as long as this is open as a context.

    Args:
        write: Writes the run to what it is given, and closes that; called in the other process, which sees all as it is now.

    Raises:
        OSError: The system has no room for another process, or for a file.
    """

    def __init__(self, write: Callable[[BlockWriter], None]) -> None:
        self._file = TemporaryFile()  # noqa: SIM115  closed on exit
        context = get_context("fork")  # what is written from is large, and at hand in a fork
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()  # it has ended, unless something failed here
        self._process.join()
        self._outcome.close()
        self._file.close()

    def blocks(self) -> Iterator[PackedBlock]:
        """Yield the blocks in order, once all are packed.

        Raises:
            StoreError: The process died.
            Exception: What ``write`` raised.
        """
        try:
            outcome: int | Exception = self._outcome.recv()
        except EOFError:
            self._process.join()
            raise StoreError(
                f"the process that packed a part of the batch died (exit code {self._process.exitcode}), perhaps for want of memory: "
                "make batches smaller, or use one core"
            ) from None
        if isinstance(outcome, Exception):
            raise outcome
        self._file.seek(0)
        for _ in range(outcome):
            yield pickle.load(self._file)


def may_pack_apart() -> bool:
    """Tell whether this process may have another one: the workers of a pool may not."""
    return not current_process().daemon


def _pack(write: Callable[[BlockWriter], None], file: IO[bytes], outcome: Connection) -> None:
    """Pack a run, then tell how many blocks it has, or what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is interrupted ends this process, too
    blocks = _BlocksInFile(file)
    try:
        write(blocks)
    except Exception as error:  # the process's edge: the other one raises it
        outcome.send(error)
    else:
        outcome.send(blocks.count)


class _BlocksInFile:
    """A `BlockWriter` that keeps its blocks in a file, as long as there is somebody to read it.

    Raises:
        StoreError: There is no space for the file.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._pack = block_packer()
        self._reader = os.getppid()
        self.count = 0

    def add_block(self, keys: Sequence[bytes], columns: Iterable[tuple[Numbers, bytes]]) -> None:
        """Pack rows and put them behind the others."""
        if os.getppid() != self._reader:
            sys.exit("the process that loads the batch died")
        packed = self._pack(keys, columns)
        with _room():
            pickle.dump(packed, self._file)
        self.count += 1

    def close(self) -> None:
        """Have all blocks in the file, which is closed by who made it."""
        with _room():
            self._file.flush()


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{gettempdir()}: {error.strerror}, where a part of the batch is packed: free some space there, "
            "name another folder in TMPDIR, or use one core"
        ) from error
