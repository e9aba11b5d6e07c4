"""The export query, parsed once from the parameters of a caller.

The command line and the Python API pass the same strings. Options that a format cannot use are
refused, never ignored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Self

from arclink.access.declarations import (
    AT,
    COMMON,
    KINDS,
    KINDS_TO_FOLLOW,
    NOTHING_GIVEN,
    TIMES,
    AnyParameter,
    DeclaredQuery,
    Given,
    Parameter,
    choice,
    number,
    whole_number,
)
from arclink.access.kinds import ALL_KINDS, NAVIGATION, Kinds
from arclink.access.queries import ANY_PAGE, ConflictError, LinkQuery
from arclink.analysis.matrices.slices import Level


class Spells(Enum):
    """The meaning of the spells of a dynamic graph: the times at which a link exists."""

    OBSERVED = "observed"
    IN_FORCE = "in-force"


class ExportFormat(Enum):
    """The file formats; ``docs/reference/exports.md`` has a section for each."""

    PARQUET = "parquet"
    CSV = "csv"
    CSV_IMAGES = "csv-images"
    NQUADS = "nquads"
    GRAPHML = "graphml"
    GEXF = "gexf"
    ARCS = "arcs"
    WEBLAB = "weblab"
    DUCKDB = "duckdb"
    CC_INDEX = "cc-index"
    ARCH = "arch"

    @property
    def is_graph(self) -> bool:
        """Whether it has nodes and counted links, instead of a row per link of each page."""
        return self in (ExportFormat.GRAPHML, ExportFormat.GEXF, ExportFormat.ARCS)

    @property
    def is_script(self) -> bool:
        """Whether an SQL script makes its tables of all captures and links."""
        return self is ExportFormat.DUCKDB or self.is_folder

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder with a file per table."""
        return self in (ExportFormat.WEBLAB, ExportFormat.CC_INDEX, ExportFormat.ARCH)


_FROM_ONE = whole_number(None, "a number from 1 on", least=1)

FORMAT = Parameter(
    "format",
    "Format of the file.",
    choice(ExportFormat),
    is_required=True,
    see="reference/exports.md",
    fields=("form",),
)
LEVEL = Parameter(
    "level",
    "Level of the nodes.",
    choice(Level),
    otherwise="host for graphs, uri for tables",
)
_MIN_COUNT = Parameter(
    "min-count",
    "Leave out links that fewer mementos show, and in tables of counts the rows with fewer links; "
    "1 leaves out nothing.",
    _FROM_ONE,
    default="1",
    metavar="N",
)
TOP = Parameter(
    "top",
    "Only the N nodes with the most linking nodes.",
    _FROM_ONE,
    metavar="N",
)
CORE = Parameter(
    "core",
    "Only nodes with at least N neighbours among the remaining nodes.",
    _FROM_ONE,
    metavar="N",
)
_BACKBONE = Parameter(
    "backbone",
    "Only links that are significant at this level (disparity filter), such as 0.05.",
    number(least=0, most=1, is_above=True),
    metavar="ALPHA",
)
SPELLS = Parameter(
    "spells",
    "With gexf: the times at which a link exists.",
    choice(Spells),
    default=Spells.OBSERVED.value,
)
_KINDS_OF_EXPORT = replace(
    KINDS_TO_FOLLOW,
    default=None,
    otherwise="navigation; a@href in csv, img@src in csv-images, all in nquads",
)

EXPORT_PARAMETERS: tuple[AnyParameter, ...] = (
    FORMAT,
    LEVEL,
    *TIMES,
    *(_KINDS_OF_EXPORT if parameter is KINDS else parameter for parameter in COMMON),
    _MIN_COUNT,
    TOP,
    CORE,
    _BACKBONE,
    SPELLS,
)


@dataclass(frozen=True, slots=True)
class ExportQuery(DeclaredQuery):
    """A query for an export.

    Attributes:
        links: The query for the links; its span, time, kinds and redirects are used, its URI is
            not.
        min_count: Smallest number of mementos of a link of a graph, or of links of a row of counts;
            1 keeps all.
        top: Largest number of nodes: those that most nodes link to; None for all.
        core: Smallest number of neighbours of each node among the remaining nodes; None for no such
            rule.
        backbone: Largest significance (alpha of the disparity filter) of a remaining link; None for
            no such rule.
        spells: The meaning of the spells of a dynamic graph.
        given: The parameters as the caller gave them.
    """

    DECLARED = EXPORT_PARAMETERS

    links: LinkQuery
    form: ExportFormat
    level: Level
    min_count: int = 1
    top: int | None = None
    core: int | None = None
    backbone: float | None = None
    spells: Spells = Spells.OBSERVED
    given: Given = field(default=NOTHING_GIVEN, compare=False, repr=False)

    @property
    def is_dynamic(self) -> bool:
        """Whether links appear and disappear in the exported graph."""
        return self.form is ExportFormat.GEXF and self.links.at is None

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        form = FORMAT.required(given)
        _refuse_inapplicable(form, given)
        links = LinkQuery.of(given, uri=ANY_PAGE, kinds=_KINDS.get(form, NAVIGATION))
        level = Level.HOST if form.is_graph else Level.URI
        values = cls.values(given, {"level": level, **otherwise})
        return cls(links=links, given=given, **values)


_KINDS: Mapping[ExportFormat, Kinds] = {
    ExportFormat.CSV: Kinds.of("a@href"),
    ExportFormat.CSV_IMAGES: Kinds.of("img@src"),
    ExportFormat.NQUADS: ALL_KINDS,
    **{form: ALL_KINDS for form in ExportFormat if form.is_script},
}
"""Default kinds of formats that differ from `NAVIGATION`.

Both tables are those of Archives Unleashed.
"""

_URI_ONLY = (ExportFormat.PARQUET, ExportFormat.CSV_IMAGES, ExportFormat.NQUADS)


def _refuse_inapplicable(form: ExportFormat, given: Given) -> None:
    graphs = ", ".join(one.value for one in ExportFormat if one.is_graph)
    level = LEVEL.optional(given)
    has_counts = form.is_graph or (form is ExportFormat.CSV and level in (Level.HOST, Level.DOMAIN))
    no = f"cannot be used with format={form.value}"
    one_row = (
        f"must be uri with format={form.value}, which has one row per link; csv can count, too"
    )
    everything = f"{no}, which has everything; for a part, use a subset"
    conflicts: Sequence[tuple[AnyParameter, bool, str]] = (
        *((one, form.is_script, everything) for one in EXPORT_PARAMETERS if one is not FORMAT),
        (LEVEL, form in _URI_ONLY and level is not Level.URI, one_row),
        *(
            (cut, not form.is_graph, f"{no}: only {graphs} can be cut")
            for cut in (TOP, CORE, _BACKBONE)
        ),
        (SPELLS, form is not ExportFormat.GEXF, f"{no}: only gexf has spells"),
        (
            SPELLS,
            given.has(AT),
            f"cannot be used with at={given.text(AT)}: one time has no spells",
        ),
        (_MIN_COUNT, not has_counts, f"{no}, whose rows are single links"),
    )
    for parameter, is_wrong, why in conflicts:
        if is_wrong and given.text(parameter):
            raise ConflictError(parameter.name, given.text(parameter), why)
