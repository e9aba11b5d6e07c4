"""The relations of the store of a service: opened once per state, and never made during a request.

Relations that are missing or show an earlier state are made by another process meanwhile, and the
answer says so.
"""

import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arclink.analysis.scipy_extra import analysis_extra
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.relations.database import RelationsDatabase, ShownRelations

_AT_ONCE: Final = 2
"""Number of questions that are answered at the same time: each may need most of `_MEMORY`."""

_MEMORY: Final = 600
"""Megabytes of memory for all questions of a process."""

_SECONDS: Final = 20.0
"""Seconds after which a question is stopped, and for which one waits for others."""

_KEPT: Final = 4
"""Number of views of the store (subsets, days of an embargo) whose relations stay open."""

_MOST_LINKS: Final = 20_000_000
"""Largest number of links for which a service makes the relations itself (two minutes)."""


class NotReadyError(Exception):
    """The relations of the store cannot be asked now; the text says why, and what to do."""


@dataclass(slots=True)
class _Opened:
    """Relations, and the number of questions that use them."""

    relations: "ShownRelations"
    users: int = 0


class ServiceTables:
    """The relations of one store, for all threads of a service.

    Args:
        where: Path or URL of the store; empty if it has none (in tests).
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._lock = threading.Lock()
        self._gate = threading.Semaphore(_AT_ONCE)
        self._opened: OrderedDict[tuple[str, str], _Opened] = OrderedDict()
        self._making: subprocess.Popen[bytes] | None = None

    @contextmanager
    def asked(self, store: Scans) -> Iterator["RelationsDatabase"]:
        """Yield the relations that a store shows, for one question.

        Args:
            store: The store of this request, or a view of it.

        Raises:
            NotReadyError: They are being made, or too many questions are being answered.
            UsageError: A package is not installed.
            StoreError: The store cannot be read.
        """
        if not self._gate.acquire(timeout=_SECONDS):
            raise NotReadyError("too many questions are being answered; ask again later")
        try:
            with self._lock:
                opened = self._relations(store)
                opened.users += 1
            try:
                with opened.relations.apart() as database:
                    yield database
            finally:
                with self._lock:
                    opened.users -= 1
        finally:
            self._gate.release()

    def _relations(self, store: Scans) -> _Opened:
        with analysis_extra():
            from arclink.relations.database import ShownRelations, SqlLimits
            from arclink.relations.kept import are_current

        version = store.whole.state().version
        key = version, store.state().version
        found = self._opened.pop(key, None)
        if found is None:
            if self._where and not are_current(self._where, store.whole):
                self._make(store)
            limits = SqlLimits(_MEMORY, _SECONDS)
            found = _Opened(ShownRelations(self._where, store, limits))
        self._opened[key] = found
        for other in [*self._opened]:
            # Files of an earlier state may have what was forgotten since.
            is_left = other[0] != version or len(self._opened) > _KEPT
            if is_left and other != key and not self._opened[other].users:
                self._opened.pop(other).relations.close()
        return found

    def _make(self, store: Scans) -> None:
        """Start to make the relations, unless that has begun.

        Raises:
            NotReadyError: Always.
        """
        links = store.whole.sums().links
        if links > _MOST_LINKS:
            raise NotReadyError(
                f"questions need the tables of this store, which has {links:,} links; its owner "
                "makes them with: arclink tables"
            )
        code = self._making and self._making.poll()
        if code:
            raise NotReadyError(
                "the tables of this store cannot be made; its owner sees why with: arclink tables"
            )
        if self._making is None or code == 0:
            nothing = subprocess.DEVNULL
            self._making = subprocess.Popen(
                [sys.executable, "-m", "arclink", "tables", "--store", self._where],
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
            )
        raise NotReadyError("the tables of this store are being made; ask again in a moment")

    def close(self) -> None:
        """End the process that makes relations: what it has written is used by the next one."""
        if self._making is not None and self._making.poll() is None:
            with suppress(OSError):
                self._making.terminate()
            self._making.wait()
