"""Public names are those that another module uses; what only its own module uses has an underscore.

Also: entries of docstrings, such as the errors of a function, each begin a line.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.sources import ROOT, files_below, trees

DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def names_defined(tree: ast.Module) -> Iterator[str]:
    """Yield the public names that a module defines at its top level."""
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                # The caller of an error meets it, and a decorator such as `routes.get` registers.
                is_registered = any(
                    isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
                    for one in node.decorator_list
                )
                if not is_registered and not node.name.endswith("Error"):
                    yield node.name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case _:
                pass


def words_of(tree: ast.AST) -> Iterator[str]:
    """Yield the names that code uses, also those in texts without blanks (imports by name)."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.alias(name=name):
                yield from name.split(".")
            case ast.Constant(value=str(text)) if " " not in text:
                yield from re.findall(r"\w+", text)
            case _:
                pass


def named_in_types(tree: ast.Module) -> set[str]:
    """Return the names in the types that a module writes: callers meet what they describe."""
    written: list[ast.expr | None] = []
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(returns=returned) | ast.AsyncFunctionDef(returns=returned):
                written.append(returned)
            case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
                written.append(annotation)
            case ast.ClassDef(bases=bases):
                written += bases
            case _:
                pass
    texts = (ast.unparse(one) for one in written if one is not None)
    return {word for text in texts for word in re.findall(r"\w+", text)}


@cache
def referred_to() -> set[str]:
    """Return the names that documents write between backticks: NAME, module.NAME."""
    texts = [path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")]
    return {name for text in texts for name in re.findall(r"`(?:[\w.]+\.)?(\w+)`", text)}


def names_used_at_home_only() -> Iterator[tuple[Path, str]]:
    """Yield the modules and names that no other module uses."""
    used: dict[str, set[Path]] = {}
    for path, tree in trees().items():
        for word in words_of(tree):
            used.setdefault(word, set()).add(path)
    sources = files_below(ROOT / "arclink", "*.p[yx][xd]")
    compiled = " ".join(path.read_text("utf-8") for path in sources)
    for path, tree in trees().items():
        if path.is_relative_to(ROOT / "arclink"):
            types = named_in_types(tree)
            for name in names_defined(tree):
                if (
                    not name.startswith("_")
                    and used.get(name, set()) <= {path}
                    and name not in types | referred_to()
                    and not re.search(rf"\b{name}\b", compiled)
                ):
                    yield path, name


def test_names_that_no_other_module_uses_begin_with_an_underscore() -> None:
    found = [f"{path.relative_to(ROOT)}: {name}" for path, name in names_used_at_home_only()]
    assert found == []


def test_fields_are_described_under_attributes() -> None:
    loose = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and "Attributes:" not in (ast.get_docstring(node) or "")
        for field in node.body
        if isinstance(field, ast.AnnAssign)
        and re.search(
            rf"^\s*{ast.unparse(field.target)}: ", ast.get_docstring(node) or "", re.MULTILINE
        )
    ]
    assert loose == []


def test_files_with_exceptions_from_rules_exist() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    exempted = settings["tool"]["ruff"]["lint"]["per-file-ignores"]
    # A set of names in braces is more than `glob` understands.
    patterns = [re.sub(r"\{(\w+)[^}]*\}", r"\1", pattern) for pattern in exempted]
    assert [pattern for pattern in patterns if not list(ROOT.glob(pattern))] == []


def test_each_entry_of_a_docstring_begins_a_line() -> None:
    merged = []
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, DEFINITIONS):
                text = ast.get_docstring(node) or ""
                errors = text.partition("\nRaises:\n")[2].partition("\n\n")[0]
                merged += [
                    f"{path.relative_to(ROOT)}: {node.name}: {line.strip()}"
                    for line in errors.splitlines()
                    if re.search(r"\S +\w+(?:Error|Exception): ", line)
                ]
    assert merged == []
