"""Writes the links of a store to two plain files with one row each, for stores of other kinds.

The files are tab-separated, without header:

- ``mementos.tsv``: surt, timestamp, original, checksum, content (empty if it was not read)
- ``links.tsv``: content, position, target SURT, target, kind, text, rel (``-`` for none)

The program prints the counts as JSON.

    python -m benchmarks.flat_links STORE FOLDER
"""

import json
import sys
from functools import lru_cache
from pathlib import Path

from arclink.model import ContentId, Surt
from arclink.store.location import open_store
from arclink.uris.surts import surt_of


def write_flat(where: str, folder: Path) -> dict[str, int]:
    """Return the numbers of links, distinct URIs, texts, and (target, text) pairs."""
    surt_for = lru_cache(maxsize=1 << 20)(surt_of)
    contents: dict[ContentId, None] = {}
    uris: set[str] = set()
    texts: set[str] = set()
    named: set[tuple[str, str]] = set()
    links = 0
    with open_store(where) as store:
        with (folder / "mementos.tsv").open("w", encoding="utf-8") as file:
            for surt in store.surts(Surt("")):
                for memento in store.mementos(surt):
                    content = store.content_of(memento)
                    if content is not None:
                        contents[content] = None
                    uris.add(memento.original)
                    file.write(
                        f"{surt}\t{memento.timestamp}\t{memento.original}"
                        f"\t{memento.checksum}\t{content or ''}\n"
                    )
        with (folder / "links.tsv").open("w", encoding="utf-8") as file:
            for content in contents:
                for position, (target, kind, text, rel) in enumerate(
                    (link.target, link.kind, link.text, link.rel)
                    for link in store.outlinks(content)
                ):
                    uris.add(target)
                    texts.add(text)
                    named.add((target, text))
                    links += 1
                    file.write(
                        f"{content}\t{position}\t{surt_for(target)}\t{target}"
                        f"\t{kind}\t{text}\t{rel or '-'}\n"
                    )
    return {"links": links, "uris": len(uris), "texts": len(texts), "targets with text": len(named)}


if __name__ == "__main__":
    print(json.dumps(write_flat(sys.argv[1], Path(sys.argv[2]))))
