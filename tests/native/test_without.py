"""ArcLink without compiled forms: the same tests pass, and the same graph comes out."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from arclink.demo import write_demo_archive

ROOT = Path(__file__).resolve().parents[2]
BUILT_ON_THEM = [
    "tests/uris",
    "tests/filter",
    "tests/graph",
    "tests/extract/test_html.py",
    "tests/store/test_loading.py",
    "tests/store/test_packing.py",
    "tests/store/test_outlinks.py",
    "tests/store/test_runs.py",
]


def run(*words: str | Path, **environment: str) -> str:
    """Run Python without compiled forms, unless ``environment`` says otherwise; return what it prints."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(
        command, cwd=ROOT, env={**settings, "ARCLINK_NATIVE": "no", **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_built_on_them_passes_its_tests() -> None:
    assert " passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *BUILT_ON_THEM)


def rows_of(archive: Path, folder: Path, switch: str) -> dict[str, list[bytes]]:
    """Return the sorted rows that all stages leave, by relation, and those of the tables of the store."""
    for stage in (["index", archive], ["filter"], ["extract", archive], ["graph"]):
        run("-m", "arclink.cli.main", *stage, "--folder", folder, "--cores", "2", ARCLINK_NATIVE=switch)
    run("-m", "arclink.cli.main", "load", "--folder", folder, "--store", folder / "links.db", ARCLINK_NATIVE=switch)
    parts = sorted(folder.glob("**/part-*"))
    rows = {
        str(relation.relative_to(folder)): sorted(b"".join(part.read_bytes() for part in parts if part.parent == relation).splitlines())
        for relation in {part.parent for part in parts}
    }
    with closing(sqlite3.connect(folder / "links.db")) as store:
        for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            rows[table] = [repr(row).encode() for row in store.execute(f"SELECT * FROM {table}")]
    return rows


def test_all_stages_leave_the_same_rows(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    write_demo_archive(archive, 300, 12, 1)
    without, with_them = (rows_of(archive, tmp_path / switch, switch) for switch in ("no", "yes"))
    assert without.keys() == with_them.keys()
    assert [name for name in without if without[name] != with_them[name]] == []
    assert len(without["graph/payloads"]) > 10


def test_a_compiled_form_is_chosen_only_where_that_is_right(tmp_path: Path) -> None:
    """Not where it is switched off, is missing, cannot be loaded, or is older than its source."""
    code = "from arclink.uris import surts; from arclink.native import PAIRS; print(*PAIRS)"
    assert run("-c", code).split() == []
    package = tmp_path / "arclink"
    shutil.copytree(ROOT / "arclink", package, ignore=shutil.ignore_patterns("__pycache__"))
    there = {"PYTHONPATH": str(tmp_path), "ARCLINK_NATIVE": "yes"}
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"
    libraries = list(package.glob("native/surts.*.so"))
    assert run("-c", code, **there).split() == ["surts.plain_surt"] * len(libraries)
    for library in libraries:
        os.utime(package / "native" / "surts.pyx", (library.stat().st_mtime + 1,) * 2)
        assert run("-c", code, **there).split() == []
        (package / "native" / "surts.pyx").unlink()
        assert run("-c", code, **there).split() == ["surts.plain_surt"]
        library.write_bytes(b"of another machine")
        assert run("-c", code, **there).split() == []
