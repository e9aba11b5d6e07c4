"""The least work possible: FastWARC and lexbor list ``a@href`` with text, and nothing is stored.

One process reads each distinct payload once.

    python -m benchmarks.peers.floor FILE...
"""

import sys
from collections.abc import Sequence

from fastwarc.warc import ArchiveIterator, WarcRecordType
from selectolax.lexbor import LexborHTMLParser


def run(paths: Sequence[str]) -> tuple[int, int, int]:
    """Return (pages, links, answers).

    Of distinct HTML answers with status 200, and how many these are with repeats.
    """
    pages = links = answers = 0
    seen: set[str] = set()
    for path in paths:
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, record_types=WarcRecordType.response):
                http = record.http_headers
                if http is None:  # as of a dns record, whatever its types say
                    continue
                if http.status_code != 200 or not str(record.http_content_type).startswith(
                    "text/html"
                ):
                    continue
                answers += 1
                digest = record.headers.get("WARC-Payload-Digest") or ""
                if digest and digest in seen:
                    continue
                seen.add(digest)
                pages += 1
                for anchor in LexborHTMLParser(record.reader.read()).css("a[href]"):
                    if anchor.attributes["href"] is not None and anchor.text() is not None:
                        links += 1
    return pages, links, answers


if __name__ == "__main__":
    print(*run(sys.argv[1:]))
