"""Browsing the past in a real browser: page, frame and panel, and pages that try to escape."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.browser.axe import violations
from tests.browser.conftest import all_of
from tests.browser.past import (
    DAY,
    GONE,
    HOME,
    HOSTILE,
    LATER,
    MOVED,
    NEVER,
    NEWS,
    OTHER,
    VIDEO,
    VIDEO_BYTES,
    Canary,
    Past,
    serving,
)

try:
    from playwright.sync_api import Error
except ImportError:  # the fixture ``browser`` says what to do
    Error = Exception  # type: ignore[misc,assignment,unused-ignore]

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Frame, Page

THEN = f"{DAY}235959"


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    with serving(tmp_path_factory.mktemp("past")) as service:
        yield service


@contextmanager
def opened(
    browser: "Browser", past: Past, **options: Any
) -> Iterator["Page"]:  # Any: of Playwright
    """Open a page; at the end, check that no host was asked but the service and its replay."""
    context: BrowserContext = browser.new_context(
        **{"viewport": {"width": 1200, "height": 900}, **options}
    )
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.set_default_timeout(20_000)
    yield page
    context.close()
    ports = (urlsplit(past.base_url).port, past.replay_port)
    ours = {
        f"http://{host}:{port}"
        for host, port in zip(("127.0.0.1", "localhost"), ports, strict=True)
    }
    origins = {f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, asked) if parts.netloc}
    assert origins <= ours
    assert len(asked) > 1


def replayed(page: "Page") -> "Frame":
    """Return the frame of the archived page, when its page is there."""
    inner = page.frame_locator("#replayed iframe").frame_locator("iframe")
    inner.locator("body").wait_for()
    return next(
        frame for frame in page.frames if frame.parent_frame and frame.parent_frame.parent_frame
    )


def wait_for_heading(page: "Page", text: str) -> None:
    inner = page.frame_locator("#replayed iframe").frame_locator("iframe")
    inner.get_by_role("heading", name=text).wait_for()


def wait_for_panel(page: "Page", uri: str) -> None:
    page.wait_for_function("uri => document.querySelector('#about h1').innerText === uri", arg=uri)


def panel_links(page: "Page", group: str) -> list[str]:
    """Return the addresses in a part of the panel, which may be folded."""
    found: list[str] = all_of(page, f"{group} a").evaluate_all(
        "links => links.map(link => decodeURI(link.getAttribute('href')))"
    )
    return found


def test_a_page_is_replayed_with_picture_style_and_script(browser: "Browser", past: Past) -> None:
    with opened(browser, past) as page:
        page.goto(past.then(HOME))
        wait_for_heading(page, "Old page")
        frame = replayed(page)
        frame.wait_for_function("document.getElementById('scripted').textContent === 'scripted'")
        frame.wait_for_function("document.getElementById('picture').naturalWidth === 1")
        assert (
            frame.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(1, 2, 3)"
        )
        assert page.locator(".replay-note").inner_text() == ""


@pytest.mark.parametrize(
    ("header", "first", "last"),
    [("bytes=0-", 0, 103), ("bytes=0-1", 0, 1), ("bytes=5-9", 5, 9), ("bytes=-4", 100, 103)],
)
def test_a_video_is_played_in_parts(
    browser: "Browser", past: Past, header: str, first: int, last: int
) -> None:
    """A player asks for parts, and learns the length of the whole video from each of them."""
    with opened(browser, past) as page:
        page.goto(past.then(HOME))
        wait_for_heading(page, "Old page")
        status, content_range, text = replayed(page).evaluate(
            f"""fetch('{VIDEO}', {{headers: {{Range: '{header}'}}}}).then(async found =>
                [found.status, found.headers.get('content-range'), await found.text()])"""
        )
        assert (status, text) == (206, VIDEO_BYTES[first : last + 1].decode())
        assert content_range == f"bytes {first}-{last}/{len(VIDEO_BYTES)}"


def test_a_part_of_a_script_is_cut_from_the_whole(browser: "Browser", past: Past) -> None:
    """It is rewritten as a whole, so the server must not cut it."""
    with opened(browser, past) as page:
        page.goto(past.then(HOME))
        wait_for_heading(page, "Old page")
        whole, part = replayed(page).evaluate(
            """Promise.all([{}, {headers: {Range: 'bytes=3-20'}}].map(options =>
                fetch('/script.js', options).then(found => found.text())))"""
        )
        assert part in (whole, whole[3:21])


def test_a_click_stays_in_time_and_address_and_panel_follow(browser: "Browser", past: Past) -> None:
    with opened(browser, past) as page:
        page.goto(past.then(HOME))
        wait_for_heading(page, "Old page")
        inner = page.frame_locator("#replayed iframe").frame_locator("iframe")
        inner.get_by_role("link", name="News").click()
        wait_for_heading(page, "News of 2010")
        wait_for_panel(page, NEWS)
        assert page.url == past.then(NEWS)
        assert "12 Feb 2010" in page.locator("#about").inner_text()
        assert panel_links(page, ".linkers") == [f"/browse/{THEN}/{uri}" for uri in (HOME, MOVED)]
        page.go_back()
        wait_for_heading(page, "Old page")
        wait_for_panel(page, HOME)
        assert page.url == past.then(HOME)
        page.reload()
        wait_for_heading(page, "Old page")
        inner.get_by_role("link", name="Another site").click()  # it asks for a new window
        wait_for_heading(page, "Other")
        wait_for_panel(page, OTHER)
        assert len(page.context.pages) == 1


def test_redirects_errors_and_gaps_are_shown_as_they_were(browser: "Browser", past: Past) -> None:
    with opened(browser, past) as page:
        page.goto(past.then(MOVED))
        wait_for_heading(page, "News of 2010")
        wait_for_panel(page, NEWS)
        page.goto(past.then(GONE))
        wait_for_heading(page, "Archived error")
        assert "status 404" in page.locator("#about").inner_text()
        page.goto(past.then(HOME))
        inner = page.frame_locator("#replayed iframe").frame_locator("iframe")
        inner.get_by_role("link", name="Never").click()
        wait_for_heading(page, "No capture to show")
        wait_for_panel(page, NEVER)
        assert "Never captured" in page.locator("#about").inner_text()
        assert panel_links(page, ".linkers") == [f"/browse/{THEN}/{HOME}"]


def test_the_panel_equals_the_link_query(browser: "Browser", past: Past) -> None:
    with opened(browser, past) as page:
        for uri in (HOME, NEWS, NEVER):
            page.goto(past.then(uri))
            shown = all_of(page, ".linkers li").evaluate_all(
                "items => items.flatMap(item => [...item.querySelectorAll('.uri')].map(uri => "
                "[item.querySelector('.words, .wordless').textContent, uri.textContent]))"
            )
            query = urlencode({"uri": uri, "at": THEN, "direction": "in", "format": "json"})
            with urllib.request.urlopen(f"{past.base_url}/linkQuery?{query}") as response:
                answer = json.load(response)
            assert sorted(map(tuple, shown)) == sorted(
                (link["text"] or "no words", link["uri"]) for link in answer["inlinks"]
            )
            assert shown


def test_the_panel_says_what_was_captured_and_what_changed(browser: "Browser", past: Past) -> None:
    with opened(browser, past) as page:
        page.goto(past.then(HOME, LATER))
        groups = all_of(page, "#panel details").evaluate_all(
            "all => all.map(one => [one.querySelector('summary').firstChild.textContent.trim(), "
            "one.querySelectorAll('li').length])"
        )
        assert ["Captured then", 4] in groups
        assert ["Never captured", 2] in groups  # and the page that came
        assert ["Came", 1] in groups
        assert "1 link came, 0 went" in page.locator("#panel").inner_text()
        page.get_by_role("link", name="Earlier capture").click()
        wait_for_heading(page, "Old page")
        assert page.url == past.then(HOME)
        assert "This is its first capture." in page.locator("#panel").inner_text()


def test_the_frame_believes_its_own_replay_only(browser: "Browser", past: Past) -> None:
    with opened(browser, past) as page:
        page.goto(past.then(HOME))
        wait_for_heading(page, "Old page")
        shell = page.frames[1]
        for target in (page.main_frame, shell):
            target.evaluate(
                f"window.postMessage({{about: 'replay', what: 'page', uri: '{NEWS}', "
                f"wb_type: 'load', url: '{NEWS}'}}, '*')"
            )
        replayed(page).evaluate(
            f"window.top.postMessage({{about: 'replay', what: 'page', uri: '{NEWS}'}}, '*')"
        )
        page.wait_for_timeout(300)
        assert page.url == past.then(HOME)


# Everybody


def test_without_scripts_the_text_is_read_with_its_links_in_time(
    browser: "Browser", past: Past
) -> None:
    with opened(browser, past, java_script_enabled=False) as page:
        page.goto(past.then(HOME))
        assert page.locator(".page-text h2").inner_text() == "Old page"
        page.locator(".page-text").get_by_role("link", name="News").click()
        assert page.url == past.then(NEWS)
        assert "Words of the page." in page.locator(".page-text").inner_text()
        assert panel_links(page, ".linkers") == [f"/browse/{THEN}/{uri}" for uri in (HOME, MOVED)]


def test_without_service_workers_the_frame_says_so_and_shows_the_text(
    browser: "Browser", past: Past
) -> None:
    with opened(browser, past, service_workers="block") as page:
        page.add_init_script("delete Navigator.prototype.serviceWorker")
        page.goto(past.then(HOME))
        page.wait_for_function(
            "document.querySelector('.replay-note').textContent.includes('cannot replay')"
        )
        assert all_of(page, ".page-text").is_visible()
        assert all_of(page, "iframe").count() == 0


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_axe_finds_nothing_wrong_around_the_past(
    browser: "Browser", past: Past, axe: str, width: int, scheme: str
) -> None:
    options = {
        "viewport": {"width": width, "height": 900},
        "color_scheme": scheme,
        "bypass_csp": True,
    }
    with opened(browser, past, **options) as page:
        for uri in (HOME, GONE, NEVER):
            page.goto(past.then(uri, LATER))
            assert violations(page, axe) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    with opened(browser, past, java_script_enabled=False, **options) as page:
        page.goto(past.then(HOME))


def test_the_past_is_reached_and_seen_with_the_keyboard(browser: "Browser", past: Past) -> None:
    with opened(browser, past) as page:
        page.goto(f"{past.base_url}/?uri={HOME}")
        page.get_by_role("link", name="What did it look like then?").focus()
        page.keyboard.press("Enter")
        wait_for_heading(page, "Old page")
        page.get_by_role("link", name="Earlier capture").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(past.then(HOME))
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('#panel') !== null"):
                break
        assert page.evaluate("document.activeElement.closest('#panel') !== null")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


# A page that tries to escape


ESCAPES = {
    "img": "new w.Image().src = there + '/img'",
    "fetch": "w.fetch(there + '/fetch', {mode: 'no-cors'}).catch(() => 0)",
    "request": "const r = new w.XMLHttpRequest(); r.open('GET', there + '/xhr'); r.send()",
    "beacon": "w.navigator.sendBeacon(there + '/beacon', 'x')",
    "events": "new w.EventSource(there + '/events')",
    "socket": "new w.WebSocket(there.replace('http', 'ws') + '/socket')",
    "transport": "new w.WebTransport(there.replace('http', 'https') + '/transport')",
    "webrtc": """const c = new w.RTCPeerConnection({iceServers: [{urls: there.replace('http://', 'stun:')}]});
        c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o))""",
    "form": """const f = w.document.createElement('form'); f.method = 'post'; f.target = 'other';
        f.setAttribute('action', there + '/form'); w.document.body.append(f); w.HTMLFormElement.prototype.submit.call(f)""",
    "prefetch": "add('link', {rel: 'prefetch', href: there + '/prefetch'})",
    "preconnect": "add('link', {rel: 'preconnect', href: there + '/preconnect'})",
    "preload": "add('link', {rel: 'preload', as: 'image', href: there + '/preload'})",
    "style": "add('link', {rel: 'stylesheet', href: there + '/style'})",
    "import": (
        "add('style', {textContent: `@import '${there}/import'; @font-face {font-family: x; src: "
        "url(${there}/font)}`})"
    ),
    "rules": """add('script', {type: 'speculationrules', textContent: JSON.stringify({
        prefetch: [{source: 'list', eagerness: 'immediate', urls: [there + '/rules']}],
        prerender: [{source: 'list', eagerness: 'immediate', urls: [there + '/prerender']}]})})""",
    "script": "add('script', {src: there + '/script'})",
    "module": "w.eval(`import('${there}/module')`).catch(() => 0)",
    "frame": "add('iframe', {src: there + '/frame'})",
    "object": "add('object', {data: there + '/object'})",
    "embed": "add('embed', {src: there + '/embed'})",
    "video": "add('video', {src: there + '/video', preload: 'auto'})",
    "ping": "const a = add('a', {href: '#', ping: there + '/ping'}); a.click()",
    "refresh": "add('meta', {httpEquiv: 'refresh', content: `0;url=${there}/refresh`})",
    "worker": """new w.Worker(blob(
        `fetch('${there}/worker', {mode: 'no-cors'}); importScripts('${there}/imported')`, 'text/javascript'))""",
    "blob": "add('iframe', {src: blob(inside('blob'), 'text/html')})",
    "data": "add('iframe', {src: `data:text/html,${inside('data')}`})",
    "srcdoc": "add('iframe', {srcdoc: inside('srcdoc')})",
    "window": "w.open(there + '/window')",
    "top": "w.top.location = there + '/top'",
    "parent": "w.parent.location = there + '/parent'",
    "shell": (
        "w.parent.parent.eval?.(`location = '${there}/shell'`) ?? w.parent.eval(`location = "
        "'${there}/shell'`)"
    ),
    "self": "w.location = there + '/self'",
}
"""Ways to ask another host; ``w`` is a window, ``there`` the other origin, ``add`` puts an element
into the page.
"""

_ADD = """
const add = (name, has) => {
    const e = w.document.createElement(name); Object.assign(e, has); w.document.documentElement.append(e); return e; };
