"""The contents that have words: SQL over the relation ``words``, for questions and selections."""

from collections.abc import Sequence

from arclink.analysis.relations.database import RelationsDatabase
from arclink.analysis.relations.parts import LAST
from arclink.analysis.relations.writing import quoted

_ROW = "text_part, text_row"

_NONE = f"SELECT {{}} AS term, {_ROW}, times FROM numbered_words WHERE false"

_MOST_JOINED = 6
"""Most words of a phrase whose rows are joined."""


def found_terms(database: RelationsDatabase, terms: Sequence[str]) -> str:
    """Return the SQL of the contents that have terms, a row for each term of a content.

    No content has a term without words: a letter that is only seen between others is one.

    Its columns are ``term`` (the number of the term, from 0 on), ``text_part`` and ``text_row`` (of
    the content, as in ``numbered_texts``), and ``times`` (how often the content has it). Names of
    words are constants in it: so DuckDB leaves row groups unread, which a join does not let it do.

    Args:
        database: The relations; its macro ``words_of`` says what the words of a term are.
        terms: Terms of `arclink.access.words.parse_words`.
    """
    values = ", ".join(f"({number}, {quoted(term)})" for number, term in enumerate(terms))
    rows = database.found(f"SELECT words_of(term) FROM (VALUES {values}) AS of(number, term)")
    found = [
        _found(number, words, may_go_on=term.endswith("*"))
        for number, (term, (words,)) in enumerate(zip(terms, rows, strict=True))
    ]
    return " UNION ALL ".join(found) or _NONE.format(0)


def _found(term: int, words: Sequence[str], *, may_go_on: bool) -> str:
    """Return the SQL of the contents with words that follow each other; the last may go on."""
    if not words:  # signs that no word has
        return _NONE.format(term)
    *whole, last = words
    conditions = [f"word = {quoted(word)}" for word in words]
    if may_go_on:
        conditions[-1] = f"word >= {quoted(last)} AND word < {quoted(last + LAST)}"
    if not whole:
        found = f"SELECT {term} AS term, {_ROW}, times FROM numbered_words WHERE {conditions[0]}"
        if not may_go_on:
            return f"{found} AND times IS NOT NULL"
        return f"SELECT term, {_ROW}, sum(times)::INTEGER AS times FROM ({found}) GROUP BY ALL"
    rows = [f"(FROM numbered_words WHERE {condition})" for condition in conditions]
    # The places at which the phrase would begin, by each of its words. Of many words, DuckDB would
    # look for an order to join them in for minutes.
    if len(words) <= _MOST_JOINED:
        places = "of_0.places"
        joined = f"{rows[0]} AS of_0"
        for index, row in enumerate(rows[1:], 1):
            begins = f"list_transform(of_{index}.places, lambda place: (place - {index})::INTEGER)"
            places = f"list_intersect({places}, {begins})"
            joined += f" JOIN {row} AS of_{index} USING ({_ROW})"
        begins = f"SELECT {_ROW}, len({places}) AS times FROM {joined}"
    else:
        places = " UNION ALL ".join(
            f"SELECT {_ROW}, unnest(places) - {index} AS place FROM {row}"
            for index, row in enumerate(rows)
        )
        begins = (
            f"SELECT {_ROW}, 1 AS times FROM ({places}) GROUP BY {_ROW}, place "
            f"HAVING count(*) = {len(words)}"
        )
    return (
        f"SELECT {term} AS term, {_ROW}, sum(times)::INTEGER AS times FROM ({begins}) "
        "WHERE times > 0 GROUP BY ALL"
    )
