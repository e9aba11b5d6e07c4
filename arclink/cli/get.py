"""``arclink get URI``: a capture itself, as archived."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from arclink.access.declarations import AT, TEXT, Given, Parameter, named
from arclink.cli.options import ARCHIVES, GRAPH, open_requested_graph, takes, write_answer
from arclink.errors import CaptureError
from arclink.model import Memento

if TYPE_CHECKING:
    from arclink.captures.read import PageReader

EXAMPLES = (
    "arclink get http://example.org/ --store links.db > page.html",
    "arclink get http://example.org/ --store links.db --at 201002 --format text",
    (
        "arclink get sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A --store links.db --archives "
        "/mnt/warcs > page.html"
    ),
)

FORMS = ("body", "raw", "headers", "record", "text")

WHAT = Parameter(
    "uri",
    "The URI of the capture, or the checksum of a payload with its algorithm.",
    TEXT,
    is_required=True,
    is_positional=True,
    metavar="URI",
)
TIME = replace(AT, about="The capture in force at the end of this time.", otherwise="the newest")
FORM = Parameter(
    "format",
    "What to write: the body without its codings, the raw body with them, the HTTP headers, the "
    "whole record, or readable text.",
    named({form: form for form in FORMS}),
    default="body",
    also=("as",),
)


@click.command()
@takes(WHAT, *GRAPH, TIME, FORM, ARCHIVES)
def command(given: Given) -> None:
    """Write the capture of URI to standard output.

    URI may also be the checksum of a payload, such as sha1:B2LT….
    """
    # Late: other commands need no archive files.
    from arclink.captures.locate import find_capture, is_checksum
    from arclink.captures.read import PageReader
    from arclink.cli.similar import similar_note
    from arclink.store.archive_paths import ArchivePaths

    archive_paths = ArchivePaths(ARCHIVES.many(given))
    with open_requested_graph(given) as graph, PageReader(graph, archive_paths) as reader:
        what = WHAT.required(given)
        try:
            memento = find_capture(graph, what, given.text(TIME))
        except CaptureError as error:
            note = "" if is_checksum(what) else similar_note(given, graph, what)
            if not note:
                raise
            raise CaptureError(f"{error}\n{note}") from error
        write_answer(_pieces(reader, memento, FORM.required(given)))


def _pieces(reader: "PageReader", memento: Memento, form: str) -> Iterator[bytes]:
    from arclink.captures.text import read_text

    if form == "record":
        with reader.record(memento) as record:
            yield from record.parts.pieces()
        return
    if form == "headers":
        yield reader.http_head(memento)
        return
    with reader.read(memento) as page:
        if form == "text":
            yield "".join(f"{line}\n" for line in read_text(page, has_links=False).lines()).encode()
        else:
            yield from page.recorded() if form == "raw" else page.decoded()
