"""Languages are brought to one form, whatever writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.languages import MOST_LANGUAGES, normal_languages
from arclink.model import NO_LANGUAGE


@pytest.mark.parametrize(
    ("written", "languages"),
    [
        pytest.param("en", "en", id="two letters"),
        pytest.param("eng", "en", id="three letters"),
        pytest.param("ger,deu,DE", "de", id="both codes of a library, and upper case"),
        pytest.param("zho,eng", "en,zh", id="a list of Common Crawl is a set"),
        pytest.param("en-US, fr_CA;de", "de,en,fr", id="tags with countries, and other separators"),
        pytest.param("iw, in", "he,id", id="withdrawn codes"),
        pytest.param("nds", "nds", id="no two letters exist"),
        pytest.param("jp", "jp", id="no language, but given"),
        pytest.param("zh-Hant-TW", "zh", id="script and country"),
        pytest.param("und", NO_LANGUAGE, id="undetermined"),
        pytest.param("und, en", "en", id="undetermined among others"),
        pytest.param("English", NO_LANGUAGE, id="a name"),
        pytest.param("i-klingon, x-own, *, 12", NO_LANGUAGE, id="no code"),
        pytest.param("", NO_LANGUAGE, id="empty"),
        pytest.param("-", NO_LANGUAGE, id="a missing value"),
        pytest.param("en\x00de \u2028fr", "fr", id="control characters"),
    ],
)
def test_languages_have_one_form(written: str, languages: str) -> None:
    assert normal_languages(written) == languages


def test_only_the_first_of_many_languages_count() -> None:
    codes = [f"q{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    assert normal_languages(",".join(codes)) == ",".join(codes[:MOST_LANGUAGES])


@given(st.text() | st.lists(st.sampled_from(["en", "fre", "und", "x", "de-AT"])).map(",".join))
def test_the_form_of_a_form_is_itself(text: str) -> None:
    languages = normal_languages(text)
    assert normal_languages(languages) == languages
    assert languages.isascii()
    assert languages.isprintable()
