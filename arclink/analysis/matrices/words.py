r"""The words of a text, for counting, in any script.

A word is a run of characters that Unicode does not break by default (UAX #29, section 4) and that
has a letter, digit or underscore: ``don't``, ``U.S.A`` and ``3.14`` are one word each. (The package
``regex`` has such boundaries, too, as ``(?w)\b``, but not between an apostrophe and a vowel: it
would find no word in ``'Eagles'``.)

Some scripts have no spaces between words: Han, Hiragana, Thai, Lao, Khmer, Burmese and others of
line breaking class SA. Finding their words needs a dictionary. For them, every pair of adjacent
letters counts as a word, as in search engines. No stop words are dropped: a term that every
document has gets the weight 0.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING
from unicodedata import normalize

from arclink.extras import analysis_extra

if TYPE_CHECKING:
    from regex import Match

_UNSPACED = r"(?:[\p{Script=Han}\p{Script=Hiragana}\p{Line_Break=SA}]\p{M}*+)"

# Rules WB5 to WB13b. By rule WB4, marks and joiners belong to the letter before: _WITH. All
# quantifiers are possessive (++, *+).
_WITH = r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]*+"
_HEBREW = rf"\p{{WB=Hebrew_Letter}}{_WITH}"
_LETTER = rf"(?:\p{{WB=ALetter}}{_WITH}|{_HEBREW}(?:\"{_WITH}{_HEBREW})*+)"
_LETTERS = rf"{_LETTER}(?:(?:[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}']{_WITH})?{_LETTER})*+"
_DIGIT = rf"\p{{WB=Numeric}}{_WITH}"
_NUMBER = rf"{_DIGIT}(?:(?:[\p{{WB=MidNum}}\p{{WB=MidNumLet}}']{_WITH})?{_DIGIT})*+"
_RUN = rf"(?:(?:{_LETTERS}|{_NUMBER})++|(?:\p{{WB=Katakana}}{_WITH})++)"
_JOINT = rf"(?:\p{{WB=ExtendNumLet}}{_WITH})++"
_WORD = (
    rf"(?P<unspaced>{_UNSPACED}++)|(?:{_RUN}|{_JOINT}{_RUN}?)(?:{_JOINT}{_RUN})*+(?:{_JOINT})?+"
    rf"|(?!\p{{M}})\w{_WITH}"
)


def folded(text: str) -> str:
    """Return ``text`` with compatibility forms and case folded, to compare words.

    Source: Unicode, section 3.13, D146.

    >>> folded("ﬁsh LINK der Straße")
    'fish link der strasse'
    """
    return normalize("NFKC", normalize("NFKC", text).casefold())


def words_of(text: str) -> Iterator[str]:
    """Yield the words of ``text`` in their order, folded, with repetitions.

    Source: Unicode Standard Annex #29; for scripts without spaces, the bigrams of Lucene's
        ``CJKAnalyzer``.

    >>> list(words_of("Don't miss: VANCOUVER 2010, オリンピックの開会式"))
    ["don't", 'miss', 'vancouver', '2010', 'オリンピック', 'の開', '開会', '会式']
    """
    find_words, letters_of = _patterns()
    for match in find_words(folded(text)):
        if match["unspaced"] is None:
            yield match[0]
        else:
            letters = letters_of(match[0])
            yield from map("".join, pairwise(letters)) if len(letters) > 1 else letters


@cache
def _patterns() -> "tuple[Callable[[str], Iterator[Match[str]]], Callable[[str], list[str]]]":
    with analysis_extra():
        import regex
    return regex.compile(_WORD).finditer, regex.compile(_UNSPACED).findall
