"""Requests for one query to all instances at the same time.

One thread per instance reads its answer, for a link query page after page, until it has everything
or a limit is reached. The caller waits for all threads, but no longer than the limit for the whole
query. An instance that is slow, fails or sends nonsense affects only its own part of the answer.
"""

import queue
import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from arclink.access.answers import Budget, answer_link_query
from arclink.access.archives import ArchiveReport, Outcome, Refused
from arclink.access.cursors import decode_cursor
from arclink.access.queries import MOST_MEMBERS, LinkQuery
from arclink.access.reader import of_one_state
from arclink.access.timemaps import read_timemap
from arclink.errors import InstanceError, NetworkError, NetworkFailure
from arclink.network.http import HttpClient, Response
from arclink.others.federation.instance_answers import (
    ReceivedAnswer,
    accepted_findings,
    as_received,
    parse_json_answer,
    parse_timemap,
)
from arclink.others.federation.instances import (
    Instance,
    QueryLimits,
    plain_question,
    question,
    timemap_question,
)
from arclink.others.federation.listings import parse_listing
from arclink.others.federation.merge import Findings, merge
from arclink.store.protocols import Answers

# One request to another instance, with limits on total time and on size.
#
# Redirects are not followed, because the address comes from the configuration and an answer must
# not lead anywhere else; compressed answers are refused, because the size limit holds for the bytes
# sent.


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A response whose body was read completely.

    Attributes:
        media_type: The media type without parameters, in lower case; empty if the answer has no
            media type.
        headers: Header values by name in lower case.
    """

    status: int
    media_type: str
    headers: Mapping[str, str]
    body: bytes


def fetch(url: str, headers: Mapping[str, str], seconds: float, most_bytes: int) -> HttpAnswer:
    """Return the response to a GET request; statuses 304 and 4xx are responses, too.

    Args:
        url: An ``http`` or ``https`` URL from the configuration, never from an answer.
        headers: Headers in addition to those of every request.
        seconds: Limit for everything: name resolution, connecting, waiting, reading.
        most_bytes: Largest size of the body.

    Raises:
        InstanceError: The response did not arrive in time, is not HTTP, is a redirect or a server
            error (5xx), or is too large, compressed or incomplete.
    """
    try:
        with (
            HttpClient(silence=seconds, total=seconds) as client,
            client.exchange("GET", url, {"Connection": "close", **headers}) as response,
        ):
            _refuse(response)
            body = b"" if response.status == 304 else response.body(most_bytes)
    except NetworkError as error:
        if error.failure in (NetworkFailure.SILENT, NetworkFailure.OVER):
            raise InstanceError(f"no complete answer within {seconds:.3g} s") from error
        raise InstanceError(error.detail) from error
    fields = {name.lower(): value for name, value in response.headers.items()}
    media_type = fields.get("content-type", "").partition(";")[0].strip().lower()
    return HttpAnswer(response.status, media_type, fields, body)


def _refuse(response: Response) -> None:
    status = response.status
    if status >= 500:
        pause = response.headers.get("Retry-After", "")
        again = f"; ask again in {pause} s" if re.fullmatch("[0-9]{1,6}", pause) else ""
        raise InstanceError(f"it answers with status {status}{again}")
    if 300 <= status < 400 and status != 304:
        raise InstanceError(
            f"it answers with a redirect ({status}), which is not followed; configure the "
            "address it leads to"
        )
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise InstanceError(
            f"its answer is compressed ({coding[:40]!a}), although the request excluded this"
        )


# A cache of instances' answers, limited in bytes and in age, and by their ``Cache-Control``.
#
# Source: RFC 9111, section 5.2.2 (``Cache-Control`` of responses: max-age, no-cache, no-store,
# private) and section 4.3 (validation).

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


_ACCEPT = "application/json, application/rdf+xml;q=0.5"
GRACE = 0.5
"""Seconds that a thread has, after its time is over, to report that."""

Found = TypeVar("Found")

Asked = tuple[Findings, ArchiveReport]


@dataclass(slots=True)
class InstanceProgress(Generic[Found]):
    """The progress of the requests to one instance; its fields are consistent at any time.

    Attributes:
        found: What it answered.
        members: Number of links or rows in it.
        pages: Number of pages that were read.
        refused: Number of refused parts, by reason.
        is_cached: Whether no new answer was read.
        is_of_arclink: Whether the instance answers as ArcLink does.
    """

    found: Found
    members: int = 0
    pages: int = 0
    refused: Counter[Refused] = field(default_factory=Counter)
    is_cached: bool = True
    is_of_arclink: bool = False


Reading = Callable[[Instance, float, InstanceProgress[Found]], None]
"""Reads the answer of an instance, until a time of `time.monotonic`. It raises `InstanceError` if
it cannot read it to its end; what it has read before is in the progress."""


class Asking:
    """Sends queries to a fixed set of instances and caches their answers. Thread-safe."""

    def __init__(self, instances: Sequence[Instance], limits: QueryLimits | None = None) -> None:
        self.instances = tuple(instances)
        self.limits = limits or QueryLimits()
        self._cache = AnswerCache(self.limits.cache_bytes, self.limits.cache_seconds)
        self._free = {
            instance: threading.BoundedSemaphore(self.limits.at_once) for instance in self.instances
        }

    def ask(self, query: LinkQuery, meanwhile: Callable[[], None] | None = None) -> list[Asked]:
        """Return the findings and the report of each instance, in the order of the instances.

        Args:
            query: Without limit and cursor: everything is requested.
            meanwhile: A function to call while the instances work.
        """
        meets_others = len(self.instances) > 1 or meanwhile is not None

        def read(instance: Instance, end: float, progress: InstanceProgress[Findings]) -> None:
            self._pages(instance, query, end, progress)
            if meets_others:
                self._captures(instance, query, end, progress)

        return self.each(read, Findings(), "link", meanwhile)

    def each(
        self,
        read: Reading[Found],
        nothing: Found,
        noun: str,
        meanwhile: Callable[[], None] | None = None,
    ) -> list[tuple[Found, ArchiveReport]]:
        """Return the answer and the report of each instance, in the order of the instances.

        Args:
            read: Reads the answer of an instance, in a thread of its own.
            nothing: The answer of an instance that did not answer.
            noun: What a member of an answer is.
            meanwhile: A function to call while the instances work.
        """
        start = time.monotonic()
        end = start + self.limits.whole_seconds
        done: queue.SimpleQueue[tuple[int, tuple[Found, ArchiveReport]]] = queue.SimpleQueue()

        def work(number: int, instance: Instance) -> None:
            done.put((number, self._read(instance, end, read, nothing, noun)))

        for numbered in enumerate(self.instances):
            threading.Thread(target=work, args=numbered, daemon=True).start()
        if meanwhile is not None:
            meanwhile()
        found: dict[int, tuple[Found, ArchiveReport]] = {}
        while len(found) < len(self.instances):
            try:
                number, asked = done.get(timeout=max(0.0, end + GRACE - time.monotonic()))
            except queue.Empty:
                break
            found[number] = asked
        late = f"no answer within {self.limits.whole_seconds:.3g} s"
        seconds = time.monotonic() - start
        return [
            found.get(number)
            or (
                nothing,
                ArchiveReport(instance.name, Outcome.FAILED, late, seconds=seconds, noun=noun),
            )
            for number, instance in enumerate(self.instances)
        ]

    def _read(
        self, instance: Instance, end: float, read: Reading[Found], nothing: Found, noun: str
    ) -> tuple[Found, ArchiveReport]:
        start = time.monotonic()
        progress = InstanceProgress(nothing)
        detail = ""
        if not self._free[instance].acquire(blocking=False):
            detail = f"it is already busy with {self.limits.at_once} requests of this service"
        else:
            try:
                read(instance, end, progress)
            except InstanceError as error:
                detail = str(error)
            except Exception as error:  # end of a thread: other answers must survive
                detail = f"its answer could not be read: {type(error).__name__}"
            finally:
                self._free[instance].release()
        outcome = (
            Outcome.ANSWERED
            if not detail
            else Outcome.PARTIAL
            if progress.pages
            else Outcome.FAILED
        )
        return progress.found, ArchiveReport(
            instance.name,
            outcome,
            detail,
            progress.members,
            time.monotonic() - start,
            progress.is_cached and progress.pages > 0,
            progress.refused,
            noun,
        )

    def _pages(
        self, instance: Instance, query: LinkQuery, end: float, progress: InstanceProgress[Findings]
    ) -> None:
        """Request page after page.

        Raises:
            InstanceError: A page failed, or there are more than the limits allow; ``progress`` has
                the pages before it.
        """
        cursor = ""
        while True:
            received = self._page(instance, query, cursor, end, progress)
            found, refused = accepted_findings(received, query, instance.name)
            progress.found = merge((progress.found, found))
            progress.members = len(progress.found.links)
            progress.refused += refused
            progress.pages += 1
            cursor = received.next
            if not cursor:
                return
            if (
                progress.pages >= self.limits.pages
                or len(progress.found.links) >= self.limits.links
            ):
                raise InstanceError(
                    f"it has more than the {len(progress.found.links):,} links of "
                    f"{progress.pages} pages that were requested"
                )

    def _captures(
        self, instance: Instance, query: LinkQuery, end: float, progress: InstanceProgress[Findings]
    ) -> None:
        """Request the list of captures, with which those of other archives are compared.

        Without a list, the captures of this archive count as captures that no other archive has.
        """
        summary = progress.found.mementos.get(instance.name)
        if summary is None or not summary.count or not progress.is_of_arclink:
            return
        with suppress(InstanceError):
            answer = self.answer(timemap_question(instance, query.uri), end, progress)
            captures = parse_timemap(answer.body) if answer.status == 200 else None
            if captures is not None:
                listed = Findings(captures={instance.name: captures})
                progress.found = merge((progress.found, listed))

    def _page(
        self,
        instance: Instance,
        query: LinkQuery,
        cursor: str,
        end: float,
        progress: InstanceProgress[Findings],
    ) -> ReceivedAnswer:
        if instance.is_saved:
            progress.is_cached = False
            return parse_listing(instance.read(self.limits.page_bytes), query.uri)
        first = plain_question(instance, query) if instance.is_plain else None
        answer = self.answer(first or question(instance, query, cursor), end, progress)
        if (
            not first
            and 400 <= answer.status < 500
            and answer.media_type != "application/problem+json"
        ):
            # The instance knows only the paper's parameter.
            answer = self.answer(plain_question(instance, query), end, progress)
        if answer.status != 200:
            raise InstanceError(f"it answers with status {answer.status}")
        match answer.media_type:
            case "application/json" if not first:
                progress.is_of_arclink = True
                return parse_json_answer(answer.body)
            case "application/rdf+xml" | "application/xml" | "text/xml":
                return parse_listing(answer.body, query.uri)
            case other:
                raise InstanceError(
                    f"it answers in {other[:80]!a}, which is neither JSON nor RDF/XML"
                )

    def answer(self, url: str, end: float, progress: InstanceProgress[Found]) -> HttpAnswer:
        """Return the answer to ``url``: cached and fresh, cached and revalidated, or a new one.

        Raises:
            InstanceError: No answer came, or it exceeds a limit.
        """
        cached = self._cache.fresh(url)
        if cached is not None:
            return cached
        seconds = min(self.limits.instance_seconds, end - time.monotonic())
        if seconds <= 0:
            raise InstanceError(f"no complete answer within {self.limits.whole_seconds:.3g} s")
        answer = fetch(
            url, {"Accept": _ACCEPT, **self._cache.validators(url)}, seconds, self.limits.page_bytes
        )
        if answer.status == 304:
            renewed = self._cache.renewed(url, answer)
            if renewed is not None:
                return renewed
            answer = fetch(url, {"Accept": _ACCEPT}, seconds, self.limits.page_bytes)
        progress.is_cached = False
        self._cache.keep(url, answer)
        return answer


@of_one_state
def ask_store(
    store: Answers, name: str, query: LinkQuery, limits: QueryLimits, budget: Budget
) -> Asked:
    """Return the findings of a store of this process, within the limits for an instance.

    Raises:
        StoreError: The store cannot be reached.
    """
    start = time.monotonic()
    progress = InstanceProgress(Findings())
    asked = replace(query, limit=MOST_MEMBERS, cursor=None)
    detail = ""
    while True:
        answer = answer_link_query(store, asked, budget)
        found, refused = accepted_findings(as_received(answer), query, name)
        progress.found = merge((progress.found, found))
        progress.refused += refused
        progress.pages += 1
        if answer.next is None:
            break
        if progress.pages >= limits.pages or len(progress.found.links) >= limits.links:
            detail = _has_more(progress)
            break
        if time.monotonic() - start >= limits.whole_seconds:
            detail = f"not read to the end within {limits.whole_seconds:.3g} s"
            break
        asked = replace(asked, cursor=decode_cursor(answer.next, query.fingerprint))
    timemap = read_timemap(store, query.uri)
    if timemap.following is None:
        captures = frozenset((one.original, one.timestamp) for one in timemap.mementos)
        progress.found = merge((progress.found, Findings(captures={name: captures})))
    outcome = Outcome.PARTIAL if detail else Outcome.ANSWERED
    return progress.found, ArchiveReport(
        name,
        outcome,
        detail,
        len(progress.found.links),
        time.monotonic() - start,
        refused=progress.refused,
    )


def _has_more(progress: InstanceProgress[Findings]) -> str:
    return (
        f"it has more than the {len(progress.found.links):,} links of {progress.pages} pages "
        "that were requested"
    )
