"""Charsets: decode the bytes of a page to text for the HTML parser.

The order is that of the HTML standard, 13.2.3.2 (encoding sniffing): byte order mark; Content-Type
of HTTP; the page's own declaration; otherwise a guess: UTF-8 if the bytes are valid UTF-8, else the
answer of a detector, else windows-1252. Archives make these differences from the standard
necessary:

- A declaration that the bytes refute is ignored. Bytes that are valid UTF-8 and not only ASCII are
  UTF-8, whatever the server's default is. Where HTTP declares UTF-8 and the bytes are not valid
  UTF-8, the page's own declaration is tried first.
- The page's declaration is searched in its first 8 KiB, not 1 KiB. A browser that finds it later
  parses the page again (13.2.3.5), so scripts before the declaration do not hide it.
- Labels for encodings that browsers no longer decode (``hz-gb-2312``, ``iso-2022-kr``) are ignored.

Labels are those of the WHATWG Encoding Standard: ``iso-8859-1`` is windows-1252, ``gb2312`` is GBK.

The detector is chardet 7. On sentences in 17 charsets it named 17 correctly, charset-normalizer 13,
in the same time. Its input is the text around the first bytes that are not ASCII, at most 8 KiB (3
ms). Its confidence falls with the share of ASCII, for example for a Russian menu between English
words. Below a confidence of 0.11 it guesses among the charsets of Latin script. Therefore the
decoded text decides (`_plausible_share`): if a charset of another script makes clearly more
plausible words of the sample, that charset is used, whatever the confidence. Among charsets of
Latin script, letters decide (`_ALPHABETS`): those of a page are of one language, with few
exceptions. ``wyp³ywa`` is no word of any; ``altyzýsý Türkçe`` has letters of two. Where two
charsets do as well, the detector's answer is used, else windows-1252 as in browsers; another
charset also needs a word with a letter that windows-1252 does not have at this byte, and no charset
of ISO has the bytes 80 to 9F.

`benchmarks/undeclared_charsets.py` measures this on pages without their declarations.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import webencodings  # type: ignore[import-untyped]  # it has no types

from arclink.reasons import Reason
from arclink.uris.encodings import decode

DEFAULT = "windows-1252"

_SHORT_PRESCAN = 1 << 10
_PRESCAN = 8 << 10
_DETECTED = 8 << 10
_LEAST_CONFIDENCE = 0.11
_DETECTOR_NAMES = {
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "cp874": "windows-874",
    "big5hkscs": "big5",
    "euc_jis_2004": "euc-jp",
    "shift_jis_2004": "shift_jis",
}
"""Names that the detector returns and that are not labels of the standard."""

_MULTI_BYTE = frozenset({"gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"})
_LOCALES = _MULTI_BYTE | {
    *(f"windows-{number}" for number in (874, 1251, 1253, 1255, 1256)),
    "koi8-r",
    "koi8-u",
}
"""Default charsets of systems for languages with other scripts than Latin."""

_MARGIN = 0.1
"""A charset replaces the detector's first answer if its plausible share is larger by this."""

_LEAST_LETTERS = 2
"""Fewer plausible letters are not evidence for a charset of `_LOCALES`."""

_C1 = re.compile(rb"[\x80-\x9f]")
"""In encodings of ISO these are controls, so no page is written in one that contains such bytes."""

# In a wrong charset of Latin script. Not after "Ã" and "Â": that is UTF-8 that was encoded twice.
_SIGN_IN_WORD = re.compile(
    "[^\\W\\d_\xc2\xc3][\xa1-\xac\xae-\xb3\xb6\xb8\xb9\xbb-\xbf\xd7\xf7\x80-\x9f](?=[^\\W\\d_])"
)