const blob = (text, type) => w.URL.createObjectURL(new w.Blob([text], {type}));
const inside = name =>
    `<img src='${there}/${name}'><script>fetch('${there}/${name}-fetch', {mode: 'no-cors'})</scr` + 'ipt>';
"""
_TRY = "{ try { %s } catch (error) { } }"
LEAVING = ("top", "parent", "shell", "self", "window", "refresh")


def escape(way: str, there: str) -> str:
    """Return a script that tries one way from the page's own window, and from one made just now."""
    return f"""(() => {{ const there = '{there}';
        const again = document.createElement('iframe'); document.documentElement.append(again);
        for (const w of [window, window[window.length - 1]]) {{ {_ADD} {_TRY % ESCAPES[way]} }} }})()"""


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    found = Canary()
    yield found
    found.close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, canary: Canary) -> Iterator[Past]:
    """An archive with a page that tries all ways by its own scripts, as archived."""
    ways = [way for way in ESCAPES if way not in (*LEAVING, "webrtc")]
    scripts = "".join(f"<script>{escape(way, canary.origin)}</script>" for way in ways)
    markup = f"""<h1>Hostile</h1><img src={canary.origin}/markup><link rel=preconnect href={canary.origin}>
        <link rel=dns-prefetch href=//canary.example><form id=f action={canary.origin}/f method=post></form>
        <a id=a target=_top href={canary.origin}/a>a</a><svg><image href={canary.origin}/svg /></svg>
        <body background={canary.origin}/body style="background: url({canary.origin}/css)">{scripts}
        <script>navigator.serviceWorker?.register('/web/{DAY}060000id_/http://past.example/script.js')
            .then(() => document.title = 'registered', () => 0)</script>
        <script>setTimeout(() => {{ document.getElementById('f').submit() }}, 200)</script><p id=end>end</p>"""
    with serving(tmp_path_factory.mktemp("hostile"), markup) as service:
        yield service


