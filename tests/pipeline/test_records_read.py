"""What is read of an archive file is known by record: no order of partial reads loses one."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arclink.cli.main import group
from arclink.errors import ArclinkError
from arclink.model import Surt
from arclink.pipeline import stages
from arclink.pipeline.records_read import Index, stored_files
from arclink.rows.cdx import parse_row
from arclink.store.batch_backups import back_up_batches, restore_batches
from arclink.store.location import open_store
from tests.demos import Demos
from tests.pipeline.store_contents import graph_of

STEPS = 9
Record = tuple[str, int]


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(group, [str(word) for word in words])


class Archive:
    """Archive files that can be put away, their rows, and a store of all of them."""

    def __init__(self, source: Path, home: Path) -> None:
        self.home, self.folder = home, home / "archive"
        self.folder.mkdir()
        for path in source.glob("*.warc.gz"):
            shutil.copy(path, self.folder)
        self.names = sorted(path.name for path in self.folder.iterdir())
        indexed = run("index", self.folder, "--into", home / "rows", "--runner", "inline")
        assert indexed.exit_code == 0
        parts = sorted((home / "rows/rows").glob("part-*"))
        self.rows = [row for part in parts for row in part.read_bytes().splitlines(keepends=True)]
        self.build(self.names, None, home / "whole.db")

    def build(self, names: list[str], rows: list[bytes] | None, store: Path) -> Result:
        """Build with an index of some rows, or without one."""
        index: list[str | Path] = [] if rows is None else ["--cdx", self.cdx(rows)]
        files = [self.folder / name for name in names]
        return run("build", *files, *index, "--store", store, "--runner", "inline", "--quiet")

    def by_stages(self, names: list[str], rows: list[bytes] | None, store: Path) -> Result:
        """Do the same by the commands of stages; return the first result that is an error."""
        folder, files = self.home / "batch", [self.folder / name for name in names]
        shutil.rmtree(folder, ignore_errors=True)
        if rows is None:
            run("index", *files, "--into", folder, "--runner", "inline")
        for words in (
            ["filter", *([] if rows is None else [self.cdx(rows)])],
            ["extract", *files, *(["--store", store] if store.exists() else [])],
            ["graph"],
            ["load", "--store", store],
        ):
            is_load = words[0] == "load"
            inline = [] if is_load else ["--runner", "inline"]
            done = run(*words, "--folder" if is_load else "--into", folder, *inline)
            if done.exit_code:
                return done
        return done

    def cdx(self, rows: list[bytes]) -> Path:
        path = self.home / "some.cdxj"
        path.write_bytes(b"".join(rows))
        return path


@pytest.fixture
def archive(demos: Demos, tmp_path: Path) -> Archive:
    return Archive(demos.archive(120, 4, 3), tmp_path)


def place(row: bytes) -> Record:
    parsed = parse_row(row)
    return parsed.file, parsed.offset


def records_in(store: Path) -> list[Record]:
    """Return file and offset of each stored memento, as often as it is stored."""
    if not store.exists():
        return []

    def records() -> Iterator[Record]:
        with open_store(str(store)) as opened:
            for surt in opened.captured_surts(Surt("")):
                for memento in opened.copies(surt):
                    yield memento.file, memento.offset

    return list(records())


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_partial_reads_ends_as_one_build(
    archive: Archive, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice, store = random.Random(seed), archive.home / "links.db"
    for _ in range(STEPS):
        names = dice.sample(archive.names, dice.randint(1, len(archive.names)))
        rows = dice.sample(archive.rows, dice.randint(1, 30)) if dice.random() < 0.7 else None
        way = archive.by_stages if dice.random() < 0.4 else archive.build
        hidden = [name for name in archive.names if dice.random() < 0.15]
        before = set(records_in(store))
        with monkeypatch.context() as patched:
            if dice.random() < 0.25:
                patched.setattr(stages, dice.choice(["extract", "invert", "load"]), interrupted)
            for name in hidden:
                (archive.folder / name).rename(archive.home / name)
            done = way(names, rows, store)
            for name in hidden:
                (archive.home / name).rename(archive.folder / name)
        wanted = {name: wanted_of(archive, name, rows) for name in names}
        skipped = skipped_in(done.output)
        assert skipped <= sum(records <= before for records in wanted.values()), "all are stored"
        assert before <= set(records_in(store)), "nothing is lost"
    last = archive.build(archive.names, None, store)
    assert last.exit_code == 0, last.output
    assert sorted(set(records_in(store))) == sorted(records_in(archive.home / "whole.db"))
    assert len(records_in(store)) == len(set(records_in(store))), "no record is stored twice"
    with open_store(str(store)) as opened, open_store(str(archive.home / "whole.db")) as whole:
        assert not list(opened.verify())
        assert graph_of(opened) == graph_of(whole)
        assert opened.stats().mementos == whole.stats().mementos
    assert skipped_in(archive.build(archive.names, None, store).output) == len(archive.names)


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def wanted_of(archive: Archive, name: str, rows: list[bytes] | None) -> set[Record]:
    """Return the records of a file that a build with an index of these rows reads."""
    named = {place(row) for row in rows or ()}
    of_file = {record for record in named if record[0] == name}
    return of_file or {record for record in map(place, archive.rows) if record[0] == name}


def skipped_in(output: str) -> int:
    line = next((line for line in output.splitlines() if "files were skipped" in line), "0 ")
    return int(line.split()[0].replace(",", ""))


def test_a_file_is_skipped_for_the_same_index_only(archive: Archive) -> None:
    store, (first, second) = archive.home / "links.db", (archive.rows[:20], archive.rows[10:40])
    assert skipped_in(archive.build(archive.names, first, store).output) == 0
    assert skipped_in(archive.build(archive.names, first, store).output) == len(archive.names)
    (archive.home / "empty").mkdir()
    named = {place(row)[0] for row in second}
    again = archive.build(sorted(named), second, store).output
    assert skipped_in(again) + len(named) >= len(named)
    assert {place(row) for row in (*first, *second)} <= set(records_in(store))


def test_each_reading_of_a_file_is_a_batch_of_its_own(archive: Archive) -> None:
    """A backup of graph files has all of them, although they are of the same archive files."""
    store, graph = archive.home / "links.db", archive.home / "kept"
    some, more, nothing_new = archive.rows[:30], archive.rows[:60], archive.rows[10:50]
    for rows in (some, more, nothing_new, None):
        files = [archive.folder / name for name in sorted({place(row)[0] for row in some})]
        index: list[str | Path] = [] if rows is None else ["--cdx", archive.cdx(rows)]
        words: list[str | Path] = ["--store", store, "--keep-graph", graph]
        words += ["--runner", "inline", "--quiet"]
        assert run("build", *files, *index, *words).exit_code == 0
    assert len([path for path in graph.iterdir() if path.name.startswith("batch-")]) == 4
    assert skipped_in(run("build", *files, *words).output) == len(files), "known as complete"
    with (
        open_store(str(store)) as opened,
        open_store(str(archive.home / "again.db"), create=True) as other,
    ):
        back_up_batches(opened, str(graph), archive.home / "backup")
        restore_batches(archive.home / "backup", other)
        assert graph_of(other) == graph_of(opened)
        assert [*stored_files(other).items()] == [*stored_files(opened).items()]


def test_a_store_of_an_older_version_is_read_again_where_an_index_was_used(
    archive: Archive,
) -> None:
    """Its manifests do not say which records were read, only how many files were indexed."""
    import apsw
    import orjson

    from arclink.store.sqlite.schema import connect

    for rows, is_complete in ((archive.rows[:7], False), (None, True)):
        store = archive.home / f"{is_complete}.db"
        named = sorted({place(row)[0] for row in rows or archive.rows})
        archive.build(named, rows, store)
        connection: apsw.Connection = connect(store)
        for number, text in connection.execute("SELECT number, manifest FROM batches").fetchall():
            manifest = orjson.loads(str(text))
            del manifest["records read"], manifest["indexes"]
            connection.execute(
                "UPDATE batches SET manifest = ? WHERE number = ?",
                (orjson.dumps(manifest).decode(), number),
            )
        connection.close()
        with open_store(str(store)) as opened:
            known = stored_files(opened)
            assert {file.has_records_of(Index()) for file in known.values()} == {is_complete}
        again = archive.build(named, rows, store)
        assert skipped_in(again.output) == (len(named) if is_complete else 0)
        assert len(records_in(store)) == len(set(records_in(store)))
        assert skipped_in(archive.build(named, rows, store).output) == len(named)


@pytest.mark.parametrize("are_some_given", [False, True])
def test_extract_needs_the_files_that_rows_name(archive: Archive, are_some_given: bool) -> None:
    first, *others = archive.names
    rows = [row for row in archive.rows if are_some_given or place(row)[0] != first]
    store = archive.home / "links.db"
    done = archive.by_stages([first], rows, store)
    if not are_some_given:
        assert isinstance(done.exception, ArclinkError)
        assert f"no row names one of the given archive files, such as {first}" in str(
            done.exception
        )
        assert not store.exists()
        return
    assert done.exit_code == 0
    assert "payloads were not read because their archive file was missing" in done.output
    with open_store(str(store)) as opened:
        assert {file.name for file in opened.files()} == {first}
    assert skipped_in(archive.build(others, None, store).output) == 0


def test_a_file_that_vanishes_during_a_build_is_read_by_the_next(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, name = archive.home / "links.db", archive.names[0]
    extract = stages.extract

    def without(*words: object, **named: object) -> object:
        (archive.folder / name).rename(archive.home / name)
        try:
            return extract(*words, **named)  # type: ignore[arg-type]
        finally:
            (archive.home / name).rename(archive.folder / name)

    with monkeypatch.context() as patched:
        patched.setattr(stages, "extract", without)
        done = archive.build([name], archive.rows, store)
    assert done.exit_code == 1
    assert "missing when its records were to be read" in done.output
    again = archive.build([name], archive.rows, store)
    assert again.exit_code == 0
    assert skipped_in(again.output) == 0
    assert "archive file is missing" not in again.output
    assert skipped_in(archive.build([name], archive.rows, store).output) == 1
