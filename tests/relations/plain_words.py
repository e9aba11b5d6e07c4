# ruff: noqa: RUF001  languages have letters that look alike
"""The words of texts in plain Python, by names and categories of characters: no SQL, no pattern."""

from unicodedata import category, name, normalize

_BY_ITSELF = (
    *("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HANGUL"),
    *("THAI", "LAO", "KHMER", "MYANMAR"),
)
_HAVE_ACCENTS = ("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW", "SYRIAC")
_TYPED = {
    **dict.fromkeys(("SOFT HYPHEN", "ZERO WIDTH JOINER", "ZERO WIDTH NON-JOINER"), ""),
    **dict.fromkeys(("LEFT-TO-RIGHT MARK", "RIGHT-TO-LEFT MARK", "WORD JOINER"), ""),
    **dict.fromkeys(("ZERO WIDTH NO-BREAK SPACE", "ARABIC TATWEEL"), ""),
    **dict.fromkeys(("MODIFIER LETTER APOSTROPHE", "MODIFIER LETTER TURNED COMMA"), "'"),
    "LATIN SMALL LETTER SHARP S": "ss",
    "LATIN SMALL LETTER AE": "ae",
    "LATIN SMALL LIGATURE OE": "oe",
    "LATIN SMALL LETTER O WITH STROKE": "o",
    "LATIN SMALL LETTER L WITH STROKE": "l",
    "LATIN SMALL LETTER D WITH STROKE": "d",
    "LATIN SMALL LETTER DOTLESS I": "i",
    "GREEK SMALL LETTER FINAL SIGMA": "σ",
}
_MOST_MARKS = 16
_OTHER_WIDTHS = ("FULLWIDTH", "HALFWIDTH", "LATIN SMALL LIGATURE F", "LATIN SMALL LIGATURE ST")


def _typed(letter: str) -> str:
    called = name(letter, "")
    is_small_digit = category(letter) == "No" and called.startswith(("SUPERSCRIPT", "SUBSCRIPT"))
    if is_small_digit or called.startswith(_OTHER_WIDTHS):
        return normalize("NFKC", letter)
    return _TYPED.get(called, letter)


def _without_accents(word: str) -> str:
    letters = (name(letter, "") for letter in word if category(letter).startswith("L"))
    if not all(letter.startswith(_HAVE_ACCENTS) for letter in letters):
        return word
    parts = (letter for letter in normalize("NFD", word) if not category(letter).startswith("M"))
    return normalize("NFC", "".join(parts))


def plain_words(text: str) -> list[str]:
    """Return the words of a text in their order, as ``words_of`` of ``words.sql`` does."""
    lower = text.replace("İ", "i").lower()  # Python makes two letters of it
    parts = normalize("NFD", lower)  # ǿ is ø with an accent
    typed, marks = "", 0
    for letter in "".join(map(_typed, parts)):
        marks = marks + 1 if category(letter).startswith("M") else 0
        typed += letter if marks <= _MOST_MARKS else ""
    words: list[str] = []
    before = "a sign"
    for letter in normalize("NFC", typed):
        kind, called = category(letter)[0], name(letter, "")
        if kind == "M":
            if before != "a sign":
                words[-1] += letter
        elif kind not in "LN":
            before = "a sign"
        elif kind == "L" and called.startswith(_BY_ITSELF):
            words.append(letter)
            before = "a word"
        elif before == "a run":
            words[-1] += letter
        else:
            words.append(letter)
            before = "a run"
    return [*map(_without_accents, words)]
