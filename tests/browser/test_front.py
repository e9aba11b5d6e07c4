"""The front page as an invitation, and rows through time in one scale or in their own."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.conftest import Service, firefox_program, looking
from tests.browser.firefox import firefox

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MOST_HIGH = 1800
"""Pixels of the front page on a screen that is 1280 wide: two screens."""

LANES = "?uri=*.kalvik2010.example&ask=linkers&by=month&external=false"

HEIGHTS = """[...document.querySelectorAll("table.lanes tr")]
    .filter(row => row.querySelector(".lane g"))
    .map(row => Math.max(...[...row.querySelectorAll(".lane g rect")]
        .map(bar => bar.getBoundingClientRect().height)))"""
"""The height of the greatest bar of each row, in pixels; Firefox counts the outline in, too."""


def test_the_front_page_takes_two_screens(browser: "Browser", tabled: Service) -> None:
    with looking(browser, tabled) as page:
        page.set_viewport_size({"width": 1280, "height": 900})
        for _ in range(50):  # until all answers at a glance are there
            page.goto(f"{tabled.base_url}/demo/")
            if page.locator(".door table").count() == 5:
                break
            page.wait_for_timeout(200)
        assert page.locator(".door").count() == 5 + 1  # and pages to begin with
        assert page.evaluate("document.documentElement.scrollHeight") <= MOST_HIGH
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def check(own: list[float], common: list[float]) -> None:
    """Check the heights of rows, which have 222, 16, 14, … links at most."""
    assert all(abs(one - 26) < 1.5 for one in own), own
    assert abs(common[0] - 26) < 1.5, common
    assert 0.5 < common[1] < 26 * 16 / 222 + 1.5, common
    heights = [round(one, 2) for one in common]
    assert heights == sorted(heights, reverse=True)


def test_rows_have_their_own_scale_or_one_in_chromium(browser: "Browser", tabled: Service) -> None:
    with looking(browser, tabled) as page:
        page.goto(f"{tabled.base_url}/demo/{LANES}")
        own = page.evaluate(HEIGHTS)
        page.get_by_label("One scale for all rows").check()
        check(own, page.evaluate(HEIGHTS))
        assert page.get_by_text("A bar of full height: 222 links in one month.").is_visible()


def test_rows_have_their_own_scale_or_one_in_firefox(tabled: Service, tmp_path: Path) -> None:
    with firefox(firefox_program(), tmp_path) as tab:
        tab.goto(f"{tabled.base_url}/demo/{LANES}")
        own = tab.evaluate(f"JSON.stringify({HEIGHTS})")
        tab.evaluate("document.querySelector('.one-scale').click()")
        check(*(json.loads(str(one)) for one in (own, tab.evaluate(f"JSON.stringify({HEIGHTS})"))))
