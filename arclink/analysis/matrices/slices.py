"""Slices: the graph of each window of time, as a sparse matrix over memory-mapped files.

A node is all variants of a URI (one SURT), a host, or a domain. The weight of an edge is a number
of:

- *mementos*: distinct (URI-R, timestamp, content) of the window that show at least one link from
  the one node to the other;
- *contents*: distinct vertices that these mementos show;
- *links*: distinct (page, target, kind, text, rel).

::

    FOLDER/slices.json         options, windows, counts
           checksums.txt       of all files (`arclink.files.sealed`), checked when slices are opened
           names.txt           names of all nodes, sorted by their UTF-8, each with a newline
           name_ends.npy       end of each name
           captured.npy        whether each node was ever captured
           0/ 1/ …             one folder per window; 0 is the whole:
                               nodes, captured, indptr, indices, weights (.npy)
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, TypedDict, overload

import numpy as np
import numpy.typing as npt

from arclink.access.declarations import ConflictError, Form, Redirects
from arclink.access.kinds import NAVIGATION, Kinds, parse_kinds, union_of
from arclink.access.tallies import PERIODS, Period
from arclink.errors import UsageError
from arclink.extras import analysis_extra
from arclink.model import ALL_TIME, Kind, Span, Surt, Timestamp
from arclink.store.layouts import SLICES
from arclink.timestamps import PATTERN as TIME
from arclink.timestamps import NotATimeError, TimestampError, first_of, last_of, pad_high, pad_low
from arclink.uris.hosts import domain_of, host_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Windows: the spans of time that a graph is divided into.

_MOST_WINDOWS = 5_000
"""Largest number of windows of a graph: about thirteen years of days."""


_MOST_NAMES = 12
"""Largest number of names of windows in one sentence."""


class Window(NamedTuple):
    """One span of time, and its name for users."""

    name: str
    span: Span


WHOLE = Window("all", ALL_TIME)
"""The window of the first slice in every set of slices."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The division of time: by a period of the calendar, or into listed windows.

    Attributes:
        period: The period; None if windows are listed.
        listed: The windows in the user's order; they may overlap and leave gaps. Empty without a
            period: only the whole.
    """

    period: Period | None = None
    listed: tuple[Window, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the windows in a user's text.

        Args:
            text: ``month``, ``year``, ``day``; ``all`` for the whole only; or times and ranges of
                them, separated by commas: ``2009-11,2010-01/2010-03``. Both ends of a range are
                included.

        Raises:
            ValueError: It is something else, a range ends before it begins, or a window is
                repeated.

        >>> [window.span.last for window in Windows.parse("2009-11,2010-01/20100215").listed]
        ['20091130235959', '20100215235959']
        """
        if text == "all":
            return cls()
        if text in PERIODS:
            return cls(PERIODS[text])
        windows = []
        for name in (part.strip(" \t\r\n") for part in text.split(",")):
            begin, slash, end = name.partition("/")
            try:
                span = Span(first_of(begin), last_of(end if slash else begin))
            except NotATimeError as error:
                raise ValueError from error
            except TimestampError as error:
                raise ValueError(f"{name!r}: {error}") from error
            if span.first > span.last:
                raise ValueError(f"{name!r} ends before it begins; write the earlier time first")
            windows.append(Window(name, span))
        if len(set(windows)) < len(windows):
            raise ValueError("a window is named twice; name each once")
        return cls(None, tuple(windows))

    @property
    def written(self) -> str:
        """The windows as users write them.

        >>> Windows.parse("2009-11, 2010-01/2010-03").written
        '2009-11,2010-01/2010-03'
        """
        if self.period is not None:
            return self.period.name.lower()
        return ",".join(name for name, _ in self.listed) or WHOLE.name

    @property
    def values(self) -> Mapping[str, object]:
        """The variables of texts of SQL that say the windows."""
        return {
            "digits": self.period and len(self.period.of(WHOLE.span.first)),
            "windows": [
                {"name": name, "first": span.first, "last": span.last}
                for name, span in self.listed or (WHOLE,)
            ],
        }

    def _refuse_outside(self, first: Timestamp, last: Timestamp) -> None:
        """Check that at least one window meets the time range of a graph.

        ``first`` and ``last`` are the times of its first and its last memento.

        Raises:
            ConflictError: No listed window does.
        """
        if self.listed and not any(
            window.span.first <= last and first <= window.span.last for window in self.listed
        ):
            names = ", ".join(window.name for window in self.listed)
            why = f"{names}: there are no captures in them; the captures are from {first} to {last}"
            raise ConflictError("by", names, why)

    def between(self, first: Timestamp, last: Timestamp) -> list[Window]:
        """Return the windows of a graph with mementos from ``first`` to ``last``, oldest first.

        Listed windows keep their order. Periods in between without mementos are included.

        Raises:
            ConflictError: There are more than `_MOST_WINDOWS`, or no listed one meets that range.
        """
        if self.period is None:
            self._refuse_outside(first, last)
            return list(self.listed)
        digits = list(_periods(self.period, first, last))
        if len(digits) > _MOST_WINDOWS:
            name = self.period.name.lower()
            why = (
                f"{name} makes more than {_MOST_WINDOWS:,} windows: the captures are from {first} "
                f"to {last}. Use a longer period (month, year), or list windows "
                "(2009-11,2010-01/2010-03)"
            )
            raise ConflictError("by", name, why)
        return [
            Window(self.period.of(Timestamp(day)), Span(pad_low(day), pad_high(day)))
            for day in digits
        ]


