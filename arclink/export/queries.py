"""What is exported: one export query, parsed once from the words of its caller.

Command line and Python API hand over the same plain strings. What a format has no place for is refused, never ignored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import NoReturn, Self

from arclink.access import declaring
from arclink.access.declaring import AnyParameter, Given, Parameter, choice, sort_out, whole_number
from arclink.access.queries import AT, FROM, KIND, REDIRECT, TO, URI, BadParameterError, LinkQuery
from arclink.access.texts import printable_uri
from arclink.analysis.slices import Level
from arclink.model import Kind, UriR
from arclink.uris.surts import surt_of


def node_of(level: Level, uri: UriR) -> str:
    """Return the name of the node that a URI belongs to, without characters that no file may hold; empty if it belongs to none."""
    return printable_uri(level.name_of(surt_of(uri)))


class Spells(Enum):
    """From when until when a link of a dynamic graph is there."""

    OBSERVED = "observed"
    IN_FORCE = "in-force"


class Form(Enum):
    """A file format; ``docs/export.md`` has a section for each."""

    PARQUET = "parquet"
    CSV = "csv"
    CSV_IMAGES = "csv-images"
    NQUADS = "nquads"
    GRAPHML = "graphml"
    GEXF = "gexf"
    ARCS = "arcs"

    @property
    def is_graph(self) -> bool:
        """Whether it holds nodes and counted links, not a row for each link of each page."""
        return self in (Form.GRAPHML, Form.GEXF, Form.ARCS)


@dataclass(frozen=True, slots=True)
class ExportQuery:
    """What is exported, and how.

    Attributes:
        links: Which links: its span, time, kinds and redirects count, its URI does not.
        min_count: Fewest mementos that must show a link of a graph, or links that a row of counts must have; 1 leaves out nothing.
        top: Most nodes: those that most nodes link to; None for all.
        core: Fewest neighbours that each node has among the nodes that stay; None for no such rule.
        backbone: Greatest significance (alpha of the disparity filter) of a link that stays; None for no such rule.
        spells: What the spells of a dynamic graph are.
    """

    links: LinkQuery
    form: Form
    level: Level
    min_count: int = 1
    top: int | None = None
    core: int | None = None
    backbone: float | None = None
    spells: Spells = Spells.OBSERVED

    @property
    def is_dynamic(self) -> bool:
        """Whether links come and go in what is written."""
        return self.form is Form.GEXF and self.links.at is None

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]]) -> Self:
        """Return the query that ``parameters`` ask.

        Raises:
            BadParameterError: One is unknown, missing, given twice, its value is not allowed, or the format has no place for it.
        """
        given = sort_out([("uri", "example.org"), *parameters], PARAMETERS)  # a query needs some URI; none is asked here
        form = FORMAT.sure(given)
        _refuse_what_has_no_place(form, given)
        links = LinkQuery.of(given)
        if not links.kinds and form in _KINDS:
            links = replace(links, kinds=_KINDS[form])
        return cls(
            links=links,
            form=form,
            level=LEVEL.of(given) or (Level.HOST if form.is_graph else Level.URI),
            min_count=MIN_COUNT.sure(given),
            top=TOP.of(given),
            core=CORE.of(given),
            backbone=BACKBONE.of(given),
            spells=SPELLS.sure(given),
        )


def _share(text: str) -> float:
    if not 0 < float(text) <= 1:
        raise ValueError
    return float(text)


_MOST = 999_999_999
_FROM_ONE = whole_number(_MOST, "a number from 1 on", least=1)
_ALPHA = declaring.Form("a number above 0 and at most 1, such as 0.05", {"type": "number", "exclusiveMinimum": 0, "maximum": 1}, _share)

FORMAT = Parameter("format", "What to write.", choice(Form), is_required=True)
LEVEL = Parameter("level", "What a node is; host for graphs, else uri.", choice(Level))
MIN_COUNT = Parameter("min-count", "Fewest mementos of a link, or links of a row of counts.", _FROM_ONE, default="1")
TOP = Parameter("top", "Most nodes: those that most nodes link to.", _FROM_ONE)
CORE = Parameter("core", "Fewest neighbours of a node among those that stay.", _FROM_ONE)
BACKBONE = Parameter("backbone", "Greatest significance of a link that stays.", _ALPHA)
SPELLS = Parameter("spells", "What the spells of a dynamic graph are.", choice(Spells), default=Spells.OBSERVED.value)

PARAMETERS = (URI, FROM, TO, AT, KIND, REDIRECT, FORMAT, LEVEL, MIN_COUNT, TOP, CORE, BACKBONE, SPELLS)

_KINDS: Mapping[Form, frozenset[Kind]] = {Form.CSV: frozenset({Kind("a@href")}), Form.CSV_IMAGES: frozenset({Kind("img@src")})}
"""What Archives Unleashed has in these files; other kinds have to be asked for."""

_URI_ONLY = (Form.PARQUET, Form.CSV_IMAGES, Form.NQUADS)


def _refuse_what_has_no_place(form: Form, given: Given) -> None:
    graphs = ", ".join(one.value for one in Form if one.is_graph)
    level = LEVEL.of(given)
    if form in _URI_ONLY and level not in (None, Level.URI):
        _refuse(LEVEL, given, f"uri with format={form.value}, which has a row for each link; csv has counts, too")
    for cut in (TOP, CORE, BACKBONE):
        if given.text(cut) and not form.is_graph:
            _refuse(cut, given, f"none with format={form.value}; only {graphs} can be cut")
    if given.text(SPELLS) and form is not Form.GEXF:
        _refuse(SPELLS, given, f"none with format={form.value}; only gexf has spells")
    if given.text(SPELLS) and given.text(AT):
        _refuse(SPELLS, given, f"no spells at one time (at={given.text(AT)})")
    has_counts = form.is_graph or (form is Form.CSV and level in (Level.HOST, Level.DOMAIN))
    if given.text(MIN_COUNT) and not has_counts:
        _refuse(MIN_COUNT, given, f"none with format={form.value}, whose rows are single links")


def _refuse(parameter: AnyParameter, given: Given, allowed: str) -> NoReturn:
    raise BadParameterError(parameter.name, given.text(parameter), allowed)
