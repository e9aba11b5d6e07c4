"""An archived page cannot show itself under the address of another page, whatever its scripts do.

Each attack begins on a page of evil.example and ends when the service shows the address of the bank
while the frame shows something else than the page of the bank.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.past import DAY, Past, capture, serving

try:
    from playwright.sync_api import Error
except ImportError:  # the fixture ``browser`` says what to do
    Error = Exception  # type: ignore[misc,assignment,unused-ignore]

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame, Page

EVIL, BANK, T = "http://evil.example/", "http://bank.example/", f"{DAY}060000"
GENUINE, FAKE = "Genuine bank", "FAKE BANK"

FRESH = """const fresh = () => { const made = document.createElement('iframe');
    document.documentElement.append(made); return window[window.length - 1] };
const own = fresh(), {replaceState, pushState} = own.History.prototype, shell = window.parent, frames = shell.document.getElementsByTagName('iframe');
const page = (way, uri = 'BANK') => location.origin + '/w/-/TIME' + way + '/' + uri;
const later = (seconds, call) => setTimeout(call, 1000 * seconds);
const set = (way = 'mp_', change = replaceState) => change.call(history, {}, '', page(way));
const hidden = (address, at = document.body) => { const made = own.document.createElement('iframe');
    own.Element.prototype.setAttribute.call(made, 'src', address); made.style.display = 'none';
    own.Node.prototype.appendChild.call(at, made); return made };
