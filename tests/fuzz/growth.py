"""Searches for input whose cost grows faster than its size:
``python -m tests.fuzz.growth SECONDS [SEED]``.

Each input repeats a few pieces of one format. Its CPU time is measured at n, 2n and 4n; where four
times the size costs more than ten times as much, the input is measured again and then reported. The
cost of pages may grow with the square up to the limits of `arclink.extract.bounds`: they are
reported if 16 MB cost more than 10 seconds.
"""

import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from arclink.archives.payloads import undo_coding
from arclink.errors import ArclinkError
from arclink.extract.charsets import decode_html
from arclink.extract.feeds import links_of
from arclink.extract.html import parse_srcset
from arclink.rows.cdx import parse_row

SIZE: Final = 128 << 10
"""Bytes of the smallest of the three inputs."""

LEAST: Final = 0.25
"""CPU seconds of the largest input; below, its cost does not matter."""

MOST_GROWTH: Final = 10.0
"""Cost of the largest input, over that of the smallest, which has a quarter of its size."""

PAGES: Final = frozenset(["html", "feed"])
MOST_SECONDS: Final = 10.0
"""CPU seconds that a page of 16 MB may take."""


def _row(data: bytes) -> None:
    with suppress(ArclinkError):
        parse_row(data.replace(b"\n", b" "))


def _srcset(data: bytes) -> None:
    for _ in parse_srcset(data.decode("latin-1")):
        pass


TARGETS: Final[dict[str, tuple[str, Callable[[bytes], object]]]] = {
    "html": (
        "<a href=x> </a> <b> <i> </b> <p> <div> </div> <table> <td> <form> <svg> <select> <option> "
        "<template> <li> <ul> <h1> <button> <!-- --> <script> </script> <a' a=\" x=1 <base href=/> "
        "<img srcset='a,b' <body y=2> text &amp; &#0; <frameset> <math> <mi> <font size=1>",
        links_of,
    ),
    "srcset": ("a.png , 1x 2w ( ) \t ,, ,a ( , x)", _srcset),
    "feed": (
        "<rss> <channel> <item> </item> <link>x</link> <title>t</title> <link> xmlns:a='b' <a:b "
        "xml:base='c'> & &nbsp; <![CDATA[ ]]> <description>&lt;a href=x> </description> <!-- -->",
        lambda data: links_of(b"<rss>" + data),
    ),
    "charset": (
        '<meta charset=x> <meta http-equiv=content-type content="text/html;charset=gbk"> \xe4 \xff '
        "\x1b$B \x00 <!-- --> <script> é x",
        lambda data: decode_html(data, None),
    ),
    "cdx": ('com,a)/ 20200101000000 http://a.com/ { } " : , - \\ %41 %', _row),
    "coding": (
        "\x1f\x8b\x08\x00 \x00 x \xff \x03",
        lambda data: undo_coding(data, "gzip", 16 << 20),
    ),
}
"""By name: the pieces, parted by blanks, and what reads a document of them."""


def document(generator: random.Random, pieces: list[str], size: int) -> bytes:
    """Return a document: two or three parts, each a few pieces again and again."""
    parts = [
        "".join(generator.choices(pieces, k=generator.randrange(1, 5)))
        for _ in range(generator.randrange(1, 4))
    ]
    each = size // len(parts)
    return "".join(part * (each // len(part) + 1) for part in parts).encode("latin-1", "ignore")


def growth(name: str, seed: int, size: int = SIZE) -> tuple[float, float]:
    """Return the CPU seconds of the largest of three inputs, and that over the smallest's."""
    pieces = TARGETS[name][0].split(" ")
    costs = []
    for factor in (1, 2, 4):
        data = document(random.Random(f"{name} {seed}"), pieces, factor * size)
        begun = time.process_time()
        TARGETS[name][1](data)
        costs.append(time.process_time() - begun)
    return costs[2], costs[2] / max(costs[0], 1e-4)


def is_too_steep(name: str, seed: int) -> bool:
    """Return whether the cost grows too fast, in each of two measurements."""
    for _ in range(2):
        cost, ratio = growth(name, seed)
        if cost < LEAST or ratio < MOST_GROWTH:
            return False
    return name not in PAGES or _cost_of_page(name, seed) > MOST_SECONDS


def _cost_of_page(name: str, seed: int) -> float:
    pieces = TARGETS[name][0].split(" ")
    data = document(random.Random(f"{name} {seed}"), pieces, 16 << 20)[: 16 << 20]
    begun = time.process_time()
    TARGETS[name][1](data)
    return time.process_time() - begun


def main(seconds: float, seed: int) -> int:
    """Search for so many seconds; print what grows too fast and return the number of such inputs."""
    found, tried, end = 0, 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for name in TARGETS:
            tried += 1
            if is_too_steep(name, seed):
                found += 1
                start = document(random.Random(f"{name} {seed}"), TARGETS[name][0].split(" "), 200)
                print(name, "seed", seed, growth(name, seed), start[:200])
        seed += 1
    print(f"{tried} inputs, {found} whose cost grows too fast; the next seed is {seed}")
    return found


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int((*sys.argv, "0")[2])) > 0)
