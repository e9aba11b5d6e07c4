"""Errors of DuckDB are those of the system and of ArcLink, with the same words everywhere."""

import errno
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pyarrow as arrow
import pytest

from arclink.analysis.relations import writing
from arclink.analysis.relations.database import RelationsDatabase, SqlLimits
from arclink.analysis.relations.held import SqlError, TablesError, translated
from arclink.analysis.relations.writing import PartWriter, connected
from arclink.errors import Limit, LimitError, OperatorError, StoreError

LARGE = "SELECT count(*) FROM (SELECT DISTINCT hash(range), range FROM range(30000000))"
NO_SETTINGS: Mapping[str, str] = {}
FULL = "COPY (SELECT range FROM range(100000)) TO '/dev/full' (FORMAT csv)"


def run(statement: str, memory: int = 0, settings: Mapping[str, str] = NO_SETTINGS) -> None:
    is_of_user = memory > 0
    with closing(connected(threads=1)) as connection, translated(memory, is_of_user=is_of_user):
        for name, value in settings.items():
            connection.execute(f"SET {name} = '{value}'")
        connection.execute(statement).fetchall()


@pytest.mark.parametrize("memory", [0, 100])
def test_a_full_disk_is_an_error_of_the_system(memory: int) -> None:
    with pytest.raises(OSError, match="No space left") as raised:
        run(FULL, memory)
    assert raised.value.errno == errno.ENOSPC


def test_room_for_temporary_files_is_that_of_the_disk_or_of_the_user(tmp_path: Path) -> None:
    settings = {
        "memory_limit": "60MB",
        "temp_directory": str(tmp_path),
        "max_temp_directory_size": "1MB",
    }
    with pytest.raises(OSError, match="No space left"):
        run(LARGE, settings=settings)
    with pytest.raises(LimitError, match="more than 60 MB of memory"):
        run(LARGE, 60, settings=settings)


def test_too_little_memory_is_named() -> None:
    settings = {"memory_limit": "60MB", "temp_directory": ""}
    with pytest.raises(OperatorError, match="not enough memory: "):
        run(LARGE, settings=settings)
    with pytest.raises(LimitError, match="ask for less, or allow more"):
        run(LARGE, 60, settings=settings)


@pytest.mark.parametrize("memory", [0, 100])
def test_a_missing_file_is_for_an_operator(memory: int) -> None:
    with pytest.raises(
        OperatorError, match=r"^a file cannot be read or written: .*missing"
    ) as raised:
        run("FROM read_parquet('/missing.parquet')", memory)
    assert not isinstance(raised.value, SqlError)


def test_words_of_a_user_are_no_error_of_the_disk() -> None:
    with pytest.raises(SqlError, match="No space left on device"):
        run("SELECT error('No space left on device')", 100)
    with pytest.raises(SqlError, match="nowhere"):
        run("FROM nowhere", 100)


def test_what_arclink_itself_asks_wrongly_is_no_error_of_a_user() -> None:
    with pytest.raises(TablesError, match=r"the tables cannot be read: .*nowhere"):
        run("FROM nowhere")


def test_a_database_of_arclink_translates_rows_too() -> None:
    with RelationsDatabase(SqlLimits(memory=60)) as database:
        with pytest.raises(OSError, match="No space left"):
            database.run(FULL)
        with (
            pytest.raises(
                LimitError, match="needs more than 60 MB of memory: ask for less"
            ) as raised,
            database.reading(LARGE),
        ):
            pass
        assert raised.value.limit is Limit.MEMORY


@pytest.mark.parametrize(
    "error", [StoreError("damaged"), OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()]
)
def test_errors_of_the_rows_keep_their_type(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = arrow.schema([("number", arrow.int64())])

    def rows(*_: object) -> object:
        yield arrow.record_batch([[1]], schema)
        raise error

    monkeypatch.setattr(writing, "LINK_ROWS", schema)
    monkeypatch.setattr(writing, "link_rows", rows)
    keys = ", ".join(f"number AS {name}" for name in writing.LINKS_ORDER.split(", "))
    monkeypatch.setattr(writing, "_LINKS", f"SELECT {keys} FROM link_rows")
    with closing(PartWriter(tmp_path)) as writer, pytest.raises(type(error)) as raised:
        writer.write_links("links.parquet", "links-by-page.parquet", [])
    assert raised.value is error
