"""Gzip members of every kind, by name, for generated archive files."""

import gzip
import random
from collections.abc import Callable

from tests.archives.made_archives import gzipped, http, page, warc

Makers = dict[str, Callable[[int], bytes]]


def digested(number: int, body: bytes) -> bytes:
    """Return a record whose body need not be decompressed."""
    return warc(
        f"http://h/{number}",
        http(body, "Content-Type: text/html"),
        f"WARC-Payload-Digest: sha1:{number:032d}",
    )


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


NESTED = gzipped([page(number) for number in range(100, 112)])
"""An archive file that is stored in a record; its compressed bytes are in the file unchanged."""

MEMBERS: Makers = {
    "page": lambda n: gzip.compress(page(n, 40 + n * 97 % 900), mtime=0),
    "digest": lambda n: gzip.compress(digested(n, noise(n, n * 31 % 500)), mtime=0),
    "nested archive": lambda n: gzip.compress(digested(n, NESTED), 0, mtime=0),
    "nested without digest": lambda n: gzip.compress(warc(f"http://h/{n}", http(NESTED)), 0),
    "request": lambda n: gzip.compress(warc("http://h/", b"GET /", record_type="request")),
    "undated": lambda n: gzip.compress(warc(f"http://h/{n}", http(b"x"), date="soon")),
    "two records": lambda n: gzip.compress(page(n) + page(n + 50)),
    "no record": lambda n: gzip.compress(b"Hello %d" % n),
    "empty member": lambda n: gzip.compress(b""),
    "padding": lambda n: bytes(n % 40),
    "bytes between members": lambda n: noise(n, 30),
    "cut": lambda n: gzip.compress(digested(n, noise(n, 400)))[: 50 + n * 13 % 400],
    "damaged": lambda n: _damaged(gzip.compress(page(n, 600)), n),
}
"""Makers of members, which differ by their number."""


def _damaged(member: bytes, number: int) -> bytes:
    position = 10 + number * 37 % (len(member) - 18)
    return member[:position] + bytes([member[position] ^ 0x55]) + member[position + 1 :]


PAGES = [digested(number, noise(number, 2_000)) for number in range(40)]
