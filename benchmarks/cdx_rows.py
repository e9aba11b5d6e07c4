"""Generated CDX rows with the shares of an archive, for filter, which never opens archive files.

Each URI has three captures; rows are sorted by SURT and time. 40 % of the captures equal the one
before (half of these are revisits), 1 in 12 is a 404, 1 in 20 is a redirect, and 1 in 5 is not HTML
by its mime type or extension. A few rows have no status, no checksum, the checksum of an empty
payload, or the checksum of a page that many URIs share.

    python -m benchmarks.cdx_rows FILE --rows 1000000
"""

import argparse
import base64
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import HEADER

EMPTY = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
EXTENSIONS = ("html",) * 14 + ("", "php", "jpg", "PNG", "css", "pdf")
MIMES = {"jpg": "image/jpeg", "PNG": "image/png", "css": "text/css", "pdf": "application/pdf"}
HTML_MIMES = ("text/html",) * 16 + ("application/xhtml+xml", "unk", "TEXT/HTML", "text/plain")
STATUSES = (
    ("200",) * 82 + ("404",) * 8 + ("301",) * 3 + ("302",) * 2 + ("500",) * 2 + ("304", "-", "-")
)
URIS_PER_HOST = 100


def rows(count: int, seed: int = 1) -> Iterator[str]:
    """Yield rows without newline, sorted by bytes."""
    dice = random.Random(seed)
    shared = [_checksum(dice) for _ in range(200)]
    for number in range((count + 2) // 3):
        host = f"host{number // URIS_PER_HOST:06d}"
        extension = dice.choice(EXTENSIONS)
        path = f"/{number % URIS_PER_HOST:02d}/page{'.' if extension else '/'}{extension}" + (
            "?id=1.css" if dice.random() < 0.05 else ""
        )
        clock = f"{number // 3600 % 24:02d}{number // 60 % 60:02d}{number % 60:02d}"
        checksum, status, mime = "", "", ""
        for capture in range(min(3, count - 3 * number)):
            is_equal = capture > 0 and dice.random() < 0.6
            if not is_equal:
                status = dice.choice(STATUSES)
                mime = MIMES.get(extension, "") if status == "200" else ""
                mime = mime or dice.choice(HTML_MIMES)
                chance = dice.random()
                checksum = (
                    "-"
                    if chance < 0.005
                    else EMPTY
                    if chance < 0.01
                    else dice.choice(shared)
                    if chance < 0.03
                    else _checksum(dice)
                )
            is_revisit = is_equal and dice.random() < 0.5
            yield (
                f"example,{host}){path.lower()} 20{10 + capture}0101{clock} "
                f"http://www.{host}.example{path} {'warc/revisit' if is_revisit else mime} "
                f"{'-' if is_revisit and dice.random() < 0.3 else status} {checksum} - - "
                f"{1_000 + number % 9_000} {number * 3_000} "
                f"crawl-{capture}-{number // 50_000:05d}.warc.gz"
            )


def _checksum(dice: random.Random) -> str:
    return base64.b32encode(dice.randbytes(20)).decode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    partial = arguments.file.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        file.writelines(row + "\n" for row in rows(arguments.rows))
    partial.rename(arguments.file)
