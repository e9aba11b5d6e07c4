"""Damages copies of a store at random places, and sends every query to each copy.

    python -m tests.store.damage --number 1000 [--seed 1]

The program prints how often an error named the damage, the damage was outside of the answers, an
answer was wrong, or another exception was raised.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from arclink.errors import StoreError
from arclink.model import ContentId, Kind, Memento, Outlink, Payload, Scope, Surt, UriR
from arclink.store.protocols import GraphStore
from arclink.store.sqlite.schema import PAGE_BYTES, connect
from arclink.store.sqlite.store import SqliteStore
from arclink.uris.resolution import content_id
from tests.store.contract import FILES, SETTINGS
from tests.store.graphs import checksum_of, memento, write_batch

BATCHES, PAGES, LINKS = 6, 60, 12


def make_store(path: Path, batches: int = BATCHES) -> None:
    """Make a store of some 250 KB: batches of pages with links to each other, of which some runs
    are merged.
    """
    dice = random.Random(1)
    uris = [UriR(f"http://site{dice.randrange(9)}.example/{n}/{dice.random()}") for n in range(400)]
    with SqliteStore(path, create=True) as store:
        for batch in range(batches):
            mementos, payloads, contents = [], [], {}
            for page in range(PAGES):
                uri, checksum = dice.choice(uris), checksum_of(f"p{batch}.{page}")
                links = [
                    Outlink(dice.choice(uris), Kind("a@href"), f"text {dice.random()}", None)
                    for _ in range(LINKS)
                ]
                scope = dice.choice([Scope.NONE, Scope.DIRECTORY])
                counts = (("LINK_KEPT", LINKS),)
                payloads.append(
                    Payload(checksum, scope, "utf-8", "a.warc.gz", page, "PAYLOAD_READ", counts)
                )
                contents[content_id(checksum, uri, scope)] = (uri, links)
                for year in range(2001, 2001 + dice.randrange(1, 9)):
                    mementos.append(memento(uri, f"{year}0101000000", checksum))
            folder = path.parent / f"{path.name}.{batch}"
            write_batch(folder, mementos, payloads, contents)
            manifest = f'{{"batch": {batch}, "text": "{dice.randbytes(3000).hex()}"}}'
            store.load(folder, FILES, {**SETTINGS}, manifest)


Question = tuple[str, Callable[[GraphStore], object]]


def questions(store: GraphStore) -> list[Question]:
    """Return the questions that a whole store has answers to, each with a name."""
    asked: list[Question] = [
        ("batches", lambda store: list(store.batches())),
        ("files", lambda store: list(store.files())),
        ("setting", lambda store: store.setting("rules")),
        ("forgotten", lambda store: list(store.forgotten())),
        ("last batch", lambda store: store.last_batch()),
        ("state", lambda store: store.state()),
        ("sums", lambda store: replace(store.sums(), bytes=0)),
        ("contents", lambda store: [str(block) for block in store.scan_contents()]),
        ("mementos", lambda store: list(store.scan_mementos())),
        ("surts", lambda store: list(store.surts(Surt("")))),
    ]
    for surt in list(store.surts(Surt("")))[::9]:
        asked.append((f"mementos of {surt}", _mementos(surt)))
        asked.append((f"inlinks of {surt}", _inlinks(surt)))
        for one in store.mementos(surt):
            content = store.content_of(one)
            asked.append((f"content of {one}", _content(one)))
            asked.append((f"payload of {one}", _payload(one)))
            if content is not None:
                asked.append((f"outlinks of {content}", _outlinks(content)))
                asked.append((f"sightings of {content}", _sightings(content)))
    return asked


def _mementos(surt: Surt) -> Callable[[GraphStore], object]:
    return lambda store: list(store.mementos(surt))


def _inlinks(surt: Surt) -> Callable[[GraphStore], object]:
    return lambda store: list(store.inlinks(surt))


def _content(one: Memento) -> Callable[[GraphStore], object]:
    return lambda store: store.content_of(one)


def _payload(one: Memento) -> Callable[[GraphStore], object]:
    return lambda store: store.payload(one.checksum)


def _outlinks(content: ContentId) -> Callable[[GraphStore], object]:
    return lambda store: list(store.outlinks(content))


def _sightings(content: ContentId) -> Callable[[GraphStore], object]:
    return lambda store: list(store.sightings(content))


class Outcome(NamedTuple):
    """The outcome of all queries to a damaged store.

    Attributes:
        is_named: Whether an error named the damage.
        faults: Wrong answers and exceptions that are no `StoreError`, each in a line.
    """

    is_named: bool
    faults: list[str]


def ask_all(path: Path, asked: list[Question], right: list[object]) -> Outcome:
    """Ask a damaged store all questions, each for itself: an error must not hide what another
    question finds.
    """
    is_named, faults = False, []
    try:
        store = SqliteStore(path)
    except StoreError:
        return Outcome(True, [])
    except Exception as error:
        return Outcome(False, [f"opening: {type(error).__name__}: {error}"])
    with store:
        for (name, question), answer in zip(asked, right, strict=True):
            try:
                if question(store) != answer:
                    faults.append(f"{name}: a wrong answer")
            except StoreError:
                is_named = True
            except Exception as error:
                faults.append(f"{name}: {type(error).__name__}: {error}")
    return Outcome(is_named, faults)


Damage = Callable[[random.Random, bytearray], None]
"""Damages the bytes of a file."""


def flip_bits(dice: random.Random, data: bytearray) -> None:
    """Flip one to five bits anywhere."""
    for _ in range(dice.randrange(1, 6)):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def put_bytes(dice: random.Random, data: bytearray) -> None:
    """Put other bytes in the place of up to 50."""
    size = dice.randrange(1, 51)
    begin = dice.randrange(len(data) - size)
    data[begin : begin + size] = dice.randbytes(size)


def cut(dice: random.Random, data: bytearray) -> None:
    """Cut the file anywhere."""
    del data[dice.randrange(len(data)) :]


def cut_pages(dice: random.Random, data: bytearray) -> None:
    """Cut the file where a page ends."""
    del data[dice.randrange(len(data) // PAGE_BYTES) * PAGE_BYTES :]


SEEN_WHEN_READ: list[Damage] = [flip_bits, put_bytes, cut, cut_pages]


def swap_pages(dice: random.Random, data: bytearray) -> None:
    """Let two pages change places."""
    one, other = dice.sample(range(1, len(data) // PAGE_BYTES), 2)
    pages = (
        slice(one * PAGE_BYTES, (one + 1) * PAGE_BYTES),
        slice(other * PAGE_BYTES, (other + 1) * PAGE_BYTES),
    )
    data[pages[0]], data[pages[1]] = data[pages[1]], data[pages[0]]


def empty_page(dice: random.Random, data: bytearray) -> None:
    """Lose a page: zeros are read in its place."""
    begin = dice.randrange(len(data) // PAGE_BYTES) * PAGE_BYTES
    data[begin : begin + PAGE_BYTES] = bytes(PAGE_BYTES)


SEEN_BY_VERIFY: list[Damage] = [swap_pages, empty_page]


def damaged_copies(
    path: Path, damages: list[Damage], number: int, seed: int
) -> Iterator[tuple[Path, str]]:
    """Yield copies of a file, each damaged in one way; the copy is removed when the next is asked
    for.
    """
    whole = path.read_bytes()
    for count in range(number):
        damage = damages[count % len(damages)]
        data = bytearray(whole)
        damage(random.Random(f"{seed}.{count}"), data)
        if data == whole:
            continue
        copy = path.with_name("damaged.db")
        for log in path.parent.glob("damaged.db*"):
            log.unlink()
        copy.write_bytes(data)
        yield copy, f"{damage.__name__} {seed}.{count}"


def settled(path: Path) -> None:
    """Have all of a store in its file."""
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def main() -> None:
    """Damage, ask, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "links.db"
        make_store(path)
        settled(path)
        with SqliteStore(path) as store:
            asked = questions(store)
            right = [question(store) for _, question in asked]
        tally: Counter[str] = Counter()
        for copy, name in damaged_copies(path, SEEN_WHEN_READ, options.number, options.seed):
            outcome = ask_all(copy, asked, right)
            tally["copies"] += 1
            tally["named by an error"] += outcome.is_named
            tally["outside of the answers"] += not outcome.is_named and not outcome.faults
            tally["wrong answer"] += any("wrong answer" in fault for fault in outcome.faults)
            tally["other exception"] += any("wrong" not in fault for fault in outcome.faults)
            for fault in outcome.faults[:1]:
                print(f"{name}: {fault[:200]}")
        print(f"{path.stat().st_size} bytes, {len(asked)} questions a copy: {dict(tally)}")


if __name__ == "__main__":
    main()
