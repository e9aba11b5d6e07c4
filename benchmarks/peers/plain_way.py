"""Links of archive files as a first script would read them, without optimisations.

It uses warcio, BeautifulSoup, urljoin, surt and SimHash for every link.

    python -m benchmarks.peers.plain_way PAGES FILE...
"""

import hashlib
import sys
from collections.abc import Sequence
from urllib.parse import urljoin

from bs4 import BeautifulSoup
from simhash import Simhash  # type: ignore[import-untyped]
from surt import surt  # type: ignore[import-untyped]
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]


def run(paths: Sequence[str], most: int) -> tuple[int, int]:
    """Return (pages, links) of the first ``most`` HTML answers with status 200."""
    pages = links = 0
    for path in paths:
        with open(path, "rb") as file:
            for record in ArchiveIterator(file):
                http = record.http_headers
                if record.rec_type != "response" or http is None or http.get_statuscode() != "200":
                    continue
                if not (http.get_header("Content-Type") or "").startswith("text/html"):
                    continue
                page = record.rec_headers.get_header("WARC-Target-URI")
                for anchor in BeautifulSoup(record.content_stream().read(), "html.parser").find_all(
                    "a", href=True
                ):
                    key = surt(urljoin(page, str(anchor["href"])))
                    grams = [key[at : at + 4] for at in range(max(1, len(key) - 3))]
                    Simhash(grams, f=128, hashfunc=lambda data: hashlib.md5(data).digest())
                    anchor.get_text(" ", strip=True)
                    links += 1
                pages += 1
                if pages == most:
                    return pages, links
    return pages, links


if __name__ == "__main__":
    print(*run(sys.argv[2:], int(sys.argv[1])))
