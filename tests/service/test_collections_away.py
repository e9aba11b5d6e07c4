"""A service of several collections, some of whose stores cannot be read when it starts."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arclink.store.takedown_files import list_path
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import T1, A, B
from tests.service.running import serving_store
from tests.store.memory_store import Page, link


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("away")
    load_pages(folder / "links.db", folder / "graph", [[Page(A, T1, [link(B, "b")])]])
    return folder / "links.db"


def overwrite(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"x" * 600)


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FAULTS: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "no-store": lambda path: path.write_text("hello" * 1000),
    "damaged-head": lambda path: overwrite(path, 0),
    "damaged-page": lambda path: overwrite(path, 4196),
    "cut-short": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "folder": as_folder,
    "damaged-list": lambda path: list_path(path).write_bytes(b"{}\n"),
}


def test_collections_that_can_be_read_are_served_and_the_others_come_back(
    built: Path, tmp_path: Path
) -> None:
    stores = {name: tmp_path / f"{name}.db" for name in (*FAULTS, "good")}
    for name, store in stores.items():
        shutil.copy(built, store)
        FAULTS.get(name, str)(store)
    first, *others = (f"{name}={store}" for name, store in stores.items())
    options = [word for other in others for word in ("--store", other)]
    query = f"linkQuery?uri={A}&format=json"
    with serving_store(Path(first), tmp_path / "log", "--log", "json", *options) as running:
        status, good = running.get(f"/good/{query}")
        assert status == 200
        errors = [str(one["message"]) for one in running.events() if one["level"] == "ERROR"]
        for name in FAULTS:
            assert [running.get(f"/{name}/{path}")[0] for path in (query, "")] == [503, 503], name
            assert any(f"the store of {name} cannot be read" in error for error in errors), name
        assert [running.get(path)[0] for path in ("/", "/health")] == [200, 503]
        stores["folder"].rmdir()
        list_path(stores["damaged-list"]).unlink()
        for name in FAULTS:
            shutil.copy(built, tmp_path / "whole.db")
            (tmp_path / "whole.db").rename(stores[name])
            status, answer = running.get(f"/{name}/{query}")
            assert (status, answer) == (200, good.replace(b"good", name.encode())), name
        assert running.get("/health")[0] == 200


def test_a_service_with_no_store_to_read_does_not_start(built: Path, tmp_path: Path) -> None:
    call = [sys.executable, "-m", "arclink.cli.main", "serve", "--port", "0"]
    call += ["--store", f"one={tmp_path / 'one.db'}", "--store", f"two={tmp_path / 'two.db'}"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "one.db" in done.stderr
    assert "Traceback" not in done.stderr
