# ruff: noqa: RUF001  languages have letters that look alike
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from arclink.extract.charsets import DecodedHtml, declared_in, decode_html, encoding_of
from arclink.reasons import Reason

WRONG, DETECTED = Reason.NOTE_CHARSET_WRONG, Reason.NOTE_CHARSET_DETECTED

RUSSIAN = "Широкая электрификация южных губерний даст мощный толчок подъёму сельского хозяйства. Новости и погода сегодня."
JAPANESE = "今日は天気がいいので、東京の公園を散歩します。日本語のページです。いろはにほへと。"
GREEK = "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Σήμερα ο καιρός είναι καλός και πάμε βόλτα στην πόλη."
KOREAN = "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다. 오늘은 날씨가 좋아서 공원을 산책합니다."
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy. Zażółć gęślą jaźń. Dnes je hezké počasí v Praze a my jdeme na procházku."

# Encoding of the standard, Python's name for it, text, whether the text is told by its bytes alone.
LANGUAGES = [
    ("windows-1250", "cp1250", CZECH, True),
    ("windows-1251", "cp1251", RUSSIAN, True),
    ("windows-1252", "cp1252", "Les élèves à l'école, l'été; œuvre. Größe, Straße. El niño, mañana – “español”.", True),
    ("windows-1253", "cp1253", GREEK, True),
    ("windows-1254", "cp1254", "Pijamalı hasta yağız şoföre çabucak güvendi. Bugün İstanbul'da ağaçlar çiçek açtı.", True),
    ("windows-1255", "cp1255", "דג סקרן שט בים מאוכזב ולפתע מצא חברה. היום מזג האוויר נאה ואנחנו הולכים לטייל.", True),
    ("windows-1256", "cp1256", "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر. اليوم الطقس جميل في المدينة.", True),
    ("windows-1257", "cp1257", "Glāžšķūņa rūķīši dzērumā čiepj Baha koncertflīģeļu vākus. Šodien ir labs laiks.", True),
    ("windows-1258", "cp1258", "Hà Nôi đêm nay", False),
    ("windows-874", "cp874", "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน วันนี้อากาศดี", True),
    ("iso-8859-2", "iso8859-2", CZECH, False),
    ("iso-8859-5", "iso8859-5", RUSSIAN, False),
    ("iso-8859-7", "iso8859-7", GREEK, True),
    ("iso-8859-15", "iso8859-15", "10 € für Œuvre", False),
    ("koi8-r", "koi8-r", RUSSIAN, True),
    ("koi8-u", "koi8-u", "Жебракують філософи при ґанку церкви, ще й шатро їхнє п'ятнають.", False),
    ("shift_jis", "cp932", JAPANESE, True),
    ("euc-jp", "euc-jp", JAPANESE, True),
    ("euc-kr", "cp949", KOREAN, True),
    ("gb18030", "gb18030", "我们的祖国是花园。今天天气很好，我们去公园散步。𠀀", True),
    ("gbk", "gbk", "我们的祖国是花园。今天天气很好，我们去公园散步。", False),
    ("big5", "big5hkscs", "我們的祖國是花園。今天天氣很好，我們去公園散步。這是一個中文網頁。", True),
    ("iso-2022-jp", "iso2022_jp", JAPANESE, False),
]
languages = pytest.mark.parametrize(("charset", "codec", "text", "is_told"), LANGUAGES, ids=[language[0] for language in LANGUAGES])


@languages
def test_a_declared_charset_is_used(charset: str, codec: str, text: str, is_told: bool) -> None:
    body = f"<title>{text}</title>".encode(codec)
    assert decode_html(body, charset.upper()) == DecodedHtml(body.decode(codec), charset)
    meta = f'<html><head><meta charset="{charset}">'.encode()
    assert decode_html(meta + body, None) == DecodedHtml(meta.decode() + body.decode(codec), charset)


