"""The graph in Python: ``arclink.open("links.db")`` gives a `LinkGraph`, which asks what the command line and the service ask.

Words and parameters are theirs (``docs/service.md``), but for ``from``, which Python keeps for itself: it is ``from_`` here. Answers are
never cut short unless ``limit`` says so. What hands data to other libraries imports them when it is called: networkx, pandas and pyarrow
are in the extra ``analysis``.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import islice
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from arclink.access.anchors import Anchor, AnchorsQuery, answer_anchors
from arclink.access.answers import answer_link_query
from arclink.access.cursors import decode_cursor
from arclink.access.grouping import Budget
from arclink.access.levels import Counted, LevelQuery, answer_level
from arclink.access.members import Member
from arclink.access.queries import MOST_MEMBERS, BadParameterError, Direction, LinkQuery, span_asked, surt_asked
from arclink.access.reading import MementoSummary, Reading
from arclink.analysis.extra import analysis_extra
from arclink.model import Memento, Span
from arclink.store import GraphStore, StoreStats

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from arclink.export.exporting import Exported
    from arclink.export.queries import ExportQuery

Time = str | date | datetime
"""A time as people write it: 1 to 14 digits, ISO 8601, or a date or datetime of Python; without a zone it is UTC."""


class Within(TypedDict, total=False):
    """Which links count: observed when, of which kinds.

    Attributes:
        from_: Observed not before.
        to: Observed not after.
        kind: One kind, such as ``a@href``, or several.
        redirects: ``yes``, ``no`` or ``only``.
    """

    from_: Time
    to: Time
    kind: str | Sequence[str]
    redirects: str


class OfLinks(Within, total=False):
    """What `LinkGraph.outlinks` and `LinkGraph.inlinks` take.

    Attributes:
        limit: So many links at the most; 0, the default, for all.
        evidence: Whether each tells the archive file, offset and checksum of its mementos.
        validity: Whether each tells between which mementos it came and went.
    """

    limit: int
    evidence: bool
    validity: bool


class OfRows(Within, total=False):
    """What `LinkGraph.anchors` and `LinkGraph.counts` take.

    Attributes:
        by: ``day``, ``month`` or ``year``; of anchors also ``host``, or both with a comma.
        limit: So many rows at the most; 0, the default, for all.
    """

    by: str
    limit: int


class OfGraph(Within, total=False):
    """What `LinkGraph.to_networkx` and `LinkGraph.to_pandas` take; `docs/export.md` says what each leaves out.

    Attributes:
        min_count: Fewest mementos that must show a link.
        top: Most nodes.
        core: Fewest neighbours of each node.
        backbone: Greatest significance of a link.
    """

    min_count: int
    top: int
    core: int
    backbone: float


_UNLIMITED = Budget(members=sys.maxsize, rows=sys.maxsize // 2, look_ups=sys.maxsize)
"""Who asks in Python waits for all that is counted; a service could not."""


class Links(Iterable[Member]):
    """The links of a URI in one direction: a `Member` each, read while they are looped over; looping again asks again.

    Up to 10,000 links come once each, in the order of the command line. Of a URI with more, each comes in the order in which the store
    holds them, and one that several contents have comes with each of these (``docs/service.md``, *Order and size of answers*).
    """

    def __init__(self, store: GraphStore, query: LinkQuery, limit: int | None) -> None:
        self._store = store
        self._query = query
        self._limit = limit

    def __iter__(self) -> Iterator[Member]:
        return islice(self._all(), self._limit)

    def __repr__(self) -> str:
        return f"<{self._query.direction.value}links of {self._query.uri}>"

    @property
    def mementos(self) -> MementoSummary:
        """What is known of the URI itself: "never captured" differs from "no links"."""
        return Reading(self._store, self._query).summary()

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per link: uri, surt, kind, text, rel, first, last (UTC), mementos, timestamps.

        Raises:
            UsageError: pandas is not installed.
        """
        columns = ("uri", "surt", "kind", "text", "rel", "first", "last", "mementos", "timestamps")
        rows = [(*link[:5], link.timestamps[0], link.timestamps[-1], len(link.timestamps), link.timestamps) for link in self]
        return frame_of(rows, columns, times=("first", "last"))

    def _all(self) -> Iterator[Member]:
        query = self._query
        while True:
            answer = answer_link_query(self._store, query)
            yield from answer.outlinks
            yield from answer.inlinks
            if answer.next is None:
                return
            query = replace(query, cursor=decode_cursor(answer.next, query.fingerprint))


