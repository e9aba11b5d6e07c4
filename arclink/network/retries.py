"""Repeated attempts: the only loop that sends a failed request again."""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

_Result = TypeVar("_Result")


def doubled(first: float, number: int) -> tuple[float, ...]:
    """Return pauses in seconds, each twice the one before.

    >>> doubled(0.5, 3)
    (0.5, 1.0, 2.0)
    """
    return tuple(first * 2**power for power in range(number))


PAUSES = doubled(0.5, 6)
"""Seconds before the second attempt at a file and before each further one.

They are 32 seconds in total: the NameNode continues to name a failed DataNode for some time.
"""


class TemporaryError(Exception):
    """An attempt failed in a way that may pass.

    Args:
        error: Raised if this was the last attempt.
        wait: Seconds that the server asked for in place of the pause; None if it did not.
    """

    def __init__(self, error: Exception, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait = wait


def retried(
    attempt: Callable[[], _Result],
    pauses: Iterable[float] | None = None,
    sleep: Callable[[float], None] | None = None,
) -> _Result:
    """Return the result of the first attempt that raises no `TemporaryError`.

    Args:
        attempt: Called at most once more than there are pauses.
        pauses: Seconds before each further attempt; by default `PAUSES`. They are read
            one at a time, each before the attempt that it follows.
        sleep: Function that waits; by default `time.sleep`.

    Raises:
        Exception: The last attempt failed, too; it is the ``error`` of its `TemporaryError`.
    """
    for pause in PAUSES if pauses is None else pauses:
        try:
            return attempt()
        except TemporaryError as failure:
            (sleep or time.sleep)(pause if failure.wait is None else failure.wait)
    try:
        return attempt()
    except TemporaryError as failure:
        raise failure.error from failure.__cause__
