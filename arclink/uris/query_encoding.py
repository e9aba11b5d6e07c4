"""Queries in the charset of their page: ``?q=ä`` is ``?q=%E4`` on a page in windows-1252.

This holds only for the query, and only for special schemes: paths are always UTF-8, and so are URIs
of all other schemes.
"""

import re

_CODECS = {
    "ibm866": "cp866",
    "iso-8859-2": "iso8859_2",
    "iso-8859-3": "iso8859_3",
    "iso-8859-4": "iso8859_4",
    "iso-8859-5": "iso8859_5",
    "iso-8859-6": "iso8859_6",
    "iso-8859-7": "iso8859_7",
    "iso-8859-8": "iso8859_8",
    "iso-8859-8-i": "iso8859_8",
    "iso-8859-10": "iso8859_10",
    "iso-8859-13": "iso8859_13",
    "iso-8859-14": "iso8859_14",
    "iso-8859-15": "iso8859_15",
    "iso-8859-16": "iso8859_16",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "macintosh": "mac_roman",
    "windows-874": "cp874",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "windows-1252": "cp1252",
    "windows-1253": "cp1253",
    "windows-1254": "cp1254",
    "windows-1255": "cp1255",
    "windows-1256": "cp1256",
    "windows-1257": "cp1257",
    "windows-1258": "cp1258",
    "x-mac-cyrillic": "mac_cyrillic",
    "gbk": "gbk",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
"""Python's codec for each encoding of the Encoding Standard whose output is not UTF-8.

The output of UTF-16 and replacement is UTF-8.
"""

_NON_ASCII = re.compile(r"[^\x00-\x7f]+")

_KEPT = frozenset(range(0x21, 0x7F)) - frozenset(b"\"#<>'")
"""Bytes outside the special-query percent-encode set."""


def codec_of(charset: str) -> str | None:
    """Return Python's codec for the queries of a page; None if they are UTF-8.

    They are UTF-8 for an unknown name, too.

    Args:
        charset: Name in the Encoding Standard, in upper or lower case.

    Source:
        Encoding Standard, *get an output encoding*.
    """
    return _CODECS.get(charset.lower())


def encode_query(query: str, codec: str) -> str:
    """Return ``query`` with all characters that are not ASCII percent-encoded by ``codec``.

    A character that the codec does not have becomes ``%26%23n%3B``. ASCII is unchanged. If Python's
    tables differ from the standard's (for a few characters in each of the East Asian encodings),
    Python's are used.

    Source:
        URL Standard, *percent-encode after encoding*.

    >>> encode_query("q=ä", "cp1252"), encode_query("q=я", "cp1252")
    ('q=%E4', 'q=%26%231103%3B')
    """
    return _NON_ASCII.sub(lambda run: _encode_run(run[0], codec), query)


def _encode_run(run: str, codec: str) -> str:
    try:
        return _percent_encode(run.encode(codec))
    except UnicodeEncodeError:
        return "".join(_encode_sign(sign, codec) for sign in run)


def _encode_sign(sign: str, codec: str) -> str:
    try:
        return _percent_encode(sign.encode(codec))
    except UnicodeEncodeError:
        return f"%26%23{ord(sign)}%3B"


def _percent_encode(encoded: bytes) -> str:
    return "".join(chr(byte) if byte in _KEPT else f"%{byte:02X}" for byte in encoded)
