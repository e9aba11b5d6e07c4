"""Checksums of payloads, and the references that replace them where a record has no checksum.

A revisit without a usable digest can name the capture that it repeats, by URI and time (WARC 1.1,
5.11, 5.12 and 6.7). Which payload that is follows from the mementos of the whole graph, including
later batches. So the memento keeps a *reference* in place of its checksum. There are two kinds:

- It names a capture of its own original, or, if the server said "not modified", none at all. Then a
  store resolves the reference when it answers: to the capture of this original at that time, or, if
  no time is given, to the last capture before the revisit.
- It names a capture of another URI. The links of that page may lead elsewhere from the URI of the
  revisit, so a build reads the page again for it: the reference is the checksum of a payload of its
  own (docs/decisions/20261125-named-captures.md).

If the graph does not have the named capture, ArcLink does not guess.
"""

import base64
import re

from arclink.model import EMPTY_PAYLOAD, NO_CHECKSUM, Checksum, Timestamp, UriR

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""C0 and C1 controls, and the two line separators of Unicode."""


def encode_controls(text: str) -> str:
    r"""Return a text with each control character percent-encoded as UTF-8.

    >>> encode_controls("a\tb")
    'a%09b'
    """
    return CONTROL.sub(
        lambda control: "".join(f"%{byte:02X}" for byte in control[0].encode()), text
    )


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

START_OF_REFERENCE = "not-modified:"
_NAME = "named:"


def checksum_of_reference(original: UriR, timestamp: Timestamp | None) -> Checksum:
    """Return the reference that replaces the checksum of a revisit.

    Args:
        original: URI of the capture it refers to.
        timestamp: Time of the capture it refers to; None if the record does not say.

    >>> checksum_of_reference(UriR("http://a.example/"), Timestamp("20100101000000"))
    'not-modified:20100101000000 http://a.example/'
    """
    return Checksum(f"{START_OF_REFERENCE}{timestamp or ''} {original}")


def is_reference(checksum: Checksum) -> bool:
    """Return whether a checksum is a reference to the capture that a revisit repeats."""
    return checksum.startswith(START_OF_REFERENCE)


def is_own_reference(checksum: Checksum, original: str) -> bool:
    """Return whether a checksum is a reference to a capture of the same original."""
    return is_reference(checksum) and uri_of_reference(checksum) == original


def names_payload(checksum: Checksum) -> bool:
    """Return whether a checksum is a name of a payload (`name_of_payload`), and no payload."""
    return checksum.startswith(_NAME)


def name_of_payload(checksum: Checksum, reference: Checksum) -> Checksum:
    """Return the name of a payload: a note that its revisits name a capture.

    Stores keep it until a batch has that capture. For a payload that is known by a reference only,
    the reference says so itself.

    Args:
        checksum: Of the payload.
        reference: To the capture.
    """
    return reference if checksum == reference else Checksum(f"{_NAME}{checksum} {reference}")


def parse_name(name: Checksum) -> tuple[Checksum, Checksum]:
    """Return the checksum and the reference of a name (`name_of_payload`)."""
    if not names_payload(name):
        return name, name
    checksum, _, reference = name.removeprefix(_NAME).partition(" ")
    return Checksum(checksum), Checksum(reference)


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
    return Timestamp(checksum.removeprefix(START_OF_REFERENCE).partition(" ")[0]) or None


def uri_of_reference(checksum: Checksum) -> UriR:
    """Return the URI of the capture that a reference names."""
    return UriR(checksum.partition(" ")[2])


THE_URI, ITS_PORT, VARIANT = range(3)
"""How far a captured URI is from one that a revisit names; see `distance_of`."""

_AUTHORITY = re.compile(r"(?i)(http(s?)://[^/?#]*?)(:\d+)?(?=[/?#]|\Z)")


def distance_of(named: str, original: str) -> int:
    """Return how far a captured URI is from one with the same SURT that a revisit names.

    The nearest capture is the one that is meant: 0 for the very URI, 1 for its form with or without
    the default port, 2 for a variant (crawlers do not write scheme and ``www`` in one way).

    >>> [distance_of("https://h/a", f"{of}/a") for of in ("https://h", "https://h:443", "http://h")]
    [0, 1, 2]
    """
    if named == original:
        return THE_URI
    return ITS_PORT if original == in_other_form(UriR(named)) else VARIANT


def in_other_form(uri: UriR) -> UriR | None:
    """Return the form of a URI with the default port, or without it if it has it.

    None if it has another port, or is not of HTTP.

    >>> in_other_form(UriR("http://h/a")), in_other_form(UriR("https://h:443?q"))
    ('http://h:80/a', 'https://h?q')
    """
    found = _AUTHORITY.match(uri)
    if found is None:
        return None
    before, is_secure, port = found.groups()
    default = ":443" if is_secure else ":80"
    if port not in (None, default):
        return None
    return UriR(f"{before}{default if port is None else ''}{uri[found.end() :]}")


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
