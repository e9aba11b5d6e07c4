"""``arclink build --rebuild``: a store is replaced only by one that has all of it."""

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.errors import InputError, StoreError
from arclink.store.location import open_store
from tests.demos import Demos
from tests.durability.disks import killed_at, operations
from tests.pipeline.store_contents import graph_of

SITE = "example,aurora-daily)/"
KILLS = 10

Run = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, so that commands in messages can be run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str | Path) -> str:
    done = CliRunner().invoke(group, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def build(*words: str | Path) -> str:
    return run("build", *words, "--runner", "inline", "--quiet")


def graph_in(store: Path | str) -> set[tuple[object, ...]]:
    with open_store(str(store)) as opened:
        assert not list(opened.verify())
        return graph_of(opened)


@pytest.fixture
def archive(demos: Demos, home: Path) -> Path:
    """Archive files in a folder of their own: tests move them."""
    copy = home / "archive"
    copy.mkdir()
    for path in demos.archive(200, 6, 1).glob("*.warc.gz"):
        shutil.copy(path, copy)
    assert len(list(copy.iterdir())) >= 3
    return copy


@pytest.fixture
def store(archive: Path, home: Path) -> Path:
    build("archive", "--store", "links.db")
    return home / "links.db"


def unchanged(store: Path, before: bytes) -> bool:
    return store.read_bytes() == before and not store.with_name("links.db.rebuild").exists()


def test_input_that_lacks_files_of_the_store_is_refused(
    archive: Path, store: Path, home: Path
) -> None:
    before, whole = store.read_bytes(), graph_in(store)
    first, *others = sorted(archive.iterdir())
    (home / "new day").mkdir()
    first.rename(home / "new day" / first.name)  # its size and fingerprint show that it is known
    with pytest.raises(InputError) as refused:
        build(home / "new day", "--store", "links.db", "--rebuild")
    text = str(refused.value)
    assert f"{len(others)} of the {len(others) + 1} archive files of links.db" in text
    assert all(str(path) in text for path in others)
    assert first.name not in text.partition("To rebuild")[0].partition("\n")[2]
    assert unchanged(store, before)

    (home / "new day" / first.name).rename(first)
    (home / "new day" / "copy.warc.gz").write_bytes(first.read_bytes())
    commands = re.findall(r"arclink (build .*?)(?: &&|$)", text, re.MULTILINE)
    assert len(commands) == 3, "rebuild and then add; or another store"
    for command in commands:
        run(*shlex.split(command), "--quiet")
    assert whole <= graph_in(store), "the first two commands keep all that the store had"
    assert graph_in("links-2.db") < whole


def test_without_input_the_files_of_the_store_are_read(store: Path) -> None:
    whole, inode = graph_in(store), store.stat().st_ino
    shown = build("--store", "links.db", "--rebuild")
    assert re.search(r"captures: (\d+) before, \1 now", shown)
    assert graph_in(store) == whole
    assert store.stat().st_ino != inode
    assert sorted(path.name for path in store.parent.iterdir()) == ["archive", "links.db"]


def test_files_that_are_gone_are_named(archive: Path, store: Path, home: Path) -> None:
    before = store.read_bytes()
    gone = sorted(archive.iterdir())[:2]
    for path in gone:
        path.rename(home / path.name)
    with pytest.raises(InputError) as refused:
        build("--store", "links.db", "--rebuild")
    text = str(refused.value)
    assert f"2 of the {len(gone) + len(list(archive.iterdir()))} archive files" in text
    assert all(str(path) in text for path in gone)
    assert "arclink build INPUT... --store links.db --rebuild" in text
    assert unchanged(store, before)

    whole = graph_in(store)
    build("archive", *(path.name for path in gone), "--store", "links.db", "--rebuild")
    assert graph_in(store) == whole, "files may be elsewhere now"


def test_a_long_list_of_files_is_cut(store: Path, home: Path, archive: Path) -> None:
    from arclink.pipeline.rebuild import SHOWN, PresentStore

    present = PresentStore.of(str(store), (), ())
    many = [home / f"gone-{number}.warc.gz" for number in range(3 * SHOWN)]
    for path in many:
        path.write_bytes(next(archive.iterdir()).read_bytes() + path.name.encode())
    build(*many, "--store", "many.db")
    for path in many:
        path.unlink()
    with pytest.raises(InputError) as refused:
        build("--store", "many.db", "--rebuild")
    text = str(refused.value)
    assert f"… and {2 * SHOWN} more" in text
    assert text.count("gone-") == SHOWN
    assert present.files


def test_settings_that_are_not_given_are_those_of_the_store(archive: Path, home: Path) -> None:
    build("archive", "--store", "links.db", "--prefix", SITE, "--lazy", "--no-redirects")
    whole = graph_in("links.db")
    build("--store", "links.db", "--rebuild")
    assert graph_in("links.db") == whole
    build("--store", "links.db", "--rebuild", "--heritrix-outlinks")
    with open_store("links.db") as opened:
        assert opened.setting("heritrix outlinks") == "on"
        assert opened.setting("lazy links") == "yes"
        assert SITE in (opened.setting("rules") or "")


def test_takedowns_and_subsets_survive_and_derived_files_do_not(store: Path) -> None:
    run("select", "pages", "mime:text/html", "--store", store)
    run("forget", SITE, "--store", store, "--reason", "letter")
    build("--store", store, "--rebuild")  # a build never has what only forgotten captures show
    run("ask", "most-linked", "--store", store)
    run("links", "http://aurora-daily.example/", "--store", store)
    with open_store(str(store)) as opened:
        forgotten = [takedown for takedown, _ in opened.forgotten()]
        state = opened.state()
    whole, subsets = graph_in(store), run("subsets", "--store", store)
    assert store.with_name("links.db.tables").exists()
    build("--store", "links.db", "--rebuild")
    assert graph_in(store) == whole
    with open_store(str(store)) as opened:
        assert [takedown for takedown, _ in opened.forgotten()] == forgotten
        assert opened.state() != state, "answers that a reader keeps are of the former store"
    assert run("subsets", "--store", store) == subsets
    assert not store.with_name("links.db.tables").exists()


def test_a_takedown_after_a_killed_rebuild_is_in_the_new_store(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from arclink.pipeline import rebuild

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rebuild, "replace_store", killed)
        CliRunner().invoke(group, ["build", "--store", "links.db", "--rebuild", "--quiet"])
    assert store.with_name("links.db.rebuild").exists()
    run("forget", SITE, "--store", store)
    assert not store.with_name("links.db.rebuild").exists(), "it has what is forgotten"
    build("--store", "links.db", "--rebuild")
    captures = [row for row in graph_in(store) if isinstance(row[1], str)]
    assert captures
    assert not any(str(surt).startswith(SITE) for surt, *_ in captures)


def test_a_store_with_fewer_captures_does_not_take_its_place(archive: Path, store: Path) -> None:
    before = store.read_bytes()
    other, *_, cut = sorted(archive.iterdir(), key=lambda path: path.stat().st_size)
    whole = cut.read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match=f"{cut}: cut short"):
        build("--store", "links.db", "--rebuild")
    assert store.read_bytes() == before

    cut.write_bytes(other.read_bytes())
    with pytest.raises(StoreError, match=r"has \d+ captures and links.db has \d+") as refused:
        build("--store", "links.db", "--rebuild")
    assert store.read_bytes() == before
    (command,) = re.findall("arclink (restore .*)", str(refused.value))
    run(*shlex.split(command))
    assert len(graph_in(store)) > 0
    cut.write_bytes(whole)
    build("--store", "links.db", "--rebuild")


