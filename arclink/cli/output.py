"""Output of the commands that write an answer in a format."""

import sys
from collections.abc import Iterable

from arclink.errors import UsageError

_BINARY = b"PAR1"
"""How an answer begins that no terminal can show."""


def write_answer(pieces: Iterable[bytes]) -> None:
    """Write the pieces of an answer to standard output, each as soon as it is made.

    Raises:
        UsageError: Standard output is a terminal, which cannot show this format.
    """
    for piece in pieces:
        if piece.startswith(_BINARY) and sys.stdout.isatty():
            raise UsageError("--format parquet: a terminal cannot show it; add > FILE")
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
