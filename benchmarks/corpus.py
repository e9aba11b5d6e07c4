"""A generator of realistic archives: WARC files with their CDX; one seed gives one archive.

An archive has three crawls of the same URIs, with about 33 URIs per host. Page sizes are log-normal
around 40 KB. A page has about 80 anchors: half of them are in a template that the pages of a host
share; the others are links within the host, and power-law links to other hosts, half of them to
pages that were never captured. 40 % of all mementos equal the one before of their URI, and half of
these are revisit records. 10 % do not have status 200 (missing or moved), and 20 % are not HTML.

Every page follows from the seed and its host, URI and version, not from pages that were made
before. So files can be made in parallel, and a fourth crawl can be made later.

    python -m benchmarks.corpus FOLDER --captures 30000
    python -m benchmarks.corpus FOLDER --captures 30000 --addition    # 1 % more captures
"""

import argparse
import base64
import hashlib
import math
import os
import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

CRAWLS = (1, 2, 3)
CDX = "corpus.cdx"
HEADER = " CDX N b a m s k r M S V g\n"

URIS_PER_HOST = 33
HOSTS_PER_FILE = 160
"""Some 5,000 captures, 60 MB."""

LEVEL = 3
"""Of deflate: half the time of the usual 6, files 8 % larger, inflated as fast."""

EQUAL = 0.6
"""Of the second and third mementos: two in three of all, so that 40 % of all are equal to the one
before.
"""

OF_TITLE = 0.62
"""Of the links to known pages: so that 25 % of all links have a (target, text) of their own,
as in real crawls.
"""

