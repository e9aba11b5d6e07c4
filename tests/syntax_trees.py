"""The syntax trees of the project's code, each parsed once, for the tests of the code itself."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.sources import ROOT, files_below

FOLDERS = ("arclink", "service", "pig", "benchmarks", "tests")
"""The folders with code; ``arclink`` has a link to ``jobs``.

A module imports only from its own folder and from those before it.
"""


@cache
def trees(*folders: str) -> Mapping[Path, ast.Module]:
    """Return the syntax trees of the modules in these folders by path; without any, in all."""
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
