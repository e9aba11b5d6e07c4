"""Answers of questions in plain Python, without SQL: what the words of the table of questions say.

An answer looks at each capture and each link of a store, one by one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, cached_property
from itertools import pairwise
from math import exp, inf, log, log10, sqrt
from typing import Any, NamedTuple

from arclink.access.texts import printable, printable_uri
from arclink.analysis.questions.table import QUESTIONS, Basis
from arclink.checksums import is_reference
from arclink.model import NO_CHECKSUM, Checksum, ContentId, Memento, Outlink, Surt, UriR
from arclink.rows.texts import TextRow
from arclink.store.protocols import Additions
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.resolution import checksum_of, serialised
from arclink.uris.surts import surt_of
from tests.questions.page_texts import by_content, texts_of
from tests.relations.plain_words import plain_words
from tests.relations.saying import what_it_says

Row = tuple[Any, ...]

_TIMELESS = ("vanished", "find", "begin", "diff", "near", "bursts")
"""Questions whose rows have no period."""


def makes_sense(name: str, scope: str) -> bool:
    """Return whether a question can be asked in a scope."""
    return scope != "archive" or not QUESTIONS[name].needs_address


_DIGITS = {"year": 4, "month": 6, "day": 8}
_NAVIGATION = {"a@href", "http@location"}
"""The kinds of the tests that count if nothing else is asked for."""


class End(NamedTuple):
    """A page or a target; ``written`` is its URI unchanged."""

    surt: str
    uri: str
    written: str
    host: str | None
    domain: str | None

    def at(self, level: str) -> str | None:
        """Return the key at a level: of a page with all its variants, of a host or a domain."""
        return {"uri": self.surt, "host": self.host, "domain": self.domain}[level]

    def name(self, level: str) -> str | None:
        return {"uri": self.uri, "host": self.host, "domain": self.domain}[level]


class Capture(NamedTuple):
    page: End
    time: str
    content: str | None
    title: str | None
    payload: str | None
    status: int | None
    mime: str | None
    is_silent: bool
    own_status: str

    @property
    def is_counted(self) -> bool:
        """Whether its links are known by its own status, as stores count it."""
        is_other = self.own_status[0] in "345" and self.own_status != "304"
        return not self.is_silent and (self.content is not None or is_other)

    @property
    def is_known(self) -> bool:
        """Whether its links are known: an error has no links, and "not modified" may have some."""
        if self.is_silent:
            return False
        is_other = (self.status or 0) // 100 in (3, 4, 5) and self.status != 304
        return self.content is not None or is_other

    @property
    def is_error(self) -> bool:
        return self.status is not None and self.status >= 400


class Seen(NamedTuple):
    """A link in a capture; ``number`` is that of the address in the question."""

    number: int
    page: End
    time: str
    target: End
    label: tuple[str, str, str | None]
    content: str | None


class Archive:
    """The captures and links that a store reports.

    Attributes:
        captures: What captures say about their pages, also those that say nothing.
        said: Those that say something.
        texts: The texts of contents.
        words: The words of title and text of those whose text is known, with a gap between both.
    """

    def __init__(self, store: Additions, texts: Sequence[TextRow] | None = None) -> None:
        mementos = [*store.scan_mementos()]
        self.texts = by_content(store, texts_of(store) if texts is None else texts)
        self.words = {
            content: [*plain_words(title or ""), "", *plain_words(text)]
            for content, title, _, text, _ in self.texts.values()
            if text is not None
        }
        self.captures = [_capture(store, one, mementos) for one in mementos]
        self.said = [one for one in self.captures if not one.is_silent]
        contents = {one.content for one in self.captures} - {None}
        self.links = {
            content: [_link(link) for link in store.outlinks(content)]  # type: ignore[arg-type]
            for content in contents
        }


def _end(uri: UriR, surt: Surt, shown: str) -> End:
    host = host_of(surt)
    written = printable_uri(uri)
    return End(printable_uri(surt), shown, written, host or None, domain_of(host) or None)


def _capture(store: Additions, one: Memento, all_of_them: Sequence[Memento]) -> Capture:
    ((content, title),) = store.shown([one])
    return Capture(
        _end(one.original, one.surt, printable_uri(serialised(one.original))),
        one.timestamp,
        content,
        title and printable(title),
        _payload(one.checksum, content),
        *what_it_says(store, one, all_of_them),
        one.status,
    )


def _payload(checksum: Checksum, content: ContentId | None) -> str | None:
    if is_reference(checksum):
        return content and checksum_of(content)
    return None if checksum == NO_CHECKSUM else checksum


def _link(link: Outlink) -> tuple[End, tuple[str, str, str | None]]:
    end = _end(link.target, surt_of(link.target), printable_uri(link.target))
    return end, (link.kind, printable(link.text), link.rel)


@cache
def _surt_of(uri: str) -> Surt:
    return surt_of(UriR(uri))


@dataclass(frozen=True)
class Plain:
    """A question, as it is asked; ``level`` and ``by`` are empty for those of the question."""

    archive: Archive
    name: str
    scope: str = "archive"
    uris: Sequence[str] = ()
    level: str = ""
    by: str = ""
    external: bool = False
    begin: str = ""
    end: str = "9"
    words: str = ""
    of: str = "text"
    new: bool = False
    by_date: bool = False

    def rows(self) -> list[Row]:
        """Return the rows of the answer, as a caller gets them."""
        return [
            (
                *([self.uris[number]] if len(self.uris) > 1 and self.name != "common" else []),
                *([period] if self.digits and self.name not in _TIMELESS else []),
                *row,
            )
            for number, period, row in _with_unknown(self, _ANSWERS[self.name](self))
        ]

    def known(self) -> tuple[int, int]:
        """Return the number of captures that the answer is read from, and of those with known
        links.
        """
        is_whole = QUESTIONS[self.name].basis is Basis.ARCHIVE
        begin = "" if QUESTIONS[self.name].compares else self.begin
        found = [
            one
            for one in self.archive.captures
            if begin <= one.time <= self.end and (is_whole or [*self.parts_of(one.page)])
        ]
        return self.counts(found)

    def unknown_texts(self) -> tuple[int, int, int]:
        """Return the number of captures whose text is cut, of no kind that is read, or not read."""
        contents = [one.content for one in self.archive.captures if self.is_of_any_part(one)]
        texts = [self.archive.texts.get(one) for one in contents if one is not None]
        cut = sum(one is not None and one[4] is True for one in texts)
        return cut, sum(one is not None and one[4] is None for one in texts), texts.count(None)

    def is_of_any_part(self, one: Capture) -> bool:
        return self.is_asked(one.time) and bool([*self.parts_of(one.page)])

    def counts(self, captures: Iterable[Capture]) -> tuple[int, int]:
        """Return the number of captures, and of those with known links, or known text."""
        found = [*captures]
        if not QUESTIONS[self.name].is_of_texts:
            return len(found), sum(one.is_counted for one in found)
        return len(found), sum(one in self.known_texts for one in found)

    # What is asked

    @cached_property
    def at(self) -> str:
        level = QUESTIONS[self.name].level
        return (self.level or level.value) if level else "host"

    @cached_property
    def digits(self) -> int:
        period = QUESTIONS[self.name].period
        return _DIGITS.get(self.by, period.value if period else 0)

    def period(self, time: str) -> str:
        parts = time[: self.digits][:4], time[4 : self.digits][:2], time[6 : self.digits]
        return "-".join(part for part in parts if part)

    def is_asked(self, time: str) -> bool:
        return self.begin <= time <= self.end

    def is_in(self, end: End, uri: str) -> bool:
        surt = _surt_of(uri)
        host = host_of(surt)
        return {
            "page": end.surt == surt,
            "prefix": end.surt.startswith(surt),
            "host": end.host == host,
            "domain": f".{end.host}".endswith(f".{host}"),
        }[self.scope]

    def parts_of(self, end: End) -> Iterator[int]:
        if self.scope == "archive":
            yield 0
        yield from (number for number, uri in enumerate(self.uris) if self.is_in(end, uri))

    def leads_out(self, page: End, target: End) -> bool:
        level = "domain" if self.at == "domain" else "host"
        return not self.external or page.at(level) != target.at(level)

    def is_outside(self, number: int, page: End, target: End, other: End) -> bool:
        if self.external and not (page.host and target.host):
            return False  # a mail address is no site
        if self.external and self.scope == "domain":
            return not self.is_in(other, self.uris[number])
        return self.leads_out(page, target)

    # What is seen

    def seen(self, captures: Iterable[Capture]) -> Iterator[tuple[Capture, End, Any]]:
        for one in captures:
            for target, label in self.archive.links.get(one.content or "", ()):
                if label[0] in _NAVIGATION:
                    yield one, target, label

    @cached_property
    def inlinks_ever(self) -> list[Seen]:
        return [
            Seen(number, one.page, one.time, target, label, one.content)
            for one, target, label in self.seen(self.archive.said)
            for number in self.parts_of(target)
            if self.is_outside(number, one.page, target, one.page)
        ]

    @cached_property
    def inlinks(self) -> list[Seen]:
        return [one for one in self.inlinks_ever if self.is_asked(one.time)]

    @cached_property
    def of_part(self) -> list[tuple[int, Capture]]:
        return [
            (number, one)
            for one in self.archive.captures
            if self.is_asked(one.time)
            for number in self.parts_of(one.page)
        ]

    @cached_property
    def outlinks(self) -> list[Seen]:
        return [
            Seen(number, one.page, one.time, target, label, one.content)
            for number, capture in self.of_part
            for one, target, label in self.seen([capture])
            if self.is_outside(number, one.page, target, target)
        ]

    # Texts

    @cached_property
    def known_texts(self) -> set[Capture]:
        """The captures whose text is known."""
        return {one for one in self.archive.said if one.content in self.archive.words}

    @cached_property
    def text_of_part(self) -> list[tuple[int, Capture]]:
        """The captures of parts whose text is known, of all times."""
        return [(number, one) for one in self.known_texts for number in self.parts_of(one.page)]

    @cached_property
    def terms(self) -> list[str]:
        """The words and phrases to find, as answers name them."""
        found = re.findall(r'"([^"]+)"(\*?)|(\S+)', self.words)
        return [phrase + star or word for phrase, star, word in found]

    @cached_property
    def times(self) -> list[dict[str, int]]:
        """How often each content has each of the terms, if it has it."""
        counts = [
            {content: _times(words, term) for content, words in self.archive.words.items()}
            for term in self.terms
        ]
        return [{content: times for content, times in one.items() if times} for one in counts]

    @cached_property
    def scores(self) -> dict[str, float]:
        """The contents that have all terms, with the weight of these."""
        weights = [log(1 + len(self.archive.texts) / len(one)) if one else 0 for one in self.times]
        return {
            content: round(
                sum(
                    weight * 2.2 * one[content] / (one[content] + 1.2)
                    for weight, one in zip(weights, self.times, strict=True)
                ),
                9,
            )
            for content in self.archive.words
            if all(content in one for one in self.times)
        }

    def has_terms(self, text: str | None) -> bool:
        return text is not None and all(_times(plain_words(text), one) for one in self.terms)

    def snippet(self, content: str) -> str:
        """Return the line of a text with most terms; lines of invented texts are short."""
        text = self.archive.texts[content][3] or ""
        lines = [line for line in text.split("\n") if line]
        counts = [sum(_times(plain_words(line), one) > 0 for one in self.terms) for line in lines]
        return lines[counts.index(max(counts))].strip(" \t\n\r") if lines else ""

    # Rows

    def grouped(
        self,
        found: Iterable[Any],
        key: Callable[[Any], Any],
        time: Callable[[Any], str] = lambda one: str(one.time),
        number: Callable[[Any], int] = lambda one: int(one.number),
    ) -> Mapping[tuple[int, str, Any], list[Any]]:
        """Return groups by address, period and a key."""
        groups: dict[tuple[int, str, Any], list[Any]] = defaultdict(list)
        for one in found:
            groups[number(one), self.period(time(one)), key(one)].append(one)
        return groups


Rows = list[tuple[int, str, Row]]


def _ordered(rows: Iterable[tuple[int, str, Row]], *most: int, name: int = 0) -> Rows:
    """Return rows by address and period, those with the largest numbers first, then by name."""
    return sorted(
        rows,
        key=lambda row: (
            row[:2],
            [-row[2][column] for column in most],
            row[2][name] is None,
            row[2][name] or "",
        ),
    )


def _ends(seen: Collection[Seen]) -> tuple[str, str]:
    return min(one.time for one in seen), max(one.time for one in seen)


def _pages(seen: Iterable[Seen]) -> int:
    return len({one.page.surt for one in seen})


def _hosts(seen: Iterable[Seen]) -> int:
    return len({one.page.host for one in seen} - {None})


def _links(seen: Iterable[Seen], *, is_out: bool = False) -> int:
    """Return the number of distinct links: all variants of a page in the question are one."""
    return len(
        {
            (
                *((one.page.surt, one.target.uri) if is_out else ()),
                *(() if is_out else (one.page.written, one.target.surt)),
                one.label,
            )
            for one in seen
        }
    )


def _mementos(seen: Iterable[Seen]) -> int:
    return len({(one.page.written, one.time) for one in seen})


def _name(ends: Iterable[End], level: str) -> str | None:
    names = {end.name(level) for end in ends} - {None}
    return min(names) if names else None  # type: ignore[type-var]


def _linkers(asked: Plain) -> Rows:
    groups = asked.grouped(asked.inlinks, lambda one: one.page.at(asked.at))
    rows: Rows = [
        (
            *key[:2],
            (
                _name((one.page for one in seen), asked.at),
                _links(seen),
                _pages(seen),
                _mementos(seen),
                *_ends(seen),
            ),
        )
        for key, seen in groups.items()
    ]
    return _in_windows(asked, groups, rows) if asked.digits else _ordered(rows, 1)


def _in_windows(
    asked: Plain, groups: Mapping[Any, Sequence[Seen]], rows: Sequence[tuple[int, Any, Row]]
) -> Rows:
    """Return rows with those of windows without links; the last values are the captures."""
    captures = [one for one in asked.archive.captures if asked.is_asked(one.time)]

    def counts(key: str, window: str) -> tuple[int, int]:
        return asked.counts(
            one
            for one in captures
            if (one.page.at(asked.at), asked.period(one.time)) == (key, window)
        )

    found = [
        (number, period, (*row, *(counts(key, period) if key else (None, None))))
        for (number, period, key), (_, _, row) in zip(groups, rows, strict=True)
    ]
    names: dict[tuple[int, str], set[str]] = defaultdict(set)
    for (number, _, key), (_, _, row) in zip(groups, rows, strict=True):
        if key:
            names[number, key].add(row[0])
    windows = [*_windows_between(asked, [one.time for one in captures])]
    if asked.digits == 8:  # days without captures have one row for all names
        windows = sorted({asked.period(one.time) for one in captures})
    for (number, key), of_key in names.items():
        for window in windows:
            if (number, window, key) not in groups:
                links = 0 if counts(key, window)[1] else None
                row = (min(of_key), links, links, links, None, None, *counts(key, window))
                found.append((number, window, row))
    return sorted(
        found,
        key=lambda row: (
            *(*row[:2], row[2][1] is None, -(row[2][1] or 0)),
            *(row[2][0] is None, row[2][0] or ""),
        ),
    )


def _with_unknown(asked: Plain, rows: Rows) -> Rows:
    """Return rows with what is known in their windows, and rows of windows with nothing."""
    question = QUESTIONS[asked.name]
    if not asked.digits or asked.name in _TIMELESS or question.is_by_calendar:
        return rows
    read = [
        (one, [*asked.parts_of(one.page)])
        for one in asked.archive.captures
        if asked.is_asked(one.time)
    ]
    if question.basis is Basis.ARCHIVE:
        read = [(one, [*range(len(asked.uris) or 1)]) for one, _ in read]
    read = [(one, parts) for one, parts in read if parts]

    def counts(number: int, window: str) -> tuple[int, int]:
        return asked.counts(
            one for one, parts in read if number in parts and asked.period(one.time) == window
        )

    found = [*rows]
    own = int("captures" in question.columns)
    if question.needs_read and not question.names_linkers:
        found = [(number, when, (*row, *counts(number, when)[own:])) for number, when, row in found]
    with_rows = {(number, when) for number, when, _ in found}
    after = ("captures", "read")[own:] if question.needs_read else ()
    columns = (*question.columns, *after)
    for number in range(1 if asked.name == "common" else len(asked.uris) or 1):
        for window in _windows_between(asked, [one.time for one, _ in read]):
            captures, links_known = counts(number, window)
            if (links_known if question.needs_read else captures) or (number, window) in with_rows:
                continue
            values: dict[str, Any] = {
                "read": 0,
                **({"captures": captures} if "captures" in after else {}),
            }
            if not question.needs_read:
                values |= dict.fromkeys(
                    ("captures", "pages", "success", "redirects", "errors", "known"), 0
                )
            found.append((number, window, tuple(map(values.get, columns))))
    return sorted(found, key=lambda row: row[:2])


def _windows_between(asked: Plain, times: Sequence[str]) -> Iterator[str]:
    """Yield the windows of the time that is asked for, else of the captures."""
    first = asked.begin or min(times, default="")
    last = asked.end if asked.end != "9" else max(times, default="")
    if first and last:
        day, end = (datetime.strptime(time[:8], "%Y%m%d") for time in (first, last))
        days = [f"{day + timedelta(number):%Y%m%d}" for number in range((end - day).days + 1)]
        yield from dict.fromkeys(map(asked.period, days))


def _led_to(asked: Plain) -> Rows:
    return _ordered(
        (
            (
                *key[:2],
                (
                    _name((one.target for one in seen), asked.at),
                    _links(seen, is_out=True),
                    _pages(seen),
                    _mementos(seen),
                    *_ends(seen),
                ),
            )
            for key, seen in asked.grouped(
                asked.outlinks, lambda one: one.target.at(asked.at)
            ).items()
        ),
        1,
    )


def _host_links(asked: Plain) -> Rows:
    links = [
        *asked.inlinks,
        *(one for one in asked.outlinks if one.number not in asked.parts_of(one.target)),
    ]
    rows = []
    groups = asked.grouped(
        (one for one in links if one.page.host and one.target.host),
        lambda one: (one.page.at(asked.at), one.target.at(asked.at)),
    )
    shown = {
        key: seen for key, seen in groups.items() if None not in key[2] and key[2][0] != key[2][1]
    }
    ends: dict[str | None, list[End]] = defaultdict(list)
    for seen in shown.values():
        for one in seen:
            ends[one.page.at(asked.at)].append(one.page)
            ends[one.target.at(asked.at)].append(one.target)
    for (number, period, (source, target)), seen in shown.items():
        row = (
            _name(ends[source], asked.at),
            _name(ends[target], asked.at),
            len({(one.page.surt, one.target.surt, one.label) for one in seen}),
            _pages(seen),
            _mementos(seen),
            *_ends(seen),
        )
        rows.append((number, period, row))
    return sorted(rows, key=lambda row: (row[:2], -row[2][2], row[2][:2]))


def _anchors(asked: Plain) -> Rows:
    rows = []
    for key, seen in asked.grouped(asked.inlinks, lambda one: one.label[1]).items():
        contents = len({one.content for one in seen})
        counts = (_links(seen), contents, _pages(seen), _mementos(seen), _hosts(seen))
        kinds = " ".join(sorted({one.label[0] for one in seen}))
        rows.append((*key[:2], (key[2], *counts, *_ends(seen), kinds)))
    return _ordered(rows, 1)


def _tld(host: str | None) -> str | None:
    if host is None:
        return None
    is_address = ":" in host or host.replace(".", "").isdigit()
    return "address" if is_address else host.rpartition(".")[2]


def _tlds(asked: Plain) -> Rows:
    return _ordered(
        (
            (
                *key[:2],
                (
                    key[2],
                    len({one.page.domain for one in seen} - {None}),
                    _hosts(seen),
                    _pages(seen),
                    *_ends(seen),
                ),
            )
            for key, seen in asked.grouped(asked.inlinks, lambda one: _tld(one.page.host)).items()
        ),
        1,
        3,
    )


def _by_target(asked: Plain, found: Iterable[Seen]) -> Mapping[tuple[int, str, Any], list[Seen]]:
    return asked.grouped(
        (one for one in found if one.target.host is not None), lambda one: one.target.at(asked.at)
    )


def _newest(captures: Iterable[Capture], attribute: str) -> Any:
    """Return a value of the newest capture that has one; of one second, the greatest."""
    found = [
        (one.time, value) for one in captures if (value := getattr(one, attribute)) is not None
    ]
    return max(found)[1] if found else None


def _captured(asked: Plain) -> Mapping[str | None, list[Capture]]:
    found: dict[str | None, list[Capture]] = defaultdict(list)
    for one in asked.archive.captures:
        found[one.page.at(asked.at)].append(one)
    return found


def _saying(captures: Iterable[Capture]) -> list[Capture]:
    return [one for one in captures if not one.is_silent]


def _page_name(captures: Collection[Capture]) -> str:
    return min(one.page.uri for one in _saying(captures) or captures)


def _most_linked(asked: Plain) -> Rows:
    captured = _captured(asked)
    return _ordered(
        (
            (
                *key[:2],
                (
                    _name((one.target for one in seen), asked.at),
                    _hosts(seen),
                    _pages(seen),
                    *_ends(seen),
                    len(captured.get(key[2], ())),
                ),
            )
            for key, seen in _by_target(asked, asked.inlinks).items()
        ),
        1,
        2,
    )


def _broken(asked: Plain) -> Rows:
    captured = _captured(asked)
    rows = []
    for key, seen in _by_target(asked, asked.inlinks).items():
        captures = _saying(captured.get(key[2], ()))
        if all(one.is_error for one in captures):
            row = (
                _name((one.target for one in seen), asked.at),
                "only errors" if captures else "never captured",
                _newest(captures, "status"),
                _hosts(seen),
                _pages(seen),
                *_ends(seen),
            )
            rows.append((*key[:2], row))
    return _ordered(rows, 3, 4)


def _to_capture(asked: Plain, *, is_stale: bool) -> Rows:
    """Return the rows of `gaps` and `stale`; the last column is that of the last capture."""
    captured = {
        key: max((one.time for one in _saying(captures)), default="")
        for key, captures in _captured(asked).items()
    }
    names: dict[tuple[int, str | None], Counter[str | None]] = defaultdict(Counter)
    for links in asked.archive.links.values():
        for target, label in links:
            if label[0] in _NAVIGATION and target.uri.lower().startswith(("http://", "https://")):
                for number in asked.parts_of(target):
                    names[number, target.at(asked.at)][target.name(asked.at)] += 1
    rows = []
    for key, found in _by_target(asked, asked.inlinks).items():
        last = captured.get(key[2], "")
        seen = [one for one in found if one.time > last and (last < asked.begin or not asked.begin)]
        counts = names[key[0], key[2]]
        if seen and counts and bool(last) == is_stale:
            name = min(counts, key=lambda name: (-counts[name], name))
            rows.append((*key[:2], (name, _hosts(seen), _pages(seen), *_ends(seen), last)))
    return _ordered(rows, 1, 2)


def _gaps(asked: Plain) -> Rows:
    return [
        (number, period, row[:-1]) for number, period, row in _to_capture(asked, is_stale=False)
    ]


def _stale(asked: Plain) -> Rows:
    return _to_capture(asked, is_stale=True)


def _common(asked: Plain) -> Rows:
    groups = asked.grouped(
        asked.inlinks, lambda one: one.page.at(asked.at), number=lambda _: 0
    ).items()
    return _ordered(
        (
            (
                *key[:2],
                (
                    _name((one.page for one in seen), asked.at),
                    _links(seen),
                    _pages(seen),
                    *_ends(seen),
                ),
            )
            for key, seen in groups
            if len({one.number for one in seen}) == max(len(asked.uris), 1)
        ),
        1,
    )


def _linked_with(asked: Plain) -> Rows:
    linking = {
        (one.number, capture)
        for capture in asked.archive.said
        for one in asked.inlinks
        if (one.page, one.time) == (capture.page, capture.time)
        and (one.target, one.label) in asked.archive.links.get(capture.content or "", ())
    }
    also = [
        Seen(number, one.page, one.time, target, label, one.content)
        for number, capture in linking
        for one, target, label in asked.seen([capture])
        if number not in asked.parts_of(target) and asked.leads_out(one.page, target)
    ]
    return _ordered(
        (
            (
                *key[:2],
                (
                    _name((one.target for one in seen), asked.at),
                    _hosts(seen),
                    _pages(seen),
                    *_ends(seen),
                ),
            )
            for key, seen in _by_target(asked, also).items()
        ),
        1,
        2,
    )


def _new_lost(asked: Plain) -> Rows:
    known: dict[str, dict[str, End]] = defaultdict(dict)
    for capture in asked.archive.said:
        if capture.is_known:
            times = known[capture.page.surt]
            times[capture.time] = min(times.get(capture.time, capture.page), capture.page)
    links: dict[tuple[int, str, str], list[Seen]] = defaultdict(list)
    for one in asked.inlinks_ever:
        links[one.number, one.page.surt, one.target.surt].append(one)
    events = []  # a number, a page, a time, a column
    for (number, surt, _), seen in links.items():
        first, last = _ends(seen)
        is_added = any(time < first for time in known[surt])
        events.append((number, known[surt][first], first, 1 if is_added else 2))
        after = [time for time in known[surt] if time > last]
        if after:
            events.append((number, known[surt][min(after)], min(after), 3))
    groups = asked.grouped(
        (one for one in events if asked.is_asked(one[2])),
        lambda one: one[1].at(asked.at),
        lambda one: one[2],
        lambda one: one[0],
    )
    rows = [
        (
            *key[:2],
            (
                _name((one[1] for one in some), asked.at),
                *(sum(one[3] == column for one in some) for column in (1, 2, 3)),
                len(some),
            ),
        )
        for key, some in groups.items()
    ]
    return [(*row[:2], row[2][:4]) for row in _ordered(rows, 4)]


def _compared(asked: Plain) -> Iterator[tuple[int, str | None, str, dict[str, list[Capture]]]]:
    """Yield the pages with a later capture: number, both times, and captures by time."""
    pages: dict[tuple[int, str], dict[str, list[Capture]]] = defaultdict(lambda: defaultdict(list))
    for one in asked.archive.said:
        if one.is_known and one.time <= asked.end:
            for number in asked.parts_of(one.page):
                pages[number, one.page.surt][one.time].append(one)
    for (number, _), times in pages.items():
        earlier = [time for time in times if time <= asked.begin]
        first = max(earlier, default=None) if asked.begin else min(times)
        if first != max(times):
            yield number, first, max(times), times


def unchanged_pages(asked: Plain) -> int:
    """Return the number of pages that were compared at two times and do not differ."""
    return sum(1 for _ in _compared(asked)) - len(_changed(asked))


def _changed(asked: Plain) -> Rows:
    def links_of(
        number: int, captures: Iterable[Capture]
    ) -> set[tuple[str, tuple[str, str, str | None]]]:
        return {
            (target.uri, label)
            for one, target, label in asked.seen(captures)
            if asked.is_outside(number, one.page, target, target)
        }

    def of(captures: Iterable[Capture], attribute: str) -> Any:
        values = {getattr(one, attribute) for one in captures} - {None}
        return max(values) if values else None

    rows = []
    for number, first, last, times in _compared(asked):
        name = min(one.page.uri for some in times.values() for one in some)
        before, after = times[first] if first else [], times[last]
        old, new = links_of(number, before), links_of(number, after)
        values = [of(side, of_it) for of_it in ("status", "title") for side in (after, before)]
        sums = [{one.payload for one in side} - {None} for side in (before, after)]
        differs = {
            "content": all(sums) and sums[0] != sums[1] and _are_comparable(*sums),
            "links": old != new,
            "status": not {None, 304} & {*values[:2]} and values[0] != values[1],
            "title": None not in values[2:] and values[2] != values[3],
        }
        state = ", ".join(what for what, is_other in differs.items() if is_other)
        links = len(old ^ new), len(new - old), len(old - new)
        if first is None:
            state, links = "not known before", (None, None, None)  # type: ignore[assignment]
        if state:
            rows.append((number, "", (name, state, *links, *values, first, last)))
    rows.sort(key=lambda row: (row[0], row[2][2] is None, -(row[2][2] or 0), row[2][0]))
    return rows


def _are_comparable(one: Collection[str | None], other: Collection[str | None]) -> bool:
    of_one, of_other = (
        {payload.rpartition(":")[0] for payload in some if payload} for some in (one, other)
    )
    return of_one == of_other or "redirect" in of_one | of_other


def _twice(asked: Plain) -> tuple[str, list[tuple[Seen, bool]]]:
    """Return the last period, and the links in it (True) and the one before, of pages in both."""
    times = [one.time for one in asked.archive.said if asked.is_asked(one.time)]
    periods = sorted({asked.period(time) for time in times})[-2:]
    if len(periods) < 2:
        return "", []
    before, after = periods
    known = {
        (one.page.surt, asked.period(one.time))
        for one in asked.archive.said
        if one.is_known and asked.is_asked(one.time)
    }
    return after, [
        (one, asked.period(one.time) == after)
        for one in asked.inlinks
        if known >= {(one.page.surt, before), (one.page.surt, after)}
        and asked.period(one.time) in periods
    ]


def _new_words(asked: Plain) -> Rows:
    after, found = _twice(asked)
    groups: dict[tuple[int, str], list[tuple[Seen, bool]]] = defaultdict(list)
    for one, is_after in found:
        groups[one.number, one.label[1]].append((one, is_after))
    rows = []
    for (number, text), some in groups.items():
        seen = [one for one, _ in some]
        if len({is_after for _, is_after in some}) == 1:
            state = "came" if some[0][1] else "went"
            rows.append((number, after, (text, state, _pages(seen), _hosts(seen))))
    return _ordered(rows, 2)


def _rising(asked: Plain) -> Rows:
    after, found = _twice(asked)
    rows = []
    groups: dict[tuple[int, str | None], list[tuple[Seen, bool]]] = defaultdict(list)
    for one, is_after in found:
        if one.target.host:
            groups[one.number, one.target.at(asked.at)].append((one, is_after))
    for (number, _), some in groups.items():
        old, new = ([one for one, is_new in some if is_new is wanted] for wanted in (False, True))
        counts = _pages(new), _pages(old), _hosts(new), _hosts(old)
        if counts[0] > counts[1]:
            name = _name((one.target for one in (*old, *new)), asked.at)
            rows.append((number, after, (name, *counts, counts[0] - counts[1])))
    return [(*row[:2], row[2][:5]) for row in _ordered(rows, 5)]


def _churn(asked: Plain) -> Rows:
    pages: dict[tuple[int, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    ends = {one.page.written: one.page for one in asked.archive.said}
    for one in asked.archive.said:
        for number in asked.parts_of(one.page) if one.is_known else ():
            pages[number, one.page.written][one.time] |= {
                target.surt
                for _, target, _ in asked.seen([one])
                if target.host and asked.is_outside(number, one.page, target, target)
            }
    pairs = [
        (number, ends[page], earlier, later, times[earlier], times[later])
        for (number, page), times in pages.items()
        for earlier, later in pairwise(sorted(times))
        if asked.is_asked(later)
    ]
    groups = asked.grouped(
        pairs, lambda one: one[1].at(asked.at), lambda one: one[3], lambda one: one[0]
    )
    rows = [
        (
            *key[:2],
            (
                _name((one[1] for one in some), asked.at),
                len({one[1].written for one in some}),
                len(some),
                round(
                    sum(_seconds(one[3]) - _seconds(one[2]) for one in some) / 86_400 / len(some), 6
                ),
                sum(len(one[4]) for one in some),
                sum(len(one[5] - one[4]) for one in some),
                sum(len(one[4] - one[5]) for one in some),
                sum(len(one[4] ^ one[5]) for one in some),
            ),
        )
        for key, some in groups.items()
    ]
    return [(*row[:2], row[2][:7]) for row in _ordered(rows, 7)]


def _seconds(time: str) -> int:
    return int(datetime.strptime(f"{time}+0000", "%Y%m%d%H%M%S%z").timestamp())


def _survival(asked: Plain) -> Rows:
    """Each link by itself, and each month by itself."""
    pages: dict[tuple[int, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for number, one in asked.of_part:
        if one.is_known:
            pages[number, one.page.written][one.time] |= {
                name
                for _, target, _ in asked.seen([one])
                if asked.is_outside(number, one.page, target, target)
                and target.host
                and (name := target.at(asked.at))
            }
    lives: dict[tuple[int, str], list[tuple[int, int | None]]] = defaultdict(list)
    for (number, _), times in pages.items():
        for name in set().union(*times.values()):
            having = sorted(time for time, names in times.items() if name in names)
            born, seen = having[0], having[-1]
            if asked.new and born == min(times):
                continue
            missed = min((time for time in times if time > seen), default=None)
            lives[number, asked.period(born)].append(
                (
                    _seconds(seen) - _seconds(born),
                    _seconds(missed) - _seconds(born) if missed else None,
                )
            )
    rows = []
    for (number, period), some in sorted(lives.items()):
        days = {
            "earliest": [seen for seen, _ in some],
            "middle": [seen if end is None else (seen + end) // 2 for seen, end in some],
            "latest": [seen if end is None else end for seen, end in some],
        }
        gone = [end is not None for _, end in some]
        month = 0
        while (day := int(month * 30.436875)) <= max(days["middle"]) // 86_400:
            shares = {
                name: _survive([*zip(ends, gone, strict=True)], day) for name, ends in days.items()
            }
            share, variance = shares["middle"]
            low = high = None
            if 0 < share < 1:
                low, high = (
                    round(share ** exp(sign * 1.959963984540054 * sqrt(variance) / log(share)), 6)
                    for sign in (-1, 1)
                )
            alive = sum(end // 86_400 >= day for end in days["middle"])
            middle = zip(days["middle"], gone, strict=True)
            ended = sum(end // 86_400 <= day for end, is_gone in middle if is_gone)
            ends = (round(shares[name][0], 6) for name in ("earliest", "latest"))
            rows.append((number, period, (month, alive, ended, round(share, 6), low, high, *ends)))
            month += 1
    return rows


def _survive(lives: Sequence[tuple[int, bool]], until: int) -> tuple[float, float]:
    """Return the share that lives longer than some days (Kaplan and Meier), and Greenwood's sum."""
    share, variance = 1.0, 0.0
    for day in sorted({end // 86_400 for end, is_gone in lives if is_gone}):
        if day <= until:
            alive = sum(end // 86_400 >= day for end, _ in lives)
            deaths = sum(end // 86_400 == day for end, is_gone in lives if is_gone)
            share *= 1 - deaths / alive
            variance += deaths / (alive * (alive - deaths)) if alive > deaths else 0
    return share, variance


def _first_linkers(asked: Plain) -> Rows:
    groups: dict[tuple[int, str | None], list[Seen]] = defaultdict(list)
    for one in asked.inlinks_ever:
        key = one.page.written if asked.at == "uri" else one.page.at(asked.at)
        groups[one.number, key].append(one)
    rows = []
    for (number, name), seen in groups.items():
        time, page, target, _, text = min(
            (one.time, one.page.written, one.target.uri, *one.label[:2]) for one in seen
        )
        before = [
            one.time
            for one in asked.archive.said
            if one.page.written == page and one.time < time and one.is_known
        ]
        if asked.is_asked(time):
            row = (name, time, max(before, default=None), page, text, target)
            rows.append((number, asked.period(time), row))
    rows.sort(key=lambda row: (row[2][0] is None, row[2][0] or ""))
    return sorted(rows, key=lambda row: (*row[:2], row[2][1]))


def _typical_words(asked: Plain) -> Rows:
    def terms_of(text: str) -> list[str]:
        return plain_words(text) if asked.of == "word" else [text] if text else []

    level = {"page": "uri", "prefix": "uri", "domain": "domain"}.get(asked.scope, "host")
    documents: dict[str | None, set[str]] = defaultdict(set)
    for of_content in asked.archive.links.values():
        for target, (_, text, _) in of_content:
            if target.host and terms_of(text):
                documents[target.at(level)].update(terms_of(text))
    inlinks = [one for one in asked.inlinks if one.target.host]
    found = [(term, one) for one in inlinks for term in {*terms_of(one.label[1])}]
    groups = asked.grouped(
        found, lambda one: one[0], lambda one: one[1].time, lambda one: one[1].number
    )
    rows = []
    for (number, period, term), some in groups.items():
        seen = [one for _, one in some]
        links = {(one.page.written, one.target.uri, one.label) for one in seen}
        tf = sum(Counter(terms_of(label[1]))[term] for _, _, label in links)
        df = sum(term in terms for terms in documents.values())
        weight = round(tf * log10(len(documents) / df), 4)
        counts = _pages(seen), _mementos(seen), _hosts(seen), *_ends(seen)
        rows.append((number, period, (term, weight, tf, df, *counts)))
    return _ordered(rows, 1, 2)


def _times(words: Sequence[str], term: str) -> int:
    """Return how often words have those of a term one after the other."""
    of_term = plain_words(term)
    places = range(len(words)) if of_term else ()
    return sum(_begins(words[place:], of_term, term.endswith("*")) for place in places)


def _search(asked: Plain) -> Rows:
    hits: dict[tuple[int, str, str], list[Capture]] = defaultdict(list)
    for number, one in asked.text_of_part:
        if asked.is_asked(one.time) and one.content in asked.scores:
            hits[number, asked.period(one.time), one.page.surt].append(one)
    links: dict[tuple[int, str, str], list[tuple[Capture, End, str]]] = defaultdict(list)
    for one, target, label in asked.seen(asked.archive.said):
        for number in asked.parts_of(target) if asked.is_asked(one.time) else ():
            key = number, asked.period(one.time), target.surt
            links[key].append((one, target, label[1]))
    said_in_links = {
        key: found
        for key, of_page in links.items()
        if (found := [link for link in of_page if asked.has_terms(link[2])])
    }
    rows = []
    for key in {*hits, *said_in_links}:
        of_page, called, linking = hits[key], said_in_links.get(key, []), links[key]
        best = max(
            ((asked.scores[str(one.content)], one.time, str(one.content)) for one in of_page),
            default=None,
        )
        title = asked.archive.texts[best[2]][1] if best else None
        is_in_title = asked.has_terms(title)
        weight = best[0] * (1.5 if is_in_title else 1) if best else 0
        weight += 2 * log(1 + len({one.page.surt for one, _, _ in called}))
        pages = len({one.page.surt for one, _, _ in linking})
        where = {"text": best, "title": is_in_title, "words": called}
        times = [one.time for one in of_page]
        row = (
            min(one.page.uri for one in of_page) if best else min(one.uri for _, one, _ in called),
            round(weight * log(2.71828 + pages), 3),
            ", ".join(name for name, is_found in where.items() if is_found),
            title,
            pages,
            len({one.page.host for one, _, _ in linking} - {None}),
            len(of_page),
            min(times, default=None),
            max(times, default=None),
            asked.snippet(best[2]) if best else "",
        )
        rows.append((*key[:2], row))
    ordered = _ordered(rows, 1)
    if asked.by_date:
        ordered.sort(key=lambda row: row[2][8] or "", reverse=True)
    return sorted(ordered, key=lambda row: row[:2])


def _frequency(asked: Plain) -> Rows:
    known: dict[tuple[int, str], list[Capture]] = defaultdict(list)
    for number, one in asked.text_of_part:
        if asked.is_asked(one.time):
            known[number, asked.period(one.time)].append(one)
    rows = []
    for key in sorted(known):
        for term, contents in zip(asked.terms, asked.times, strict=True):
            said = [one for one in known[key] if one.content in contents]
            percent = round(100 * len(said) / len(known[key]), 3)
            rows.append((*key, (term, len(said), percent, len({one.page.surt for one in said}))))
    return rows


def _first_said(asked: Plain) -> Rows:
    captures: dict[tuple[int, str], list[Capture]] = defaultdict(list)
    for number, one in asked.text_of_part:
        captures[number, one.page.surt].append(one)
    pages: dict[tuple[int, str | None], list[tuple[str, str, Capture, str | None]]]
    pages = defaultdict(list)
    for (number, surt), of_page in captures.items():
        said = [one for one in of_page if one.content in asked.scores]
        if said:
            first = min(said, key=lambda one: (one.time, one.page.uri, one.content))
            before = (one.time for one in of_page if one not in said and one.time < first.time)
            name = _name((one.page for one in said), asked.at)
            pages[number, name].append((first.time, surt, first, max(before, default=None)))
    rows = []
    for (number, name), found in pages.items():
        time, _, one, last_without = min(found)
        if asked.is_asked(time):
            content = str(one.content)
            title = asked.archive.texts[content][1]
            row = (name, time, last_without, one.page.uri, title, asked.snippet(content))
            rows.append((number, asked.period(time), row))
    rows.sort(key=lambda row: (*row[:2], row[2][1], row[2][0] is None, row[2][0] or ""))
    return rows


def _bursts(asked: Plain) -> Rows:
    rows = []
    captures: dict[tuple[int, str], dict[str, list[Capture]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for number, one in asked.text_of_part:
        if asked.is_asked(one.time):
            captures[number, asked.period(one.time)][one.page.surt].append(one)
    for number in {number for number, _ in captures}:
        windows = sorted(window for of, window in captures if of == number)
        shown = []  # a page counts once in a window
        for window in windows:
            of_pages = captures[number, window].values()
            firsts = [min(some, key=lambda one: (one.time, one.content)) for some in of_pages]
            shown.append(
                [(one.page.host, {*asked.archive.words[str(one.content)]} - {""}) for one in firsts]
            )
        menus: dict[str | None, set[str]] = defaultdict(set)
        for pages in shown:
            for host in {host for host, _ in pages}:
                texts = [words for of, words in pages if of == host]
                counts = Counter(word for words in texts for word in words)
                most = len(texts) / 2 if len(texts) >= 4 else inf
                menus[host] |= {word for word, count in counts.items() if count > most}
        said = [
            Counter(word for host, words in pages for word in words - menus[host])
            for pages in shown
        ]
        for word in {word for counts in said for word in counts}:
            pairs = [(counts[word], len(pages)) for counts, pages in zip(said, shown, strict=True)]
            rows += [(number, "", row) for row in _bursts_of(word, pairs, windows)]
    rows.sort(key=lambda row: (row[0], -row[2][3], row[2][0], row[2][1]))
    return rows


def _bursts_of(
    word: str, pairs: Sequence[tuple[int, int]], windows: Sequence[str]
) -> Iterator[Row]:
    """Yield the bursts of a word; ``pairs`` are the pages with it, and all, in each window."""
    usual = sum(said for said, _ in pairs) / sum(pages for _, pages in pairs)
    if max(said for said, _ in pairs) < 4 or usual >= 0.5:
        return

    def cost(state: int, said: int, pages: int) -> float:
        share = min(0.999, 2 * usual) if state else usual
        return -(said * log(share) + (pages - said) * log(1 - share))

    ways = {0: (0.0, ""), 1: (inf, "")}  # the cheapest one to each state
    for pair in pairs:
        ways = {
            state: min(
                (price + log(len(pairs)) * (state > before) + cost(state, *pair), f"{way}{state}")
                for before, (price, way) in ways.items()
            )
            for state in (0, 1)
        }
    for burst in re.finditer("1+", min(ways.values())[1]):
        some, (begin, end) = pairs[burst.start() : burst.end()], burst.span()
        said, pages = (sum(one) for one in zip(*some, strict=True))
        yield (
            word,
            windows[begin],
            windows[end - 1],
            round(sum(cost(0, *one) - cost(1, *one) for one in some), 3),
            round(100 * said / pages, 3),
            round(100 * usual, 3),
            said,
            pages,
        )


def _captures_of(asked: Plain, key: Callable[[Capture], Any]) -> Any:
    return asked.grouped(
        asked.of_part, lambda one: key(one[1]), lambda one: one[1].time, lambda one: one[0]
    ).items()


def _captures(asked: Plain) -> Rows:
    rows = []
    for key, found in _captures_of(asked, lambda _: None):
        some = [one for _, one in found]
        hundreds = [(one.status or 0) // 100 for one in some]
        times = [one.time for one in some]
        row = (
            len(some),
            len({one.page.surt for one in some}),
            hundreds.count(2),
            hundreds.count(3),
            sum(one.is_error for one in some),
            sum(one.is_known for one in some),
            min(times),
            max(times),
        )
        rows.append((*key[:2], row))
    return sorted(rows)


def _hosts_of(asked: Plain) -> Rows:
    rows = []
    for key, found in _captures_of(asked, lambda one: one.page.at(asked.at)):
        some = [one for _, one in found]
        times = [one.time for one in some]
        row = (
            _name((one.page for one in some), asked.at),
            len(some),
            len({one.page.surt for one in some}),
            min(times),
            max(times),
        )
        rows.append((*key[:2], row))
    return _ordered(rows, 1)


def _pages_of(asked: Plain) -> Rows:
    rows = []
    for key, found in _captures_of(asked, lambda one: one.page.surt):
        some = [one for _, one in found]
        times = [one.time for one in some]
        row = (
            _page_name(some),
            _newest((one for one in some if one.title), "title"),
            len(some),
            _newest(_saying(some), "status"),
            _newest(_saying(some), "mime"),
            min(times),
            max(times),
        )
        rows.append((*key[:2], row))
    return _ordered(rows, 2)


def _vanished(asked: Plain) -> Rows:
    pages: dict[tuple[int, str], list[Capture]] = defaultdict(list)
    for number, one in asked.of_part:
        pages[number, one.page.surt].append(one)
    rows = []
    for (number, _), of_page in pages.items():
        captures = _saying(of_page)
        if not captures:
            continue
        last = max((one.time for one in captures if not one.is_error), default=None)
        since = min(
            (one.time for one in captures if one.is_error and one.time > (last or "")), default=None
        )
        host_last = max(
            one.time
            for one in asked.archive.said
            if asked.is_asked(one.time)
            and (one.page.host or one.page.surt) == (captures[0].page.host or captures[0].page.surt)
        )
        is_left = asked.period(max(one.time for one in captures)) < asked.period(host_last)
        if last and (since or is_left):
            row = (
                min(one.page.uri for one in captures),
                "error" if since else "not captured again",
                _newest((one for one in captures if not one.is_error), "mime"),
                _newest(captures, "status"),
                last,
                since,
                host_last,
                len(of_page),
                _still_pointing(asked, of_page[0].page.surt, last),
            )
            rows.append((number, "", row))
    rows.sort(key=lambda row: row[2][0])
    rows.sort(key=lambda row: row[2][4], reverse=True)
    rows.sort(key=lambda row: row[2][2] not in ("text/html", "application/xhtml+xml"))
    return sorted(rows, key=lambda row: row[0])


def _still_pointing(asked: Plain, surt: str, last: str) -> int | None:
    """Return the number of pages that link to a page after a time; None if none was read then."""
    later = [one for one in asked.archive.said if one.time > last and asked.is_asked(one.time)]
    if all(one.content is None for one in later):
        return None
    pages = {one.page.surt for one, target, _ in asked.seen(later) if target.surt == surt}
    return len(pages - {surt})


def _begins(there: Sequence[str], words: Sequence[str], may_go_on: bool) -> bool:
    """Return whether words begin with those of a term; its last one may be the beginning of one."""
    there = there[: len(words)]
    if len(there) == len(words) and may_go_on and there[-1].startswith(words[-1]):
        there = [*there[:-1], words[-1]]
    return [*there] == [*words]


def _find(asked: Plain) -> Rows:
    terms = [(plain_words(term), term.endswith("*")) for term in asked.words.split()]

    def is_in_address(uri: str) -> bool:
        return all(part in uri.lower() for part in asked.words.lower().replace("*", "").split())

    def has_words(text: str | None) -> bool:
        return text is not None and all(
            any(_begins(there[place:], *term) for place in range(len(there)))
            for there in [plain_words(text)]
            for term in terms
        )

    found: dict[tuple[int, str], set[tuple[str, str]]] = defaultdict(set)
    hosts: dict[tuple[int, str], set[str | None]] = defaultdict(set)
    captures: dict[tuple[int, str], list[Capture]] = defaultdict(list)
    for one in asked.archive.captures:
        for number in asked.parts_of(one.page):
            key = number, one.page.surt
            captures[key] += [one] if asked.is_asked(one.time) else []
            of_page = [other for other in asked.archive.captures if other.page.surt == key[1]]
            if one.is_silent and _saying(of_page):
                continue
            places = {"address": is_in_address(one.page.uri), "title": has_words(one.title)}
            found[key] |= {(where, one.page.uri) for where, is_found in places.items() if is_found}
    for one, target, label in asked.seen(asked.archive.said):
        for number in asked.parts_of(target):
            key = number, target.surt
            places = {"address": is_in_address(target.uri), "words": has_words(label[1])}
            found[key] |= {(where, target.uri) for where, is_found in places.items() if is_found}
            hosts[key] |= {one.page.host} - {None} if asked.is_asked(one.time) else set()
    rows = [
        (
            key[0],
            "",
            (
                min(name for _, name in places),
                ", ".join(sorted({where for where, _ in places})),
                _newest((one for one in captures[key] if one.title), "title"),
                len(hosts[key]),
                len(captures[key]),
            ),
        )
        for key, places in found.items()
        if places and (hosts[key] or captures[key])
    ]
    return _ordered(rows, 3, 4)


def _begin(asked: Plain) -> Rows:
    pages: dict[tuple[int, str], list[Capture]] = defaultdict(list)
    links: dict[tuple[int, str], list[Seen]] = defaultdict(list)
    hosts: dict[tuple[int, str | None], list[tuple[tuple[int, int, str], Row]]] = defaultdict(list)
    for number, capture in asked.of_part:
        pages[number, capture.page.surt].append(capture)
    for seen in asked.inlinks:
        links[seen.number, seen.target.surt].append(seen)
    for key, captures in pages.items():
        read = [
            one.time
            for one in captures
            if one.content is not None
            and one.status is not None
            and 200 <= one.status < 300
            and one.mime in ("text/html", "application/xhtml+xml")
        ]
        if not read:
            continue
        texts: dict[str, set[str]] = defaultdict(set)
        for one in links[key]:
            if one.label[1]:
                texts[one.label[1]].add(one.page.surt)
        name = _page_name(captures)
        counts = _hosts(links[key]), _pages(links[key])
        row = (
            name,
            _newest((one for one in captures if one.title), "title"),
            min(texts, key=lambda text: (-len(texts[text]), text), default=None),
            *counts,
            len(captures),
            max(read),
        )
        order = (-counts[0], -counts[1], name)
        hosts[key[0], captures[0].page.host].append((order, row))
    placed = [
        (number, order[1] == 0, place, order, row)
        for (number, _), rows in hosts.items()
        for place, (order, row) in enumerate(sorted(rows)[:10])
    ]
    placed.sort(key=lambda one: one[:4])
    return [(one[0], "", one[-1]) for one in placed]


def _letters(one: str, other: str) -> int:
    """Return the number of letters that are added, missing or other (Levenshtein)."""
    row: list[int] = [*range(len(other) + 1)]
    for number, letter in enumerate(one, 1):
        before = row
        row = [number]
        for place, against in enumerate(other):
            row.append(min(before[place] + (letter != against), before[place + 1] + 1, row[-1] + 1))
    return row[-1]


def _near(asked: Plain) -> Rows:
    def most(text: str) -> int:
        return min(3, max(1, len(text) // 3))

    def is_near(one: str | None, other: str | None) -> int:
        """Return the number of letters if they are few; 0 if they are many, or none."""
        if not one or not other or len(one) > 200:
            return 0
        letters = _letters(one, other)
        return letters if letters <= most(one) else 0

    known: dict[str | None, list[tuple[End, bool]]] = defaultdict(list)
    silent = Counter(one.page.at(asked.at) for one in asked.archive.captures if one.is_silent)
    for one in asked.archive.said:
        known[one.page.at(asked.at)].append((one.page, True))
    for _, target, _label in asked.seen(asked.archive.said):
        known[target.at(asked.at)].append((target, False))
    for one in asked.archive.captures:
        if one.page.at(asked.at) not in known:  # only redirects to itself
            known[one.page.at(asked.at)].append((one.page, False))
    rows = []
    for number, uri in enumerate(asked.uris):
        surt = surt_of(UriR(uri))
        own = host_of(surt)
        if asked.scope in ("host", "domain"):
            surt = surt_of(UriR(f"http://{own if ':' not in own else f'[{own}]'}/"))
        site, _, path = surt.partition(")")
        for key, ends in known.items():
            end = ends[0][0]
            if end.host is None or not own:
                continue
            if asked.at == "domain":
                letters = is_near(domain_of(own), end.domain)
            elif asked.at == "host":
                letters = is_near(own, end.host)
            else:
                place, _, rest = end.surt.partition(")")
                letters = is_near(f"){path}", f"){rest}") if place == site else 0
                if rest == path and ":" not in end.host and ":" not in place:
                    letters = letters or is_near(own, end.host)
            if letters:
                name = _name((end for end, _ in ends), asked.at)
                rows.append(
                    (number, "", (name, letters, sum(is_it for _, is_it in ends) + silent[key]))
                )
    rows.sort(key=lambda row: (row[0], row[2][1], -row[2][2], row[2][0]))
    return rows


_ANSWERS: Mapping[str, Callable[[Plain], Rows]] = {
    "linkers": _linkers,
    "new-lost": _new_lost,
    "first-linkers": _first_linkers,
    "survival": _survival,
    "diff": _changed,
    "anchors": _anchors,
    "typical-anchors": _typical_words,
    "new-anchors": _new_words,
    "most-linked": _most_linked,
    "rising": _rising,
    "broken": _broken,
    "gaps": _gaps,
    "stale": _stale,
    "tlds": _tlds,
    "led-to": _led_to,
    "host-links": _host_links,
    "common": _common,
    "linked-with": _linked_with,
    "captures": _captures,
    "churn": _churn,
    "hosts": _hosts_of,
    "begin": _begin,
    "pages": _pages_of,
    "find": _find,
    "search": _search,
    "frequency": _frequency,
    "first-said": _first_said,
    "bursts": _bursts,
    "near": _near,
    "vanished": _vanished,
}