_WESTERN = (  # noqa: SIM905  prose
    # Languages of western Europe, at last several of them in one page, and names in English pages.
    "äöüß àâæçéèêëîïôœùûüÿ áéíóúüñ àçéèíïóòúü áâãàçéêíóôõúü àèéìíîòóùú áéèêëïíóöü åäöé æøåéèêóòôü "
    "áðéíóúýþæöø ëç äõöüšž âêîôûŵŷáéëïö âêéôûúïë áéíóúüñçàèêâôëïöäßãå"
).split()
_CENTRAL = (  # noqa: SIM905  prose
    # Polish, Czech, Slovak, Hungarian, South Slavic, Romanian, Sorbian; German, Albanian.
    "ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű čćđšž ăâîşţșț čćěłńóŕšźž äöüß ëç"
).split()
_TURKISH = ["çğıöşüâîû\u0307"]  # the dot of a capital I in lower case
_BALTIC = ["ąčęėįšųūž", "āčēģīķļņšūžōŗ", "äõöüšž"]
_ALPHABETS = {
    DEFAULT: _WESTERN,
    "iso-8859-15": _WESTERN,
    "windows-1250": _CENTRAL,
    "iso-8859-2": _CENTRAL,
    "iso-8859-16": _CENTRAL,
    "windows-1254": _TURKISH,
    "windows-1257": _BALTIC,
    "iso-8859-13": _BALTIC,
    "iso-8859-4": _BALTIC,
    "iso-8859-3": ["ĉĝĥĵŝŭ", "ċġħżàèìòù", *_TURKISH],
    "iso-8859-10": ["áčđŋšŧž"],
    "iso-8859-14": ["âêîôûŵŷáéëïö", "ḃċḋḟġṁṗṡṫáéíóú"],
}
"""Charsets of Latin script, and the letters beyond ASCII of the languages that used each."""

_BYTES_PER_FOREIGN_LETTER = 2_000
"""Bytes of a sample in which one letter more of another language, as in a name, has no weight."""

_JAPANESE = re.compile(rb"\x1b\$[@B](?:[!-~]{2})++\x1b\([BJ]")
"""Text in ISO-2022-JP: the escape sequences around characters of two bytes."""

_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")

