"""``arclink forget`` while a build of the same store is at work, at any of its stages."""

import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.build import command as build
from arclink.cli.forget import command as forget
from arclink.model import Surt
from arclink.pipeline import stages
from arclink.store.location import open_store
from arclink.store.locks import only_build, only_change
from arclink.store.takedown_files import add_to_list, import_takedowns, listed
from tests.archives.made_archives import gzipped, http, warc
from tests.demos import Demos
from tests.pipeline.store_contents import check_same_but_for_revisits, graph_of

SITE = "example,aurora-daily"
LINE = f'{{"prefix": "{SITE}", "time": "2026-11-28T12:00:00Z"}}'
"""A takedown of the site."""


def run(command: object, *arguments: object) -> str:
    done = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)  # type: ignore[arg-type]  # a command of click
    assert done.exit_code == 0, done.output
    return done.output


def build_batches(archive: Path, store: Path) -> str:
    """Build with a batch for each archive file."""
    return run(
        build, archive, "--store", store, "--runner", "inline", "--quiet", "--batch-size", "1"
    )


def call_within(
    monkeypatch: pytest.MonkeyPatch, stage: str, at: int, call: Callable[[], object]
) -> None:
    """Make a call before the stage of a batch; batches count from 1, repeated ones again."""
    original, count = getattr(stages, stage), 0

    def with_call(*arguments: object, **named: object) -> object:
        nonlocal count
        count += 1
        if count == at:
            call()
        return original(*arguments, **named)

    monkeypatch.setattr(stages, stage, with_call)


@pytest.fixture(scope="module")
def archive(demos: Demos) -> Path:
    return demos.archive(200, 6, 1)


@pytest.fixture(scope="module")
def without(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store that was built without the site."""
    folder = tmp_path_factory.mktemp("without")
    (folder / "list").write_text(LINE)
    run(forget, "--import", folder / "list", "--store", folder / "links.db")
    build_batches(archive, folder / "links.db")
    return folder / "links.db"


@pytest.mark.parametrize("stage", ["index", "filter_rows", "extract", "join", "invert"])
def test_what_is_forgotten_within_any_stage_is_gone_at_once_and_stays_away(
    archive: Path, without: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    store = tmp_path / "links.db"
    left: list[Surt] = []

    def forget_site() -> None:
        with open_store(str(store)) as opened:
            assert any(True for _ in opened.captured_surts(Surt(SITE))), "the first batches have it"
        assert " forgotten" in run(forget, SITE, "--store", store)
        with open_store(str(store)) as opened:
            left.extend(opened.captured_surts(Surt(SITE)))

    call_within(monkeypatch, stage, 3, forget_site)
    build_batches(archive, store)
    with open_store(str(store)) as built, open_store(str(without)) as other:
        check_same_but_for_revisits(graph_of(built), graph_of(other))
        assert list(built.verify()) == []
        ((_, removed),) = built.forgotten()
        assert removed.mementos > 0
    assert left == []
    assert not [*tmp_path.glob("*.lock"), *tmp_path.glob("*.change")]


def test_a_payload_that_was_known_when_a_batch_was_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the forgotten page had shown it, so the store does not have it when the batch comes."""
    page = http(b"<a href=http://c.example/>c</a>", "Content-Type: text/html")
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a", "b"):
        uri = f"http://{name}.example/"
        (folder / f"{name}.warc.gz").write_bytes(gzipped([warc(uri, page)]))
    store = tmp_path / "links.db"
    call_within(monkeypatch, "invert", 2, partial(run, forget, "example,a)/", "--store", store))
    build_batches(folder, store)
    with open_store(str(store)) as opened:
        (memento,) = opened.mementos(Surt("example,b)/"))
        content = opened.content_of(memento)
        assert content is not None
        assert [link.target for link in opened.outlinks(content)] == ["http://c.example/"]
        assert not any(opened.mementos(Surt("example,a)/")))
        assert list(opened.verify()) == []


def test_a_takedown_that_comes_while_a_batch_is_loaded_is_listed_and_goes_with_the_batch(
    archive: Path, without: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "links.db"
    said: list[str] = []
    waiting = threading.Thread(
        target=lambda: said.append(run(forget, SITE, "--reason", "r", "--store", store))
    )

    def begin() -> None:
        waiting.start()
        while not listed(store):
            waiting.join(0.01)
        assert waiting.is_alive(), "the command waits, but its line is on the disk"

    call_within(monkeypatch, "load", 3, begin)
    build_batches(archive, store)
    waiting.join()
    with open_store(str(store)) as built, open_store(str(without)) as other:
        check_same_but_for_revisits(graph_of(built), graph_of(other))
        assert list(built.verify()) == []
        ((takedown, removed),) = built.forgotten()
        assert (takedown.reason, removed.mementos > 5) == ("r", True)
    (text,) = said
    assert "waiting until another process has changed it" in text
    assert f"{SITE}: {removed.mementos:,} mementos, " in text


def test_a_command_that_is_killed_while_it_waits_leaves_its_takedown_to_the_build(
    archive: Path, without: Path, tmp_path: Path
) -> None:
    store = tmp_path / "links.db"
    names = sorted(archive.glob("*.warc.gz"))
    (tmp_path / "in").mkdir()
    shutil.copy(names[0], tmp_path / "in")
    build_batches(tmp_path / "in", store)
    (tmp_path / "list").write_text(LINE)
    add_to_list(store, import_takedowns(tmp_path / "list"))
    build_batches(archive, store)
    with open_store(str(store)) as built, open_store(str(without)) as other:
        check_same_but_for_revisits(graph_of(built), graph_of(other))


def test_many_takedowns_at_a_time_lose_no_line_of_the_list(archive: Path, tmp_path: Path) -> None:
    store = tmp_path / "links.db"
    build_batches(archive, store)
    with open_store(str(store)) as opened:
        surts = list(opened.captured_surts(Surt("example,")))[:6]
    threads = [
        threading.Thread(target=run, args=(forget, surt, "--no-clean", "--store", store))
        for surt in surts
    ]
    with only_build(store), only_change(store):  # all of them wait
        for thread in threads:
            thread.start()
        while len(listed(store)) < len(surts):
            threads[0].join(0.01)
    for thread in threads:
        thread.join()
    with open_store(str(store)) as opened:
        assert {takedown.what.prefix for takedown, _ in opened.forgotten()} == {*surts}
        assert not any(any(opened.mementos(surt)) for surt in surts)
        assert list(opened.verify()) == []
