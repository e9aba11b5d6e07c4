"""The content that each memento shows, for Pig: STREAM … THROUGH `python contents.py`.

Input: mementos with the scope of their payload, tab-separated: original, timestamp, checksum, scope
(empty or ``-``: the payload was not read). The mementos of one original follow each other, oldest
first. Output: content, original, timestamp.

A revisit that only says "not modified" has the content of the capture that it refers to
(arclink/checksums.py).
"""

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby

from arclink.checksums import is_reference, timestamp_of_reference
from arclink.model import Checksum, Scope, UriR
from arclink.uris.resolution import content_id


def contents_of(rows: Iterable[tuple[str, str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield (content, original, timestamp) of the mementos whose payload was read.

    Args:
        rows: (original, timestamp, checksum, scope) of one original, oldest first.
    """
    shown: dict[str, str] = {}
    last = ""
    for original, timestamp, checksum, scope in rows:
        if is_reference(Checksum(checksum)):
            when = timestamp_of_reference(Checksum(checksum))
            content = last if when is None else shown.get(when, "")
        else:
            content = (
                content_id(Checksum(checksum), UriR(original), Scope(int(scope)))
                if scope not in ("", "-")
                else ""
            )
            shown[timestamp] = last = content
        if content:
            yield content, original, timestamp


def main() -> None:
    """Read standard input, write standard output."""
    rows = (tuple(line.rstrip("\n").split("\t")) for line in sys.stdin)
    for _, of_one in groupby(rows, key=lambda row: row[0]):
        for columns in contents_of(of_one):
            print(*columns, sep="\t")


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]  # a text file, started as a script
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    main()
