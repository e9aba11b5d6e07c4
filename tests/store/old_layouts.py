"""Makes stores as older versions of ArcLink wrote them."""

from contextlib import closing
from pathlib import Path

from arclink.store.sqlite.schema import (
    FORGOTTEN,
    PAGE_BYTES,
    SCHEMA,
    Connection,
    connect,
    remove_logs,
)

TABLES: tuple[str, ...] = (
    "settings",
    "names",
    "batches",
    "files",
    "payloads",
    "contents",
    "outlinks",
    "runs",
)
TABLES += ("fences", "blocks", "forgotten")


def without_checksums(path: Path, layout: int = 2) -> None:
    """Make a store one of an old layout: neither its pages nor its blocks have checksums."""
    new = path.with_name("old-layout.db")
    with closing(connect(new, "mode=rwc")) as connection:
        application = 0x4172634C
        for statement in (
            f"PRAGMA page_size = {PAGE_BYTES}",
            "PRAGMA auto_vacuum = INCREMENTAL",
            "PRAGMA journal_mode = WAL",
            f"PRAGMA application_id = {application}",
            f"PRAGMA user_version = {layout}",
            SCHEMA,
            FORGOTTEN,
        ):
            connection.execute(statement).fetchall()
        connection.execute("ATTACH ? AS present", (f"{path.resolve().as_uri()}?mode=rw",))
        connection.execute("BEGIN")
        for table in TABLES:
            connection.execute(f"INSERT INTO main.{table} SELECT * FROM present.{table}")
        _unseal_all(connection)
        connection.execute("COMMIT")
        connection.execute("DETACH present")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert connection.reserve_bytes() == 0
    remove_logs(path)
    new.replace(path)


def _unseal_all(connection: Connection) -> None:
    for first, data in connection.execute("SELECT first, data FROM main.outlinks").fetchall():
        plain = connection.unsealed(data, "outlinks", first)
        connection.execute("UPDATE main.outlinks SET data = ? WHERE first = ?", (plain, first))
    blocks = "SELECT number, run, data FROM main.blocks JOIN main.fences ON block = number"
    for number, run, data in connection.execute(blocks).fetchall():
        plain = connection.unsealed(data, "run", run, "block", number)
        connection.execute("UPDATE main.blocks SET data = ? WHERE number = ?", (plain, number))
