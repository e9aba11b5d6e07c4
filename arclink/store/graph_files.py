"""Reads graph files: the parts of each relation of a batch, as one sorted stream of rows.

A stage writes each relation (mementos, payloads, outlinks, inlinks) as one or more sorted files,
its *parts*. This module merges the parts, checks their order and checksums, and computes the
identity of a batch. ``docs/reference/graph-files.md`` describes the format.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from heapq import merge
from itertools import chain, pairwise, starmap
from pathlib import Path
from typing import NamedTuple

import orjson

from arclink.errors import SealError, StoreError
from arclink.files.sealed import SUMS, check_folder, seal_folder
from arclink.files.spill import Sorted
from arclink.model import Surt
from arclink.rows.relations import COLUMNS_OF_MEMENTO
from arclink.store.protocols import Cluster, KnownFile
from arclink.uris.surts import key_of_answer, method_of_key, surt_of

_BUFFER = 256 * 1024

RELATIONS = ("mementos", "payloads", "outlinks", "inlinks")


class GraphPart(NamedTuple):
    """A part of a relation: its path in the folder of the graph files, and its size in bytes.

    The file may be stored on an engine only.
    """

    path: Path
    size: int


GraphParts = Mapping[str, Sequence[GraphPart]]
"""The parts of a batch, in order, by relation."""


def find_parts(graph: Path, cluster: Cluster | None = None) -> GraphParts:
    """Return the parts of all relations of a batch, on this machine or on an engine."""

    def sizes(folder: Path) -> Mapping[Path, int]:
        if cluster is not None:
            return cluster.sizes(folder)
        return {path: path.stat().st_size for path in parts_of(graph, folder.name)}

    return {
        relation: list(starmap(GraphPart, sizes(graph / relation).items()))
        for relation in RELATIONS
    }


def parts_of(graph: Path, relation: str) -> list[Path]:
    """Return the parts of a relation in order; an empty list if the batch has no such relation."""
    return sorted((graph / relation).glob("part-*"))


def read_sorted(graph: Path, relation: str, columns: int, keys: int) -> Iterator[list[bytes]]:
    """Yield the rows of all parts of a relation as one sorted stream, split into columns.

    The last column of each row ends in a newline.

    Args:
        graph: Folder of the batch.
        relation: Name of the relation.
        columns: Its number of columns.
        keys: Number of leading columns that the parts are sorted by.

    Raises:
        StoreError: A part is not sorted, has rows with another number of columns, or is not
            readable.
    """
    paths = [path for path in parts_of(graph, relation) if path.stat().st_size]
    parts = [read_part(path, columns, keys) for path in paths]
    if _follow_each_other(paths, keys):
        return chain.from_iterable(parts)
    return merge(*parts, key=lambda row: row[:keys])


def _follow_each_other(paths: Sequence[Path], keys: int) -> bool:
    """Return whether each part begins where the part before it ends.

    The parts of one sort do, and then need no merging.
    """
    ends = [_first_and_last_key(path, keys) for path in paths]
    return all(last <= first for (_, last), (first, _) in pairwise(ends))


def _first_and_last_key(path: Path, keys: int) -> tuple[list[bytes], list[bytes]]:
    with path.open("rb") as file:
        first = file.readline()
        size = path.stat().st_size
        tail, begin = b"", size
        while begin > 0 and b"\n" not in tail.rstrip(b"\n"):
            begin = max(0, begin - _BUFFER)
            file.seek(begin)
            tail = file.read(size - begin)
    last = tail.rstrip(b"\n").rpartition(b"\n")[2]
    return first.split(b"\t")[:keys], last.split(b"\t")[:keys]


def read_part(path: Path, columns: int, keys: int) -> Iterator[list[bytes]]:
    """Yield the rows of one part; arguments and errors are those of `read_sorted`."""
    last: list[bytes] = []
    try:
        with path.open("rb", buffering=_BUFFER) as file:  # rows exceed Python's default buffer
            for number, line in enumerate(file, start=1):
                row = line.split(b"\t", columns - 1)
                if len(row) != columns:
                    raise StoreError(
                        _problem(path, number, f"{len(row)} columns instead of {columns}")
                    )
                key = row[:keys]
                if key < last:
                    raise StoreError(_problem(path, number, "not sorted"))
                last = key
                yield row
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def _problem(path: Path, number: int, found: str) -> str:
    return (
        f"{path}, line {number}: {found} (docs/reference/graph-files.md). Write the graph "
        "files again."
    )


def write_graph_sums(graph: Path) -> None:
    """Write the checksums of the local parts of a batch; loading compares them."""
    seal_folder(graph, [path for relation in RELATIONS for path in parts_of(graph, relation)])


AFTER_FIELD = "after batch"
"""Field of the manifest of a batch of files that were read before: the last batch before it.

It distinguishes the batch from others of the same files; batches of new files lack it.
"""


def after_of(manifest: str) -> int:
    """Return the value of `AFTER_FIELD` in a manifest; 0 if it has none."""
    try:
        found = orjson.loads(manifest)
    except orjson.JSONDecodeError:
        found = None
    # A manifest that was made by hand may be any text.
    return int(found.get(AFTER_FIELD, 0)) if isinstance(found, dict) else 0


def identity_of(
    graph: Path,
    parts: GraphParts,
    files: Iterable[KnownFile],
    manifest: str = "",
    cluster: Cluster | None = None,
) -> bytes:
    """Return the identity of a batch, a SHA-256 digest that distinguishes it from other batches.

    The digest covers the archive files, the mementos, the payloads and the sizes of the link files.
    Links follow from the payloads and are most of the bytes, so they are not read again for this.
    Of a part that is stored on an engine only, the digest covers the engine's checksum.

    Raises:
        StoreError: The folder holds no graph files, they cannot be read, or one fails its checksum.
    """
    if not any((graph / relation).is_dir() for relation in RELATIONS):
        raise StoreError(f"{graph} has no graph files: none of the folders {', '.join(RELATIONS)}.")
    if (graph / SUMS).exists():
        try:
            check_folder(graph)
        except SealError as error:
            raise error.with_remedy(
                "Write the graph files again (docs/reference/graph-files.md)."
            ) from error
    digest = sha256()
    if after := after_of(manifest):
        digest.update(f"after {after}\n".encode())
    for file in sorted(files, key=lambda file: file.name):
        digest.update(f"{file.name}\t{file.size}\t{file.fingerprint}\n".encode())
    try:
        for relation in RELATIONS:
            for path, size in parts[relation]:
                digest.update(f"{relation} {size}\n".encode())
                if relation in {"mementos", "payloads"}:
                    checksum = None if cluster is None else cluster.checksum(path)
                    for block in _blocks_of(path) if checksum is None else (checksum,):
                        digest.update(block)
    except OSError as error:
        raise StoreError(f"{graph} cannot be read: {error}") from error
    return digest.digest()


def _blocks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as part:
        while block := part.read(1 << 20):
            yield block


# Graph files that an earlier version wrote, with present keys.
#
# The SURTs of mementos and targets change, so their rows are sorted again. Outlinks have URIs; the
# SURT in their rows only gives an order, and stays. Nothing else differs.

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
