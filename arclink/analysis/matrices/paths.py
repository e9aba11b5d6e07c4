"""Paths through time: ways from one URI to another that a reader could have taken, link by link.

A *time-respecting* path follows links at times that never go back (Kempe, Kleinberg, Kumar 2002). A
link can be followed

- *seen*: at the time of a memento that shows it;
- *in force*: from that time until the next memento of its page, whatever its status; without a next
  memento, at any later time.

Following a link takes no time, and a reader may wait on a page. All variants of a page's URI belong
to the page. There are two searches (Wu et al. 2014, *Path Problems in Temporal Graphs*): the path
that *arrives first*, and among the *shortest* paths, those with the fewest links, the one that
arrives first. Arriving earlier is never worse. So the first search is Dijkstra's algorithm with
times as distances. The second repeatedly expands all pages that are one link further away, each
with its earliest time.

The number of pages that a search reads is limited. The answer says whether the search ended before
it knew the result.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from heapq import heappop, heappush
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, Self, TypedDict

from arclink.access.capabilities import Capability, ColumnKind, RowColumn, ToAnswer
from arclink.access.declarations import (
    COMMON_TO_FOLLOW,
    FROM,
    TO,
    ConflictError,
    DeclaredQuery,
    Given,
    Parameter,
    choice,
    whole_number,
)
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.formats.table import date_and_time
from arclink.access.kinds import NAVIGATION, kinds_line
from arclink.access.queries import URI, LinkQuery
from arclink.access.reader import Budget
from arclink.access.texts import printable, printable_uri
from arclink.known import KnownLinks, ReadCapturesFields
from arclink.model import ALL_TIME, ContentId, Outlink, Span, Surt, Timestamp, UriR
from arclink.store.known_captures import is_read
from arclink.store.protocols import Answers
from arclink.uris.surts import surt_of


class Usable(Enum):
    """The times at which a link can be followed."""

    SEEN = "seen"
    IN_FORCE = "in-force"


class PathChoice(Enum):
    """The kinds of paths to search for."""

    EARLIEST = "earliest"
    SHORTEST = "shortest"


BEGIN = replace(
    URI, name="begin", about="Where the path begins.", also=(), metavar="FROM_URI", fields=()
)
END = replace(BEGIN, name="end", about="Where it ends.", metavar="TO_URI", fields=("end", "target"))
_FIND = Parameter(
    "find",
    "The path that arrives first, or the path with the fewest links.",
    choice(PathChoice),
    default="earliest",
    fields=("wanted",),
)
_WHEN = Parameter(
    "when",
    "When a link can be followed: at its mementos, or until the next memento of its page.",
    choice(Usable),
    default="seen",
    fields=("usable",),
)
_MOST_PAGES = Parameter(
    "most-pages",
    "Maximum number of pages to search.",
    whole_number(1_000_000_000, least=1),
    default="20000",
    metavar="N",
)
MOST_HOPS = Parameter(
    "most-hops",
    "Maximum number of links of a shortest path.",
    whole_number(1_000, least=1),
    default="20",
    metavar="N",
)


class PathStep(NamedTuple):
    """One link that was followed.

    Attributes:
        time: The time at which it was followed.
        seen: The memento of ``page`` that shows it; not after ``time``.
    """

    time: Timestamp
    page: UriR
    seen: Timestamp
    link: Outlink


class _Arrival(NamedTuple):
    """A page that was reached: the time, and the link that led to it."""

    time: Timestamp
    surt: Surt
    hop: PathStep | None = None
    before: "_Arrival | None" = None

    def path(self) -> tuple[PathStep, ...]:
        found: list[PathStep] = []
        arrival: _Arrival | None = self
        while arrival is not None and arrival.hop is not None:
            found.append(arrival.hop)
            arrival = arrival.before
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class PathQuery(DeclaredQuery):
    """A query for a path.

    Attributes:
        links: The start (its SURT), the range in which links are followed (its span), and the kinds
            of links.
        end: The URI at which the path ends.
        target: Its SURT; another than that of the start.
        most_pages: Largest number of pages to read, counting repetitions.
        most_hops: Largest number of links of a shortest path.
        most_links: Largest number of links to read; the page at which it is reached is read whole.
    """

    DECLARED = (BEGIN, END, _FIND, _WHEN, FROM, TO, *COMMON_TO_FOLLOW, _MOST_PAGES, MOST_HOPS)

    links: LinkQuery
    end: UriR
    target: Surt
    usable: Usable
    wanted: PathChoice
    most_pages: int
    most_hops: int
    most_links: int = sys.maxsize

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        uri, surt = BEGIN.required(given)
        values = cls.values(given, otherwise)
        if surt == values["target"]:
            why = "is the same page as begin: name two different ones"
            raise ConflictError(END.name, given.text(END), why)
        return cls(links=LinkQuery.of(given, uri=uri, surt=surt, kinds=NAVIGATION), **values)

    def within(self, budget: Budget | None) -> Self:
        """Return the query with the limits of a budget, if there is one."""
        if budget is None:
            return self
        pages = min(self.most_pages, budget.look_ups)
        return replace(self, most_pages=pages, most_links=budget.rows)


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """A path, or the extent of a search without result.

    Attributes:
        hops: The links in order; empty if no path was found.
        pages: Number of pages that were read.
        is_complete: Whether the search was exhaustive, if no path was found.
        others: Number of links of other kinds in the contents that were read.
    """

    hops: tuple[PathStep, ...]
    pages: int
    is_complete: bool
    others: int = 0


def find_path(store: Answers, query: PathQuery) -> PathAnswer:
    """Return the path that the query describes.

    Raises:
        StoreError: The store cannot be reached.
    """
    search = _Search(store, query)
    found = search.earliest() if query.wanted is PathChoice.EARLIEST else search.shortest()
    return PathAnswer(
        found.path() if found else (), search.pages, search.is_complete, search.others
    )


class _Search:
    def __init__(self, store: Answers, query: PathQuery) -> None:
        self.pages = 0
        self.is_complete = True
        self.others = 0
        self._links = 0
        self._store = store
        self._query = query
        self._start = _Arrival(query.links.span.first, query.links.surt)

    def earliest(self) -> _Arrival | None:
        reached = {self._start.surt: self._start}
        waiting = [(self._start.time, self._start.surt)]
        while waiting:
            time, surt = heappop(waiting)
            if surt == self._query.target:
                return reached[surt]
            if time > reached[surt].time:
                continue
            if not self._may_look():
                return None
            for further in self._next(reached[surt]):
                known = reached.get(further.surt)
                if known is None or further.time < known.time:
                    reached[further.surt] = further
                    heappush(waiting, (further.time, further.surt))
        return None

    def shortest(self) -> _Arrival | None:
        reached = {self._start.surt: self._start}
        outermost = [self._start]
        for _ in range(self._query.most_hops):
            better: dict[Surt, _Arrival] = {}
            for arrival in outermost:
                if not self._may_look():
                    return better.get(self._query.target)
                for further in self._next(arrival):
                    known = reached.get(further.surt)
                    if known is None or further.time < known.time:
                        reached[further.surt] = better[further.surt] = further
            if self._query.target in better:
                return better[self._query.target]
            outermost = list(better.values())
            if not outermost:
                return None
        self.is_complete = False
        return None

    def _may_look(self) -> bool:
        self.is_complete = (
            self.pages < self._query.most_pages and self._links < self._query.most_links
        )
        self.pages += self.is_complete
        return self.is_complete

    def _next(self, arrival: _Arrival) -> Iterator[_Arrival]:
        """Yield the pages that one link leads to, each at the earliest time after ``arrival``."""
        found: dict[Surt, PathStep] = {}
        for time, seen, page, content in self._shown(arrival):
            for link in self._store.outlinks(content):
                self._links += 1
                if not self._query.links.wants(link.kind):
                    self.others += 1
                else:
                    surt = surt_of(link.target)
                    if surt not in found or time < found[surt].time:
                        found[surt] = PathStep(time, page, seen, link)
        for surt, hop in found.items():
            yield _Arrival(hop.time, surt, hop, arrival)

    def _shown(self, arrival: _Arrival) -> Iterator[tuple[Timestamp, Timestamp, UriR, ContentId]]:
        """Yield the contents that a reader finds at an arrival, each once per original.

        Each comes with the earliest time at which it can be read, and the memento that shows it.
        """
        last = self._query.links.span.last
        mementos = sorted(
            self._store.mementos(arrival.surt, Span(last=last)),
            key=attrgetter("original", "timestamp"),
        )
        for original, of_page in groupby(mementos, attrgetter("original")):
            by_time = [
                (time, list(same)) for time, same in groupby(of_page, attrgetter("timestamp"))
            ]
            shown: set[ContentId] = set()
            for number, (time, same) in enumerate(by_time):
                end = by_time[number + 1][0] if number + 1 < len(by_time) else ALL_TIME.last
                if time < arrival.time and (
                    self._query.usable is Usable.SEEN or end <= arrival.time
                ):
                    continue
                for memento in same:
                    content = self._store.content_of(memento)
                    if content is not None and content not in shown:
                        shown.add(content)
                        yield max(time, arrival.time), time, original, content


# A path of links between two URIs, as rows.

_COLUMNS = (
    RowColumn("hop", ColumnKind.NUMBER, "Number of the link, from 1 on."),
    RowColumn("time", ColumnKind.TIME, "When it is followed."),
    RowColumn("seen", ColumnKind.TIME, "The memento that shows it."),
    RowColumn("kind", ColumnKind.TEXT, "Element and attribute of the link."),
    RowColumn("text", ColumnKind.TEXT, "Text of the link."),
    RowColumn("page", ColumnKind.TEXT, "The page with the link."),
    RowColumn("target", ColumnKind.TEXT, "Where it leads."),
)


class PathFields(TypedDict):
    """A path of links that follows time."""

    from_uri: Annotated[str, "The page at which paths begin."]
    to_uri: Annotated[str, "The page at which they end."]
    find: Annotated[str, PathChoice]
    when: Annotated[str, Usable]
    kinds: Annotated[Sequence[str], "The kinds of links that were followed."]
    found: bool
    pages: Annotated[int, "Number of pages that were searched."]
    complete: Annotated[bool, "Whether these are all pages that can be reached in that time."]
    begin_read_from: Annotated[
        ReadCapturesFields | None,
        "The captures of the page at which paths begin; null if they are not counted by time.",
    ]
    read_from: Annotated[ReadCapturesFields | None, "The same of all pages."]


def _answer(asked: ToAnswer[PathQuery]) -> RowAnswer:
    graph, query = asked.graph, asked.query.within(asked.budget)
    captures = [*graph.mementos(query.links.surt, query.links.span)]
    read = [one.timestamp for one in captures if is_read(graph, one, graph.content_of(one))]
    known = KnownLinks(len(captures), len(read), min(read, default=None), max(read, default=None))
    of_all = graph.known(query.links.span)
    is_known = any(
        next(rows, None) is not None
        for rows in (graph.inlinks(query.target), graph.mementos(query.target))
    )
    found = find_path(graph, query)
    return _as_rows(query, found, (known, of_all), "" if is_known else query.end)


def _as_rows(
    query: PathQuery,
    answer: PathAnswer,
    known: tuple[KnownLinks, KnownLinks],
    unknown: str,
) -> RowAnswer:
    about: PathFields = {
        "from_uri": printable_uri(query.links.uri),
        "to_uri": printable_uri(query.end),
        "find": query.wanted.value,
        "when": query.usable.value,
        "kinds": query.links.kinds.words,
        "found": bool(answer.hops),
        "pages": answer.pages,
        "complete": answer.is_complete,
        "begin_read_from": known[0].as_fields,
        "read_from": known[1].as_fields,
    }
    rows: list[Row] = [
        {
            "hop": number,
            "time": hop.time,
            "seen": hop.seen,
            "kind": printable(hop.link.kind),
            "text": printable(hop.link.text),
            "page": printable_uri(hop.page),
            "target": printable_uri(hop.link.target),
        }
        for number, hop in enumerate(answer.hops, 1)
    ]
    lines = [_outcome(query, answer, *known, unknown), kinds_line(query.links.kinds)]
    if not rows and answer.others:
        lines.append(
            f"{answer.others:,} links of other kinds on these pages were not followed: "
            "--kinds all follows them."
        )
    lines += [""] if rows else []
    return RowAnswer(about, lines, [one.name for one in _COLUMNS], {"hops": rows})


def _outcome(
    query: PathQuery,
    answer: PathAnswer,
    of_begin: KnownLinks,
    of_all: KnownLinks,
    unknown: str,
) -> str:
    """Return a path in a sentence, or why none was found.

    Args:
        query: The query.
        answer: Its answer.
        of_begin: What is known of the page at which paths begin, in the time of the query.
        of_all: What is known of all pages then.
        unknown: The page at which paths end if the graph has nothing about it; else empty.
    """
    looked = "1 page was searched" if answer.pages == 1 else f"{answer.pages:,} pages were searched"
    if answer.hops:
        links = "1 link" if len(answer.hops) == 1 else f"{len(answer.hops):,} links"
        return f"{links}, arriving {date_and_time(answer.hops[-1].time)}; {looked}."
    if why := of_begin.why_unknown("from that time"):
        return f"Unknown: of {printable_uri(query.links.uri)}, {why}."
    if unknown:
        return (
            f"No path: the graph does not know {printable_uri(unknown)}: it has no capture of it "
            f"and no link to it; {looked}."
        )
    if answer.is_complete:
        read_from = f" ({of_all.read_from})" if of_all.read_from else ""
        return (
            f"No path: {looked}, which are all pages that can be reached in that time{read_from}."
        )
    return (
        f"None found: {looked}, and the search ended there. Allow more (--most-pages, now "
        f"{query.most_pages:,}; for a shortest path also --most-hops, now {query.most_hops:,}), or "
        "a shorter time (--from, --to)."
    )


PATH = Capability(
    "path",
    "A path of links between two URIs that follows time.",
    """Show a path of links from FROM_URI to TO_URI whose times never go back.

--from and --to limit the times at which links are followed.
""",
    PathQuery,
    _answer,
    PathFields,
    {"hops": _COLUMNS},
    group="analyze",
    examples=("arclink analyze path example.org example.net --store links.db",),
)
