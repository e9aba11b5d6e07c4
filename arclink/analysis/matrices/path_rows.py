"""A path of links between two URIs, as rows."""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from arclink.access.capabilities import Capability, ColumnKind, RowColumn, ToAnswer
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.formats.table import date_and_time
from arclink.access.kinds import kinds_line
from arclink.access.texts import printable, printable_uri
from arclink.analysis.matrices.paths import PathAnswer, PathChoice, PathQuery, Usable, find_path
from arclink.known import KnownLinks, ReadCapturesFields
from arclink.store.known_captures import is_read

_COLUMNS = (
    RowColumn("hop", ColumnKind.NUMBER, "Number of the link, from 1 on."),
    RowColumn("time", ColumnKind.TIME, "When it is followed."),
    RowColumn("seen", ColumnKind.TIME, "The memento that shows it."),
    RowColumn("kind", ColumnKind.TEXT, "Element and attribute of the link."),
    RowColumn("text", ColumnKind.TEXT, "Text of the link."),
    RowColumn("page", ColumnKind.TEXT, "The page with the link."),
    RowColumn("target", ColumnKind.TEXT, "Where it leads."),
)


class PathFields(TypedDict):
    """A path of links that follows time."""

    from_uri: Annotated[str, "The page at which paths begin."]
    to_uri: Annotated[str, "The page at which they end."]
    find: Annotated[str, PathChoice]
    when: Annotated[str, Usable]
    kinds: Annotated[Sequence[str], "The kinds of links that were followed."]
    found: bool
    pages: Annotated[int, "Number of pages that were searched."]
    complete: Annotated[bool, "Whether these are all pages that can be reached in that time."]
    begin_read_from: Annotated[
        ReadCapturesFields | None,
        "The captures of the page at which paths begin; null if they are not counted by time.",
    ]
    read_from: Annotated[ReadCapturesFields | None, "The same of all pages."]


def _answer(asked: ToAnswer[PathQuery]) -> RowAnswer:
    graph, query = asked.graph, asked.query.within(asked.budget)
    captures = [*graph.mementos(query.links.surt, query.links.span)]
    read = [one.timestamp for one in captures if is_read(graph, one, graph.content_of(one))]
    known = KnownLinks(len(captures), len(read), min(read, default=None), max(read, default=None))
    of_all = graph.known(query.links.span)
    is_known = any(
        next(rows, None) is not None
        for rows in (graph.inlinks(query.target), graph.mementos(query.target))
    )
    found = find_path(graph, query)
    return _as_rows(query, found, (known, of_all), "" if is_known else query.end)


def _as_rows(
    query: PathQuery,
    answer: PathAnswer,
    known: tuple[KnownLinks, KnownLinks],
    unknown: str,
) -> RowAnswer:
    about: PathFields = {
        "from_uri": printable_uri(query.links.uri),
        "to_uri": printable_uri(query.end),
        "find": query.wanted.value,
        "when": query.usable.value,
        "kinds": query.links.kinds.words,
        "found": bool(answer.hops),
        "pages": answer.pages,
        "complete": answer.is_complete,
        "begin_read_from": known[0].as_fields,
        "read_from": known[1].as_fields,
    }
    rows: list[Row] = [
        {
            "hop": number,
            "time": hop.time,
            "seen": hop.seen,
            "kind": printable(hop.link.kind),
            "text": printable(hop.link.text),
            "page": printable_uri(hop.page),
            "target": printable_uri(hop.link.target),
        }
        for number, hop in enumerate(answer.hops, 1)
    ]
    lines = [_outcome(query, answer, *known, unknown), kinds_line(query.links.kinds)]
    if not rows and answer.others:
        lines.append(
            f"{answer.others:,} links of other kinds on these pages were not followed: "
            "--kinds all follows them."
        )
    lines += [""] if rows else []
    return RowAnswer(about, lines, [one.name for one in _COLUMNS], {"hops": rows})


def _outcome(
    query: PathQuery,
    answer: PathAnswer,
    of_begin: KnownLinks,
    of_all: KnownLinks,
    unknown: str,
) -> str:
    """Return a path in a sentence, or why none was found.

    Args:
        query: The query.
        answer: Its answer.
        of_begin: What is known of the page at which paths begin, in the time of the query.
        of_all: What is known of all pages then.
        unknown: The page at which paths end if the graph has nothing about it; else empty.
    """
    looked = "1 page was searched" if answer.pages == 1 else f"{answer.pages:,} pages were searched"
    if answer.hops:
        links = "1 link" if len(answer.hops) == 1 else f"{len(answer.hops):,} links"
        return f"{links}, arriving {date_and_time(answer.hops[-1].time)}; {looked}."
    if why := of_begin.why_unknown("from that time"):
        return f"Unknown: of {printable_uri(query.links.uri)}, {why}."
    if unknown:
        return (
            f"No path: the graph does not know {printable_uri(unknown)}: it has no capture of it "
            f"and no link to it; {looked}."
        )
    if answer.is_complete:
        read_from = f" ({of_all.read_from})" if of_all.read_from else ""
        return (
            f"No path: {looked}, which are all pages that can be reached in that time{read_from}."
        )
    return (
        f"None found: {looked}, and the search ended there. Allow more (--most-pages, now "
        f"{query.most_pages:,}; for a shortest path also --most-hops, now {query.most_hops:,}), or "
        "a shorter time (--from, --to)."
    )


PATH = Capability(
    "path",
    "A path of links between two URIs that follows time.",
    """Show a path of links from FROM_URI to TO_URI whose times never go back.

--from and --to limit the times at which links are followed.
""",
    PathQuery,
    _answer,
    PathFields,
    {"hops": _COLUMNS},
    group="analyze",
    examples=("arclink analyze path example.org example.net --store links.db",),
)
