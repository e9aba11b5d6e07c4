"""What people write to find words: words, phrases and beginnings of words."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from arclink.access.declarations import Form
from arclink.access.texts import printable

_MOST_TERMS, _MOST_CHARACTERS = 20, 1_000
_LEAST_LETTERS = 2
"""Fewest letters of the beginning of a word: too many words have one less."""

_QUOTES = str.maketrans("\u201c\u201d\u201e\u201f", '""""')
_TERM = re.compile(
    r"""(?:"(?P<phrase>(?:[^"]|(?<=\w)"(?=\w))*)"|(?P<word>[^"\s]\S*?))(?P<star>\*?)(?:\s+|\Z)"""
)
"""A quotation mark between letters is one of them: Hebrew abbreviations have it."""

_LETTER_BY_LETTER = (
    "CJK ",
    "HIRAGANA ",
    "KATAKANA ",
    "HANGUL ",
    "THAI ",
    "LAO ",
    "KHMER ",
    "MYANMAR ",
)
"""How the names of letters begin of which each is a word (``words.sql``)."""


def parse_words(text: str) -> tuple[str, ...]:
    """Return the terms in a user's text, all of which must occur, each once, in their order.

    A term is a text whose words follow each other: one word, or those of a phrase. An asterisk at
    its end means that its last word may go on. ``words_of`` (``words.sql``) says what its words
    are: ``node.js`` and ``東京`` have two.

    Raises:
        ValueError: The text has no letter or digit, is too long, has too many terms, a quotation
            mark that is not closed, or an asterisk elsewhere or after less than two letters.

    >>> parse_words('checkpoint  "queryable state" stream* node.js')
    ('checkpoint', 'queryable state', 'stream*', 'node.js')
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"these are {len(text):,} characters")
    rest = printable(text).translate(_QUOTES).strip()
    terms: dict[str, None] = {}
    while rest:
        match = _TERM.match(rest)
        if match is None:
            raise ValueError("a quotation mark is not closed, or a letter follows it")
        rest = rest[match.end() :]
        term, star = (match["phrase"] or match["word"] or "").strip(), match["star"]
        if "*" in term:
            raise ValueError(f"an asterisk is only after a word or phrase, not in {term!r}")
        if star and not _may_go_on(term):
            raise ValueError(f"at least two letters are before an asterisk, not only {term!r}")
        if "a" in _kinds_of(term):
            terms[term + star] = None
    if not terms:
        raise ValueError("these have no letter or digit")
    if len(terms) > _MOST_TERMS:
        raise ValueError(f"these are {len(terms):,}")
    return tuple(terms)


def _may_go_on(term: str) -> bool:
    kinds = _kinds_of(term)
    last = term[len(kinds.rstrip("am")) :]
    return _kinds_of(last).count("a") >= _LEAST_LETTERS or any(
        unicodedata.name(letter, "").startswith(_LETTER_BY_LETTER) for letter in last
    )


def _kinds_of(text: str) -> str:
    """Return an ``a`` for each letter or digit, ``m`` for a mark, and a blank for a sign."""
    kinds = {"L": "a", "N": "a", "M": "m"}
    return "".join(kinds.get(unicodedata.category(one)[0], " ") for one in text)


def found_places(
    phrases: Iterable[str | None], pieces: Iterable[tuple[str, Sequence[str]]]
) -> list[tuple[int, int]]:
    """Return where a text has words and phrases: begin and end of each place, in their order.

    Args:
        phrases: Each with blanks around its words (``phrase_of`` of ``words.sql``).
        pieces: The text in pieces, each with its words (``pieces_of``).

    >>> found_places([" b c ", " d"], [("a", ["a"]), ("B.C", ["b", "c"]), ("De", ["de"])])
    [(1, 4), (4, 6)]
    """
    words, places, at = " ", [(0, 0)], 0
    for piece, of_piece in pieces:
        for word in of_piece:
            words += f"{word} "
            places += [(at, at + len(piece))] * (len(word) + 1)  # by letter of `words`
        at += len(piece)
    found: list[tuple[int, int]] = []
    for phrase in filter(None, phrases):
        start = words.find(phrase)
        while start >= 0:
            last = start + len(phrase.rstrip()) - 1
            found.append((places[start + 1][0], places[last][1]))
            start = words.find(phrase, start + 1)
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(found):
        if joined and begin < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


TERMS = Form(
    "words, phrases in quotation marks, and beginnings of words with an asterisk after them, at "
    f"most {_MOST_TERMS}, of together at most {_MOST_CHARACTERS:,} characters",
    {"type": "string", "maxLength": _MOST_CHARACTERS},
    parse_words,
)
"""The form of words to find."""
