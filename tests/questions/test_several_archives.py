"""Questions to several archives: what rows say together, against one store of all captures."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest

from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.declarations import Given
from arclink.access.formats.rows import ROW_FORMATS
from arclink.analysis.questions.archive_answers import columns_of, read_answer
from arclink.analysis.questions.asking import AskAnswer, ask
from arclink.analysis.questions.merged import (
    MergedQuestion,
    MergedRows,
    merge_rows,
    merged_as_rows,
)
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.rows import ask_as_rows
from arclink.analysis.questions.table import (
    COLUMNS,
    COUNTS_OF_CAPTURES,
    EXTRA,
    QUESTIONS,
)
from arclink.analysis.relations.database import ShownRelations
from arclink.uris.surts import surt_of
from tests.questions.archive import GONE, ORG, PAGES, UK
from tests.questions.page_texts import add_page_texts, words_of
from tests.questions.plain import makes_sense
from tests.store.memory_store import MemoryStore

ADDRESSES: Mapping[str, Sequence[str]] = {
    "page": [ORG],
    "domain": ["*.example.org"],
    "archive": [],
    "pages": [ORG, GONE, UK],
}
NAMES = ("egypt", "iraq", "libya")

Holdings = Mapping[str, tuple[int, ...]]
"""The captures of each archive, as places in `PAGES`."""


def _splits() -> Iterator[Holdings]:
    """Yield ways in which archives have the captures: some of them all, by time, at random."""
    numbers = range(len(PAGES))
    by_time = sorted(numbers, key=lambda number: PAGES[number].timestamp)
    half = len(PAGES) // 2
    yield {"egypt": tuple(by_time[:half]), "iraq": tuple(by_time[half:])}
    yield {"egypt": tuple(numbers), "iraq": tuple(numbers), "libya": ()}
    for seed in (1,):
        draw = random.Random(seed)
        yield {name: tuple(number for number in numbers if draw.random() < 0.5) for name in NAMES}


SPLITS = [*_splits()]


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    yield
    for relations in OPEN.values():
        relations.close()
    FOLDERS.close()
    OPEN.clear()
    answered.cache_clear()


OPEN: dict[tuple[int, ...], ShownRelations] = {}
FOLDERS = ExitStack()


def _answer(numbers: tuple[int, ...], query: AskQuery) -> AskAnswer:
    if numbers not in OPEN:
        store = MemoryStore([PAGES[number] for number in numbers])
        where = f"{FOLDERS.enter_context(TemporaryDirectory())}/links.db"
        add_page_texts(where, store)
        OPEN[numbers] = ShownRelations(where, store, with_texts=True)
    with OPEN[numbers].apart() as database:
        return ask(database, query)


@cache
def answered(numbers: tuple[int, ...], query: AskQuery) -> bytes:
    """Return the answer of a service with these captures, as JSON."""
    return b"".join(ROW_FORMATS["json"].write(ask_as_rows(_answer(numbers, query))))


def rows_of(numbers: Iterable[int], query: AskQuery) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(answered(tuple(sorted(numbers)), query))["rows"]
    return rows


def question_of(name: str, texts: Mapping[str, Sequence[str]]) -> MergedQuestion:
    return MergedQuestion.of(Given({"limit": ["0"], **texts}), name)


def merged(question: MergedQuestion, holdings: Holdings) -> MergedRows:
    archives = []
    for name, numbers in holdings.items():
        body = answered(tuple(sorted(numbers)), question.query)
        rows, refused, lacks = read_answer(body, question.query)
        assert (refused, lacks) == ({}, "")
        archives.append((rows, ArchiveReport(name, Outcome.ANSWERED, noun="row")))
    return merge_rows(question, archives)


def keyed(row: Mapping[str, Any], question: MergedQuestion) -> tuple[object, ...]:
    """Return address, window and names of a row; pages with one SURT have one name."""
    of = question.query.question
    has_pages = "://" in str(row[of.names[0]]) if of.names else False
    names = (
        surt_of(row[name]) if has_pages and not of.has_variants and row[name] else row[name]
        for name in of.names
    )
    return row.get("asked"), row.get("period"), *names


CASES = [
    pytest.param(name, scope, by, id=f"{name}-{scope}-{by}")
    for name in QUESTIONS
    for scope, by in (("domain", "all"), ("domain", "year"), ("pages", "all"))
    if makes_sense(name, scope)
    and not (by == "all" and QUESTIONS[name].is_by_calendar)
    and not (by == "year" and QUESTIONS[name].is_timeless)
]


def texts_of(name: str, scope: str, by: str) -> dict[str, Sequence[str]]:
    words = {key: [value] for key, value in words_of(name)}
    return {"uri": ADDRESSES[scope], "by": [by], **words}


@pytest.mark.costly
@pytest.mark.parametrize(("name", "scope", "by"), CASES)
def test_what_a_row_says_of_archives_is_what_one_store_of_their_captures_says(
    name: str, scope: str, by: str
) -> None:
    question = question_of(name, texts_of(name, scope, by))
    of = question.query.question
    for holdings in SPLITS if scope == "domain" else SPLITS[2:]:
        answer = merged(question, holdings)
        together: dict[tuple[str, ...], dict[tuple[object, ...], dict[str, Any]]] = {}
        for row in answer.rows:
            archives = row["archives"]
            assert isinstance(archives, list)
            if tuple(archives) not in together:
                numbers = {number for archive in archives for number in holdings[archive]}
                rows = rows_of(numbers, question.query)
                together[tuple(archives)] = {keyed(one, question): one for one in rows}
            expected = together[tuple(archives)][keyed(row, question)]
            said = {
                column: value
                for column, value in row.items()
                if value is not None and column != "archives"
            }
            if len(archives) == 1:
                assert {**row, "archives": None} == {**expected, "archives": None}
            else:
                assert not of.apart
                assert said == {column: expected[column] for column in said}


@pytest.mark.costly
@pytest.mark.parametrize(("name", "scope", "by"), CASES)
def test_names_are_those_of_all_answers_as_pandas_unites_them(
    name: str, scope: str, by: str
) -> None:
    question = question_of(name, texts_of(name, scope, by))
    of, holdings = question.query.question, SPLITS[2]
    frame = pd.DataFrame(
        {**row, "archive": archive, "key": str(keyed(row, question))}
        for archive, numbers in holdings.items()
        for row in rows_of(numbers, question.query)
    )
    answer = merged(question, holdings)
    own = [row for row in answer.rows if len(row["archives"]) == 1]  # type: ignore[arg-type]
    assert len(own) == len(frame)
    if frame.empty:
        return
    telling = frame
    if "period" in frame:  # rows that only say that nothing is known have no name and no time
        columns = [one for one in of.columns if one not in COUNTS_OF_CAPTURES]
        telling = frame[frame[columns].notna().any(axis="columns")]
    by_key = telling.groupby("key", dropna=False, sort=False)
    assert answer.total == by_key.ngroups
    if of.apart:
        return
    for row in answer.rows:
        if len(row["archives"]) == 1:  # type: ignore[arg-type]
            continue
        group = telling[telling["key"] == str(keyed(row, question))]
        assert row["archives"] == [*group["archive"]]
        for column, extreme in (("first", "min"), ("last", "max")):
            if column in group:
                times = group[column].dropna()
                assert row[column] == (getattr(times, extreme)() if len(times) else None)


@pytest.mark.costly
@pytest.mark.parametrize(("name", "scope", "by"), CASES)
def test_the_columns_are_those_of_an_answer(name: str, scope: str, by: str) -> None:
    question = question_of(name, texts_of(name, scope, by))
    table = _answer(tuple(range(len(PAGES))), question.query).table
    assert columns_of(question.query) == tuple(table.column_names)
    (parquet_types,) = [merged_as_rows(merged(question, SPLITS[0])).types]
    for field in table.schema:
        is_text = str(field.type) == "string"
        assert is_text == (str(parquet_types[field.name]) == "string"), field


def test_each_column_says_how_it_is_merged_and_names_no_other() -> None:
    used = {name for one in QUESTIONS.values() for name in one.columns}
    assert {*EXTRA} <= {*COLUMNS} == {*EXTRA, *used}
    for name, question in QUESTIONS.items():
        for lacked in question.lacks:
            assert lacked in EXTRA, name
        assert question.apart or question.names or name == "captures"
