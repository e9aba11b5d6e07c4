"""N-Quads: every link of a store as RDF, written while the store is read."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from arclink.access.formats.statements import RDF, TWG, describe_outlink, ntriples_lines
from arclink.access.members import Member
from arclink.analysis.export.link_scan import Shown
from arclink.analysis.export.manifest import ExportTally
from arclink.files.spill import Sorted
from arclink.portions import portions
from arclink.uris.surts import surt_of

_IS_LINK = f" <{RDF}type> <{TWG}Link> .\n".encode()
"""The end of the line that declares a node to be a link; there is one such line per link."""

_AT_ONCE = 5_000
"""Number of lines that are written together."""


def write_nquads(shown: Iterable[Shown], folder: Path, tally: ExportTally) -> Iterator[bytes]:
    """Yield N-Quads in the profile ``links``: a named node per link.

    The profile is described in `arclink.access.formats.statements`.

    Each statement comes once, in the order of the bytes of its line. Without this, a link in
    several contents would be described once per content, and the target of many links once per
    link.

    Args:
        shown: All links.
        folder: Folder for data that does not fit into memory.
        tally: Receives the number of links (named nodes) and statements.
    """
    lines = Sorted[bytes](folder)
    for one in shown:
        surt = surt_of(one.page)
        for link in dict.fromkeys(one.links):
            member = Member(
                link.target,
                link.kind,
                link.text,
                link.rel,
                tuple(one.timestamps),
                (one.page,),
            )
            for described in ntriples_lines(describe_outlink(member, surt)):
                lines.update(described.splitlines(keepends=True))
    for portion in portions(lines, _AT_ONCE):
        tally.statements += len(portion)
        tally.rows += sum(line.endswith(_IS_LINK) for line in portion)
        yield b"".join(portion)
