"""Builds, takedowns, backups and a service together, for ``ARCLINK_SOAK`` seconds.

No answer may be wrong, and no error may occur.
"""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import orjson
import pytest

from arclink.demo import write_demo_archive
from arclink.store.location import open_store
from tests.pipeline.store_contents import graph_of

SECONDS = float(os.environ.get("ARCLINK_SOAK", "3600"))
SITE = "example,aurora-daily)/"
FORGOTTEN, KEPT = "http://aurora-daily.example/", "http://kalvik2010.example/"
READERS = 3


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "arclink.cli.main", *map(str, arguments)]


class Reader(threading.Thread):
    """Sends random queries until stopped; records statuses, and answers with forgotten data."""

    def __init__(self, base: str, seed: int, is_forgotten: threading.Event) -> None:
        super().__init__(daemon=True)
        self.base, self.dice = base, random.Random(seed)
        self.statuses: Counter[int] = Counter()
        self.wrong: list[str] = []
        self.is_forgotten = is_forgotten
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            uri = self.dice.choice([FORGOTTEN, KEPT])
            after = self.is_forgotten.is_set()  # from here on, no answer may have it
            query = f"linkQuery?uri={uri}&direction=out&format=json"
            try:
                with urllib.request.urlopen(self.base + query, timeout=60) as answer:
                    self.statuses[answer.status] += 1
                    links = orjson.loads(answer.read())["outlinks"]
                    if after and uri == FORGOTTEN and links:
                        self.wrong.append(f"forgotten, and answered: {links[0]}"[:300])
            except urllib.error.HTTPError as error:
                self.statuses[error.code] += 1
            except OSError as error:
                self.wrong.append(repr(error))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.long
def test_build_forget_backup_and_service_together(tmp_path: Path) -> None:
    archives = []
    for number in range(6):
        write_demo_archive(tmp_path / f"in{number}", 150, 6, number)
        for path in (tmp_path / f"in{number}").glob("*.warc.gz"):
            path.rename(path.with_name(f"{number}-{path.name}"))
        archives.append(tmp_path / f"in{number}")
    end = time.monotonic() + SECONDS
    rounds = 0
    totals: Counter[int] = Counter()
    dice = random.Random(1)
    while time.monotonic() < end or not rounds:
        rounds += 1
        folder = tmp_path / f"round{rounds}"
        folder.mkdir()
        store, backup = folder / "links.db", folder / "backup.db"
        subprocess.run(
            command("build", archives[0], "--store", store, "--quiet"),
            check=True,
            capture_output=True,
        )
        port = free_port()
        with (folder / "log").open("wb") as log:
            service = subprocess.Popen(
                command("serve", "--store", store, "--port", port), stdout=log, stderr=log
            )
        is_forgotten = threading.Event()
        readers = [
            Reader(f"http://127.0.0.1:{port}/LinkService/", seed, is_forgotten)
            for seed in range(READERS)
        ]
        try:
            wait_for(port)
            for reader in readers:
                reader.start()
            for number, archive in enumerate(archives[1:]):
                build = subprocess.Popen(
                    command("build", archive, "--store", store, "--quiet", "--cores", "1"),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                subprocess.run(
                    command("backup", "--into", backup, "--store", store),
                    check=True,
                    capture_output=True,
                )
                if dice.random() < 0.3:
                    build.send_signal(signal.SIGKILL)
                build.wait(600)
                if number == 2:
                    subprocess.run(
                        command("forget", SITE, "--store", store), check=True, capture_output=True
                    )
                    is_forgotten.set()
        finally:
            for reader in readers:
                reader.is_over.set()
            for reader in readers:
                reader.join(120)
            service.send_signal(signal.SIGTERM)
            service.wait(60)
        for reader in readers:
            totals.update(reader.statuses)
            assert reader.wrong == []
            assert set(reader.statuses) == {200}, reader.statuses
        subprocess.run(
            command("build", *archives, "--store", store, "--quiet"),
            check=True,
            capture_output=True,
        )
        with open_store(str(store)) as opened:
            assert list(opened.verify()) == []
            before = graph_of(opened)
        store.unlink()
        for arguments in (["restore", backup], ["build", *archives, "--quiet"]):
            subprocess.run(command(*arguments, "--store", store), check=True, capture_output=True)
        with open_store(str(store)) as opened:
            assert graph_of(opened) == before
    print(f"{rounds} rounds in {SECONDS:.0f} s; answers by status: {dict(totals)}")


def wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the service did not start")