EVER = Windows()
"""All time as one window."""

_RANGE = f"(?:{TIME})(?:/(?:{TIME}))?"

WINDOWS: Form[Windows] = Form(
    "day, month, year, all, or times and ranges of them such as 2009-11,2010-01/2010-03",
    {"type": "string", "pattern": f"^(?:{'|'.join(PERIODS)}|all|{_RANGE}(?:,{_RANGE})*)$"},
    Windows.parse,
)
"""Reads windows as users write them."""


def shorten(names: Sequence[str]) -> str:
    """Return names of windows for a sentence: the first ones, and the number of others.

    >>> shorten(["2009-11", "2009-12"])
    '2009-11, 2009-12'
    """
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more windows" if more > 0 else "")


def _periods(period: Period, first: Timestamp, last: Timestamp) -> Iterator[str]:
    """Yield the digits of each period from ``first`` to ``last``, at most one too many."""
    now = first[: period.value]
    for _ in range(_MOST_WINDOWS + 1):
        if now > last[: period.value]:
            return
        yield now
        now = _next(now)


def _next(digits: str) -> str:
    year = int(digits[:4])
    if len(digits) == Period.YEAR.value:
        return f"{year + 1:04}"
    month = int(digits[4:6])
    if len(digits) == Period.MONTH.value:
        return f"{year + month // 12:04}{month % 12 + 1:02}"
    try:
        return f"{date(year, month, int(digits[6:])) + timedelta(days=1):%Y%m%d}".rjust(8, "0")
    except OverflowError:  # the day after 9999-12-31
        return "99999999"


# The edges of a slice, read in blocks, so that memory is limited by the number of nodes.

BLOCK = 4_000_000
"""Approximate number of edges read at a time."""

Nodes = npt.NDArray[np.int64]
"""Positions of nodes in a slice."""


def row_blocks(matrix: "csr_matrix") -> Iterator[tuple[int, int]]:
    """Yield ranges of rows with about `BLOCK` edges together, at least one row each."""
    begin = 0
    while begin < matrix.shape[0]:
        end = max(
            begin + 1,
            int(np.searchsorted(matrix.indptr, int(matrix.indptr[begin]) + BLOCK, "right")) - 1,
        )
        yield begin, end
        begin = end


