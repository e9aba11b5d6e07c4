"""The Python interface: ``arclink.open("links.db")`` returns a `LinkGraph`.

A `LinkGraph` has the queries of the command line and of the service, with the same names and
parameters (``docs/reference/service.md``). Only ``from``, a keyword of Python, is ``from_`` here.
Answers are complete unless ``limit`` is given. Functions that return objects of other libraries
import these when they are called: networkx, pandas and pyarrow are in the extra ``analysis``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from arclink.access.answers import LinkAnswer, answer_link_query
from arclink.access.archives import ArchiveReport
from arclink.access.capabilities import (
    Capability,
    Place,
    Time,
    ToAnswer,
    in_words_of_python,
    pairs,
    takes,
    text_of,
)
from arclink.access.cursors import decode_cursor
from arclink.access.declarations import (
    AT,
    AT_OR_SPAN,
    LIMIT,
    NOTHING_GIVEN,
    SQL,
    SUBSET,
    AnyParameter,
    Given,
    sort_out,
)
from arclink.access.evidence import EXPLAIN_PARAMETERS, Explanation, explain
from arclink.access.formats import Profile
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.formats.statements import write_ntriples
from arclink.access.formats.table import archive_lines, check_answered, date_and_time, when_asked
from arclink.access.methods import Methods
from arclink.access.provenance import Provenance, links_said_from, provenance_of
from arclink.access.queries import (
    CURSOR,
    DIRECTION,
    LINK_PARAMETERS,
    MOST_MEMBERS,
    ConflictError,
    Direction,
    LinkQuery,
    MatchType,
    requested_span,
    surt_asked,
)
from arclink.access.queries import LIMIT as OF_PAGE
from arclink.access.reader import UNLIMITED, Member, MementoSummary, Reading, State
from arclink.access.tallies import Period, RowQuery
from arclink.access.texts import counted, printable, printable_uri
from arclink.access.timemaps import TimeMap, read_timemap
from arclink.analysis.charts.results import ListedRows, ResultRows, RowResult, frame_of, table_of
from arclink.analysis.export.queries import EXPORT_PARAMETERS, FORMAT, SPELLS, ExportQuery
from arclink.analysis.questions.queries import (
    ADDRESSES,
    ASK_PARAMETERS,
    AskQuery,
    question_asked,
    question_behind,
)
from arclink.analysis.questions.rows import ask_as_rows, said_from
from arclink.captures.locate import find_capture
from arclink.captures.queries import (
    FORM,
    STREAM_PARAMETERS,
    TAKE_AWAY_PARAMETERS,
    StreamQuery,
    TakeAwayQuery,
)
from arclink.captures.read import CapturedPage, PageReader
from arclink.closing import Closing
from arclink.errors import UsageError
from arclink.extras import analysis_extra
from arclink.known import KnownLinks
from arclink.model import ALL_TIME, Memento, Span
from arclink.store.archive_paths import ArchivePaths
from arclink.store.location import name_of_store
from arclink.store.protocols import Scans, StoreStats
from arclink.uris.resolution import serialised

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import networkx as nx
    import pandas as pd
    import pyarrow as arrow
    import rdflib

    from arclink.analysis.export.exports import Exported
    from arclink.analysis.export.graphs import Picture
    from arclink.analysis.questions.asking import AskAnswer
    from arclink.analysis.questions.merged import AskedRows, MergedQuestion
    from arclink.analysis.relations.answers import SqlAnswer
    from arclink.analysis.relations.database import SqlDatabase
    from arclink.captures.stream import CaptureStream
    from arclink.captures.subsets.catalog import StoredSubset, SubsetCatalog
    from arclink.captures.write import TakenAway
    from arclink.others.federation.requests import Asking

_LINKS: tuple[AnyParameter, ...] = (
    *(one for one in LINK_PARAMETERS if one not in (DIRECTION, OF_PAGE, CURSOR)),
    LIMIT,
)
"""The parameters of links in one direction, in Python of any number."""


class Links(ResultRows, Iterable[Member]):
    """The links of a URI in one direction, as `Member` objects.

    They are read from the store during iteration. Up to 10,000 links come once each, in the order
    of the command line, and are kept, so that `len` and a second iteration do not read them again.
    If the URI has more, they come in store order, a link that several contents have comes once per
    content (``docs/reference/service.md``, *Order and size of answers*), and there is no `len`.
    """

    def __init__(
        self,
        store: Scans,
        query: LinkQuery,
        limit: int | None,
        archive: str = "",
        given: Given = NOTHING_GIVEN,
    ) -> None:
        self._store = store
        self._query = query
        self._limit = limit
        self._archive = archive
        self._given = given

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
        more = {DIRECTION.name: self._query.direction.value, LIMIT.name: str(self._limit or 0)}
        given = Given({**self._given.texts, **{name: (text,) for name, text in more.items()}})
        return links_said_from(self._store, self._archive, given)

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


class MergedLinks(ListedRows[Member]):
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
        super().__init__([*self.outlinks, *self.inlinks])

    @property
    def title(self) -> str:
        return f"links of {self.answers[0].query.uri}"

    @property
    def read_from(self) -> str:
        return "; ".join(archive_lines(self.archives))

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

    def to_rdf(self) -> rdflib.Graph:
        """Return the links as an rdflib graph; each is a named node, and says its archives.

        Raises:
            UsageError: rdflib is not installed.
        """
        return _rdf_of(self.answers)


class LinkGraph(Methods, Closing):
    """A temporal link graph, at all times or at one time.

    Use it only in the thread that opened it. Close it, or use ``with``. Every ``uri`` may be
    written as users type it: any variant (``http`` or ``https``, with or without ``www.``) finds
    the page. Times and other parameters have the meaning of ``docs/reference/service.md``,
    *Parameters*. Wrong values raise `BadParameterError`, a `UsageError`.

    Args:
        store: The store to read; closing the graph closes it.
        at: Time whose state the graph shows; None for all times.
        archives: Where archive files are now, if they moved (`arclink.store.archive_paths`).
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
        self._at = "" if at is None else text_of(at)
        self._archives = tuple(archives)
        self._reader = PageReader(store, ArchivePaths(self._archives))

    def __repr__(self) -> str:
        return f"<LinkGraph at {self._at}>" if self._at else "<LinkGraph>"

    @in_words_of_python(AT)
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
        from arclink.captures.subsets.catalog import narrowed

        store = narrowed(self.store, self._where, selection)
        return type(self)(store, self._at or None, self._archives, self._where)

    def select(self, name: str, selection: str, *, keep: bool = False) -> StoredSubset:
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
        from arclink.captures.subsets.language import parse_selection

        return self._subsets().put(self.store.whole, name, parse_selection(selection), keep=keep)

    def subsets(self) -> list[StoredSubset]:
        """Return the named subsets of the store, by name.

        Raises:
            UsageError: The graph has no path.
            StoreError: One of them cannot be read.
        """
        return [*self._subsets()]

    def _subsets(self) -> SubsetCatalog:
        from arclink.captures.subsets.catalog import SubsetCatalog

        if not self._where:
            raise UsageError("subsets: only for a graph that was opened with arclink.open")
        return SubsetCatalog(self._where)

    def sql(self, query: str) -> SqlAnswer:
        """Return the answer of SQL over the captures and links of this graph, held in memory.

        The tables ``captures`` and ``links`` (``docs/reference/relations.md``) are made on first
        use, and kept next to the store: ``graph.sql("FROM captures").to_pandas()``.

        Args:
            query: One query, such as ``SELECT``. It can only read the two tables.

        Raises:
            UsageError: The query is wrong, the graph shows one time, or it has no path.
            OperatorError: The tables cannot be written.
        """
        from arclink.analysis.relations.answers import SqlAnswer

        archive, asked = name_of_store(self._where), Given({SQL.name: (query,)})
        with self._sql() as database:
            with self.store.snapshot():  # of the tables, which were brought up to date just now
                read_from = self.store.known().read_from
                origin = provenance_of(self.store, archive, "sql", asked, (SQL, SUBSET))
            return SqlAnswer(query, database.answer(query), read_from, origin)

    def sql_batches(self, query: str) -> Iterator[arrow.RecordBatch]:
        """Yield the rows of `sql` as Arrow record batches, for an answer larger than the memory.

        Raises:
            UsageError: See `sql`.
            OperatorError: See `sql`.
        """
        with self._sql() as database, database.reading(query) as rows:
            import pyarrow as arrow

            from arclink.analysis.relations.answers import with_one_time

            for batch in rows:
                yield from with_one_time(arrow.Table.from_batches([batch])).to_batches()

    def _sql(self) -> SqlDatabase:
        self._check_tables("sql")
        with analysis_extra():
            from arclink.analysis.relations.database import SqlDatabase
        return SqlDatabase(self._where, self.store)

    @takes(*ASK_PARAMETERS, but=(ADDRESSES,))
    def _ask(self, question: str, *uris: str, **given: Any) -> AskAnswer:
        """Return the answer to a question about pages, sites or the whole archive.

        ``graph.ask("linkers", "*.example.org", by="year").to_pandas()`` says who linked to a site.
        Answers are read from the same tables as `sql`.

        Args:
            question: Its name (``docs/reference/questions.md``).
            uris: What it is about: ``http://example.org/page``, ``http://example.org/news/*`` or
                ``*.example.org``; several for a row about each; none for the whole archive.

        Raises:
            BadParameterError: There is no such question, or a parameter is wrong.
            UsageError: The graph shows one time, or it has no path.
            OperatorError: The tables cannot be written.
        """
        name = question_asked(question)
        asked = self._given({"uri": uris, **given}, ASK_PARAMETERS)
        return self._answered(AskQuery.of(asked, name=name), asked)

    def _answered(self, query: AskQuery, given: Given) -> AskAnswer:
        self._check_tables("ask")
        with analysis_extra():
            from arclink.analysis.questions.asking import ask
            from arclink.analysis.relations.database import ShownRelations
        texts = query.question.is_of_texts
        with ShownRelations(self._where, self.store, with_texts=texts) as database:
            found = ask(database, query)
        name = name_of_store(self._where)
        return said_from(found, self.store, name, given)

    def ask_as_archive(self, name: str, question: MergedQuestion) -> AskedRows:
        """Return the answer to a question to several archives, of which this graph is one."""
        from arclink.analysis.questions.merged import as_asked
        from arclink.others.federation.instances import parse_name

        return as_asked(
            parse_name("archives", name), self._answered(question.query, question.given), question
        )

    @takes(*_LINKS)
    def _outlinks(self, uri: str, **given: Any) -> Links:
        """Return the links of a page, with the mementos that show them.

        Raises:
            BadParameterError: A parameter is wrong.
        """
        return self._links(uri, Direction.OUT, given)

    @takes(*_LINKS)
    def _inlinks(self, uri: str, **given: Any) -> Links:
        """Return the links to a page, which may never have been captured itself.

        Raises:
            BadParameterError: A parameter is wrong.
        """
        return self._links(uri, Direction.IN, given)

    @in_words_of_python(*EXPLAIN_PARAMETERS)
    def mementos(self, uri: str, from_: Time = "", to: Time = "") -> Iterator[Memento]:
        """Yield the captures of a page, oldest first; in a graph at a time, those not after it.

        Raises:
            BadParameterError: ``uri`` is not a URI, or a time is not valid.
        """
        if self._at and (from_ or to):
            raise ConflictError("at", self._at, AT_OR_SPAN)
        span = requested_span(text_of(from_), text_of(to) or self._at)
        return self._mementos(uri, span)

    @in_words_of_python(*EXPLAIN_PARAMETERS)
    def timemap(self, uri: str, from_: Time = "") -> TimeMap:
        """Return up to 10,000 mementos of a page from a time on, oldest first.

        Its ``following`` is the time of the first one that is left out.

        Raises:
            BadParameterError: ``uri`` is not a URI, or ``from_`` is not a time.
        """
        return read_timemap(self.store, uri, requested_span(text_of(from_), "").first)

    @in_words_of_python(*EXPLAIN_PARAMETERS)
    def explain(self, uri: str, from_: Time = "", to: Time = "") -> Iterator[Explanation]:
        """Yield what happened to each capture of a page, and why, oldest first.

        Raises:
            BadParameterError: ``uri`` is not a URI, or a time is not valid.
        """
        return explain(self.store, uri, requested_span(text_of(from_), text_of(to) or self._at))

    @in_words_of_python(AT)
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
        return self._reader.read(find_capture(self.store, uri, text_of(at or self._at)))

    @takes(*STREAM_PARAMETERS, but=(FORM,))
    def _stream(self, *, cache: Place | None = None, **given: Any) -> CaptureStream:
        """Return every capture of the graph with its bytes, each once; read one before the next.

        Each capture has a token, ``after``; a stream with this token continues after it, in any
        process. At the end, ``end()`` of the stream says whether it is complete. Captures whose
        ``read`` fails are counted there only if the caller reports them with ``lose``.

        Args:
            cache: Folder for rank tables; by default next to a store that ``arclink.open`` opened.

        Raises:
            BadParameterError: A parameter is wrong, the token is damaged or of another stream, or
                there is no folder for rank tables.
            GoneError: The rank table of the token was removed.
            UsageError: The graph shows one time only (`at`).
        """
        from arclink.analysis.matrices.slice_cache import cache_of
        from arclink.captures.ranks import RankTables
        from arclink.captures.stream import CaptureStream

        if self._at:
            raise UsageError("a stream has the captures of all times; use a graph without at")
        query = StreamQuery.from_parameters(pairs(given, STREAM_PARAMETERS))
        tables = RankTables(
            Path(cache) if cache else cache_of(self._where) if self._where else None,
            self._where,
        )
        return CaptureStream(self.store, self._reader, query, tables=tables)

    @takes(*EXPORT_PARAMETERS, but=(FORMAT, SPELLS))
    def _to_networkx(self, level: str = "host", **given: Any) -> nx.DiGraph:
        """Return the graph of all links at a level.

        Nodes are URIs (with their ``surt``), hosts or domains, and have the attributes of
        `arclink.analysis.export.graphs.NodeFacts`. Links have ``weight`` (number of mementos that
        show the link), ``first`` and ``last`` (14 digits). The whole graph is held in memory.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: networkx is not installed.
        """
        from arclink.analysis.export.graphs import facts_of, links_of, nodes_of

        with analysis_extra():
            import networkx as nx
        graph = nx.DiGraph()
        with self._picture(level, given) as picture:
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

    @takes(*EXPORT_PARAMETERS, but=(FORMAT, SPELLS))
    def _to_pandas(self, level: str = "host", **given: Any) -> pd.DataFrame:
        """Return a row per link between nodes: source, target, mementos, first, last (UTC).

        See `to_networkx`.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: pandas is not installed.
        """
        from arclink.analysis.export.graphs import links_of, nodes_of

        with self._picture(level, given) as picture:
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

    @takes(*EXPORT_PARAMETERS)
    def _export(self, path: Place, format: str, **given: Any) -> Exported:  # noqa: A002  # the option's name
        """Write the graph to a file with a manifest (``docs/reference/exports.md``).

        Args:
            path: The path of the file; an existing file is replaced. With ``weblab``, ``cc-index``
                and ``arch`` the path of a new folder.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: A package that the format needs is not installed.
            ExportError: The file cannot be written, or the graph is too large for the format's
                tools.
        """
        from arclink.analysis.export.exports import export

        return export(self.store, self._export_query(format, given), Path(path), self._where)

    @takes(*TAKE_AWAY_PARAMETERS)
    def _export_captures(
        self,
        path: Place,
        format: str = "warc",  # noqa: A002  # the option's name
        **given: Any,
    ) -> TakenAway:
        """Write the captures themselves to files with a manifest (``docs/how-to/take-away.md``).

        Args:
            path: The path of the file; existing files are replaced.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: The name of the file does not fit the format, or a package that the format
                needs is not installed.
            ExportError: The file cannot be written, or no capture can be read.
        """
        from arclink.captures.export import Source
        from arclink.captures.write import take_away

        if self._at and not {"from_", "to"} & {*given}:
            given["to"] = self._at
        asked = pairs({"format": format, **given}, TAKE_AWAY_PARAMETERS)
        name = name_of_store(self._where)
        source = Source(self.store, ArchivePaths(self._archives), archive=name)
        return take_away(source, TakeAwayQuery.from_parameters(asked), Path(path))

    @takes(*_LINKS, but=(LIMIT,))
    def _to_rdf(self, uri: str = "", **given: Any) -> rdflib.Graph:
        """Return links as an rdflib graph, held in memory; each link is a named node.

        The graphs of two archives merge by union (RDF profile ``links``,
        ``docs/reference/service.md``).

        Args:
            uri: The links of this page, in both directions; without it, every link of the store.
                Other keywords need a URI.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: rdflib is not installed, or there are parameters without a URI.
        """
        graph = _empty_rdf()
        if given and not uri:
            raise UsageError(f"{', '.join(sorted(given))}: only with a URI")
        if uri:
            links = self.outlinks(uri, **given), self.inlinks(uri, **given)
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

    def duplicates(self) -> RowResult:
        """Return the captures that have the payload of the one before, by month or year.

        ``about`` has the total, with the bytes that one copy of each payload would save
        (``docs/reference/relations.md``).

        Raises:
            UsageError: The graph shows one time, or it has no path.
            OperatorError: The tables cannot be written.
        """
        self._check_tables("duplicates")
        with analysis_extra():
            from arclink.analysis.relations.answers import count_duplicates
            from arclink.analysis.relations.database import ShownRelations
        with ShownRelations(self._where, self.store) as database:
            found = count_duplicates(database, self.store, name_of_store(self._where))
        return RowResult("duplicates", found)

    def close(self) -> None:
        """Close the store, and the archive files that were read."""
        self._reader.close()
        self.store.close()

    def _picture(self, level: str, given: Mapping[str, object]) -> AbstractContextManager[Picture]:
        from arclink.analysis.export.exports import picture_of

        query = self._export_query("graphml", {"level": level, **given})
        return picture_of(self.store, query, where=self._where)

    def _export_query(self, form: str, given: Mapping[str, object]) -> ExportQuery:
        asked = self._written({"format": form, **given}, EXPORT_PARAMETERS)
        return ExportQuery.from_parameters(asked)

    def _check_tables(self, name: str) -> None:
        if not self._where or self._at:
            why = "only for a graph of all times that was opened with arclink.open"
            raise UsageError(f"{name}: {why}")

    def _links(self, uri: str, direction: Direction, given: dict[str, Any]) -> Links:
        asked = self._given({"uri": uri, **given}, _LINKS)
        limit = LIMIT.required(asked) if asked.has(LIMIT) else None
        others = Given({name: texts for name, texts in asked.texts.items() if name != LIMIT.name})
        query = LinkQuery.of(others, direction=direction, limit=MOST_MEMBERS)
        return Links(self.store, query, limit or None, name_of_store(self._where), asked)

    def _mementos(self, uri: str, span: Span) -> Iterator[Memento]:
        return self.store.mementos(surt_asked("uri", uri), span)

    def _answer(self, one: Capability[Any], given: Mapping[str, object]) -> RowResult:
        """Return the answer of a capability to keywords; the methods of `Methods` call it."""
        from arclink.analysis.matrices.slice_cache import cache_of

        received = self._given(given, one.query.DECLARED)
        if one.is_question(received):
            found = self._answered(question_behind(one, received), received)
            return RowResult(one.name, ask_as_rows(found), found.known_by_day)
        query = one.query.of(received)
        cache = cache_of(self._where) if self._where else None
        archive = name_of_store(self._where)
        asked = ToAnswer(
            self.store, query, UNLIMITED, where=self._where, cache=cache, archive=archive
        )
        days = None
        if isinstance(query, RowQuery) and query.links.direction is Direction.IN:
            days = self.store.days(query.links.span) if query.links.at is None else None
        return RowResult(one.name, one.rows(asked, received), days)

    def _given(self, given: Mapping[str, object], declared: Sequence[AnyParameter]) -> Given:
        return sort_out(self._written(given, declared), declared)

    def _written(
        self, given: Mapping[str, object], declared: Sequence[AnyParameter]
    ) -> list[tuple[str, str]]:
        """Return keywords as parameters of the command line and of the service."""
        return [*([("at", self._at)] if self._at else []), *pairs(given, declared)]


