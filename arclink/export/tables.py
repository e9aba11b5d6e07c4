"""Tables of links as text: the CSV of Archives Unleashed, and N-Quads.

They are written while the store is read.

The columns are those of the Toolkit's derivatives (aut 1.2: ``webgraph``, ``imagegraph``,
``DomainGraphExtractor``), with a header. ArcLink leaves out only what the query excludes, while the
Toolkit drops pairs of domains with five links or fewer.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from arclink.access.formats.rdf_lines import ntriples_lines
from arclink.access.formats.statements import RDF, TWG, describe_outlink
from arclink.access.members import Member
from arclink.access.texts import printable, printable_uri
from arclink.analysis.slices import Level
from arclink.export.cuts import Cut
from arclink.export.link_scan import Shown
from arclink.export.manifest import ExportTally
from arclink.export.queries import ExportQuery, node_of
from arclink.files.spill import Key, Sorted, summed
from arclink.uris.resolution import serialised
from arclink.uris.surts import surt_of

LINKS = ("crawl_date", "src", "dest", "anchor")
IMAGES = ("crawl_date", "src", "image_url", "alt_text")

_IS_LINK = f" <{RDF}type> <{TWG}Link> .\n".encode()
"""The end of the line that declares a node to be a link; there is one such line per link."""

AT_ONCE = 5_000
"""Number of rows that are written together."""


def write_link_rows(
    shown: Iterable[Shown], columns: Sequence[str], tally: ExportTally
) -> Iterator[bytes]:
    """Yield CSV (RFC 4180): a row per memento and link; UTF-8, lines end with CR LF.

    Links that a page repeats have a row each. Sources are serialised like targets, so that both can
    be joined.

    Args:
        shown: All links.
        columns: `LINKS` or `IMAGES`.
        tally: Counts to be updated with the number of rows.
    """
    rows = (
        (timestamp, page, printable_uri(link.target), printable(link.text))
        for one in shown
        for page in (printable_uri(serialised(one.page)),)
        for timestamp in one.timestamps
        for link in one.links
    )
    return _csv(columns, rows, tally)


def write_count_rows(
    shown: Iterable[Shown], query: ExportQuery, folder: Path, tally: ExportTally
) -> Iterator[bytes]:
    """Yield CSV: numbers of links between hosts or domains, by day, source and target.

    Args:
        shown: All links.
        query: The query, with the level and the smallest number of links of a row.
        folder: Folder for data that does not fit into memory.
        tally: Counts to be updated with the number of rows and of links left out.
    """
    name = "domain" if query.level is Level.DOMAIN else "host"
    return _csv(
        ("crawl_date", f"src_{name}", f"dest_{name}", "count"),
        _large_enough(summed(_counts(shown, query, tally), folder), query, tally),
        tally,
    )


def _counts(
    shown: Iterable[Shown], query: ExportQuery, tally: ExportTally
) -> Iterator[tuple[Key, int]]:
    """Yield (day, source, target) with numbers of links."""
    for one in shown:
        source = node_of(query.level, one.page)
        targets = Counter(node_of(query.level, link.target) for link in one.links)
        days = Counter(timestamp[:8] for timestamp in one.timestamps)
        for target, links in targets.items():
            if not source or not target:
                tally.left_out += links * len(one.timestamps)
                continue
            for day, mementos in days.items():
                yield (day, source, target), links * mementos


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
                surt_of(link.target),
                link.kind,
                link.text,
                link.rel,
                tuple(one.timestamps),
                (one.page,),
            )
            for described in ntriples_lines(describe_outlink(member, surt)):
                lines.update(described.splitlines(keepends=True))
    waiting = iter(lines)
    while portion := list(islice(waiting, AT_ONCE)):
        tally.statements += len(portion)
        tally.rows += sum(line.endswith(_IS_LINK) for line in portion)
        yield b"".join(portion)


def _large_enough(
    sums: Iterable[tuple[Key, int]], query: ExportQuery, tally: ExportTally
) -> Iterator[tuple[object, ...]]:
    rows, links = 0, 0
    for (day, source, target), count in sums:
        if count >= query.min_count:
            yield day, source, target, count
        else:
            rows += 1
            links += count
    if query.min_count > 1:
        tally.cuts.append(Cut(f"--min-count {query.min_count}", rows, links))


def _csv(
    columns: Sequence[str], rows: Iterator[tuple[object, ...]], tally: ExportTally
) -> Iterator[bytes]:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(columns)
    while portion := list(islice(rows, AT_ONCE)):
        writer.writerows(portion)
        tally.rows += len(portion)
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    if buffer.tell():
        yield buffer.getvalue().encode()
