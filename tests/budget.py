"""What each room of the package costs a reader: tokens of code, and public names.

Comments, docstrings, line ends and indents are free: shorter lines and fewer words gain nothing.
What is not Python (Cython, SQL, templates, styles, scripts, data) is counted by words and signs.

``python -m tests.budget`` prints each room next to its budget (``tests/budget.toml``).
"""

import ast
import io
import re
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.sources import ROOT

BUDGET = Path(__file__).with_name("budget.toml")

_PLACES = ("arclink", "jobs", "service", "demo", "pig", "cassandra_schema")
_OTHER = (
    *(".pyx", ".pxd", ".sql", ".cql", ".pig", ".macro", ".html", ".js", ".css", ".java"),
    *(".toml", ".json"),
)
_FREE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Cost(NamedTuple):
    """What a room costs.

    Attributes:
        tokens: Tokens of its code.
        names: Its public classes and functions.
    """

    tokens: int
    names: int = 0


def cost_of(source: str) -> Cost:
    """Return the cost of a module.

    >>> cost_of("def add(a):\\n    'Free.'\\n    return a + 1  # free\\n")
    Cost(tokens=10, names=1)
    """
    tree = ast.parse(source)
    documents = {
        node.body[0].lineno
        for node in ast.walk(tree)
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None
    }
    tokens = sum(
        token.type not in _FREE
        and not (token.type == tokenize.STRING and token.start[0] in documents)
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
    )
    public = (
        not node.name.startswith("_")
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    )
    return Cost(tokens, sum(public))


def files() -> Iterator[tuple[str, Path]]:
    """Yield the files that are counted, each with its room."""
    for place in _PLACES:
        for path in sorted((ROOT / place).rglob("*")):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and not _is_made(parts):
                if path.suffix == ".py":
                    yield (parts[1] if place == "arclink" and len(parts) > 2 else place), path
                elif path.suffix in _OTHER:
                    yield "other", path


def _is_made(parts: tuple[str, ...]) -> bool:
    """Return whether a file is made by a command, or has another author."""
    return "vendor" in parts or "__pycache__" in parts or any(".db" in part for part in parts)


@cache
def costs() -> dict[str, Cost]:
    """Return the cost of each room; all files that are no Python are one, ``other``."""
    tokens: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for room, path in files():
        text = path.read_text("utf-8")
        cost = Cost(len(re.findall(r"\w+|[^\w\s]", text))) if room == "other" else cost_of(text)
        tokens[room] += cost.tokens
        names[room] += cost.names
    return {room: Cost(tokens[room], names[room]) for room in sorted(tokens)}


def budgets() -> dict[str, Cost]:
    """Return the budget of each room."""
    with BUDGET.open("rb") as file:
        rooms = tomllib.load(file)["rooms"]
    return {room: Cost(one["tokens"], one["names"]) for room, one in rooms.items()}


def report() -> Iterator[str]:
    """Yield a line for each room, the largest first, and one for all of them."""
    allowed, found = budgets(), costs()
    for room, cost in sorted(found.items(), key=lambda one: -one[1].tokens):
        most = allowed.get(room, Cost(0))
        over = "  OVER" if cost.tokens > most.tokens or cost.names > most.names else ""
        yield (
            f"{room:18} {cost.tokens:8,} of {most.tokens:8,} tokens, "
            f"{cost.names:4} of {most.names:4} names{over}"
        )
    yield (
        f"{'all':18} {sum(one.tokens for one in found.values()):8,} of "
        f"{sum(one.tokens for one in allowed.values()):8,} tokens"
    )


if __name__ == "__main__":
    print(*report(), sep="\n")
