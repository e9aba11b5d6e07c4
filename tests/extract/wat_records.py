"""Generated WAT records, and archive files of them."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

from arclink.extract.extraction import extract_pointers
from arclink.extract.settings import ExtractSettings
from arclink.filter.index import index_archive
from arclink.filter.rules import Rules
from arclink.filter.selection import map_captures, reduce_captures
from arclink.reasons import Reason
from arclink.rows.file_ranges import FINDINGS
from tests.archives.made_archives import warc

Json = dict[str, Any]  # what a test makes up


DIGEST = "A" * 32


# As Common Crawl writes it: Block-Digest and Format in the envelope, attributes next to the
# address, repeated headers as a list.
COMMON_CRAWL: Json = {
    "Container": {
        "Filename": "CC-MAIN-1.warc.gz",
        "Compressed": True,
        "Offset": "1024",
        "Gzip-Metadata": {"Deflate-Length": "5952"},
    },
    "Envelope": {
        "Format": "WARC",
        "WARC-Header-Length": "647",
        "Actual-Content-Length": "24707",
        "Block-Digest": "sha1:U45OUWTVGO5ZPCXRAP5JJMF4OB4VXRQ5",
        "WARC-Header-Metadata": {
            "WARC-Type": "response",
            "WARC-Target-URI": "http://h.example/dir/page?q=ü",
            "WARC-Date": "2019-05-19T07:25:24Z",
            "WARC-Payload-Digest": f"sha1:{DIGEST}",
            "Content-Type": "application/http; msgtype=response",
        },
        "Payload-Metadata": {
            "Actual-Content-Type": "application/http; msgtype=response",
            "HTTP-Response-Metadata": {
                "Response-Message": {"Status": "200", "Version": "HTTP/1.1", "Reason": "OK"},
                "Headers": {
                    "Content-Type": "text/html; charset=ISO-8859-1",
                    "Set-Cookie": ["a=1", "b=2"],
                },
                "Entity-Length": "24390",
                "Entity-Digest": "sha1:" + "B" * 32,
                "HTML-Metadata": {
                    "Head": {
                        "Base": "http://h.example/base/",
                        "Metas": [
                            {"http-equiv": "Refresh", "content": "5; url=later.html"},
                            {"name": "viewport", "content": "x"},
                        ],
                        "Link": [
                            {
                                "path": "LINK@/href",
                                "url": "/style.css",
                                "rel": "StyleSheet",
                                "type": "text/css",
                            }
                        ],
                        "Scripts": [{"path": "SCRIPT@/src", "url": "a.js"}],
                    },
                    "Links": [
                        {
                            "path": "A@/href",
                            "url": "b.html",
                            "text": " Next\n page ",
                            "title": "t",
                            "target": "_blank",
                            "rel": "NoFollow",
                        },
                        {"path": "IMG@/src", "url": "i.png", "alt": "An image"},
                        {"path": "INPUT@/src", "url": "go.png"},
                        {"path": "FORM@/action", "url": "", "method": "post"},
                        {"path": "A@/href", "url": "javascript:x()"},
                        {"path": "STYLE/#text", "href": "/bg.png"},
                        {"path": "DIV@/data-href", "url": "d.html"},
                        {"path": "IMG@/srcset", "url": "s1.png 1x, s2.png 2x"},
                    ],
                },
            },
        },
    },
}


def changed(path: str, value: object) -> Json:
    """Return the record above with another value at a dotted path below the envelope."""
    copy: Json = json.loads(json.dumps(COMMON_CRAWL))
    *names, last = path.split("/")
    part = copy["Envelope"]
    for name in names:
        part = part[name]
    part[last] = value
    return copy


def wat_record(content: object) -> bytes:
    block = content if isinstance(content, bytes) else json.dumps(content).encode()
    return warc(
        "h.example",
        block,
        "Content-Type: application/json",
        record_type="metadata",
        date="2026-01-01T00:00:00Z",
    )


def write(folder: Path, *contents: object) -> Path:
    path = folder / "CC-MAIN-1.warc.wat.gz"
    path.write_bytes(b"".join(gzip.compress(wat_record(content)) for content in contents))
    return path


def extracted(
    path: Path, rules: Rules | None = None
) -> tuple[list[tuple[bytes, bytes]], Counter[Reason]]:
    """Take a file through index, filter and extract; return the rows and what was counted."""
    counts: Counter[Reason] = Counter()
    rows = list(index_archive(str(path), path.name, counts))
    shuffled: dict[bytes, list[bytes]] = {}
    for key, value in map_captures(rows, rules or Rules(), counts):
        shuffled.setdefault(key, []).append(value)
    pointers = [
        row
        for key in sorted(shuffled)
        for name, row in reduce_captures(key, iter(sorted(shuffled[key])), counts)
        if name == b"pointers"
    ]
    lines = [json.dumps(str(path)).encode() + b"\t" + pointer for pointer in pointers]
    found = extract_pointers(lines, ExtractSettings(), counts)
    return [row for row in found if row[0] != FINDINGS], counts
