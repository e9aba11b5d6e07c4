"""Two captures of a URI each, and what the second one is."""

from tests.captures.archives import T1, T2, Record, sha1

SAME, OTHER = b"<p>the same", b"<p>another text"
URI = "http://a.example/"
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"


def revisit(timestamp: str, **fields: str) -> Record:
    return Record(URI, timestamp, b"", record_type="revisit", digest=sha1(SAME), fields=fields)


PAIRS = {
    "same": ("same", Record(URI, T1, SAME), Record(URI, T2, SAME)),
    "changed": ("changed", Record(URI, T1, SAME), Record(URI, T2, OTHER)),
    "revisit": ("same", Record(URI, T1, SAME), revisit(T2)),
    "revisit-of-another": ("changed", Record(URI, T1, OTHER), revisit(T2)),
    "not-modified": (
        "same",
        Record(URI, T1, SAME),
        revisit(T2, **{"WARC-Profile": NOT_MODIFIED, "WARC-Payload-Digest": ""}),
    ),
    "another-algorithm": (
        "unknown",
        Record(URI, T1, SAME),
        Record(URI, T2, SAME, fields={"WARC-Payload-Digest": f"md5:{'0' * 32}"}),
    ),
    "redirect": (
        "changed",
        Record(URI, T1, SAME),
        Record(URI, T2, b"", (b"HTTP/1.1 301 Gone", b"Location: /there")),
    ),
}
"""Two captures of one URI each, and what the second one is."""
