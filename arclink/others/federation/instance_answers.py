"""The answer of an instance: parsed, but not yet validated."""

from collections.abc import Sequence
from dataclasses import dataclass

from arclink.access.answers import LinkAnswer
from arclink.access.queries import Direction
from arclink.access.reader import MementoSummary
from arclink.known import KnownLinks


@dataclass(frozen=True, slots=True)
class ReceivedLink:
    """One link; texts as received, URIs absolute.

    Attributes:
        variants: The URIs of this end; empty if the answer has none, which means the queried URI.
        subject: The page that holds the link or is its target; empty if it is the page of the
            answer.
    """

    direction: Direction
    uri: str
    kind: str
    text: str
    rel: str | None
    timestamps: tuple[str, ...]
    variants: tuple[str, ...] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ReceivedInForce:
    """A memento in force at the queried time."""

    uri: str
    timestamp: str
    status: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class ReceivedAnswer:
    """One page of an answer.

    Attributes:
        uri: The URI that the answer is about.
        mementos: The archive's counts of its mementos; None if the answer has none.
        at: The time whose state the answer shows; None for a range, or if the answer does not
            contain it.
        malformed: Number of members that could not be parsed.
        bad_mementos: Whether the counts of mementos could not be parsed.
        bad_in_force: Number of entries of ``in_force`` that could not be parsed.
        inlinks_known: What the archive knows of the inlinks; None if it does not say so.
        next: The cursor of the next page; empty on the last page.
    """

    uri: str
    mementos: MementoSummary | None
    at: str | None
    in_force: Sequence[ReceivedInForce]
    links: Sequence[ReceivedLink]
    malformed: int = 0
    next: str = ""
    bad_mementos: bool = False
    bad_in_force: int = 0
    inlinks_known: KnownLinks | None = None


def as_received(answer: LinkAnswer) -> ReceivedAnswer:
    """Return an answer of this process in the form of another instance's answer."""
    links = [
        ReceivedLink(
            direction,
            member.uri,
            member.kind,
            member.text,
            member.rel,
            member.timestamps,
            member.variants,
        )
        for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks))
        for member in members
    ]
    in_force = [
        ReceivedInForce(
            found.memento.original, found.memento.timestamp, found.memento.status, found.is_known
        )
        for found in answer.in_force
    ]
    are_found = any(link.direction is Direction.IN for link in links)
    is_known = answer.inlinks_known(are_found=are_found)
    known = KnownLinks.said(is_known) if are_found else answer.known_inlinks()
    return ReceivedAnswer(
        answer.query.uri,
        answer.mementos,
        answer.query.at,
        in_force,
        links,
        0,
        answer.next or "",
        inlinks_known=KnownLinks.told(is_known, known.captures, known.read),
    )
