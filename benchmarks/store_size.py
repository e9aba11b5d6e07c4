"""Bytes per link of a store, including both directions, texts, URIs and mementos.

Parquet and DuckDB store the same links for comparison.
"""

import json
from collections.abc import Iterator

from benchmarks.bench import Bench, Corpus, NotHereError, python
from benchmarks.look_ups import sample
from benchmarks.tables import Cell, Table, Target


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table for each corpus up to 30,000 captures, and one for the link-dense archive.

    Raises:
        RuntimeError: Another store has other links.
    """
    for size in bench.sizes:
        if size <= 30_000:
            yield _of_corpus(bench, bench.corpus(size))
    if link_dense := bench.link_dense():
        yield _of_corpus(bench, link_dense)


def _of_corpus(bench: Bench, corpus: Corpus) -> Table:
    built = bench.build(corpus)
    links, size = built.stats["links"], built.store.stat().st_size
    folder = bench.scratch("flat")
    flat: dict[str, int] = json.loads(
        bench.run(python("benchmarks.flat_links", str(built.store), str(folder)), repeat=1).printed
    )
    if flat["links"] != links:
        raise RuntimeError(f"the store says {links} links, and gives {flat['links']}")
    rows: list[list[Cell]] = [["ArcLink (SQLite)", size, size / links, None, None]]
    notes = [
        f"{links:,} links, {built.stats['mementos']:,} mementos.",
        f"Distinct per link: {flat['uris'] / links:.3f} URIs, {flat['texts'] / links:.3f} texts, "
        f"{flat['targets with text'] / links:.3f} (target, text).",
    ]
    try:
        peers = json.loads(
            bench.run(
                bench.peer("benchmarks.peers.flat_stores", "write", str(folder)), repeat=1
            ).printed
        )
        if peers["links"] != links:
            raise RuntimeError(f"DuckDB has {peers['links']} links, ArcLink {links}")
        uris = sample(bench, built.store)
        asked = json.loads(
            bench.run(
                bench.peer("benchmarks.peers.flat_stores", "ask", str(folder), str(uris)), repeat=1
            ).printed
        )
        rows += [
            [name, peers[name], peers[name] / links, *asked[name]] for name in ("Parquet", "DuckDB")
        ]
        notes.append(
            "Parquet (zstd) and DuckDB hold mementos, links by content and links by target; "
            "neither can be read while it is written."
        )
    except NotHereError as error:
        notes.append(f"Parquet and DuckDB: not measured: {error}.")
    columns = ["", "bytes", "bytes a link", "ms, outlinks of a URI", "ms, inlinks"]
    targets = (
        [Target("bytes a link", size / links, 20), Target("aim: the same", size / links, 12)]
        if corpus.captures
        else []
    )
    return Table(f"Store: {corpus.name}", columns, rows, targets, notes)
