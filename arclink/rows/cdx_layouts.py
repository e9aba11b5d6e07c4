"""Conversion of CDX lines: to the usual order of columns, and to other names of archive files.

A header line names the columns of the lines after it. Tasks read a CDX in pieces, and only one
piece would have the header. So lines in another order are rewritten before they are shared out.
"""

from collections.abc import Callable

import orjson

from arclink.rows.cdx import LAYOUTS, Layout, span_of_file

USUAL = LAYOUTS[11]

USUAL_HEADER = b" CDX " + " ".join(USUAL).encode()

_OTHER_LETTER = {"V": "v"}
"""In a file that is not compressed both offsets are equal; `parse_header` keeps one of them."""


def usual_row(line: bytes, layout: Layout) -> bytes:
    """Return a CDX row with its columns in the usual order of 11, without line end.

    Columns that ``layout`` does not have are ``-``. A line with another number of columns has no
    meaning. It is returned as one column, so that it is counted as malformed.

    >>> usual_row(b"http://h/ 2014 5 f.warc.gz text/html", ("a", "b", "V", "g", "m"))
    b'- 2014 http://h/ text/html - - - - - 5 f.warc.gz'
    """
    columns = line.split()
    if len(columns) != len(layout):
        return b",".join(columns)
    named = dict(zip(layout, columns, strict=True))
    return b" ".join(
        [named.get(letter) or named.get(_OTHER_LETTER.get(letter, ""), b"-") for letter in USUAL]
    )


def with_file(line: bytes, rename: Callable[[str], str]) -> bytes:
    """Return a CDX or CDXJ row with a new name for its archive file, without line end.

    A line that is not a row is returned unchanged.

    >>> with_file(b'org,h)/ 2014 {"filename": "f"}', "a/{}".format)
    b'org,h)/ 2014 {"filename":"a/f"}'
    """
    line = line.rstrip(b"\r\n")
    start = line.find(b"{")
    if start < 0:
        span = span_of_file(line)
        if span is None:
            return line
        begin, end = span
        return (
            line[:begin] + rename(line[begin:end].decode("utf-8", "replace")).encode() + line[end:]
        )
    try:
        fields = orjson.loads(line[start:])
    except orjson.JSONDecodeError:
        return line
    for alias in ("filename", "file"):
        if isinstance(fields.get(alias), str):
            fields[alias] = rename(fields[alias])
    return line[:start] + orjson.dumps(fields)
