"""Numbers as the views of a page show them, to compare with those of questions."""

from collections.abc import Mapping, Sequence
from typing import Any

from arclink.access.chronicles import answer_chronicle
from arclink.access.differences import Change, DiffQuery, answer_diff
from arclink.access.levels import AnchorsQuery, GroupLevel, LevelQuery, answer_anchors, answer_level
from arclink.access.queries import Direction, LinkQuery
from arclink.access.reader import Budget
from arclink.access.texts import printable
from arclink.model import Span, Timestamp, UriR
from arclink.store.protocols import Answers
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of

SELECTIONS: tuple[dict[str, str], ...] = (
    {},
    {"from": "2010"},
    {"to": "20090401"},
    {"from": "20100101", "to": "201006"},
    {"kinds": "navigation"},
    {"kinds": "resources", "redirects": "no"},
    {"kinds": "all", "redirects": "only"},
    {"from": "2009", "to": "2010", "kinds": "a@href"},
)
"""Parameters that views of a page and questions have."""

Numbers = dict[tuple[str, str], tuple[int, str, str]]
"""Question and text or host: links, first and last time."""


def page_numbers(store: Answers, uri: str, selection: dict[str, str], is_external: bool) -> Numbers:
    """Return the numbers that the views Words and Hosts show about links to a page.

    Only links from other hosts count if ``is_external``.
    """
    plain = LinkQuery.from_parameters([("uri", uri)])
    known = answer_chronicle(store, plain, Budget()).seen
    host = host_of(surt_of(uri))
    others = {"filter": f"!=host:{host}"} if is_external else {}
    links = LinkQuery.from_parameters([("uri", uri), *{**selection, **others}.items()])
    found: Numbers = {}
    if is_external and not host:
        return found  # what has no host is no site
    words = AnchorsQuery(links, limit=0)
    for one in answer_anchors(store, words, Budget(), known).anchors:
        links_, first, last = found.get(("anchors", printable(one.text)), (0, "9", ""))
        found["anchors", printable(one.text)] = (
            links_ + one.counts.links,
            min(first, one.counts.first.timestamp),
            max(last, one.counts.last.timestamp),
        )
    hosts = LevelQuery(links, level=GroupLevel.HOST, limit=0)
    for row in answer_level(store, hosts, Budget(), known).counted[Direction.IN]:
        counts = row.counts
        found["linkers", row.links.name] = (
            counts.links,
            counts.first.timestamp,
            counts.last.timestamp,
        )
    return found


def check_changes(store: Answers, rows: Sequence[Mapping[str, Any]], kinds: str) -> int:
    """Compare the links of changed pages with `diff`; return the number of pages with changes.

    `diff` compares what all variants of a page show, and the question the newest captures of any:
    so only pages with one variant are compared.
    """
    compared = 0
    for row in rows:
        if row["first"] is None:
            assert row["added"] is row["removed"] is None
            continue
        surt = surt_of(UriR(row["name"]))
        until = Span(last=Timestamp(row["last"]))
        if len({one.original for one in store.mementos(surt, until)}) > 1:
            continue
        given = [("uri", row["name"]), ("kinds", kinds), ("direction", "out"), ("limit", "0")]
        query = DiffQuery.from_parameters([*given, ("from", row["first"]), ("to", row["last"])])
        totals = answer_diff(store, query).totals[Direction.OUT]
        assert (row["added"], row["removed"], totals[Change.UNKNOWN]) == (
            totals[Change.ADDED],
            totals[Change.REMOVED],
            0,
        ), row
        compared += row["changes"] > 0
    return compared
