"""Every answer tells one state of the store: a batch that lands while an answer is read is not seen by half of it.

What is streamed (``limit=0``) is the exception, since a reader may take as long as it likes: it has everything that was there
when it began, once, and some of what came since.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from arclink.store import GraphStore

Rest = ParamSpec("Rest")
Answer = TypeVar("Answer")


def of_one_state(answer: Callable[Concatenate[GraphStore, Rest], Answer]) -> Callable[Concatenate[GraphStore, Rest], Answer]:
    """Have ``answer`` read one state of the store that it is given; what it returns to be read later goes on without that."""

    @wraps(answer)
    def answered(store: GraphStore, /, *rest: Rest.args, **named: Rest.kwargs) -> Answer:
        with store.snapshot():
            return answer(store, *rest, **named)

    return answered
