"""Every answer is read from one state of the store, even if a batch is loaded at the same time.

Streamed answers (``limit=0``) are the exception, because a client may read them slowly. Such an
answer contains everything that was in the store at its start, once, and perhaps some data that was
loaded later.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from arclink.store.protocols import Answers

Rest = ParamSpec("Rest")
Answer = TypeVar("Answer")
Store = TypeVar("Store", bound=Answers)


def of_one_state(
    answer: Callable[Concatenate[Store, Rest], Answer],
) -> Callable[Concatenate[Store, Rest], Answer]:
    """Make ``answer`` read one state of its store.

    Iterators in its result that are read later do not belong to that state.
    """

    @wraps(answer)
    def answered(store: Store, /, *rest: Rest.args, **named: Rest.kwargs) -> Answer:
        with store.snapshot():
            return answer(store, *rest, **named)

    return answered
