"""An answer as an instance tells it: read, but not yet believed."""

from collections.abc import Sequence
from dataclasses import dataclass

from arclink.access.answers import LinkAnswer
from arclink.access.queries import Direction
from arclink.access.reading import MementoSummary


@dataclass(frozen=True, slots=True)
class ToldLink:
    """One link; texts as they came, URIs absolute."""

    direction: Direction
    uri: str
    kind: str
    text: str
    rel: str | None
    timestamps: tuple[str, ...]
    variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToldInForce:
    """A memento in force at the time asked for."""

    uri: str
    timestamp: str
    status: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class ToldAnswer:
    """One page of an answer.

    Attributes:
        uri: What it is about.
        mementos: What the archive knows of it; None if it does not say.
        at: The time it holds for; None for a range, or if it does not say.
        malformed: Members that are none.
        next: The cursor of the next page; empty if there is none.
    """

    uri: str
    mementos: MementoSummary | None
    at: str | None
    in_force: Sequence[ToldInForce]
    links: Sequence[ToldLink]
    malformed: int = 0
    next: str = ""


def told_by(answer: LinkAnswer) -> ToldAnswer:
    """Return an answer of this process as another instance would have told it."""
    links = [
        ToldLink(direction, member.uri, member.kind, member.text, member.rel, member.timestamps, member.variants)
        for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks))
        for member in members
    ]
    in_force = [
        ToldInForce(found.memento.original, found.memento.timestamp, found.memento.status, found.is_known) for found in answer.in_force
    ]
    return ToldAnswer(answer.query.uri, answer.mementos, answer.query.at, in_force, links, 0, answer.next or "")
