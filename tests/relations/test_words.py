# ruff: noqa: RUF001  languages have letters that look alike
"""The rule for what a word is (``words.sql``), in many scripts."""

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.words import found_places, parse_words
from arclink.analysis.relations.sql_texts import COMMON, text_of
from tests.relations.plain_words import plain_words

Sql = Callable[[str, object], object]


@pytest.fixture(scope="module")
def sql() -> Iterator[Sql]:
    """Return the value of an expression of one parameter, with the macros of words."""
    with duckdb.connect() as connection:
        connection.execute(text_of(COMMON, "words"))
        yield lambda text, value: connection.execute(f"SELECT {text}", [value]).fetchall()[0][0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("click HERE, the U.S.A. 3.14", "click here the u s a 3 14", id="Latin"),
        pytest.param("don't l'été don’t п’ять пʼять", "don t l ete don t п ять п ять", id="quotes"),
        pytest.param("foo_bar __init__ 1,000.5 a1b2", "foo bar init 1 000 5 a1b2", id="joints"),
        pytest.param("Straße STRASSE ẞ", "strasse strasse ss", id="sharp s"),
        pytest.param("ﬁsh eﬃcient œuvre Æon", "fish efficient oeuvre aeon", id="ligatures"),
        pytest.param("İstanbul IŞIK ışık", "istanbul isik isik", id="dotted and dotless i"),
        pytest.param("Łódź Ørsted ǿ đ", "lodz orsted o d", id="strokes"),
        pytest.param("e\u0301te\u0301 Å ẾCH", "ete a ech", id="accents, also by themselves"),
        pytest.param("ＡＢｃ１２ ｶﾞｽ", "abc12 ガ ス", id="full and half width"),
        pytest.param("m² CO₂ Ⅳ", "m2 co2 ⅳ", id="small digits"),
        pytest.param("Donau\u00addampf \ufeffa", "donaudampf a", id="soft hyphens"),
        pytest.param("Ёлка ёлка Церемония", "елка елка церемония", id="Cyrillic"),
        pytest.param("ΟΔΟΣ Ὀδός ᾳ", "οδοσ οδοσ α", id="Greek with a final sigma"),
        pytest.param("شَكَرَ شكر أحمد كتـاب ٢٠١٠", "شكر شكر احمد كتاب ٢٠١٠", id="Arabic"),
        pytest.param("می\u200cخواهم", "میخواهم", id="Persian"),
        pytest.param('שָׁלוֹם, צה"ל', "שלום צה ל", id="Hebrew"),
        pytest.param("हिन्दी कि की", "हिन्दी कि की", id="Devanagari: vowel signs are letters"),
        pytest.param("தமிழ், கி", "தமிழ் கி", id="Tamil"),
        pytest.param("Հայերեն", "հայերեն", id="Armenian"),
        pytest.param("ქართული ᲥᲐᲠᲗᲣᲚᲘ", "ქართული ქართული", id="Georgian"),
        pytest.param("አማርኛ፡ቋንቋ", "አማርኛ ቋንቋ", id="Ethiopic"),
        pytest.param("2010年冬季の東京abc", "2010 年 冬 季 の 東 京 abc", id="Han and kana"),
        pytest.param("ユーザー ガカ", "ユ ー ザ ー ガ カ", id="a voiced kana is another one"),
        pytest.param("한국 \u1112\u1161\u11ab", "한 국 한", id="Hangul, also in parts"),
        pytest.param("ไทยกินที่", "ไ ท ย กิ น ที่", id="Thai"),
        pytest.param("ລາວ ខ្មែរ။ မြန်မာ။", "ລ າ ວ ខ្ មែ រ မြ န် မာ", id="Lao, Khmer, Burmese"),
        pytest.param("[1] >> * ❄️ a\0b", "1 a b", id="signs are no words"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_the_words_of_a_text(sql: Sql, text: str, words: str) -> None:
    assert sql("words_of(?)", text) == words.split() == plain_words(text)


_FOUND = {
    "北京奥运会开幕式 (Han)": ("奥运", "开幕式", "北京"),
    "東京オリンピックの開会式 (Kana)": ("オリンピック", "東京", "ｵﾘﾝﾋﾟｯｸ", "開会"),
    "ประเทศไทยสวยงาม (Thai)": ("ไทย", "สวย*"),
    "올림픽을 보았다 (Hangul)": ("올림픽", "올림픽을"),
    "Café de\u0301ja\u0300 vu (Latin)": ("cafe", "CAFÉ", '"deja vu"', "dé*"),
    "Ångström und Straße (Latin)": ("angstrom", "STRASSE", "Stra*"),
    "İstanbul'da (Latin)": ("istanbul", "ISTANBUL'DA"),
    "Всё о ёлках (Cyrillic)": ("все", "елках", "ЁЛК*"),
    "Ο δρόμος της Αθήνας (Greek)": ("ΔΡΟΜΟΣ", "Αθηνας", "δρομο*"),
    "الأَلعاب الأولمبية (Arabic)": ("الألعاب", "الاولمبية"),
    "שָׁלוֹם עולם צה״ל (Hebrew)": ("שלום", 'צה"ל', '"שלום עולם"'),
    "हिन्दी समाचार (Devanagari)": ("हिन्दी", "समा*"),
    "தமிழ் செய்திகள் (Tamil)": ("தமிழ்",),
    "Հայերեն լուրեր (Armenian)": ("ՀԱՅԵՐԵՆ",),
    "ქართული ენა (Georgian)": ("ქართული",),
    "አማርኛ ዜና (Ethiopic)": ("አማርኛ",),
    "node.js don't foo_bar queryable state (signs)": (
        *("node.js", '"node js"', "don’t", "foo_bar", '"queryable state"', "node.js*"),
    ),
    "CO₂ und ﬁsh ２０１０ (forms)": ("co2", "fish", "2010", "fi*"),
}
_LOST = {
    "東京オリンピックの開会式": ("京東", "会開"),
    "ガス": ("カス",),
    "हिन्दी कि": ("हन्दी", "की"),
    "streaming state of a queryable": ('"queryable state"', "stream", '"state a"'),
    "nodes js": ("node.js",),
}


@pytest.mark.parametrize(
    ("text", "written", "is_found"),
    [
        *((text, one, True) for text, each in _FOUND.items() for one in each),
        *((text, one, False) for text, each in _LOST.items() for one in each),
    ],
)
def test_what_people_type_is_found(sql: Sql, text: str, written: str, is_found: bool) -> None:
    (term,) = parse_words(written)
    blanked = sql("between_blanks(?)", text)
    phrase = sql("phrase_of(?)", term)
    assert isinstance(blanked, str)
    assert isinstance(phrase, str)
    assert (phrase in blanked) == is_found
    places = found_places([phrase], pieces(sql, text))
    assert bool(places) == is_found
    for begin, end in places:  # what is marked has it by itself
        assert phrase in sql("between_blanks(?)", text[begin:end])  # type: ignore[operator]  # a text


def pieces(sql: Sql, text: str) -> list[tuple[str, list[str]]]:
    found: Any = sql("pieces_of(?)", text)
    return [(one["text"], one["words"]) for one in found]


@pytest.mark.parametrize(
    ("text", "written", "marked"),
    [
        pytest.param("Café, CAFÉs cafe", "café", "[Café], CAFÉs [cafe]", id="accents"),
        pytest.param("Streams of a stream", "stream*", "[Streams] of a [stream]", id="beginning"),
        pytest.param(
            "state, queryable ‮State", '"queryable state"', "state, [queryable ‮State]",
            id="phrase",
        ),
        pytest.param("a b a b a", '"a b a" b', "[a b a b a]", id="phrases that overlap"),
        pytest.param("node.js nodes", "node.js", "[node.js] nodes", id="signs"),
        pytest.param("東京都庁", "京都", "東[京都]庁", id="letter by letter"),
        pytest.param("so­ft ﾄﾞｱ", "soft ド", "[so­ft] [ﾄﾞ]ｱ", id="what is not seen"),
        pytest.param("<b>bold</b>", "b", "<[b]>bold</[b]>", id="markup"),
        pytest.param("nothing", "state", "nothing", id="nothing"),
    ],
)  # fmt: skip
def test_found_words_have_places(sql: Sql, text: str, written: str, marked: str) -> None:
    phrases = [sql("phrase_of(?)", term) for term in parse_words(written)]
    for begin, end in reversed(found_places(phrases, pieces(sql, text))):  # type: ignore[arg-type]  # texts
        text = f"{text[:begin]}[{text[begin:end]}]{text[end:]}"
    assert text == marked


def test_a_text_without_words_is_found_by_nothing(sql: Sql) -> None:
    assert sql("between_blanks(?)", "--") == "  "
    assert sql("phrase_of(?)", "--") is None
    assert sql("phrase_of(?)", "--*") is None
    assert sql("words_of(?::VARCHAR)", None) is None


_LETTERS = st.sampled_from(
    "aZé1²ßẞﬁœÆØıİς Σά\u0301\u0308'’ʼ_-.,\u00ad\u200c\u200d\u200b\0"
    "Ёйأ\u064eـשׁ\u05b8हि्दौதிஔՀქᲥአ東々がカﾞｶーﾟ한\u1112\u1161\u11abไกิลຂခြ។ＡａÅ\U0001f600\U00020000"
)


@given(st.text(_LETTERS, max_size=30))
def test_words_are_those_of_plain_python_and_have_themselves_as_words(sql: Sql, text: str) -> None:
    words = plain_words(text)
    assert sql("words_of(?)", text) == words
    assert sql("words_of(?)", " ".join(words)) == words
    assert "".join(piece for piece, _ in pieces(sql, text)) == text
