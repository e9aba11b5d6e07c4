"""Plain text columns for a terminal.

Widths are counted in terminal cells, so that columns stay aligned with Chinese and combining
characters. A text with right-to-left letters is enclosed in Unicode isolates: it reads right to
left, and the texts next to it keep their places. Characters that control the terminal or change the
writing direction of the line are removed or replaced. In a file or a pipe, texts are complete. On a
terminal, lines have its width: times become days, and long texts are cut, URIs in the middle.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from arclink.access.answers import LinkAnswer, Member
from arclink.access.queries import LinkQuery
from arclink.access.reader import MementoSummary
from arclink.access.texts import counted, printable, printable_uri
from arclink.errors import InstanceError
from arclink.model import ALL_TIME, Timestamp
from arclink.progress import shown_width

if TYPE_CHECKING:
    from arclink.access.archives import ArchiveReport, Refused

_MOST_PADDED = 80
"""Cells of the widest column in a file or a pipe: longer texts move what is to their right."""
_LEAST_CELLS = 11
"""Cells that a column keeps on a narrow terminal: a date, or the beginning of a text."""
_LEAST_CELLS_OF_URI = 30
_ISOLATE, _POP = "\u2068", "\u2069"
_DIRECTION_MARKS = re.compile("[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_HEAD = ("first seen", "last seen", "times", "kind", "text")


def write_table(answer: LinkAnswer) -> Iterator[bytes]:
    """Yield lines: facts about the URI, its outlinks, its inlinks, and the next cursor."""
    for line in _lines(answer):
        yield f"{line}\n".encode()


def date_and_time(timestamp: Timestamp) -> str:
    """Return a timestamp in the form ``YYYY-MM-DD hh:mm:ss``.

    >>> date_and_time(Timestamp("20091103011307"))
    '2009-11-03 01:13:07'
    """
    year, month, day, hour, minute, second = (
        timestamp[start:end] for start, end in ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))
    )
    return f"{year}-{month}-{day} {hour}:{minute}:{second}"


def cell_len(text: str) -> int:
    """Return the width of a text in terminal cells; most texts take one cell a character."""
    if _has_single_cells(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _cut(text: str, width: int) -> str:
    """Return the first ``width`` cells of a wider text."""
    if _has_single_cells(text):
        return text[:width]
    from rich.cells import set_cell_size

    return set_cell_size(text, width)


def _has_single_cells(text: str) -> bool:
    """Return whether each character of a text certainly has one cell: before combining marks."""
    return text.isascii() or max(text) < "\u0300"


def cell(text: str, width: int, *, is_cut: bool = True) -> str:
    """Return a text in ``width`` terminal cells: padded, or truncated if ``is_cut``."""
    text = _without_marks(text)
    if is_cut and "://" in text:
        text = cut_in_the_middle(text, width)
    elif is_cut and cell_len(text) > width:
        text = _cut(text, width - 1).rstrip() + "…"
    return _isolated(text) + " " * (width - cell_len(text))


def safe_text(text: str) -> str:
    """Return a text that changes neither a terminal nor the writing direction of its line."""
    return _isolated(_without_marks(text))


def _without_marks(text: str) -> str:
    return _DIRECTION_MARKS.sub("", printable(text))


def _isolated(text: str) -> str:
    return f"{_ISOLATE}{text}{_POP}" if _has_right_to_left(text) else text


def columns(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield ``rows`` under ``head`` as aligned lines; only a terminal cuts texts, to its width."""
    with_head = [head, *rows]
    widths = _widths(with_head)
    width = shown_width.get()
    if width is None:
        widths = [min(cells, _MOST_PADDED) for cells in widths]
    else:
        room = width - 2 * (len(head) - 1)
        if sum(widths) > room:
            with_head = [[_day(text) for text in row] for row in with_head]
            widths = _widths(with_head)
        _make_room(widths, room)
    for row in with_head:
        cells = [
            cell(text, cells, is_cut=width is not None)
            for text, cells in zip(row[:-1], widths, strict=False)
        ]
        last = _without_marks(row[-1])
        last = last if width is None else cut_in_the_middle(last, widths[-1])
        yield "  ".join((*cells, _isolated(last))).rstrip()


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cell_len, map(printable, column))) for column in zip(*rows, strict=True)]


