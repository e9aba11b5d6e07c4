"""Example answers that tests write in every format."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pytest

from arclink.access.answers import LinkAnswer, Member, answer_link_query
from arclink.access.archives import InArchives
from arclink.access.queries import Direction, LinkQuery
from arclink.access.reader import MementoSummary
from arclink.model import Kind, Surt, Timestamp, UriR
from arclink.store.protocols import Answers

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


T1, T2 = "20091103011307", "20100130003005"


NASTY = [
    pytest.param("a\x00b\x1b[31mc\x9b2J", id="control characters"),
    pytest.param("line\nbreak\ttab\r\nend", id="line ends and tabs"),
    pytest.param("]]> <![CDATA[ <b>&amp;&lt;", id="XML"),
    pytest.param("\"double\" 'single' `back`", id="quotes"),
    pytest.param("اتصل بنا עברית", id="right to left"),
    pytest.param("\u202eevil\u2066", id="overrides"),
    pytest.param("👩\u200d👩\u200d👧 e\u0301 한국어 中文", id="emoji, combining, wide"),
    pytest.param("\ud800 lone \udfff", id="lone surrogates"),
    pytest.param("\ufffe\uffff\ufdd0", id="no characters"),
    pytest.param("=1+1;@x", id="formula"),
    pytest.param("", id="empty"),
]


def member(
    uri: str,
    text: str,
    *times: str,
    kind: str = "a@href",
    rel: str | None = None,
    variants: Sequence[str] = (A,),
    archives: InArchives | None = None,
) -> Member:
    return Member(
        UriR(uri),
        Kind(kind),
        text,
        rel,
        tuple(map(Timestamp, times)),
        tuple(map(UriR, variants)),
        archives,
    )


def answer_of(
    outlinks: Iterable[Member] = (),
    inlinks: Iterable[Member] = (),
    uri: str = A,
    is_grouped: bool = True,
) -> LinkAnswer:
    return LinkAnswer(
        LinkQuery(UriR(uri), Surt("example,a)/")),
        MementoSummary(2, Timestamp(T1), Timestamp(T2), 2, 2),
        (),
        tuple(outlinks),
        tuple(inlinks),
        is_grouped,
        is_grouped,
        None,
    )


def stream_members(store: Answers, query: LinkQuery) -> Iterator[tuple[Direction, Member]]:
    """Yield all members in store order, outlinks first, one by one from the store."""
    answer = answer_link_query(store, replace(query, limit=0, cursor=None))
    yield from ((Direction.OUT, member) for member in answer.outlinks)
    yield from ((Direction.IN, member) for member in answer.inlinks)
