"""Every question in every scope: the answer is that of plain Python, which uses no SQL."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from threading import get_ident
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.formats.link_rows import anchors_as_rows
from arclink.access.levels import AnchorsQuery, LevelQuery, answer_anchors, answer_level
from arclink.access.queries import Direction
from arclink.access.tallies import Period
from arclink.analysis.matrices.slices import Level
from arclink.analysis.questions.asking import ask
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.table import EXTRA, QUESTIONS
from arclink.analysis.relations.database import RelationsDatabase, ShownRelations
from arclink.errors import LimitError, UsageError
from arclink.rows.texts import TextRow
from arclink.store.location import open_store
from tests.captures.archives import T1, T2, Record, store_of
from tests.questions import archive as odd
from tests.questions.on_pages import SELECTIONS, check_changes, page_numbers
from tests.questions.page_texts import WORDS, by_content, texts_of, words_of
from tests.questions.plain import Archive, Plain, makes_sense, unchanged_pages
from tests.relations.capture_pairs import PAIRS
from tests.relations.rows import database_of
from tests.store.memory_store import MemoryStore, Page, link

SEVERAL = {
    "page": [odd.ORG, odd.NEVER, odd.SUB, odd.UNICODE, odd.MAIL, odd.V6],
    "prefix": [odd.ORG, odd.NEWS, odd.UK, odd.ODD, odd.MAIL],
    "host": [odd.ORG, odd.SUB, odd.V4, odd.NEVER, odd.V6],
    "domain": [odd.ORG, odd.SUB, odd.UK, odd.V4, odd.V6],
}
"""Several addresses of each scope; some are parts of others."""

FORMS = [asked for asked in product(QUESTIONS, odd.ONE) if makes_sense(*asked)]

SPANS = {"all time": ("", "9"), "from and to": ("20090315000000", "20110101000000")}


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    return MemoryStore(odd.PAGES)


@pytest.fixture(scope="module")
def archive(store: MemoryStore) -> Archive:
    return Archive(store)


@pytest.fixture(scope="module")
def database(store: MemoryStore) -> Iterator[RelationsDatabase]:
    with database_of(store, by_content(store, texts_of(store)).values()) as opened:
        opened.run("SET threads = 1")
        yield opened


def check(database: RelationsDatabase, asked: Plain) -> int:
    """Compare an answer, and return its number of rows."""
    given = [("scope", asked.scope), ("limit", "0"), *(("uri", uri) for uri in asked.uris)]
    given += [(name, value) for name, value in (("level", asked.level), ("by", asked.by)) if value]
    given += [("external", "true")] if asked.external else []
    is_of_words = QUESTIONS[asked.name].words is not None
    given += [("words", asked.words)] if asked.words and is_of_words else []
    given += [("by-date", "true")] if asked.by_date else []
    given += [("of", asked.of), ("new", str(asked.new).lower())]
    given += [("from", asked.begin), ("to", asked.end)] if asked.begin else []
    answer = ask(database, AskQuery.from_parameters(given, name=asked.name))
    rows = [tuple(row.values()) for row in answer.table.to_pylist()]
    assert rows == asked.rows(), asked
    assert (answer.known.captures, answer.known.known) == asked.known(), asked
    question = QUESTIONS[asked.name]
    assert answer.texts == (asked.unknown_texts() if question.is_of_texts else None)
    assert answer.unchanged == (unchanged_pages(asked) if question.compares else None)
    names = answer.table.column_names
    asked_of, period, captures, read = EXTRA
    before = [one for one in (asked_of, period) if one in names]
    of_window = [one for one in (captures, read) if one not in question.columns]
    after = of_window if read in names else ()
    assert tuple(names) == (*before, *question.columns, *after)
    return len(rows)


def uris_of(scope: str) -> Iterator[Sequence[str]]:
    yield [odd.ONE[scope]] if odd.ONE[scope] else []
    if scope in SEVERAL:
        yield SEVERAL[scope]


def all_of(archive: Archive, name: str, scope: str) -> list[Plain]:
    """Return a question in all its forms in a scope."""
    levels = ["uri", "host", "domain"] if QUESTIONS[name].level else [""]
    forms = product(uris_of(scope), levels, ("", "month", "year"), (False, True), SPANS.values())
    return [
        replace(
            Plain(archive, name, scope, uris, level, by, external, *span),
            words=WORDS.get(name, ""),
            by_date=external,  # which makes no difference to `search`
        )
        for uris, level, by, external, span in forms
    ]


@pytest.mark.costly
@pytest.mark.parametrize(("name", "scope"), FORMS)
def test_an_answer_is_that_of_plain_python(
    database: RelationsDatabase, archive: Archive, name: str, scope: str
) -> None:
    """Each eleventh form, other ones in each scope; the next test has all. And the simplest two,
    about one address and about several.
    """
    begin = ([*QUESTIONS].index(name) + [*odd.ONE].index(scope)) % 11
    forms = all_of(archive, name, scope)
    simplest = (forms[0], forms[len(forms) // 2])
    rows = sum(check(database, asked) for asked in (*simplest, *forms[begin::11]))
    assert rows or name == "bursts"  # of many pages: see the test of bursts


@pytest.mark.long
@pytest.mark.parametrize(("name", "scope"), FORMS)
def test_all_answers_are_those_of_plain_python(
    database: RelationsDatabase, archive: Archive, name: str, scope: str
) -> None:
    for asked in all_of(archive, name, scope):
        check(database, asked)


@pytest.mark.parametrize("scope", ["archive", "domain"])
@pytest.mark.parametrize("name", [name for name, one in QUESTIONS.items() if one.groups])
def test_links_that_are_read_in_slices_give_the_same_answer(
    database: RelationsDatabase,
    archive: Archive,
    name: str,
    scope: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each slice has a few links, and all those of its groups."""
    inserts = []
    finish = RelationsDatabase.finish

    def finished(opened: RelationsDatabase, statement: str) -> None:
        inserts.append(statement.startswith("INSERT"))
        finish(opened, statement)

    monkeypatch.setattr("arclink.analysis.questions.asking._LINKS_OF_MEGABYTE", 5)
    monkeypatch.setattr(RelationsDatabase, "finish", finished)
    with database.apart(memory=1) as other:
        for asked in all_of(archive, name, scope)[::13]:
            check(other, replace(asked, uris=asked.uris[:1]))
    assert sum(inserts) > len(inserts) / 2