class Anchors(list[Anchor]):
    """The words that led to a URI, by period, host, first seen and text."""

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per text: period, host, text, kind, links, contents, mementos, hosts, first, last (UTC).

        Raises:
            UsageError: pandas is not installed.
        """
        columns = ("period", "host", "text", "kind", "links", "contents", "mementos", "hosts", "first", "last")
        rows = [(*one[:4], *one.counts[:4], one.counts.first.timestamp, one.counts.last.timestamp) for one in self]
        return frame_of(rows, columns, times=("first", "last"))


class LinkGraph:
    """A temporal link graph, at all times or at one. Use it in the thread that opened it; close it, or use ``with``.

    Every ``uri`` is one as people write it: any variant (``http`` or ``https``, with or without ``www.``) finds the page. Times and
    the other parameters mean what ``docs/service.md`` says, *Parameters*. Wrong ones raise `BadParameterError`, a `UsageError`.

    Args:
        store: To ask; the graph closes it.
        at: Only the state at this time, if one is given.
    """

    def __init__(self, store: GraphStore, at: Time | None = None) -> None:
        self.store = store
        self._at = "" if at is None else text_of_time(at)

    def __repr__(self) -> str:
        return f"<LinkGraph at {self._at}>" if self._at else "<LinkGraph>"

    def at(self, time: Time) -> Self:
        """Return the graph as it was at the end of ``time``: the links of the mementos in force. It shares this one's store."""
        graph = type(self)(self.store, time)
        LinkQuery.from_parameters([("uri", "example.org"), ("at", graph._at)])  # a wrong time is told here, not at the first question
        return graph

    def outlinks(self, uri: str, **parameters: Unpack[OfLinks]) -> Links:
        """Return the links that a page has, with the mementos that show them.

        Args:
            uri: Of the page.
            **parameters: See `OfLinks`.

        Raises:
            BadParameterError: One of them is wrong.
        """
        return self._links(uri, Direction.OUT, parameters)

    def inlinks(self, uri: str, **parameters: Unpack[OfLinks]) -> Links:
        """Return the links that lead to a page, which need not have been captured itself; see `outlinks`."""
        return self._links(uri, Direction.IN, parameters)

    def anchors(self, uri: str, **parameters: Unpack[OfRows]) -> Anchors:
        """Return the words that were used to link to a page, counted over all its inlinks.

        Args:
            uri: Of the page.
            **parameters: See `OfRows`.

        Raises:
            BadParameterError: One of them is wrong.
        """
        query = AnchorsQuery.from_parameters(self._written({"uri": uri, "limit": 0, **parameters}))
        return Anchors(answer_anchors(self.store, query, _UNLIMITED).anchors)

    def counts(self, uri: str, level: str = "host", direction: str = "in", **parameters: Unpack[OfRows]) -> Sequence[Counted]:
        """Return how many links lead to a page from each host or domain, in all and through time, those with most links first.

        Args:
            uri: Of the page.
            level: ``host`` or ``domain``.
            direction: ``in``, or ``out`` for those that the page links to.
            **parameters: See `OfRows`.

        Raises:
            BadParameterError: One of them is wrong.
        """
        if direction not in ("in", "out"):
            raise BadParameterError("direction", direction, "in or out")
        asked = {"uri": uri, "limit": 0, **parameters, "level": level, "direction": direction}
        answer = answer_level(self.store, LevelQuery.from_parameters(self._written(asked)), _UNLIMITED)
        return answer.counted[Direction(direction)]

    def mementos(self, uri: str, from_: Time = "", to: Time = "") -> Iterator[Memento]:
        """Yield the captures of a page, oldest first; of a graph at a time those of then and before.

        Raises:
            BadParameterError: ``uri`` is no URI, or a time is none.
        """
        if self._at and (from_ or to):
            raise BadParameterError("at", self._at, "either at, or from and to")
        span = span_asked(text_of_time(from_), text_of_time(to) or self._at)
        return self._mementos(uri, span)

    def to_networkx(self, level: str = "host", **parameters: Unpack[OfGraph]) -> "nx.DiGraph":
        """Return the graph of all links at a level.

        Nodes are URIs (with their ``surt``), hosts or domains. Links have ``weight`` (how many mementos show one), ``first`` and ``last``
        (14 digits). All of it is held in memory.

        Args:
            level: ``uri``, ``host`` or ``domain``.
            **parameters: See `OfGraph`.

        Raises:
            BadParameterError: One of them is wrong.
            UsageError: networkx is not installed.
        """
        from arclink.export.exporting import picture_of
        from arclink.export.markup import links_of, nodes_of

        with analysis_extra():
            import networkx as nx
        graph = nx.DiGraph()
        with picture_of(self.store, self._export_query("graphml", level, parameters)) as picture:
            names = []
            for _, name, label in nodes_of(picture):
                names.append(label)
                graph.add_node(label, **({"surt": name} if level == "uri" else {}))
            for source, target, mementos, first, last in links_of(picture.links):
                graph.add_edge(names[source], names[target], weight=mementos, first=f"{first:014d}", last=f"{last:014d}")
        return graph

    def to_pandas(self, level: str = "host", **parameters: Unpack[OfGraph]) -> "pd.DataFrame":
        """Return a row per link between nodes at a level: source, target, mementos, first, last (UTC); see `to_networkx`.

        Raises:
            BadParameterError: A parameter is wrong.
            UsageError: pandas is not installed.
        """
        from arclink.export.exporting import picture_of
        from arclink.export.markup import links_of, nodes_of

        with picture_of(self.store, self._export_query("graphml", level, parameters)) as picture:
            names = [label for _, _, label in nodes_of(picture)]
            rows = [
                (names[source], names[target], mementos, f"{first:014d}", f"{last:014d}")
                for source, target, mementos, first, last in links_of(picture.links)
            ]
        return frame_of(rows, ("source", "target", "mementos", "first", "last"), times=("first", "last"))

    def export(self, path: str | PathLike[str], format: str, **parameters: Any) -> "Exported":  # noqa: A002  # the option's name
        """Write the graph to a file and a manifest beside it, as ``arclink export`` does (``docs/export.md``).

        Args:
            path: Of the file; one that is there is replaced.
            format: ``parquet``, ``csv``, ``csv-images``, ``nquads``, ``graphml``, ``gexf`` or ``arcs``.
            **parameters: Options of that command, with ``_`` for ``-``: ``level``, ``from_``, ``to``, ``min_count`` …

        Raises:
            BadParameterError: One of them is wrong.
            UsageError: A package is not installed that the format needs.
            ExportError: It cannot be written there, or is too large for what it is for.
        """
        from arclink.export.exporting import export

        return export(self.store, self._export_query(format, parameters.pop("level", ""), parameters), Path(path))

    def stats(self) -> StoreStats:
        """Return counts over the whole store; takes as long as reading much of it."""
        return self.store.stats()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _export_query(self, form: str, level: str, given: Mapping[str, object]) -> "ExportQuery":
        from arclink.export.queries import ExportQuery

        return ExportQuery.from_parameters(self._written({"format": form, "level": level, **given}))

    def _links(self, uri: str, direction: Direction, parameters: Mapping[str, object]) -> Links:
        asked = dict(parameters)
        limit = asked.pop("limit", 0)
        if not isinstance(limit, int) or limit < 0:
            raise BadParameterError("limit", str(limit), "a number of links, or 0 for all")
        asked = {**asked, "direction": direction.value, "limit": MOST_MEMBERS}
        return Links(self.store, LinkQuery.from_parameters(self._written({"uri": uri, **asked})), limit or None)

    def _mementos(self, uri: str, span: Span) -> Iterator[Memento]:
        return self.store.mementos(surt_asked("uri", uri), span)

    def _written(self, given: Mapping[str, object]) -> list[tuple[str, str]]:
        """Return parameters as the command line and the service write them."""
        parameters = [("at", self._at)] if self._at else []
        for name, value in given.items():
            values = value if isinstance(value, list | tuple | set | frozenset) else [value]
            written = name.removesuffix("_").replace("_", "-")
            parameters += [(written, _written(one)) for one in values if one not in ("", None)]
        return parameters


def text_of_time(time: Time) -> str:
    """Return a time as the parameters take it.

    >>> text_of_time(date(2010, 2, 12)), text_of_time("201002")
    ('2010-02-12', '201002')
    """
    return time if isinstance(time, str) else time.isoformat()


def frame_of(rows: Iterable[Sequence[object]], columns: Sequence[str], times: Sequence[str] = ()) -> "pd.DataFrame":
    """Return a pandas frame of ``rows``; those of ``columns`` that are named in ``times`` hold 14 digits, and become UTC.

    Raises:
        UsageError: pandas is not installed.
    """
    with analysis_extra():
        import pandas as pd
    frame = pd.DataFrame(list(rows), columns=list(columns))
    moments = {name: pd.to_datetime(frame[name], format="%Y%m%d%H%M%S", utc=True) for name in times}
    return frame.assign(**moments)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return text_of_time(value) if isinstance(value, date) else str(value)
