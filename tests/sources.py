"""The files of the repository below a folder, and the syntax trees of its code."""

import ast
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

FOLDERS = ("arclink", "pig", "benchmarks", "tests")
"""The folders with code; jobs and service are in the first one, as links to their folders.

A module imports only from its own folder and from those before it.
"""


def files_below(folder: Path, *patterns: str) -> list[Path]:
    """Return the files whose paths match one of the patterns, sorted.

    Unlike `Path.rglob` of Python 3.11, it enters links to folders, such as ``arclink/jobs``.
    """
    paths = (
        Path(where, name) for where, _, names in os.walk(folder, followlinks=True) for name in names
    )
    return sorted(path for path in paths if any(map(path.match, patterns)))


@cache
def trees(*folders: str) -> Mapping[Path, ast.Module]:
    """Return the syntax trees of the modules in these folders by path; without any, in all.

    Each file is parsed once.
    """
    return {
        path: _tree(path)
        for folder in folders or FOLDERS
        for path in files_below(ROOT / folder, "*.py")
    }


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def names_imported(tree: ast.AST) -> Iterator[str]:
    """Yield every dotted name that code imports, in functions and by `import_module` too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )
