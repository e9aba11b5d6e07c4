"""Writes the links of a store to two plain files with one row each, for stores of other kinds.

The files are tab-separated, without header:

- ``mementos.tsv``: surt, timestamp, original, checksum, content (empty if it was not read)
- ``links.tsv``: content, position, target SURT, target, kind, text, rel (``-`` for none)

The program prints the counts as JSON; or it prints a digest of all rows, which is equal for stores
with equal rows, and writes nothing.

    python -m benchmarks.flat_links STORE FOLDER
    python -m benchmarks.flat_links --digest STORE
"""

import json
import sys
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from pathlib import Path

from arclink.model import ContentId, Memento, Outlink, Surt
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of


def write_flat(where: str, folder: Path) -> dict[str, int]:
    """Return the numbers of links, distinct URIs, texts, and (target, text) pairs."""
    contents: dict[ContentId, None] = {}
    uris: set[str] = set()
    texts: set[str] = set()
    named: set[tuple[str, str]] = set()
    links = 0
    with open_store(where) as store:
        with (folder / "mementos.tsv").open("w", encoding="utf-8") as file:
            for memento, row in _mementos(store, contents):
                uris.add(memento.original)
                file.write(row)
        with (folder / "links.tsv").open("w", encoding="utf-8") as file:
            for link, row in _links(store, contents):
                uris.add(link.target)
                texts.add(link.text)
                named.add((link.target, link.text))
                links += 1
                file.write(row)
    return {"links": links, "uris": len(uris), "texts": len(texts), "targets with text": len(named)}


def digest(where: str) -> str:
    """Return the sum of the SHA-256 of all rows, in hexadecimal: their order does not matter."""
    contents: dict[ContentId, None] = {}
    total = 0
    with open_store(where) as store:
        for _, row in chain(_mementos(store, contents), _links(store, contents)):
            total += int.from_bytes(sha256(row.encode()).digest())
    return f"{total % (1 << 256):064x}"


def _mementos(store: GraphStore, contents: dict[ContentId, None]) -> Iterator[tuple[Memento, str]]:
    """Yield all mementos with their rows, and add their contents to ``contents``."""
    for surt in store.surts(Surt("")):
        for memento in store.mementos(surt):
            content = store.content_of(memento)
            if content is not None:
                contents[content] = None
            yield (
                memento,
                f"{surt}\t{memento.timestamp}\t{memento.original}"
                f"\t{memento.checksum}\t{content or ''}\n",
            )


def _links(store: GraphStore, contents: dict[ContentId, None]) -> Iterator[tuple[Outlink, str]]:
    """Yield all links of contents with their rows."""
    surt_for = lru_cache(maxsize=1 << 20)(surt_of)
    for content in contents:
        for position, link in enumerate(store.outlinks(content)):
            yield (
                link,
                f"{content}\t{position}\t{surt_for(link.target)}\t{link.target}"
                f"\t{link.kind}\t{link.text}\t{link.rel or '-'}\n",
            )


if __name__ == "__main__":
    if sys.argv[1] == "--digest":
        print(digest(sys.argv[2]))
    else:
        print(json.dumps(write_flat(sys.argv[1], Path(sys.argv[2]))))
