"""The encodings of the Encoding Standard: `decode` bytes, `encode_query` of a link.

Python's codecs have other tables than the standard for a few bytes, so each encoding is a codec and
its differences. An encoder is the inverse of its decoder, with the exceptions that the standard
names. A test compares both with the standard's indexes.

Not as in the standard: ``A2 41`` and ``A2 42`` of Big5 are full-width slashes, ``8F A2 B7`` of
EUC-JP is ``~`` in its usual width, and ``81 35 F4 37`` of GBK is U+1E3F; after invalid bytes, a
decoder may continue at another byte; ``x-user-defined`` is left out.
"""

import codecs
import re
from functools import cache
from itertools import product
from typing import Final
from unicodedata import normalize

_SINGLE: Final = {
    "ibm866": "cp866",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "iso-8859-8-i": "iso8859_8",
    **{f"iso-8859-{part}": f"iso8859_{part}" for part in (*range(2, 9), 10, *range(13, 17))},
    **{f"windows-{page}": f"cp{page}" for page in (874, *range(1250, 1259))},
}
"""Python's codec for each encoding of one byte per character."""

_OF_BYTE: Final = {
    "koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
}
"""Characters of the standard that differ from those of Python's codec."""

_MULTI_BYTE: Final = {
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp_ext",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
"""Python's decoder for each other encoding."""

_GB_2005: Final = dict(
    zip(
        "\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue7c7"
        "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
        "\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u1e3f"
        "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
        strict=True,
    )
)
_JAPANESE: Final = dict(zip("\u301c\u2016\u2212\xa2\xa3\xac", "～∥－￠￡￢", strict=True))  # noqa: RUF001
_BIG5: Final = (
    "877a㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋 8e69箸 "
    "8e6f簆 8e7e糎 8eab緒 8eb4縝 8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 8fcb覦覩 8ffe起 906d都 907a銹 "
    "90dc靜 90f1響 91bf鼖 9244蔃 92af兙兛兝兞 92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 9644靝 96ed瀞 "
    "96fc嬨 9b76爁 9b78矗 9b7b纇 9bc6駖 9bde釔 9bec惞 9bf6澶 9c42輶 9c53侻 9c62營 9c68鄄 9c6b鷰 "
    "9c77菏 9cbc尐秣 9cd0婧 9d57輋 9d5a筑 9dc4拐 9ea9恢 9eef痹 9efd汊 9f60鬮 9f66鼗 9fcb僭 9fd8弌 "
    "a063蠏 a077拎 a0d5瑨 a0df煢 a0e4牐 a3c0␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡€ c6cf廴 "
    "c6d3无 c6d5癶 c6d7隶 c6de〃仝 fa5f倩 fa66偽 fabd包 fac5卄 fad5卿 fb48嘅 fbb8婷 fbf3幵 fbf9廐 "
    "fc4f彘 fc6c悤 fcb9撐 fce2晴 fcf1杞 fdb7沜渝 fdbb港 fdf1煮 fe52猪 fe6f瑜 feaa瓩 fedd砉 "
)
"""HKSCS-2008 and others: two bytes, and the characters from these on."""

_TRANSLATED: Final[dict[str, dict[int, str]]] = {
    codec: {ord(of_python): of_standard for of_python, of_standard in pairs.items()}
    for codec, pairs in {
        "gb18030": {**_GB_2005, "\ue5e5": "\u3000"},
        "euc_jp": _JAPANESE,
        "iso2022_jp_ext": _JAPANESE,
        "big5hkscs": dict(zip("•､‾\u223c♁☉¥¢£", "‧﹑¯\uff5e⊕⊙￥￠￡", strict=True)),
        "cp932": dict.fromkeys("\uf8f0\uf8f1\uf8f2\uf8f3", "\ufffd"),
    }.items()
}
"""Characters of Python's decoders, and those of the standard for the same bytes."""


@cache
def _added_to_big5() -> dict[bytes, str]:
    added = {}
    for run in _BIG5.split():
        lead, trail = bytes.fromhex(run[:4])
        for character in run[4:]:
            added[bytes((lead, trail))] = character
            trail += 1 if trail != 0x7E else 0x23
    return added


def _of_jis(pair: bytes) -> str:
    """Return the character of two bytes of JIS X 0208 with its extensions; U+FFFD for others."""
    if len(pair) < 2 or min(pair) < 0x21 or max(pair) > 0x7E:
        return "\ufffd"
    pointer = (pair[0] - 0x21) * 94 + pair[1] - 0x21
    lead, trail = divmod(pointer, 188)
    shifted = bytes(
        (lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41))
    )
    character = shifted.decode("cp932", "replace")
    return "\ufffd" if len(character) > 1 or "\ue000" <= character <= "\uf8ff" else character


