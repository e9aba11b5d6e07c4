"""The links in ``inlinks`` rows, one line per link of a content, for Pig.

Use: STREAM … THROUGH `python3 unpack_inlinks.py`. Input: target surt, target, links (JSON),
tab-separated (docs/reference/graph-files.md). Output: target surt, target, kind, text, rel (empty
for none), and the block and position of a content that has the link. The script needs only Python
3.
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
