"""Which archives an answer is made of: only answers that were merged (`arclink.aggregate`) have any of this."""

from dataclasses import dataclass
from enum import Enum

from arclink.model import Timestamp, UriR


class Outcome(Enum):
    """How an archive took part in an answer."""

    ANSWERED = "answered"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """What became of the question put to one archive.

    Attributes:
        name: As the operator calls it.
        detail: Why it failed, or what is missing; empty if all is well.
        links: Links that it told, of both directions.
        passed_over: Links it told that cannot be true of the question, or are none.
        seconds: What the question took.
        is_cached: Whether the archive was not asked again, or said that nothing changed.
    """

    name: str
    outcome: Outcome
    detail: str = ""
    links: int = 0
    passed_over: int = 0
    seconds: float = 0.0
    is_cached: bool = False


@dataclass(frozen=True, slots=True)
class InArchives:
    """Where a merged link was seen.

    Attributes:
        uris: The URIs of the other end, distinct, sorted: variants that share a SURT.
        timestamps: By name of the archive, sorted: the mementos there that show it, distinct, sorted.
    """

    uris: tuple[UriR, ...]
    timestamps: tuple[tuple[str, tuple[Timestamp, ...]], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The archives, sorted."""
        return tuple(name for name, _ in self.timestamps)

    def showing(self, timestamp: Timestamp) -> tuple[str, ...]:
        """Return the archives with a memento of this time, sorted."""
        return tuple(name for name, timestamps in self.timestamps if timestamp in timestamps)
