"""Every benchmark can be selected by name, and the README describes it."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.run import LONG, USUAL
from benchmarks.this_machine import machine

README = Path(__file__).resolve().parents[2] / "benchmarks/README.md"


@pytest.mark.parametrize("name", [*USUAL, *LONG])
def test_a_benchmark_is_a_module_with_one_function_that_yields_tables(name: str) -> None:
    assert (
        import_module(f"benchmarks.{name}").measure.__annotations__["return"].__args__[0].__name__
        == "Table"
    )


def test_the_readme_has_a_row_for_each_benchmark_in_the_order_they_run() -> None:
    table = README.read_text("utf-8").partition("## How it is measured")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [*USUAL, *LONG]


def test_results_say_on_what_they_were_measured() -> None:
    text = machine()
    assert re.search(r"\d+ cores, \d+ GB; Python 3\.\d+", text)
    assert re.search(r"ArcLink \d+\.\d+.*selectolax \d", text)
