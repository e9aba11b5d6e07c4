r"""The words of a text, for counting: in whatever script it is written, none left out.

A word is what Unicode does not break by default (UAX #29, section 4) and holds a letter, digit or underscore:
``don't``, ``U.S.A`` and ``3.14`` are one each. (The package ``regex`` has such boundaries, too, as ``(?w)\b``, but none before a vowel
behind an apostrophe: of ``'Eagles'`` nothing would be left.) Scripts that put no blank between words (Han, Hiragana, Thai,
Lao, Khmer, Burmese and others of line breaking class SA) give every two neighbouring letters instead, as search engines index
them: where their words end only a dictionary could tell. No stop word is dropped: what is everywhere weighs nothing by itself.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING
from unicodedata import normalize

from arclink.analysis.extra import analysis_extra

if TYPE_CHECKING:
    from regex import Match

_UNSPACED = r"(?:[\p{Script=Han}\p{Script=Hiragana}\p{Line_Break=SA}]\p{M}*+)"

# Rules WB5 to WB13b. What rule WB4 has a letter take with it, marks and joiners, is _WITH; nothing is ever given back (++, *+).
_WITH = r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]*+"
_HEBREW = rf"\p{{WB=Hebrew_Letter}}{_WITH}"
_LETTER = rf"(?:\p{{WB=ALetter}}{_WITH}|{_HEBREW}(?:\"{_WITH}{_HEBREW})*+)"
_LETTERS = rf"{_LETTER}(?:(?:[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}']{_WITH})?{_LETTER})*+"
_DIGIT = rf"\p{{WB=Numeric}}{_WITH}"
_NUMBER = rf"{_DIGIT}(?:(?:[\p{{WB=MidNum}}\p{{WB=MidNumLet}}']{_WITH})?{_DIGIT})*+"
_RUN = rf"(?:(?:{_LETTERS}|{_NUMBER})++|(?:\p{{WB=Katakana}}{_WITH})++)"
_JOINT = rf"(?:\p{{WB=ExtendNumLet}}{_WITH})++"
_WORD = rf"(?P<unspaced>{_UNSPACED}++)|(?:{_RUN}|{_JOINT}{_RUN}?)(?:{_JOINT}{_RUN})*+(?:{_JOINT})?+|(?!\p{{M}})\w{_WITH}"


def folded(text: str) -> str:
    """Return ``text`` so that equal words look equal: compatibility forms and case folded (Unicode, section 3.13, D146).

    >>> folded("ﬁsh LINK der Straße")
    'fish link der strasse'
    """
    return normalize("NFKC", normalize("NFKC", text).casefold())


def words_of(text: str) -> Iterator[str]:
    """Yield the words of ``text`` in their order, folded, as often as they stand there.

    Source: Unicode Standard Annex #29; for scripts without blanks the bigrams of Lucene's ``CJKAnalyzer``.

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
