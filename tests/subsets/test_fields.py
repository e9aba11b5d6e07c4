"""Values of fields are read, and texts matched with them, in linear time."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.captures.subsets.fields import glob, wide_ranges
from arclink.captures.subsets.language import SelectionError, parse_selection

LONG = "a" * 19_000


@given(st.text("ab*\n", max_size=8), st.text("ab*\n", max_size=8))
def test_a_star_stands_for_any_text(pattern: str, text: str) -> None:
    expected = ".*".join(map(re.escape, pattern.split("*")))
    assert glob(pattern)(text) == (re.fullmatch(expected, text, re.DOTALL) is not None)


@pytest.mark.parametrize("pattern", ["*" * 20 + "b", "*a" * 20 + "*b", "*a" * 20 + "*b*"])
def test_many_stars_take_linear_time(pattern: str) -> None:
    began = time.process_time()
    assert not glob(pattern)(LONG)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("host", ["*." + LONG + " ", "", ":*.", "a b", "a/b", "a\x1fb"])
def test_a_text_that_is_no_host_is_refused_in_linear_time(host: str) -> None:
    began = time.process_time()
    with pytest.raises(SelectionError):
        parse_selection(f'host:"{host}"')
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("text", "is_domain"),
    [
        ("*.example.org", True),
        ("HTTP://*.example.org/", True),
        ("*.example.org/*", True),
        ("*.example.org*", False),
        ("*.example.org/news/*", False),
        ("*.*.org", False),
        ("http://*.example.org", True),
    ],
)
def test_an_asterisk_elsewhere_than_before_a_host_is_any_text(text: str, is_domain: bool) -> None:
    domain = wide_ranges("domain", "example.org")
    assert (wide_ranges("uri", text) == domain) is is_domain