@pytest.mark.parametrize("name", [name for name in QUESTIONS if makes_sense(name, "domain")])
def test_links_that_are_too_many_to_be_counted_first_give_the_same_answer(
    database: RelationsDatabase, archive: Archive, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.analysis.questions.asking._MOST_COUNTED", 2)
    with database.apart() as other:
        rows = sum(check(other, asked) for asked in all_of(archive, name, "domain")[::7])
    assert rows or name == "bursts"


@pytest.mark.parametrize("scope", ["archive", "domain"])
def test_the_survival_of_links_that_pages_added(
    database: RelationsDatabase, archive: Archive, scope: str
) -> None:
    forms = [replace(asked, new=True) for asked in all_of(archive, "survival", scope)]
    assert sum(check(database, asked) for asked in forms[::5])


def test_bursts_of_a_site_of_many_pages() -> None:
    """Less than half of the pages of a host have a word in some months, and most a menu in one."""
    lines = ("page", "torch page", "Menu page", "torch Menu")
    said = {
        month: [lines[1]] * (number in (3, 4, 9)) * 5 + [lines[0]] * 7
        for number, month in enumerate(f"2010{month:02}" for month in range(1, 13))
    }
    said["201006"] = [lines[3], *[lines[2]] * 7, lines[0]]
    pages: list[Page] = []
    texts: dict[str, TextRow] = {}
    for month, of_month in said.items():
        for number, text in enumerate(of_month):
            for host in ("x.example", "www.x.example", "y.example"):
                times = [f"{month}{day:02}000000" for day in ((1, 9) if number % 3 else (5,))]
                for time in times:
                    one = Page(f"http://{host}/{number}", time, title=f"{text} {host} {time}")
                    pages.append(one)
                    texts[one.checksum] = (one.checksum, None, None, f"{text}\n{time}", False)
    store = MemoryStore(pages)
    rows = sorted(texts.values())
    archive = Archive(store, rows)
    parts: Sequence[tuple[str, list[str]]]
    parts = (("archive", []), ("host", ["http://x.example/"]), ("prefix", ["http://y.example/"]))
    several = ["http://x.example/", "http://y.example/", "http://never.example/"]
    with database_of(store, by_content(store, rows).values()) as database:
        database.run("SET threads = 1")
        for (scope, uris), by in product((*parts, ("domain", several)), ("", "day", "year")):
            asked = Plain(archive, "bursts", scope, uris, by=by)
            check(database, asked)
            if not by:
                found = {row[-8:-5] for row in asked.rows()}
                assert ("torch", "2010-04", "2010-05") in found
                assert "menu" not in {term for term, *_ in found}


def test_a_term_without_words_is_in_no_text(database: RelationsDatabase, archive: Archive) -> None:
    for name, words in product(("search", "frequency", "first-said"), ("ـ", "news ـ")):
        check(database, Plain(archive, name, words=words))


def test_what_changed_between_two_years_is_compared_at_their_ends() -> None:
    """What was not captured by the first year, or not read, is unknown, and not added."""
    page, new, unread = "http://x.example/", "http://x.example/new", "http://x.example/unread"
    pages = [
        Page(page, "20070101000000", (link(odd.ORG, "a"),), title="Old"),
        Page(page, "20081231235959", (link(odd.ORG, "a"), link(odd.UK, "b")), title="Old"),
        Page(page, "20120101000000", (link(odd.ORG, "c"), link(odd.SUB, "d")), title="New"),
        Page(page, "20130101000000", (), title="Later"),
        Page(new, "20100101000000", (link(odd.ORG, "a"),)),
        Page(unread, "20080101000000", None, reason="PAYLOAD_DAMAGED"),
        Page(unread, "20120101000000", (link(odd.ORG, "a"),)),
        Page(f"{page}same", "20080101000000", (link(odd.ORG, "a"),)),
        Page(f"{page}same", "20120101000000", (link(odd.ORG, "a"),)),
    ]
    with database_of(MemoryStore(pages)) as database:
        given = [("uri", "*.x.example"), ("from", "2008"), ("to", "2012")]
        rows = _rows(database, "diff", given)
    changed = {row["name"]: (row["state"], row["added"], row["removed"]) for row in rows}
    assert changed == {
        page: ("content, links, title", 2, 2),
        new: ("not known before", None, None),
        unread: ("not known before", None, None),
    }
    assert (rows[0]["first"], rows[0]["last"]) == ("20081231235959", "20120101000000")


def test_pages_that_vanished_come_before_other_files() -> None:
    site = "http://x.example/"
    names = {"style": "text/css", "old": "text/html", "logo": "image/png", "new": "text/html"}
    pages = [
        Page(f"{site}{name}", f"201{number}0101000000", None, mime=mime)
        for number, (name, mime) in enumerate(names.items())
    ]
    # An error is HTML, whatever was there before.
    pages += [
        Page(f"{site}{name}", "20150101000000", None, status="404", reason="MEMENTO_STATUS")
        for name in names
    ]
    with database_of(MemoryStore(pages)) as database:
        rows = _rows(database, "vanished", [("uri", site), ("scope", "host")])
    assert [(row["name"], row["mime"]) for row in rows] == [
        (f"{site}{name}", names[name]) for name in ("new", "old", "logo", "style")
    ]


def test_what_has_another_content_is_what_is_known_to_have_one(tmp_path: Path) -> None:
    """ "Not modified" is the content before; digests of two algorithms say nothing."""
    records = [
        replace(record, uri=f"http://x.example/{name}")
        for name, (_, *pair) in PAIRS.items()
        for record in pair
    ]
    records += [
        Record(
            "http://x.example/no-digest",
            T1,
            b"",
            (b"HTTP/1.1 404 Gone",),
            "revisit",
            {"WARC-Payload-Digest": ""},
        ),
        Record("http://x.example/no-digest", T2, b"<p>text"),
    ]
    path = str(store_of(tmp_path, records))
    with open_store(path) as store, ShownRelations(path, store) as database:
        rows = _rows(database, "diff", [("uri", "*.x.example")])
    changed = {row["name"].rpartition("/")[2] for row in rows if "content" in row["state"]}
    assert changed == {name for name, (what, *_) in PAIRS.items() if what == "changed"}


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_ends_an_answer_runs_in_the_thread_of_its_caller(
    database: RelationsDatabase, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may need the request that is answered, of which other threads know nothing."""
    monkeypatch.setattr("arclink.analysis.relations.database._PATIENCE", 0)
    threads = set()
    with database.apart(keep_on=lambda: threads.add(get_ident())) as other:
        ask(other, _about_site(name))
    assert threads == {get_ident()}


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_that_takes_too_long_is_stopped(
    database: RelationsDatabase, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.analysis.relations.database._PATIENCE", 0)
    with database.apart(seconds=1e-9) as other, pytest.raises(LimitError, match="stopped after"):
        ask(other, _about_site(name))


def _about_site(name: str) -> AskQuery:
    given = [("scope", "domain"), ("uri", odd.ORG), *words_of(name)]
    return AskQuery.from_parameters(given, name=name)


# Any small archive

_URIS = [odd.ORG, odd.SECURE, odd.NEWS, odd.PORT, odd.SUB, odd.UK, odd.OTHER, odd.V6]
_TIMES = [f"{year}{month}01000000" for year in (2009, 2010) for month in ("01", "02")]
_links = st.builds(
    link,
    st.sampled_from([*_URIS, odd.MAIL]),
    st.sampled_from(["", "News", "New's É"]),
    st.sampled_from(["a@href", "img@src"]),
)
_pages = st.builds(
    Page,
    st.sampled_from(_URIS),
    st.sampled_from(_TIMES),
    st.none() | st.lists(_links, max_size=4).map(tuple),
    status=st.sampled_from(["200", "200", "404", "-"]),
    mime=st.sampled_from(["text/html", "text/html", "image/png", "-"]),
    is_shared=st.booleans(),
)
_archives = st.lists(_pages, max_size=12, unique_by=lambda page: (page.original, page.timestamp))


@pytest.mark.parametrize(
    "names", [[*QUESTIONS], ["churn"], ["first-linkers"], ["survival"], ["typical-anchors"]]
)
@settings(max_examples=40, deadline=None)
@given(data=st.data(), pages=_archives, scope=st.sampled_from([*SEVERAL]))
def test_an_answer_about_any_archive_is_that_of_plain_python(
    data: st.DataObject, pages: list[Page], scope: str, names: list[str]
) -> None:
    store = MemoryStore(pages)
    name = data.draw(st.sampled_from(names))
    asked = Plain(
        Archive(store),
        name,
        scope,
        data.draw(st.lists(st.sampled_from(_URIS), min_size=1, max_size=3, unique=True)),
        data.draw(st.sampled_from(["uri", "host", "domain"])) if QUESTIONS[name].level else "",
        data.draw(st.sampled_from(["", "day", "month", "year"])),
        data.draw(st.booleans()),
        *data.draw(st.sampled_from([("", "9"), (_TIMES[1], _TIMES[2])])),
        words=data.draw(
            st.sampled_from(["", "news", "S new", "ne* e", "new.s", "New.s ne*"])
            if QUESTIONS[name].words is not True
            else st.sampled_from(["news", "ne* the", '"old news" "stra"*', "東京", "ـ news"])
        ),
        of=data.draw(st.sampled_from(["text", "word"])),
        new=data.draw(st.booleans()),
        by_date=data.draw(st.booleans()) if name == "search" else False,
    )
    texts = by_content(store, texts_of(store)).values()
    with database_of(store, texts) as database:
        database.has_texts = True  # of these pages, none may have one
        check(database, asked)


def test_a_revisit_of_an_error_that_was_not_read_is_not_read_in_its_window() -> None:
    """As in a store, where captures count by their own status: its links are unknown, not none."""
    page, other = "http://a.example/", "http://b.example/"
    pages = [
        Page(page, "20090101000000", (link(odd.ORG, "a"),)),
        Page(page, "20100101000000", None, status="404", reason="MEMENTO_STATUS"),
        Page(page, "20110101000000", None, reason="MEMENTO_STATUS", **odd.REVISIT),  # type: ignore[arg-type]
        Page(
            page, "20120101000000", (link("https://a.example/", "", "http@location"),), status="301"
        ),
        Page(other, "20130101000000", (link(odd.ORG, "b"),)),
    ]
    archive = Archive(MemoryStore(pages))
    asked = Plain(archive, "linkers", "page", [odd.ORG], by="year")
    with database_of(MemoryStore(pages)) as database:
        assert check(database, asked) == 2 * 5
    read = {row[0]: row[-1] for row in asked.rows() if row[1] == "a.example"}
    assert read == {"2009": 1, "2010": 1, "2011": 0, "2012": 0, "2013": 0}


# Windows that are listed


@pytest.mark.parametrize(
    ("name", "scope"), [asked for asked in FORMS if asked[1] in ("domain", "archive")]
)
def test_windows_that_are_listed_have_the_rows_of_their_times(
    database: RelationsDatabase, name: str, scope: str
) -> None:
    """They may overlap and leave gaps. Pages that are stale since a window begins are not those
    that are stale in it, and links that were first seen in one live on after it.
    """
    given = [("scope", scope), *([("uri", odd.ONE[scope])] if odd.ONE[scope] else [])]
    given += words_of(name)
    listed = "2009,200903/2010-06-01T00:00:00,2011,1999"
    if QUESTIONS[name].is_by_calendar:
        with pytest.raises(UsageError, match="day, month or year in this question"):
            AskQuery.from_parameters([*given, ("by", listed)], name=name)
        return
    if name in ("begin", "find", "near", "diff"):  # their rows are of no time, or of two
        assert _rows(database, name, [*given, ("by", listed)]) == _rows(database, name, given)
        return
    given.append(("limit", "0"))
    answer = ask(database, AskQuery.from_parameters([*given, ("by", listed)], name=name))
    rows, captures = [], {}
    for window in listed.split(","):
        begin, _, end = window.partition("/")
        span = [("from", begin), ("to", end or begin), ("by", "all")]
        span = [("by", window)] if name in ("stale", "survival") else span
        one = ask(database, AskQuery.from_parameters([*given, *span], name=name))
        rows += [{"period": window, **row} for row in one.rows()]
        captures[window] = one.windows.get(window, one.known.all).captures
    found = answer.rows()
    unknown = {row["period"] for row in answer.table.to_pylist()} - {row["period"] for row in rows}
    assert unknown >= {"1999"}
    if QUESTIONS[name].needs_read:  # of linkers, those without links have rows, too
        for row in [*found, *rows]:
            for counts in {"captures", "read"} - {*QUESTIONS[name].columns}:
                row.pop(counts, None)
        found = [row for row in found if name != "linkers" or row["links"]]
    assert found == sorted(rows, key=lambda row: row["period"])
    assert {window: known.captures for window, known in answer.windows.items()} == captures
    assert captures["1999"] == 0
    assert rows


# One page: the answers that read the store itself say the same


@pytest.mark.parametrize("uri", [odd.ORG, odd.NEWS, odd.SUB, odd.MAIL, odd.NEVER, odd.UNICODE])
@pytest.mark.parametrize("period", Period)
def test_links_of_a_page_are_those_of_its_levels(
    store: MemoryStore, database: RelationsDatabase, uri: str, period: Period
) -> None:
    by = period.name.lower()
    for level in (Level.HOST, Level.DOMAIN):
        given = [("uri", uri), ("level", level.value), ("kinds", "all")]
        for name, direction in (("linkers", Direction.IN), ("led-to", Direction.OUT)):
            rows = _rows(database, name, [*given, ("by", by), ("scope", "page")])
            rows = [row for row in rows if row["links"]]  # `linkers` also has windows without
            of_periods: dict[str, dict[str, tuple[object, ...]]] = defaultdict(dict)
            for row in rows:
                of_periods[row["period"]][row["name"] or ""] = tuple(
                    row[column] for column in ("links", "mementos", "first", "last")
                )
            query = LevelQuery.from_parameters([*given, ("by", by), ("limit", "0")])
            assert {
                (when, one.links.name): links
                for one in answer_level(store, query).counted[direction]
                for when, links in one.links.over_time.items()
            } == {(row["period"], row["name"] or ""): row["links"] for row in rows}
            for when, expected in of_periods.items():
                span = [("from", when), ("to", when), ("limit", "0")]
                levels = answer_level(store, LevelQuery.from_parameters([*given, *span]))
                assert expected == {
                    one.links.name: (
                        one.counts.links,
                        one.counts.mementos,
                        one.counts.first.timestamp,
                        one.counts.last.timestamp,
                    )
                    for one in levels.counted[direction]
                }


def _of_both(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return the columns of an anchor that look-ups and SQL both have."""
    return {name: value for name, value in row.items() if name != "first_uri"}


@pytest.mark.parametrize("uri", [odd.ORG, odd.NEWS, odd.SUB, odd.MAIL, odd.NEVER, odd.UNICODE])
@pytest.mark.parametrize("by", ["", "day", "month", "year"])
@pytest.mark.parametrize("kinds", ["", "all", "img@src", "other"])
def test_anchors_of_a_page_are_the_same_by_look_ups_and_by_sql(
    store: MemoryStore, database: RelationsDatabase, uri: str, by: str, kinds: str
) -> None:
    given = [("uri", uri), *([("by", by)] if by else []), *([("kinds", kinds)] if kinds else [])]
    query = AnchorsQuery.from_parameters([*given, ("limit", "0")])
    looked_up = anchors_as_rows(answer_anchors(store, query)).sections["anchors"]
    rows = _rows(database, "anchors", [*given, ("scope", "page")])
    assert [*map(_of_both, looked_up)] == [*map(_of_both, rows)]


@pytest.mark.parametrize("kinds", ["navigation", "all", "img@src"])
def test_links_of_changed_pages_are_those_of_diff(
    store: MemoryStore, database: RelationsDatabase, kinds: str
) -> None:
    compared = 0
    for span in ([], [("from", "2009"), ("to", "2010")], [("from", "200903"), ("to", "2011")]):
        rows = _rows(database, "diff", [*span, ("kinds", kinds)])
        compared += check_changes(store, rows, kinds)
    assert compared > 2


@given(pages=_archives)
@settings(max_examples=60, deadline=None)
def test_links_of_changed_pages_of_any_archive_are_those_of_diff(pages: list[Page]) -> None:
    store = MemoryStore(pages)
    with database_of(store) as database:
        check_changes(store, _rows(database, "diff", [("kinds", "all")]), "all")


@pytest.mark.parametrize("uri", [odd.ORG, odd.NEWS, odd.SUB, odd.MAIL, odd.NEVER, odd.UNICODE])
@pytest.mark.parametrize(
    ("selection", "is_external"), [*product(SELECTIONS, [False, True])], ids=repr
)
def test_a_page_shows_the_numbers_of_its_questions(
    store: MemoryStore,
    database: RelationsDatabase,
    uri: str,
    selection: dict[str, str],
    is_external: bool,
) -> None:
    given = [("uri", uri), ("kinds", "all"), ("scope", "page")]
    given = [*{**dict(given), **selection}.items()]
    assert page_numbers(store, uri, selection, is_external) == {
        (name, row["name" if name == "linkers" else "text"] or ""): (
            row["links"],
            row["first"],
            row["last"],
        )
        for name in ("anchors", "linkers")
        for row in _rows(database, name, [*given, ("external", str(is_external).lower())])
    }


def _rows(
    database: RelationsDatabase, name: str, given: list[tuple[str, str]]
) -> list[dict[str, Any]]:
    query = AskQuery.from_parameters([*given, ("limit", "0")], name=name)
    rows: list[dict[str, Any]] = ask(database, query).table.to_pylist()
    return rows
