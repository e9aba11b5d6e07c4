"""A process that is killed while it writes relations leaves the former ones, or none, and no files
that stay.
"""

import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyarrow import parquet

from arclink.analysis.relations.database import ShownRelations
from arclink.analysis.relations.folder import tables_folder
from arclink.analysis.relations.kept import relations_of
from arclink.cli.main import group
from arclink.store.location import open_store
from tests.captures.archives import T1, T2, Record, store_of, write_warc
from tests.durability.disks import killed_at, operations
from tests.relations.rows import rows_in, rows_of
from tests.relations.secrets import files_with_secrets, load

NAME = "/links.db.tables"
TABLES = ["tables"]
FORGET = ["forget", "example,gone", "--targets"]
SECRET_WORD = "kerguelen"

Rows = Counter[str]


def nothing(folder: Path) -> None:
    """Make a store without relations."""
    with open_store(str(folder / "links.db"), create=True) as store:
        load(store, folder / "graph0", 0, 40)


def those_at_an_address(folder: Path) -> None:
    """Make a store with relations that tasks have written, which are copied."""
    nothing(folder)
    options = ["--tables-at", str(folder / "at"), "--runner", "inline", "--parts", "2"]
    done = CliRunner().invoke(group, [*TABLES, "--store", str(folder / "links.db"), *options])
    assert done.exit_code == 0, done.output


def a_batch_after_them(folder: Path) -> None:
    """Make a store with relations, and add a batch; its part and the one before become one."""
    nothing(folder)
    with open_store(str(folder / "links.db"), create=True) as store:
        relations_of(str(folder / "links.db"), store)
        load(store, folder / "graph1", 1, 40)


def some(folder: Path) -> None:
    """Make a store with relations in two parts."""
    with open_store(str(folder / "links.db"), create=True) as store:
        for batch, pages in enumerate((400, 4)):
            load(store, folder / f"graph{batch}", batch, pages)
            relations_of(str(folder / "links.db"), store)


@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("before", "command"),
    [
        (nothing, TABLES),
        (those_at_an_address, TABLES),
        (a_batch_after_them, TABLES),
        (some, FORGET),
    ],
)
def test_the_next_use_has_the_right_rows_and_no_other_files(
    before: Callable[[Path], None], command: list[str], count: int, disk: Path, tmp_path: Path
) -> None:
    store = tmp_path / "links.db"
    folder = tables_folder(str(store))
    begin = tmp_path / "begin"
    begin.mkdir()
    before(begin)

    def restore() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        for path in tmp_path.glob("links.db*"):
            path.unlink()
        for path in begin.glob("links.db*"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)

    call = [sys.executable, "-m", "arclink", *command, "--store", str(store)]
    restore()
    total = operations(disk, NAME, call, tmp_path)
    moments = random.Random(total).sample(range(1, total + 1), min(count, total))
    for at in moments:
        restore()
        assert killed_at(disk, NAME, call, tmp_path, at)
        with open_store(str(store)) as opened:
            assert rows_of(folder, opened) == rows_in(opened), at
            is_forgotten = bool(list(opened.forgotten()))
        parts = [path for path in folder.iterdir() if path.name != "state"]
        assert {file.name for part in parts for file in part.iterdir()} == {
            "captures.parquet",
            "links.parquet",
            "links-by-page.parquet",
            "checksums.txt",
        }
        secrets = [one for one in files_with_secrets(store) if "tables" in one]
        assert bool(secrets) is not is_forgotten


def rows_of_texts(store: Path) -> tuple[Rows, Rows]:
    """Return the rows of texts and words that a store shows."""
    with (
        open_store(str(store)) as opened,
        ShownRelations(str(store), opened, with_texts=True) as shown,
    ):
        texts, words = (
            Counter(map(repr, shown.run(f"FROM {name}"))) for name in ("texts", "words")
        )
        return texts, words


def with_pages(folder: Path) -> Path:
    """Make a store of two pages with one secret word each, and a second archive file."""
    more = [html_page("http://example.com/c", T2, "later words")]
    write_warc(folder / "more/more.warc.gz", more)
    pages = [
        html_page("http://example.com/a", T1, "plain words"),
        html_page("http://gone.example.net/", T1, f"{SECRET_WORD} words"),
    ]
    return store_of(folder, pages)


def html_page(uri: str, timestamp: str, text: str) -> Record:
    return Record(uri, timestamp, f"<title>{text}</title><p>{text} {uri}".encode())


@pytest.mark.parametrize("count", [3, pytest.param(20, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("is_read", "command"),
    [
        (False, ["tables", "--text"]),
        (True, ["build", "more", "--text", "--runner", "inline"]),
        (True, ["forget", "net,example,gone"]),
    ],
)
def test_a_command_about_texts_goes_on_after_it_was_killed(
    is_read: bool, command: list[str], count: int, disk: Path, tmp_path: Path
) -> None:
    begin, store = tmp_path / "begin", tmp_path / "links.db"
    with_pages(begin)
    if is_read:
        where = str(begin / "links.db")
        assert CliRunner().invoke(group, ["tables", "--text", "--store", where]).exit_code == 0

    def restore() -> None:
        shutil.rmtree(tables_folder(str(store)), ignore_errors=True)
        for path in tmp_path.glob("links.db*"):
            path.unlink() if path.is_file() else shutil.rmtree(path)
        for path in begin.glob("links.db*"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)

    words = [str(begin / "more") if word == "more" else word for word in command]
    call = [sys.executable, "-m", "arclink", *words, "--store", str(store)]
    restore()
    total = operations(disk, NAME, call, tmp_path)
    wanted = rows_of_texts(store)
    has_secret = any(SECRET_WORD in row for row in wanted[1])
    assert has_secret is (command[0] != "forget")
    for at in random.Random(total).sample(range(1, total + 1), min(count, total)):
        restore()
        assert killed_at(disk, NAME, call, tmp_path, at)
        done = CliRunner().invoke(group, [*words, "--store", str(store)])
        assert done.exit_code == 0, done.output
        done = CliRunner().invoke(group, ["tables", "--text", "--store", str(store)])
        assert done.exit_code == 0, done.output
        assert rows_of_texts(store) == wanted, at
        left = [*tables_folder(str(store)).rglob("*.parquet")]
        found = [path for path in left if SECRET_WORD in repr(parquet.read_table(path).to_pylist())]
        assert bool(found) is has_secret
