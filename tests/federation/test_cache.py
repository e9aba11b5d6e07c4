"""The cache of answers keeps its limits, and no answer longer than its instance allows."""

import pytest

from arclink.others.federation.requests import OVERHEAD, AnswerCache, HttpAnswer


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def answer(body: bytes = b"x", status: int = 200, **headers: str) -> HttpAnswer:
    return HttpAnswer(
        status,
        "application/json",
        {name.replace("_", "-"): value for name, value in headers.items()},
        body,
    )


@pytest.mark.parametrize(
    ("control", "fresh_for"),
    [
        ("", 300),
        ("max-age=10", 10),
        ("max-age=100000", 300),
        ("public, Max-Age=20", 20),
        ('max-age="5"', 5),
        ("no-cache", 0),
        ("no-store", None),
        ("private, max-age=50", None),
        ("max-age=many", 300),
    ],
)
def test_an_answer_is_fresh_as_long_as_both_sides_allow(
    control: str, fresh_for: int | None
) -> None:
    clock = Clock()
    cache = AnswerCache(10_000, 300, clock)
    cache.keep("u", answer(cache_control=control, etag='"1"'))
    assert (cache.fresh("u") is not None) == bool(fresh_for)
    assert (cache.validators("u") == {"If-None-Match": '"1"'}) == (fresh_for is not None)
    clock.now += fresh_for or 0
    assert cache.fresh("u") is None


def test_an_old_answer_is_validated_and_renewed() -> None:
    clock = Clock()
    cache = AnswerCache(10_000, 300, clock)
    cache.keep("u", answer(b"body", etag='"1"', last_modified="Sat, 21 Nov 2026 10:00:00 GMT"))
    clock.now += 301
    assert cache.validators("u") == {
        "If-None-Match": '"1"',
        "If-Modified-Since": "Sat, 21 Nov 2026 10:00:00 GMT",
    }
    renewed = cache.renewed("u", answer(b"", 304, etag='"1"'))
    assert renewed is not None
    assert renewed.body == b"body"
    assert cache.fresh("u") == renewed
    assert cache.renewed("other", answer(b"", 304)) is None


def test_the_least_used_answers_go_when_space_is_short() -> None:
    cache = AnswerCache(3 * (OVERHEAD + 10), 300)
    for url in "abc":
        cache.keep(url, answer(b"x" * 9))
    assert cache.fresh("a") is not None
    cache.keep("d", answer(b"x" * 9))
    assert [url for url in "abcd" if cache.fresh(url)] == ["a", "c", "d"]
    cache.keep("e", answer(b"x" * 10_000))
    assert cache.fresh("e") is None
    for _ in range(5):
        cache.keep("a", answer(b"x" * 9))
    assert [url for url in "abcd" if cache.fresh(url)] == ["a", "c", "d"]


def test_only_what_was_answered_is_kept() -> None:
    cache = AnswerCache(10_000, 300)
    cache.keep("u", answer(status=404))
    assert cache.fresh("u") is None
    assert AnswerCache(0, 300).validators("u") == {}


def test_a_validator_cannot_smuggle_a_header() -> None:
    cache = AnswerCache(10_000, 300)
    cache.keep("u", answer(etag='"1"\r\nX: y'))
    assert cache.validators("u") == {}
