"""Texts of SQL: files of this package, and of others with questions."""

from functools import cache
from importlib.resources import files

COMMON = "arclink.analysis.relations.questions"
"""Where the texts are that relations and analyses have in common."""


def text_of(folder: str, *names: str) -> str:
    """Return texts of SQL as one; ``folder`` is the package that they are in."""
    return "\n".join(_read(folder, name) for name in names)


@cache
def _read(folder: str, name: str) -> str:
    package, _, below = folder.rpartition(".")
    return (files(package) / below / f"{name}.sql").read_text("utf-8")
