"""Dataclasses and patterns that are made at their first use are those of the standard library."""

import dataclasses
import pickle
import re
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError, field
from functools import partial
from typing import Any, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink import first_use

Item = TypeVar("Item")


def plain(dataclass: Any) -> list[type]:
    """Return classes of each kind that the package has, made by a decorator."""

    @dataclass
    class Changing:
        one: int
        two: list[int] = field(default_factory=list)

    @dataclass(frozen=True, slots=True)
    class Value:
        one: int
        two: Any = 7
        three: Any = field(default=None, compare=False)
        four: Any = field(default="x", repr=False)

    @dataclass(frozen=True, slots=True)
    class Of(Generic[Item]):
        one: Item
        two: list[Item] = field(default_factory=list)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named(Value):
        five: int = 5

    @dataclass(slots=True)
    class Prepared:
        one: int
        made: int = field(init=False)
        also: list[int] = field(default_factory=list, init=False)

        def __post_init__(self) -> None:
            self.made = self.one + 1

    @dataclass(frozen=True, eq=False)
    class Alone:
        one: int

    @dataclass(frozen=True, slots=True)
    class Own:
        one: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self))

        def __repr__(self) -> str:
            return "mine"

    @dataclass(frozen=True, slots=True)
    class Empty:
        """No field."""

    return [Changing, Value, Of, Named, Prepared, Alone, Own, Empty]


OURS, THEIRS = plain(first_use.dataclass), plain(dataclasses.dataclass)
VALUES = st.one_of(st.integers(0, 2), st.just("a"), st.none())
CALLS = st.tuples(
    st.lists(VALUES, max_size=4),
    st.dictionaries(st.sampled_from(["one", "two", "three", "four", "five", "six"]), VALUES),
)


replace: Any = dataclasses.replace  # of any class that the decorators made


def outcome(call: Callable[[], object]) -> object:
    """Return the result of a call, or the class of its error."""
    try:
        return call()
    except (TypeError, AttributeError, ValueError) as error:
        return type(error)


def facts(kind: Any, calls: list[tuple[list[Any], dict[str, Any]]]) -> Iterator[object]:
    """Yield the behaviour of a class, and of the values that some calls make."""
    yield [(one.name, one.init, one.compare) for one in dataclasses.fields(kind)]
    yield kind.__doc__ if kind.__name__ == "Empty" else kind.__match_args__
    made = [outcome(partial(kind, *words, **named)) for words, named in calls]
    yield [one if isinstance(one, type) else repr(one) for one in made]
    values = [one for one in made if not isinstance(one, type)]
    yield [[one == other for other in values] for one in values]
    hashes = [outcome(partial(hash, value)) for value in values if kind.__eq__ is not object.__eq__]
    yield [[one == other for other in hashes] for one in hashes]
    for value in values:
        yield outcome(partial(setattr, copy(value), "one", 3)) is None
        yield outcome(partial(delattr, copy(value), "one")) is None
        yield outcome(partial(setattr, copy(value), "other", 3)) is None
        yield repr(outcome(partial(dataclasses.asdict, value)))
        yield repr(outcome(partial(replace, value, one=1)))
        yield repr(copy(value)), repr(deepcopy(value))


@given(st.lists(CALLS, max_size=4))
def test_a_dataclass_is_that_of_the_standard_library(
    calls: list[tuple[list[Any], dict[str, Any]]],
) -> None:
    for ours, theirs in zip(OURS, THEIRS, strict=True):
        assert list(facts(ours, calls)) == list(facts(theirs, calls)), ours


@first_use.dataclass(frozen=True, slots=True)
class Packed:
    one: int
    two: tuple[int, ...] = ()


def test_a_value_can_be_pickled_and_stays_frozen() -> None:
    found: Any = pickle.loads(pickle.dumps(Packed(1, (2,))))
    assert found == Packed(1, (2,))
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'one'"):
        found.one = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'one'"):
        del found.one


def test_an_initialiser_is_made_at_the_first_call() -> None:
    kind: Any = plain(first_use.dataclass)[1]
    before = vars(kind)["__init__"]
    assert [kind(one).one for one in (1, 2)] == [1, 2]
    assert vars(kind)["__init__"] is not before


def test_a_pattern_is_compiled_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_ = re.compile

    def compile_and_note(text: str, flags: int) -> re.Pattern[str]:
        compiled.append(text)
        return compile_(text, flags)

    monkeypatch.setattr(re, "compile", compile_and_note)
    made = first_use.pattern("(a+)(?P<b>b)", re.IGNORECASE)
    assert (made.pattern, compiled) == ("(a+)(?P<b>b)", [])
    found = [made.fullmatch(text) for text in ("AAb", "aab", "b")]
    assert [one and (one[1], one["b"]) for one in found] == [("AA", "b"), ("aa", "b"), None]
    assert len(compiled) == 1
    assert (made.sub("x", "aBc"), made.groups) == ("xc", 2)
    with pytest.raises(re.error):
        first_use.pattern("(").search("")
