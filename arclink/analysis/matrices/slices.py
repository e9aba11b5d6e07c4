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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import numpy as np
import numpy.typing as npt

from arclink.access.common import Redirects
from arclink.access.kinds import NAVIGATION, Kinds, parse_kinds, union_of
from arclink.analysis.matrices.names import Numbers, SortedNames
from arclink.analysis.matrices.windows import Window, Windows
from arclink.errors import UsageError
from arclink.extras import analysis_extra
from arclink.model import Kind, Span, Surt, Timestamp
from arclink.store.layouts import SLICES
from arclink.uris.hosts import domain_of, host_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


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
            memento of its page that shows it to the last that does (`arclink.access.validity`, from
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
