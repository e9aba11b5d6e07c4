"""A seeded generator of realistic archives: WARC files, and their CDX.

Three crawls of the same URIs. Page size is log-normal around 40 KB with about 80 anchors: half of them a template that a
host's pages share, the rest links within the site and power-law links off it; a page is most often named by its title.
Of the later two mementos of a URI 40 %
equal the one before (half of these are revisit records); 10 % of captures are not 200, 20 % are not HTML.

    python -m benchmarks.corpus FOLDER --captures 30000
"""

import argparse
import base64
import hashlib
import math
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

FILE_BYTES = 64 << 20
CRAWLS = 3
WORDS = 4_000


@dataclass(frozen=True, slots=True)
class Captured:
    """One response or revisit to write."""

    uri: str
    timestamp: str
    status: int
    mime: str
    body: bytes
    is_revisit: bool


class Site:
    """One host: its URIs, its template, its words."""

    def __init__(self, number: int, uris: int, dice: random.Random) -> None:
        self.host = f"www.site{number:05d}.example"
        self.paths = [f"/{_slug(dice)}/{_slug(dice)}-{place}.html" for place in range(uris)]
        self.texts = [[_title(dice, dice.randint(1, 5)) for _ in range(4)] for _ in self.paths]
        self.images = [(f"/img/{_slug(dice)}.png", _title(dice, 2)) for _ in range(40)]
        self.template = [
            (f"/{_slug(dice)}/" if dice.random() < 0.7 else f"http://{self.host}/{_slug(dice)}.html", _title(dice, 2)) for _ in range(40)
        ]


