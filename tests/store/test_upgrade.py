"""Stores of earlier versions answer, are backed up, forget, and are upgraded; nothing is lost.

`tests.store.kept_stores` says what they hold.
"""

import csv
import io
import random
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import unquote

import pytest
from click.testing import CliRunner, Result
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arclink.cli.main import group
from arclink.errors import SealError
from arclink.files.sealed import problems_in
from arclink.model import Forgotten, Surt
from arclink.pipeline.settings import BuildSettings
from arclink.store import layouts
from arclink.store.batch_backups import restore_batches
from arclink.store.layouts import Keys, is_old_file, present_prefixes
from arclink.store.location import kept_next_to, open_store
from arclink.store.protocols import Takedown
from arclink.store.takedown_files import listed
from arclink.uris.surts import cdx_key, surt_of
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, warc
from tests.durability.disks import Call, killed_at, operations
from tests.store.kept_stores import ARCHIVES, KEPT, STORES, KeptStore, write_archives

pytestmark = pytest.mark.filterwarnings("ignore::arclink.store.layouts.OldStoreWarning")

ALONE = BuildSettings(runner="inline", cores=1)
each_store = pytest.mark.parametrize("kept", STORES, ids=lambda kept: kept.name)
OLD = STORES  # the newest of them has present keys, but links of extractor 3
each_old_store = pytest.mark.parametrize("kept", OLD, ids=lambda kept: kept.name)


class Contents(NamedTuple):
    """Everything that a store answers."""

    mementos: object
    outlinks: object
    inlinks: object
    titles: object


def contents(path: Path, *, with_titles: bool = True) -> Contents:
    with open_store(str(path)) as store:
        mementos = list(store.scan_mementos())
        outlinks, titles = {}, {}
        for memento in mementos:
            content = store.content_of(memento)
            links = None if content is None else list(map(tuple, store.outlinks(content)))
            outlinks[memento.original, memento.timestamp] = links
            payload = store.payload(memento.checksum)
            titles[memento.checksum] = payload.title if with_titles and payload else None
        inlinks = {
            (surt, *link[:4], sighting)
            for surt in store.surts(Surt(""))
            for link in store.inlinks(surt)
            for sighting in store.sightings(link.content)
        }
    return Contents({*mementos}, outlinks, inlinks, titles)


def originals(path: Path) -> set[str]:
    with open_store(str(path)) as store:
        return {memento.original for memento in store.scan_mementos()}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


