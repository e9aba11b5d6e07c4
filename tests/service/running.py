"""`arclink serve` in a process of its own."""

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.access.sqlite_pages import load_pages
from tests.service.conftest import T1, A
from tests.store.memory_store import Page, link


@dataclass(frozen=True)
class Running:
    """A service in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    log: Path

    def get(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def events(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Running]:
    """Run ``arclink serve`` over `BIG` until the block ends."""
    load_pages(folder / "links.db", folder / "graph", [[Page(A, T1, BIG)]])
    with serving_store(folder / "links.db", folder / "log", *options) as running:
        yield running


@contextmanager
def serving_store(store: Path, log: Path, *options: str) -> Iterator[Running]:
    """Run ``arclink serve`` over a store until the block ends.

    Args:
        store: The store.
        log: The file for its log.
        options: Further options.
    """
    command = [
        sys.executable,
        "-m",
        "arclink.cli.main",
        "serve",
        "--store",
        str(store),
        "--port",
        "0",
        *options,
    ]
    with log.open("w") as events:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=events,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield Running(process, int(line.split("http://127.0.0.1:")[1].split("/")[0]), log)
    finally:
        process.terminate()
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


BIG = [link(f"http://b.example/{number}", "x" * 900) for number in range(8_000)]
"""Links whose answer is larger than what sockets hold."""