def _day(text: str) -> str:
    """Return the day of a time, and another text as it is."""
    return text.partition(" ")[0] if _TIME.fullmatch(text) else text


def _make_room(widths: list[int], width: int) -> None:
    """Take cells from the widest columns until a line has ``width``, without those between columns.

    The last column, with a URI, keeps some more than the others.
    """
    least = [_LEAST_CELLS] * (len(widths) - 1) + [_LEAST_CELLS_OF_URI]
    while sum(widths) > width:
        extra = [cells if cells > few else 0 for cells, few in zip(widths, least, strict=True)]
        if not any(extra):
            widths[-1] = max(width - sum(widths[:-1]), _LEAST_CELLS)
            return
        widths[extra.index(max(extra))] -= 1


def cut_in_the_middle(text: str, width: int) -> str:
    """Return a text with at most ``width`` cells: a URI shows its host and its end.

    >>> cut_in_the_middle("http://example.org/a/long/path/page.html", 23)
    'http://exam…h/page.html'
    """
    if cell_len(text) <= width:
        return text
    start = _cut(text, (width - 1) // 2).rstrip()
    rest = width - 1 - cell_len(start)
    end = text[-rest:]
    while cell_len(end) > rest:
        end = end[1:]
    return f"{start}…{end}"


def _lines(answer: LinkAnswer) -> Iterator[str]:
    query = answer.query
    yield f"{printable_uri(query.uri)}  ({printable_uri(query.surt)})"
    for hop in answer.followed:
        yield f"Redirected {date_and_time(hop.timestamp)} by {printable_uri(hop.original)}"
    yield _range_line(query) if query.is_range else known_line(query, answer.mementos)
    if sum(report.has_answered for report in answer.archives) > 1:
        yield (
            "Counts of mementos are those of all archives: a memento in several archives counts "
            "once if these list their mementos."
        )
    yield from archive_lines(answer.archives)
    yield from _in_force(answer)
    if query.direction.is_out:
        yield ""
        yield from _members(
            "OUTLINKS",
            "page → target" if query.is_range else "target",
            tuple(answer.outlinks),
            answer,
        )
    if query.direction.is_in:
        yield ""
        yield from _members(
            "INLINKS",
            "source → page" if query.is_range else "source",
            tuple(answer.inlinks),
            answer,
        )
    if answer.next is not None:
        yield ""
        of_target = (
            f" for {printable_uri(query.uri)}, without --follow, and" if answer.followed else ""
        )
        yield f"There is more: repeat the command{of_target} with --cursor {answer.next}"


def _range_line(query: LinkQuery) -> str:
    """Return one line that says which pages the query is about."""
    return f"All pages whose SURT begins with {' or '.join(map(printable_uri, query.stems))}"


def archive_lines(reports: "Iterable[ArchiveReport]") -> Iterator[str]:
    """Yield one line per archive: its number of links or rows, or why it failed."""
    for report in reports:
        members = (
            f", {counted(report.members, report.noun)}{', as before' if report.is_cached else ''}"
            if report.has_answered
            else ""
        )
        refused = "; ".join(
            f"{reason.value} ({number:,})"
            for reason, number in sorted(report.refused.items(), key=_by_name)
        )
        over = f", refused: {refused}" if refused else ""
        why = f": {printable(report.detail)}" if report.detail else ""
        yield (
            f"{printable(report.name)}: {report.outcome.value}{members}{over} "
            f"({report.seconds:.1f} s){why}"
        )


def check_answered(reports: "Iterable[ArchiveReport]") -> None:
    """Check that an archive answered.

    Raises:
        InstanceError: No archive did; the text says why.
    """
    reports = [*reports]
    if not any(report.has_answered for report in reports):
        lines = "; ".join(archive_lines(reports)) or "none was named"
        raise InstanceError(f"no archive answered: {lines}")


def _by_name(refused: "tuple[Refused, int]") -> str:
    return refused[0].value


def known_line(query: LinkQuery, mementos: MementoSummary) -> str:
    """Return one line that distinguishes "not captured", "not read" and "no links"."""
    if mementos.first is None or mementos.last is None:
        return "There are no captures of it to show, so its outlinks are unknown."
    line = (
        f"{counted(mementos.count, 'memento')}, {date_and_time(mementos.first)} to "
        f"{date_and_time(mementos.last)}"
    )
    if mementos.asked == 0:
        when = "at or before that time" if query.at is not None else "in the time range"
        return f"{line}; none {when}, so its outlinks at that time are unknown."
    if mementos.asked != mementos.count:
        line += (
            f"; {mementos.asked:,} {'in force' if query.at is not None else 'in the time range'}"
        )
    known = f"{mementos.links_known:,}"
    if mementos.perhaps_known:
        known += f" to {mementos.links_known + mementos.perhaps_known:,}"
    return f"{line}; the links of {known} are known."


def _in_force(answer: LinkAnswer) -> Iterator[str]:
    for found in answer.in_force:
        known = "" if found.is_known else ", its links are unknown: it ends earlier ones"
        memento = found.memento
        yield (
            f"In force: {date_and_time(memento.timestamp)}, status "
            f"{printable(memento.status)}{known}: {printable_uri(memento.original)}"
        )


def _members(
    title: str, other_end: str, members: Sequence[Member], answer: LinkAnswer
) -> Iterator[str]:
    is_grouped = answer.is_grouped_out if title == "OUTLINKS" else answer.is_grouped_in
    order = (
        ""
        if is_grouped
        else ", in store order"
        if answer.query.is_range
        else ", in store order: too many to group"
    )
    if not members:
        yield f"{title}: {_why_none(answer, is_out=title == 'OUTLINKS')}"
        return
    yield f"{title} ({len(members):,} shown{order})"
    archives = ("archives",) if answer.archives else ()
    validity = ("last without", "first without") if answer.query.with_validity else ()
    rows = [_row(member, with_validity=answer.query.with_validity) for member in members]
    if answer.query.is_range:
        rows = [
            (*row[:-1], _ends(member, is_out=title == "OUTLINKS"))
            for row, member in zip(rows, members, strict=True)
        ]
    yield from columns((*_HEAD, *validity, *archives, other_end), rows)


def _why_none(answer: LinkAnswer, *, is_out: bool) -> str:
    """Return "none" and what it was read from, or why it is not known whether there are links."""
    if answer.next is not None:
        return "none so far"
    if is_out and answer.query.is_range:
        return "none"
    known = answer.mementos.known if is_out else answer.known_inlinks()
    return known.none(when_asked(answer.query))


def when_asked(query: LinkQuery) -> str:
    """Return the time of a query, in words."""
    if query.at is not None:
        return "by then"
    return "yet" if query.span == ALL_TIME else "at that time"


def _row(member: Member, *, with_validity: bool) -> tuple[str, ...]:
    first, last = (date_and_time(member.timestamps[position]) for position in (0, -1))
    archives = () if member.archives is None else (", ".join(member.archives.names),)
    validity: tuple[str, ...] = ()
    if with_validity:
        known = member.validity
        ends = (None, None) if known is None else (known.last_without, known.first_without)
        validity = tuple("" if time is None else date_and_time(time) for time in ends)
    return (
        first,
        last,
        f"{len(member.timestamps):>5}",
        member.kind,
        member.text,
        *validity,
        *archives,
        printable_uri(member.uri),
    )


def _ends(member: Member, *, is_out: bool) -> str:
    here, there = printable_uri(member.variants[0]), printable_uri(member.uri)
    return f"{here} → {there}" if is_out else f"{there} → {here}"


def _has_right_to_left(text: str) -> bool:
    return not text.isascii() and any(
        unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text
    )