def test_a_canary_hears_who_asks_it(browser: "Browser", past: Past, canary: Canary) -> None:
    """Without a policy, the ways do lead out: else the next tests would show nothing."""
    context = browser.new_context()
    page = context.new_page()
    page.goto("data:text/html,<title>x</title>")
    for way in ("img", "fetch", "socket", "webrtc", "preconnect"):
        heard = len(canary.asked)
        page.evaluate(escape(way, canary.origin))
        for _ in range(100):
            if len(canary.asked) > heard:
                break
            page.wait_for_timeout(100)
        assert len(canary.asked) > heard, way
    context.close()


def try_to_escape(browser: "Browser", hostile: Past, canary: Canary, ways: Sequence[str]) -> None:
    """Try ways by a script that no worker has rewritten; an ended page has asked no host."""
    context = browser.new_context()
    page = context.new_page()
    ended: list[object] = []
    page.on("crash", lambda crashed: ended.append(crashed))
    page.goto(hostile.then(OTHER))
    wait_for_heading(page, "Other")
    canary.asked.clear()
    for way in ways:
        try:
            replayed(page).evaluate(escape(way, canary.origin))
        except Error:
            assert ended
    time.sleep(1.5)  # not by the page, which may have been ended
    assert page.url.startswith(hostile.base_url)
    assert [one.url for one in context.pages] == [page.url]
    context.close()
    assert canary.asked == []


