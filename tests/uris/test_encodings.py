"""Each encoding decodes and encodes as the Encoding Standard does."""

from collections.abc import Iterator
from hashlib import sha256

import pytest

from arclink.uris.encodings import decode, encode_query, output_encoding

STANDARD = {
    "ibm866": ("74762f7fb26ee414", "07cac2075f82588a"),
    "iso-8859-2": ("d0f9f4c0c9e4be07", "79f6646456b503cc"),
    "iso-8859-3": ("99243568f7b61060", "8a7b4bd4d8bfebd4"),
    "iso-8859-4": ("06c4f00a8fb5507b", "f0426c8e29cbb6cf"),
    "iso-8859-5": ("6442315df2c5450b", "f53e63800f3c993d"),
    "iso-8859-6": ("43e2693f62c0d5a8", "be797c6d4bee2291"),
    "iso-8859-7": ("75a7a9f910dbca46", "c6ac3409408fe3c8"),
    "iso-8859-8": ("5a7ec307bdc24911", "20d52271dc60752c"),
    "iso-8859-10": ("16356c1f1b7ba214", "c6872eb059aa402a"),
    "iso-8859-13": ("a3da016c4a1fa6f6", "541d8558b6b68740"),
    "iso-8859-14": ("3fa7e8612031200e", "915285198bd2b26b"),
    "iso-8859-15": ("8635c679733389f5", "c30cd64bc45e4bab"),
    "iso-8859-16": ("69bf0e797519e07e", "2c052b9338afee6f"),
    "koi8-r": ("e7aef5be3bbcba31", "0cbdaec0850c3cb6"),
    "koi8-u": ("24556be328faba09", "bcef7f6c5fb37738"),
    "macintosh": ("90023f982fb9e091", "4b76f37ad176e25a"),
    "windows-874": ("56ae772cc46c9914", "bd5b1843f9c75078"),
    "windows-1250": ("4c35dffb640bdad5", "a760fff095a5ea8e"),
    "windows-1251": ("107078d2627ff712", "27a30c8bb60fd2c8"),
    "windows-1252": ("41438e57a0e46d92", "abb5beb2d8b20e18"),
    "windows-1253": ("26365592f3184441", "4538cf381cf451d4"),
    "windows-1254": ("517db4a2095e64d7", "8828347446dcbb96"),
    "windows-1255": ("643017530ca3700e", "28097dfe4a5c08a7"),
    "windows-1256": ("270b8a53e1411d9e", "1420f690c6e1880b"),
    "windows-1257": ("de61a9b61c5a549c", "5bb1abddea998e7c"),
    "windows-1258": ("11e0a52dc4fbda08", "811c32ea5002b35e"),
    "x-mac-cyrillic": ("91d42105421c586c", "ba03f702e1da50ab"),
    "iso-8859-8-i": ("5a7ec307bdc24911", "20d52271dc60752c"),
    "gbk": ("22687fc79945326c", "80f3f0b919d5c4a1"),
    "gb18030": ("22687fc79945326c", "72e5b87e07780e06"),
    "big5": ("83e17f366498c47e", "a58ce4afaf3fad99"),
    "euc-jp": ("8076b43ef179599e", "bff365df6a4a5cac"),
    "shift_jis": ("63cb1be1981754a5", "6f53553adf1dcd6e"),
    "euc-kr": ("a5e919a75f66d8e1", "93647c82fb0c09f1"),
}
"""SHA-256 (the first 16 digits) of each decoder and encoder, of the indexes of the standard.

They were computed from ``index-*.txt`` (2026-05-21) by the steps that the standard writes down, as
`digest_of_decoder` and `digest_of_encoder` compute those of the code.
"""

OTHER = {"big5": {b"\xa2\x41", b"\xa2\x42"}, "euc-jp": {b"\x8f\xa2\xb7"}}
"""Sequences that are known to be decoded otherwise."""