def captures(count: int, seed: int = 1) -> Iterator[Captured]:
    """Yield captures in crawl order, the same for the same arguments.

    Args:
        count: About how many.
        seed: Chooses everything else.
    """
    dice = random.Random(seed)
    filler = " ".join(_words(dice)[min(int(dice.paretovariate(0.7)), WORDS - 1)] for _ in range(200_000)).encode()
    hosts = max(3, count // 100)
    sites = [Site(number, max(1, count // CRAWLS // hosts), dice) for number in range(hosts)]
    last: dict[str, tuple[int, str, bytes]] = {}
    for crawl in range(CRAWLS):
        for site in sites:
            for place, path in enumerate(site.paths):
                uri = f"http://{site.host}{path}"
                second = crawl * 2_592_000 + place * 7 + int(site.host[8:13]) % 5_000
                timestamp = _timestamp(second)
                if crawl and dice.random() < 0.4:
                    status, mime, body = last[uri]
                    yield Captured(uri, timestamp, status, mime, body, is_revisit=status == 200 and dice.random() < 0.5)
                    continue
                chance = dice.random()
                if chance < 0.1:
                    status, mime, body = 404, "text/html", _page(site, sites, filler, dice, size=2_000)
                elif chance < 0.3:
                    status, mime = 200, dice.choice(["image/jpeg", "image/png", "text/css"])
                    body = dice.randbytes(int(dice.lognormvariate(9.3, 0.8)))
                else:
                    size = int(dice.lognormvariate(math.log(38_000), 0.6))
                    status, mime, body = 200, "text/html", _page(site, sites, filler, dice, size)
                last[uri] = status, mime, body
                yield Captured(uri, timestamp, status, mime, body, is_revisit=False)


def _page(site: Site, sites: list[Site], filler: bytes, dice: random.Random, size: int) -> bytes:
    anchors = [f'<li><a href="{href}">{text}</a></li>' for href, text in site.template]
    for _ in range(min(400, int(dice.lognormvariate(math.log(32), 0.6)))):
        if dice.random() < 0.75:
            place = int(len(site.paths) * dice.random() ** 2)
            path = site.paths[place]
            shapes = (path, f"http://{site.host}{path}", "../" + path[1:], path[1:].partition("/")[2])
            anchors.append(f'<a href="{shapes[dice.choices(range(4), (60, 15, 10, 15))[0]]}">{_text(site, place, dice)}</a>')
        else:
            other = sites[min(int(dice.paretovariate(0.5)) - 1, len(sites) - 1)]
            place = min(int(dice.paretovariate(0.6)) - 1, len(other.paths) - 1)
            anchors.append(f'<a href="http://{other.host}{other.paths[place]}" rel="external">{_text(other, place, dice)}</a>')
    images = [f'<img src="{source}" alt="{words}">' for source, words in (*site.images[:4], *dice.choices(site.images, k=2))]
    pieces = anchors + images
    start = b'<!DOCTYPE html><html><head><meta charset="utf-8"><title>' + _title(dice, 4).encode() + b"</title>"
    start += b'<link rel="stylesheet" href="/style.css"><script src="/site.js"></script></head><body>'
    gap = max(20, (size - sum(map(len, pieces))) // (len(pieces) + 1))
    parts = [start]
    for piece in pieces:
        place = dice.randrange(len(filler) - gap)
        parts += [b"<p>", filler[place : place + gap].replace(b"<", b""), b"</p>", piece.encode()]
    parts.append(b"</body></html>")
    return b"\n".join(parts)


def _text(site: Site, place: int, dice: random.Random) -> str:
    """Return the words of a link to a page: most often its title."""
    return site.texts[place][0 if dice.random() < 0.7 else dice.randrange(4)]


def write_corpus(folder: Path, count: int, seed: int = 1) -> None:
    """Write ``corpus-00000.warc.gz`` …, and ``corpus.cdx`` sorted by SURT, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[str] = []
    number, file, path = -1, None, folder
    for capture in captures(count, seed):
        if file is None or file.tell() > FILE_BYTES:
            if file is not None:
                file.close()
            number += 1
            path = folder / f"corpus-{number:05d}.warc.gz"
            file = path.open("wb")
            _write(file, _warcinfo())
        offset = file.tell()
        digest = base64.b32encode(hashlib.sha1(capture.body).digest()).decode()
        length = _write(file, _record(capture, digest))
        surt = f"example,{capture.uri[11:].partition('.')[0]})" + capture.uri.partition(".example")[2].lower()
        mime = "warc/revisit" if capture.is_revisit else capture.mime
        rows.append(f"{surt} {capture.timestamp} {capture.uri} {mime} {capture.status} {digest} - - {length} {offset} {path.name}\n")
    if file is not None:
        file.close()
    (folder / "corpus.cdx").write_text(" CDX N b a m s k r M S V g\n" + "".join(sorted(rows)))


def _write(file: BinaryIO, record: bytes) -> int:
    packer = zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    member = packer.compress(record) + packer.flush()
    file.write(member)
    return len(member)


def _warcinfo() -> bytes:
    return b"WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Date: 2010-01-01T00:00:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n"


def _record(capture: Captured, digest: str) -> bytes:
    status = f"HTTP/1.1 {capture.status} {'OK' if capture.status == 200 else 'Not Found'}\r\n"
    body = b"" if capture.is_revisit else capture.body
    head = f"{status}Content-Type: {capture.mime}; charset=utf-8\r\nContent-Length: {len(capture.body)}\r\nServer: nginx\r\n\r\n".encode()
    time = capture.timestamp
    lines = [
        "WARC/1.0",
        f"WARC-Type: {'revisit' if capture.is_revisit else 'response'}",
        f"WARC-Target-URI: {capture.uri}",
        f"WARC-Date: {time[:4]}-{time[4:6]}-{time[6:8]}T{time[8:10]}:{time[10:12]}:{time[12:14]}Z",
        f"WARC-Payload-Digest: sha1:{digest}",
        f"WARC-Record-ID: <urn:uuid:{hashlib.md5((capture.uri + time).encode()).hexdigest()}>",
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(head) + len(body)}",
    ]
    if capture.is_revisit:
        lines.append("WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + head + body + b"\r\n\r\n"


def _timestamp(second: int) -> str:
    month, rest = divmod(second, 2_592_000)
    day, rest = divmod(rest, 86_400)
    return f"2010{month + 1:02d}{day + 1:02d}{rest // 3600:02d}{rest // 60 % 60:02d}{rest % 60:02d}"


_vocabulary: list[str] = []


def _words(dice: random.Random) -> list[str]:
    if not _vocabulary:
        letters = "etaoinshrdlucmfwyp"
        _vocabulary.extend("".join(dice.choices(letters, range(len(letters), 0, -1), k=dice.randint(2, 10))) for _ in range(WORDS))
    return _vocabulary


def _title(dice: random.Random, words: int) -> str:
    return " ".join(_words(dice)[min(int(dice.paretovariate(0.7)), WORDS - 1)].capitalize() for _ in range(words))


def _slug(dice: random.Random) -> str:
    return "-".join(dice.choices(_words(dice), k=2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--captures", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    write_corpus(arguments.folder, arguments.captures, arguments.seed)
