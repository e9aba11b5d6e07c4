"""``arclink analyze spread URI``: the first pages that linked to a URI, host or domain."""

import click

from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.kinds import kinds_line
from arclink.access.texts import printable, printable_uri
from arclink.analysis.link_scope import LinkScope, other_kinds_to
from arclink.analysis.slices import Level
from arclink.analysis.spread import FirstLink, adoption, first_links
from arclink.analysis.targets import Target
from arclink.analysis.windows import WHOLE, Windows
from arclink.cli.analyze.history_options import (
    external_option,
    level_option,
    links_asked,
    windows_asked,
)
from arclink.cli.options import store_option
from arclink.cli.question_options import kinds_to_follow_option, redirects_option
from arclink.cli.row_options import row_format_option, write_rows
from arclink.store.location import open_store

_SOURCES = ("first", "last_without", "text", "target", "page")
_ADOPTION = ("window", "new_pages", "dated", "new_hosts", "pages", "hosts")


EXAMPLES = ("arclink analyze spread example.org --store links.db",)


@click.command(short_help="The first links to a URI, host or domain, and their spread.")
@click.argument("uri")
@store_option
@level_option
@click.option(
    "--by",
    default="",
    metavar="WINDOWS",
    help="Count new pages and hosts per window instead of listing pages: day, month, year, or times and ranges.",
)
@kinds_to_follow_option
@redirects_option
@external_option
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    metavar="N",
    help="Maximum number of pages; 0 for all.",
)
@row_format_option
def command(
    uri: str,
    store: str,
    level: str,
    by: str,
    kinds: tuple[str, ...],
    redirects: str,
    is_external: bool,
    limit: int,
    name: str,
) -> None:
    """Show the first pages that linked to URI, or to its host or domain.

    Each has the time since when it did, and the last time it did not. With --by, show how links
    spread over pages and hosts (docs/analysis.md). URI need not have been
    captured itself.
    """
    windows = Windows.parse(by) if by else None
    target = Target.asked(uri, Level(level))
    links = links_asked(uri, kinds=kinds, redirects=redirects)
    with open_store(store) as graph:
        if windows:
            windows_asked(graph, windows)
        found = first_links(graph, target, links, LinkScope(target.level, links.wants, is_external))
        others = [] if found else other_kinds_to(graph, target, links)
    dated = sum(link.last_without is not None for link in found)
    lines = [
        f"{printable_uri(target.uri)}  ({printable_uri(target.name)})",
        f"{len(found):,} pages link to it, {dated:,} of them have an earlier capture without the link."
        if found
        else "No page links to it.",
        kinds_line(links.kinds),
        *others,
    ]
    about = {
        "uri": printable_uri(target.uri),
        "level": level,
        "name": printable_uri(target.name),
        "kinds": links.kinds.words,
        "total": len(found),
        "dated": dated,
    }
    write_rows(
        _adoption(found, windows, about, lines)
        if windows
        else _sources(found, limit, about, lines),
        name,
    )


def _sources(
    found: list[FirstLink], limit: int, about: dict[str, object], lines: list[str]
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
    found: list[FirstLink], windows: Windows, about: dict[str, object], lines: list[str]
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
