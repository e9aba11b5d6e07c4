"""What can be asked of a graph: each capability is declared once, and its doors are made from that.

A `Capability` is a query with declared parameters, a function that answers it in rows, and the
columns of these rows. From it come the command and its help (`arclink.cli.query_commands`), the
resource and its description (`arclink.service.query_resources`, `arclink.service.openapi`), the
method of `LinkGraph` (`arclink.access.methods`), and the tables of the documentation.

`IN_ROWS` says where each one is declared: so help, completion and a call of one of them import
nothing of the others. To add a capability, declare it next to its answer, name it there, and run
`make docs`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from arclink.access.common import SUBSET
from arclink.access.declarations import NOTHING_GIVEN, AnyParameter, DeclaredQuery, Given
from arclink.access.members import Budget
from arclink.access.replay import NO_REPLAY, ReplayPrefix
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.access.formats.rows import RowAnswer

Query = TypeVar("Query", bound=DeclaredQuery)


def _never(_: Given) -> bool:
    """Return that no parameters ask a question."""
    return False


class ColumnKind(Enum):
    """What the values of a column are, by the name of their Arrow type."""

    TEXT = "string"
    NUMBER = "int64"
    """A count, from 0 on."""
    TIME = "timestamp"
    """14 digits, UTC; in Parquet and pandas, a time."""
    DECIMAL = "double"
    FLAG = "bool"
    TEXTS = "list"
    """A list of texts."""


class RowColumn(NamedTuple):
    """A column of an answer.

    Attributes:
        about: What its values are, as a sentence for users.
        is_always: Whether every answer has it; else only those to some parameters.
        may_be_null: Whether a row may have no value.
        values: The only values; empty if there are others.
    """

    name: str
    kind: ColumnKind
    about: str
    is_always: bool = True
    may_be_null: bool = False
    values: tuple[str, ...] = ()


class Cost(Enum):
    """What the answer to a request costs, which limits how many a service makes at a time."""

    CHEAP = "cheap"
    """No more than a look-up."""
    ORDINARY = "ordinary"
    """What a page may cost, or more if its parameters ask for more (`arclink.service.shares`)."""
    EXPENSIVE = "expensive"
    """It reads the whole store, many captures or other services."""


class ToAnswer(NamedTuple, Generic[Query]):
    """The graph, query and limits of one answer.

    Attributes:
        graph: The store, or a view of it.
        query: The query.
        budget: The most that one answer reads; None for the limits of a page.
        replay: The addresses of mementos.
        where: The path or URL of the store, next to which its tables are kept; or empty.
        cache: Folder for slices of the whole graph; None to make them for this answer only.
        archive: Name of the archive, for those who cite the answer; or empty.
    """

    graph: Scans
    query: Query
    budget: Budget | None = None
    replay: ReplayPrefix = NO_REPLAY
    where: str = ""
    cache: Path | None = None
    archive: str = ""


@dataclass(frozen=True, slots=True)
class Capability(Generic[Query]):
    """Something that can be asked of a graph, and is answered in rows.

    Attributes:
        name: Name of the command, the resource and the method.
        asks: What it answers, as a sentence.
        about: The help of the command and of the method.
        query: The query, with its parameters.
        answer: Answers it.
        head: The `TypedDict` of the JSON fields before the rows.
        lists: The columns of each list of rows, by its name in JSON.
        examples: Command lines.
        subset: The parameter that selects a subset; on the command line it may be the first word.
        has_replay: Whether answers have the addresses of mementos in a replay system.
        is_question: Whether parameters ask the question that has its name: it is answered by SQL
            (`arclink.analysis.questions`), at each door.
        has_one_list: Whether an answer has only one of its lists, as the parameters say.
        group: The group of commands that has its command; empty without.
        cost: What an answer costs a service. Expensive ones read the whole graph: it makes one at a
            time.
    """

    name: str
    asks: str
    about: str
    query: type[Query]
    answer: "Callable[[ToAnswer[Query]], RowAnswer]"
    head: type
    lists: Mapping[str, tuple[RowColumn, ...]]
    examples: tuple[str, ...] = ()
    subset: AnyParameter = SUBSET
    has_replay: bool = False
    is_question: Callable[[Given], bool] = _never
    has_one_list: bool = False
    group: str = ""
    cost: Cost = Cost.ORDINARY

    @property
    def declared(self) -> tuple[AnyParameter, ...]:
        """The parameters as doors take them: a question about a part needs only its address."""
        return tuple(
            replace(one, is_required=False, otherwise="required for a page")
            if one.is_required and not one.is_positional and self.is_question is not _never
            else one
            for one in self.query.DECLARED
        )

    @property
    def schema(self) -> str:
        """Name of the JSON Schema of the answer."""
        return self.name.capitalize()

    def rows(self, asked: ToAnswer[Query], given: Given = NOTHING_GIVEN) -> "RowAnswer":
        """Return the answer, with where it is from.

        Args:
            asked: What it is answered from.
            given: The question as the caller wrote it.
        """
        return self.said_from(self.answer(asked), asked, given)

    def said_from(self, answer: "RowAnswer", asked: ToAnswer[Query], given: Given) -> "RowAnswer":
        """Return an answer in its types, with where it is from; see `rows`."""
        # Here, because commands that answer in other forms import this module.
        from arclink.access.provenance import provenance_of

        command, declared = f"{self.group} {self.name}", (*self.query.DECLARED, self.subset)
        provenance = provenance_of(asked.graph, asked.archive, command, given, declared)
        return replace(self.typed(answer), provenance=provenance)

    def typed(self, answer: "RowAnswer") -> "RowAnswer":
        """Return an answer whose columns have the declared meanings, and types without values."""
        columns = [column for columns in self.lists.values() for column in columns]
        types = {
            column.name: column.kind.value
            for column in columns
            if column.kind not in (ColumnKind.TIME, ColumnKind.TEXTS)
        }
        meanings = {column.name: column.about for column in columns}
        return replace(answer, types={**types, **answer.types}, meanings=meanings)


IN_ROWS: Final[Mapping[str, str]] = {
    "anchors": "arclink.access.formats.link_rows:ANCHORS",
    "diff": "arclink.access.formats.link_rows:DIFF",
    "count": "arclink.captures.subsets.capture_counts:COUNT",
    "path": "arclink.analysis.matrices.path_rows:PATH",
    "pagerank": "arclink.analysis.matrices.graph_queries:PAGERANK",
    "properties": "arclink.analysis.matrices.graph_queries:PROPERTIES",
}
"""Where each capability is declared: module and name, by the name of the capability."""


def capability(name: str) -> Capability[Any]:
    """Return a capability; its module is imported now.

    Raises:
        KeyError: No capability has this name.
    """
    module, _, attribute = IN_ROWS[name].partition(":")
    found: Capability[Any] = getattr(import_module(module), attribute)
    return found
