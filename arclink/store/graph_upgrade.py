"""Graph files that an earlier version wrote, with present keys.

The SURTs of mementos and targets change, so their rows are sorted again. Outlinks have URIs; the
SURT in their rows only gives an order, and stays. Nothing else differs.
"""

import shutil
from pathlib import Path

from arclink.files.spill import Sorted
from arclink.model import Surt
from arclink.rows.relations import COLUMNS_OF_MEMENTO
from arclink.store.graph_files import parts_of, read_sorted, write_graph_sums
from arclink.uris.methods import key_of_answer, method_of_key
from arclink.uris.surts import surt_of

_URI_OF_MEMENTO, _URI_OF_INLINK = 2, 1


def write_with_present_keys(graph: Path, target: Path) -> None:
    """Write graph files with present keys.

    Args:
        graph: Folder of a batch with old keys.
        target: The folder to write; it does not exist yet.

    Raises:
        StoreError: The graph files cannot be read.
        FullDiskError: There is no room for sorting.
    """
    for relation in ("payloads", "outlinks"):
        for part in parts_of(graph, relation):
            copy = target / relation / part.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(part, copy)
    _write_sorted(graph, target, "mementos", COLUMNS_OF_MEMENTO, _URI_OF_MEMENTO, 4)
    _write_sorted(graph, target, "inlinks", 3, _URI_OF_INLINK, 2)
    write_graph_sums(target)


def _write_sorted(
    graph: Path, target: Path, relation: str, columns: int, uri: int, keys: int
) -> None:
    rows = Sorted[tuple[bytes, ...]]()
    for row in read_sorted(graph, relation, columns, keys):
        row[0] = _present_key(row[0].decode(), row[uri].decode()).encode()
        rows.add((*row,))
    path = target / relation / "part-00000"
    path.parent.mkdir(parents=True)
    with path.open("wb") as part:
        part.writelines(b"\t".join(row) for row in rows)


def _present_key(key: str, uri: str) -> Surt:
    return key_of_answer(surt_of(uri), method_of_key(key))
