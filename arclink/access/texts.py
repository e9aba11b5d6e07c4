"""Clean text for answers: no raw control character, no lone surrogate, nothing that XML forbids.

Page texts and captured URIs come from unknown authors. Stores hold them unchanged; every writer
cleans the text that it writes.
"""

import re

from arclink.model import UriR

_WHITE_SPACE = str.maketrans("\t\n\r", "   ")
_NOT_PRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_REPLACEMENT = "\ufffd"


def printable(text: str) -> str:
    r"""Return ``text`` without characters that may not be written.

    Tabs and line ends become spaces, every other such character U+FFFD. The result is legal XML 1.0
    text and has a UTF-8 form; right-to-left and combining characters are unchanged.

    Source: XML 1.0, section 2.2 (Char); C1 control characters are legal there, but steer terminals.

    >>> printable("a\x1b[2Jb")
    'a\ufffd[2Jb'
    """
    # isprintable() is faster, and stricter.
    if text.isprintable() or _NOT_PRINTABLE.search(text) is None:
        return text
    return _NOT_PRINTABLE.sub(_REPLACEMENT, text.translate(_WHITE_SPACE))


def percent_encoded(characters: str) -> str:
    """Return the UTF-8 bytes of ``characters`` as ``%XX``; a lone surrogate is encoded as U+FFFD.

    >>> percent_encoded("é")
    '%C3%A9'
    """
    whole = "".join(
        _REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in characters
    )
    return "".join(f"%{byte:02X}" for byte in whole.encode())


def printable_uri(uri: str) -> UriR:
    r"""Return ``uri`` with the characters that `printable` would replace percent-encoded.

    >>> printable_uri("http://example.org/a\x00b")
    'http://example.org/a%00b'
    """
    if uri.isprintable():
        return UriR(uri)
    return UriR(_NOT_PRINTABLE.sub(lambda match: percent_encoded(match[0]), uri))


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "link"), counted(2000, "link"), counted(2, "entry", "entries")
    ('1 link', '2,000 links', '2 entries')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"