@pytest.mark.parametrize(("codec", "text"), [(codec, text) for _, codec, text, is_told in LANGUAGES if is_told])
def test_an_undeclared_charset_is_told_by_the_bytes(codec: str, text: str) -> None:
    body = ("<body>" + f"<p>{text}</p>" * 2).encode(codec)
    decoded = decode_html(body, None)
    assert decoded.text == body.decode(codec)
    assert decoded.notes == (DETECTED,)


@languages
def test_utf8_is_utf8_whatever_is_declared(charset: str, codec: str, text: str, is_told: bool) -> None:
    body = f"<title>{text}</title>".encode()
    if charset != "iso-2022-jp":
        assert decode_html(body, charset) == DecodedHtml(body, "utf-8", (WRONG,))
    assert decode_html(body, None) == DecodedHtml(body, "utf-8", (DETECTED,))
    assert decode_html(body, "utf-8").text is body


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_is_found_by_mark_header_and_pattern(codec: str) -> None:
    charset = codec.replace("16-", "16")
    body = "<!DOCTYPE html><title>Größe 日本</title>".encode(codec)
    mark = "\ufeff".encode(codec)
    text = body.decode(codec)
    assert decode_html(mark + body, "iso-8859-1") == DecodedHtml(text, charset)
    assert decode_html(body, charset) == DecodedHtml(text, charset)
    assert decode_html(body, None) == DecodedHtml(text, charset, (DETECTED,))


@pytest.mark.parametrize(
    ("body", "header", "expected"),
    [
        pytest.param(b"", None, DecodedHtml(b"", "windows-1252"), id="empty"),
        pytest.param(b"<p>", None, DecodedHtml(b"<p>", "windows-1252"), id="ASCII, nothing declared"),
        pytest.param(b"<p>", "ISO-8859-1", DecodedHtml(b"<p>", "windows-1252"), id="latin1 is windows-1252"),
        pytest.param(b"<p>", "gb2312", DecodedHtml(b"<p>", "gbk"), id="gb2312 is gbk"),
        pytest.param(b"<p>", "x-sjis", DecodedHtml(b"<p>", "shift_jis"), id="x-sjis"),
        pytest.param(b"<p>", "nonsense", DecodedHtml(b"<p>", "windows-1252"), id="an unknown label"),
        pytest.param(b"<p>", "hz-gb-2312", DecodedHtml(b"<p>", "windows-1252"), id="a label that browsers refuse"),
        pytest.param(b"<p>", "utf-16", DecodedHtml(b"<p>", "utf-8", (WRONG,)), id="UTF-16 without a NUL"),
        pytest.param(b"\xef\xbb\xbf<p>\xc3\xa4", "koi8-r", DecodedHtml(b"<p>\xc3\xa4", "utf-8"), id="a mark overrules all"),
        pytest.param(b"<p>\xe4", "utf-8", DecodedHtml("<p>\ufffd", "utf-8", (WRONG,)), id="not UTF-8"),
        pytest.param(
            b"<meta charset=koi8-r><p>\xe4", "utf-8", DecodedHtml("<meta charset=koi8-r><p>Д", "koi8-r"), id="not UTF-8, but what meta says"
        ),
        pytest.param(b"<meta charset=utf-16><p>", None, DecodedHtml(b"<meta charset=utf-16><p>", "utf-8"), id="meta UTF-16 is UTF-8"),
        pytest.param(b"<p>\xc3\xa4\xc3", "utf-8", DecodedHtml(b"<p>\xc3\xa4\xc3", "utf-8"), id="a character cut off at the end"),
        pytest.param(b"\x81\x8d\x93", "windows-1252", DecodedHtml("\x81\x8d“", "windows-1252"), id="unassigned C1"),
        pytest.param(b"\xaa\xd2", "windows-1253", DecodedHtml("\ufffd\ufffd", "windows-1253"), id="unassigned"),
        pytest.param(b"\x81\xff<a", "shift_jis", DecodedHtml("\ufffd<a", "shift_jis"), id="half a character"),
        pytest.param("联通".encode("gbk"), "gb2312", DecodedHtml("联通", "gbk"), id="GBK that happens to be UTF-8"),
        pytest.param(
            b'<?xml version="1.0" encoding="koi8-r"?><p>\xe4',
            None,
            DecodedHtml('<?xml version="1.0" encoding="koi8-r"?><p>Д', "koi8-r"),
            id="XML",
        ),
        pytest.param(b"\xa9 2001", None, DecodedHtml("© 2001", "windows-1252", (DETECTED,)), id="too little to tell"),
    ],
)
def test_charsets_of_odd_pages(body: bytes, header: str | None, expected: DecodedHtml) -> None:
    decoded = decode_html(body, header)
    if expected.text == "\ufffd<a":
        assert str(decoded.text).endswith("<a")
    else:
        assert decoded == expected


