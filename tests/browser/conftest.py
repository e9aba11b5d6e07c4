"""Fixtures: a service over the demo archive and some odd stores, and a headless Chromium.

``engines/chromium.sh`` installs the browser.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pytest

from arclink.analysis.relations.kept import relations_of
from arclink.demo import write_demo_archive
from arclink.store.location import open_store
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import NASTY, T1, T2, A, B
from tests.store.memory_store import Page as Captured
from tests.store.memory_store import link

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Locator, Page

ROOT = Path(__file__).resolve().parents[2]
REPLAY = "https://replay.example/web/"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder: `make test` has no browser."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("engine")


_ABOUT_SPEED = "GL Driver Message (OpenGL, Performance"
"""In notes that WebGL is slow without a graphics card."""


def missing(text: str) -> None:
    """Skip where `make test-browser` did not install what is needed; fail where it must have
    (``CI``).
    """
    if os.environ.get("CI"):
        pytest.fail(text)
    pytest.skip(text)


def firefox_program() -> str:
    """Return the path of the Firefox that ``engines/firefox.sh`` installed."""
    found = subprocess.run(
        [str(ROOT / "engines" / "firefox.sh"), "path"], capture_output=True, text=True, check=False
    )
    if found.returncode:
        missing(found.stderr.strip())
    return found.stdout.strip()


def all_of(page: "Page", selector: str) -> "Locator":
    """Return the elements of the whole page that match, to count or to list.

    A click that leads to another page returns when its first bytes are there. What is counted then
    is the part that the browser has read; what waits for an element needs no such care.
    """
    page.wait_for_load_state()
    return page.locator(selector)


@dataclass(frozen=True, slots=True)
class Service:
    """A service that runs.

    Attributes:
        base_url: Its URL, without the last ``/``.
        uri: The page of the demo archive with the most to tell.
        stores: The files of its collections, by name.
    """

    base_url: str
    uri: str
    stores: Path

    def view(
        self, name: str, collection: str = "demo", uri: str | None = None, **parameters: str
    ) -> str:
        """Return the address of a view."""
        return (
            f"{self.base_url}/{collection}/"
            f"?{urlencode({'uri': uri or self.uri, 'view': name, **parameters})}"
        )


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of four collections: the demo archive, hostile pages, a graph still empty, and one
    whose file is removed.
    """
    folder = tmp_path_factory.mktemp("browser")
    demo = write_demo_archive(folder / "archive", 300, 12, 1)
    build = [
        "build",
        str(folder / "archive"),
        "--store",
        str(folder / "demo.db"),
        "--text",
        "--runner",
        "inline",
        "--quiet",
    ]
    subprocess.run(
        [sys.executable, "-m", "arclink.cli.main", *build], check=True, capture_output=True
    )
    hostile = [
        Captured(
            A,
            T1,
            [
                link('http://x.example/"><img src=x onerror=alert(1)>', NASTY),
                link("javascript:alert(1)", "<b>bold</b>"),
            ],
        ),
        Captured(
            "http://h.example/'><script>alert(2)</script>",
            T2,
            [link(A, "x" * 400), link(B, "</script><script>alert(3)</script>")],
        ),
    ]
    load_pages(folder / "hostile.db", folder / "graph-hostile", [hostile])
    load_pages(folder / "gone.db", folder / "graph-gone", [hostile])
    open_store(str(folder / "empty.db"), create=True).close()
    stores = [
        word
        for name in ("demo", "hostile", "empty", "gone")
        for word in ("--store", f"{name}={folder / name}.db")
    ]
    command = [
        sys.executable,
        "-m",
        "arclink.cli.main",
        "serve",
        *stores,
        "--replay",
        REPLAY,
        "--port",
        "0",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        assert process.stdout is not None
        try:
            base_url = process.stdout.readline().split(" at ")[1].split("/  ")[0]
            (folder / "gone.db").unlink()
            yield Service(base_url, demo.example_uri, folder)
        finally:
            process.send_signal(signal.SIGTERM)


@pytest.fixture(scope="session")
def tabled(service: Service) -> Service:
    """The service when the tables for questions are there."""
    where = str(service.stores / "demo.db")
    with open_store(where) as store:
        relations_of(where, store)
    return service


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """A headless Chromium, from `$ENGINES`, or the one that ``CHROMIUM`` names."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed; run: make test-browser")
    found = subprocess.run(
        [str(ROOT / "engines" / "chromium.sh"), "path"], capture_output=True, text=True, check=False
    )
    if found.returncode:
        missing(found.stderr.strip())
    program = Path(found.stdout.strip())
    libraries = ":".join(
        filter(None, [str(program.parent / "lib"), os.environ.get("LD_LIBRARY_PATH", "")])
    )
    with sync_playwright() as playwright:
        # Its sandbox needs user namespaces, which containers do not give; what it looks at is ours.
        without_sandbox = ["--no-sandbox", "--disable-dev-shm-usage"]
        # WebGL without a graphics card.
        with_webgl = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        running = playwright.chromium.launch(
            executable_path=program,
            args=[*without_sandbox, *with_webgl],
            env={**os.environ, "LD_LIBRARY_PATH": libraries},
        )
        yield running
        running.close()


@dataclass(slots=True)
class Seen:
    """What a browser did while a test looked: all of it must be ours, and nothing may go wrong."""

    requests: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def what_does_not_apply(page: "Page", *, has_script: bool = True) -> list[str]:
    """Return the parts of the page's own style and script without effect: empty if all have one."""
    found: dict[str, Any] = page.evaluate(
        """async (hasScript) => ({
            font: getComputedStyle(document.body).fontFamily,
            links: document.querySelectorAll('link[rel=stylesheet]').length,
            sheets: [...document.styleSheets].filter(sheet => sheet.cssRules.length > 0).length,
            // A module runs once: to import it again only says whether that went well.
            failures: !hasScript ? [] : (await Promise.all(
                [...document.querySelectorAll('script[type=module]')].map(
                    script => import(script.src).then(() => '', error => String(error))
                )
            )).filter(Boolean),
        })""",
        has_script,
    )
    wrong = []
    if "system-ui" not in found["font"]:  # which no browser takes by itself
        wrong.append(f"the style does not apply: the font is {found['font']}")
    if not found["links"] or found["sheets"] != found["links"]:
        wrong.append(f"{found['sheets']} of {found['links']} style sheets are there")
    return wrong + [f"the script did not run: {failure}" for failure in found["failures"]]


def look_again(page: "Page", addresses: list[str], *, has_script: bool) -> list[str]:
    """Open each address again, reload it, and go back to it; return the failures."""
    ways: list[tuple[str, Callable[[str], object]]] = [
        ("opened again", page.goto),
        ("reloaded", lambda _: page.reload()),
        ("gone back to", lambda _: (page.goto("about:blank"), page.go_back())),
    ]
    wrong = []
    for address in addresses:
        for way, look in ways:
            look(address)
            found = what_does_not_apply(page, has_script=has_script)
            wrong += [f"{address} {way}: {what}" for what in found]
    return wrong


@contextmanager
def looking(
    browser: "Browser", service: Service, *, may_fail: bool = False, **options: Any
) -> Iterator["Page"]:  # Any: of Playwright
    """Open a page; at the end open every address that it showed again, reload it, and go back to
    it.

    Fails if the page asked another host, showed a dialog, anything went wrong in its script, or its
    style and script do not apply, the second time too: then the browser has parts in its cache, and
    asks whether they still hold.

    Args:
        browser: What opens it.
        service: What it may ask.
        may_fail: Addresses may answer with an error: the browser notes that as one of its own.
        options: Of the browser's context: ``viewport``, ``color_scheme`` …
    """
    context: BrowserContext = browser.new_context(
        **{"viewport": {"width": 1200, "height": 900}, **options}
    )
    seen = Seen()

    def refuse(dialog: "Dialog") -> None:
        seen.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page = context.new_page()
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on(
        "console",
        lambda message: (
            seen.errors.append(message.text)
            if message.type in ("error", "warning")
            and _ABOUT_SPEED not in message.text
            and not ("block=" in message.location["url"] and "status of 503" in message.text)
            else None
        ),
    )
    page.on("dialog", refuse)
    page.on(
        "response",
        lambda response: (
            seen.pages.append(response.url)
            if response.request.is_navigation_request()
            and response.headers.get("content-type", "").startswith("text/html")
            else None
        ),
    )
    page.set_default_timeout(60_000)
    yield page
    has_script = options.get("java_script_enabled", True)
    unstyled = look_again(page, list(dict.fromkeys(seen.pages)), has_script=has_script)
    context.close()
    assert unstyled == []
    foreign = [
        url
        for url in seen.requests  # also of pictures that a script made
        if urlsplit(url.removeprefix("blob:")).netloc != urlsplit(service.base_url).netloc
    ]
    assert foreign == []
    assert [
        error for error in seen.errors if not (may_fail and "Failed to load resource" in error)
    ] == []


@pytest.fixture(scope="session")
def axe() -> str:
    path = Path(os.environ.get("ENGINES", ROOT / ".engines")) / "chromium" / "axe.min.js"
    if not path.is_file():
        missing(f"axe-core is not installed ({path}); run: make test-browser")
    return path.read_text("utf-8")