def sequences(charset: str) -> Iterator[bytes]:
    """Yield the sequences that are one character in an encoding, or two in a few places."""
    singles = {byte for byte in range(0x80, 0x100) if decode(bytes((byte,)), charset) != "\ufffd"}
    yield from (bytes((byte,)) for byte in singles)
    for lead in {*range(0x80, 0x100)} - singles:
        yield from (bytes((lead, trail)) for trail in range(0x40, 0x100))
    if charset == "euc-jp":
        high = range(0xA1, 0xFF)
        yield from (bytes((0x8F, lead, trail)) for lead in high for trail in high)


def digest_of_decoder(charset: str) -> str:
    rows = []
    for sequence in sorted({*sequences(charset)} - OTHER.get(charset, set())):
        text = decode(sequence, charset)
        if "\ufffd" not in text:
            rows.append(f"{sequence.hex()} {text}\n")
    return sha256("".join(rows).encode()).hexdigest()[:16]


def digest_of_encoder(charset: str) -> str:
    signs = map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x10000)))
    rows = (f"{ord(sign):x} {encode_query(sign, charset)}\n" for sign in signs)
    return sha256("".join(rows).encode()).hexdigest()[:16]


@pytest.mark.parametrize("charset", STANDARD)
def test_an_encoding_has_the_characters_of_the_standard(charset: str) -> None:
    assert output_encoding(charset.upper()) == charset
    assert digest_of_decoder(charset) == STANDARD[charset][0]
    assert digest_of_encoder(charset) == STANDARD[charset][1]


@pytest.mark.parametrize(
    ("charset", "encoded", "text", "query"),
    [
        ("gbk", b"\x80\xa2\xe3", "€€", "%80%80"),
        ("gb18030", b"\x80\xa2\xe3", "€€", "%A2%E3%A2%E3"),
        ("gbk", b"\x81\x30\x81\x30", "\x80", "%26%23128%3B"),
        ("gb18030", b"\x84\x31\x82\x36\x90\x30\x81\x30", "\ufe10\U00010000", "%A6%D9%900%810"),
        ("big5", b"\xa3\xe1", "€", "%A3%E1"),
        ("big5", b"\xf9\xfe", "\uffed", "%F9%FE"),
        ("euc-kr", b"\x80a", "\ufffda", "%26%2365533%3Ba"),
        ("euc-jp", b"\xad\xa1\xa1\xc1", "①\uff5e", "%AD%A1%A1%C1"),
        ("shift_jis", b"\x87\x40\x81\x60\xa0", "①\uff5e\ufffd", "%87@%81`%26%2365533%3B"),
        ("iso-2022-jp", b"\x1b$B-!!A\x1b(B/", "①\uff5e/", "%1B$B-!!A%1B(B/"),
        ("iso-2022-jp", b"\x1b(J\\\x1b(Ba\xff", "¥a\ufffd", "%1B(J\\%1B(Ba%26%2365533%3B"),
        ("windows-1252", b"\x80\x81\xff", "€\x81ÿ", "%80%81%FF"),
        ("windows-1255", b"\xca\xd9", "\u05ba\ufffd", "%CA%26%2365533%3B"),
        ("koi8-u", b"\xae\xbe", "ўЎ", "%AE%BE"),
    ],
)
def test_characters_beyond_pythons_codecs(
    charset: str, encoded: bytes, text: str, query: str
) -> None:
    assert decode(encoded, charset) == text
    assert encode_query(text, charset) == query


def test_half_width_letters_become_wide_in_iso_2022_jp() -> None:
    assert encode_query("ｶﾞ", "iso-2022-jp") == "%1B$B%%2B!%2B%1B(B".replace("%2B", "+")


@pytest.mark.parametrize("charset", ["utf-8", "utf-16le", "utf-16be", "replacement", "", "x"])
def test_other_encodings_have_queries_in_utf_8(charset: str) -> None:
    assert output_encoding(charset) is None
