"""The form that builds a selection, used by a person in a browser."""

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.axe import violations
from tests.browser.conftest import Service, all_of, looking, what_does_not_apply

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

KALVIK = "domain:kalvik2010.example"


def subset(page: "Page") -> str:
    return "".join(parse_qs(urlsplit(page.url).query).get("subset", []))


def wait_for_subset(page: "Page", text: str) -> None:
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("subset", [""]) == [text])
    page.wait_for_selector("body:not(.is-busy)")


def count(page: "Page") -> str:
    shown: str = page.locator("#count").inner_text()
    return shown


def test_the_count_follows_what_is_typed(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(f"{service.base_url}/demo/")
        page.get_by_role("link", name="Select captures").click()
        assert count(page) == "No condition yet: all captures are selected."
        page.get_by_label("is", exact=True).press_sequentially("kalvik2010.example", delay=20)
        wait_for_subset(page, KALVIK)
        every = count(page)
        assert every.endswith("pages.")
        page.get_by_label("Status").press_sequentially("200", delay=20)
        wait_for_subset(page, f"{KALVIK} and status:200")
        assert count(page) != every
        page.get_by_label("Of each page").select_option("latest")
        wait_for_subset(page, f"{KALVIK} and status:200 and pick:latest")
        captures, pages = (one.inner_text() for one in all_of(page, "#count strong").all())
        assert captures == pages
        assert all_of(page, "#details rect.amount").count() == 2
        # Each field is one step back, and the form has the conditions of its address.
        page.go_back()
        wait_for_subset(page, f"{KALVIK} and status:200")
        assert page.get_by_label("Of each page").input_value() == ""
        page.go_back()
        wait_for_subset(page, KALVIK)
        assert count(page) == every
        assert page.get_by_label("Status").input_value() == ""
        page.go_forward()
        wait_for_subset(page, f"{KALVIK} and status:200")
        assert page.get_by_label("Status").input_value() == "200"


def test_an_older_answer_does_not_replace_a_newer_one(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(f"{service.base_url}/demo/select")
        waiting = []
        page.route("**/select?**status=200*", lambda route: waiting.append(route))
        page.get_by_label("Status").fill("200")
        page.wait_for_timeout(600)
        assert len(waiting) == 1
        page.get_by_label("Status").fill("404")
        wait_for_subset(page, "status:404")
        shown = count(page)
        waiting[0].abort()
        page.wait_for_timeout(300)
        assert (subset(page), count(page)) == ("status:404", shown)


def test_a_mistake_is_shown_while_typing(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(f"{service.base_url}/demo/select")
        text = page.get_by_label("Further conditions")
        text.press_sequentially("host:a.example and frm:2010")
        page.locator("mark").wait_for()
        assert page.locator("mark").inner_text() == "frm:2010"
        assert "At character 20. Expected a field" in page.locator(".mistake").inner_text()
        assert text.get_attribute("aria-invalid") == "true"
        assert text.get_attribute("aria-describedby") == page.locator(".mistake").get_attribute(
            "id"
        )
        page.reload()
        assert page.locator("mark").inner_text() == "frm:2010"
        text.fill("host:a.example and from:2010")
        page.locator("mark").wait_for(state="detached")
        assert text.get_attribute("aria-invalid") is None
        assert count(page) == "0 captures of 0 pages."
        page.get_by_label("From", exact=True).fill("20x0")
        page.locator("#mistake-from").wait_for()
        assert "From: Expected a time" in page.locator(".mistake").inner_text()


def test_the_form_works_without_a_script(browser: "Browser", service: Service) -> None:
    with looking(browser, service, java_script_enabled=False) as page:
        page.goto(f"{service.base_url}/demo/select")
        page.get_by_label("is", exact=True).fill("kalvik2010.example")
        page.get_by_label("Media type").fill("text/*")
        page.get_by_role("button", name="Count").click()
        assert subset(page) == f"{KALVIK} and mime:text/*"
        shown = count(page)
        page.get_by_role("link", name="the address of this subset").click()
        assert count(page) == shown
        assert page.get_by_label("Media type").input_value() == "text/*"


def test_the_form_is_filled_with_the_keyboard_alone(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(f"{service.base_url}/demo/select")
        page.get_by_label("Where").focus()
        page.keyboard.type("host")
        page.keyboard.press("Tab")
        page.keyboard.type("aurora-daily.example")
        page.keyboard.press("Enter")
        wait_for_subset(page, "host:aurora-daily.example")
        reached = []
        page.get_by_label("Where").focus()
        names = ["place", "where", "from", "to", "mime", "status"]
        names += ["title", "text", "links-to", "pick", "subset"]
        for _ in names:
            reached.append(page.evaluate("document.activeElement.name"))
            outline = "getComputedStyle(document.activeElement).outlineStyle"
            assert page.evaluate(outline) != "none"
            page.keyboard.press("Tab")
        assert reached == names
        assert page.evaluate("document.activeElement.textContent") == "Count"


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (320, "dark")])
def test_the_form_is_for_all_screens_and_readers(
    browser: "Browser", service: Service, axe: str, width: int, scheme: str
) -> None:
    options: dict[str, Any] = {
        "color_scheme": scheme,
        "viewport": {"width": width, "height": 900},
        "bypass_csp": True,
    }
    with looking(browser, service, **options) as page:
        for query in (
            "",
            f"?subset={KALVIK} and pick:latest",
            "?subset=host:a.example and frm:2010",
            "?from=20x0&where=a b",
            "?subset=host:nobody.example",
        ):
            page.goto(f"{service.base_url}/demo/select{query}")
            assert what_does_not_apply(page) == []
            page.locator(".conditions summary").click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, query
            assert violations(page, axe) == []