def test_the_declaration_is_found_behind_a_long_script() -> None:
    body = b"<html><head><script>" + b"x = 1;\n" * 600 + b"</script><meta charset=koi8-r>\xe4"
    assert decode_html(body, None).charset == "koi8-r"


@pytest.mark.parametrize(
    "markup",
    [
        '<!-- <meta charset="koi8-r"> -->',
        "<p title='<meta charset=\"koi8-r\">'>",
        '<p title="x> <meta charset=koi8-r>">',
        '<title x="> <meta charset=koi8-r>',
        '<metacharset="koi8-r">',
        '<meta name="x" content="text/html; charset=koi8-r">',
        '<meta charset="">',
        '<meta charset="koi8-r"',
    ],
)
def test_what_is_no_declaration_declares_nothing(markup: str) -> None:
    assert declared_in(f"<html>{markup}".encode()) is None


HTML5LIB_EXCEPTIONS = {
    ("tests1.dat", 54): "a script writes the declaration, and no script is run",
}


@pytest.mark.parametrize("name", ["tests1.dat", "tests2.dat"])
def test_html5lib_encodings(shared_data: Path, name: str) -> None:
    cases = re.split(rb"(?m)^#data\n", (shared_data / "html" / name).read_bytes())[1:]
    others = set()
    for number, case in enumerate(cases, 1):
        body, _, encoding = case.partition(b"\n#encoding\n")
        if decode_html(body, None).charset != encoding.split()[0].decode().lower():
            others.add((name, number))
    assert others == {case for case in HTML5LIB_EXCEPTIONS if case[0] == name}


@given(
    st.binary(max_size=400),
    st.sampled_from([None, "utf-8", "utf-16", "shift_jis", "windows-1253", "iso-2022-jp", "big5", "x-user-defined"]),
)
def test_any_bytes_become_text_that_utf8_can_hold(body: bytes, header: str | None) -> None:
    decoded = decode_html(body, header)
    if isinstance(decoded.text, str):
        decoded.text.encode()
    assert encoding_of(decoded.charset) == decoded.charset
    LexborHTMLParser(decoded.text)


@given(st.binary(max_size=400).map(lambda rest: b"<meta charset" + rest))
def test_the_prescan_takes_any_bytes(body: bytes) -> None:
    declared_in(body)


@pytest.mark.parametrize("piece", [b"<a ", b"<!--", b'<a x="', b"<meta ", b"<a =", b"</", b"<a /", b"charset="])
def test_the_prescan_of_hostile_pages_takes_linear_time(piece: bytes) -> None:
    body = piece * 4000 + b"charset=koi8-r"
    start = time.process_time()
    declared_in(body)
    assert time.process_time() - start < 0.5


def test_nul_is_left_to_the_parser() -> None:
    decoded = decode_html(b'<a href="x\0y">t</a>', "utf-8")
    link = LexborHTMLParser(decoded.text).css_first("a")
    assert link is not None
    assert link.attributes["href"] == "x\ufffdy"


def test_real_pages_are_taken_as_they_are() -> None:
    page = b'<!DOCTYPE html><html><head><title>x</title><meta charset="utf-8">' + b"<p>hello world</p>\n" * 2000
    assert decode_html(page, None).text is page
    assert decode_html(page, "UTF-8").text is page
