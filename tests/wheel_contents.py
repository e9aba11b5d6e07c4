"""The files that a wheel must have: everything below ``arclink`` that ArcLink reads.

Run as a program, this module checks the given wheels.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from tests.sources import ROOT, files_below

NEEDED = (
    *("*.py", "*.sql", "*.cql", "py.typed"),
    *("service/templates/*", "service/static/*", "service/static/vendor/*"),
)


def problems_of(names: frozenset[str], package: Path, is_compiled: bool) -> Iterator[str]:
    """Yield what is wrong with the contents of a wheel.

    Args:
        names: Paths in the wheel.
        package: The folder ``arclink`` of the repository.
        is_compiled: Whether each compiled module has to be there; otherwise, whether none has.
    """
    for name in sorted(names):
        top = name.partition("/")[0]
        if top != "arclink" and not top.endswith(".dist-info"):
            yield f"{name} is not below arclink"
        if name.endswith((".c", ".pyc", ".pyx")):
            yield f"{name} is for the build"
    for pattern in NEEDED:
        for path in files_below(package, pattern):
            name = f"arclink/{path.relative_to(package).as_posix()}"
            if name not in names:
                yield f"{name} is missing"
    if not any(name.endswith("dist-info/licenses/LICENSE") for name in names):
        yield "the licence is missing"
    modules = {Path(name).name.partition(".")[0] for name in names if name.endswith(".so")}
    expected = compiled_modules(package) if is_compiled else set()
    if modules != expected:
        yield f"compiled modules are {sorted(modules)}, not {sorted(expected)}"


def compiled_modules(package: Path) -> set[str]:
    """Return the names of the modules that the installation compiles."""
    text = (package.parent / "setup.py").read_text("utf-8")
    loops = text.partition("LOOPS = (")[2].partition(")")[0]
    return {path.stem for path in package.glob("native/*.pyx")} | {
        Path(line.strip().strip('",')).stem for line in loops.splitlines() if line.strip()
    }


def names_in(wheel: Path) -> frozenset[str]:
    """Return the paths of the files in a wheel."""
    with ZipFile(wheel) as opened:
        return frozenset(name for name in opened.namelist() if not name.endswith("/"))


if __name__ == "__main__":
    wrong = [
        f"{name}: {problem}"
        for name in sys.argv[1:]
        for problem in problems_of(names_in(Path(name)), ROOT / "arclink", is_compiled=True)
    ]
    print(*wrong, f"{len(sys.argv) - 1} wheels checked", sep="\n")
    sys.exit(bool(wrong) or len(sys.argv) == 1)