RESOURCES = {
    "jpg": "image/jpeg",
    "png": "image/png",
    "pdf": "application/pdf",
    "css": "text/css",
    "js": "application/javascript",
}
NAMES_OF_STATUS = {200: "OK", 301: "Moved Permanently", 302: "Found", 404: "Not Found"}
WARCINFO = (
    b"WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: "
    b"<urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"
    b"WARC-Date: 2010-01-01T00:00:00Z\r\nContent-Type: application/warc-fields\r\n"
    b"Content-Length: 18\r\n\r\nformat: WARC 1.0\r\n\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Payload:
    """What a server answered."""

    status: int
    mime: str
    body: bytes
    location: str = ""


@dataclass(frozen=True, slots=True)
class Captured:
    """One record to write; ``crawl`` counts from 1."""

    crawl: int
    uri: str
    timestamp: str
    payload: Payload
    is_revisit: bool


class Host:
    """One host: its URIs, the template its pages share, the titles that links to them use."""

    def __init__(self, world: "World", number: int, uris: int) -> None:
        dice = random.Random(f"{world.seed} host {number}")
        self.name = f"www.site{number:05d}.example"
        self.number = number
        sections = [world.slug(dice) for _ in range(1 + uris // 6)]
        self.sections = [dice.choice(sections) for _ in range(uris)]
        self.is_page = [index == 0 or dice.random() < 0.8 for index in range(uris)]
        extensions = [
            "html" if is_page else dice.choice(list(RESOURCES)) for is_page in self.is_page
        ]
        self.files = [
            f"{world.slug(dice)}-{index}.{extension}" for index, extension in enumerate(extensions)
        ]
        self.pages = [index for index, is_page in enumerate(self.is_page) if is_page]
        self.titles = [
            [world.title(dice, dice.randint(1, 5)) for _ in range(4)] for _ in range(uris)
        ]
        self.template = self._template(world, dice)
        images = [
            path for path in map(self.path, range(uris)) if path.endswith(("jpg", "png"))
        ] or ["/logo.png"]
        self.images = [f'<img src="{path}" alt="{world.title(dice, 2)}">' for path in images]

    def path(self, index: int) -> str:
        """Return the path of one URI."""
        return f"/{self.sections[index]}/{self.files[index]}"

    def uri(self, index: int) -> str:
        """Return one URI."""
        return f"http://{self.name}{self.path(index)}"

    def _template(self, world: "World", dice: random.Random) -> bytes:
        """Return 40 anchors: most to sections and pages of the host, as paths or absolute."""
        anchors = []
        for _ in range(40):
            path = (
                self.path(dice.choice(self.pages))
                if dice.random() < 0.3
                else f"/{world.slug(dice)}/"
            )
            anchors.append(
                f'<li><a href="{"" if dice.random() < 0.7 else "http://" + self.name}{path}">'
                f"{world.title(dice, 2)}</a></li>"
            )
        return "\n".join(anchors).encode()


class World:
    """Everything that captures of one corpus are made from.

    Args:
        captures: In three crawls, about: a multiple of three.
        seed: Chooses everything else.
    """

    def __init__(self, captures: int, seed: int) -> None:
        self.seed = seed
        self.uris = max(1, captures // len(CRAWLS))
        self.hosts = math.ceil(self.uris / URIS_PER_HOST)
        dice = random.Random(f"{seed} words")
        letters = "etaoinshrdlucmfwyp"
        self._words = [
            "".join(dice.choices(letters, range(len(letters), 0, -1), k=dice.randint(2, 10)))
            for _ in range(20_000)
        ]
        self._text = [self._word(dice) for _ in range(200_000)]
        self._filler = " ".join(self._text).encode()
        self.host = lru_cache(maxsize=2_000)(self._host)

    def _host(self, number: int) -> Host:
        return Host(self, number, min(URIS_PER_HOST, self.uris - number * URIS_PER_HOST))

    def _word(self, dice: random.Random) -> str:
        return self._words[_rank(len(self._words), dice)]

    def slug(self, dice: random.Random) -> str:
        """Return two words for a path."""
        return "-".join(dice.choices(self._words, k=2))

    def title(self, dice: random.Random, words: int) -> str:
        """Return words as a title has them; one in ten has an accent."""
        title = " ".join(self._word(dice).capitalize() for _ in range(words))
        return title.replace("e", "é", 1) if dice.random() < 0.1 else title

    def phrase(self, dice: random.Random) -> str:
        """Return 2 to 8 words of running text."""
        start = int(dice.random() * (len(self._text) - 8))
        return " ".join(self._text[start : start + 2 + int(dice.random() * 7)])

    def filler(self, dice: random.Random, size: int) -> bytes:
        """Return running text with this number of bytes, or fewer if the text is shorter."""
        start = int(dice.random() * max(1, len(self._filler) - size))
        return self._filler[start : start + size]

    def captures(self, hosts: Iterable[int], crawls: Sequence[int] = CRAWLS) -> Iterator[Captured]:
        """Yield the captures of some hosts, crawl by crawl for each URI."""
        for number in hosts:
            host = self.host(number)
            for index in range(len(host.files)):
                yield from self._captures_of(host, index, crawls)

    def _captures_of(self, host: Host, index: int, crawls: Sequence[int]) -> Iterator[Captured]:
        dice = random.Random(f"{self.seed} changes {host.number} {index}")
        made, payload = -1, Payload(0, "", b"")
        version = 0
        for crawl in range(1, max(crawls) + 1):
            is_equal = dice.random() < EQUAL and crawl > 1
            is_revisit = dice.random() < 0.5 and is_equal
            version += not is_equal
            if crawl in crawls:
                if made != version:
                    made, payload = version, self._payload(host, index, version)
                yield Captured(
                    crawl,
                    host.uri(index),
                    _timestamp(crawl, host.number * 37 + index),
                    payload,
                    is_revisit,
                )

    def _payload(self, host: Host, index: int, version: int) -> Payload:
        dice = random.Random(f"{self.seed} payload {host.number} {index} {version}")
        if not host.is_page[index]:
            mime = RESOURCES[host.files[index].rpartition(".")[2]]
            size = int(dice.lognormvariate(9.3, 0.8))
            return Payload(
                200,
                mime,
                self.filler(dice, size)
                if mime.endswith(("css", "javascript"))
                else dice.randbytes(size),
            )
        if dice.random() < 0.125:  # one in ten of all, since four in five are pages
            body = b"<html><body>" + host.template + self.filler(dice, 500) + b"</body></html>"
            if dice.random() < 0.6:
                return Payload(404, "text/html", body)
            return Payload(
                dice.choice((301, 302)), "text/html", body[-400:], host.uri(dice.choice(host.pages))
            )
        return Payload(200, "text/html", self._page(host, index, dice))

    def _page(self, host: Host, index: int, dice: random.Random) -> bytes:
        size = int(dice.lognormvariate(math.log(40_000), 0.6))
        links = min(400, int(dice.lognormvariate(math.log(39), 0.7)))
        pieces = [self._anchor(host, index, dice).encode() for _ in range(links)]
        pieces += [image.encode() for image in dice.choices(host.images, k=6)]
        start = (
            f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{self.title(dice, 4)}</title>'
            '<link rel="stylesheet" href="/style.css"><script '
            'src="/site.js"></script></head><body>\n<ul>\n'
        )
        parts = [start.encode(), host.template, b"\n</ul>\n"]
        gap = max(20, (size - len(host.template) - sum(map(len, pieces))) // len(pieces) - 8)
        for piece in pieces:
            parts += (b"<p>", self.filler(dice, gap), b"\n", piece, b"</p>\n")
        parts.append(b"</body></html>\n")
        return b"".join(parts)

    def _anchor(self, host: Host, index: int, dice: random.Random) -> str:
        """Return a link within the host, or one off it; power laws choose where to."""
        if dice.random() < 0.75:
            target = host.pages[int(len(host.pages) * dice.random() ** 2)]
            shape = dice.random()
            path = host.path(target)
            if shape > 0.85:
                href = f"http://{host.name}{path}"
            elif shape > 0.6:
                href = (
                    host.files[target]
                    if host.sections[target] == host.sections[index]
                    else f"..{path}"
                )
            else:
                href = path
            return f'<a href="{href}">{self._words_for(host, target, dice)}</a>'
        other = self.host(_rank(self.hosts, dice))
        if dice.random() < 0.5:
            path = f"/{self.slug(dice)}/{int(dice.random() * 1e6)}.html"
            return (
                f'<a href="http://{other.name}{path}" rel="external '
                f'nofollow">{self.phrase(dice)}</a>'
            )
        target = other.pages[_rank(len(other.pages), dice)]
        return (
            f'<a href="{other.uri(target)}" '
            f'rel="external">{self._words_for(other, target, dice)}</a>'
        )

    def _words_for(self, host: Host, index: int, dice: random.Random) -> str:
        """Return the words of a link.

        One of its page's titles, or words of the linking page's own.
        """
        return dice.choice(host.titles[index]) if dice.random() < OF_TITLE else self.phrase(dice)


def _rank(size: int, dice: random.Random) -> int:
    """Return an index below ``size``.

    The first is chosen most often, the k-th a k-th as often (Zipf).
    """
    return int((size + 1) ** dice.random()) - 1


def _timestamp(crawl: int, second: int) -> str:
    """Return a time in the month of a crawl; each month here has 28 days."""
    day, rest = divmod(second % (28 * 86_400), 86_400)
    return (
        f"{2009 + (crawl + 11) // 12}{(crawl - 1) % 12 + 1:02d}{day + 1:02d}"
        f"{rest // 3600:02d}{rest // 60 % 60:02d}{rest % 60:02d}"
    )


def write_corpus(
    folder: Path, captures: int, seed: int = 1, crawls: Sequence[int] = CRAWLS, share: float = 1.0
) -> None:
    """Write ``crawl-1-00000.warc.gz`` …, and ``corpus.cdx`` sorted by bytes, to a folder.

    Args:
        folder: Made if it is not there.
        captures: About how many in the first three crawls.
        seed: The same arguments give the same bytes.
        crawls: Which ones, from 1.
        share: Of the hosts, at least one; the first ones.
    """
    folder.mkdir(parents=True, exist_ok=True)
    hosts = max(1, round(math.ceil(max(1, captures // len(CRAWLS)) / URIS_PER_HOST) * share))
    edges = [*range(0, hosts, HOSTS_PER_FILE), hosts]
    tasks = [
        (folder, captures, seed, crawls, number, range(*edge))
        for number, edge in enumerate(pairwise(edges))
    ]
    with ProcessPoolExecutor(min(len(tasks), os.cpu_count() or 1)) as pool:
        rows = sorted(row for of_file in pool.map(_write_files, tasks) for row in of_file)
    partial = folder / f"{CDX}.partial"
    partial.write_text(HEADER + "".join(rows), encoding="utf-8")
    partial.rename(folder / CDX)  # last, and whole: a corpus with a CDX is complete


def _write_files(task: tuple[Path, int, int, Sequence[int], int, range]) -> list[str]:
    """Write one file per crawl for some hosts; return their CDX rows."""
    folder, count, seed, crawls, number, hosts = task
    paths = {crawl: folder / f"crawl-{crawl}-{number:05d}.warc.gz" for crawl in crawls}
    files = {crawl: path.open("wb") for crawl, path in paths.items()}
    rows = []
    for file in files.values():
        _write(file, WARCINFO)
    for capture in World(count, seed).captures(hosts, crawls):
        payload, file = capture.payload, files[capture.crawl]
        offset = file.tell()
        digest = digest_of(payload.body)
        length = _write(file, record_of(capture, digest))
        host, _, path = capture.uri.removeprefix("http://www.").partition(".example")
        mime = "warc/revisit" if capture.is_revisit else payload.mime
        rows.append(
            f"example,{host}){path} {capture.timestamp} {capture.uri} {mime} "
            f"{payload.status} {digest} - - "
            f"{length} {offset} {paths[capture.crawl].name}\n"
        )
    for file in files.values():
        file.close()
    return rows


def _write(file: BinaryIO, record: bytes) -> int:
    """Write a record as a gzip member of its own; return its bytes."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return file.write(packer.compress(record) + packer.flush())


def digest_of(body: bytes) -> str:
    """Return the digest of a payload as archives write it."""
    return base64.b32encode(hashlib.sha1(body).digest()).decode()


def record_of(capture: Captured, digest: str) -> bytes:
    """Return the WARC record of a capture with this digest."""
    payload, time = capture.payload, capture.timestamp
    http = [
        f"HTTP/1.1 {payload.status} {NAMES_OF_STATUS[payload.status]}",
        f"Content-Type: {payload.mime}"
        + ("; charset=utf-8" if payload.mime == "text/html" else ""),
        f"Content-Length: {len(payload.body)}",
        "Server: nginx",
        *([f"Location: {payload.location}"] if payload.location else []),
    ]
    block = "\r\n".join(http).encode() + b"\r\n\r\n" + (b"" if capture.is_revisit else payload.body)
    lines = [
        "WARC/1.0",
        f"WARC-Type: {'revisit' if capture.is_revisit else 'response'}",
        f"WARC-Target-URI: {capture.uri}",
        f"WARC-Date: {time[:4]}-{time[4:6]}-{time[6:8]}T{time[8:10]}:{time[10:12]}:{time[12:14]}Z",
        f"WARC-Payload-Digest: sha1:{digest}",
        f"WARC-Record-ID: <urn:uuid:{hashlib.md5((capture.uri + time).encode()).hexdigest()}>",
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(block)}",
        *(
            ["WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"]
            if capture.is_revisit
            else []
        ),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--captures", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--addition", action="store_true", help="a fourth crawl of 3 %% of the hosts instead"
    )
    arguments = parser.parse_args()
    if arguments.addition:
        write_corpus(arguments.folder, arguments.captures, arguments.seed, crawls=(4,), share=0.03)
    else:
        write_corpus(arguments.folder, arguments.captures, arguments.seed)