def edge_blocks(matrix: "csr_matrix") -> Iterator[tuple[Nodes, Nodes]]:
    """Yield (sources, targets) in sorted blocks, without edges from a node to itself."""
    for begin, end in row_blocks(matrix):
        sources = np.repeat(np.arange(begin, end), np.diff(matrix.indptr[begin : end + 1]))
        targets = matrix.indices[int(matrix.indptr[begin]) : int(matrix.indptr[end])].astype(
            np.int64
        )
        others = sources != targets
        yield sources[others], targets[others]


def rows_of(ends: npt.NDArray[Any], columns: npt.NDArray[Any], rows: Nodes) -> npt.NDArray[Any]:
    """Return the columns of some rows of a sparse matrix, one row after the other.

    Args:
        ends: The boundaries of rows: row i is from ``ends[i]`` to ``ends[i + 1]`` (``indptr``).
        columns: The columns of all rows (``indices``).
        rows: The rows, in any order.
    """
    begins, counts = ends[rows], ends[rows + 1] - ends[rows]
    indexes = np.arange(int(counts.sum())) + np.repeat(begins - np.cumsum(counts) + counts, counts)
    found: npt.NDArray[Any] = columns[indexes]
    return found


def has_edges(matrix: "csr_matrix", sources: Nodes, targets: Nodes) -> npt.NDArray[np.bool_]:
    """Return for each pair whether the matrix has that edge.

    This is a binary search in each row, for all rows at once.
    """
    low, high = matrix.indptr[sources].astype(np.int64), matrix.indptr[sources + 1].astype(np.int64)
    ends = high.copy()
    while (low < high).any():
        middle = (low + high) // 2
        is_less = (low < high) & (matrix.indices[np.minimum(middle, matrix.nnz - 1)] < targets)
        low, high = (
            np.where(is_less, middle + 1, low),
            np.where(is_less, high, np.minimum(high, middle)),
        )
    is_there: npt.NDArray[np.bool_] = low < ends
    if matrix.nnz:
        is_there &= matrix.indices[np.minimum(low, matrix.nnz - 1)] == targets
    return is_there


# Names of nodes, numbered in sorted order and looked up without reading all of them.

Numbers = npt.NDArray[np.int32]
"""Numbers of nodes: positions in the sorted names."""


class SortedNames(Sequence[str]):
    """Sorted names (by their UTF-8), memory-mapped.

    Args:
        folder: Folder that `write_names` wrote them to.
    """

    def __init__(self, folder: Path) -> None:
        self._ends: npt.NDArray[np.int64] = np.load(folder / "name_ends.npy", mmap_mode="r")
        self._text = (
            np.memmap(folder / "names.txt", dtype=np.uint8, mode="r")
            if len(self._ends)
            else np.empty(0, np.uint8)
        )

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._at(number) for number in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._at(int(index) % len(self))

    def _at(self, number: int) -> str:
        begin = int(self._ends[number - 1]) if number else 0
        return self._text[begin : int(self._ends[number]) - 1].tobytes().decode()

    def number_of(self, name: str) -> int | None:
        """Return the number of a name; None if there is no such node."""
        index = bisect_left(_Bytes(self), name.encode())
        return index if index < len(self) and self[index] == name else None


class _Bytes(Sequence[bytes]):
    """The names as UTF-8, the form in which they are sorted."""

    def __init__(self, names: SortedNames) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> bytes:  # type: ignore[override]  # bisect needs no slices
        return self._names[index].encode()


def write_names(folder: Path, rows: Iterable[Any]) -> None:
    """Write the files of `SortedNames`.

    Args:
        folder: The folder.
        rows: Record batches with the names, sorted, and their numbers of bytes.
    """
    ends = [np.zeros(1, np.int64)]
    with (folder / "names.txt").open("wb") as file:
        for names, sizes in (batch.columns for batch in rows):
            file.write("".join(f"{name}\n" for name in names.to_pylist()).encode())
            ends.append(ends[-1][-1] + np.cumsum(sizes.to_numpy() + 1))
    np.save(folder / "name_ends.npy", np.concatenate(ends)[1:])


