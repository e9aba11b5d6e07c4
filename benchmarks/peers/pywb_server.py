"""A real pywb on loopback, with collections of sample archives, for benchmarks and tests."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

PYWB = (
    Path(os.environ.get("ENGINES") or Path(__file__).resolve().parents[2] / ".engines").resolve()
    / "pywb"
    / "bin"
)

SECONDS_TO_START = 60.0


OVER_ARCLINK = """\
collections:
  past:
    index:
      type: cdx
      api_url: {base_url}/cdx?url={{url}}&closest={{closest}}
      replay_url: {base_url}/web/{{timestamp}}id_/{{url}}
proxy:
  coll: past
"""
"""The settings of docs/how-to/browse.md: ArcLink is the index and the archive."""


PANEL = """\
{{% include "banner.html" %}}
<script src="{base_url}/static/panel.js" defer></script>
"""
"""The template of docs/how-to/browse.md: the banner of pywb, and the panel of ArcLink."""


def write_config(folder: Path, base_url: str) -> None:
    """Write settings of a pywb whose only collection, ``past``, is the service at ``base_url``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(OVER_ARCLINK.format(base_url=base_url), "utf-8")


def add_panel(folder: Path, base_url: str) -> None:
    """Let the pywb with these settings show the panel of the service at ``base_url``."""
    with (folder / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("banner_html: arclink.html\n")
    (folder / "templates").mkdir()
    (folder / "templates" / "arclink.html").write_text(PANEL.format(base_url=base_url), "utf-8")


def free_port() -> int:
    """Return a port of the loopback that no program uses now."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


@contextmanager
def serving_pywb(
    folder: Path, collections: Mapping[str, Sequence[Path]], port: int = 0
) -> Iterator[tuple[str, int]]:
    """Serve collections of archive files with pywb.

    It yields the address, without a slash at the end, and the process id.

    Args:
        folder: Where pywb keeps its copies and indexes, and what it says (``pywb.log``).
        collections: Archive files by name of collection.
        port: Where it listens; 0 for any free port.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, files in collections.items():
        for words in (["init", name], ["add", name, *map(str, files)]):
            subprocess.run(
                [str(PYWB / "wb-manager"), *words],
                cwd=folder,
                check=True,
                capture_output=True,
                timeout=300,
            )
    port = port or free_port()
    with (folder / "pywb.log").open("wb") as log:
        words = [str(PYWB / "wayback"), "-b", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(words, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_for(port, process, folder / "pywb.log")
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(
        f"pywb did not start within {SECONDS_TO_START:g} s:\n"
        f"{log.read_text(errors='replace')[-2000:]}"
    )
