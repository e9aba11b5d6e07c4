"""The wheel installs the files that ArcLink needs, and no others."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterable
from configparser import ConfigParser
from pathlib import Path

import pytest

from arclink.store.layouts import STORE
from arclink.version import VERSION
from tests.sources import ROOT
from tests.wheel_contents import compiled_modules, names_in, problems_of

SOURCES = (
    "arclink",
    "cassandra_schema",
    "jobs",
    "service",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
)


def built(source: Path, what: str, into: Path) -> Path:
    """Build an sdist or a wheel of a folder where there is no C compiler; return its path."""
    build = f"import sys; from setuptools.build_meta import {what}; {what}(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", build, str(into)],
        cwd=source,
        env={**os.environ, "CC": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (found,) = into.glob("arclink-*.whl" if what == "build_wheel" else "arclink-*.tar.gz")
    return found


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an sdist of the sources, in which some folders are links."""
    folder = tmp_path_factory.mktemp("sdist")
    ours = shutil.ignore_patterns("*.so", "__pycache__", "*.c")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / "source" / name, symlinks=True, ignore=ours)
        else:
            shutil.copy(ROOT / name, folder / "source" / name)
    return built(folder / "source", "build_sdist", folder)


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of the sdist."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as opened:
        opened.extractall(folder, filter="data")
    return built(folder / sdist.name.removesuffix(".tar.gz"), "build_wheel", folder)


def test_an_sdist_has_files_in_the_place_of_links(sdist: Path) -> None:
    with tarfile.open(sdist) as opened:
        members = {member.name.partition("/")[2]: member for member in opened}
    assert members["arclink/jobs/extract_links.py"].isreg()
    assert members["arclink/engines/cassandra/cql/001_steps.cql"].isreg()
    assert all(member.isreg() or member.isdir() for member in members.values())


def test_a_wheel_holds_the_package_and_all_that_it_reads(wheel: Path) -> None:
    assert list(problems_of(names_in(wheel), ROOT / "arclink", is_compiled=False)) == []


@pytest.mark.parametrize(
    ("more", "fewer", "problem"),
    [
        (["tests/__init__.py"], [], "tests/__init__.py is not below arclink"),
        (["jobs/invert.py"], [], "jobs/invert.py is not below arclink"),
        (["arclink/native/surts.c"], [], "arclink/native/surts.c is for the build"),
        ([], ["arclink/py.typed"], "arclink/py.typed is missing"),
        (
            [],
            ["arclink/service/templates/base.html"],
            "arclink/service/templates/base.html is missing",
        ),
        (["arclink/native/surts.so"], [], "compiled modules are ['surts'], not []"),
    ],
    ids=["tests", "a folder of old", "generated C", "types", "a template", "a module of its own"],
)
def test_faults_of_a_wheel_are_named(
    wheel: Path, more: Iterable[str], fewer: Iterable[str], problem: str
) -> None:
    names = (names_in(wheel) | {*more}) - {*fewer}
    assert list(problems_of(names, ROOT / "arclink", is_compiled=False)) == [problem]


def test_every_module_that_is_compiled_is_expected_in_a_release(wheel: Path) -> None:
    (problem,) = problems_of(names_in(wheel), ROOT / "arclink", is_compiled=True)
    assert problem == f"compiled modules are [], not {sorted(compiled_modules(ROOT / 'arclink'))}"
    assert {"surts", "shuffle"} < compiled_modules(ROOT / "arclink")


@pytest.mark.parametrize(("switch", "says"), [("no", True), ("yes", False)])
def test_the_version_says_whether_the_slower_code_runs(switch: str, says: bool) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "arclink.cli.main", "--version"],
        env={**os.environ, "ARCLINK_NATIVE": switch},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown.startswith(f"arclink {VERSION} (store layout {STORE})")
    assert ("without compiled modules: slower, with the same answers" in shown) == says


def test_metadata_and_citation_agree() -> None:
    """The version has one place; what is written twice is the same."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    metadata = config["metadata"]
    assert metadata["version"] == "attr: arclink.version.VERSION"
    assert "version" not in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert f"\nlicense: {metadata['license_expression']}\n" in citation
    assert f"\nkeywords: [{metadata['keywords']}]\n" in citation
    assert metadata["project_urls"].strip().removeprefix("Paper = ") in citation
