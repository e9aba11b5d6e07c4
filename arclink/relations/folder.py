"""The folder of a store's relations, for commands that do not read them.

It imports neither DuckDB nor Arrow: both are in an extra, and a store without relations needs none.
"""

import shutil
from pathlib import Path

from arclink.store.location import local_path_of


def tables_folder(where: str) -> Path:
    """Return the folder with the relations of a store."""
    path = local_path_of(where)
    return path.with_name(f"{path.name}.tables")


def remove_relations(where: str) -> None:
    """Remove the relations of a store."""
    shutil.rmtree(tables_folder(where), ignore_errors=True)
