"""A compiled module is used only if it matches its source, and a warning reports others."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arclink import native

ROOT = Path(__file__).resolve().parents[2]
SHOW = "from arclink.uris import surts; from arclink.native import PAIRS; print(*PAIRS)"
IN_USE = ["surts.plain_surt"]


def show(package: Path, **environment: str) -> tuple[list[str], str]:
    """Return the compiled functions that a copy of the package uses for SURTs, and its warnings."""
    code = f"import sys; sys.path.insert(0, {str(package.parent)!r}); {SHOW}"
    settings = {name: value for name, value in os.environ.items() if name != "ARCLINK_NATIVE"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**settings, **environment},
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split(), done.stderr


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, with its compiled modules."""
    if not native.is_used():
        text = "there are no compiled modules: no C compiler at installation, or ARCLINK_NATIVE=no"
        if os.environ.get("CI"):
            pytest.fail(text)
        pytest.skip(text)
    copy = tmp_path / "arclink"
    shutil.copytree(ROOT / "arclink", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def library(package: Path) -> Path:
    """Return the compiled module for SURTs."""
    (found,) = package.glob("native/surts.*.so")
    return found


def test_a_compiled_module_that_fits_its_source_is_used(package: Path) -> None:
    assert show(package) == (IN_USE, "")


def test_the_age_of_a_source_does_not_matter(package: Path) -> None:
    os.utime(package / "native" / "surts.pyx", (2**31, 2**31))
    assert show(package) == (IN_USE, "")


def test_a_compiled_module_of_another_source_is_not_used_and_this_is_said_once(
    package: Path,
) -> None:
    source = package / "native" / "surts.pyx"
    source.write_bytes(source.read_bytes() + b"# changed\n")
    os.utime(source, (0, 0))  # older than the library, as after a checkout of an older version
    names, warnings = show(package)
    assert names == []
    assert warnings.count("StaleWarning") == 1
    assert str(library(package)) in warnings
    assert "native/surts.pyx" in warnings
    assert "Reinstall ArcLink" in warnings


def test_a_wheel_has_no_source_of_a_scanner_to_compare(package: Path) -> None:
    (package / "native" / "surts.pyx").unlink()
    assert show(package) == (IN_USE, "")


def test_without_a_compiled_module_nothing_is_said(package: Path) -> None:
    library(package).unlink()
    assert show(package) == ([], "")


def test_a_compiled_module_of_another_machine_is_not_used(package: Path) -> None:
    library(package).write_bytes(b"of another machine")
    assert show(package) == ([], "")


def test_compiled_modules_can_be_switched_off(package: Path) -> None:
    assert show(package, ARCLINK_NATIVE="no") == ([], "")


@pytest.mark.parametrize(
    "source", sorted((ROOT / "arclink/native").glob("*.pyx")), ids=lambda path: path.stem
)
def test_scanners_read_bytes_from_outside_through_checks_alone(source: Path) -> None:
    text = source.read_text("utf-8")
    assert "boundscheck=False" not in text
    assert "const unsigned char *" not in text, "read bytes through checked.pxd"
