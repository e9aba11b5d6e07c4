"""The links packed in ``inlinks`` rows (docs/reference/graph-files.md), for Pig.

STREAM … THROUGH `python3 unpack_inlinks.py`.

Input: target surt, target, links (JSON), tab-separated. Output: target surt, target, kind, text,
rel (empty for none), and the block and position of a content that holds the link; one line per link
of a content. Nothing but Python 3 is needed.
"""

import json
import sys


def main() -> None:
    """Read standard input, write standard output."""
    for line in sys.stdin:
        surt, target, links = line.rstrip("\n").split("\t", 2)
        for kind, text, rel, sources in json.loads(links):
            for block, positions in sources:
                for position in positions:
                    print(surt, target, kind, text, rel or "", block, position, sep="\t")


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]  # a text file, started as a script
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    main()