# Letters, signs and controls that are not ASCII, except punctuation and signs that pages in all
# languages contain (fractions, units, prices).
_OTHERS = re.compile(
    "[^\\x00-\\x7f\xa0\xad©®«»°·§¡¿€£™¢¥±²³\xb4¼½¾\xd7÷¹ªº\u2010-\u205e\u3000-\u303f\uff01-\uff5e]"
)
_WORD = re.compile(r"(?:[^\W\d_\u2e80-\ud7ff\uf900-\ufaff]|[\u0e01-\u0e4e])+")
_LATIN = re.compile("[A-Za-z\xc0-\u024f\xaa\xba]+")
# A word of one script: in lower case, capitalised, or in capitals; Cyrillic ones may be joined, for
# a wrong charset of Cyrillic has the cases in reverse.
_WRITTEN = re.compile(
    "[A-Z\xc0-\xde\u0100-\u024f]?[a-z\xdf-\xff\u0100-\u024f\xaa\xba]+|[A-Z\xc0-\xde\u0100-\u024f]+|[\u0400-\u042f\u0490]?[\u0430-\u045f\u0491]+(?:[\u0400-\u042f\u0490][\u0430-\u045f\u0491]{2,})*+|[\u0400-\u042f\u0490]+|[\u0386-\u03ab]?[\u0390\u03ac-\u03ce]+|[\u0386-\u03ab]+|[\u05d0-\u05ea]+|[\u0621-\u06d2]+|[\u0e01-\u0e4e]+"
)
_HAN = re.compile("[\u4e00-\u9fff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_KANA = re.compile("[\u3041-\u30ff]")
_COMMON_HAN = {
    "gbk": ("gb2312", b"\xb0", b"\xd7"),
    "gb18030": ("gb2312", b"\xb0", b"\xd7"),
    "big5": ("big5", b"\xa4", b"\xc6"),
    "shift_jis": ("euc-jp", b"\xb0", b"\xcf"),
    "euc-jp": ("euc-jp", b"\xb0", b"\xcf"),
}
"""Codec and lead bytes of the first level of each standard: the most frequent characters."""

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_XML_UTF16 = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_UTF16 = frozenset({"utf-16le", "utf-16be"})
_UNKNOWN = frozenset({"replacement", "x-user-defined"})

_SPACE = rb"\t\n\f\r "
_ATTRIBUTE = re.compile(
    rb"["
    + _SPACE
    + rb"/]*+([^"
    + _SPACE
    + rb"/>=][^"
    + _SPACE
    + rb"/>=]*+|=[^"
    + _SPACE
    + rb"/>=]*+)"
    rb"(?:["
    + _SPACE
    + rb"]*+=["
    + _SPACE
    + rb"]*+(?:\"([^\"]*+)(?:\"|\Z)|'([^']*+)(?:'|\Z)|([^"
    + _SPACE
    + rb">\"'][^"
    + _SPACE
    + rb">]*+)?))?"
)
_MARKUP = re.compile(rb"<(?:!--|meta[" + _SPACE + rb"/]|/?[a-z]|[!/?])")
_USUAL_META = re.compile(
    rb">\s{0,8}<meta (?:charset=(?:\"([a-z0-9_-]+)\"|([a-z0-9_-]+))"
    rb"|http-equiv=\"content-type\" content=\"text/html; ?charset=([a-z0-9_-]+)\") ?/?>"
)
"""A declaration in the form that nearly all pages use, after the end of a tag."""

_NAME_END = re.compile(rb"[" + _SPACE + rb">]")
_CHARSET_IN = re.compile(
    rb"charset[" + _SPACE + rb"]*+=[" + _SPACE + rb"]*+"
    rb"(?:\"([^\"]*)\"|'([^']*)'|([^" + _SPACE + rb";\"'][^" + _SPACE + rb";]*))"
)
_XML_ENCODING = re.compile(
    rb"encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\"\x00-\x20]*)\"|'([^'\x00-\x20]*)')"
)
_NOT_ASCII = re.compile(rb"[^<>\x80-\xff]{0,64}[\x80-\xff][^<>]*")
_THREE_BYTES = re.compile(rb"[\xe0-\xf4][\x80-\xbf]{2}")


@dataclass(frozen=True, slots=True)
class DecodedHtml:
    """A page as text.

    Attributes:
        text: Bytes if the page is UTF-8, else a string without lone surrogates.
        charset: WHATWG name, in lower case, of the encoding of the page. The query strings of its
            links have this encoding, too.
        notes: Facts to count.
    """

    text: bytes | str
    charset: str
    notes: tuple[Reason, ...] = ()


def decode_html(body: bytes, http_charset: str | None) -> DecodedHtml:
    """Return a page as text. Never fails: bytes that cannot be decoded become U+FFFD.

    Args:
        body: Payload with its codings undone; may be cut anywhere.
        http_charset: The charset parameter of Content-Type, as written; None if HTTP declares no
            charset.

    >>> decode_html("<p>Größe".encode("latin-1"), "ISO-8859-1").text
    '<p>Größe'
    """
    for bom, charset in _BOMS:
        if body.startswith(bom):
            return _decode_as(body[len(bom) :], charset)
    is_ascii = body.isascii()
    is_utf8 = is_ascii or _is_utf8(body)
    declared = encoding_of(http_charset) if http_charset else None
    if declared is None or (declared == "utf-8" and not is_utf8):
        declared = declared_in(body) or declared
    if declared is None:
        return _undeclared(body, is_ascii=is_ascii, is_utf8=is_utf8)
    if declared == "utf-8":
        if is_utf8:
            return DecodedHtml(body, "utf-8")
        return DecodedHtml(body.decode("utf-8", "replace"), "utf-8", (Reason.NOTE_CHARSET_WRONG,))
    if is_utf8 and _is_refuted(body, declared, is_ascii=is_ascii):
        return DecodedHtml(body, "utf-8", (Reason.NOTE_CHARSET_WRONG,))
    if is_ascii and declared not in _UTF16 and declared != "iso-2022-jp":
        return DecodedHtml(body, declared)
    return _decode_as(body, declared)


def _undeclared(body: bytes, *, is_ascii: bool, is_utf8: bool) -> DecodedHtml:
    if is_ascii:
        # ASCII needs no decoding, unless it is UTF-16 without a mark: every second byte is then
        # NUL; or ISO-2022-JP, which has Japanese between escape sequences.
        charset = _utf16_of(body) if b"\0" in body[:64] else None
        if charset is None and _JAPANESE.search(body) and _fits(body, "iso-2022-jp"):
            charset = "iso-2022-jp"
        return (
            _decode_as(body, charset, Reason.NOTE_CHARSET_DETECTED)
            if charset
            else DecodedHtml(body, DEFAULT)
        )
    if is_utf8:
        return DecodedHtml(body, "utf-8", (Reason.NOTE_CHARSET_DETECTED,))
    return _decode_as(body, _utf16_of(body) or _detect(body), Reason.NOTE_CHARSET_DETECTED)


def _is_refuted(body: bytes, declared: str, *, is_ascii: bool) -> bool:
    """Return whether bytes that are valid UTF-8 refute another charset.

    They always refute a single-byte charset: real text does not contain ``Ã¤``. In a double-byte
    charset, a few characters may be valid UTF-8 of two bytes each by chance, but CJK characters
    take three bytes in UTF-8. ASCII without NUL is never UTF-16.
    """
    if declared in _UTF16:
        return b"\0" not in body
    if is_ascii:
        return False
    return (
        declared not in _MULTI_BYTE
        or _THREE_BYTES.search(body) is not None
        or not _fits(body, declared)
    )


def _fits(body: bytes, charset: str) -> bool:
    """Return whether bytes are characters of a charset; the last one may be cut off."""
    return "\ufffd" not in decode(body, charset)[:-1]


def _is_utf8(body: bytes) -> bool:
    """Return whether bytes are UTF-8; the end may be cut off if other characters remain."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and not body[: error.start].isascii()
    return True


def _utf16_of(body: bytes) -> str | None:
    """Return the UTF-16 of bytes without a mark, where nearly every second byte is NUL."""
    start = body[:64]
    even, odd = start[::2], start[1::2]
    most = len(odd) * 3 // 4
    if odd.count(0) > most and b"\0" not in even:
        return "utf-16le"
    if even.count(0) > most and b"\0" not in odd:
        return "utf-16be"
    return None


def _decode_as(body: bytes, charset: str, *notes: Reason) -> DecodedHtml:
    if charset == "utf-8":
        if _is_utf8(body):
            return DecodedHtml(body, charset, notes)
        return DecodedHtml(
            body.decode("utf-8", "replace"), charset, (*notes, Reason.NOTE_CHARSET_WRONG)
        )
    return DecodedHtml(decode(body, charset), charset, notes)


@lru_cache(maxsize=4096)
def encoding_of(label: str) -> str | None:
    """Return the encoding of a label (Encoding Standard, 4.2); None if the label is unknown.

    >>> encoding_of(" Latin1 ")
    'windows-1252'
    """
    encoding = webencodings.lookup(label)
    name = encoding.name if encoding else None
    return None if name in _UNKNOWN else name


def declared_in(body: bytes) -> str | None:
    """Return the encoding that a page declares in its first 8 KiB; None if it declares none.

    Source:
        HTML Standard, 13.2.3.2, prescan a byte stream to determine its encoding.
    """
    for start, charset in _XML_UTF16:
        if body.startswith(start):
            return charset
    return _prescan(body[:_SHORT_PRESCAN].lower()) or _prescan(body[:_PRESCAN].lower())


def _prescan(lowered: bytes) -> str | None:
    if lowered.startswith(b"<?xml"):
        head = lowered[: lowered.find(b">") + 1]
        encoding = _XML_ENCODING.search(head)
        if encoding:
            of_xml = encoding_of((encoding[1] or encoding[2] or b"").decode("latin-1"))
            if of_xml:
                return "utf-8" if of_xml in _UTF16 else of_xml
    last = lowered.rfind(b"charset")
    if last < 0:
        return None
    usual = _USUAL_META.search(lowered)
    if usual and _is_markup(lowered, usual.start()):
        charset = encoding_of((usual[1] or usual[2] or usual[3]).decode())
        if charset:
            return "utf-8" if charset in _UTF16 else charset
    position = 0
    while (markup := _MARKUP.search(lowered, position)) and markup.start() < last:
        found = markup[0]
        position = markup.end()
        if found == b"<!--":
            position = lowered.find(b"-->", markup.start() + 2) + 3
        elif found.startswith((b"<!", b"<?")) or found == b"</":
            position = lowered.find(b">", position) + 1
        else:
            is_meta = found.startswith(b"<meta")
            name_end = _NAME_END.search(lowered, position - 1 if is_meta else position)
            attributes, position = _attributes(
                lowered, name_end.start() if name_end else len(lowered)
            )
            of_meta = _charset_of(attributes) if is_meta and position else None
            if of_meta:
                return of_meta
        if position <= markup.start():  # this markup has no end
            return None
    return None


def _is_markup(text: bytes, position: int) -> bool:
    """Return whether a position is certainly in markup: after no comment and no open attribute."""
    return (
        text.find(b"<!--", 0, position) < 0
        and text.count(b'"', 0, position) % 2 == 0
        and text.find(b"'", 0, position) < 0
    )


def _attributes(text: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes of a tag in lower-case text, the first of each name, and its end.

    The end is 0 if the tag has no end.
    """
    attributes: dict[bytes, bytes] = {}
    while attribute := _ATTRIBUTE.match(text, position):
        position = attribute.end()
        attributes.setdefault(attribute[1], attribute[2] or attribute[3] or attribute[4] or b"")
    end = text.find(b">", position)
    return attributes, end + 1


def _charset_of(attributes: dict[bytes, bytes]) -> str | None:
    label = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv") == b"content-type":
        content = _CHARSET_IN.search(attributes.get(b"content", b""))
        label = (content[1] or content[2] or content[3] or b"") if content else None
    if label is None:
        return None
    charset = encoding_of(label.decode("latin-1"))
    if label.strip() == b"x-user-defined":
        return DEFAULT  # 13.2.3.2, prescan, step 4.2
    return "utf-8" if charset in _UTF16 else charset


def _detect(body: bytes) -> str:
    """Return the probable encoding of bytes that are not UTF-8."""
    pieces: list[bytes] = []
    size = 0
    for piece in _NOT_ASCII.finditer(body):
        pieces.append(piece[0][: _DETECTED - size])
        size += len(pieces[-1]) + 1
        if size >= _DETECTED:
            break
    return _best_of(b"\n".join(pieces))


def _best_of(sample: bytes) -> str:
    """Return the encoding that decodes a sample to the most plausible text.

    The detector's first answer is returned unless another encoding gives clearly better text.
    """
    import chardet  # imported late: most pages declare their charset

    excludes_iso = _C1.search(sample) is not None
    eras = chardet.EncodingEra.MODERN_WEB | chardet.EncodingEra.LEGACY_ISO
    answers = chardet.detect_all(sample, ignore_threshold=True, encoding_era=eras)
    confidences: dict[str, float] = {}
    for answer in answers:
        name = (answer["encoding"] or "").lower()
        charset = encoding_of(_DETECTOR_NAMES.get(name, name))
        if (
            charset is not None
            and charset != "utf-8"
            and charset not in _UTF16
            and not (excludes_iso and charset.startswith("iso-8859"))
        ):
            confidences.setdefault(charset, answer["confidence"] or 0)
    first = next(iter(confidences), DEFAULT)
    if confidences.get(first, 0) < _LEAST_CONFIDENCE:
        first = DEFAULT
    if _BINARY.search(sample):
        return first
    shown = decode(sample, DEFAULT)
    if not _OTHERS.search(shown) and not _SIGN_IN_WORD.search(shown):
        return DEFAULT  # only punctuation
    shares = {first: _plausible_share(sample, first)}
    if shares[first] < 1 - _MARGIN:
        for charset in (*confidences, DEFAULT, *sorted(_MULTI_BYTE)):
            if charset not in shares:
                shares[charset] = _plausible_share(sample, charset)
    best: str = max(shares, key=lambda charset: (shares[charset], confidences.get(charset, 0)))
    if shares[best] <= shares[first] + _MARGIN:
        best = first
    if best in _MULTI_BYTE or (best not in _ALPHABETS and _own_words(sample, best)):
        return best
    return _best_of_latin(sample, [first, DEFAULT, *confidences])


def _best_of_latin(sample: bytes, charsets: Iterable[str]) -> str:
    """Return the first of some encodings whose letters are, as in no other, those of one language.

    Encodings other than windows-1252, which browsers use, need a word of their own.
    """
    foreign = {
        charset: _foreign_letters(sample, charset)
        for charset in dict.fromkeys(charsets)
        if charset in _ALPHABETS
    }
    most = min(foreign.values()) + len(sample) // _BYTES_PER_FOREIGN_LETTER
    return next(
        (
            charset
            for charset, count in foreign.items()
            if count <= most and (charset == DEFAULT or _own_words(sample, charset))
        ),
        DEFAULT,
    )


def _foreign_letters(sample: bytes, charset: str) -> int:
    """Return the number of letters that are not of the most likely language of an encoding.

    Signs in the middle of words are such letters, too.
    """
    text = decode(sample, charset)
    letters = Counter(_OTHERS.findall("".join(map(_lowered, _WORD.findall(text)))))
    known = max(sum(letters[letter] for letter in alphabet) for alphabet in _ALPHABETS[charset])
    return letters.total() - known + len(_SIGN_IN_WORD.findall(text))


def _lowered(word: str) -> str:
    """Return a word in lower case; unchanged capitals in the middle are letters of no language."""
    return word.lower() if _WRITTEN.fullmatch(word) else word


def _own_words(sample: bytes, charset: str) -> bool:
    """Return whether a sample has a word with a letter that windows-1252 shows as something else.

    Otherwise both charsets show the same words, and browsers use windows-1252.
    """
    if charset == DEFAULT:
        return False
    every = [bytes((byte,)) for byte in range(0x80, 0x100)]
    own = {decode(byte, charset) for byte in every} - {"\ufffd"}
    own -= {sign for byte in every if (sign := decode(byte, DEFAULT)) == decode(byte, charset)}
    return any(
        len(word) > 1
        and _WRITTEN.fullmatch(word) is not None
        and word in (word[:1] + word[1:].lower(), word.upper())
        and not own.isdisjoint(word)
        for word in _WORD.findall(decode(sample, charset))
    )


def _plausible_share(sample: bytes, charset: str) -> float:
    """Return the share of non-ASCII letters that are in plausible words, 0 to 1.

    A word is plausible if it is of one script and in usual case. A plausible word of Latin script
    has few letters that are not ASCII; a plausible CJK character is a common one. Signs and
    controls, which a wrong charset shows in place of letters, reduce the share; punctuation does
    not.
    """
    text = decode(sample, charset)
    others = len(_OTHERS.findall(text))
    if not others:
        return 0.0
    sound = 0
    for word in _WORD.findall(text):
        letters = len(_OTHERS.findall(word))
        if letters and _WRITTEN.fullmatch(word) is not None:
            is_latin = _LATIN.fullmatch(word) is not None
            sound += letters if not is_latin or letters * 3 <= len(word) * 2 + 1 else 0
    if charset in _MULTI_BYTE:
        sound += _common_characters(text, charset)
    is_evidence = charset not in _LOCALES or sound >= _LEAST_LETTERS
    return sound / others if is_evidence else 0.0


def _common_characters(text: str, charset: str) -> int:
    """Return the number of CJK characters that are common in the language of an encoding."""
    if charset == "euc-kr":
        return len(_HANGUL.findall(text))
    codec, first, last = _COMMON_HAN[charset]
    count = len(_KANA.findall(text)) if charset in ("shift_jis", "euc-jp") else 0
    for character in _HAN.findall(text):
        count += first <= character.encode(codec, "ignore")[:1] <= last
    return count