def test_a_page_asks_no_other_host(browser: "Browser", hostile: Past, canary: Canary) -> None:
    ways = [way for way in ESCAPES if way not in (*LEAVING, "webrtc")]
    try_to_escape(browser, hostile, canary, ways)


@pytest.mark.parametrize("way", ["webrtc", *LEAVING])
def test_a_page_stays_where_it_is(
    browser: "Browser", hostile: Past, canary: Canary, way: str
) -> None:
    try_to_escape(browser, hostile, canary, [way])


def test_a_hostile_page_stays_in_its_frame(
    browser: "Browser", hostile: Past, canary: Canary
) -> None:
    canary.asked.clear()
    context = browser.new_context()
    page = context.new_page()
    page.goto(hostile.then(HOSTILE))
    page.wait_for_timeout(5_000)
    assert page.url.startswith(f"{hostile.base_url}/browse/")
    assert page.title() != "registered"
    workers = page.frames[1].evaluate(
        "navigator.serviceWorker.getRegistrations().then(all => all.map(one => new "
        "URL(one.scope).pathname))"
    )
    assert workers == ["/"]
    context.close()
    assert canary.asked == []


# Takedowns

DATABASES = """indexedDB.databases().then(all => Promise.all(all.map(({ name }) => new Promise(done => {
    const opening = indexedDB.open(name);
    opening.onsuccess = async () => {
        const stores = [...opening.result.objectStoreNames];
        const rows = stores.map(store => new Promise(read => {
            const asking = opening.result.transaction(store).objectStore(store).getAll();
            asking.onsuccess = () => read(asking.result);
        }));
        done(JSON.stringify([name, await Promise.all(rows)]));
    };
})))).then(String)"""
"""A script that returns all that the databases of an origin hold, as text."""