class Level(Enum):
    """The unit that is one node."""

    URI = "uri"
    HOST = "host"
    DOMAIN = "domain"

    @property
    def plural(self) -> str:
        """The word for several nodes."""
        return "URIs" if self is Level.URI else f"{self.value}s"

    def name_of(self, surt: Surt) -> str:
        """Return the name of the node of a SURT; empty for a SURT without host (``mailto:``).

        >>> [level.name_of(Surt("uk,co,bbc,news)/x")) for level in (Level.URI, Level.DOMAIN)]
        ['uk,co,bbc,news)/x', 'bbc.co.uk']
        """
        host = host_of(surt)
        if self is Level.URI:
            return surt if host else ""
        return host if self is Level.HOST else domain_of(host)

    def shown(self, name: str) -> str:
        """Return the name of a node in readable form: a SURT with its host in the usual order.

        >>> Level.URI.shown("com,vancouver2010)/code")
        'vancouver2010.com/code'
        """
        host, bracket, path = name.partition(")")
        if self is not Level.URI or not bracket or not path.startswith("/"):
            return name
        labels, colon, port = host.partition(":")
        return ".".join(reversed(labels.split(","))) + colon + port + path


class Weight(Enum):
    """The things that the weight of an edge counts."""

    MEMENTOS = "mementos"
    CONTENTS = "contents"
    LINKS = "links"


@dataclass(frozen=True, slots=True)
class SliceOptions:
    """The options of a set of slices.

    Attributes:
        is_in_force: Whether a link counts in a window if it is in force in it: from the first
            memento of its page that shows it to the last that does (`arclink.access.evidence`, from
            *first with* to *last with*). Else it counts if a memento observed in the window shows
            it. Allowed with weight `Weight.LINKS` only.
        kinds: Only links of these kinds; by default those that a reader can follow.
        redirects: Whether redirects are included.
    """

    windows: Windows = field(default_factory=Windows)
    level: Level = Level.URI
    weight: Weight = Weight.MEMENTOS
    is_in_force: bool = False
    kinds: Kinds = NAVIGATION
    redirects: Redirects = Redirects.YES

    def __post_init__(self) -> None:
        if self.is_in_force and self.weight is not Weight.LINKS:
            raise UsageError(
                f"links in force are counted as links, not as {self.weight.value}: a link can be "
                "in force without a memento. Use --weight links"
            )

    def wants(self, kind: Kind) -> bool:
        """Return whether links of this kind count."""
        return kind in self.kinds and self.redirects.allow(kind)

    def as_json(self) -> str:
        """Return the options as text; equal options give equal texts."""
        windows = (
            self.windows.period.name
            if self.windows.period
            else [[name, span.first, span.last] for name, span in self.windows.listed]
        )
        options = [
            windows,
            self.level.value,
            self.weight.value,
            self.is_in_force,
            self.kinds.words,
            self.redirects.value,
        ]
        return json.dumps(options)


