"""What a memento tells of the links of its page: "not captured" and "not read" are not "no link"."""

from enum import Enum

from arclink.model import Memento


class State(Enum):
    """What is known of the links of one page at a time, the most telling first."""

    READ = "read"
    NO_PAGE = "no page"
    NOT_READ = "not read"
    NOT_CAPTURED = "not captured"


NOT_MODIFIED = "304"
"""Status of a revisit that the server told of: the page was there."""


def state_of(memento: Memento, *, is_known: bool) -> State:
    """Return what ``memento`` tells; ``is_known`` says whether its links are."""
    if is_known:
        return State.READ
    is_gone = memento.status[:1] in ("3", "4", "5") and memento.status != NOT_MODIFIED
    return State.NO_PAGE if is_gone else State.NOT_READ
