"""The contents in ``outlinks`` rows (docs/reference/graph-files.md), one line each, for Pig.

Use: STREAM … THROUGH `python3 unpack_blocks.py`. Input: ``outlinks`` rows. Output: block, position,
content. The script needs only Python 3.
"""

import json
import sys


def main() -> None:
    """Read standard input, write standard output."""
    for line in sys.stdin:
        _, block, contents, _ = line.split("\t", 3)
        for position, content in enumerate(json.loads(contents)):
            print(block, position, content, sep="\t")


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]  # a text file, started as a script
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    main()
