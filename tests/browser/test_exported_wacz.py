"""An exported WACZ passes py-wacz's validator, and ReplayWeb.page shows its pages in Chromium."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from arclink.store.location import open_store
from tests.archives.range_server import serve
from tests.browser.conftest import ROOT, missing
from tests.captures.exporting import exported
from tests.demos import Demos

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ENGINES = Path(os.environ.get("ENGINES", ROOT / ".engines"))
REPLAY = ENGINES / "chromium" / "replaywebpage"
VALIDATOR = ENGINES / "wacz" / "bin" / "wacz"
URI = "http://www.kalvik2010.example/ceremony/opening.html"
TIME = "20100212060005"
HEADING = "Opening ceremony: today"
EMBEDDED = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Replay</title>
<script src="ui.js"></script>
<replay-web-page source="/part.wacz" url="{URI}" ts="{TIME}" embed="replayonly"
 replayBase="/replay/" style="display: block; height: 700px"></replay-web-page>"""

ACTIVATE = """async () => {
  const scope = {scope: "replay/"}, workers = navigator.serviceWorker;
  const {installing} = await workers.register("replay/sw.js?serveIndex=1", scope);
  while (installing.state !== "activated") await new Promise(next => setTimeout(next, 50));
}"""
"""Makes the service worker that ReplayWeb.page registers, and waits until it answers.

ReplayWeb.page opens its frame as soon as the worker is registered, and tries again three times in
half a second. If the worker is not active by then, as on a busy machine, the error of the server
stays.
"""


@pytest.fixture(scope="module")
def wacz(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the demo archive."""
    path = tmp_path_factory.mktemp("wacz") / "part.wacz"
    with open_store(str(demos.store())) as store:
        whole = sum(1 for _ in store.scan_mementos())
    done = exported(demos.store(), path, "wacz", from_="20100101", to="20100301")
    assert 0 < done.tally.captures < whole
    return path


def test_a_wacz_passes_the_validator(wacz: Path) -> None:
    if not VALIDATOR.exists():
        missing(f"no validator in {VALIDATOR}; run: make test-browser")
    done = subprocess.run(
        [VALIDATOR, "validate", "-f", wacz], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    damaged = wacz.with_name("damaged.wacz")
    data = bytearray(wacz.read_bytes())
    data[100] ^= 1  # in the archive file, whose digest the package names
    damaged.write_bytes(data)
    assert subprocess.run([VALIDATOR, "validate", "-f", damaged], check=False).returncode != 0


def test_replayweb_page_shows_a_page_of_a_wacz(
    browser: "Browser", wacz: Path, tmp_path: Path
) -> None:
    if not REPLAY.is_dir():
        missing(f"ReplayWeb.page is not installed ({REPLAY}); run: make test-browser")
    (tmp_path / "replay").mkdir()
    shutil.copy(REPLAY / "sw.js", tmp_path / "replay" / "sw.js")
    shutil.copy(REPLAY / "ui.js", tmp_path / "ui.js")
    shutil.copy(wacz, tmp_path / "part.wacz")
    (tmp_path / "index.html").write_text(EMBEDDED, "utf-8")
    (tmp_path / "begin.html").write_text("<!doctype html><title>Begin</title>", "utf-8")
    hosts: set[str] = set()
    with serve(tmp_path) as site:
        # Its texts need a language tag of BCP 47, which a headless browser may not have.
        context = browser.new_context(locale="en-US")
        page = context.new_page()
        page.set_default_timeout(60_000)
        context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
        page.goto(f"{site.url}begin.html")
        page.evaluate(ACTIVATE)
        page.goto(f"{site.url}index.html")
        assert _heading(page) == HEADING
        page.reload()
        assert _heading(page) == HEADING
        context.close()
        assert hosts == {urlsplit(site.url).netloc}
        assert {path for path, _, _ in site.ranges} == {"/part.wacz"}


def _heading(page: "Page") -> str:
    """Return the heading of the archived page, which is in a frame in the frame of the replay."""
    replayed = page.frame_locator("replay-web-page iframe").frame_locator("iframe")
    heading: str = replayed.locator("h2").inner_text()
    return heading
