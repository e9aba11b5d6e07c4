"""Generated CDX lines and filter rules."""

import json

from hypothesis import strategies as st

from arclink.filter.rules import DEFAULT_RULES, Rules
from arclink.rows.cdx import format_row, parse_row
from arclink.uris.surts import surt_of

ONE, TWO, THREE = ("A" * 31 + last for last in "ABC")


EMPTY = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


FAR = "http://far.example/"


REFUSED = "http://h:99999999/"


def row(
    original: str = "http://example.org/",
    timestamp: str = "20140103030321",
    checksum: str = ONE,
    mime: str = "text/html",
    status: str = "200",
    file: str = "a.warc.gz",
    offset: int = 5,
) -> bytes:
    return (
        f"{surt_of(original)} {timestamp} {original} {mime} {status} {checksum} - - 100 "
        f"{offset} {file}\n"
    ).encode()


def revisit(
    original: str = "http://example.org/",
    timestamp: str = "20140103030322",
    checksum: str = ONE,
    file: str = "a.warc.gz",
) -> bytes:
    return row(original, timestamp, checksum, "warc/revisit", "-", file, 900)


def answer(
    original: str = "http://example.org/",
    timestamp: str = "20140103030321",
    checksum: str = ONE,
    method: str = "POST",
    status: str = "200",
) -> bytes:
    """Return a row as pywb writes it of an answer to a method."""
    key = surt_of(f"{original}{'&' if '?' in original else '?'}__wb_method={method}&a=1")
    fields = {
        "url": original,
        "mime": "text/html",
        "status": status,
        "digest": checksum,
        "length": "100",
        "offset": "7",
        "filename": "a.warc.gz",
        "method": method,
    }
    return f"{key} {timestamp} {json.dumps(fields)}\n".encode()


originals = st.sampled_from(
    [
        "http://example.org/",
        "http://www.example.org/",
        "http://example.org/a.gif",
        "http://example.org/b?x=1",
        FAR,
        REFUSED,
    ]
)


lines = st.one_of(
    st.builds(
        row,
        originals,
        st.sampled_from(["20140103030321", "20140103030322", "20150101000000", "2014"]),
        st.sampled_from([ONE, ONE, TWO, THREE, "-", EMPTY]),
        st.sampled_from(
            ["text/html", "text/html", "image/gif", "warc/revisit", "warc/request", "unk"]
        ),
        st.sampled_from(["200", "200", "404", "302", "-"]),
        st.sampled_from(["a.warc.gz", "b.warc.gz", "c.warc.gz", "d.warc.gz"]),
        st.integers(0, 12),
    ),
    st.builds(
        answer,
        originals,
        st.sampled_from(["20140103030321", "20150101000000"]),
        st.sampled_from([ONE, TWO, "-", EMPTY]),
        st.sampled_from(["POST", "HEAD", "OPTIONS", "GET"]),
        st.sampled_from(["200", "404", "302"]),
    ),
    st.sampled_from(
        [
            b" CDX N b a m s k r M S V g\n",
            b"x\n",
            format_row(parse_row(row())),
            format_row(parse_row(revisit())),
        ]
    ),
)


rule_sets = st.sampled_from(
    [
        DEFAULT_RULES,
        Rules(read_redirects=False),
        Rules(mimes=("image/*",)),
        Rules(prefixes=("org,example)",)),
        Rules(checksum=False),
        Rules(methods=("GET", "POST")),
        Rules(methods=()),
    ]
)
