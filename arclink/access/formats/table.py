"""Plain columns for people at a terminal.

Widths are counted in terminal cells, so that Chinese and combining characters keep the columns straight. A text with
right-to-left letters is wrapped in isolates: it reads right to left, what stands beside it stays where it is. What
could steer the terminal (control characters) or reorder the line (marks for writing direction) is taken out. URIs
come last and are never cut.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from rich.cells import cell_len, set_cell_size

from arclink.access.answers import LinkAnswer, Member
from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.queries import LinkQuery
from arclink.access.reading import MementoSummary
from arclink.access.texts import printable, printable_uri
from arclink.model import Timestamp

TEXT_CELLS = 40
_ISOLATE, _POP = "\u2068", "\u2069"
_DIRECTION_MARKS = re.compile("[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_HEAD = ("first seen", "last seen", "times", "kind", "text")


def write_table(answer: LinkAnswer) -> Iterator[bytes]:
    """Yield the answer line by line: what is known of the URI, its outlinks, its inlinks, and where to go on."""
    for line in _lines(answer):
        yield f"{line}\n".encode()


def date_and_time(timestamp: Timestamp) -> str:
    """Return a timestamp as people read it.

    >>> date_and_time(Timestamp("20091103011307"))
    '2009-11-03 01:13:07'
    """
    year, month, day, hour, minute, second = (timestamp[start:end] for start, end in ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14)))
    return f"{year}-{month}-{day} {hour}:{minute}:{second}"


def cell(text: str, width: int) -> str:
    """Return ``text`` in exactly ``width`` terminal cells: cut with an ellipsis, or filled up with spaces."""
    text = _DIRECTION_MARKS.sub("", printable(text))
    if cell_len(text) > width:
        text = set_cell_size(text, width - 1).rstrip() + "…"
    filling = " " * (width - cell_len(text))
    return (f"{_ISOLATE}{text}{_POP}" if _has_right_to_left(text) else text) + filling


def columns(head: Sequence[str], rows: Iterable[Sequence[str]], widest: int = TEXT_CELLS) -> Iterator[str]:
    """Yield ``rows`` under ``head`` as aligned lines; the last column is neither cut nor filled up."""
    kept = [head, *rows]
    widths = [min(widest, max(cell_len(printable(row[column])) for row in kept)) for column in range(len(head) - 1)]
    for row in kept:
        cells = (cell(text, width) for text, width in zip(row, widths, strict=False))
        last = _DIRECTION_MARKS.sub("", printable(row[-1]))
        yield "  ".join(chain(cells, (f"{_ISOLATE}{last}{_POP}" if _has_right_to_left(last) else last,))).rstrip()


def _lines(answer: LinkAnswer) -> Iterator[str]:
    query = answer.query
    yield f"{printable_uri(query.uri)}  ({printable_uri(query.surt)})"
    for hop in answer.followed:
        yield f"Redirected {date_and_time(hop.timestamp)} by {printable_uri(hop.original)}"
    yield _range_line(query) if query.is_range else known_line(query, answer.mementos)
    yield from archive_lines(answer.archives)
    yield from _in_force(answer)
    if query.direction.is_out:
        yield ""
        yield from _members("OUTLINKS", "page → target" if query.is_range else "target", tuple(answer.outlinks), answer)
    if query.direction.is_in:
        yield ""
        yield from _members("INLINKS", "source → page" if query.is_range else "source", tuple(answer.inlinks), answer)
    if answer.next is not None:
        yield ""
        of_target = f" for {printable_uri(query.uri)}, without --follow, and" if answer.followed else ""
        yield f"There is more: repeat the command{of_target} with --cursor {answer.next}"


def _range_line(query: LinkQuery) -> str:
    """Return one line that tells which pages are asked about."""
    return f"All pages whose SURT begins with {' or '.join(map(printable_uri, query.stems))}"


def archive_lines(reports: Iterable[ArchiveReport]) -> Iterator[str]:
    """Yield one line per archive of a merged answer: what it told, or why it did not."""
    for report in reports:
        told = "" if report.outcome is Outcome.FAILED else f", {_counted(report.links, 'link')}{', as before' if report.is_cached else ''}"
        over = f", {report.passed_over:,} passed over" if report.passed_over else ""
        why = f": {printable(report.detail)}" if report.detail else ""
        yield f"{printable(report.name)}: {report.outcome.value}{told}{over} ({report.seconds:.1f} s){why}"


def known_line(query: LinkQuery, mementos: MementoSummary) -> str:
    """Return one line that tells "not captured", "not read" and "no links" apart."""
    if mementos.first is None or mementos.last is None:
        return "Not captured: the graph has no memento of it, so nothing is known of its outlinks."
    line = f"{_counted(mementos.count, 'memento')}, {date_and_time(mementos.first)} to {date_and_time(mementos.last)}"
    if mementos.asked == 0:
        when = "at or before that time" if query.at is not None else "in the range asked for"
        return f"{line}; none {when}, so nothing is known of its outlinks then."
    if mementos.asked != mementos.count:
        line += f"; {mementos.asked:,} {'in force' if query.at is not None else 'in the range asked for'}"
    return f"{line}; the links of {mementos.links_known:,} are known."


def _in_force(answer: LinkAnswer) -> Iterator[str]:
    for found in answer.in_force:
        known = "" if found.is_known else ", its links are not known: it ends earlier ones"
        memento = found.memento
        yield f"In force: {date_and_time(memento.timestamp)}, status {printable(memento.status)}{known}: {printable_uri(memento.original)}"


def _members(title: str, other_end: str, members: Sequence[Member], answer: LinkAnswer) -> Iterator[str]:
    is_grouped = answer.is_grouped_out if title == "OUTLINKS" else answer.is_grouped_in
    order = "" if is_grouped else ", in store order" if answer.query.is_range else ", in store order: too many to group"
    yield f"{title} ({len(members):,} on this page{order})" if members else f"{title}: none"
    if members:
        archives = ("archives",) if answer.archives else ()
        validity = ("last without", "first without") if answer.query.with_validity else ()
        rows = [_row(member, with_validity=answer.query.with_validity) for member in members]
        if answer.query.is_range:
            rows = [(*row[:-1], _ends(member, is_out=title == "OUTLINKS")) for row, member in zip(rows, members, strict=True)]
        yield from columns((*_HEAD, *validity, *archives, other_end), rows)


def _row(member: Member, *, with_validity: bool) -> tuple[str, ...]:
    first, last = (date_and_time(member.timestamps[position]) for position in (0, -1))
    archives = () if member.archives is None else (", ".join(member.archives.names),)
    validity: tuple[str, ...] = ()
    if with_validity:
        known = member.validity
        ends = (None, None) if known is None else (known.last_without, known.first_without)
        validity = tuple("" if time is None else date_and_time(time) for time in ends)
    return first, last, f"{len(member.timestamps):>5}", member.kind, member.text, *validity, *archives, printable_uri(member.uri)


def _ends(member: Member, *, is_out: bool) -> str:
    here, there = printable_uri(member.variants[0]), printable_uri(member.uri)
    return f"{here} → {there}" if is_out else f"{there} → {here}"


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _has_right_to_left(text: str) -> bool:
    return not text.isascii() and any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text)
