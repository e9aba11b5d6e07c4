"""``make engines``: one engine, and the others if one fails or hangs."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = {"alpha": "exit 0", "beta": "exit 3", "gamma": "sleep 60", "lib": "exit 9"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "engines").mkdir()
    for name, command in SCRIPTS.items():
        script = tmp_path / f"engines/{name}.sh"
        script.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/{name}.ran\n{command}\n')
        script.chmod(0o755)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/.installed").touch()
    return tmp_path


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize(
    ("words", "ran", "missing"),
    [
        pytest.param([], ["alpha", "beta", "gamma"], "beta gamma", id="all"),
        pytest.param(["ONLY=alpha"], ["alpha"], "", id="one"),
        pytest.param(["ONLY=beta alpha"], ["alpha", "beta"], "beta", id="a failed one first"),
        pytest.param(["ONLY=alpha none"], ["alpha"], "none", id="no such engine"),
    ],
)
def test_an_engine_does_not_hold_the_others(
    words: list[str], ran: list[str], missing: str, clone: Path
) -> None:
    made = subprocess.run(
        ["make", "-o", ".venv/.installed", "engines", "ENGINE_SECONDS=1", *words],
        cwd=clone,
        capture_output=True,
        text=True,
        check=False,
    )
    assert sorted(path.stem for path in clone.glob("*.ran")) == ran
    assert {path.read_text() for path in clone.glob("*.ran")} == {"install\n"}
    assert (made.returncode == 0) is (missing == "")
    if missing:
        assert f"not installed: {missing}. The others are" in made.stderr
        assert f'make engines ONLY="{missing}"' in made.stderr
