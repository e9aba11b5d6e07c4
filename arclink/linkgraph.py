"""The Python interface: ``arclink.open("links.db")`` returns a `LinkGraph`.

A `LinkGraph` has the queries of the command line and of the service, with the same names and
parameters (``docs/reference/service.md``). Only ``from``, a keyword of Python, is ``from_`` here.
Answers are complete unless ``limit`` is given. Functions that return objects of other libraries
import these when they are called: networkx, pandas and pyarrow are in the extra ``analysis``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from difflib import get_close_matches
from functools import cached_property
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack, overload

from arclink.access.anchors import Anchor, AnchorsAnswer, AnchorsQuery, answer_anchors
from arclink.access.answers import LinkAnswer, answer_link_query
from arclink.access.archives import ArchiveReport
from arclink.access.capabilities import Capability, ToAnswer
from arclink.access.common import SUBSET
from arclink.access.cursors import decode_cursor
from arclink.access.declarations import AnyParameter, Given, UnknownParameterError, sort_out
from arclink.access.explanations import Explanation, explain
from arclink.access.formats import Profile
from arclink.access.formats.anchors import ANCHORS, anchors_as_rows
from arclink.access.formats.rdf_lines import write_ntriples
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.formats.table import archive_lines, date_and_time, when_asked
from arclink.access.groups import UNLIMITED
from arclink.access.link_states import State
from arclink.access.members import Member
from arclink.access.methods import Methods
from arclink.access.provenance import Provenance, provenance_of
from arclink.access.queries import (
    MATCH_TYPE,
    MOST_MEMBERS,
    BadParameterError,
    ConflictError,
    Direction,
    LinkQuery,
    MatchType,
    requested_span,
    surt_asked,
)
from arclink.access.reader import MementoSummary, Reading
from arclink.access.signatures import keyword
from arclink.access.tallies import Period
from arclink.access.texts import printable, printable_uri
from arclink.access.timemaps import TimeMap, read_timemap
from arclink.access.times import AT, AT_OR_SPAN
from arclink.captures.archive_paths import ArchivePaths
from arclink.captures.locate import find_capture
from arclink.captures.read import CapturedPage, PageReader
from arclink.charts.results import ResultRows, RowResult, frame_of, table_of
from arclink.closing import Closing
from arclink.errors import InstanceError, UsageError
from arclink.extras import analysis_extra
from arclink.known import KnownLinks
from arclink.model import ALL_TIME, Memento, Span
from arclink.questions.queries import ASK_PARAMETERS, AskQuery, check_question
from arclink.questions.rows import said_from
from arclink.store.location import name_of_store
from arclink.store.protocols import Scans, StoreStats
from arclink.uris.resolution import serialised

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import networkx as nx
    import pandas as pd
    import pyarrow as arrow
    import rdflib

    from arclink.captures.stream import CaptureStream
    from arclink.captures.write import TakenAway
    from arclink.export.cuts import Picture
    from arclink.export.exports import Exported
    from arclink.export.queries import ExportQuery
    from arclink.questions.asking import AskAnswer
    from arclink.subsets.catalog import StoredSubset, SubsetCatalog

Time = str | date | datetime
"""A time: 1 to 14 digits, ISO 8601, or a Python date or datetime; without a time zone it is UTC."""


class Within(TypedDict, total=False):
    """Keywords that select links by time and kind.

    Attributes:
        from_: Observed not before.
        to: Observed not after.
        kinds: ``navigation``, ``resources``, ``other``, ``all`` or a kind such as ``a@href``, or
            several of these. The default is all kinds; in graphs it is ``navigation``, the links
            that a reader can follow.
        redirects: ``yes``, ``no`` or ``only``.
    """

    from_: Time
    to: Time
    kinds: str | Sequence[str]
    redirects: str


class OfLinks(Within, total=False):
    """Keywords of `LinkGraph.outlinks` and `LinkGraph.inlinks`.

    Attributes:
        limit: Largest number of links; 0, the default, for all.
        evidence: Whether each link includes the archive file, offset and checksum of its mementos.
        validity: Whether each link includes the mementos between which it appeared and disappeared.
        filter: Only links whose field has a value, such as ``host:example.org``, or several such
            conditions.
        match_type: ``exact``, ``prefix``, ``host`` or ``domain``: links of many pages.
        follow: Whether to answer for the target of a page that is a redirect.
    """

    limit: int
    evidence: bool
    validity: bool
    filter: str | Sequence[str]
    match_type: str
    follow: bool


class OfRows(Within, total=False):
    """Keywords of `LinkGraph.anchors`.

    Attributes:
        by: ``day``, ``month``, ``year`` or ``host``, or a time and ``host`` with a comma.
        limit: Largest number of rows; 0, the default, for all.
    """

    by: str
    limit: int


class OfQuestion(Within, total=False):
    """Keywords of `LinkGraph.ask`.

    Attributes:
        scope: ``page``, ``prefix``, ``host``, ``domain`` or ``archive``.
        level: How pages are named in rows: ``uri``, ``host`` or ``domain``.
        by: ``day``, ``month``, ``year``, or windows of time such as ``2009-11,2010-01/2010-03``:
            rows for each; ``all`` for all time together.
        external: Whether only links from other sites count.
        words: The words that ``find`` finds.
        of: ``text`` or ``word``: what ``typical-words`` counts.
        limit: Largest number of rows about each address and period; 0, the default, for all.
    """

    scope: str
    level: str
    by: str
    external: bool
    words: str
    of: str
    limit: int


class OfGraph(Within, total=False):
    """Keywords of `LinkGraph.to_networkx` and `LinkGraph.to_pandas` (docs/reference/exports.md).

    Attributes:
        min_count: Smallest number of mementos of a link.
        top: Largest number of nodes.
        core: Smallest number of neighbours of each node.
        backbone: Largest significance of a link.
    """

    min_count: int
    top: int
    core: int
    backbone: float


class OfStream(TypedDict, total=False):
    """Keywords of `LinkGraph.stream` (``docs/how-to/streams.md``).

    Attributes:
        order: ``surt``, ``file``, ``time`` or ``rank``.
        part: Only the hosts of part K of N: ``3/16``.
        after: Token of the capture to continue after.
        limit: Largest number of captures; 0, the default, for all.
        cache: Folder for rank tables; by default next to a store that ``arclink.open`` opened.
    """

    order: str
    part: str
    after: str
    limit: int
    cache: str | PathLike[str]


class Links(ResultRows, Iterable[Member]):
    """The links of a URI in one direction, as `Member` objects.

    They are read from the store during iteration. Up to 10,000 links come once each, in the order
    of the command line, and are kept, so that `len` and a second iteration do not read them again.
    If the URI has more, they come in store order, a link that several contents have comes once per
    content (``docs/reference/service.md``, *Order and size of answers*), and there is no `len`.
    """

    def __init__(
        self, store: Scans, query: LinkQuery, limit: int | None, archive: str = ""
    ) -> None:
        self._store = store
        self._query = query
        self._limit = limit
        self._archive = archive

    def __iter__(self) -> Iterator[Member]:
        return islice(self._all(), self._limit)

    def __len__(self) -> int:
        if self.size is None:
            raise TypeError("more than 10,000 links: their number is known after they are read")
        return self.size

    def __bool__(self) -> bool:
        return any(True for _ in self)

    @property
    def title(self) -> str:
        query = self._query
        times = {"at": query.at, "from": query.span.first, "to": query.span.last}
        said = [
            f"{name} {date_and_time(time)}"
            for name, time in times.items()
            if time and time not in (ALL_TIME.first, ALL_TIME.last)
        ]
        if query.match_type is not MatchType.EXACT:
            said.append(f"({query.match_type.value})")
        return " ".join([f"{query.direction.value}links of {query.uri}", *said])

    @property
    def read_from(self) -> str:
        known = self.known
        unknown = known.why_unknown(when_asked(self._query))
        return known.read_from or (f"unknown: {unknown}" if unknown else "")

    @property
    def size(self) -> int | None:
        first = self._first
        count = sum(1 for _ in chain(first.outlinks, first.inlinks))
        if first.next is None:
            return min(count, self._limit or count)
        return self._limit if self._limit and self._limit <= count else None

    @property
    def known_by_day(self) -> Mapping[str, KnownLinks] | None:
        query = self._query
        if query.at is not None or query.match_type is not MatchType.EXACT:
            return None
        if query.direction.is_in:
            return self._store.days(query.span)
        reading = Reading(self._store, query)
        read = (one for one in reading.mementos() if reading.state_of(one) is State.READ)
        return {Period.DAY.of(one.timestamp): KnownLinks(1, 1) for one in read}

    @property
    def provenance(self) -> Provenance:
        return provenance_of(self._store, self._archive, self.title)

    @property
    def mementos(self) -> MementoSummary:
        """Counts of the captures of the URI, which distinguish "never captured" from "no links"."""
        return Reading(self._store, self._query).summary()

    @property
    def is_known(self) -> bool | None:
        """Whether the links are known: without any, True means no links, False means unknown.

        Outlinks are known if a capture of the URI at the time was read, inlinks if a capture of any
        page then was. None if that is not known. `known` has the numbers of captures.
        """
        return self.known.is_known

    @property
    def known(self) -> KnownLinks:
        """The captures from which "no links" is read: of the URI, or for inlinks of any page.

        An error or a redirect counts as read for inlinks: it has no links.
        """
        reading = Reading(self._store, self._query)
        if self._query.direction.is_in:
            return reading.known_inlinks()
        return reading.summary().known

    def as_rows(self, most: int | None = None) -> RowAnswer:
        """Return a row per link: its ends, fields and times, or the first ``most`` rows.

        Columns: source, target, uri, surt, kind, text, rel, first, last, mementos, timestamps,
        written. ``uri``, ``source`` and ``target`` are serialised like targets, so that frames can
        be joined on them; ``written`` is the URI as captured if it differs, else None. The page of
        the query is one node, whatever variant a link has.
        """
        is_out = self._query.direction.is_out
        return _links_as_rows(_link_row(self._query, one, is_out) for one in islice(self, most))

    @cached_property
    def _first(self) -> LinkAnswer:
        return answer_link_query(self._store, self._query)

    def _all(self) -> Iterator[Member]:
        for answer in self.answers():
            yield from answer.outlinks
            yield from answer.inlinks

    def answers(self) -> Iterator[LinkAnswer]:
        """Yield the answers with the links, like the pages of the service."""
        answer = self._first
        while True:
            yield answer
            if answer.next is None:
                return
            cursor = decode_cursor(answer.next, self._query.fingerprint)
            answer = answer_link_query(self._store, replace(self._query, cursor=cursor))


_LINK_COLUMNS = (
    *("source", "target", "uri", "surt", "kind", "text", "rel"),
    *("first", "last", "mementos", "timestamps", "written"),
)


def _links_as_rows(rows: Iterable[Row], *more: str) -> RowAnswer:
    types = {
        **dict.fromkeys((*_LINK_COLUMNS, *more), "string"),
        "mementos": "int64",
        "timestamps": "list<timestamp>",
    }
    shown = ("uri", "kind", "text", "first", "last", "mementos", *more)
    columns = (*_LINK_COLUMNS, *more)
    return RowAnswer({}, (), columns, {"links": [*rows]}, shown=shown, types=types)


def _link_row(query: LinkQuery, link: Member, is_out: bool) -> Row:
    other = printable_uri(link.serialised)
    is_one = query.match_type is MatchType.EXACT
    page = printable_uri(serialised(query.uri if is_one else link.variants[0]))
    source, target = (page, other) if is_out else (other, page)
    return {
        "source": source,
        "target": target,
        "uri": other,
        "surt": printable(link.surt),
        "kind": link.kind,
        "text": printable(link.text),
        "rel": None if link.rel is None else printable(link.rel),
        "first": link.timestamps[0],
        "last": link.timestamps[-1],
        "mementos": len(link.timestamps),
        "timestamps": link.timestamps,
        "written": None if link.serialised == link.uri else printable_uri(link.uri),
    }


class MergedLinks(ResultRows, Sequence[Member]):
    """The links of a URI in several archives, merged: its outlinks, then its inlinks.

    Attributes:
        answers: The answers that have them.
        archives: What became of the query to each archive.
        outlinks: Links of the page.
        inlinks: Links to the page.
    """

    def __init__(self, answers: Sequence[LinkAnswer], archives: Sequence[ArchiveReport]) -> None:
        self.answers = answers
        self.archives = archives
        self.outlinks = [link for answer in answers for link in answer.outlinks]
        self.inlinks = [link for answer in answers for link in answer.inlinks]
        self._links = [*self.outlinks, *self.inlinks]

    @overload
    def __getitem__(self, index: int) -> Member: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Member]: ...
    def __getitem__(self, index: int | slice) -> Member | Sequence[Member]:
        return self._links[index]

    def __len__(self) -> int:
        return len(self._links)

    @property
    def title(self) -> str:
        return f"links of {self.answers[0].query.uri}"

    @property
    def read_from(self) -> str:
        return "; ".join(archive_lines(self.archives))

    @property
    def known_by_day(self) -> None:
        return None

    @property
    def size(self) -> int:
        return len(self)

    def as_rows(self, most: int | None = None) -> RowAnswer:
        """Return a row per link, as `Links.as_rows`, and the names of its archives."""
        query = self.answers[0].query
        links = [*((one, True) for one in self.outlinks), *((one, False) for one in self.inlinks)]
        rows = (
            {
                **_link_row(query, link, is_out),
                "archives": ", ".join(link.archives.names) if link.archives else "",
            }
            for link, is_out in links[:most]
        )
        return _links_as_rows(rows, "archives")

    def to_rdf(self) -> "rdflib.Graph":
        """Return the links as an rdflib graph; each is a named node, and says its archives.

        Raises:
            UsageError: rdflib is not installed.
        """
        return _rdf_of(self.answers)


class Anchors(ResultRows, Sequence[Anchor]):
    """The texts of the links to a URI, by period, host, first seen and text.

    Its rows, unlike its items, include those of periods of which no links are known.

    Attributes:
        windows: What is known in each period, also in those without texts; empty if times are
            counted together, or if it is not known.
    """

    provenance: Provenance | None = None

    def __init__(self, answer: AnchorsAnswer, days: Mapping[str, KnownLinks] | None) -> None:
        self._anchors = answer.anchors
        self.windows = answer.windows
        self._days = days
        self._uri = answer.query.links.uri
        self._rows = ANCHORS.typed(anchors_as_rows(answer))

    @overload
    def __getitem__(self, index: int) -> Anchor: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Anchor]: ...
    def __getitem__(self, index: int | slice) -> Anchor | Sequence[Anchor]:
        return self._anchors[index]

    def __len__(self) -> int:
        return len(self._anchors)

    @property
    def title(self) -> str:
        return f"texts of links to {self._uri}"

    @property
    def read_from(self) -> str:
        return self._rows.lines[2]

    @property
    def known_by_day(self) -> Mapping[str, KnownLinks] | None:
        return self._days

    @property
    def size(self) -> int:
        return len(self)

    def as_rows(self, most: int | None = None) -> RowAnswer:
        """Return a row per text, with its counts and times, as in CSV (``arclink anchors``)."""
        return self._rows.first_rows(most)


@contextmanager
def _in_words_of_python() -> Iterator[None]:
    """Name parameters in errors as keywords of Python: ``from_``, ``min_count``, ``match_type``.

    Raises:
        BadParameterError: Such an error was raised.
    """
    try:
        yield
    except UnknownParameterError as error:
        names = [keyword(name) for name in error.names if name not in _NO_KEYWORDS]
        meant = get_close_matches(keyword(error.name), names, 1, 0.65)
        error.args = (
            f"{keyword(error.name)}: there is no such keyword"
            f"{f'; did you mean {meant[0]}?' if meant else '.'} Keywords: {', '.join(names)}",
        )
        raise
    except BadParameterError as error:
        text, name = str(error), error.name
        if text.startswith((f"{name}:", f"{name} ")):  # else another method has done it
            error.args = (keyword(name) + text.removeprefix(name),)
        raise


class LinkGraph(Methods, Closing):
    """A temporal link graph, at all times or at one time.

    Use it only in the thread that opened it. Close it, or use ``with``. Every ``uri`` may be
    written as users type it: any variant (``http`` or ``https``, with or without ``www.``) finds
    the page. Times and other parameters have the meaning of ``docs/reference/service.md``,
    *Parameters*. Wrong values raise `BadParameterError`, a `UsageError`.

    Args:
        store: The store to read; closing the graph closes it.
        at: Time whose state the graph shows; None for all times.
        archives: Where archive files are now, if they moved (`arclink.captures.archive_paths`).
        where: Path or URL of the store: its named subsets are stored next to it. Empty if it has
            no named subsets.

    Raises:
        UsageError: A location in ``archives`` does not exist.
    """

    def __init__(
        self,
        store: Scans,
        at: Time | None = None,
        archives: Sequence[str] = (),
        where: str = "",
    ) -> None:
        self.store = store
        self._where = where
        self._at = "" if at is None else _text_of_time(at)
        self._archives = tuple(archives)
        self._reader = PageReader(store, ArchivePaths(self._archives))

    def __repr__(self) -> str:
        return f"<LinkGraph at {self._at}>" if self._at else "<LinkGraph>"

    @_in_words_of_python()
    def at(self, time: Time) -> Self:
        """Return the graph at the end of ``time``: the links of the mementos in force.

        It uses the store of this graph.
        """
        graph = type(self)(self.store, time, self._archives, self._where)
        if graph._at:
            AT.read(graph._at)  # a wrong time is an error now, not at the first query
        return graph

    def subset(self, selection: str) -> Self:
        """Return the graph of a subset: only links that its captures show.

        It uses the store of this graph.

        Args:
            selection: A selection such as ``domain:gov and from:2001``, or the name of a subset of
                the store (``docs/reference/subsets.md``).

        Raises:
            UsageError: There is no such subset, or the selection cannot be read.
        """
        from arclink.subsets.opener import narrowed

        store = narrowed(self.store, self._where, selection)
        return type(self)(store, self._at or None, self._archives, self._where)

    def select(self, name: str, selection: str, *, keep: bool = False) -> "StoredSubset":
        """Store a selection of captures under a name; it replaces a subset of that name.

        Args:
            name: The name, which `subset` takes.
            selection: Such as ``domain:gov and from:2001`` (``docs/reference/subsets.md``).
            keep: Whether to store the list of captures as it is now; otherwise the subset changes
                with the store.

        Raises:
            UsageError: The name or the selection cannot be read, or the graph has no path.
            OperatorError: The subset cannot be written.
        """
        from arclink.subsets.language import parse_selection

        return self._subsets().put(self.store.whole, name, parse_selection(selection), keep=keep)

    def subsets(self) -> "list[StoredSubset]":
        """Return the named subsets of the store, by name.

        Raises:
            UsageError: The graph has no path.
            StoreError: One of them cannot be read.
        """
        return [*self._subsets()]

    def _subsets(self) -> "SubsetCatalog":
        from arclink.subsets.catalog import SubsetCatalog

        if not self._where:
            raise UsageError("subsets: only for a graph that was opened with arclink.open")
        return SubsetCatalog(self._where)

    def sql(self, query: str) -> "arrow.Table":
        """Return the answer of SQL over the captures and links of this graph.

        The tables ``captures`` and ``links`` (``docs/reference/relations.md``) are made on first
        use, and kept next to the store. pandas and polars take the result, and everything else
        with ``__arrow_c_stream__``: ``graph.sql("FROM captures").to_pandas()``.

        Args:
            query: One query, such as ``SELECT``. It can only read the two tables.

        Raises:
            UsageError: The query is wrong, the graph shows one time, or it has no path.
            OperatorError: The tables cannot be written.
        """
        self._check_tables("sql")
        with analysis_extra():
            from arclink.relations.database import SqlDatabase
        with SqlDatabase(self._where, self.store) as database:
            return database.answer(query)

    @_in_words_of_python()
    def ask(self, question: str, *uris: str, **parameters: Unpack[OfQuestion]) -> "AskAnswer":
        """Return the answer to a question about pages, sites or the whole archive.

        ``graph.ask("linkers", "*.example.org", by="year").to_pandas()`` says who linked to a site.
        Answers are read from the same tables as `sql`.

        Args:
            question: Its name (``docs/reference/questions.md``).
            *uris: What it is about: ``http://example.org/page``, ``http://example.org/news/*`` or
                ``*.example.org``; several for a row about each; none for the whole archive.
            **parameters: See `OfQuestion`.

        Raises:
            BadParameterError: There is no such question, or a parameter is wrong.
            UsageError: The graph shows one time, or it has no path.
            OperatorError: The tables cannot be written.
        """
        self._check_tables("ask")
        check_question(question)
        given = self._given({"uri": uris, "limit": 0, **parameters}, ASK_PARAMETERS)
        query = AskQuery.of(given, name=question)
        with analysis_extra():
            from arclink.questions.asking import ask
            from arclink.relations.database import ShownRelations
        with ShownRelations(self._where, self.store) as database:
            found = ask(database, query)
        name = name_of_store(self._where)
        return said_from(found, self.store, name, self._with_subset(given))

    @_in_words_of_python()
    def outlinks(self, uri: str, **parameters: Unpack[OfLinks]) -> Links:
        """Return the links of a page, with the mementos that show them.

        Args:
            uri: The URI of the page.
            **parameters: See `OfLinks`.

        Raises:
            BadParameterError: A parameter is wrong.
        """
        return self._links(uri, Direction.OUT, parameters)

    @_in_words_of_python()
    def inlinks(self, uri: str, **parameters: Unpack[OfLinks]) -> Links:
        """Return the links to a page, which may never have been captured itself; see `outlinks`."""
        return self._links(uri, Direction.IN, parameters)

    @_in_words_of_python()
    def anchors(  # type: ignore[override]  # its rows are tuples
        self, uri: str, **parameters: Unpack[OfRows]
    ) -> Anchors:
        """Return the texts of the links to a page, counted over all its inlinks.

        Args:
            uri: The URI of the page.
            **parameters: See `OfRows`.

        Raises:
            BadParameterError: A parameter is wrong.
        """
        query = AnchorsQuery.from_parameters(self._written({"uri": uri, "limit": 0, **parameters}))
        links = query.links
        days = self.store.days(links.span) if links.at is None else None
        found = Anchors(answer_anchors(self.store, query, UNLIMITED), days)
        found.provenance = provenance_of(self.store, name_of_store(self._where), found.title)
        return found

    @_in_words_of_python()
    def mementos(self, uri: str, from_: Time = "", to: Time = "") -> Iterator[Memento]:
        """Yield the captures of a page, oldest first; in a graph at a time, those not after it.

        Raises:
            BadParameterError: ``uri`` is not a URI, or a time is not valid.
        """
        if self._at and (from_ or to):
            raise ConflictError("at", self._at, AT_OR_SPAN)
        span = requested_span(_text_of_time(from_), _text_of_time(to) or self._at)
        return self._mementos(uri, span)

    @_in_words_of_python()
    def timemap(self, uri: str, from_: Time = "") -> TimeMap:
        """Return up to 10,000 mementos of a page from a time on, oldest first.

        Its ``following`` is the time of the first one that is left out.

        Raises:
            BadParameterError: ``uri`` is not a URI, or ``from_`` is not a time.
        """
        return read_timemap(self.store, uri, requested_span(_text_of_time(from_), "").first)

    @_in_words_of_python()
    def explain(self, uri: str, from_: Time = "", to: Time = "") -> Iterator[Explanation]:
        """Yield what happened to each capture of a page, and why, oldest first.

        Raises:
            BadParameterError: ``uri`` is not a URI, or a time is not valid.
        """
        return explain(
            self.store, uri, requested_span(_text_of_time(from_), _text_of_time(to) or self._at)
        )

    @_in_words_of_python()
    def get(self, uri: str, at: Time | None = None) -> CapturedPage:
        """Return a capture of a page as archived: status, headers and body.

        Use it before the next call, or close it.

        Args:
            uri: The URI of the page, or the checksum of a payload (``sha1:…``).
            at: The capture in force at the end of this time is returned; by default, at the time of
                the graph, or else the newest capture.

        Raises:
            BadParameterError: ``uri`` is not a URI, or ``at`` is not a time.
            CaptureError: There is no such capture, or its archive file or payload is not available.
        """
        return self._reader.read(find_capture(self.store, uri, _text_of_time(at or self._at)))

    @_in_words_of_python()
    def stream(self, **parameters: Unpack[OfStream]) -> "CaptureStream":
        """Return every capture of the graph with its bytes, each once; read one before the next.

        Each capture has a token, ``after``; a stream with this token continues after it, in any
        process. At the end, ``end()`` of the stream says whether it is complete. Captures whose
        ``read`` fails are counted there only if the caller reports them with ``lose``.

        Args:
            **parameters: See `OfStream`.

        Raises:
            BadParameterError: A parameter is wrong, the token is damaged or of another stream, or
                there is no folder for rank tables.
            GoneError: The rank table of the token was removed.
            UsageError: The graph shows one time only (`at`).
        """
        from arclink.analysis.slice_cache import cache_of
        from arclink.captures.queries import StreamQuery
        from arclink.captures.ranks import RankTables
        from arclink.captures.stream import CaptureStream

        if self._at:
            raise UsageError("a stream has the captures of all times; use a graph without at")
        cache = parameters.pop("cache", None)
        query = StreamQuery.from_parameters(
            (name, str(value)) for name, value in parameters.items() if value not in (None, "")
        )
        tables = RankTables(
            Path(cache) if cache else cache_of(self._where) if self._where else None,
            self._where,
        )
        return CaptureStream(self.store, self._reader, query, tables=tables)

    @_in_words_of_python()
    def to_networkx(self, level: str = "host", **parameters: Unpack[OfGraph]) -> "nx.DiGraph":
        """Return the graph of all links at a level.

        Nodes are URIs (with their ``surt``), hosts or domains, and have the attributes of
        `arclink.export.node_facts.NodeFacts`. Links have ``weight`` (number of mementos that show
        the link), ``first`` and ``last`` (14 digits). The whole graph is held in memory.

        Args:
            level: ``uri``, ``host`` or ``domain``.
            **parameters: See `OfGraph`.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: networkx is not installed.
        """
        from arclink.export.markup import links_of, nodes_of
        from arclink.export.node_facts import facts_of

        with analysis_extra():
            import networkx as nx
        graph = nx.DiGraph()
        with self._picture(level, parameters) as picture:
            names = []
            for (_, name, label), facts in zip(nodes_of(picture), facts_of(picture), strict=True):
                names.append(label)
                surt = {"surt": name} if level == "uri" else {}
                graph.add_node(label, **surt, **facts.attributes)
            for source, target, mementos, first, last in links_of(picture.links):
                graph.add_edge(
                    names[source],
                    names[target],
                    weight=mementos,
                    first=f"{first:014d}",
                    last=f"{last:014d}",
                )
        return graph

    @_in_words_of_python()
    def to_pandas(self, level: str = "host", **parameters: Unpack[OfGraph]) -> "pd.DataFrame":
        """Return a row per link between nodes: source, target, mementos, first, last (UTC).

        See `to_networkx`.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: pandas is not installed.
        """
        from arclink.export.markup import links_of, nodes_of

        with self._picture(level, parameters) as picture:
            names = [label for _, _, label in nodes_of(picture)]
            rows = [
                {
                    "source": names[source],
                    "target": names[target],
                    "mementos": mementos,
                    "first": f"{first:014d}",
                    "last": f"{last:014d}",
                }
                for source, target, mementos, first, last in links_of(picture.links)
            ]
        columns = ("source", "target", "mementos", "first", "last")
        types = {"source": "string", "target": "string", "mementos": "int64"}
        return frame_of(table_of(RowAnswer({}, (), columns, {"links": rows}, types=types)))

    @_in_words_of_python()
    def export(self, path: str | PathLike[str], format: str, **parameters: Any) -> "Exported":  # noqa: A002  # the option's name
        """Write the graph to a file with a manifest (``docs/reference/exports.md``).

        Args:
            path: The path of the file; an existing file is replaced. With ``weblab``, ``cc-index``
                and ``arch`` the path of a new folder.
            format: ``parquet``, ``csv``, ``csv-images``, ``nquads``, ``graphml``, ``gexf``,
                ``arcs``, ``weblab``, ``duckdb``, ``cc-index`` or ``arch``.
            **parameters: Options of that command, with ``_`` for ``-``: ``level``, ``from_``,
                ``to``, ``min_count`` …

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: A package that the format needs is not installed.
            ExportError: The file cannot be written, or the graph is too large for the format's
                tools.
        """
        from arclink.export.exports import export

        return export(
            self.store,
            self._export_query(format, parameters.pop("level", ""), parameters),
            Path(path),
            self._where,
        )

    @_in_words_of_python()
    def export_captures(
        self,
        path: str | PathLike[str],
        format: str = "warc",  # noqa: A002  # the option's name
        **parameters: Any,
    ) -> "TakenAway":
        """Write the captures themselves to files with a manifest (``docs/how-to/take-away.md``).

        Args:
            path: The path of the file; existing files are replaced.
            format: ``warc``, ``wacz``, ``cdxj``, ``captures`` or ``captures-csv``.
            **parameters: Options of that command, with ``_`` for ``-``: ``from_``, ``to``,
                ``file_size``, ``check``.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: The name of the file does not fit the format, or a package that the format
                needs is not installed.
            ExportError: The file cannot be written, or no capture can be read.
        """
        from arclink.captures.export import Source
        from arclink.captures.queries import TakeAwayQuery
        from arclink.captures.write import take_away

        if self._at and not {"from_", "to"} & set(parameters):
            parameters["to"] = self._at
        given = list(pairs({"format": format, **parameters}))
        source = Source(self.store, ArchivePaths(self._archives))
        return take_away(source, TakeAwayQuery.from_parameters(given), Path(path))

    @_in_words_of_python()
    def to_rdf(self, uri: str = "", **parameters: Unpack[OfLinks]) -> "rdflib.Graph":
        """Return links as an rdflib graph, held in memory; each link is a named node.

        The graphs of two archives merge by union (RDF profile ``links``,
        ``docs/reference/service.md``).

        Args:
            uri: The links of this page, in both directions; without it, every link of the store.
            **parameters: See `OfLinks`; only with a URI.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: rdflib is not installed, or there are parameters without a URI.
        """
        graph = _empty_rdf()
        if "limit" in parameters:
            raise ConflictError(
                "limit", str(parameters["limit"]), "cannot be used here: the graph has all links"
            )
        if parameters and not uri:
            raise UsageError(f"{', '.join(sorted(parameters))}: only with a URI")
        if uri:
            links = self.outlinks(uri, **parameters), self.inlinks(uri, **parameters)
            return _rdf_of(answer for one in links for answer in one.answers())
        with TemporaryDirectory() as folder:
            path = Path(folder, "links.nq")
            self.export(path, "nquads")
            with path.open("rb") as file:
                graph.parse(file, format="ntriples")
        return graph

    def stats(self) -> StoreStats:
        """Return counts over the whole store. This reads much of the store and may take long."""
        return self.store.stats()

    def close(self) -> None:
        """Close the store, and the archive files that were read."""
        self._reader.close()
        self.store.close()

    def _picture(
        self, level: str, given: Mapping[str, object]
    ) -> "AbstractContextManager[Picture]":
        from arclink.export.exports import picture_of

        query = self._export_query("graphml", level, given)
        return picture_of(self.store, query, where=self._where)

    def _export_query(self, form: str, level: str, given: Mapping[str, object]) -> "ExportQuery":
        from arclink.export.queries import ExportQuery

        return ExportQuery.from_parameters(self._written({"format": form, "level": level, **given}))

    def _check_tables(self, name: str) -> None:
        if not self._where or self._at:
            why = "only for a graph of all times that was opened with arclink.open"
            raise UsageError(f"{name}: {why}")

    def _links(self, uri: str, direction: Direction, parameters: Mapping[str, object]) -> Links:
        asked = dict(parameters)
        limit = asked.pop("limit", 0)
        if not isinstance(limit, int) or limit < 0:
            raise BadParameterError("limit", str(limit), "a number of links, or 0 for all")
        if "direction" in asked:
            raise BadParameterError(
                "direction", str(asked["direction"]), "no direction: call outlinks or inlinks"
            )
        given = self._written({"uri": uri, **asked})
        query = LinkQuery.from_parameters(given, direction=direction, limit=MOST_MEMBERS)
        return Links(self.store, query, limit or None, name_of_store(self._where))

    def _mementos(self, uri: str, span: Span) -> Iterator[Memento]:
        return self.store.mementos(surt_asked("uri", uri), span)

    @_in_words_of_python()
    def _answer(self, one: Capability[Any], given: Mapping[str, object]) -> RowResult:
        """Return the answer of a capability to keywords; the methods of `Methods` call it."""
        from arclink.analysis.slice_cache import cache_of

        written = self._given(given, one.query.DECLARED)
        cache = cache_of(self._where) if self._where else None
        asked = ToAnswer(
            self.store,
            one.query.of(written),
            UNLIMITED,
            where=self._where,
            cache=cache,
            archive=name_of_store(self._where),
        )
        return RowResult(one.name, one.rows(asked, self._with_subset(written)))

    def _given(self, given: Mapping[str, object], declared: Sequence[AnyParameter]) -> Given:
        return sort_out(self._written(given), declared)

    def _with_subset(self, given: Given) -> Given:
        """Return a question with the subset of this graph, as other doors have it."""
        subset = (self.store.selection,) if self.store.selection else ()
        return Given({**given.texts, **({SUBSET.name: subset} if subset else {})})

    def _written(self, given: Mapping[str, object]) -> list[tuple[str, str]]:
        """Return keywords as parameters of the command line and of the service."""
        return [*([("at", self._at)] if self._at else []), *pairs(given)]


def _empty_rdf() -> "rdflib.Graph":
    try:
        import rdflib
    except ImportError as error:
        raise UsageError("rdflib is not installed: pip install 'arclink[rdf]'") from error
    return rdflib.Graph()


def _rdf_of(answers: Iterable[LinkAnswer]) -> "rdflib.Graph":
    graph = _empty_rdf()
    for answer in answers:
        graph.parse(data=b"".join(write_ntriples(answer, Profile.LINKS)), format="ntriples")
    return graph


_NAMES = {"match_type": MATCH_TYPE.name}
"""Names of parameters that do not follow from the keywords."""


def aggregate(
    uri: str,
    archives: Mapping[str, str | bytes | PathLike[str]],
    seconds: float = 20.0,
    **parameters: Unpack[Within],
) -> MergedLinks:
    """Return the links of a page in several archives, merged link by link.

    Args:
        uri: The URI of the page.
        archives: By the name of each archive: the URL of an ArcLink service or of another service
            that answers ``/LinkService/linkQuery?uri=``; the URL of any link query with ``{uri}``;
            the path of a file with an answer; or the answer itself, as bytes (RDF/XML).
        seconds: Maximum time for all services.
        **parameters: See `Within`.

    Raises:
        BadParameterError: A parameter is wrong.
        UsageError: An archive is neither a URL nor a file nor bytes.
        InstanceError: No archive answered; the text says why. If some did not, `archives` of the
            result says why.
    """
    from arclink.federation.instances import Instance, parse_instances, parse_name
    from arclink.federation.limits import QueryLimits
    from arclink.federation.merge import merge
    from arclink.federation.merged_answers import MergedQuery, answer_of
    from arclink.federation.requests import Asking

    instances = [
        Instance(parse_name("archives", name), f"bytes of {name}", where)
        if isinstance(where, bytes)
        else parse_instances([f"{name}={fspath(where)}"])[0]
        for name, where in archives.items()
    ]
    with _in_words_of_python():
        given = [*pairs({"uri": uri, "limit": MOST_MEMBERS, **parameters})]
        asked = MergedQuery.from_parameters(given)
    limits = QueryLimits(instance_seconds=seconds, whole_seconds=seconds)
    found = Asking(instances, limits).ask(asked.query)
    reports = [report for _, report in found]
    if not any(report.has_answered for report in reports):
        raise InstanceError(f"no archive answered: {'; '.join(archive_lines(reports))}")
    merged = merge(findings for findings, _ in found)
    answers = [answer_of(merged, asked, reports)]
    while cursor := answers[-1].next:
        following = MergedQuery.from_parameters([*given, ("cursor", cursor)])
        answers.append(answer_of(merged, following, reports))
    return MergedLinks(answers, reports)


_NO_KEYWORDS = frozenset({"uri", "url", "at", "kind", "direction", "cursor", "format", "as"})
"""Names of parameters that are arguments of their own in Python, have another name, or none."""


def pairs(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield keywords as names and texts of parameters; those without a value are left out."""
    for name, value in given.items():
        values = value if isinstance(value, list | tuple | set | frozenset) else [value]
        written = _NAMES.get(name, name.removesuffix("_").replace("_", "-"))
        yield from ((written, _written(one)) for one in values if one not in ("", None))


def _text_of_time(time: Time) -> str:
    """Return a time as text for a parameter.

    >>> _text_of_time(date(2010, 2, 12)), _text_of_time("201002")
    ('2010-02-12', '201002')
    """
    return time if isinstance(time, str) else time.isoformat()


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _text_of_time(value) if isinstance(value, date) else str(value)
