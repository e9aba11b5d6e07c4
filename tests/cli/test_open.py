"""``arclink open`` builds the graph once, as long as the files stay the same, and serves it."""

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import arclink
from arclink.cli.main import group
from arclink.cli.open import cache_of
from arclink.service.application import create_app
from tests.archives.made_archives import gzipped, http, warc


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "crawl.warc.gz"
    page = http(b"<a href=/b>b</a>", "Content-Type: text/html")
    path.write_bytes(gzipped([warc("http://a.example/", page)]))
    return path


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stores that were served, instead of a server that runs until it is stopped."""
    stores: list[str] = []

    def serve(where: str, *rest: object, **named: object) -> None:
        stores.append(where)
        named["ready"]("http://127.0.0.1:8080/")  # type: ignore[operator]  # a function

    monkeypatch.setattr("arclink.service.server.serve", serve)
    return stores


def test_the_second_call_builds_nothing(
    archive: Path, served: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    first = CliRunner().invoke(group, ["open", str(archive), "--no-browser"])
    assert first.exit_code == 0, first.output
    assert "1  indexed" in first.output
    assert shown == []
    second = CliRunner().invoke(group, ["open", str(archive), "--no-browser"])
    assert "indexed" not in second.output
    assert "Browse it at http://127.0.0.1:8080/" in second.output
    assert served[0] == served[1]
    assert Path(served[0]).is_file()


def test_the_cache_depends_on_names_and_times_of_files(archive: Path) -> None:
    before = cache_of([str(archive)])
    assert cache_of([f"file://{archive}"]) == before
    found = archive.stat()
    os.utime(archive, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    assert cache_of([str(archive)]) != before
    assert cache_of(["https://a.example/x.warc.gz"]) != cache_of(["https://a.example/y.warc.gz"])


@pytest.mark.parametrize(
    ("names", "uri", "length"),
    [
        pytest.param(["waczs/valid_example_1.wacz"], "http://www.example.com/", 1256, id="WACZ"),
        pytest.param(["warcs/example.warc.gz"], "http://example.com?example=1", 1270, id="WARC"),
        pytest.param(
            ["waczs/valid_example_1.wacz", "warcs/example.warc.gz"],
            "http://example.com?example=1",
            1270,
            id="folder",
        ),
    ],
)
def test_real_files_are_opened_and_their_pages_read(
    shared_data: Path,
    tmp_path: Path,
    served: list[str],
    monkeypatch: pytest.MonkeyPatch,
    names: list[str],
    uri: str,
    length: int,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    archives = shared_data / "pywb" / names[0]
    if len(names) > 1:
        archives = tmp_path / "crawl"
        archives.mkdir()
        for name in names:
            shutil.copy(shared_data / "pywb" / name, archives)
    for _ in range(2):
        result = CliRunner().invoke(group, ["open", str(archives), "--no-browser"])
        assert result.exit_code == 0, result.output
        monkeypatch.delattr("arclink.cli.build.command", raising=False)  # so that it cannot build
    with arclink.open(served[1]) as graph, graph.get(uri) as page:
        assert page.status == "200"
        assert len(b"".join(page.decoded())) == length
    client = create_app(served[1]).test_client()
    assert client.get(f"/browse/2030/{uri}", follow_redirects=True).status_code == 200
