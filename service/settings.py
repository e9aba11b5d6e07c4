"""What a service may be told, with defaults that suit one machine."""

from dataclasses import dataclass, field

from arclink.access.grouping import Budget
from arclink.access.replay import NO_REPLAY, ReplayPrefix
from arclink.aggregate.instances import Instance
from arclink.neighbours.asking import Limits
from arclink.store.embargo import Embargo


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of one service, and its neighbours.

    Attributes:
        longest_query: Characters of the query part of a request; above it is a 414. A percent-encoded URI takes up to three
            times its own length.
        retry_after: Seconds that a client should wait when the store is away.
        budget: What one request may cost the store.
        collection: Its name among several collections of one service; empty if it is the only one.
        replay: Replay prefix that mementos are named by; empty if there is none.
        public: URL of this service as clients know it, with ``/`` at its end; empty for what their requests say.
        embargo: Captures that no answer tells of.
        archive: What answers merged from several archives call the own store.
        instances: The other services that are asked for such an answer, and no others.
        limits: What one question to all of them may cost.
    """

    longest_query: int = 200_000
    retry_after: int = 30
    budget: Budget = field(default_factory=Budget)
    collection: str = ""
    replay: ReplayPrefix = NO_REPLAY
    public: str = ""
    embargo: Embargo = field(default_factory=Embargo)
    archive: str = "here"
    instances: tuple[Instance, ...] = ()
    limits: Limits = field(default_factory=Limits)