def said(*arguments: object) -> str:
    done = run(*arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def counts_of_subsets(path: Path) -> list[str]:
    return [said("count", name, "--store", path).split()[0] for name in ("list", "view")]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archives(tmp_path_factory.mktemp("archives"))


@pytest.fixture(scope="module")
def fresh(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store that this version built from the same files, with the same takedown."""
    return built(archives, tmp_path_factory.mktemp("fresh"), "uk,ac,www)/")


def built(archives: Path, folder: Path, *prefixes: str) -> Path:
    path = folder / "links.db"
    with open_store(str(path), create=True) as store:
        for prefix in prefixes:
            store.forget(Takedown(Forgotten(Surt(prefix)), "letter 7", "2026-11-25T00:00:00Z"))
    for name in sorted(ARCHIVES):
        build_store(archives, path, ALONE, [str(archives / name)])
    said("select", "view", "host:www.gov.uk", "--store", path)
    said("select", "list", "from:2021", "--keep", "--store", path)
    return path


def test_each_layout_has_a_kept_store() -> None:
    """Whoever changes a layout keeps a store of the one before."""
    ages = set()
    for kept in STORES:
        with open_store(str(kept.path)) as store:
            assert store.setting("keys") in (None, *map(str, range(1, int(layouts.KEYS) + 1)))
            ages.add((store.layout, layouts.setting_of(store, "keys")))
    every_layout = range(layouts.OLDEST_STORE, layouts.STORE + 1)
    assert {layout for layout, _ in ages} == {*every_layout}
    assert {keys for _, keys in ages} == {*map(str, range(1, int(layouts.KEYS) + 1))}


@each_store
def test_an_old_store_is_whole_and_old(kept: KeptStore, tmp_path: Path) -> None:
    path = kept.copy(tmp_path)
    output = said("verify", "--store", path)
    assert output.endswith(f"{path}: every invariant holds.\n")
    assert "damaged" not in output
    is_old = kept in OLD
    assert (f"arclink upgrade {path}" in output) is is_old
    assert ("written by an earlier ArcLink" in output) is is_old
    rows = [line.split()[:2] for line in said("subsets", "--store", path).splitlines()[1:]]
    assert rows == [["list", "list"], ["view", "view"]]
    assert counts_of_subsets(path)[0] == "44"
    said("backup", "--into", tmp_path / "backup.db", "--store", path)
    path.unlink()
    said("restore", tmp_path / "backup.db", "--store", path)
    assert said("verify", "--store", path).endswith("every invariant holds.\n")
    assert kept.takedown in said("forget", "--list", "--store", path)


@each_old_store
def test_nothing_is_added_to_an_old_store_and_the_message_says_what_helps(
    kept: KeptStore, archives: Path, tmp_path: Path
) -> None:
    path = kept.copy(tmp_path)
    before = contents(path)
    done = run("build", archives, "--store", path)
    assert f"bring it up to date: arclink upgrade {path}" in str(done.exception)
    assert "--rebuild" not in str(done.exception)
    assert contents(path) == before


@each_store
def test_an_upgraded_store_answers_as_a_fresh_one(
    kept: KeptStore, archives: Path, fresh: Path, tmp_path: Path
) -> None:
    path = kept.copy(tmp_path)
    said("upgrade", path, "--archives", archives)
    assert contents(path) == contents(fresh)
    assert counts_of_subsets(path) == counts_of_subsets(fresh)
    assert said("verify", "--store", path) == f"{path}: every invariant holds.\n"
    assert kept.takedown in said("forget", "--list", "--store", path)
    assert said("upgrade", path) == f"{path} is up to date.\n"
    further = tmp_path / "c.warc"
    further.write_bytes(
        warc("http://www.ac.uk/late", http(b"<a href=/x>x</a>", "Content-Type: text/html"))
        + warc("http://www.gov.uk/late", http(b"<a href=/a%26b>x</a>", "Content-Type: text/html"))
    )
    for store in (path, shutil.copy(fresh, tmp_path / "fresh.db")):
        build_store(tmp_path, Path(store), ALONE, [str(further)])
    assert contents(path) == contents(tmp_path / "fresh.db")
    assert "http://www.ac.uk/late" not in originals(path)


@each_store
def test_without_archive_files_only_links_stay(
    kept: KeptStore, fresh: Path, archives: Path, tmp_path: Path
) -> None:
    path = kept.copy(tmp_path)
    before = contents(path, with_titles=False)
    output = said("upgrade", path)
    after = contents(path, with_titles=False)
    assert after.mementos == contents(fresh).mementos
    assert after.outlinks == before.outlinks
    is_left = "stay as an earlier extractor has read them" in output
    assert is_left is (kept in OLD)
    if is_left:
        assert f"arclink upgrade {path} --archives FOLDER" in output
        build_store(archives, path, ALONE, [])
    said("upgrade", path, "--archives", archives)
    assert contents(path) == contents(fresh)


PREFIXES = (
    "uk,gov,www)/",
    "uk,gov)/",
    "com,www3288)/",
    "com)/",
    "uk,gov,www)/a%26b",
    "uk,gov,www)/p",
)


@pytest.mark.parametrize("prefix", PREFIXES)
@each_store
def test_a_takedown_does_not_wait_for_an_upgrade(
    kept: KeptStore, prefix: str, archives: Path, tmp_path: Path
) -> None:
    path = kept.copy(tmp_path / "old")
    with open_store(str(path)) as store:
        keys = layouts.keys_of(store)
        uris = originals(path)
    what = Forgotten(Surt(prefix))
    gone = {uri for uri in uris if keys.has(what, keys.of(uri), uri)}
    done = run("forget", prefix, "--store", path)
    if not gone:
        assert "no capture matches" in str(done.exception)
        return
    assert done.exit_code == 0, done.exception
    left = originals(path)
    assert left.isdisjoint(gone)
    assert said("verify", "--store", path).endswith("every invariant holds.\n")
    recorded = {takedown.what for takedown in listed(path)}
    assert what in recorded
    # Captures that share a present key with these, and records about them, are gone, too.
    for uri in uris - left - gone:
        assert any(one.has(surt_of(uri)) for one in recorded)
    assert what.prefix in said("forget", "--list", "--store", path)
    with open_store(str(path)) as store:
        found = {
            surt_of(link.target) for surt in store.surts(Surt("")) for link in store.inlinks(surt)
        }
    assert found  # links to forgotten pages stay
    said("upgrade", path, "--archives", archives)
    assert originals(path) == left
    assert said("verify", "--store", path) == f"{path}: every invariant holds.\n"
    copies = tmp_path / "copies"
    copies.mkdir()
    for name, data in ARCHIVES.items():
        (copies / f"again-{name}").write_bytes(data)
    build_store(copies, path, ALONE)
    assert originals(path) == left


@pytest.mark.parametrize("where", ["before", "during"])
def test_a_killed_upgrade_leaves_a_store_that_answers_and_goes_on(
    where: str, disk: Path, archives: Path, fresh: Path, tmp_path: Path
) -> None:
    kept = STORES[0]
    path = kept.copy(tmp_path / "store")
    wanted = contents(fresh, with_titles=False)
    old = contents(path, with_titles=False)
    keyed = tmp_path / "keyed"
    shutil.copytree(path.parent, keyed)
    said("upgrade", keyed / "links.db")
    between = contents(keyed / "links.db", with_titles=False)
    start = keyed if where == "during" else path.parent
    saved = tmp_path / "saved"
    shutil.copytree(start, saved)
    shutil.rmtree(path.parent)
    shutil.copytree(saved, path.parent)
    call: Call = [sys.executable, "-m", "arclink.cli.main", "upgrade", path, "--archives", archives]
    total = operations(disk, f"{path.parent}/", call, tmp_path)
    assert contents(path, with_titles=False) == wanted
    for at in random.Random(where).sample(range(1, total), 6):
        shutil.rmtree(path.parent)
        shutil.copytree(saved, path.parent)
        assert killed_at(disk, f"{path.parent}/", call, tmp_path, at)
        assert contents(path, with_titles=False) in (old, between, wanted)
        assert counts_of_subsets(path)[0] == "44"
        assert listed(path) != []
        subprocess.run(call, check=True, capture_output=True)
        assert contents(path) == contents(fresh)
        assert counts_of_subsets(path) == counts_of_subsets(fresh)


def test_a_takedown_during_an_upgrade_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows to change are found before the store is locked; then another process forgets."""
    from arclink.store.sqlite.upgrade import Upgrade

    path = STORES[0].copy(tmp_path)
    find = Upgrade.find
    calls = []

    def find_and_forget(upgrade: Upgrade) -> None:
        find(upgrade)
        calls.append(1)
        if len(calls) == 1:
            with open_store(str(path), create=True) as other:
                what = Forgotten(Surt("uk,gov,www)/"))
                other.forget(Takedown(what, "now", "2026-11-28T00:00:00Z"))

    monkeypatch.setattr(Upgrade, "find", find_and_forget)
    with open_store(str(path), create=True) as store:
        store.upgrade()
    assert len(calls) == 2
    assert not any("www.gov.uk" in uri for uri in originals(path))
    assert "uk,gov,www)/" in said("forget", "--list", "--store", path)


def test_a_backup_of_an_old_store_is_upgraded_after_it_is_restored(
    archives: Path, fresh: Path, tmp_path: Path
) -> None:
    path = STORES[0].copy(tmp_path)
    said("backup", "--into", tmp_path / "backup.db", "--store", path)
    path.unlink()
    said("restore", tmp_path / "backup.db", "--store", path)
    said("upgrade", path, "--archives", archives)
    assert contents(path) == contents(fresh)


# Files next to a store


def old_files(path: Path) -> list[Path]:
    return sorted(file for file in path.parent.rglob("*") if file.is_file() and file != path)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_a_damaged_old_file_is_not_taken_for_an_old_one(draw: st.DataObject) -> None:
    files = [path for path in old_files(STORES[0].path) if path.suffix != ".json"]
    path = draw.draw(st.sampled_from(files))
    whole = path.read_bytes()
    index = draw.draw(st.integers(1, len(whole) - 1))  # an empty list is one
    how = draw.draw(st.sampled_from(["cut", "zeros", "start"]))
    damaged = {
        "cut": whole[:index],
        "zeros": whole[:index] + bytes(len(whole) - index),
        "start": whole[index:],
    }[how]
    with TemporaryDirectory() as folder:
        copy = STORES[0].copy(Path(folder))
        changed = copy.parent / path.relative_to(STORES[0].path.parent)
        changed.write_bytes(damaged)
        if changed.suffix == ".takedowns":
            with pytest.raises(SealError, match="is damaged"):
                listed(copy)
            return
        assert not is_old_file(changed)
        problems = [p for folder in kept_next_to(str(copy)) for p in problems_in(folder)]
        assert changed in {problem.path for problem in problems}


def test_an_empty_list_of_an_old_store_is_a_list_and_that_of_a_new_one_is_damaged(
    fresh: Path, tmp_path: Path
) -> None:
    """Earlier versions wrote an empty file if there was no takedown."""
    path = STORES[0].copy(tmp_path)
    (tmp_path / "links.db.takedowns").write_bytes(b"")
    assert listed(path) == []
    shutil.copy(fresh, path)
    with pytest.raises(SealError, match="is damaged"):
        listed(path)


def test_an_old_subset_is_replaced_and_deleted_as_a_whole(tmp_path: Path) -> None:
    path = STORES[0].copy(tmp_path)
    folder = tmp_path / "links.db.subsets"
    said("select", "view", "host:gov.uk", "--store", path)
    assert sorted(file.name for file in folder.iterdir()) == [
        "list.captures",
        "list.json",
        "view.subset",
    ]
    said("subsets", "--delete", "list", "--store", path)
    assert [file.name for file in folder.iterdir()] == ["view.subset"]


# Keys

HOSTS = st.sampled_from(["www.gov.uk", "gov.uk", "www3.com", "a.example", "www.a.example:8080"])
PARTS = st.lists(
    st.sampled_from(["a", "b", "%26", "&", "%2F", "/", "=", "%3D", "x", "%25"]), max_size=5
)


@given(HOSTS, PARTS, st.data())
def test_what_an_old_prefix_had_its_present_prefixes_have(
    host: str, parts: list[str], draw: st.DataObject
) -> None:
    path = "".join(parts)
    assume("//" not in unquote(f"/{path}/"))
    uri = f"http://{host}/{path}"
    key = cdx_key(uri)
    end = draw.draw(st.integers(key.index(")") + 2, len(key)))
    prefixes = present_prefixes(Surt(key[:end]), lambda _: [surt_of(uri).partition(")")[0]])
    assert any(Forgotten(prefix).has(surt_of(uri)) for prefix in prefixes)


@given(HOSTS, PARTS, st.data())
def test_a_takedown_reads_every_key_that_may_be_meant(
    host: str, parts: list[str], draw: st.DataObject
) -> None:
    uri = draw.draw(st.sampled_from(["", "urn:text:"])) + f"http://{host}/{''.join(parts)}"
    keys = Keys("1")
    key = draw.draw(st.sampled_from([surt_of(uri), cdx_key(uri)]))
    what = Forgotten(Surt(key[: draw.draw(st.integers(1, len(key)))]))
    if keys.has(what, keys.of(uri), uri):
        assert any(keys.of(uri).startswith(prefix) for prefix in keys.prefixes(what))


# Stores of others


def test_the_shared_stores_answer_as_recorded(shared_data: Path, tmp_path: Path) -> None:
    for folder in sorted(path for path in (shared_data / "stores").iterdir() if path.is_dir()):
        copy = tmp_path / folder.name
        shutil.copytree(folder, copy)
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        store = copy / "links.db"
        site = "http://flink.apache.org/"
        for command in ("verify", "upgrade", "verify"):
            if command == "upgrade":
                said("upgrade", store, "--archives", shared_data / "flink_web")
            else:
                assert "every invariant holds" in said("verify", "--store", store)
            options = ("--direction", "in", "--format", "csv", "--store", store)
            answer = CliRunner().invoke(group, ["links", site, *map(str, options)]).stdout
            recorded = (copy / "answer-links.csv").read_text()
            assert rows(answer) == rows(recorded)
            subsets = said("subsets", "--store", store)
            assert subsets == (copy / "answer-subsets.txt").read_text()


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


# Backups of graph files, from which stores in Cassandra are restored

BACKUP = KEPT / "backup-of-batches-keys-1"


def test_a_backup_of_old_graph_files_gives_a_store_with_present_keys(
    archives: Path, fresh: Path, tmp_path: Path
) -> None:
    path = tmp_path / "links.db"
    with open_store(str(path), create=True) as store:
        done = restore_batches(BACKUP, store)
        assert (done.batches, done.loaded) == (2, 2)
        assert restore_batches(BACKUP, store).loaded == 0
    assert contents(path).mementos == contents(fresh).mementos
    assert said("verify", "--store", path).endswith("every invariant holds.\n")
    assert "arclink upgrade" in str(run("build", archives, "--store", path).exception)
    said("upgrade", path, "--archives", archives)
    assert contents(path) == contents(fresh)


@pytest.mark.parametrize("relation", ["mementos", "payloads", "outlinks", "inlinks"])
def test_damage_in_old_graph_files_is_found(relation: str, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    shutil.copytree(BACKUP, backup)
    [part, *_] = sorted(backup.glob(f"batch-*/{relation}/part-*"))
    whole = part.read_bytes()
    part.write_bytes(whole[:20] + bytes([whole[20] ^ 1]) + whole[21:])
    with (
        open_store(str(tmp_path / "links.db"), create=True) as store,
        pytest.raises(SealError, match="damaged or missing: it fails its checksum"),
    ):
        restore_batches(backup, store)
