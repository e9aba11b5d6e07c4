"""The rule that selects the tests of `make check`."""

import re
from pathlib import Path

import pytest

from tests import unit_tests
from tests.unit_tests import Guard, is_unit_test

TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    ("code", "is_unit"),
    [
        pytest.param("import re\nfrom arclink.rows.cdx import parse_row\n", True, id="values"),
        pytest.param("import subprocess\n", False, id="a process"),
        pytest.param("def f():\n    import socket\n", False, id="inside a function"),
        pytest.param("from arclink import pipeline\n", False, id="a room"),
        pytest.param("from arclink import (\n    counts,\n    cli,\n)\n", False, id="lines"),
        pytest.param("from arclink.cli.main import group\n", False, id="a module of a room"),
        pytest.param("from tests import helper\n", False, id="a helper that starts processes"),
        pytest.param("from arclink.clients import cli_name\n", True, id="a similar name"),
    ],
)
def test_the_imports_of_a_module_decide(
    code: str, is_unit: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_tests, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/helper.py").write_text("from tests import other\n")
    (tmp_path / "tests/other.py").write_text("import subprocess\n")
    (tmp_path / "tests/test_it.py").write_text(code)
    assert is_unit_test(tmp_path / "tests/test_it.py") == is_unit


def test_the_tests_of_values_are_unit_tests() -> None:
    for name in ("rows/test_cdx.py", "uris/test_resolution.py", "graph/test_join.py"):
        assert is_unit_test(TESTS / name), name
    for name in ("cli/test_interrupts.py", "pipeline/test_rows.py", "service/test_collections.py"):
        assert not is_unit_test(TESTS / name), name


@pytest.mark.parametrize("event", ["subprocess.Popen", "os.fork", "socket.connect"])
def test_a_unit_test_cannot_leave_its_process(event: str) -> None:
    guard = Guard()
    guard(event, ())
    with guard, pytest.raises(AssertionError, match=re.escape(f"a unit test does {event}")):
        guard(event, ())
    guard(event, ())
