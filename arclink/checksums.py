"""Checksums of payloads, and the references that replace them where a record has no checksum.

A server-not-modified revisit has no payload and no digest. At most it gives the date of the capture
whose validators the crawler sent (``WARC-Refers-To-Date``; WARC 1.1, 5.6 and 6.7.3). Which payload
that is follows from the mementos of the whole graph, including later batches. So the memento keeps
a *reference* in place of its checksum, and a store resolves the reference when it answers: to the
capture of the same original at that time, or, if no time is given, to the last capture before the
revisit. If the graph does not have the named capture, ArcLink does not guess.
"""

import base64
import re

from arclink.control_characters import encode_controls
from arclink.model import EMPTY_PAYLOAD, NO_CHECKSUM, Checksum, Timestamp, UriR

EMPTY_CHECKSUMS = frozenset(
    {
        EMPTY_PAYLOAD,
        "md5:d41d8cd98f00b204e9800998ecf8427e",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    }
)
"""Checksums of the empty payload. ArcLink never joins on them."""

_BASE32_SHA1 = re.compile("[A-Z2-7]{32}|[a-z2-7]{32}")
_HEX = re.compile("[0-9a-fA-F]+")
_END_OF_CONTENT = re.compile(r"-(?=[0-9a-f]{16}\Z)")
_HEX_ALGORITHMS = {32: "md5:", 64: "sha256:", 128: "sha512:"}

_START = "not-modified:"


def checksum_of_reference(original: UriR, timestamp: Timestamp | None) -> Checksum:
    """Return the reference that replaces the checksum of a revisit of ``original``.

    Args:
        original: Original of the revisit, and so of the capture it refers to.
        timestamp: Time of the capture it refers to; None if the record does not say.

    >>> checksum_of_reference(UriR("http://a.example/"), Timestamp("20100101000000"))
    'not-modified:20100101000000 http://a.example/'
    """
    return Checksum(f"{_START}{timestamp or ''} {original}")


def is_reference(checksum: Checksum) -> bool:
    """Return whether a checksum is a reference to the capture that a revisit repeats."""
    return checksum.startswith(_START)


def is_of_page(checksum: Checksum) -> bool:
    """Return whether a checksum is that of a payload: no reference, and not of a redirect."""
    return not is_reference(checksum) and not checksum.startswith("redirect:")


def digest_in(checksum: Checksum) -> Checksum:
    """Return the digest of a payload that a checksum is; `NO_CHECKSUM` if it is no digest.

    >>> digest_in(Checksum("not-modified: http://a.example/"))
    '-'
    """
    return checksum if is_of_page(checksum) else Checksum(NO_CHECKSUM)


def timestamp_of_reference(checksum: Checksum) -> Timestamp | None:
    """Return the time of the capture that a reference names; None if the record does not say.

    >>> timestamp_of_reference(Checksum("not-modified: http://a.example/"))
    """
    return Timestamp(checksum.removeprefix(_START).partition(" ")[0]) or None


def normal_checksum(text: str) -> Checksum:
    """Return a checksum in the form of the data model.

    SHA-1 becomes base32 without prefix; every other digest has the name of its algorithm as prefix.
    If the name is missing, the number of hex digits decides. Text that is not recognised stays
    unchanged, except where it could be confused with ArcLink's own forms: the hyphen before 16 hex
    digits at the end (a content id) and the colon after ``redirect`` are percent-encoded. So are
    control characters.

    >>> normal_checksum("sha1:37cf167c2672a4a64af901d9484e75eee0e2c98a")
    'G7HRM7BGOKSKMSXZAHMUQTTV53QOFSMK'
    """
    text = encode_controls(text)
    if _BASE32_SHA1.fullmatch(text):
        return Checksum(text.upper())
    algorithm, colon, digits = text.rpartition(":")
    algorithm = algorithm.lower().replace("-", "")
    if algorithm in ("", "sha1"):
        if _BASE32_SHA1.fullmatch(digits):
            return Checksum(digits.upper())
        if _HEX.fullmatch(digits):
            if len(digits) == 40:
                return Checksum(base64.b32encode(bytes.fromhex(digits)).decode())
            if not algorithm and len(digits) in _HEX_ALGORITHMS:
                return Checksum(_HEX_ALGORITHMS[len(digits)] + digits.lower())
    if not text or not digits:
        return Checksum(NO_CHECKSUM)
    whole = (
        text
        if not algorithm
        else algorithm + colon + (digits.lower() if _HEX.fullmatch(digits) else digits)
    )
    if whole.startswith("redirect:"):
        whole = whole.replace(":", "%3A", 1)
    return Checksum(_END_OF_CONTENT.sub("%2D", whole))
