"""What a service may be told, with defaults that suit one machine."""

from dataclasses import dataclass, field

from arclink.access.grouping import Budget


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of one service.

    Attributes:
        longest_query: Characters of the query part of a request; above it is a 414. A percent-encoded URI takes up to three
            times its own length.
        retry_after: Seconds that a client should wait when the store is away.
        budget: What one request may cost the store.
    """

    longest_query: int = 200_000
    retry_after: int = 30
    budget: Budget = field(default_factory=Budget)
