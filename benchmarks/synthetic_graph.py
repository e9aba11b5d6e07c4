"""Graph files of a generated graph of any size, in batches, for `arclink load`.

Each page has one link to the same hub. Half of its other links stay within its site of 1,000 pages,
and half lead anywhere by a power law. A link has one of the four texts of its target. The pages of
a batch are new; the targets of their links are not.

    python -m benchmarks.synthetic_graph FOLDER --first 0 --pages 125000 --links 80 --of 1250000
"""

import argparse
import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arclink.operations.one_stage import write_archives, write_settings
from arclink.pipeline.settings import BuildSettings
from arclink.store.protocols import KnownFile
from benchmarks.look_ups import HUB

HUB_SURT = "example,hub)/"
SITE = 1_000
TEXTS = 4
BLOCK = 100
"""Pages of a block."""

MOST_IN_ROW = 50_000

Numbers = NDArray[np.int64]


def surt(page: int) -> str:
    """Return the SURT of a page; they sort as the numbers do."""
    return f"example,site{page // SITE:07d})/page/{page:09d}.html"


def uri(page: int) -> str:
    """Return the URI of a page."""
    return f"http://www.site{page // SITE:07d}.example/page/{page:09d}.html"


def checksum(page: int) -> str:
    """Return the bytes that replace the payload of a page."""
    return base64.b32encode(hashlib.sha1(b"%d" % page).digest()).decode()


@lru_cache(maxsize=1 << 20)
def text(target: int, variant: int) -> str:
    """Return one of a target's four texts."""
    return f"{_word(target)} {_word(target * 7 + variant)} {_word(variant * 31 + target // SITE)}"


