"""Addresses that are almost an unknown one, after its answer on the command line."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.analysis.relations.database import ShownRelations
from arclink.analysis.relations.folder import tables_folder
from arclink.cli.main import group
from arclink.errors import CaptureError
from arclink.store.location import open_store
from tests.access.sqlite_pages import load_pages
from tests.store.memory_store import Page, link

SITE, TIME = "http://news.example", "20100101000000"
PAGES = [
    Page(f"{SITE}/winter", TIME, [link(f"{SITE}/win\u202et\u00adr", "x")]),
    *(Page(f"{SITE}/winter{number}", TIME, ()) for number in range(9)),
    Page("http://other.example/", TIME, ()),
]
HEAD = "The graph does not have this address. Almost the same:"


@pytest.fixture
def path(tmp_path: Path) -> str:
    load_pages(tmp_path / "links.db", tmp_path / "graph", [PAGES])
    return str(tmp_path / "links.db")


def noted(path: str, *words: str) -> list[str]:
    done = CliRunner().invoke(group, [*words, "--store", path], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stderr.splitlines()


def make_tables(path: str) -> None:
    with open_store(path) as store, ShownRelations(path, store):
        pass


def test_links_of_an_unknown_address_name_those_that_are_almost_the_same(path: str) -> None:
    asked = ("links", f"{SITE}/wintr")
    assert noted(path, *asked) == []
    assert not tables_folder(path).exists()  # no reader waits for tables because of an error
    make_tables(path)
    head, *names = noted(path, *asked)
    assert head == HEAD
    assert len(names) == 5
    assert f"  {SITE}/winter" in names
    assert all(name.isprintable() and name.startswith(f"  {SITE}/win") for name in names)
    output = CliRunner().invoke(group, [*asked, "--store", path, "--format", "jsonl"]).stdout
    assert "Almost" not in output


@pytest.mark.parametrize(
    "address", ["/winter", "/win\u202et\u00adr", "/winter/*", "/far-away-from-all-others"]
)
def test_no_other_address_is_named_for(path: str, address: str) -> None:
    make_tables(path)
    assert noted(path, "links", f"{SITE}{address}") == []


def test_a_name_that_is_hostile_is_made_printable(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tables(path)
    monkeypatch.setattr("arclink.cli.similar._similar_names", lambda *_: ["a\x1b[31m\u202e\nb"])
    assert noted(path, "links", f"{SITE}/wintr") == [HEAD, "  a\ufffd[31m b"]


def test_tables_of_an_earlier_state_are_not_asked(path: str, tmp_path: Path) -> None:
    make_tables(path)
    load_pages(Path(path), tmp_path / "more", [[Page("http://x.example/", TIME, ())]])
    assert noted(path, "links", f"{SITE}/wintr") == []


def test_a_capture_that_does_not_exist_is_an_error_with_those_that_are_almost_the_same(
    path: str,
) -> None:
    called = ["get", "http://others.example/", "--store", path]
    for expected in ([], [HEAD, "  http://other.example/", "  other.example"]):
        error = CliRunner().invoke(group, called).exception
        assert isinstance(error, CaptureError)
        first, *rest = str(error).splitlines()
        assert first == "not captured: the graph has no capture of http://others.example/"
        assert rest == expected
        make_tables(path)
    unknown = CliRunner().invoke(group, ["get", "sha1:" + "A" * 32, "--store", path]).exception
    assert "Almost" not in str(unknown)
