"""The state of a page's links at a time; "not captured" and "not read" do not mean "no link"."""

from enum import Enum

from arclink.known import is_read
from arclink.model import Memento


class State(Enum):
    """What is known about the links of one page at a time, the most informative state first."""

    READ = "read"
    NO_PAGE = "no page"
    NOT_READ = "not read"
    NOT_CAPTURED = "not captured"


def state_of(memento: Memento, *, is_known: bool) -> State:
    """Return the state that ``memento`` shows; ``is_known`` says whether its links are known."""
    if is_known:
        return State.READ
    return State.NO_PAGE if is_read(memento, has_content=False) else State.NOT_READ