def _word(number: int) -> str:
    letters = "etaoinshrdlucmfwypgb"
    number = number * 2_654_435_761 % 8_000
    return letters[number % 20] + letters[number // 20 % 20] + letters[number // 400] + "er"


def write_batch(folder: Path, first: int, pages: int, links: int, of: int, seed: int = 1) -> int:
    """Write the graph files of some pages; return their links, each distinct in its page.

    Args:
        folder: Of the batch; made if it is not there.
        first: Number of the first page.
        pages: Of this batch.
        links: Of a page: the hub, and others of which a few turn out equal.
        of: Pages of the whole graph, which links may lead to.
        seed: Chooses the targets.
    """
    graph = folder / "graph"
    for relation in ("mementos", "payloads", "outlinks", "inlinks"):
        (graph / relation).mkdir(parents=True, exist_ok=True)
    archive = KnownFile(
        f"synthetic-{first:09d}.warc.gz", f"/synthetic-{first:09d}.warc.gz", pages, f"{first:064d}"
    )
    write_archives(folder, [archive])
    write_settings(folder, BuildSettings())
    sources, targets = _links(first, pages, links, of, seed)
    contents = [checksum(page) for page in range(first, first + pages)]
    edges = np.searchsorted(sources, np.arange(first, first + pages + 1))
    with (
        (graph / "mementos/part-00000").open("w") as mementos,
        (graph / "payloads/part-00000").open("w") as payloads,
    ):
        for position, content in enumerate(contents):
            page = first + position
            payloads.write(
                f"{content}\t0\tutf-8\t{archive.name}\t{position}\tPAYLOAD_READ"
                f'\t{{"LINK_KEPT":{edges[position + 1] - edges[position]}}}\n'
            )
            row = (
                surt(page),
                f"2010{1 + page % 12:02d}01000000",
                uri(page),
                content,
                "200",
                "text/html",
                "response",
                archive.name,
            )
            mementos.write("\t".join((*row, str(position), "1", "-\n")))
    names = [_block_name(contents[start : start + BLOCK]) for start in range(0, pages, BLOCK)]
    with (graph / "outlinks/part-00000").open("w") as file:
        for number, name in enumerate(names):
            start, end = number * BLOCK, min((number + 1) * BLOCK, pages)
            of_block = slice(edges[start], edges[end])
            distinct, numbers = np.unique(
                _keys(sources[of_block], targets[of_block]), return_inverse=True
            )
            lists = [
                part.tolist() for part in np.split(numbers, edges[start + 1 : end] - edges[start])
            ]
            links_json = ",".join([_link(*divmod(key, TEXTS)) for key in distinct.tolist()])
            file.write(
                f"{surt(first + start)}\t{name}\t{json.dumps(contents[start:end])}"
                f"\t[{links_json}]\t{json.dumps(lists)}\n"
            )
    with (graph / "inlinks/part-00000").open("w") as file:
        file.writelines(_inlinks(sources, targets, first, names))
    return len(targets)


def _block_name(contents: Sequence[str]) -> str:
    return hashlib.sha1("\n".join(contents).encode()).hexdigest()[:20]


def _keys(sources: Numbers, targets: Numbers) -> Numbers:
    """Return one number for target and text of each link.

    The text follows from target and source.
    """
    keys: Numbers = targets * TEXTS + (targets + sources) % TEXTS
    return keys


def _links(first: int, pages: int, links: int, of: int, seed: int) -> tuple[Numbers, Numbers]:
    """Return source and target of each link, sorted by source, then target.

    The hub is target -1.
    """
    dice = np.random.default_rng([seed, first])
    within = (links - 1) // 2
    numbers = np.arange(first, first + pages, dtype=np.int64)
    near = numbers[:, None] // SITE * SITE + dice.integers(0, SITE, (pages, within))
    far = ((of + 1) ** dice.random((pages, links - 1 - within))).astype(np.int64) - 1
    targets = np.concatenate([np.full((pages, 1), -1), np.minimum(near, of - 1), far], axis=1)
    targets.sort(axis=1)
    is_first = np.ones_like(targets, dtype=bool)
    is_first[:, 1:] = targets[:, 1:] != targets[:, :-1]
    return np.broadcast_to(numbers[:, None], targets.shape)[is_first], targets[is_first]


@lru_cache(maxsize=1 << 20)
def _link(target: int, variant: int) -> str:
    return f'["{uri(target) if target >= 0 else HUB}","a@href","{text(target, variant)}",null]'


def _inlinks(sources: Numbers, targets: Numbers, first: int, names: Sequence[str]) -> Iterator[str]:
    """Yield the rows of all targets, sorted.

    Of a target with very many links several, one after the other.
    """
    keys = _keys(sources, targets)
    order = np.lexsort((sources, keys))
    keys, positions = keys[order], (sources[order] - first).tolist()
    starts = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1)).tolist()
    last, groups, held = -2, list[str](), 0
    for key, start, end in zip(
        keys[starts].tolist(), starts, [*starts[1:], len(positions)], strict=True
    ):
        target, variant = divmod(key, TEXTS)
        for part in range(start, end, MOST_IN_ROW):
            if groups and (target != last or held >= MOST_IN_ROW):
                yield _row(last, groups)
                groups, held = [], 0
            of_part = positions[part : min(part + MOST_IN_ROW, end)]
            groups.append(
                f'["a@href","{text(target, variant)}",null,[{_positions(of_part, names)}]]'
            )
            last, held = target, held + len(of_part)
    if groups:
        yield _row(last, groups)


def _positions(positions: Sequence[int], names: Sequence[str]) -> str:
    """Return the pages at these positions of the batch as blocks and positions in them."""
    if len(positions) == 1:  # most
        return f'["{names[positions[0] // BLOCK]}",[{positions[0] % BLOCK}]]'
    blocks = groupby(positions, lambda position: position // BLOCK)
    return ",".join(
        [
            f'["{names[block]}",[{",".join([str(position % BLOCK) for position in of_block])}]]'
            for block, of_block in blocks
        ]
    )


def _row(target: int, groups: list[str]) -> str:
    name, where = (surt(target), uri(target)) if target >= 0 else (HUB_SURT, HUB)
    return f"{name}\t{where}\t[{','.join(groups)}]\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    for name in ("first", "pages", "links", "of"):
        parser.add_argument(f"--{name}", type=int, required=True)
    arguments = parser.parse_args()
    print(
        write_batch(
            arguments.folder, arguments.first, arguments.pages, arguments.links, arguments.of
        )
    )
