"""The archives that contributed to a merged answer (`arclink.others.federation`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from arclink.model import Timestamp, UriR


class Outcome(Enum):
    """How an archive took part in an answer."""

    ANSWERED = "answered"
    PARTIAL = "partial"
    FAILED = "failed"


class Refused(Enum):
    """Why part of an instance's answer is refused; the value is the name in answers.

    A reason of the first group refuses a whole link or row; each is accepted, or refused once. A
    reason of the second group refuses part of a link, of a row or of the answer.
    """

    MALFORMED_LINK = "malformed link"
    NOT_ASKED = "direction or kind not in the query"
    BAD_KIND = "no kind of a link"
    BAD_URI = "no absolute URI"
    BAD_SOURCE = "source that cannot have been captured"
    OTHER_PAGE = "link of another page"
    NO_TIME = "link without a time that counts"
    MALFORMED_ROW = "malformed row"
    OTHER_ROW = "row about another address or time"
    REPEATED_ROW = "row that came before"

    BAD_TIME = "no point in time"
    OTHER_TIME = "time outside the query"
    OTHER_VARIANT = "variant of another page"
    CUT_TEXT = "text that was cut"
    BAD_MEMENTOS = "contradictory count of mementos"
    BAD_IN_FORCE = "memento that cannot be in force"

    @property
    def is_of_member(self) -> bool:
        """Whether a whole link or row was refused."""
        return self in _OF_MEMBERS


_OF_MEMBERS = frozenset(
    {
        Refused.MALFORMED_LINK,
        Refused.NOT_ASKED,
        Refused.BAD_KIND,
        Refused.BAD_URI,
        Refused.BAD_SOURCE,
        Refused.OTHER_PAGE,
        Refused.NO_TIME,
        Refused.MALFORMED_ROW,
        Refused.OTHER_ROW,
        Refused.REPEATED_ROW,
    }
)


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """The result of the query to one archive.

    Attributes:
        name: The operator's name for the archive.
        detail: Why it failed, or what is missing; empty if it succeeded.
        members: Number of links in its answer, both directions together; or of its rows.
        seconds: Duration of the request, in seconds.
        is_cached: Whether no request was made, or the archive answered that nothing has changed.
        refused: Number of refused parts of its answer, by reason: they cannot be true or cannot
            answer the query.
        noun: What a member is: a link, or a row of an answer to a question.
    """

    name: str
    outcome: Outcome
    detail: str = ""
    members: int = 0
    seconds: float = 0.0
    is_cached: bool = False
    refused: Mapping[Refused, int] = field(default_factory=dict)
    noun: str = "link"

    @property
    def has_answered(self) -> bool:
        """Whether its answer counts."""
        return self.outcome is not Outcome.FAILED

    @property
    def passed_over(self) -> int:
        """The number of links or rows that were refused."""
        return sum(number for reason, number in self.refused.items() if reason.is_of_member)


@dataclass(frozen=True, slots=True)
class InArchives:
    """The archives in which a merged link was seen.

    Attributes:
        uris: The URIs of the other end, distinct, sorted: variants that share a SURT.
        timestamps: Pairs of archive name and timestamps of the mementos there that show the link.
            Names are sorted; timestamps are distinct and sorted.
    """

    uris: tuple[UriR, ...]
    timestamps: tuple[tuple[str, tuple[Timestamp, ...]], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the archives, sorted."""
        return tuple(name for name, _ in self.timestamps)

    def showing(self, timestamp: Timestamp) -> tuple[str, ...]:
        """Return the names of the archives with a memento of this time, sorted."""
        return tuple(name for name, timestamps in self.timestamps if timestamp in timestamps)
