"""The state of a page's links at a time; "not captured" and "not read" do not mean "no link"."""

from enum import Enum

from arclink.model import Memento


class State(Enum):
    """What is known about the links of one page at a time, the most informative state first."""

    READ = "read"
    NO_PAGE = "no page"
    NOT_READ = "not read"
    NOT_CAPTURED = "not captured"


NOT_MODIFIED = "304"
"""Status of a revisit after the server answered "not modified": the page existed."""


def state_of(memento: Memento, *, is_known: bool) -> State:
    """Return the state that ``memento`` shows; ``is_known`` says whether its links are known."""
    if is_known:
        return State.READ
    is_gone = memento.status[:1] in ("3", "4", "5") and memento.status != NOT_MODIFIED
    return State.NO_PAGE if is_gone else State.NOT_READ
