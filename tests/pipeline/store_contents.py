"""Reads all data of a graph."""

from collections.abc import Iterable
from typing import TypedDict

from arclink.model import Surt
from arclink.store.protocols import GraphStore
from arclink.uris.resolution import checksum_of

Link = tuple[str, str, str, str | None]


class TrueMemento(TypedDict):
    """One line of ``truth.jsonl`` (docs/explanation/demo-archive.md)."""

    original: str
    timestamp: str
    status: str
    record_type: str
    links: list[Link] | None


def outlinks_of(
    store: GraphStore, surts: Iterable[Surt]
) -> dict[tuple[str, str], list[Link] | None]:
    """Return the links of every memento: (original, timestamp) → links in page order, None where
    they are not known.
    """
    answers: dict[tuple[str, str], list[Link] | None] = {}
    for surt in surts:
        for memento in store.mementos(surt):
            content = store.content_of(memento)
            links: list[Link] | None = None
            if content is not None:
                links = [
                    (link.target, link.kind, link.text, link.rel)
                    for link in store.outlinks(content)
                ]
            answers[memento.original, memento.timestamp] = links
    return answers


def inlinks_of(store: GraphStore, surts: set[Surt]) -> set[tuple[str, str, Link]]:
    """Return every link seen from its target: (original, timestamp, link)."""
    return {
        (sighting.original, sighting.timestamp, (link.target, link.kind, link.text, link.rel))
        for surt in surts
        for link in store.inlinks(surt)
        for sighting in store.sightings(link.content)
    }


def true_outlinks(truth: list[TrueMemento]) -> dict[tuple[str, str], list[Link] | None]:
    answers: dict[tuple[str, str], list[Link] | None] = {}
    for one in truth:
        links = one["links"]
        answers[one["original"], one["timestamp"]] = (
            None if links is None else [(t, k, w, r) for t, k, w, r in links]
        )
    return answers


def graph_of(store: GraphStore) -> set[tuple[object, ...]]:
    """Return all of a graph but the names of its files: mementos; title and links by content."""
    rows: set[tuple[object, ...]] = set()
    for surt in store.surts(""):  # type: ignore[arg-type]
        for memento in store.mementos(surt):
            content = store.content_of(memento)
            rows.add((*memento[:7], memento.reason, content))
            if content is not None:
                payload = store.payload(checksum_of(content))
                assert payload is not None
                rows.add((content, payload.title, tuple(store.outlinks(content))))
        rows.update((surt, link) for link in store.inlinks(surt))
    return rows


def check_same_but_for_revisits(
    forgot: set[tuple[object, ...]], built: set[tuple[object, ...]]
) -> None:
    """Check that a store that forgot captures has the graph of one that was built without them.

    What only a revisit shows was read from a capture that is gone: the first one may have it, the
    other one never had.

    Args:
        forgot: Its `graph_of`.
        built: That of the other store.
    """
    mementos = [row for row in forgot - built if len(row) == 9]
    assert {row[6] for row in mementos} <= {"revisit"}
    shown = {row[8] for row in mementos}
    assert {row[:8] for row in mementos} == {row[:8] for row in built - forgot if row[8] is None}
    assert {
        row for row in forgot - built if not {row[0], getattr(row[1], "content", None)} & shown
    } == {*mementos}
