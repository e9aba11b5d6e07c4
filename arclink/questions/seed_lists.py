"""Lists for curators: pages that the archive lacks, or has not captured for long, as crawl seeds.

*Gaps* are linked pages that were never captured. *Stale* pages were captured, but not since a time,
and captures since that time still link to them. Both lists begin with the pages to which most hosts
link: links within one site say little about the importance of a page.

Source: Heritrix 3, *seeds.txt* (a URI per line); Browsertrix Crawler, *YAML config* (``seeds``).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Self

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
from arclink.access.times import FROM
from arclink.model import ALL_TIME, Span, Timestamp, UriR
from arclink.questions.queries import AskQuery

if TYPE_CHECKING:
    from arclink.relations.database import RelationsDatabase


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
        asked: The links that count: their kinds, and the time of the captures that show them; for
            stale pages, also the time in which they were not captured. Its limit is the largest
            number of pages.
        hosts: Only pages to which at least this number of hosts link.
    """

    kind: SeedKind
    asked: AskQuery
    hosts: int = 1

    @classmethod
    def of(cls, given: Given, kind: SeedKind) -> Self:
        """Return the query in these parameters.

        Raises:
            BadParameterError: A value is not allowed, or stale pages have no time.
        """
        since = SINCE.required(given) if kind is SeedKind.STALE else _LINKED_SINCE.optional(given)
        asked = AskQuery(
            "seeds",
            span=Span(first=since or ALL_TIME.first),
            kinds=KINDS_TO_FOLLOW.value(given),
            redirects=REDIRECT.required(given),
            limit=MOST_SEEDS.required(given),
        )
        return cls(kind, asked, _MIN_HOSTS.required(given))


class Seed(NamedTuple):
    """A page that a crawler should capture.

    Attributes:
        uri: The URI that most links use.
        hosts: Number of hosts that link to it.
        pages: Number of pages that link to it.
        first: Time of the earliest capture that links to it, among those that count.
        last: Time of the latest such capture.
        captured: Time of its own last capture; empty if it was never captured.
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
        found: Number of pages of this kind.
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
        first = self.query.asked.span.first
        since = "" if first == ALL_TIME.first else first
        return RowAnswer(
            {"list": self.query.kind.value, "since": since, "found": self.found},
            [f"{self.found:,} linked pages {names[self.query.kind]} {since}".rstrip()],
            ["hosts", "pages", "first", "last", "captured", "uri"],
            {"seeds": [seed._asdict() for seed in self.seeds]},
        )


def seed_list(database: "RelationsDatabase", query: SeedQuery) -> SeedList:
    """Return the pages that answer a query.

    Args:
        database: The relations, for this query only.
        query: The query.

    Raises:
        LimitError: The answer exceeds a limit of the database.
        OperatorError: The files of the relations cannot be read.
    """
    from arclink.questions.asking import rows_of

    values = {"is_stale": query.kind is SeedKind.STALE, "hosts": query.hosts}
    rows, found = rows_of(database, query.asked, values)
    seeds = [Seed(**{**row, "captured": row["captured"] or ""}) for row in rows.to_pylist()]
    return SeedList(query, seeds, found)


# Formats


def _write_seeds(found: SeedList) -> Iterator[bytes]:
    """Yield the URIs, one per line, as crawlers read them."""
    for seed in found.seeds:
        yield f"{seed.uri}\n".encode()


def _write_browsertrix(found: SeedList) -> Iterator[bytes]:
    """Yield a configuration of Browsertrix Crawler (YAML) that captures these pages only."""
    yield b"seeds:\n" if found.seeds else b"seeds: []\n"
    for seed in found.seeds:
        # A JSON string is a YAML string.
        yield b"- url: " + orjson.dumps(seed.uri) + b"\n  scopeType: page\n"


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
