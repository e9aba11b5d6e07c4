"""Plain text columns for a terminal (`arclink.access.texts`)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from arclink.access.answers import LinkAnswer, Member
from arclink.access.queries import LinkQuery
from arclink.access.reader import MementoSummary
from arclink.access.texts import columns, counted, printable, printable_uri
from arclink.errors import InstanceError
from arclink.model import ALL_TIME, Timestamp

if TYPE_CHECKING:
    from arclink.access.archives import ArchiveReport, Refused

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
