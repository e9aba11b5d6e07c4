"""What is exported: one export query, parsed once from the words of its caller.

Command line and Python API hand over the same plain strings. What a format has no place for is refused, never ignored.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

from arclink.access.parameters import sorted_out
from arclink.access.queries import BadParameterError, LinkQuery
from arclink.access.texts import printable_uri
from arclink.analysis.slices import Level
from arclink.model import Kind, UriR
from arclink.uris.surts import surt_of

OWN = ("format", "level", "min-count", "top", "core", "backbone", "spells")
PARAMETERS = ("from", "to", "at", "kind", "redirects", *OWN)


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
        own, others = sorted_out(parameters, PARAMETERS, OWN)
        form = _form(own.get("format", ""))
        _refuse_what_has_no_place(form, own, dict(others).get("at", ""))
        links = LinkQuery.from_parameters([("uri", "example.org"), *others])  # a query needs some URI; none is asked here
        if not links.kinds and form in _KINDS:
            links = replace(links, kinds=_KINDS[form])
        return cls(
            links=links,
            form=form,
            level=_level(form, own.get("level", "")),
            min_count=_number("min-count", own.get("min-count", "1")),
            top=_number("top", own["top"]) if "top" in own else None,
            core=_number("core", own["core"]) if "core" in own else None,
            backbone=_share(own["backbone"]) if "backbone" in own else None,
            spells=_spells(own.get("spells", Spells.OBSERVED.value)),
        )


_KINDS: Mapping[Form, frozenset[Kind]] = {Form.CSV: frozenset({Kind("a@href")}), Form.CSV_IMAGES: frozenset({Kind("img@src")})}
"""What Archives Unleashed has in these files; other kinds have to be asked for."""

_URI_ONLY = (Form.PARQUET, Form.CSV_IMAGES, Form.NQUADS)


def _form(text: str) -> Form:
    try:
        return Form(text)
    except ValueError as error:
        raise BadParameterError("format", text, ", ".join(form.value for form in Form)) from error


def _level(form: Form, text: str) -> Level:
    default = Level.HOST if form.is_graph else Level.URI
    try:
        level = Level(text) if text else default
    except ValueError as error:
        raise BadParameterError("level", text, "uri, host or domain") from error
    if form in _URI_ONLY and level is not Level.URI:
        raise BadParameterError("level", text, f"uri with format={form.value}, which has a row for each link; csv has counts, too")
    return level


def _refuse_what_has_no_place(form: Form, own: Mapping[str, str], at: str) -> None:
    graphs = ", ".join(form.value for form in Form if form.is_graph)
    for name in ("top", "core", "backbone"):
        if name in own and not form.is_graph:
            raise BadParameterError(name, own[name], f"none with format={form.value}; only {graphs} can be cut")
    if "spells" in own and form is not Form.GEXF:
        raise BadParameterError("spells", own["spells"], f"none with format={form.value}; only gexf has spells")
    if "spells" in own and at:
        raise BadParameterError("spells", own["spells"], f"no spells at one time (at={at})")
    counts = form.is_graph or (form is Form.CSV and own.get("level") in ("host", "domain"))
    if "min-count" in own and not counts:
        raise BadParameterError("min-count", own["min-count"], f"none with format={form.value}, whose rows are single links")


def _number(name: str, text: str) -> int:
    if re.fullmatch(r"[0-9]{1,9}", text) is None or int(text) < 1:
        raise BadParameterError(name, text, "a number from 1 on")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError as error:
        raise BadParameterError("backbone", text, "a number above 0 and at most 1, such as 0.05") from error
    if not 0 < share <= 1:
        raise BadParameterError("backbone", text, "a number above 0 and at most 1, such as 0.05")
    return share


def _spells(text: str) -> Spells:
    try:
        return Spells(text)
    except ValueError as error:
        raise BadParameterError("spells", text, "observed or in-force") from error
