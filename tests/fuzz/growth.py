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
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import brotli  # type: ignore[import-untyped]  # it has no types
import orjson
import zstandard

from arclink.archives.payloads import undo_coding
from arclink.archives.records import NO_HEADERS, ArchiveRecord
from arclink.archives.wat import describe
from arclink.errors import ArclinkError
from arclink.extract.charsets import decode_html
from arclink.extract.feeds import links_of
from arclink.extract.header_links import wat_links
from arclink.extract.html import Limits, parse_srcset
from arclink.model import UriR
from arclink.rows.cdx import parse_row

SIZE: Final = 128 << 10
"""Bytes of the smallest of the three inputs."""

LEAST: Final = 0.25
"""CPU seconds of the largest input; below, its cost does not matter."""

MOST_GROWTH: Final = 10.0
"""Cost of the largest input, divided by that of the smallest, which has 25 % of its size."""

PAGES: Final = frozenset(["html", "css", "feed"])
LARGEST: Final = 16 << 20
"""Bytes of the largest page that is read."""

MOST_SECONDS: Final = 10.0
"""CPU seconds that a page of this size may take."""

_TIMES: Final = LARGEST / (4 * SIZE)


_EMPTY_GZIP: Final = zlib.compress(b"", 1, 31).decode("latin-1")
_EMPTY_ZSTD: Final = "\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00\x99\xe9\xd8\x51"
_SKIPPED_ZSTD: Final = "\x50\x2a\x4d\x18\x00\x00\x00\x00"


def _row(data: bytes) -> None:
    with suppress(ArclinkError):
        parse_row(data.replace(b"\n", b" "))


def _srcset(data: bytes) -> None:
    for _ in parse_srcset(data.decode("latin-1")):
        pass


def _css(data: bytes) -> None:
    """Read a page with CSS in style attributes, in a ``style`` element, and around tags."""
    half = len(data) // 2
    value = data[:half].replace(b'"', b"'")
    links_of(b"<style>" + data[half:] + b'</style><p style="' + value + b'">' + data)


def _wat(data: bytes) -> None:
    """Read a WAT record with the data as the list of its links, and one with it as their words."""
    words = data.decode("latin-1")
    link = {"path": "A@/href", "url": words, "text": words, "rel": words}
    head = {"Head": {"Base": words, "Metas": [{"http-equiv": "refresh", "content": words}]}}
    _wat_record(b'{"Links":[' + data.rstrip(b",") + b"]}")
    _wat_record(orjson.dumps({**head, "Links": [link]}))


def _wat_record(html: bytes) -> None:
    start = (
        b'{"Envelope":{"WARC-Header-Metadata":{"WARC-Type":"response",'
        b'"WARC-Target-URI":"http://a.example/","WARC-Date":"2019-05-19T07:25:24Z"},'
        b'"Payload-Metadata":{"HTTP-Response-Metadata":{"HTML-Metadata":'
    )
    body = start + html + b"}}}}"
    fields = {"content-type": "application/json"}
    record = ArchiveRecord(
        "metadata", UriR("a"), "-", NO_HEADERS, fields, 0, len(body), body, len(body)
    )
    with suppress(ArclinkError):
        wat_links(describe(record), Limits())


def _undo(coding: str, compress: Callable[[bytes], bytes]) -> Callable[[bytes], None]:
    """Return a function that undoes the coding of the data as it is, and of the data coded."""

    def undo(data: bytes) -> None:
        undo_coding(data, coding, 16 << 20)
        undo_coding(compress(data), coding, 16 << 20)

    return undo


TARGETS: Final[dict[str, tuple[str, Callable[[bytes], object]]]] = {
    "html": (
        "<a href=x> </a> <b> <i> </b> <p> <div> </div> <table> <td> <form> <svg> <select> <option> "
        "<template> <li> <ul> <h1> <button> <!-- --> <script> </script> <a' a=\" x=1 <base href=/> "
        "<img srcset='a,b' <body y=2> text &amp; &#0; <frameset> <math> <mi> <font size=1>",
        links_of,
    ),
    "css": (
        "url( ) url('x') url(\\22x) @import @media{ { } ; : , /* */ \\ \\0 ' \" a:b; --x:( [ ] ! "
        "expression( <p/style='a:url(b)'> <b style='x'> </style> <style> &quot; !important",
        _css,
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
    "wat": (
        '{"path":"A@/href","url":"b","text":"x"}, {"path":"IMG@/srcset","url":"a,b"}, {} , [ ] { } '
        '"path":"A@/href" "url":"x", "text":" \\u0000 \\u00e4 " {"path":"FORM@/action"}, null, 1,',
        _wat,
    ),
    "gzip": (
        f"\x1f\x8b\x08\x00 \x00 x \xff \x03 {_EMPTY_GZIP}",
        _undo("gzip", lambda data: zlib.compress(data, 1, 31)),
    ),
    "deflate": (
        "\x78\x9c \x78\x01 \x00\x00\x00\xff\xff \x03\x00 \x00 x \xff",
        _undo("deflate", lambda data: zlib.compress(data, 1)),
    ),
    "br": (
        "\x06 \x0b\x00\x80 \x03 \x3b \x00 x \xff \x0c \x81",
        _undo("br", lambda data: brotli.compress(data, quality=1)),
    ),
    "zstd": (
        f"\x28\xb5\x2f\xfd \x00 x \xff \x01\x00\x00 {_EMPTY_ZSTD} {_SKIPPED_ZSTD}",
        _undo("zstd", zstandard.ZstdCompressor(level=1).compress),
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
    """Return whether an input costs too much: a page as such, others by their growth.

    Growth has to be too steep in each of two measurements.
    """
    if name in PAGES:
        cost, ratio = growth(name, seed)
        may_be = cost * _TIMES > MOST_SECONDS or (cost >= LEAST and ratio >= MOST_GROWTH)
        return may_be and _cost_of_page(name, seed) > MOST_SECONDS
    for _ in range(2):
        cost, ratio = growth(name, seed)
        if cost < LEAST or ratio < MOST_GROWTH:
            return False
    return True


def _cost_of_page(name: str, seed: int) -> float:
    pieces = TARGETS[name][0].split(" ")
    data = document(random.Random(f"{name} {seed}"), pieces, LARGEST)[:LARGEST]
    begun = time.process_time()
    TARGETS[name][1](data)
    return time.process_time() - begun


def main(seconds: float, seed: int) -> int:
    """Search for a number of seconds; print inputs that grow too fast, and return their number."""
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
