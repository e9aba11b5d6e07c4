"""Addresses that are almost an unknown one, as a note on standard error."""

from contextlib import suppress

from arclink.access.declarations import Given
from arclink.access.queries import surt_asked
from arclink.access.texts import safe_text
from arclink.cli.options import STORE
from arclink.errors import ArclinkError
from arclink.store.protocols import Scans

_SECONDS = 2.0
"""Seconds after which a note is too late."""


def similar_note(given: Given, graph: Scans, uri: str) -> str:
    """Return a note with addresses that are almost one that the graph does not have.

    It is empty if the graph has the address, or none that is almost the same; and if the tables of
    the store are not at hand: an error message must not wait until they are made.
    """
    surt = surt_asked("uri", uri)
    if any(graph.mementos(surt)) or any(graph.inlink_kinds(surt)) or graph is not graph.whole:
        return ""
    names: list[str] = []
    with suppress(ArclinkError, ImportError):
        names = _similar_names(STORE.required(given), graph, uri)
    if not names:
        return ""
    head = "The graph does not have this address. Almost the same:"
    return "\n".join([head, *(f"  {safe_text(name)}" for name in names)])


def _similar_names(where: str, graph: Scans, uri: str) -> list[str]:
    from arclink.analysis.relations.kept import opened_relations

    if (files := opened_relations(where, graph.whole)) is None:
        return []
    from arclink.analysis.questions.asking import ask
    from arclink.analysis.questions.queries import MOST_SIMILAR, similar_queries
    from arclink.analysis.relations.database import ShownRelations, SqlLimits

    names: list[str] = []
    limits = SqlLimits(seconds=_SECONDS)
    with ShownRelations(where, graph, limits, files=files) as relations:
        for query in similar_queries(uri):
            with relations.apart() as database:
                names += [row["name"] for row in ask(database, query).table.to_pylist()]
    return names[:MOST_SIMILAR]
