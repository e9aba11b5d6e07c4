"""``arclink open``: the graph is built once for the present files, and then served."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.cli.open import cache_of
from tests.archives.made_archives import gzipped, http, warc


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "crawl.warc.gz"
    page = http(b"<a href=/b>b</a>", "Content-Type: text/html")
    path.write_bytes(gzipped([warc("http://a.example/", page)]))
    return path


def test_the_second_call_builds_nothing(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[str] = []
    shown: list[str] = []

    def serve(where: str, *rest: object, **named: object) -> None:
        served.append(where)
        named["ready"]("http://127.0.0.1:8080/")  # type: ignore[operator]  # a function

    monkeypatch.setattr("arclink.service.server.serve", serve)
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


def test_the_cache_is_for_files_as_they_are(archive: Path) -> None:
    before = cache_of([str(archive)])
    assert cache_of([f"file://{archive}"]) == before
    found = archive.stat()
    os.utime(archive, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    assert cache_of([str(archive)]) != before
    assert cache_of(["https://a.example/x.warc.gz"]) != cache_of(["https://a.example/y.warc.gz"])
