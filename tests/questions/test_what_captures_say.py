"""What a capture says about its page does not depend on how a crawler stored it.

Redirects of a page to a variant of itself say nothing, and a revisit says what the capture says
that it repeats: no answer of a question, no link in force and no difference changes with them. Only
answers about captures themselves do: their number, and their times.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.answers import answer_link_query
from arclink.access.chronicles import answer_chronicle
from arclink.access.differences import Change, DiffQuery, answer_diff
from arclink.access.queries import LinkQuery
from arclink.access.reader import State
from arclink.analysis.questions.asking import ask
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.table import QUESTIONS
from arclink.analysis.relations.database import RelationsDatabase, ShownRelations
from arclink.captures.texts import read_texts
from arclink.store.archive_paths import ArchivePaths
from arclink.store.location import open_store
from arclink.store.protocols import Answers
from arclink.uris.surts import surt_of
from tests.captures.archives import Record, store_of
from tests.questions import archive as odd
from tests.questions.page_texts import by_content, texts_of, words_of
from tests.questions.plain import makes_sense
from tests.relations.rows import database_of
from tests.store.memory_store import MemoryStore, Page, link

OF_CAPTURES: Mapping[str, Sequence[str]] = {
    "captures": ("period", "captures", "redirects", "first", "last"),
    "hosts": ("captures", "first", "last"),
    "pages": ("captures", "first", "last"),
    "begin": ("captures",),
    "find": ("captures",),
    "frequency": ("captures",),
    "near": ("captures",),
    "most-linked": ("captures",),
    "vanished": ("captures",),
}
"""The columns that tell of captures themselves, also of those that say nothing."""


def said_by(store: MemoryStore) -> RelationsDatabase:
    """Return the relations of a store, with texts."""
    return database_of(store, by_content(store, texts_of(store)).values())


Answer = list[tuple[tuple[str, str], ...]]


FORMS = [
    (name, scope, *span)
    for scope, span in (
        ("page", ()),
        ("archive", ()),
        ("domain", ("20090315000000", "2010")),
    )
    for name in QUESTIONS
    if makes_sense(name, scope)
]
"""All questions, about a page first."""


def answers(
    database: RelationsDatabase, forms: Sequence[tuple[str, ...]], *, is_all: bool = False
) -> dict[tuple[str, ...], Answer]:
    """Return the answers of questions, without what tells of captures themselves."""
    found = {}
    for form in forms:
        name, scope, *span = form
        given = [("scope", scope), ("limit", "0"), *zip(("from", "to"), span, strict=False)]
        given += [("uri", odd.ONE[scope])] if odd.ONE[scope] else []
        given += words_of(name)
        query = AskQuery.from_parameters(given, name=name)
        left_out = () if is_all else OF_CAPTURES.get(name, ())
        found[form] = sorted(
            tuple((key, repr(value)) for key, value in row.items() if key not in left_out)
            for row in ask(database, query).table.to_pylist()
            if is_all or name != "frequency" or row["term"]  # not only captures without text
        )
    if not is_all:  # rows of windows in which there are only such captures
        for key, rows in found.items():
            if key[0] == "captures":
                found[key] = [
                    tuple(
                        (name, str(sum(int(dict(row)[name]) for row in rows)))
                        for name in ("success", "errors", "known")
                    )
                ]
    return found


def links_then(store: Answers, times: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """Yield what is in force and what differs at some times, and how many links pages had."""
    for surt in sorted({memento.surt for memento in store.scan_mementos()}):  # type: ignore[attr-defined]
        uri = next(store.mementos(surt)).original
        for at in times:
            query = LinkQuery.from_parameters([("uri", uri), ("at", at), ("kinds", "all")])
            answer = answer_link_query(store, query)
            yield surt, at, *((one.memento.original, one.is_known) for one in answer.in_force)
            yield surt, at, *((one.uri, one.text, one.timestamps) for one in answer.outlinks)
            yield surt, at, *((one.uri, one.text, one.timestamps) for one in answer.inlinks)
        for before, after in pairwise(times):
            given = [("uri", uri), ("from", before), ("to", after), ("kinds", "all")]
            found = answer_diff(store, DiffQuery.from_parameters(given))
            yield surt, before, *((change, found.links[change]) for change in Change)
        captures = answer_chronicle(store, LinkQuery.from_parameters([("uri", uri)])).captures
        yield surt, [one.links for one in captures if one.state is State.READ]


def _variants(uri: str) -> list[str]:
    """Return other URIs of the same page."""
    scheme, _, rest = uri.partition("://")
    host, slash, path = rest.partition("/")
    secure = f"{'http' if scheme == 'https' else 'https'}://{rest}"
    own = [
        secure,
        f"{scheme}://www.{rest}",
        f"{scheme}://{host}:{443 if scheme == 'https' else 80}{slash}{path}",
        f"{uri}/",
        uri,
    ]
    return [other for other in own if surt_of(other) == surt_of(uri)]


def _moved(time: str, seconds: int) -> str:
    when = datetime.strptime(time, "%Y%m%d%H%M%S") + timedelta(seconds=seconds)
    return f"{when:%Y%m%d%H%M%S}"


def with_redirects(pages: Sequence[Page], seconds: int, turn: int) -> list[Page]:
    """Return captures with a redirect of each page to itself before or after each of them."""
    redirects = []
    for number, page in enumerate(pages):
        variants = _variants(page.original)
        if variants and page.original.startswith("http"):
            source = variants[(number + turn) % len(variants)]
            target = page.original if source != page.original else variants[0]
            location = (link(target, "", kind="http@location"),)
            time = _moved(page.timestamp, seconds)
            redirects.append(Page(source, time, location, status="301", mime="-"))
    assert len(redirects) > len(pages) / 2
    return [*pages, *redirects]


@pytest.fixture(scope="module")
def of_pages() -> dict[tuple[str, ...], Answer]:
    with said_by(MemoryStore(odd.PAGES)) as database:
        return answers(database, FORMS)


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("seconds", [-1, 0, 1])
def test_a_redirect_of_a_page_to_itself_changes_no_answer(
    of_pages: dict[tuple[str, ...], Answer], seconds: int, turn: int
) -> None:
    with said_by(MemoryStore(with_redirects(odd.PAGES, seconds, turn))) as database:
        found = answers(database, FORMS[turn::3])
    for key, rows in found.items():
        assert of_pages[key] == rows, key


@pytest.mark.parametrize("seconds", [-1, 0, 1])
def test_a_redirect_of_a_page_to_itself_changes_no_links_in_force(seconds: int) -> None:
    times = ("20090601000000", "20100601000000", "20110601000000")
    redirected = with_redirects(odd.PAGES, seconds, 1)
    before = [*links_then(MemoryStore(odd.PAGES), times)]
    assert before == [*links_then(MemoryStore(redirected), times)]


def _as_revisits(pages: Sequence[Page]) -> Iterator[Page]:
    """Yield captures, those whose payload their page had before as revisits."""
    seen: set[tuple[str, str, str]] = set()
    for page in sorted(pages, key=lambda one: one.timestamp):
        key = surt_of(page.original), page.checksum, page.status
        if key in seen and page.reason == "-":
            yield replace(page, record_type="revisit", mime="warc/revisit", status="-")
        else:
            yield page
        seen.add(key)


def _again(pages: Sequence[Page]) -> list[Page]:
    """Return captures, and each of them a year later."""
    return [*pages, *(replace(one, timestamp=_moved(one.timestamp, 366 * 86_400)) for one in pages)]


def test_a_revisit_in_place_of_a_response_changes_no_answer() -> None:
    pages = [page for page in _again(odd.PAGES) if page.record_type == "response"]
    revisits = [*_as_revisits(pages)]
    assert sum(page.record_type == "revisit" for page in revisits) > 20
    with said_by(MemoryStore(pages)) as database:
        expected = answers(database, FORMS[::2], is_all=True)
    with said_by(MemoryStore(revisits)) as database:
        found = answers(database, FORMS[::2], is_all=True)
    for key, rows in expected.items():
        assert found[key] == rows, key
    times = ("20100101000000", "20110101000000", "20120101000000")
    assert [*links_then(MemoryStore(pages), times)] == [*links_then(MemoryStore(revisits), times)]


P, Q = "http://example.org/p", "https://www.example.org/p/"
_BODY = b'<title>P</title><a href="http://never.example/page">Never</a>'
_OTHER = b'<title>O</title><a href="http://example.org/gone">Gone</a>'
_MOVED = (b"HTTP/1.1 301 Moved", b"Location: https://www.example.org/p/")


@pytest.mark.parametrize("time", ["20100101000000", "20100101000001", "20091231235959"])
def test_the_order_of_records_and_a_redirect_next_to_them_change_no_answer(
    tmp_path: Path, time: str
) -> None:
    """As a crawler stores a site that has moved to https: the page, and the redirect to it."""
    records = [
        Record(P, "20090101000000", _BODY),
        Record(Q, "20100101000000", _BODY),
        Record(Q, "20100101000000", _OTHER),
    ]
    redirect = Record(P, time, b"", _MOVED)
    found = []
    for number, some in enumerate(
        (records, records[::-1], [*records, redirect], [redirect, *records[::-1]])
    ):
        store = store_of(tmp_path / str(number), some)
        with open_store(str(store)) as opened:
            read_texts(str(store), opened, ArchivePaths())
        with (
            open_store(str(store)) as opened,
            ShownRelations(str(store), opened, with_texts=True) as database,
        ):
            times = ("20090601000000", "20110101000000")
            asked = FORMS[: len(QUESTIONS)]  # about the page, at all times
            found.append((answers(database, asked), [*links_then(opened, times)]))
    assert found[0] == found[1] == found[2] == found[3]


def test_a_page_of_which_only_a_redirect_to_itself_was_captured_is_not_known() -> None:
    redirect = Page(P, "20100101000000", (link(Q, "", kind="http@location"),), status="301")
    linker = Page("http://a.example/", "20100102000000", (link(P, "P"),))
    store = MemoryStore([redirect, linker])
    with database_of(store) as database:
        broken = ask(database, AskQuery.from_parameters([], name="broken"))
        assert [row["state"] for row in broken.table.to_pylist()] == ["never captured"]
        gone = ask(database, AskQuery.from_parameters([("uri", P)], name="led-to"))
        assert (gone.known.captures, gone.known.known) == (1, 0)
        assert gone.unknown
    at = LinkQuery.from_parameters([("uri", P), ("at", "2011")])
    (in_force,) = answer_link_query(store, at).in_force
    assert not in_force.is_known


def test_no_question_reads_captures_where_it_means_what_they_say() -> None:
    """All that a text reads of captures themselves is named here."""
    folder = Path(__file__).parents[2] / "arclink/analysis/questions/sql"
    reads = {
        (path.stem, found)
        for path in folder.glob("*.sql")
        for line in path.read_text().split("\n")
        if not line.lstrip().startswith("--")
        for found in re.findall(r"(?:FROM|JOIN) (captures|of_part|asked_captures)\b", line)
    }
    assert {name for name, _ in reads} == {
        "asked",  # `of_part` and what is made of it
        "begin",
        "beginning",  # addresses for a reader who types
        "captures",
        "find",
        "hosts",
        "linkers-by-window",  # the number of captures that were read, as stores count them
        "many",
        "near",
        "one",
        "pages",
        "vanished",
    }


@pytest.mark.costly
@settings(deadline=None, max_examples=8)
@given(st.data())
def test_redirects_of_pages_to_themselves_at_any_time_change_no_answer(data: st.DataObject) -> None:
    """Pages with few captures, at few times, so that all of them meet."""
    times = [f"20{year}0101000{second:03}" for year in (9, 10, 11) for second in (0, 1)]
    times = [time.replace("209", "2009", 1) for time in times]
    page = st.builds(
        Page,
        st.sampled_from([odd.ORG, odd.SECURE, odd.WWW, P, Q]),
        st.sampled_from(times),
        st.sampled_from([odd.OWN, odd.FEW, odd.HUB, ()]),
    )
    error = st.builds(
        Page,
        st.sampled_from([odd.ORG, odd.SECURE, P, Q]),
        st.sampled_from(times),
        st.none(),
        status=st.sampled_from(["404", "-"]),
        reason=st.just("MEMENTO_STATUS"),
    )
    redirect = st.builds(
        lambda source, target, time: Page(
            source, time, (link(target, "", kind="http@location"),), status="302"
        ),
        st.sampled_from([odd.ORG, odd.SECURE]),
        st.sampled_from([odd.ORG, odd.WWW]),
        st.sampled_from(times),
    )
    pages = data.draw(st.lists(page | error, min_size=1, max_size=6))
    has_page = any(surt_of(one.original) == surt_of(odd.ORG) for one in pages)
    redirects = data.draw(st.lists(redirect, min_size=1, max_size=4)) if has_page else []
    with said_by(MemoryStore(pages)) as database:
        expected = answers(database, FORMS[: len(QUESTIONS)])
    with said_by(MemoryStore([*pages, *redirects])) as database:
        found = answers(database, FORMS[: len(QUESTIONS)])
    for key, rows in expected.items():
        assert found[key] == rows, (key, pages, redirects)
