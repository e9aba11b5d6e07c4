"""The words of texts in many scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.analysis.matrices.words import folded, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(
            "Don't click HERE, the U.S.A. 3.14",
            ["don't", "click", "here", "the", "u.s.a", "3.14"],
            id="Latin, stop words kept",
        ),
        pytest.param(
            "Straße ﬁsh \uff21\uff22 Ⅳ",
            ["strasse", "fish", "ab", "iv"],
            id="case and compatibility forms",
        ),
        pytest.param(
            "'Eagles' l'été rock 'n' roll",
            ["eagles", "l'été", "rock", "n", "roll"],
            id="apostrophes as quotation marks",
        ),
        pytest.param(
            "foo_bar __init__ 1,000.5 a1b2",
            ["foo_bar", "__init__", "1,000.5", "a1b2"],
            id="joints and numbers",
        ),
        pytest.param("Церемония открытия", ["церемония", "открытия"], id="Cyrillic"),
        pytest.param("الألعاب الأولمبية، ٢٠١٠", ["الألعاب", "الأولمبية", "٢٠١٠"], id="Arabic"),
        pytest.param('צה"ל, שלום', ['צה"ל', "שלום"], id="Hebrew with gershayim"),
        pytest.param(
            "हिन्दी भाषा", ["हिन्दी", "भाषा"], id="Devanagari: vowel signs are part of a word"
        ),
        pytest.param("한국어 올림픽", ["한국어", "올림픽"], id="Hangul"),
        pytest.param(
            "東京オリンピックの開会式",
            ["東京", "オリンピック", "の開", "開会", "会式"],
            id="Han and kana",
        ),
        pytest.param("2010年冬季", ["2010", "年冬", "冬季"], id="digits next to Han"),
        pytest.param("火", ["火"], id="one Han letter"),
        pytest.param("ไทย", ["ไท", "ทย"], id="Thai"),
        pytest.param("e\u0301te\u0301", ["\u00e9t\u00e9"], id="combining accents"),
        pytest.param("[1] >> * ❄️", ["1"], id="signs are no words"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_the_words_of_a_text(text: str, words: list[str]) -> None:
    assert list(words_of(text)) == words


@given(st.text(max_size=60))
def test_no_letter_or_digit_is_lost_and_words_fold_to_themselves(text: str) -> None:
    words = list(words_of(text))
    assert {letter for letter in folded(text) if letter.isalnum()} <= set("".join(words))
    assert all(words)
    assert folded(folded(text)) == folded(text)
