"""Questions that historians ask, answered from the front page in at most three clicks.

Typing an address or words and pressing Enter is one click, and so is filling in a form.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Service, all_of, looking

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST_CLICKS = 3
SITE = "kalvik2010.example"
HOME = f"http://www.{SITE}/"

Step = Callable[["Page"], None]


def typing(text: str) -> Step:
    def step(page: "Page") -> None:
        page.fill("#uri", text)
        page.press("#uri", "Enter")

    return step


def following(name: str, within: str = "main") -> Step:
    def step(page: "Page") -> None:
        page.locator(f"{within} a", has_text=name).first.click()

    return step


def opening(name: str) -> Step:
    return lambda page: page.locator("summary", has_text=name).click()


def panel(heading: str) -> str:
    return f'section.panel:has(h2:has-text("{heading}"))'


def filling(**fields: str) -> Step:
    def step(page: "Page") -> None:
        page.click(".how summary")
        for name, value in fields.items():
            page.fill(f"form.narrow [name={name.rstrip('_')}]", value)
        page.click("form.narrow button")

    return step


QUESTIONS = {
    "What does the archive have, of which time, and what is missing?": (
        [opening("What was loaded")],
        ["300 captures of 12 hosts", "What is missing", "links are unknown"],
    ),
    "Which pages are about curling, also those that were never captured?": (
        [typing("curling"), following("addresses and titles", ".groups")],
        ["Which addresses, titles and links have “curling”?", "curling-corner.example"],
    ),
    "What was said about the ceremony, and who linked to it then?": (
        [typing('"opening ceremony"'), following("-", "table.question td.times")],
        ["Who linked here then"],
    ),
    "In which years was the ceremony said, and who said it first?": (
        [
            typing("ceremony"),
            following("year by year", ".groups"),
            following("Who said it first", ".groups"),
        ],
        ["Who said “ceremony” first?", "Snippet", SITE],
    ),
    "How did this page look then, and who linked to it?": (
        [following("See the page then")],
        ["Who linked here then", "Capture 8 of 8"],
    ),
    "Which page was most linked in each year?": (
        [following("What is most linked?"), filling(by="year")],
        ["Through time", "2009", "2010"],
    ),
    "Who linked to this page in December 2009, and with which words?": (
        [typing(HOME), following("Each link", ".groups"), filling(from_="2009-12", to="2009-12")],
        ["aurora-daily.example", "Kalvik 2010"],
    ),
    "Which other sites linked to this site, year by year?": (
        [
            typing(f"*.{SITE}"),
            following("rows", panel("Who links")),
            filling(by="year"),
        ],
        [f"Who linked to *.{SITE}?", "aurora-daily.example", "2009"],
    ),
    "What changed on this page between two dates?": (
        [typing(HOME), following("What changed", ".groups")],
        ["added", "removed"],
    ),
    "Which pages vanished, and since when?": (
        [following("Which pages vanished?")],
        ["vanished?", "not captured again", "error"],
    ),
    "Which pages did others link to that the archive never captured?": (
        [following("rows", panel("What is missing"))],
        ["never captured", "State"],
    ),
    "Who links to both of these sites?": (
        [typing(f"*.{SITE} *.curling-corner.example")],
        ["Who links to all of", "aurora-daily.example"],
    ),
}


@pytest.mark.parametrize("has_script", [True, False], ids=["with script", "without script"])
@pytest.mark.parametrize("asks", QUESTIONS)
def test_an_answer_is_at_most_three_clicks_from_the_front(
    browser: "Browser", tabled: Service, asks: str, has_script: bool
) -> None:
    steps, says = QUESTIONS[asks]
    assert len(steps) <= MOST_CLICKS
    with browser.new_context(java_script_enabled=has_script) as context:  # of several origins
        page = context.new_page()
        page.goto(f"{tabled.base_url}/demo/")
        for _ in range(50):  # until all answers at a glance are there
            if not page.locator("[data-block]").count():
                break
            page.wait_for_timeout(200)
            page.reload()
        for step in steps:
            step(page)
            page.wait_for_load_state()
            for _ in range(300):  # without a script, the page asks again by itself
                if not page.locator("[data-page]").count():
                    break
                page.wait_for_timeout(100)
        shown = page.locator("main").inner_text()
        assert [one for one in says if one not in shown] == []


def test_a_filter_of_some_rows_says_that_there_are_more(
    browser: "Browser", tabled: Service
) -> None:
    """Names of columns, which only narrow screens show, are not what a reader looks for."""
    with looking(browser, tabled) as page:
        page.goto(f"{tabled.base_url}/demo/?ask=pages&limit=50")
        field, status = page.get_by_label("Only rows with"), page.locator(".filter [role=status]")
        for words in ("no such words", "mime"):
            field.fill(words)
            assert status.inner_text().startswith("0 of the 50 rows on this page; there are ")
        page.goto(f"{tabled.base_url}/demo/?ask=pages&limit=0")
        field.fill("no such words")
        assert " rows" in status.inner_text()
        assert "on this page" not in status.inner_text()


def test_a_search_in_all_collections_says_which_cannot_be_read(
    browser: "Browser", tabled: Service
) -> None:
    with looking(browser, tabled, may_fail=True) as page:
        page.goto(f"{tabled.base_url}/")
        typing(HOME)(page)
        page.wait_for_load_state()
        rows = [" ".join(text.split()) for text in all_of(page, "tbody tr").all_inner_texts()]
        assert [row.split()[0] for row in rows] == ["demo", "hostile", "empty", "gone"]
        assert rows[1].startswith("hostile no captures to show none seen")
        assert rows[2] == "empty Unknown. It is empty: no archive file has been loaded yet."
        assert rows[3] == "gone Unknown: it cannot be read at the moment."
        following("demo")(page)
        page.wait_for_load_state()
        assert page.locator("h1").inner_text() == HOME