def test_a_full_disk_is_said_before(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = store.read_bytes()
    usage = shutil.disk_usage(store.parent)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(StoreError, match=r"needs about .* bytes .*, and 10 are free"):
        build("--store", "links.db", "--rebuild")
    assert store.read_bytes() == before


@pytest.mark.parametrize("name", ["links.db", "empty.db"])
def test_a_rebuild_needs_a_store_or_input(archive: Path, home: Path, name: str) -> None:
    if name == "empty.db":
        open_store(name, create=True).close()
    done = CliRunner().invoke(group, ["build", "--store", name, "--rebuild", "--quiet"])
    assert done.exit_code
    assert "INPUT..." in done.output + str(done.exception)
    build("archive", "--store", name, "--rebuild")
    assert graph_in(name)


def test_records_that_an_index_named_and_all_records_stay(archive: Path, home: Path) -> None:
    """An index is used again for the files that it was used for, and for no other."""
    one, *others = sorted(archive.iterdir())
    run("index", one, "--into", "rows", "--runner", "inline")
    rows = b"".join(path.read_bytes() for path in (home / "rows/rows").glob("part-*"))
    (home / "one.cdxj").write_bytes(b"".join(rows.splitlines(keepends=True)[:5]))
    build(one, "--cdx", "one.cdxj", "--store", "links.db")
    build(*others, "--store", "links.db")
    few = graph_in("links.db")
    build("--store", "links.db", "--rebuild")
    assert graph_in("links.db") == few
    build("archive", "--store", "links.db")
    whole = graph_in("links.db")
    assert few < whole or len(few) < len(whole)
    build("--store", "links.db", "--rebuild")
    assert graph_in("links.db") == whole
    (home / "one.cdxj").unlink()
    build("--store", "links.db", "--rebuild")
    assert graph_in("links.db") == whole


def test_a_rebuild_killed_at_random_moments_loses_nothing(
    archive: Path, store: Path, disk: Path, tmp_path: Path
) -> None:
    """The store answers as before at each moment, and the same command ends well."""
    run("forget", SITE, "--store", store)
    build("--store", store, "--rebuild")  # a build never has what only forgotten captures show
    options = ["--rebuild", "--batch-size", "60k", "--runner", "inline", "--quiet"]
    call: Sequence[str] = [
        *(sys.executable, "-m", "arclink.cli.main", "build", "--store", str(store), *options)
    ]
    whole = graph_in(store)
    total = operations(disk, "/links.db", call, tmp_path)
    dice = random.Random(5)
    moments = [dice.randint(1, total) for _ in range(KILLS // 2)]
    # The last operations replace the store.
    moments += [total - dice.randint(0, 40) for _ in range(KILLS // 2)]
    killed = 0
    for at in moments:
        killed += killed_at(disk, "/links.db", call, tmp_path, at)
        assert graph_in(store) == whole
    assert killed >= 2
    subprocess.run(call, check=True, capture_output=True)
    assert graph_in(store) == whole
    left = {path.name for path in store.parent.iterdir() if path.name.startswith("links.db")}
    assert left == {"links.db", "links.db.takedowns"}


def test_a_store_behind_a_link_stays_behind_it(store: Path, home: Path) -> None:
    whole = graph_in(store)
    (home / "other").mkdir()
    store.rename(home / "other" / "real.db")
    store.symlink_to(home / "other" / "real.db")
    build("--store", "links.db", "--rebuild")
    assert store.is_symlink()
    assert os.listdir(home / "other") == ["real.db"]
    assert graph_in(store) == whole


def test_a_store_in_cassandra_is_refused_with_the_commands_for_another_keyspace(
    archive: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A keyspace cannot be renamed. This needs no server: what is read is the same as of a file."""
    from arclink.pipeline import rebuild

    monkeypatch.setattr(rebuild, "open_store", lambda _: open_store(str(store)))
    where = "cassandra://node1,node2/links?replication=3"
    with pytest.raises(StoreError, match="Nothing was changed") as refused:
        rebuild.in_cassandra(where, ())
    commands = re.findall("  (arclink .*)", str(refused.value))
    assert [shlex.split(command)[1] for command in commands] == [
        *("schema", "forget", "forget", "build")
    ]
    assert all(str(path) in commands[-1] for path in archive.iterdir())
    assert sum("cassandra://node1,node2/links2?replication=3" in line for line in commands) == 3

    monkeypatch.setattr(rebuild, "open_store", lambda _: open_store("empty.db", create=True))
    rebuild.in_cassandra(where, ())  # nothing can be lost
