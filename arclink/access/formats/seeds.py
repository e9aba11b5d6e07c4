"""Rows that are pages, as lists for crawlers.

Source: Heritrix 3, *seeds.txt* (a URI per line); Browsertrix Crawler, *YAML config* (``seeds``).
"""

from collections.abc import Iterator, Mapping, Sequence

import orjson

from arclink.access.formats.rows import RowAnswer, RowFormat

_SCHEMES = ("http://", "https://")


def seeds_of(answer: RowAnswer) -> tuple[Sequence[str], int]:
    """Return the addresses of rows, each once, and the number of those that no crawler captures."""
    found = (row[answer.uris] for row in answer.labelled())
    addresses = dict.fromkeys(str(uri) for uri in found if uri is not None)
    seeds = [address for address in addresses if address.lower().startswith(_SCHEMES)]
    return seeds, len(addresses) - len(seeds)


def _write_seeds(answer: RowAnswer) -> Iterator[bytes]:
    """Yield the addresses, one per line."""
    for seed in seeds_of(answer)[0]:
        yield f"{seed}\n".encode()


def _write_browsertrix(answer: RowAnswer) -> Iterator[bytes]:
    """Yield a configuration of Browsertrix Crawler (YAML) that captures these pages only."""
    seeds, _ = seeds_of(answer)
    yield b"seeds:\n" if seeds else b"seeds: []\n"
    for seed in seeds:
        # A JSON string is a YAML string.
        yield b"- url: " + orjson.dumps(seed) + b"\n  scopeType: page\n"


SEED_FORMATS: Mapping[str, RowFormat] = {
    form.name: form
    for form in (
        RowFormat("seeds", ("text/plain",), _write_seeds),
        RowFormat("browsertrix", ("application/yaml",), _write_browsertrix),
    )
}
"""The formats by name."""