def _empty_rdf() -> rdflib.Graph:
    try:
        import rdflib
    except ImportError as error:
        raise UsageError("rdflib is not installed: pip install 'arclink[rdf]'") from error
    return rdflib.Graph()


def _rdf_of(answers: Iterable[LinkAnswer]) -> rdflib.Graph:
    graph = _empty_rdf()
    for answer in answers:
        graph.parse(data=b"".join(write_ntriples(answer, Profile.LINKS)), format="ntriples")
    return graph


Archive = str | bytes | PathLike[str]
"""An archive to merge: the URL of a service, or the path or the bytes of an answer (RDF/XML)."""


def merge_links(
    uri: str, archives: Mapping[str, Archive], seconds: float, given: Mapping[str, object]
) -> MergedLinks:
    """Return the links of a page in several archives; see `arclink.aggregate`."""
    from arclink.others.federation.merge import MergedQuery, answer_of, merge

    parameters = [*pairs({"uri": uri, **given, "limit": MOST_MEMBERS}, LINK_PARAMETERS)]
    asked = MergedQuery.from_parameters(parameters)
    found = _asking(archives, seconds).ask(asked.query)
    reports = [report for _, report in found]
    check_answered(reports)
    merged = merge(findings for findings, _ in found)
    answers = [answer_of(merged, asked, reports)]
    while cursor := answers[-1].next:
        following = MergedQuery.from_parameters([*parameters, ("cursor", cursor)])
        answers.append(answer_of(merged, following, reports))
    return MergedLinks(answers, reports)


