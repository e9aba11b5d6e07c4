"""The panel of ArcLink in a page of a real, unmodified pywb, in a real Chromium."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from arclink.uris.surts import surt_of
from benchmarks.peers.pywb_server import PYWB, add_panel, free_port, serving_pywb, write_config
from tests.browser.axe import violations
from tests.browser.conftest import all_of, missing
from tests.browser.past import DAY, HOME, HOSTILE, NEVER, NEWS, OTHER, Past, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TIME = f"{DAY}060000"
MARKUP = '<img src=x onerror="document.title = 1"><script>document.title = 2</script>'
LINKS = f"""<title>Links</title><a href={HOME}>{MARKUP.replace("<", "&lt;")}</a>
<a href={NEWS}><img src=/picture.png></a> <a href={NEVER}>‮Never</a>"""


@dataclass(frozen=True, slots=True)
class PywbOverPast:
    """A pywb over a service.

    Attributes:
        base_url: Its collection, ending in ``/``.
        past: The service.
    """

    base_url: str
    past: Past

    def then(self, uri: str, time: str = TIME) -> str:
        return f"{self.base_url}{time}/{uri}"


@contextmanager
def pywb_with_panel(folder: Path, *, is_allowed: bool) -> Iterator[PywbOverPast]:
    """Serve an archive with ArcLink, and over it a pywb with the panel."""
    if not (PYWB / "wayback").exists():
        missing(f"no pywb in {PYWB}; run: make test-browser")
    port = free_port()
    allowed = port if is_allowed else port + 1
    with serving(folder, LINKS, ["--cors-origin", f"http://127.0.0.1:{allowed}"]) as past:
        write_config(folder / "pywb", past.base_url)
        add_panel(folder / "pywb", past.base_url)
        with serving_pywb(folder / "pywb", {}, port) as (address, _):
            yield PywbOverPast(f"{address}/past/", past)


@pytest.fixture(scope="module")
def pywb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PywbOverPast]:
    with pywb_with_panel(tmp_path_factory.mktemp("panel"), is_allowed=True) as running:
        yield running


@contextmanager
def opened(browser: "Browser", **options: Any) -> Iterator["Page"]:  # Any: of Playwright
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
    page = context.new_page()
    page.set_default_timeout(30_000)
    yield page
    context.close()


def wait_for_links(page: "Page", uri: str) -> None:
    """Wait until the panel shows the links to a page."""
    page.wait_for_function(
        """uri => [...document.getElementById('arclink-panel')?.shadowRoot.querySelectorAll('a') ?? []]
            .some(link => link.textContent === 'This page in ArcLink'
                && new URL(link.href).searchParams.get('uri') === uri)""",
        arg=uri,
    )


def links_in_panel(page: "Page") -> list[tuple[str, str]]:
    """Return words and address of each link in the panel, in the order of the panel."""
    found = all_of(page, "#arclink-panel li").evaluate_all(
        "all => all.flatMap(li => [...li.querySelectorAll('.uri')].map(uri => "
        "[li.querySelector('.words, .wordless').textContent, uri.textContent]))"
    )
    return [(words, uri) for words, uri in found]


def links_of_service(past: Past, uri: str) -> list[tuple[str, str]]:
    query = urlencode({"uri": uri, "at": DAY, "direction": "in", "format": "json"})
    with urllib.request.urlopen(f"{past.base_url}/linkQuery?{query}") as response:
        answer = json.load(response)
    wordless = {"img@src": "an image"}
    return [
        (link["text"] or wordless.get(link["kind"], "no words"), link["uri"])
        for link in answer["inlinks"]
    ]


def test_the_panel_equals_the_link_query(browser: "Browser", pywb: PywbOverPast) -> None:
    with opened(browser) as page:
        for uri in (HOME, NEWS, OTHER, "http://past.example/picture.png"):
            page.goto(pywb.then(uri))
            wait_for_links(page, uri)
            expected = links_of_service(pywb.past, uri)
            assert expected
            assert sorted(links_in_panel(page)) == sorted(expected)
            heading = page.locator("#arclink-panel summary").first.inner_text()
            assert heading == f"Who linked here then {len(expected)}"


def test_words_of_many_pages_are_told_once(browser: "Browser", pywb: PywbOverPast) -> None:
    links = [
        {"uri": f"http://h{number}.example/", "text": "Flink on GitHub", "kind": "a@href"}
        for number in range(6)
    ]
    links += [{"uri": "http://other.example/", "text": "Source", "kind": "a@href"}]
    answer = {
        "surt": "example,past)/",
        "inlinks": [{**one, "surt": surt_of(one["uri"])} for one in links],
    }
    headers = {"Access-Control-Allow-Origin": "*"}
    with opened(browser) as page:
        page.route("**/linkQuery?*", lambda route: route.fulfill(json=answer, headers=headers))
        page.goto(pywb.then(HOME))
        wait_for_links(page, HOME)
        assert links_in_panel(page) == [(one["text"], one["uri"]) for one in links]
        said = page.locator("#arclink-panel li")
        assert said.count() == 2
        assert said.first.locator("summary").inner_text() == "Flink on GitHub on 6 pages"
        assert not page.locator("#arclink-panel").get_by_text("http://h5.example/").is_visible()


def test_archived_words_are_shown_as_text(browser: "Browser", pywb: PywbOverPast) -> None:
    with opened(browser) as page:
        page.goto(pywb.then(HOME))
        wait_for_links(page, HOME)
        assert (MARKUP, HOSTILE) in links_in_panel(page)
        assert all_of(page, "#arclink-panel img, #arclink-panel script").count() == 0
        assert page.title() not in ("1", "2")


def test_the_panel_follows_the_page_and_its_links_stay_in_time(
    browser: "Browser", pywb: PywbOverPast
) -> None:
    with opened(browser) as page:
        page.goto(pywb.then(HOME))
        wait_for_links(page, HOME)
        inner = page.frame_locator("#replay_iframe")
        inner.get_by_role("link", name="News").click()
        inner.get_by_role("heading", name="News of 2010").wait_for()
        wait_for_links(page, NEWS)
        assert sorted(links_in_panel(page)) == sorted(links_of_service(pywb.past, NEWS))
        page.go_back()
        wait_for_links(page, HOME)
        page.locator("#arclink-panel").get_by_role("link", name=OTHER).click()
        inner.get_by_role("heading", name="Other").wait_for()
        assert page.url == pywb.then(OTHER)
        wait_for_links(page, OTHER)
        arclink = page.locator("#arclink-panel").get_by_role("link", name="This page in ArcLink")
        query = urlencode({"uri": OTHER, "at": TIME})
        assert arclink.get_attribute("href") == f"{pywb.past.base_url}/browse/?{query}"


def test_other_windows_cannot_lead_the_panel(browser: "Browser", pywb: PywbOverPast) -> None:
    with opened(browser) as page:
        page.goto(pywb.then(HOME))
        wait_for_links(page, HOME)
        page.evaluate(f"window.postMessage({{wb_type: 'load', url: '{NEWS}', ts: '{TIME}'}}, '*')")
        page.wait_for_timeout(300)
        wait_for_links(page, HOME)


def test_a_service_that_does_not_allow_pywb_is_named(browser: "Browser", tmp_path: Path) -> None:
    with pywb_with_panel(tmp_path, is_allowed=False) as pywb, opened(browser) as page:
        page.goto(pywb.then(HOME))
        note = page.locator("#arclink-panel p")
        note.wait_for()
        assert f"{pywb.past.base_url}/ cannot be asked from" in note.inner_text()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_axe_finds_nothing_wrong_in_the_panel(
    browser: "Browser", pywb: PywbOverPast, axe: str, width: int, scheme: str
) -> None:
    viewport = {"width": width, "height": 900}
    with opened(browser, viewport=viewport, color_scheme=scheme) as page:
        page.goto(pywb.then(HOME))
        wait_for_links(page, HOME)
        page.locator("#arclink-panel details").first.evaluate("fold => { fold.open = true }")
        assert all_of(page, "#arclink-panel li").first.is_visible()
        assert violations(page, axe, "#arclink-panel", least=5) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
