"""Parsing in a child process: a native parser that crashes cannot be caught, but it can be survived.

Used from a task's second attempt on: the first attempt died, perhaps of one page.
"""

import multiprocessing
import resource
from multiprocessing.connection import Connection

from arclink.errors import PayloadError
from arclink.extract.feeds import links_of
from arclink.extract.html import DEFAULT_KINDS, Limits, PageLinks
from arclink.model import Kind
from arclink.reasons import Reason

SECONDS = 300.0
"""How long one page may take."""

MEMORY = 4 << 30
"""Bytes of address space the child may take: a page of some kilobytes can be made to ask for any amount."""


class IsolatedExtractor:
    """Finds links in a child process, which is started again when a page takes it down."""

    def __init__(self, limits: Limits, kinds: frozenset[Kind] = DEFAULT_KINDS) -> None:
        self._limits = limits
        self._kinds = kinds
        self._child: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def extract(self, html: bytes | str) -> PageLinks:
        """Return what `links_of` returns.

        Raises:
            PayloadError: The child died of this page, or took more time or memory than it may (``PAYLOAD_CRASHED``).
        """
        pipe = self._pipe or self._start()
        try:
            pipe.send(html)
            if pipe.poll(SECONDS):
                links: PageLinks = pipe.recv()
                return links
        except (EOFError, OSError):
            pass
        self.close()
        raise PayloadError(Reason.PAYLOAD_CRASHED)

    def _start(self) -> Connection:
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._child = context.Process(
            target=_serve, args=(theirs, self._pipe, self._limits, self._kinds), daemon=True
        )
        self._child.start()
        theirs.close()
        return self._pipe

    def close(self) -> None:
        """End the child process, if there is one."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._child is not None:
            self._child.kill()
            self._child.join()
            self._child = None


def _serve(pipe: Connection, parents: Connection, limits: Limits, kinds: frozenset[Kind]) -> None:
    """Answer pages with their links until the other end closes."""
    parents.close()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY or soft > MEMORY:  # a user's own limit is not raised
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    while True:
        try:
            html = pipe.recv()
        except EOFError:
            return
        pipe.send(links_of(html, limits, kinds))
