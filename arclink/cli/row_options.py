"""Output of the commands whose answers are rows."""

import sys

from arclink.access.formats.rows import RowAnswer, RowFormat


def write_rows(answer: RowAnswer, form: RowFormat) -> None:
    """Write ``answer`` to standard output in a format."""
    for piece in form.write(answer):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
