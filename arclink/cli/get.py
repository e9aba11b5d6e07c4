"""``arclink get URI``: a capture itself, as it was archived."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from arclink.cli.options import archives_option, store_option
from arclink.model import Memento
from arclink.store.location import open_store

if TYPE_CHECKING:
    from arclink.pages.read import PageReader

EXAMPLES = (
    "arclink get http://example.org/ --store links.db > page.html",
    "arclink get http://example.org/ --store links.db --at 201002 --as text",
    "arclink get sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A --store links.db --archives /mnt/warcs > page.html",
)

FORMS = ("body", "raw", "headers", "record", "text")


@click.command("get", short_help="Write a capture as it was archived.")
@click.argument("uri")
@store_option
@click.option(
    "--at",
    default="",
    metavar="TIME",
    help="The capture in force at the end of that time; without it, the newest one.",
)
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS),
    default="body",
    show_default=True,
    help="The body without its codings; as recorded, with them; the HTTP headers; the whole record; or readable text.",
)
@archives_option
def command(uri: str, store: str, at: str, form: str, archives: tuple[str, ...]) -> None:
    """Write the capture of URI to standard output.

    URI may also be the checksum of a payload, such as sha1:B2LT….
    """
    # Late: other commands need no archive files.
    from arclink.pages.locate import find_capture
    from arclink.pages.places import ArchivePlaces
    from arclink.pages.read import PageReader

    places = ArchivePlaces(archives)
    with open_store(store) as graph:
        reader = PageReader(graph, places)
        try:
            memento = find_capture(graph, uri, at)
            for piece in _pieces(reader, memento, form):
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
        finally:
            reader.close()


def _pieces(reader: "PageReader", memento: Memento, form: str) -> Iterator[bytes]:
    from arclink.pages.text import read_text

    if form == "record":
        yield from reader.record(memento)[1]
        return
    if form == "headers":
        yield reader.http_head(memento)
        return
    with reader.read(memento) as page:
        if form == "text":
            yield "".join(f"{line}\n" for line in read_text(page).lines()).encode()
        else:
            yield from page.recorded() if form == "raw" else page.decoded()
