"""Lists for curators: pages that the archive lacks, or has not captured for long, as crawl seeds.

*Gaps* are linked pages that were never captured. *Stale* pages were captured, but not since a time,
and captures since that time still link to them. Both lists begin with the pages to which most hosts
link: links within one site say little about the importance of a page.

Source: Heritrix 3, *seeds.txt* (a URI per line); Browsertrix Crawler, *YAML config* (``seeds``).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Self

import numpy as np
import orjson

from arclink.access.common import COMMON_TO_FOLLOW, KINDS_TO_FOLLOW, REDIRECT
from arclink.access.declarations import (
    AnyParameter,
    Given,
    Parameter,
    named,
    whole_number,
)
from arclink.access.formats.rows import ROW_FORMATS, RowAnswer
from arclink.access.texts import printable_uri
from arclink.access.times import FROM
from arclink.analysis.slice_builder import build_slices
from arclink.analysis.slices import Slice, SliceOptions, Slices
from arclink.analysis.windows import Window, Windows
from arclink.model import ALL_TIME, Span, Surt, Timestamp, UriR
from arclink.store.protocols import Scans
from arclink.uris.hosts import host_of


class SeedKind(Enum):
    """What the pages of a list have in common."""

    GAPS = "gaps"
    """Linked, and never captured."""

    STALE = "stale"
    """Captured before a time and not since; linked by a capture since that time."""


@dataclass(frozen=True, slots=True)
class SeedQuery:
    """A query for a list of seeds.

    Attributes:
        kind: The list.
        since: Only links seen in captures from this time on; for stale pages, also the time since
            which they were not captured.
        slices: The kinds of the links.
        hosts: Only pages to which at least this number of hosts link.
        limit: Largest number of pages.
    """

    kind: SeedKind
    since: Timestamp = ALL_TIME.first
    slices: SliceOptions = field(default_factory=SliceOptions)
    hosts: int = 1
    limit: int = 1_000

    @property
    def span(self) -> Span:
        """The time in which links count."""
        return Span(first=self.since)

    @classmethod
    def of(cls, given: Given, kind: SeedKind) -> Self:
        """Return the query in these parameters.

        Raises:
            BadParameterError: A value is not allowed, or stale pages have no time.
        """
        since = SINCE.required(given) if kind is SeedKind.STALE else _LINKED_SINCE.optional(given)
        options = SliceOptions(
            Windows(None, (Window("since", Span(first=since)),)) if since else Windows(),
            kinds=KINDS_TO_FOLLOW.value(given),
            redirects=REDIRECT.required(given),
        )
        first = since or ALL_TIME.first
        return cls(kind, first, options, _MIN_HOSTS.required(given), MOST_SEEDS.required(given))


class Seed(NamedTuple):
    """A page that a crawler should capture.

    Attributes:
        uri: The URI that most links use.
        hosts: Number of hosts that link to it.
        pages: Number of pages that link to it.
        first: Time of the earliest capture that links to it, among those that count.
        last: Time of the latest such capture.
        captured: Time of its own last capture; empty if it has none.
    """

    uri: UriR
    hosts: int
    pages: int
    first: Timestamp
    last: Timestamp
    captured: str


@dataclass(frozen=True, slots=True)
class SeedList:
    """The answer to a `SeedQuery`.

    Attributes:
        seeds: Those to which most hosts link first; then by number of pages, then by SURT.
        found: Number of pages of this kind. If the limit cut the list, it may include some that no
            HTTP URI leads to.
    """

    query: SeedQuery
    seeds: Sequence[Seed]
    found: int

    @property
    def left_out(self) -> int:
        """Number of pages after the limit."""
        return self.found - len(self.seeds)

    def as_rows(self) -> RowAnswer:
        """Return the list as rows."""
        names = {SeedKind.GAPS: "never captured", SeedKind.STALE: "not captured since"}
        since = "" if self.query.since == ALL_TIME.first else self.query.since
        rows = [{**seed._asdict(), "uri": printable_uri(seed.uri)} for seed in self.seeds]
        return RowAnswer(
            {"list": self.query.kind.value, "since": since, "found": self.found},
            [f"{self.found:,} linked pages {names[self.query.kind]} {since}".rstrip()],
            ["hosts", "pages", "first", "last", "captured", "uri"],
            {"seeds": rows},
        )


def seed_list(
    store: Scans, query: SeedQuery, keep_on: Callable[[], None] = lambda: None, where: str = ""
) -> SeedList:
    """Return the pages that answer a query.

    The store is read again for each seed. Links of a page to itself do not count.

    Args:
        store: The store.
        query: The query.
        keep_on: Called for each page; an error that it raises ends the work.
        where: The path or URL of the store: its relations are kept next to it. If it is empty, they
            are made for this use.

    Raises:
        UsageError: A package is not installed.
    """
    sums = store.sums()
    if not sums.first or query.since > sums.last:
        return SeedList(query, (), 0)
    with TemporaryDirectory(prefix="arclink-seeds-") as folder:
        slices = build_slices(where, store, query.slices, Path(folder) / "slices")
        one = slices.windows[0] if slices.windows else slices.whole
        hosts, pages = _linking(slices, one)
        ever = slices.captured[one.nodes]
        is_seed = ~ever if query.kind is SeedKind.GAPS else ever & ~np.asarray(one.captured)
        is_seed &= (hosts >= query.hosts) & (pages > 0)
        rows = np.flatnonzero(is_seed)
        rows = rows[np.lexsort((rows, -pages[rows], -hosts[rows]))]
        seeds: list[Seed] = []
        without_http = 0
        for row in rows.tolist():
            if len(seeds) == query.limit:
                break
            keep_on()
            surt = Surt(slices.names[int(one.nodes[row])])
            seed = _described(store, query, surt, int(hosts[row]), int(pages[row]))
            if seed is None:
                without_http += 1
            else:
                seeds.append(seed)
        return SeedList(query, seeds, len(rows) - without_http)


Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


def _linking(slices: Slices, one: Slice) -> tuple[Numbers, Numbers]:
    """Return the numbers of hosts and of pages that link to each node of a slice.

    Nodes are sorted by SURT, so the pages of one host follow one another.
    """
    matrix = one.matrix
    count = len(one.nodes)
    hosts, pages = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for begin, end in _hosts(slices, one):
        targets = matrix.indices[matrix.indptr[begin] : matrix.indptr[end]]
        if not len(targets):
            continue
        sources = np.repeat(np.arange(begin, end), np.diff(matrix.indptr[begin : end + 1]))
        distinct, counts = np.unique(targets[targets != sources], return_counts=True)
        hosts[distinct] += 1
        pages[distinct] += counts
    return hosts, pages


def _hosts(slices: Slices, one: Slice) -> Iterator[tuple[int, int]]:
    """Yield the first row of each host, and the row after its last one."""
    begin, last = 0, None
    for row, node in enumerate(one.nodes.tolist()):
        host = host_of(Surt(slices.names[node]))
        if host != last:
            if row:
                yield begin, row
            begin, last = row, host
    if len(one.nodes):
        yield begin, len(one.nodes)


def _described(store: Scans, query: SeedQuery, surt: Surt, hosts: int, pages: int) -> Seed | None:
    """Return a seed with its times; None if no link to it uses HTTP."""
    uris: Counter[UriR] = Counter()
    contents = []
    for link in store.inlinks(surt):
        if query.slices.wants(link.kind):
            uris[link.target] += 1
            contents.append(link.content)
    web = [uri for uri in uris if uri.lower().startswith(("http://", "https://"))]
    times = [
        (timestamps[0], timestamps[-1])
        for sources in store.sources(dict.fromkeys(contents), query.span)
        for _, timestamps in sources
    ]
    if not web or not times:
        return None
    captured = ""
    if query.kind is SeedKind.STALE:
        captured = max((one.timestamp for one in store.mementos(surt)), default="")
    uri = min(web, key=lambda one: (-uris[one], one))
    first, last = min(first for first, _ in times), max(last for _, last in times)
    return Seed(uri, hosts, pages, first, last, captured)


# Formats


def _write_seeds(found: SeedList) -> Iterator[bytes]:
    """Yield the URIs, one per line, as crawlers read them."""
    for seed in found.seeds:
        yield f"{printable_uri(seed.uri)}\n".encode()


def _write_browsertrix(found: SeedList) -> Iterator[bytes]:
    """Yield a configuration of Browsertrix Crawler (YAML) that captures these pages only."""
    yield b"seeds:\n" if found.seeds else b"seeds: []\n"
    for seed in found.seeds:
        # A JSON string is a YAML string.
        yield b"- url: " + orjson.dumps(printable_uri(seed.uri)) + b"\n  scopeType: page\n"


class SeedFormat(NamedTuple):
    """One way to write a list of seeds."""

    media_type: str
    write: Callable[[SeedList], Iterator[bytes]]


def _as_rows(name: str) -> Callable[[SeedList], Iterator[bytes]]:
    return lambda found: ROW_FORMATS[name].write(found.as_rows())


SEED_FORMATS: Mapping[str, SeedFormat] = {
    "seeds": SeedFormat("text/plain", _write_seeds),
    "browsertrix": SeedFormat("application/yaml", _write_browsertrix),
    **{
        name: SeedFormat(next(iter(form.media_types), "text/plain"), _as_rows(name))
        for name, form in ROW_FORMATS.items()
    },
}
"""The formats of a list of seeds, by name."""

SEED_FORMAT = Parameter(
    "format",
    "URIs, one per line (Heritrix and others); a configuration of Browsertrix Crawler (YAML); or "
    "rows with the numbers of linking hosts and pages, and times.",
    named(SEED_FORMATS),
    default="seeds",
)
SINCE = Parameter(
    "since",
    "Pages that were not captured from this time on, but are linked by captures from this time on.",
    FROM.form,
    is_required=True,
    metavar="TIME",
)
_LINKED_SINCE = Parameter(
    "since",
    "Only links in captures from this time on.",
    FROM.form,
    metavar="TIME",
    otherwise="all time",
)
_MIN_HOSTS = Parameter(
    "min-hosts",
    "Only pages to which at least this number of hosts link.",
    whole_number(999_999_999, least=1),
    default="1",
    metavar="N",
)
MOST_SEEDS = Parameter(
    "limit",
    "Maximum number of pages.",
    whole_number(1_000_000, least=1),
    default="1000",
    metavar="N",
)

_REST: tuple[AnyParameter, ...] = (*COMMON_TO_FOLLOW, _MIN_HOSTS, MOST_SEEDS, SEED_FORMAT)
GAPS_PARAMETERS: tuple[AnyParameter, ...] = (_LINKED_SINCE, *_REST)
STALE_PARAMETERS: tuple[AnyParameter, ...] = (SINCE, *_REST)
