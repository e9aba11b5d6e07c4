"""What a page has not yet comes by itself: each part when it is seen, without a reload."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.browser.conftest import Service

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

HOST = "kalvik2010.example"
PENDING = "[data-block]"
TIMES = """() => performance.getEntriesByType("resource")
    .filter(one => one.initiatorType === "xmlhttprequest" && /[?&]block=/.test(one.name))
    .map(one => [one.startTime, one.responseEnd])"""
SERVES = """
from arclink.cli.main import main
from arclink.service import tables

tables._PATIENCE = -1  # no answer is there at a first visit, also on a fast machine
main()
"""


@pytest.fixture(scope="module")
def cold(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service over a copy of the demo archive, of which no answer is kept; the
    tests here ask it about different parts.
    """
    store = tmp_path_factory.mktemp("cold") / "demo.db"
    shutil.copy(service.stores / "demo.db", store)
    tables = Path(f"{service.stores / 'demo.db'}.tables")
    shutil.copytree(tables, f"{store}.tables", ignore=shutil.ignore_patterns("answers"))
    with subprocess.Popen(
        [sys.executable, "-c", SERVES, "serve", "--store", str(store), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().split(" at ")[1].split()[0].rstrip("/") + "/"
            for _ in range(300):  # until it has tables
                with suppress(HTTPError), urlopen(f"{address}ask/gaps"):
                    break
                time.sleep(0.2)
            yield address
        finally:
            process.send_signal(signal.SIGTERM)


def opened(browser: "Browser", **options: Any) -> "Page":  # Any: of Playwright
    page = browser.new_context(viewport={"width": 1280, "height": 900}, **options).new_page()
    page.set_default_timeout(30_000)
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    return page


def test_all_that_is_seen_comes_without_a_reload(browser: "Browser", cold: str) -> None:
    page = opened(browser)
    loads: list[str] = []
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    for address in ("", "?uri=*.example", "?ask=host-links&by=year"):
        page.goto(cold + address)
        loads.clear()
        said = page.locator("main").inner_text()
        assert page.locator(PENDING).count()
        while page.locator(PENDING).count():
            page.evaluate(f"document.querySelector('{PENDING}')?.scrollIntoView()")
            page.wait_for_timeout(100)
            said += page.locator("main").inner_text()
        assert loads == []
        assert "Being made." in said
        assert re.findall("reload|in a moment|try again", said, re.IGNORECASE) == []
        assert page.locator(".panel tbody tr, .question tbody tr").count() > 5
        times = page.evaluate(TIMES)
        assert times
        assert all(end <= begin for (_, end), (begin, _) in pairwise(times)), "one at a time"
    page.wait_for_selector("#grows canvas")
    page.wait_for_selector("table.is-sortable button.sort")
    page.context.close()


def test_a_part_is_fetched_when_it_is_seen(browser: "Browser", cold: str) -> None:
    page = opened(browser)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url.rpartition("block=")[2]))
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto(f"{cold}?uri=*.{HOST}")
    name = page.locator(PENDING).last.get_attribute("data-block")
    page.wait_for_timeout(1000)
    assert name not in asked
    for _ in range(300):  # what comes before it moves it
        page.evaluate(f"document.querySelector('[data-block={name}]')?.scrollIntoView()")
        page.wait_for_timeout(100)
        if not page.locator(f"[data-block={name}]").count():
            break
    assert name in asked
    assert not page.locator(f"[data-block={name}]").count()
    page.context.close()


def test_a_part_that_fails_says_so_and_is_asked_again(browser: "Browser", cold: str) -> None:
    page = opened(browser)
    fails = True

    def answer(route: "Route") -> None:
        if fails:
            route.fulfill(status=500, content_type="text/html", body="<main><p>It broke.</main>")
        else:
            route.continue_()

    page.route("**/*block=broken", answer)
    page.goto(f"{cold}?uri={HOST}&scope=host")
    part = page.locator("[data-block=broken]")
    button = part.get_by_role("button", name="Ask again")
    button.scroll_into_view_if_needed()
    assert "This part failed: It broke. Ask again" in part.inner_text()
    assert part.get_attribute("aria-busy") is None
    fails = False
    button.press("Enter")
    part.wait_for(state="detached")
    assert page.evaluate("document.activeElement.id") == "broken"
    page.context.close()


def test_a_form_in_use_stays_when_the_rest_comes(browser: "Browser", cold: str) -> None:
    page = opened(browser)

    def slowly(route: "Route") -> None:
        time.sleep(0.5)
        route.continue_()

    page.route("**/*block=*", slowly)
    page.goto(f"{cold}?ask=linkers&by=month")
    page.click(".how summary")
    field = page.locator("form.narrow input[name=from]")
    field.fill("2009")
    assert page.locator("[data-page]").count() == 1
    page.wait_for_selector("table.question")
    assert page.evaluate("[document.activeElement.name, document.activeElement.value]") == [
        "from",
        "2009",
    ]
    assert page.locator("form.narrow").count() == page.locator("#save").count() == 1
    page.context.close()


@pytest.mark.parametrize("address", [f"?uri=http://{HOST}/*", "?ask=anchors&by=year"])
def test_without_a_script_a_page_asks_again(browser: "Browser", cold: str, address: str) -> None:
    page = opened(browser, java_script_enabled=False)
    page.goto(cold + address)
    assert page.get_by_role("link", name="so can you").first.is_visible()
    page.locator(PENDING).first.wait_for(state="detached")
    page.locator("table.question, .panel tbody tr").first.wait_for(state="attached")
    page.context.close()


def test_to_print_fetches_all(browser: "Browser", cold: str) -> None:
    page = opened(browser)
    page.add_init_script(
        "window.print = () => { window.left = document.querySelectorAll('[data-block]').length }"
    )
    page.goto(f"{cold}?uri=linkblog.example&scope=host")
    assert page.locator(PENDING).count() > 3
    page.keyboard.press("Control+p")
    page.wait_for_selector(PENDING, state="detached")
    page.wait_for_timeout(300)
    assert page.evaluate("window.left") == 0
    page.context.close()
