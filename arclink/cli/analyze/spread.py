"""``arclink analyze spread URI``: the first pages that linked to a URI, host or domain."""

from collections.abc import Mapping
from dataclasses import replace

import click

from arclink.access.common import COMMON_TO_FOLLOW
from arclink.access.declarations import TEXT, Given, Parameter
from arclink.access.formats.rows import ROW_FORMAT, Row, RowAnswer
from arclink.access.kinds import kinds_line
from arclink.access.queries import URI
from arclink.access.texts import printable, printable_uri
from arclink.analysis.link_scope import LinkScope, other_kinds
from arclink.analysis.spread import FirstLink, adoption, first_links
from arclink.analysis.targets import Target
from arclink.analysis.windows import WHOLE, Windows
from arclink.cli.analyze.history_options import (
    EXTERNAL,
    LEVEL,
    ROWS,
    requested_links,
    requested_relations,
)
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH
from arclink.cli.output import write_answer

_SOURCES = ("first", "last_without", "text", "target", "page")
_ADOPTION = ("window", "new_pages", "dated", "new_hosts", "pages", "hosts")

BY = Parameter(
    "by",
    "Count new pages and hosts per window instead of listing pages: day, month, year, or "
    "times and ranges.",
    TEXT,
    metavar="WINDOWS",
)
PAGES = replace(ROWS, about="Maximum number of pages; 0 for all.")

EXAMPLES = ("arclink analyze spread example.org --store links.db",)


@click.command()
@takes(*GRAPH, URI, LEVEL, BY, *COMMON_TO_FOLLOW, EXTERNAL, PAGES, ROW_FORMAT)
def command(given: Given) -> None:
    """Show the first pages that linked to URI, or to its host or domain.

    For each page, show its first memento with the link, and its last memento without the link
    before that. With --by, show how links spread over pages and hosts
    (docs/reference/analysis.md). No capture of URI itself is needed.
    """
    by = BY.optional(given)
    windows = Windows.parse(by) if by else None
    target = Target.asked(given.text(URI), LEVEL.required(given))
    links, is_external = requested_links(given), EXTERNAL.required(given)
    with requested_relations(given, windows) as relations:
        found = first_links(relations, target, LinkScope(target.level, links.wants, is_external))
        others = [] if found else other_kinds(relations, links, target.part)
    dated = sum(link.last_without is not None for link in found)
    lines = [
        f"{printable_uri(target.uri)}  ({printable_uri(target.name)})",
        (
            f"{len(found):,} pages link to it, {dated:,} of them have an earlier capture without "
            "the link."
        )
        if found
        else "No page links to it.",
        kinds_line(links.kinds),
        *others,
    ]
    about = {
        "uri": printable_uri(target.uri),
        "level": target.level.value,
        "name": printable_uri(target.name),
        "kinds": links.kinds.words,
        "total": len(found),
        "dated": dated,
    }
    rows = (
        _adoption(found, windows, about, lines)
        if windows
        else _sources(found, PAGES.required(given), about, lines)
    )
    write_answer(ROW_FORMAT.required(given).write(rows))


def _sources(
    found: list[FirstLink], limit: int, about: Mapping[str, object], lines: list[str]
) -> RowAnswer:
    shown = found[:limit] if limit else found
    rows: list[Row] = [
        {
            "first": link.first_with,
            "last_without": link.last_without,
            "text": printable(link.text),
            "target": printable_uri(link.target),
            "page": printable_uri(link.page),
        }
        for link in shown
    ]
    more = [f"The first {len(shown):,} of them:"] if len(shown) < len(found) else []
    return RowAnswer(
        about,
        [*lines, *more, *([""] if rows else [])],
        _SOURCES,
        {"pages": rows},
        shown=("first", "last_without", "text", "page"),
    )


def _adoption(
    found: list[FirstLink], windows: Windows, about: Mapping[str, object], lines: list[str]
) -> RowAnswer:
    spans = (
        windows.listed or windows.between(found[0].first_with, found[-1].first_with)
        if found
        else []
    )
    rows: list[Row] = [
        row._asdict() for row in adoption(found, spans or ([WHOLE] if found else []))
    ]
    return RowAnswer(about, [*lines, *([""] if rows else [])], _ADOPTION, {"windows": rows})