def test_a_forgotten_page_is_gone_after_a_reload(
    browser: "Browser", tmp_path_factory: pytest.TempPathFactory
) -> None:
    with serving(tmp_path_factory.mktemp("forgotten")) as past, opened(browser, past) as page:
        page.goto(past.then(NEWS))
        wait_for_heading(page, "News of 2010")
        inner = page.frame_locator("#replayed iframe").frame_locator("iframe")
        inner.get_by_role("link", name="Home of the past").click()
        wait_for_heading(page, "Old page")
        frame = replayed(page)
        kept = frame.evaluate("caches.keys()")
        assert kept == []
        forget = ["forget", "example,past)/news.html", "--store", str(past.store)]
        subprocess.run([sys.executable, "-m", "arclink.cli.main", *forget], check=True)
        page.goto(past.then(NEWS))
        assert "Never captured" in page.locator("#about").inner_text()
        page.goto(past.then(HOME))
        wait_for_heading(page, "Old page")
        inner.get_by_role("link", name="News").click()
        wait_for_heading(page, "No capture to show")
        origin = page.locator("#replayed").get_attribute("data-origin")
        status = replayed(page).evaluate(
            f"fetch('{origin}/web/{DAY}060000id_/{NEWS}', {{cache: "
            f"'force-cache'}}).then(found => found.status)"
        )
        assert status == 404
        assert replayed(page).evaluate("caches.keys()") == []
        assert "Words of the page" not in replayed(page).evaluate(DATABASES)
        text = page.content() + "".join(frame.content() for frame in page.frames)
        assert "Words of the page" not in text
