"""Parsing in a child process, so that a task survives a crash of the native parser.

A task uses it from its second attempt on, because its first attempt died, perhaps at one page.
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
"""Maximum time for one page."""

MEMORY = 4 << 30
"""Maximum address space of the child, in bytes.

A page of some kilobytes can be written so that the parser needs any amount.
"""


class IsolatedExtractor:
    """Finds links in a child process, and starts another child after a page crashed it."""

    def __init__(self, limits: Limits, kinds: frozenset[Kind] = DEFAULT_KINDS) -> None:
        self._limits = limits
        self._kinds = kinds
        self._child: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def extract(self, html: bytes | str) -> PageLinks:
        """Return the result of `links_of` for a page.

        Raises:
            PayloadError: The child died at this page, or needed more than `SECONDS` or `MEMORY`
                (``PAYLOAD_CRASHED``).
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
        """End the child process, if it runs."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._child is not None:
            self._child.kill()
            self._child.join()
            self._child = None


def _serve(pipe: Connection, parents: Connection, limits: Limits, kinds: frozenset[Kind]) -> None:
    """Receive pages and send their links, until the parent closes the pipe."""
    parents.close()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY or soft > MEMORY:  # keep a lower limit of the user
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    while True:
        try:
            html = pipe.recv()
        except EOFError:
            return
        pipe.send(links_of(html, limits, kinds))
