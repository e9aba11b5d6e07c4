"""Output of the commands that write an answer in a format."""

import sys
from collections.abc import Iterable


def write_answer(pieces: Iterable[bytes]) -> None:
    """Write the pieces of an answer to standard output, each as soon as it is made."""
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
