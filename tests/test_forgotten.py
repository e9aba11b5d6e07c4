"""Takedowns by SURT: the answers of a search through all of them, without one."""

from hypothesis import given
from hypothesis import strategies as st

from arclink.forgotten import ForgottenParts
from arclink.model import Forgotten, Surt

SURTS = st.text("ab,:)/", max_size=8)


@given(prefixes=st.lists(SURTS.filter(bool)), surts=st.lists(SURTS, max_size=20))
def test_the_takedowns_of_a_surt_are_those_that_have_it(
    prefixes: list[str], surts: list[str]
) -> None:
    listed = [Forgotten(Surt(prefix)) for prefix in prefixes]
    parts = ForgottenParts(listed)
    assert bool(parts) is bool(listed)
    for surt in [*surts, *prefixes]:
        found = parts.of(surt)
        assert sorted(what.prefix for what in found) == sorted(
            what.prefix for what in listed if what.has(surt)
        )
