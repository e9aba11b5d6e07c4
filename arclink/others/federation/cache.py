"""A cache of instances' answers, limited in bytes and in age, and by their ``Cache-Control``.

Source: RFC 9111, section 5.2.2 (``Cache-Control`` of responses: max-age, no-cache, no-store,
private) and section 4.3 (validation).
"""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from arclink.others.federation.http_client import HttpAnswer

OVERHEAD = 1_000
"""Bytes that an entry counts in addition to its body and its URL."""

_VALIDATOR = re.compile("[\x20-\x7e]{1,1000}")


@dataclass(frozen=True, slots=True)
class _Entry:
    answer: HttpAnswer
    fresh_until: float


class AnswerCache:
    """A thread-safe cache of answers by URL; it drops the least recently used first.

    Args:
        most_bytes: Size of all answers together; 0 disables the cache.
        age: Seconds for which an answer is fresh, unless its ``Cache-Control`` allows less.
        clock: Function that returns seconds and never goes back.
    """

    def __init__(
        self, most_bytes: int, age: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most_bytes = most_bytes
        self._age = age
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def fresh(self, url: str) -> HttpAnswer | None:
        """Return the cached answer to ``url`` if it is still fresh; else None."""
        with self._lock:
            entry = self._entries.get(url)
            if entry is None or entry.fresh_until <= self._clock():
                return None
            self._entries.move_to_end(url)
            return entry.answer

    def validators(self, url: str) -> Mapping[str, str]:
        """Return request headers to revalidate the cached answer; empty if it has no validator."""
        with self._lock:
            entry = self._entries.get(url)
        found = {} if entry is None else entry.answer.headers
        asked = {
            "If-None-Match": found.get("etag", ""),
            "If-Modified-Since": found.get("last-modified", ""),
        }
        return {name: value for name, value in asked.items() if _VALIDATOR.fullmatch(value)}

    def renewed(self, url: str, not_modified: HttpAnswer) -> HttpAnswer | None:
        """Return the cached answer after a 304 confirmed it; None if it has been dropped."""
        with self._lock:
            entry = self._entries.get(url)
        if entry is None:
            return None
        answer = replace(entry.answer, headers={**entry.answer.headers, **not_modified.headers})
        self.keep(url, answer)
        return answer

    def keep(self, url: str, answer: HttpAnswer) -> None:
        """Store a response with status 200 if it is cacheable and fits."""
        seconds = self._freshness(answer.headers.get("cache-control", ""))
        size = len(url) + len(answer.body) + OVERHEAD
        with self._lock:
            self._forget(url)
            if seconds is None or answer.status != 200 or size > self._most_bytes:
                return
            self._entries[url] = _Entry(answer, self._clock() + seconds)
            self._bytes += size
            while self._bytes > self._most_bytes:
                self._forget(next(iter(self._entries)))

    def _freshness(self, control: str) -> float | None:
        """Return the seconds for which an answer with this ``Cache-Control`` is fresh.

        None means that it must not be stored.
        """
        directives = {part.strip().lower() for part in control.split(",")}
        names = {directive.partition("=")[0].strip() for directive in directives}
        if names & {"no-store", "private"}:
            return None
        if "no-cache" in names:
            return 0
        ages = [
            int(found[1])
            for directive in directives
            if (found := re.fullmatch(r'max-age="?([0-9]{1,9})"?', directive))
        ]
        return min([self._age, *ages])

    def _forget(self, url: str) -> None:
        entry = self._entries.pop(url, None)
        if entry is not None:
            self._bytes -= len(url) + len(entry.answer.body) + OVERHEAD
