"""Answers of questions in plain Python, without SQL: what the words of the table of questions say.

An answer looks at each capture and each link of a store, one by one.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from arclink.access.texts import printable, printable_uri
from arclink.model import Memento, Outlink, Surt, UriR
from arclink.questions.table import QUESTIONS, Basis
from arclink.store.protocols import Additions
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.resolution import serialised
from arclink.uris.surts import surt_of

Row = tuple[Any, ...]

_TIMELESS = ("vanished", "find", "begin")
"""Questions whose rows have no period."""

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
    status: int | None
    mime: str | None
    record_type: str
    content: str | None
    title: str | None

    @property
    def is_known(self) -> bool:
        """Whether its links are known: an error has no links, and "not modified" may have some."""
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


class Archive:
    """The captures and links that a store reports."""

    def __init__(self, store: Additions) -> None:
        self.captures = [_capture(store, one) for one in store.scan_mementos()]
        contents = {one.content for one in self.captures} - {None}
        self.links = {
            content: [_link(link) for link in store.outlinks(content)]  # type: ignore[arg-type]
            for content in contents
        }


def _end(uri: UriR, surt: Surt, shown: str) -> End:
    host = host_of(surt)
    written = printable_uri(uri)
    return End(printable_uri(surt), shown, written, host or None, domain_of(host) or None)


def _capture(store: Additions, one: Memento) -> Capture:
    ((content, title),) = store.shown([one])
    return Capture(
        _end(one.original, one.surt, printable_uri(serialised(one.original))),
        one.timestamp,
        None if one.status == "-" else int(one.status),
        None if one.mime == "-" else one.mime,
        one.record_type,
        content,
        title and printable(title),
    )


def _link(link: Outlink) -> tuple[End, tuple[str, str, str | None]]:
    end = _end(link.target, surt_of(link.target), printable_uri(link.target))
    return end, (link.kind, printable(link.text), link.rel)


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

    def rows(self) -> list[Row]:
        """Return the rows of the answer, as a caller gets them."""
        return [
            (
                *([self.uris[number]] if len(self.uris) > 1 and self.name != "common" else []),
                *([period] if self.digits and self.name not in _TIMELESS else []),
                *row,
            )
            for number, period, row in _ANSWERS[self.name](self)
        ]

    def known(self) -> tuple[int, int]:
        """Return the number of captures that the answer is read from, and of those with known
        links.
        """
        is_whole = QUESTIONS[self.name].basis is Basis.ARCHIVE
        found = [
            one
            for one in self.archive.captures
            if self.is_asked(one.time) and (is_whole or [*self.parts_of(one.page)])
        ]
        return len(found), sum(one.is_known for one in found)

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
        surt = surt_of(UriR(uri))
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
            Seen(number, one.page, one.time, target, label)
            for one, target, label in self.seen(self.archive.captures)
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
            Seen(number, one.page, one.time, target, label)
            for number, capture in self.of_part
            for one, target, label in self.seen([capture])
            if self.is_outside(number, one.page, target, target)
        ]

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
    return _ordered(
        (
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
            for key, seen in asked.grouped(asked.inlinks, lambda one: one.page.at(asked.at)).items()
        ),
        1,
    )


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


def _words(asked: Plain) -> Rows:
    return _ordered(
        (
            (*key[:2], (key[2], _links(seen), _pages(seen), _hosts(seen), *_ends(seen)))
            for key, seen in asked.grouped(asked.inlinks, lambda one: one.label[1]).items()
        ),
        1,
    )


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
        captures = captured.get(key[2], ())
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
        for capture in asked.archive.captures
        for one in asked.inlinks
        if (one.page, one.time) == (capture.page, capture.time)
        and (one.target, one.label) in asked.archive.links.get(capture.content or "", ())
    }
    also = [
        Seen(number, one.page, one.time, target, label)
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
    for capture in asked.archive.captures:
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


def _rising(asked: Plain) -> Rows:
    times = [one.time for one in asked.archive.captures if asked.is_asked(one.time)]
    periods = sorted({asked.period(time) for time in times})[-2:]
    if len(periods) < 2:
        return []
    before, after = periods
    known = {
        (one.page.surt, asked.period(one.time))
        for one in asked.archive.captures
        if one.is_known and asked.is_asked(one.time)
    }
    rows = []
    groups: dict[tuple[int, str | None], list[Seen]] = defaultdict(list)
    for one in asked.inlinks:
        if one.target.host and known >= {(one.page.surt, before), (one.page.surt, after)}:
            groups[one.number, one.target.at(asked.at)].append(one)
    for (number, _), some in groups.items():
        old, new = ([one for one in some if asked.period(one.time) == period] for period in periods)
        counts = _pages(new), _pages(old), _hosts(new), _hosts(old)
        if counts[0] > counts[1]:
            name = _name((one.target for one in (*old, *new)), asked.at)
            rows.append((number, after, (name, *counts, counts[0] - counts[1])))
    return [(*row[:2], row[2][:5]) for row in _ordered(rows, 5)]


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
            min(one.page.uri for one in some),
            _newest((one for one in some if one.title), "title"),
            len(some),
            _newest(some, "status"),
            _newest((one for one in some if one.record_type != "revisit"), "mime"),
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
    for (number, _), captures in pages.items():
        last = max((one.time for one in captures if not one.is_error), default=None)
        since = min(
            (one.time for one in captures if one.is_error and one.time > (last or "")), default=None
        )
        host_last = max(
            one.time
            for one in asked.archive.captures
            if asked.is_asked(one.time)
            and (one.page.host or one.page.surt) == (captures[0].page.host or captures[0].page.surt)
        )
        is_left = asked.period(max(one.time for one in captures)) < asked.period(host_last)
        if last and (since or is_left):
            row = (
                min(one.page.uri for one in captures),
                "error" if since else "not captured again",
                _newest(captures, "status"),
                last,
                since,
                host_last,
                len(captures),
            )
            rows.append((number, "", row))
    rows.sort(key=lambda row: row[2][0])
    rows.sort(key=lambda row: row[2][3], reverse=True)
    return sorted(rows, key=lambda row: row[0])


def _find(asked: Plain) -> Rows:
    def has_words(text: str | None) -> bool:
        return text is not None and all(
            word in text.lower() for word in asked.words.lower().split()
        )

    found: dict[tuple[int, str], set[tuple[str, str]]] = defaultdict(set)
    hosts: dict[tuple[int, str], set[str | None]] = defaultdict(set)
    captures: dict[tuple[int, str], list[Capture]] = defaultdict(list)
    for one in asked.archive.captures:
        for number in asked.parts_of(one.page):
            key = number, one.page.surt
            places = {"address": has_words(one.page.uri), "title": has_words(one.title)}
            found[key] |= {(where, one.page.uri) for where, is_found in places.items() if is_found}
            captures[key] += [one] if asked.is_asked(one.time) else []
    for one, target, label in asked.seen(asked.archive.captures):
        for number in asked.parts_of(target):
            key = number, target.surt
            places = {"address": has_words(target.uri), "words": has_words(label[1])}
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
        name = min(one.page.uri for one in captures)
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
        (number, place, order, row)
        for (number, _), rows in hosts.items()
        for place, (order, row) in enumerate(sorted(rows)[:10])
    ]
    placed.sort(key=lambda one: one[:3])
    return [(number, "", row) for number, _, _, row in placed]


_ANSWERS: Mapping[str, Callable[[Plain], Rows]] = {
    "linkers": _linkers,
    "new-lost": _new_lost,
    "words": _words,
    "most-linked": _most_linked,
    "rising": _rising,
    "broken": _broken,
    "tlds": _tlds,
    "led-to": _led_to,
    "common": _common,
    "linked-with": _linked_with,
    "captures": _captures,
    "hosts": _hosts_of,
    "begin": _begin,
    "pages": _pages_of,
    "find": _find,
    "vanished": _vanished,
}
