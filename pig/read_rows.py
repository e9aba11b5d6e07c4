"""The captures of CDX or CDXJ lines, for Pig: STREAM … THROUGH `python read_rows.py`.

Input: lines, as bytes. Output: one line per capture, tab-separated: surt, timestamp, original,
checksum, status, mime, record type, file, offset, length, languages, method; each in the form of
``mementos`` (docs/reference/graph-files.md). The record type is ``untyped`` if the row does not
show whether the record is a capture; the method is ``-`` for GET. Lines that are not captures are
left out.
"""

import sys
from collections import Counter

from arclink.rows.cdx import read_rows
from arclink.uris.surts import surt_of


def main() -> None:
    """Read standard input, write standard output."""
    surts: dict[bytes, bytes] = {}
    for _, timestamp, original, checksum, length, offset, file, (
        mime,
        status,
        record_type,
        method,
    ), _, languages in read_rows(sys.stdin.buffer, Counter()):
        if original not in surts:
            if len(surts) > 100_000:
                surts.clear()
            surts[original] = surt_of(original.decode()).encode()
        columns = (
            surts[original],
            timestamp,
            original,
            checksum,
            status,
            mime,
            record_type or b"untyped",
            file,
            offset,
            length,
            languages,
            method or b"-",
        )
        sys.stdout.buffer.write(b"\t".join(columns) + b"\n")


if __name__ == "__main__":
    main()
