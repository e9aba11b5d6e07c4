"""The search for steep growth finds a quadratic cost, and finds none in inputs of each format."""

import pytest

from tests.fuzz import growth


@pytest.mark.costly
@pytest.mark.parametrize("name", sorted(growth.TARGETS))
@pytest.mark.parametrize("seed", [2, 3])
def test_cost_grows_with_the_size(name: str, seed: int) -> None:
    assert not growth.is_too_steep(name, seed)


@pytest.mark.costly
def test_quadratic_growth_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def square(data: bytes) -> int:
        return sum(data.count(b"x") for _ in range(len(data) // 400))

    monkeypatch.setitem(growth.TARGETS, "square", ("x", square))
    assert any(growth.is_too_steep("square", seed) for seed in range(5))