@dataclass(frozen=True)
class Slice:
    """The graph of one window.

    Its nodes are those that were captured in the window, and the ends of its links.

    Attributes:
        window: The window.
        folder: The folder with its files.
    """

    window: Window
    folder: Path

    @cached_property
    def nodes(self) -> Numbers:
        """The numbers of its nodes among all names, sorted.

        Row and column ``i`` of the matrix belong to node ``nodes[i]``.
        """
        return _mapped(self.folder / "nodes.npy")

    @cached_property
    def captured(self) -> npt.NDArray[np.bool_]:
        """For each of its nodes, whether it was captured in the window, with any status."""
        return _mapped(self.folder / "captured.npy")

    @cached_property
    def matrix(self) -> "csr_matrix":
        """The edges: row from, column to, value weight; sorted, each once, self-links included.

        Raises:
            UsageError: SciPy is not installed.
        """
        with analysis_extra():
            from scipy.sparse import csr_matrix
        weights, indices, indptr = (
            _mapped(self.folder / f"{name}.npy") for name in ("weights", "indices", "indptr")
        )
        matrix: csr_matrix = csr_matrix(
            (weights, indices, indptr), shape=(len(self.nodes),) * 2, copy=False
        )
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix

    @property
    def edges(self) -> int:
        """The number of edges."""
        return len(_mapped(self.folder / "indices.npy"))

    def index_of(self, node: int) -> int | None:
        """Return the row of the node with this number; None if it is not in this window."""
        index = int(np.searchsorted(self.nodes, node))
        return index if index < len(self.nodes) and self.nodes[index] == node else None


class PropertiesFields(TypedDict):
    """The properties of the graph."""

    level: Annotated[str, Level]
    kinds: Sequence[str]
    other_kinds: Annotated[int, "Links of contents that were left out because of their kinds."]


class Slices(Sequence[Slice]):
    """The graph by windows. The first slice is the whole; the others are in the order of windows.

    Args:
        folder: The folder with their files.

    Attributes:
        names: The names of all nodes; `Level.shown` makes them readable.
        captured: For each node, whether it was ever captured.
        level: The unit that is one node.
        weight: The things that weights count.
        kinds: The kinds of its links.
        other_kinds: Number of links of contents that were left out because of their kinds.
        without_host: Number of links of contents that were left out because their target has no
            host (``mailto:``) and cannot be captured.
    """

    def __init__(self, folder: Path) -> None:
        facts = json.loads((folder / "slices.json").read_text("utf-8"))
        self.folder = folder
        self.level = Level(facts["level"])
        self.weight = Weight(facts["weight"])
        self.kinds: Kinds = union_of(map(parse_kinds, facts["kinds"]))
        self.other_kinds: int = facts["other_kinds"]
        self.without_host: int = facts["without_host"]
        self.names = SortedNames(folder)
        self.captured: npt.NDArray[np.bool_] = _mapped(folder / "captured.npy")
        self._slices = [
            Slice(Window(name, Span(Timestamp(first), Timestamp(last))), folder / str(number))
            for number, (name, first, last) in enumerate(facts["windows"])
        ]

    def __len__(self) -> int:
        return len(self._slices)

    def __getitem__(self, index: int) -> Slice:  # type: ignore[override]  # no caller needs slices of slices
        return self._slices[index]

    def __iter__(self) -> Iterator[Slice]:
        return iter(self._slices)

    @property
    def about(self) -> PropertiesFields:
        """What is known of all slices, as members of JSON."""
        return {
            "level": self.level.value,
            "kinds": self.kinds.words,
            "other_kinds": self.other_kinds,
        }

    @property
    def whole(self) -> Slice:
        """The slice of all time."""
        return self._slices[0]

    @property
    def windows(self) -> Sequence[Slice]:
        """The slices of the windows, without the whole."""
        return self._slices[1:]

    def shown(self, numbers: npt.ArrayLike) -> list[str]:
        """Return the names of these nodes in readable form."""
        return [self.level.shown(self.names[number]) for number in np.asarray(numbers).tolist()]


def write_about(
    folder: Path, options: SliceOptions, windows: Sequence[Window], counts: Mapping[str, int]
) -> None:
    """Write ``slices.json``, which `Slices` reads first."""
    about = {
        "format": SLICES,
        "options": options.as_json(),
        "level": options.level.value,
        "weight": options.weight.value,
        "kinds": options.kinds.words,
        "windows": [[name, span.first, span.last] for name, span in windows],
        **counts,
    }
    (folder / "slices.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def _mapped(path: Path) -> npt.NDArray[Any]:
    numbers: npt.NDArray[Any] = np.load(path, mmap_mode="r")
    return numbers
