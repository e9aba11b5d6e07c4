"""What people write to find words."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.words import TERMS, parse_words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param("  a \t b  a", ["a", "b"], id="each word once"),
        pytest.param('"queryable  state" x', ["queryable  state", "x"], id="phrase"),
        pytest.param("“queryable state„", ["queryable state"], id="printed quotation marks"),
        pytest.param('stream* "queryable sta"*', ["stream*", "queryable sta*"], id="beginnings"),
        pytest.param("東* 한* ก*", ["東*", "한*", "ก*"], id="one letter that is a word"),
        pytest.param("node.js don't 東京 c++", ["node.js", "don't", "東京", "c++"], id="signs"),
        pytest.param('צה"ל "צה"ל חדש"', ['צה"ל', 'צה"ל חדש'], id="quotation marks in words"),
        pytest.param('rock & roll - ""', ["rock", "roll"], id="signs alone are left out"),
        pytest.param("a\0b \ud800c", ["a\ufffdb", "\ufffdc"], id="letters that no text has"),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert parse_words(text) == tuple(terms)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param(" ", "no letter or digit", id="blank"),
        pytest.param("-- & ❄", "no letter or digit", id="signs"),
        pytest.param('a "b c', "not closed", id="open"),
        pytest.param('"a b"c', "a letter follows", id="no blank"),
        pytest.param("a*", "at least two letters", id="one letter"),
        pytest.param("node.j*", "at least two letters", id="one letter at the end"),
        pytest.param("c++*", "at least two letters", id="no letter at the end"),
        pytest.param("कि*", "at least two letters", id="one letter with its sign"),
        pytest.param("*", "an asterisk", id="asterisk"),
        pytest.param("stream**", "an asterisk", id="two asterisks"),
        pytest.param("fl*nk", "an asterisk", id="inside"),
        pytest.param(" ".join(map(str, range(21))), "these are 21", id="many"),
        pytest.param("a" * 100_000, "100,000 characters", id="long"),
        pytest.param("a* " * 1_000, "3,000 characters", id="many beginnings"),
    ],
)
def test_other_texts_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_words(text)


@given(st.text(st.sampled_from('ab1 "*.\u201c東é\u0301\0\ud800') | st.characters(), max_size=60))
def test_any_text_has_terms_or_an_error(text: str) -> None:
    try:
        terms = parse_words(text)
    except ValueError:
        return
    assert terms
    assert all(term.encode().strip() for term in terms)
    assert all("*" not in term[:-1] for term in terms)


@pytest.mark.parametrize("part", ['"', 'a"', '"a" ', "a*", '"a*', "\0", "\u0301", "a "])
def test_hostile_texts_take_no_time(part: str) -> None:
    begin = time.process_time()
    for length in (1_000, 1_000_000):
        with suppress(ValueError):
            parse_words((part * length)[:length])
    assert time.process_time() - begin < 1


def test_the_schema_allows_what_is_read() -> None:
    most = TERMS.schema["maxLength"]
    assert isinstance(most, int)
    assert parse_words("a" * most) == ("a" * most,)
    with pytest.raises(ValueError, match="characters"):
        parse_words("a" * (most + 1))