def merge_answers(
    question: str,
    uris: Sequence[str],
    archives: Mapping[str, Archive | LinkGraph],
    seconds: float,
    given: Mapping[str, object],
) -> RowResult:
    """Return the answers of several archives to a question; see `arclink.ask`."""
    from arclink.analysis.questions.merged import (
        MergedQuestion,
        ask_instances,
        merge_rows,
        merged_as_rows,
    )

    question = question_asked(question)
    texts = pairs({"uri": uris, **given}, ASK_PARAMETERS)
    asked = MergedQuestion.of(sort_out(texts, ASK_PARAMETERS), question)
    graphs = {name: one for name, one in archives.items() if isinstance(one, LinkGraph)}
    others = {name: one for name, one in archives.items() if not isinstance(one, LinkGraph)}
    asking = _asking(others, seconds)
    here = [one.ask_as_archive(name, asked) for name, one in graphs.items()]
    answer = merge_rows(asked, [*here, *ask_instances(asking, asked)])
    check_answered(answer.reports)
    of = ", ".join(uris) or "all"
    title = f"{question} of {of} in {counted(len(archives), 'archive')}"
    return RowResult(title, merged_as_rows(answer))


def _asking(archives: Mapping[str, Archive], seconds: float) -> Asking:
    """Return the requests to these archives, each by its name.

    Raises:
        UsageError: An archive is neither a URL nor a file nor bytes.
    """
    from arclink.others.federation.instances import (
        Instance,
        QueryLimits,
        parse_instances,
        parse_name,
    )
    from arclink.others.federation.requests import Asking

    texts = [
        f"{name}={fspath(one)}" for name, one in archives.items() if not isinstance(one, bytes)
    ]
    others = iter(parse_instances(texts, "archives"))
    instances = [
        Instance(parse_name("archives", name), f"bytes of {name}", one)
        if isinstance(one, bytes)
        else next(others)
        for name, one in archives.items()
    ]
    return Asking(instances, QueryLimits(instance_seconds=seconds, whole_seconds=seconds))
