"""Attempts are repeated while they may succeed; the caller gets the last failure."""

import pytest

from arclink.network.retries import TemporaryError, retried


def test_an_attempt_is_repeated_after_each_pause_or_the_wait_that_was_asked_for() -> None:
    failures = [TemporaryError(OSError("busy")), TemporaryError(OSError("busy"), wait=7.0)]
    waits: list[float] = []

    def attempt() -> str:
        if failures:
            raise failures.pop(0)
        return "answer"

    assert retried(attempt, (1.0, 2.0, 4.0), waits.append) == "answer"
    assert waits == [1.0, 7.0]


def test_the_last_failure_is_raised_with_its_cause() -> None:
    attempts = []

    def attempt() -> None:
        attempts.append(1)
        raise TemporaryError(OSError("busy")) from ValueError("status 503")

    with pytest.raises(OSError, match="busy") as failed:
        retried(attempt, (0.0, 0.0), lambda seconds: None)
    assert isinstance(failed.value.__cause__, ValueError)
    assert len(attempts) == 3


def test_an_error_that_does_not_pass_is_raised_at_once() -> None:
    def attempt() -> None:
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file"):
        retried(attempt, (1.0,), lambda seconds: pytest.fail("it waits"))
