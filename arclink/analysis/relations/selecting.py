"""The captures whose texts, titles or links have words: conditions of selections, by SQL.

What remains of an answer in memory is a hash of 8 bytes for each capture or page, sorted, as in
stored lists (`arclink.captures.subsets.evaluation`).
"""

from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import md5
from typing import Final

import pyarrow as arrow

from arclink.access.capture_fields import RELATION
from arclink.access.words import parse_words
from arclink.analysis.relations.database import (
    KEY,
    RelationsDatabase,
    ShownRelations,
    SqlLimits,
)
from arclink.analysis.relations.found import found_terms
from arclink.analysis.relations.kept import opened_relations
from arclink.analysis.relations.sql_texts import COMMON, text_of
from arclink.captures.subsets.evaluation import (
    AskedWords,
    CaptureSet,
    ConditionFacts,
    FoundWords,
    check_cost,
)
from arclink.captures.subsets.fields import ANY_WORD, EVERYWHERE, SurtRanges
from arclink.captures.subsets.language import Condition
from arclink.errors import NoTextsError
from arclink.model import ContentId, Memento, Surt
from arclink.portions import portions
from arclink.store.location import open_store
from arclink.store.protocols import Scans

_CONTENTS: Final = arrow.schema([("content", arrow.string())])
_MEMORY: Final = 500
_AT_ONCE: Final = 128

_MOST_RANGES: Final = 100_000
"""Captures of more pages than these are found by reading all captures: a range takes a look-up."""

_PAGES: Final = """
    CREATE TEMP VIEW pages AS
    SELECT
        c.* REPLACE (coalesce(nullif(c.title, ''), t.title, c.title) AS title),
        NOT is_cut AS is_whole
    FROM captures AS c LEFT JOIN (SELECT content, title, is_cut FROM texts) AS t USING (content)
"""
"""Captures with titles, and whether their text is known to its end: null if it is not known."""

_KNOWN: Final = {"text": "is_whole", "title": "title IS NOT NULL"}
"""By field, the condition of SQL that a row of `_PAGES` is known."""


def facts_of_words(asked: AskedWords) -> FoundWords:
    """Return the facts about conditions on words.

    Relations that do not show the present state of the store are brought up first.

    Raises:
        NoTextsError: A condition asks for texts, and none were read.
        SubsetCostError: A condition leads to more pages than may be looked up.
        OperatorError: The relations cannot be read or written.
    """
    fields = {condition.field for condition in asked.conditions}
    with _opened(asked) as relations:
        if "text" in fields and not relations.has_texts:
            raise NoTextsError
        relations.run(text_of(COMMON, "words"))
        relations.run(_PAGES)
        if "title" in fields:
            _split(relations, "title", "pages")
        elif "text" in fields:  # `words` has the words of the other titles
            _split(
                relations,
                "title",
                "captures ANTI JOIN (FROM texts WHERE is_cut IS NOT NULL) USING (content)",
            )
        if "anchor" in fields:
            _split(relations, "text", "links")
        known = {
            field: _captures(relations, condition)[0] if asked.has_outside else CaptureSet()
            for field, condition in _KNOWN.items()
            if field in fields
        }
        facts = {
            condition: _links(relations, asked, condition)
            if condition.field == "anchor"
            else _pages(relations, asked.store, condition, known[condition.field])
            for condition in asked.conditions
        }
        return FoundWords(facts, _unknown(relations, asked.store, known))


@contextmanager
def _opened(asked: AskedWords) -> Iterator[ShownRelations]:
    """Yield the relations of the whole store.

    The caller may read a former state of the store in a snapshot. Relations are of the present one:
    no file may have again what was forgotten since.
    """
    whole = asked.store.whole
    with_texts = any(condition.field in _KNOWN for condition in asked.conditions)
    files = opened_relations(asked.where, whole, with_texts=with_texts) if asked.where else None
    with ExitStack() as opened:
        if asked.where and files is None:
            whole = opened.enter_context(open_store(asked.where))
        yield opened.enter_context(
            ShownRelations(
                asked.where, whole, SqlLimits(_MEMORY), files=files, with_texts=with_texts
            )
        )


def _unknown(relations: RelationsDatabase, store: Scans, fields: Collection[str]) -> int | None:
    if store is not store.whole or not fields:
        return None
    known = " AND ".join(_KNOWN[field] for field in fields)
    [(number,)] = relations.found(f"SELECT count(*) FROM pages WHERE ({known}) IS NOT TRUE")
    return int(number)


# Captures by their texts and titles

_NUMBER: Final = "md5_number_upper(concat_ws(chr(10), {}))"
_NUMBER_OF_CAPTURE: Final = _NUMBER.format(
    ", ".join(f"coalesce({sql}, '')" for sql in KEY.values())
)
_VALUES: Final = [RELATION.getters[name] for name in KEY]


