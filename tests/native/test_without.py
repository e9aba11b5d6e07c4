"""Without compiled modules, ArcLink builds the same graph."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from arclink.demo import write_demo_archive

ROOT = Path(__file__).resolve().parents[2]


def tables_of_a_build(archive: Path, store: Path, switch: str) -> dict[str, list[str]]:
    """Return the rows of all tables after a build, without the CPU seconds in the manifest."""
    command = [sys.executable, "-m", "arclink.cli.main", "build", archive, "--store", store]
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        env={**settings, "ARCLINK_NATIVE": switch},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with closing(sqlite3.connect(store)) as opened:
        ((number, manifest),) = opened.execute("SELECT number, manifest FROM batches").fetchall()
        timeless = {
            key: value
            for key, value in json.loads(manifest).items()
            if key not in ("cpu seconds", "loaded")
        }
        opened.execute(
            "UPDATE batches SET manifest = ? WHERE number = ?", (json.dumps(timeless), number)
        )
        names = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: sorted(map(repr, opened.execute(f"SELECT * FROM {name}"))) for (name,) in names
        }


def test_a_build_without_compiled_modules_gives_the_same_graph(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    write_demo_archive(archive, 150, 8, 1)
    without = tables_of_a_build(archive, tmp_path / "without.db", "no")
    with_them = tables_of_a_build(archive, tmp_path / "with.db", "yes")
    assert without.keys() == with_them.keys()
    assert [name for name in without if without[name] != with_them[name]] == []
    assert sum(map(len, without.values())) > 50
