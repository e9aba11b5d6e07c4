"""The contents of a packed environment for a cluster's workers.

`tests/engines/test_shipping.py` uses one on a cluster.
"""

import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

from arclink.engines.environment import FOR_TABLES, _compiled, _needed


def test_bytecode_is_read_whatever_became_of_the_times_of_its_source(tmp_path: Path) -> None:
    source = tmp_path / "packed.py"
    source.write_text("said = 'as packed'")
    target = tmp_path / cache_from_source("packed.py")
    target.parent.mkdir()
    assert _compiled(str(source), "packed.py", target)
    source.write_text("said = 'compiled again'")

    done = subprocess.run(
        [sys.executable, "-B", "-c", "import packed; print(packed.said)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert done.stdout == "as packed\n"


def test_drivers_that_are_installed_are_packed() -> None:
    names = {package.metadata["Name"] for package in _needed()}
    assert {"arclink", "cassandra-driver"} <= names


def test_packages_for_tables_are_packed_on_request() -> None:
    few = {package.metadata["Name"] for package in _needed()}
    all_names = {package.metadata["Name"] for package in _needed(FOR_TABLES)}
    assert all_names - few == {"duckdb", "pyarrow"}


def test_what_is_no_module_has_no_bytecode(tmp_path: Path) -> None:
    template = tmp_path / "template.py"
    template.write_text("class {{ name }}:")

    assert _compiled(str(template), "template.py", tmp_path / "bytecode") is None
