"""A synthetic graph can be loaded, is consistent, and has its hub."""

import json
from pathlib import Path

from click.testing import CliRunner

from arclink.cli.main import group
from arclink.model import Surt, UriR
from arclink.store.location import open_store
from benchmarks.flat_links import write_flat
from benchmarks.look_up import WHAT, times
from benchmarks.look_ups import HUB
from benchmarks.sample import sample
from benchmarks.synthetic_graph import HUB_SURT, checksum, surt, uri, write_batch

PAGES = 300


def load(tmp_path: Path) -> tuple[Path, int]:
    """Load 300 pages in two batches; return the store and how many links were made."""
    store, links = tmp_path / "links.db", 0
    for first in (0, 200):
        folder = tmp_path / f"batch-{first}"
        links += write_batch(folder, first, min(200, PAGES - first), 20, PAGES)
        done = CliRunner().invoke(group, ["load", "--folder", str(folder), "--store", str(store)])
        assert done.exit_code == 0, done.output
    return store, links


def test_batches_load_into_a_store_in_which_every_invariant_holds(tmp_path: Path) -> None:
    where, links = load(tmp_path)
    with open_store(str(where)) as store:
        assert list(store.verify()) == []
        stats = store.stats()
        assert (stats.batches, stats.mementos, stats.links) == (2, PAGES, links)
        hub = list(store.inlinks(Surt(HUB_SURT)))
        assert {link.target for link in hub} == {HUB}
        assert sorted(link.content for link in hub) == sorted(map(checksum, range(PAGES)))
        assert [memento.original for memento in store.mementos(Surt(surt(7)))] == [UriR(uri(7))]


def test_look_ups_and_flat_files_have_every_link(tmp_path: Path) -> None:
    where, links = load(tmp_path)
    uris = sample(str(where), 5)
    assert len(set(uris)) == 5
    assert sample(str(where), 5) == uris
    for how in ("warm", "connection", "disk"):
        wall, cpu, members = times(str(where), uris, how, WHAT["both"])
        assert (len(wall), len(cpu)) == (5, 5)
        assert members > 5 * 15
    assert times(str(where), [HUB], "warm", WHAT["hub"])[2] == 100
    counts = write_flat(str(where), tmp_path)
    assert counts["links"] == links
    rows = [line.split("\t") for line in (tmp_path / "links.tsv").read_text().splitlines()]
    assert len(rows) == links
    assert sum(row[3] == HUB for row in rows) == PAGES
    assert json.dumps(counts)