def _replace(error: UnicodeError) -> tuple[str, int]:
    """Decode what Python's codec does not have and the standard has; anything else is U+FFFD."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    end = max(error.end, error.start + 1)
    if error.encoding == "gb18030" and pair[0] == 0x80:
        return "€", error.start + 1
    if error.encoding == "big5hkscs":
        character = _added_to_big5().get(pair, "\ufffd")
    elif error.encoding == "euc_jp":
        character = _of_jis(bytes(byte ^ 0x80 for byte in pair))
    else:
        character = _of_jis(pair) if error.encoding == "iso2022_jp_ext" else "\ufffd"
    return character, end if character == "\ufffd" else error.start + 2


codecs.register_error("arclink-encodings", _replace)


@cache
def _table(charset: str) -> str:
    """Return the characters of the 256 bytes; an undefined byte below 0xA0 is a C1 control."""
    characters = {byte: chr(byte) for byte in range(0xA0)} | {
        byte: character
        for byte in range(256)
        if (character := bytes((byte,)).decode(_SINGLE[charset], "ignore"))
    }
    characters |= _OF_BYTE.get(charset, {})
    return "".join(characters.get(byte, "\ufffd") for byte in range(256))


def decode(encoded: bytes, charset: str) -> str:
    r"""Return bytes as text. Never fails: bytes that are not characters become U+FFFD.

    Args:
        encoded: May be cut anywhere.
        charset: Name in the Encoding Standard, in lower case; not ``x-user-defined``.

    >>> decode(b"\x805", "gbk"), decode(b"\x81", "windows-1252")
    ('€5', '\x81')
    """
    if charset in _SINGLE:
        return codecs.charmap_decode(encoded, "strict", _table(charset))[0]
    codec = _MULTI_BYTE.get(charset, charset)
    text = encoded.decode(codec, "arclink-encodings")
    return text.translate(_TRANSLATED[codec]) if codec in _TRANSLATED else text


_TWO_BYTES: Final = {
    "gbk": (range(0x81, 0xFF), range(0x40, 0xFF)),
    "gb18030": (range(0x81, 0xFF), range(0x40, 0xFF)),
    "big5": (range(0xA1, 0xFF), range(0x40, 0xFF)),  # without the lead bytes of HKSCS
    "euc-jp": (range(0xA1, 0xFF), range(0xA1, 0xFF)),
    "iso-2022-jp": (range(0xA1, 0xFF), range(0xA1, 0xFF)),
    # Without the copy of IBM's extensions that NEC selected.
    "shift_jis": ([*range(0x81, 0xA0), *range(0xE0, 0xED), *range(0xEF, 0xFD)], range(0x40, 0xFD)),
    "euc-kr": (range(0x81, 0xFF), range(0x41, 0xFF)),
}
"""Lead and trail bytes that an encoder may write."""

_LAST_OF_BIG5: Final = frozenset("\u2550\u255e\u2561\u256a\u5341\u5345")
"""Characters that have two places in Big5, of which the last is written."""

_HALF_WIDTH: Final = range(0xFF61, 0xFFA0)


@cache
def _encoder(charset: str) -> dict[str, bytes]:
    """Return the bytes of each character that is not ASCII; without the four bytes of GB 18030."""
    if charset in _SINGLE:
        table = enumerate(_table(charset))
        return {sign: bytes((byte,)) for byte, sign in table if byte > 0x7F and sign != "\ufffd"}
    pairs = list(map(bytes, product(*_TWO_BYTES[charset])))
    of_jis = "euc-jp" if charset == "iso-2022-jp" else charset
    signs = decode(b"\n".join(pairs), of_jis).split("\n")
    encoder: dict[str, bytes] = {}
    for sign, pair in zip(signs, pairs, strict=True):
        if len(sign) == 1 and (sign not in encoder or sign in _LAST_OF_BIG5):
            encoder[sign] = pair
    encoder.pop("\ufffd", None)
    if charset in ("gbk", "gb18030"):
        encoder |= {old: encoder[new] for old, new in _GB_2005.items() if new in encoder}
        encoder["\ue7c7"] = b"\x81\x35\xf4\x37"
    if charset == "big5":
        encoder |= {"\u2215": b"\xa2A", "\ufe68": b"\xa2B"}  # the decoder has others for these
    if charset == "gbk":
        encoder["€"] = b"\x80"
        del encoder["\ue7c7"]
    if charset in ("euc-jp", "iso-2022-jp", "shift_jis"):
        if charset == "shift_jis":
            encoder = {
                sign: pair for sign, pair in encoder.items() if not "\ue000" <= sign <= "\uf8ff"
            }
            encoder["\x80"] = b"\x80"
        prefix = b"" if charset == "shift_jis" else b"\x8e"
        encoder |= {chr(sign): prefix + bytes((sign - 0xFEC0,)) for sign in _HALF_WIDTH}
        encoder |= {"\xa5": b"\\", "\u203e": b"~", "\u2212": encoder["\uff0d"]}
    return encoder


def _encoded(sign: str, charset: str) -> bytes | None:
    """Return the bytes of a character that is not ASCII; None if the encoding does not have it."""
    encoded = _encoder(charset).get(sign)
    if encoded is None and charset == "gb18030" and sign != "\ue5e5":
        return sign.encode("gb18030")
    return encoded


_NON_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_KEPT: Final = frozenset(range(0x21, 0x7F)) - frozenset(b"\"#<>'")
"""Bytes outside the special-query percent-encode set."""


def output_encoding(charset: str) -> str | None:
    """Return the encoding of the queries of a page; None if it is UTF-8.

    It is UTF-8 for UTF-16, replacement, and an unknown name, too.

    Args:
        charset: Name in the Encoding Standard, in upper or lower case.

    Source:
        Encoding Standard, *get an output encoding*.
    """
    name = charset.lower()
    return name if name in _SINGLE or name in _MULTI_BYTE else None


def encode_query(query: str, charset: str) -> str:
    """Return ``query`` with all characters that are not ASCII percent-encoded in an encoding.

    A character that the encoding does not have becomes ``%26%23n%3B``. ASCII is unchanged. This
    holds only for queries of special schemes: paths are always UTF-8, and so are URIs of all other
    schemes.

    Args:
        query: Without lone surrogates.
        charset: From `output_encoding`.

    Source:
        URL Standard, *percent-encode after encoding*.

    >>> encode_query("q=ä€", "windows-1252"), encode_query("q=я", "windows-1252")
    ('q=%E4%80', 'q=%26%231103%3B')
    """
    if charset == "iso-2022-jp":
        return _NON_ASCII.sub(lambda run: _with_escapes(run[0]), query)
    return _NON_ASCII.sub(
        lambda run: "".join(_written(_encoded(sign, charset), sign) for sign in run[0]), query
    )


def _with_escapes(run: str) -> str:
    """Return characters in ISO-2022-JP, which begins and ends with ASCII."""
    ascii_, roman, jis = b"\x1b(B", b"\x1b(J", b"\x1b$B"
    state, written = ascii_, []
    for sign in run:
        if ord(sign) in _HALF_WIDTH:
            sign = {"\uff9e": "\u309b", "\uff9f": "\u309c"}.get(sign, normalize("NFKC", sign))
        encoded = _encoded(sign, "iso-2022-jp")
        needed = (
            (state if state == roman else ascii_)
            if encoded is None
            else jis
            if len(encoded) > 1
            else roman
        )
        if needed != state:
            written.append(_written(needed, sign))
            state = needed
        written.append(_written(encoded and bytes(byte & 0x7F for byte in encoded), sign))
    if state != ascii_:
        written.append(_written(ascii_, ""))
    return "".join(written)


def _written(encoded: bytes | None, sign: str) -> str:
    if encoded is None:
        return f"%26%23{ord(sign)}%3B"
    return "".join(chr(byte) if byte in _KEPT else f"%{byte:02X}" for byte in encoded)