const call = () => { try { shell.postMessage({wb_type: 'load'}, '*'); shell.postMessage({wb_type: 'replace-url'}, '*') } catch { } };
const loop = () => { for (const n of [1, 2, 3, 4]) later(n / 2, call) };
""".replace("BANK", BANK).replace("TIME", T)

ATTACKS = {
    **{
        f"hidden frame {way}, {name}": f"hidden(page('{way}')); later(1, () => {{ set('{to}', {name}); loop() }})"
        for way, to, name in (
            ("if_", "if_", "replaceState"),
            ("mp_", "mp_", "replaceState"),
            ("mp_", "mp_", "pushState"),
            ("fr_", "mp_", "replaceState"),
            ("oe_", "oe_", "pushState"),
            ("", "", "replaceState"),
        )
    },
    "address first, then frames": "set(); loop(); for (const n of [1, 2]) later(n, () => hidden(page('mp_') + '?' + n))",
    "frame in a frame": """const outer = fresh(); outer.document.body.innerHTML = `<iframe src="${page('mp_')}"></iframe>`;
        later(1, () => { set(); loop() })""",
    "back and forward": "set('mp_', pushState); later(.5, () => history.back()); later(1, () => history.forward()); loop()",
    "anchor": "set(); location.hash = 'a'; later(1, () => { location.hash = 'b'; call() })",
    "anchors in a hidden frame": """const frame = hidden(page('mp_')); later(1, () => { set();
        for (const n of [1, 2]) later(n / 2, () => { frame.contentWindow.location.hash = n; call() }) })""",
    "frame next to it, then away": f"""const frame = hidden(page('mp_', '{EVIL}next'), shell.document.body);
        frame.style.display = 'block'; own.Element.prototype.setAttribute.call(frame, 'style', 'position:fixed;inset:0');
        later(1, () => {{ location = page('mp_') }})""",
    "code next to it, then away": """const made = shell.document.createElement('iframe'); shell.document.body.append(made);
        made.contentWindow.eval(`setInterval(() => { try { const page = parent.document.querySelector('iframe').contentWindow.document;
        if (page.querySelector('h1')?.textContent === 'Genuine bank') page.querySelector('h1').textContent = 'FAKE BANK' } catch { } }, 50)`);
        later(1, () => { location = page('mp_') })""",
    "shadow tree of the shell": """try { const tree = shell.document.body.attachShadow({mode: 'open'}); tree.innerHTML = '<iframe></iframe>';
        tree.firstChild.contentWindow.eval(`setInterval(() => { try { top[0] && (parent[0].document.querySelector('h1').textContent = 'FAKE BANK') } catch { } }, 50)`)
        } catch { } later(1, () => { location = page('mp_') })""",
    "another shell document": """const html = shell.document.createElement('html'); html.append(shell.document.createElement('body'));
        try { shell.document.replaceChild(html, shell.document.documentElement) } catch { } later(1, () => { set(); loop() })""",
    "performance of the page": """hidden(page('mp_')); Object.defineProperty(window, 'performance', {get: () => ({getEntriesByType: () =>
        [{serverTiming: [{description: encodeURIComponent(page('mp_'))}]}]})}); later(1, () => { set(); loop() })""",
    "objects of the shell": """hidden(page('mp_')); const fake = encodeURIComponent(page('mp_')); const answer = {serverTiming: [{description: fake}]};
        for (const [name, key] of [['PerformanceServerTiming', 'description'], ['PerformanceResourceTiming', 'serverTiming']])
        for (const w of [window, shell, own]) try { Object.defineProperty(w[name].prototype, key, {get: () => key === 'description' ? fake : [{description: fake}]}) } catch { }
        for (const w of [window, shell, own]) { try { w.Performance.prototype.getEntriesByType = () => [answer] } catch { }
        w.Reflect.apply = () => [answer]; w.Array.prototype[Symbol.iterator] = function* () { yield answer }; w.decodeURIComponent = () => page('mp_');
        try { w.Function.prototype.call = () => page('mp_') } catch { } } later(1, () => { set(); loop() })""",
    "messages of a worker": """for (const w of [window, shell]) for (const data of [page('mp_'), {what: 'shown', served: page('mp_'), address: page('mp_')}])
        { w.postMessage(data, '*'); try { w.navigator.serviceWorker.dispatchEvent(new w.MessageEvent('message', {data})) } catch { } } set(); loop()""",
    "document without an address": "location = URL.createObjectURL(new Blob(['<h1>FAKE BANK</h1>'], {type: 'text/html'})); loop()",
    "written document": "set(); document.open(); document.write('<h1>FAKE BANK</h1>'); document.close(); loop()",
    "silence": """window.addEventListener('message', event => event.stopImmediatePropagation(), true);
        hidden(page('mp_')); shell.addEventListener('message', event => event.stopImmediatePropagation(), true);
        frames[0].addEventListener('load', event => event.stopImmediatePropagation(), true); later(1, () => set())""",
    "popup": "try { own.open(page('mp_'), '_blank') } catch { } try { open(page('mp_')) } catch { } later(1, () => { set(); loop() })",
    "link to a frame by name": """const frame = hidden('about:blank'); frame.name = '___wb_replay_top_frame'; const a = document.createElement('a');
        a.href = page('mp_'); a.target = '___wb_replay_top_frame'; document.body.append(a); a.click(); later(1, () => { set(); loop() })""",
    "frame of the shell, moved": """const frame = frames[0]; const body = shell.document.body; later(.5, () => { set(); body.append(frame) })""",
}


@pytest.fixture(scope="module")
def spoofing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    records = [
        capture(BANK, f"<title>The bank</title><h1>{GENUINE}</h1><a href={EVIL}>Partner</a>"),
        *(capture(f"{BANK}?{n}", f"<h1>{GENUINE}</h1>") for n in (1, 2)),
        *(capture(EVIL + name, f"<title>The bank</title><h1>{FAKE}</h1>") for name in ("", "next")),
        capture(
            f"{EVIL}silent",
            f"""<h1>{FAKE}</h1><script>addEventListener('message', event => event.stopImmediatePropagation(), true);
            addEventListener('load', event => event.stopImmediatePropagation(), true);
            document.write('<img src=/never.png>')</script>""",
        ),
        capture(f"{BANK}links", f"<h1>{GENUINE}</h1><a href={EVIL}silent>Partner</a>"),
    ]
    with serving(tmp_path_factory.mktemp("spoof"), more=records) as service:
        yield service


def archived_frame(page: "Page") -> "Frame | None":
    return next(
        (one for one in page.frames if one.parent_frame and one.parent_frame.parent_frame), None
    )


def heading(page: "Page") -> str | None:
    """Return the heading of the archived page; None while the page has no heading."""
    frame = archived_frame(page)
    try:
        text = (
            frame.evaluate("document.querySelector('h1')?.textContent ?? null") if frame else None
        )
    except Error:  # it is being replaced
        text = None
    return None if text is None else str(text)


def open_evil(page: "Page", past: Past, uri: str = EVIL) -> None:
    page.goto(past.then(uri))
    for _ in range(300):
        if heading(page):
            return
        page.wait_for_timeout(100)
    raise AssertionError("the page is not replayed")


@pytest.mark.parametrize("name", ATTACKS)
def test_a_page_is_not_shown_under_the_address_of_another(
    browser: "Browser", spoofing: Past, name: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    open_evil(page, spoofing)
    frame = archived_frame(page)
    assert frame is not None
    frame.evaluate(f"(() => {{ {FRESH} setTimeout(() => {{ {ATTACKS[name]} }}) }})()")
    for _ in range(16):
        page.wait_for_timeout(250)
        if "bank.example" in page.url or "bank.example" in page.locator("#about h1").inner_text():
            assert heading(page) in (GENUINE, None), f"{page.url} shows the page of another"
            frames = page.frames[1].evaluate("document.getElementsByTagName('iframe').length")
            assert frames == 1, "nothing covers the page"
    context.close()


def test_a_page_that_is_silent_does_not_keep_the_address_of_the_page_before(
    browser: "Browser", spoofing: Past
) -> None:
    context = browser.new_context()
    page = context.new_page()
    open_evil(page, spoofing, f"{BANK}links")
    frame = archived_frame(page)
    assert frame is not None
    frame.get_by_text("Partner").click()
    page.wait_for_url("**/evil.example/silent", timeout=20_000)
    assert heading(page) == FAKE
    page.go_back()
    page.wait_for_url("**/bank.example/links", timeout=20_000)
    context.close()


def test_two_tabs_do_not_know_each_other(browser: "Browser", spoofing: Past) -> None:
    context = browser.new_context()
    bank, page = context.new_page(), context.new_page()
    open_evil(bank, spoofing, BANK)
    open_evil(page, spoofing)
    frame = archived_frame(page)
    assert frame is not None
    frame.evaluate(f"(() => {{ {FRESH} set(); loop() }})()")
    bank.reload()
    page.wait_for_timeout(2500)
    assert "evil.example" in page.url
    assert "bank.example" in bank.url
    context.close()


def test_after_a_restart_of_the_worker_the_address_still_follows(
    browser: "Browser", spoofing: Past
) -> None:
    context = browser.new_context()
    page = context.new_page()
    open_evil(page, spoofing, BANK)
    session = context.new_cdp_session(page)
    session.send("ServiceWorker.enable")
    session.send("ServiceWorker.stopAllWorkers")
    page.wait_for_timeout(500)
    frame = archived_frame(page)
    assert frame is not None
    frame.get_by_text("Partner").click()
    page.wait_for_url("**/evil.example/", timeout=20_000)
    context.close()
