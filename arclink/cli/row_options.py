"""Options of the commands whose answers are rows."""

import sys

import click

from arclink.access.formats.rows import ROW_FORMATS, RowAnswer

row_format_option = click.option(
    "--format",
    "name",
    type=click.Choice(list(ROW_FORMATS)),
    default="table",
    show_default=True,
    help="Format of the answer.",
)


def write_rows(answer: RowAnswer, name: str) -> None:
    """Write ``answer`` to standard output in the format with this name."""
    for piece in ROW_FORMATS[name].write(answer):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
