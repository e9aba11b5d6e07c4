"""When the captures of hosts were read: at other times it is unknown whether a host linked."""

from collections.abc import Collection, Iterator

from arclink.access.reader import Reading
from arclink.access.tallies import Period
from arclink.model import Memento, Surt
from arclink.store.known_captures import is_read

_MOST_CAPTURES = 5_000
"""Largest number of captures that one page reads for all its hosts: about 0.2 seconds."""


class KnownHosts:
    """The periods in which the links of hosts or domains are known.

    Args:
        reading: The store is read through it.
        period: The unit of time.
        with_subdomains: Whether names are domains, which have the hosts below them.
        most: Largest number of captures to read together.
    """

    def __init__(
        self,
        reading: Reading,
        period: Period,
        *,
        with_subdomains: bool = False,
        most: int = _MOST_CAPTURES,
    ) -> None:
        self._reading = reading
        self._period = period
        self._ends = (")", ":", ",") if with_subdomains else (")", ":")
        self._left = most

    def periods(self, name: str) -> Collection[str]:
        """Return the periods in which a capture of a host was read.

        The result is empty, which means "unknown", if it has more captures than are left to read.
        """
        periods = set()
        for memento in self._captures(name):
            self._left -= 1
            if self._left < 0:
                return ()
            period = self._period.of(memento.timestamp)
            if period not in periods:
                content = self._reading.content_of(memento)
                if is_read(self._reading.store, memento, content):
                    periods.add(period)
        return periods

    def _captures(self, name: str) -> Iterator[Memento]:
        store = self._reading.store
        # An IPv6 address has no labels, and its ports are other names.
        stem = name if ":" in name else ",".join(reversed(name.split(".")))
        for end in self._ends[:1] if ":" in name else self._ends:
            for surt in store.captured_surts(Surt(stem + end)):
                yield from store.mementos(surt)
