"""The packed outcomes of payloads."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.model import Checksum, Payload, Scope
from arclink.store.blocks.byte_layouts import pack_few
from arclink.store.blocks.relations import (
    pack_outcome,
    scope_of_outcome,
    title_of_outcome,
    unpack_outcome,
)

CHECKSUM = Checksum("A" * 32)


class Words:
    """Names with the numbers from 300 on, so that each has two bytes."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def number_of(self, name: str) -> int:
        if name not in self._names:
            self._names.append(name)
        return 300 + self._names.index(name)

    def name_of(self, number: int) -> str:
        return self._names[number - 300]


words = st.text(max_size=5)
payloads = st.builds(
    Payload,
    st.just(CHECKSUM),
    st.none() | st.sampled_from(Scope),
    words,
    words,
    st.integers(0, 1 << 40),
    words,
    st.lists(st.tuples(words, st.integers(0, 1 << 40)), max_size=3).map(tuple),
    st.none() | st.text(max_size=200),
)


@given(payloads)
def test_an_outcome_reads_back(payload: Payload) -> None:
    names = Words()
    outcome = pack_outcome(payload, names)
    assert unpack_outcome(CHECKSUM, outcome, names) == payload
    assert scope_of_outcome(outcome) == payload.scope
    assert title_of_outcome(outcome) == payload.title


@pytest.mark.parametrize("scope", [None, *Scope])
def test_an_outcome_without_title_is_that_of_0_1_0(scope: Scope | None) -> None:
    names = Words()
    payload = Payload(
        CHECKSUM, scope, "utf-8", "a.warc.gz", 1000, "PAYLOAD_READ", (("LINK_KEPT", 3),)
    )
    first = 0 if scope is None else scope + 1
    old = pack_few([first, 300, 301, 1000, 302, 303, 3])
    assert pack_outcome(payload, names) == old
    assert unpack_outcome(CHECKSUM, old, names) == payload
    titled = pack_outcome(replace(payload, title="abc"), names)
    assert titled == pack_few([first | 8, 3]) + old[1:] + b"abc"


@pytest.mark.parametrize(
    "damaged", [b"\x09\x80", b"\x09\x09abc", b"\x09", b"\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff"]
)
def test_a_damaged_outcome_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"title has|63 bits"):
        unpack_outcome(CHECKSUM, damaged, Words())
