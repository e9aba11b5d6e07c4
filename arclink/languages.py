"""Languages of captures: the codes that indexes and servers write, brought to one form.

The languages of a capture are a set: sorted two-letter codes with commas between them (``de,en``),
or ``-`` if no language is known. A code is the first part of a language tag, in lower case:
``en-US`` is ``en``. Three-letter codes become two-letter codes where ISO 639-1 has one (``eng`` is
``en``, ``fra`` and ``fre`` are ``fr``), and withdrawn codes become their successors (``iw`` is
``he``). Other codes of two or three letters are kept unchanged, because indexes name languages
without a two-letter code, and servers invent codes. Everything else is not a language: ``und``
(undetermined), ``*``, ``english``, ``i-klingon``.

Source: RFC 9110, 8.5 (``Content-Language``); RFC 5646, 2.2.1 (language subtags); ISO 639, parts 1,
2 (both kinds of codes) and 3, as of the package iso-codes 4.15; the IANA Language Subtag Registry
(``Preferred-Value``) for withdrawn codes.
"""

import re
from functools import lru_cache

from arclink.model import NO_LANGUAGE

MOST_LANGUAGES = 20
"""Greatest number of languages of a capture; more of them say nothing about a page."""

LONGEST = 1_000
"""Characters of a text that are read."""

_TWO_LETTERS = """
    aaaar ababk aeave afafr akaka amamh anarg arara asasm avava ayaym azaze babak bebel bgbul
    bhbih bibis bmbam bnben bobodtib brbre bsbos cacat ceche chcha cocos crcre cscescze cuchu
    cvchv cycymwel dadan dedeuger dvdiv dzdzo eeewe elellgre eneng eoepo esspa etest eubaqeus
    fafasper ffful fifin fjfij fofao frfrafre fyfry gagle gdgla glglg gngrn guguj gvglv hahau
    heheb hihin hohmo hrhrv hthat huhun hyarmhye hzher iaina idind ieile igibo iiiii ikipk ioido
    isiceisl itita iuiku jajpn jvjav kageokat kgkon kikik kjkua kkkaz klkal kmkhm knkan kokor
    krkau kskas kukur kvkom kwcor kykir lalat lbltz lglug lilim lnlin lolao ltlit lulub lvlav
    mgmlg mhmah mimaomri mkmacmkd mlmal mnmon mrmar msmaymsa mtmlt myburmya nanau nbnob ndnde
    nenep ngndo nldutnld nnnno nonor nrnbl nvnav nynya ococi ojoji omorm orori ososs papan pipli
    plpol pspus ptpor quque rmroh rnrun roronrum rurus rwkin sasan scsrd sdsnd sesme sgsag shhbs
    sisin skslkslo slslv smsmo snsna sosom sqalbsqi srsrp ssssw stsot susun svswe swswa tatam
    tetel tgtgk ththa titir tktuk tltgl tntsn toton trtur tstso tttat twtwi tytah uguig ukukr
    ururd uzuzb veven vivie vovol wawln wowol xhxho yiyid yoyor zazha zhchizho zuzul
"""
"""Each word is a two-letter code, and after it the three-letter codes of the same language."""

_WITHDRAWN = {"in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro", "mol": "ro"}
_UNDETERMINED = "und"

_CODES = _WITHDRAWN | {
    word[index : index + 3]: word[:2]
    for word in _TWO_LETTERS.split()
    for index in range(2, len(word), 3)
}
_TAG = re.compile("([a-z]{2,3})(?:[-_][a-z0-9_-]*)?")
_BETWEEN = re.compile(r"[\s,;]+")


@lru_cache(maxsize=10_000)
def normal_languages(text: str) -> str:
    """Return the languages that a text names; `NO_LANGUAGE` if it names none.

    Args:
        text: Codes or tags, separated by commas, semicolons or white space. Only the first
            `LONGEST` characters and `MOST_LANGUAGES` languages count.

    >>> normal_languages("fra,eng"), normal_languages("en-US, iw"), normal_languages("und")
    ('en,fr', 'en,he', '-')
    """
    tags = map(_TAG.fullmatch, _BETWEEN.split(text[:LONGEST].lower()))
    codes = [_CODES.get(tag[1], tag[1]) for tag in tags if tag and tag[1] != _UNDETERMINED]
    return ",".join(sorted(list(dict.fromkeys(codes))[:MOST_LANGUAGES])) or NO_LANGUAGE
