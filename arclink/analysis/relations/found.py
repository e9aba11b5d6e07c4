"""The contents that have words: SQL over the relation ``words``, for questions and selections."""

from collections.abc import Sequence

from arclink.analysis.relations.database import RelationsDatabase
from arclink.analysis.relations.parts import LAST
from arclink.analysis.relations.writing import quoted


def found_terms(database: RelationsDatabase, terms: Sequence[str]) -> str:
    """Return the SQL of the contents that have terms, a row for each term of a content.

    No content has a term without words: a letter that is only seen between others is one.

    Its columns are ``term`` (the number of the term, from 0 on), ``content``, and ``times`` (how
    often the content has it). Names of words are constants in it: so DuckDB leaves row groups
    unread, which a join does not let it do.

    Args:
        database: The relations; its macro ``words_of`` says what the words of a term are.
        terms: Terms of `arclink.access.words.parse_words`.
    """
    values = ", ".join(f"({number}, {quoted(term)})" for number, term in enumerate(terms))
    rows = database.found(f"SELECT words_of(term) FROM (VALUES {values}) AS of(number, term)")
    found = [
        _found(number, words, may_go_on=term.endswith("*"))
        for number, (term, (words,)) in enumerate(zip(terms, rows, strict=True))
        if words
    ]
    return " UNION ALL ".join(found) or "SELECT 0 AS term, content, times FROM words WHERE false"


def _found(number: int, words: Sequence[str], *, may_go_on: bool) -> str:
    """Return the SQL of the contents with words that follow each other; the last may go on."""
    whole = "SELECT content, times, places FROM words WHERE word = "
    tables = [f"({whole}{quoted(word)})" for word in words]
    if may_go_on:
        last = words[-1]
        tables[-1] = (
            "(SELECT content, sum(times) AS times, flatten(list(places)) AS places FROM words "
            f"WHERE word >= {quoted(last)} AND word < {quoted(last + LAST)} GROUP BY content)"
        )
    first, *others = (f"{table} AS of_{index}" for index, table in enumerate(tables))
    if not others:
        return f"SELECT {number} AS term, content, times FROM {first}"
    # The places at which the phrase would begin, by each of its words.
    places = "of_0.places"
    for index in range(1, len(tables)):
        begins = f"list_transform(of_{index}.places, lambda place: (place - {index})::INTEGER)"
        places = f"list_intersect({places}, {begins})"
    joined = " ".join((first, *(f"JOIN {table} USING (content)" for table in others)))
    found = f"SELECT {number} AS term, content, len({places}) AS times FROM {joined}"
    return f"FROM ({found}) WHERE times > 0"
