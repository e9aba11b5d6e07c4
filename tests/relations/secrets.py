"""Stores with a word that a takedown removes, and a search for it in all files next to them."""

import re
from collections.abc import Iterator
from pathlib import Path

import zstandard
from pyarrow.parquet import ParquetFile

from arclink.model import ContentId, Kind, Outlink, Payload, Scope, UriR
from arclink.store.protocols import Builds
from tests.store.graphs import checksum_of, memento, write_batch
from tests.store.load_arguments import FILES, SETTINGS

SECRET = "zq7secret"
"""In the URI, host, title, links and words of pages to forget, and in no takedown."""

_FRAME = re.compile(rb"\x28\xb5\x2f\xfd")


def load(store: Builds, folder: Path, batch: int, pages: int) -> None:
    """Load a batch of pages, some of which have the secret; the others link to these."""
    mementos, payloads, contents = [], [], {}
    for number in range(pages):
        word = SECRET if number % 4 == 0 else "plain"
        name = f"{word}{batch}x{number}"
        site = "gone" if word == SECRET else "stays"
        original = UriR(f"http://{name}.{site}.example/{name}")
        checksum = checksum_of(f"p{name}")
        targets = [f"http://{SECRET}{batch}x0.gone.example/", f"http://t.example/{name}"]
        links = [Outlink(UriR(target), Kind("a@href"), f"{word} text", word) for target in targets]
        mementos.append(memento(original, "20100101000000", checksum))
        payloads.append(
            Payload(
                checksum, Scope.NONE, "utf-8", "a.warc.gz", 7, "PAYLOAD_READ", title=f"{name} title"
            )
        )
        contents[ContentId(checksum)] = (original, links)
    write_batch(folder, mementos, payloads, contents)
    store.load(folder, FILES[:1], SETTINGS, f'{{"batch": {batch}}}')


def files_with_secrets(store: Path) -> list[str]:
    """Return the files of a store and next to it that have the secret in any form."""
    wanted = SECRET.encode()
    return [
        str(path.relative_to(store.parent))
        for root in store.parent.glob(f"{store.name}*")
        for path in (root, *root.rglob("*"))
        if path.is_file()
        and (wanted in path.name.encode() or any(wanted in text.lower() for text in texts_of(path)))
    ]


def texts_of(path: Path) -> Iterator[bytes]:
    """Yield a file as it is, what its compressed parts hold, and the values of a Parquet file."""
    data = path.read_bytes()
    yield data
    for found in _FRAME.finditer(data):
        try:
            yield zstandard.ZstdDecompressor().decompressobj().decompress(data[found.start() :])
        except zstandard.ZstdError:  # these four bytes are not the start of a frame
            continue
    if path.suffix == ".parquet":
        file = ParquetFile(path)
        yield repr(file.metadata.to_dict()).encode()  # with the least and greatest values
        yield repr(file.read().to_pydict()).encode()
