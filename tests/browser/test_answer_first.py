"""A page begins with its answer: on the first screen, a few presses of Tab from its beginning.

Every question is asked about a page, its host, its domain and the whole archive of the demo, and
about a host and the whole archive of real ones, where they are next to the tree.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import pytest

from arclink.analysis.questions.table import QUESTIONS
from arclink.analysis.relations.kept import relations_of
from arclink.store.location import open_store
from arclink.uris.hosts import domain_of
from tests.browser.conftest import ROOT, Service, looking

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_ARCHIVES = ROOT.parent / "shared" / "data"
"""Real archives; other checkouts may not have them."""

_REAL = {"aut": "aut/example.warc.gz", "flink_web": "flink_web/flink.apache.org-201*.warc.gz"}

_SIZES = (((1280, 900), 450), ((390, 844), 700))
"""Sizes of windows, and the place above which an answer begins: pixels from the top of the page."""

_MOST_TABS = 12

_PLACE = """() => {
  const box = one => one.getBoundingClientRect().height > 0;
  const answer = document.querySelector("[data-answer]");
  const first = answer && ([...answer.querySelectorAll("tbody tr, li")].find(box) ?? answer);
  return {
    row: first && Math.round(first.getBoundingClientRect().top + scrollY),
    overflow: document.documentElement.scrollWidth - innerWidth,
  };
}"""

_IS_REACHED = """() => {
  const answer = document.querySelector("[data-answer]"), here = document.activeElement;
  const body = answer.querySelector("tbody") ?? answer;
  const place = body.compareDocumentPosition(here);
  return body.contains(here) || Boolean(place & Node.DOCUMENT_POSITION_FOLLOWING);
}"""


@pytest.fixture(scope="module")
def bases(
    service: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, str]]:
    """Addresses of collections by name, whose tables for questions are there."""
    made = {"demo": service.stores / "demo.db"}
    bases = {"demo": f"{service.base_url}/demo/"}
    folder = tmp_path_factory.mktemp("real")
    for name, pattern in _REAL.items():
        if files := sorted(map(str, _ARCHIVES.glob(pattern))):
            made[name] = folder / f"{name}.db"
            _run("build", *files, "--store", str(made[name]), "--runner", "inline", "--quiet")
    for path in made.values():
        with open_store(str(path)) as store:
            relations_of(str(path), store)
    if len(made) == 1:
        yield bases
        return
    stores = [word for name, path in made.items() for word in ("--store", f"{name}={path}")]
    command = [sys.executable, "-u", "-m", "arclink.cli.main", "serve", *stores, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            base = process.stdout.readline().split(" at ")[1].split()[0].rstrip("/")
            yield {name: f"{base}/{name}/" for name in made} | bases
        finally:
            process.send_signal(signal.SIGTERM)


def _run(*words: str) -> None:
    command = [sys.executable, "-m", "arclink.cli.main", *words]
    subprocess.run(command, check=True, capture_output=True)


def _addresses(base: str, *, every: bool) -> Iterator[str]:
    """Yield the pages of all questions about a host and everything; if ``every``, of all parts."""
    with urlopen(f"{base}ask/begin?format=json&limit=10") as answer:
        rows = json.load(answer)["rows"]
    page = rows[0]["name"]
    host = urlsplit(page).hostname
    domain = domain_of(host)
    others = (row["name"] for row in rows if urlsplit(row["name"]).hostname != host)
    other = next(others, "http://other.example/")
    parts: dict[str, list[tuple[str, str]]] = {
        "page": [("uri", page), ("scope", "page")],
        "host": [("uri", page), ("scope", "host")],
        "domain": [("uri", f"*.{domain}")],
        "archive": [],
    }
    if not every:
        parts = {name: parts[name] for name in ("host", "archive")}
    for name, question in QUESTIONS.items():
        for part, about in parts.items():
            if question.needs_address and not about:
                continue
            given = [*about, ("ask", name)]
            if question.words is not None:
                given.append(("words", "page"))
            if name == "common":
                host_of_other = domain_of(urlsplit(other).hostname)
                given.insert(0, ("uri", f"*.{host_of_other}" if part == "domain" else other))
            yield f"{base}?{urlencode(given)}"


def _mistakes(page: "Page", address: str) -> Iterator[str]:
    page.set_viewport_size({"width": _SIZES[0][0][0], "height": _SIZES[0][0][1]})
    page.goto(address)
    page.wait_for_selector("[data-answer]", state="attached")
    if page.locator("[data-answer]").count() != 1:
        yield f"{address} has {page.locator('[data-answer]').count()} answers"
        return
    presses = 0
    while presses <= _MOST_TABS:
        page.keyboard.press("Tab")
        presses += 1
        if page.evaluate(_IS_REACHED):
            break
    if presses > _MOST_TABS:
        yield f"{address} needs more than {_MOST_TABS} presses of Tab"
    for (width, height), most in _SIZES:
        page.set_viewport_size({"width": width, "height": height})
        found: dict[str, Any] = page.evaluate(_PLACE)
        if found["row"] >= most:
            yield f"{address} begins at {found['row']} of {width} x {height}"
        if found["overflow"] > 0:
            yield f"{address} is {found['overflow']} pixels wider than {width}"


@pytest.mark.parametrize(
    "name", ["demo", *(pytest.param(one, marks=pytest.mark.long) for one in _REAL)]
)
def test_every_question_is_answered_on_the_first_screen(
    browser: "Browser", bases: Mapping[str, str], name: str
) -> None:
    if name not in bases:
        pytest.skip(f"there is no {_ARCHIVES / _REAL[name]}")
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        addresses = [*_addresses(bases[name], every=name == "demo")]
        assert len(addresses) > len(QUESTIONS)
        assert [one for address in addresses for one in _mistakes(page, address)] == []
        assert errors == []


def test_a_question_is_a_sentence_with_one_line_that_opens_into_its_form(
    browser: "Browser", service: Service, bases: Mapping[str, str]
) -> None:
    with looking(browser, service) as page:
        page.goto(f"{bases['demo']}?uri=*.kalvik2010.example&ask=linkers&by=month")
        assert page.locator("h1").inner_text() == "Who linked to *.kalvik2010.example?"
        line = page.locator(".how summary")
        for words in ("links from other sites", "by month", "all time", "read from 284 of 300"):
            assert words in line.inner_text()
        assert not page.get_by_role("button", name="Answer").is_visible()
        line.click()
        page.get_by_label("Links of").select_option("all sites")
        page.get_by_role("button", name="Answer").click()
        page.wait_for_url("**external=false**")
        assert "links from everywhere" in page.locator(".how summary").inner_text()
        lanes = page.locator("[data-answer] table.lanes").bounding_box()
        assert lanes
        assert lanes["height"] >= 160


def test_keys_lead_to_the_answer_and_through_the_heads_of_its_table(
    browser: "Browser", service: Service, bases: Mapping[str, str]
) -> None:
    with looking(browser, service) as page:
        page.goto(f"{bases['demo']}?ask=pages")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
        page.keyboard.press("Enter")
        for _ in range(3):  # the heads are one stop
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.className") == "sort":
                break
        assert page.evaluate("document.activeElement.textContent") == "Name"
        for key, head in (("ArrowRight", "Title"), ("End", "Last"), ("ArrowLeft", "First")):
            page.keyboard.press(key)
            assert page.evaluate("document.activeElement.textContent") == head
        page.keyboard.press("Enter")
        assert page.locator("th[aria-sort]").inner_text() == "First"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('tbody tr') !== null")