def _number_of(*values: str | None) -> int:
    """Return the number that `_NUMBER` makes of texts; null is like an empty one."""
    data = "\n".join(value or "" for value in values).encode()
    return int.from_bytes(md5(data, usedforsecurity=False).digest()[:8], "little")


def _pages(
    relations: RelationsDatabase, store: Scans, condition: Condition, known: CaptureSet
) -> ConditionFacts:
    """Return the facts about a condition on texts or titles."""
    if condition.value == ANY_WORD:
        selected, ranges = _captures(relations, _KNOWN[condition.field])
    else:
        terms = parse_words(condition.value)
        where, relation = f"title IN ({_having(relations, 'title', terms)})", "pages"
        if condition.field == "text":
            relation = "captures"  # without a text, its title is that of `pages`
            found, every = found_terms(relations, terms), f"HAVING count(*) = {len(terms)}"
            rows = f"SELECT text_part, text_row FROM ({found}) GROUP BY ALL {every}"
            contents = f"FROM numbered_texts SEMI JOIN ({rows}) USING (text_part, text_row)"
            where += f" OR content IN (SELECT content {contents})"
        selected, ranges = _captures(relations, where, relation)

    def test(memento: Memento) -> bool:
        number = _number_of(*(value(memento) for value in _VALUES))
        return number in selected and store.shows_payload(memento)

    def lacks(memento: Memento) -> bool:
        number = _number_of(*(value(memento) for value in _VALUES))
        return number in known and number not in selected and store.shows_payload(memento)

    return ConditionFacts(test, ranges, None if condition.value == ANY_WORD else lacks)


def _captures(
    relations: RelationsDatabase, where: str, relation: str = "pages"
) -> tuple[CaptureSet, SurtRanges]:
    """Return the captures that meet a condition of SQL, and ranges of their SURTs."""
    return _read(relations, f"SELECT {_NUMBER_OF_CAPTURE}, surt FROM {relation} WHERE {where}")


def _read(relations: RelationsDatabase, query: str) -> tuple[CaptureSet, SurtRanges]:
    """Return the numbers in the first column of an answer, and ranges of the SURTs in the other."""
    numbers, surts = array("Q"), set[Surt]()
    with relations.reading(query) as answer:
        for batch in answer:
            numbers.frombytes(batch.column(0).to_numpy().tobytes())
            if len(surts) <= _MOST_RANGES:
                surts.update(batch.column(1).unique().to_pylist())
    is_narrow = len(surts) <= _MOST_RANGES
    return CaptureSet(numbers), SurtRanges.of_surts(surts) if is_narrow else EVERYWHERE


# Pages by the texts of links to them


def _links(relations: RelationsDatabase, asked: AskedWords, condition: Condition) -> ConditionFacts:
    """Return the facts about a condition on texts of links."""
    found = f"FROM links WHERE text IN ({_having(relations, 'text', parse_words(condition.value))})"
    if asked.store is not asked.store.whole:
        most = min(asked.most_pages, 1 << 60)
        contents = relations.found(f"SELECT DISTINCT content {found} LIMIT {most + 1}")
        check_cost(condition, len(contents), asked.most_pages)
        rows = _shown(asked.store, [content for (content,) in contents])
        relations.add_table("shown", _CONTENTS, rows)
        found += " AND content IN (FROM shown)"
    number = _NUMBER.format("target_surt")
    pages, ranges = _read(relations, f"SELECT DISTINCT {number}, target_surt {found}")

    def test(memento: Memento) -> bool:
        return _number_of(memento.surt) in pages

    return ConditionFacts(test, ranges)


def _shown(store: Scans, contents: Sequence[ContentId]) -> Iterator[tuple[ContentId]]:
    """Yield those contents that a visible capture shows."""
    for some in portions(contents, _AT_ONCE):
        for content, pages in zip(some, store.sources(some), strict=True):
            if next(pages, None) is not None:
                yield (content,)


# Words of titles and of texts of links: most are shared, so each is split once.


def _split(relations: RelationsDatabase, column: str, relation: str) -> None:
    query = f"SELECT {column} FROM {relation} WHERE {column} <> '' GROUP BY {column}"
    split = f"SELECT {column}, between_blanks({column}) AS words FROM ({query})"
    relations.finish(f"CREATE TEMP TABLE split_{column} AS {split}")


def _having(relations: RelationsDatabase, column: str, terms: Sequence[str]) -> str:
    """Return the SQL of the titles or texts that have all terms, until it is called again."""
    relations.set({"words": [*terms]})
    relations.run("SET VARIABLE phrases = phrases_of(getvariable('words'))")
    return f"SELECT {column} FROM split_{column} WHERE has_phrases(words)"
