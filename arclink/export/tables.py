"""Tables of links as text, written while the store is read: the CSV of Archives Unleashed, and N-Quads.

The columns are those of the Toolkit's derivatives (aut 1.2: ``webgraph``, ``imagegraph``, ``DomainGraphExtractor``), with a header. Here
nothing is left out that is not asked for: the Toolkit drops pairs of domains with five links or less.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from arclink.access.formats.rdf_lines import ntriples_lines
from arclink.access.formats.statements import describe_outlink
from arclink.access.members import Member
from arclink.access.texts import printable, printable_uri
from arclink.analysis.slices import Level
from arclink.export.cutting import Cut
from arclink.export.manifest import Tally
from arclink.export.queries import ExportQuery, node_of
from arclink.export.scanning import Shown
from arclink.export.sums import Sums
from arclink.uris.surts import surt_of

LINKS = ("crawl_date", "src", "dest", "anchor")
IMAGES = ("crawl_date", "src", "image_url", "alt_text")

AT_ONCE = 5_000
"""Rows that are written together."""


def write_link_rows(shown: Iterable[Shown], columns: Sequence[str], tally: Tally) -> Iterator[bytes]:
    """Yield CSV (RFC 4180): a row per memento and link, links that a page repeats included; UTF-8, lines end with CR LF.

    Args:
        shown: All links.
        columns: `LINKS` or `IMAGES`.
        tally: Is told how many rows there are.
    """
    rows = (
        (timestamp, page, printable_uri(link.target), printable(link.text))
        for one in shown
        for page in (printable_uri(one.page),)
        for timestamp in one.timestamps
        for link in one.links
    )
    return _csv(columns, rows, tally)


def write_count_rows(shown: Iterable[Shown], query: ExportQuery, folder: Path, tally: Tally) -> Iterator[bytes]:
    """Yield CSV: links from host to host, or domain to domain, by day; sorted by day, source and target.

    Args:
        shown: All links.
        query: Says the level, and the fewest links of a row.
        folder: For what does not fit into memory.
        tally: Is told how many rows there are, and what was left out.
    """
    sums = Sums(folder)
    for one in shown:
        source = node_of(query.level, one.page)
        targets = Counter(node_of(query.level, link.target) for link in one.links)
        days = Counter(timestamp[:8] for timestamp in one.timestamps)
        for target, links in targets.items():
            if not source or not target:
                tally.left_out += links * len(one.timestamps)
                continue
            for day, mementos in days.items():
                sums.add((day, source, target), links * mementos)
    name = "domain" if query.level is Level.DOMAIN else "host"
    return _csv(("crawl_date", f"src_{name}", f"dest_{name}", "count"), _large_enough(sums, query, tally), tally)


def write_nquads(shown: Iterable[Shown], tally: Tally) -> Iterator[bytes]:
    """Yield N-Quads in the profile ``links`` (`arclink.access.formats.statements`): a named node for each link.

    A link that several contents have is described with each of them; as statements are a set, that says nothing twice.
    """
    for one in shown:
        surt = surt_of(one.page)
        for link in dict.fromkeys(one.links):
            member = Member(link.target, surt_of(link.target), link.kind, link.text, link.rel, tuple(one.timestamps), (one.page,))
            tally.rows += 1
            yield b"".join(ntriples_lines(describe_outlink(member, surt)))


def _large_enough(sums: Sums, query: ExportQuery, tally: Tally) -> Iterator[tuple[object, ...]]:
    rows, links = 0, 0
    for (day, source, target), count in sums:
        if count >= query.min_count:
            yield day, source, target, count
        else:
            rows += 1
            links += count
    if query.min_count > 1:
        tally.cuts.append(Cut(f"--min-count {query.min_count}", rows, links))


def _csv(columns: Sequence[str], rows: Iterator[tuple[object, ...]], tally: Tally) -> Iterator[bytes]:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(columns)
    while some := list(islice(rows, AT_ONCE)):
        writer.writerows(some)
        tally.rows += len(some)
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    if buffer.tell():
        yield buffer.getvalue().encode()
