"""Bytes for a store's blocks: numbers, strings, checksums, and URIs that stand beside their SURT.

All functions are pure and come in pairs that undo each other. Layouts:

======== =====================================================================================================
numbers  LEB128: seven bits a byte, lowest first, the eighth says that another byte follows
signed   a number ``n`` as ``2n`` if it is not negative, else ``-2n - 1`` (zigzag), so that small steps stay small
strings  UTF-8, joined by a newline; a control character in a string is written as a space (docs/graph-files.md)
sections 4 bytes little-endian for the size of each, then the sections one after the other
checksum a byte that names the form, then 20 bytes of SHA-1, or the text as it is
URI form one character when the SURT and eight variants of it give the URI back, else the whole URI
======== =====================================================================================================
"""

import re
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import zstandard

from arclink.model import Checksum, ContentId, Surt, UriR
from arclink.native import native

Numbers = npt.NDArray[np.int64]
"""Whole numbers, not negative unless said otherwise."""


def pack_numbers(numbers: npt.ArrayLike) -> bytes:
    """Return the numbers in order, LEB128.

    >>> pack_numbers([1, 300]).hex()
    '01ac02'
    """
    return pack_number_rows(np.asarray(numbers, dtype=np.int64), np.zeros(0, dtype=np.int64))[0]


@native
def pack_number_rows(numbers: Numbers, ends: Numbers) -> tuple[bytes, Numbers]:
    """Return the numbers in order, and where each row of them ends.

    Args:
        numbers: The numbers of all rows, one row after the other.
        ends: For each row, how many numbers it and the rows before it have.

    Returns:
        The bytes, and for each row how many bytes it and the rows before it take.
    """
    sizes = np.ones(len(numbers), dtype=np.int64)
    rest = numbers >> 7
    while rest.any():
        sizes += rest > 0
        rest >>= 7
    byte_ends = np.cumsum(sizes)
    total = int(byte_ends[-1]) if len(numbers) else 0
    row_ends = np.concatenate(([0], byte_ends))[ends]
    if total == len(numbers):
        return numbers.astype(np.uint8).tobytes(), row_ends
    packed = np.empty(total, dtype=np.uint8)
    places, left, sizes_left = byte_ends - sizes, numbers, sizes
    while len(left):
        more = sizes_left > 1
        packed[places] = (left & 127) | (more << 7)
        places, left, sizes_left = places[more] + 1, left[more] >> 7, sizes_left[more] - 1
    return packed.tobytes(), row_ends


_FEW = 128
"""So many bytes of numbers are unpacked one by one in less time than numpy takes to begin."""


@native
def unpack_numbers(packed: bytes | memoryview) -> Numbers:
    """Return the numbers that `pack_numbers` packed."""
    if len(packed) < _FEW:
        return np.array(unpack_few(packed), dtype=np.int64)
    octets = np.frombuffer(packed, dtype=np.uint8)
    last = octets < 128
    if last.all():
        return octets.astype(np.int64)
    ends = np.flatnonzero(last)
    starts = np.concatenate(([0], ends[:-1] + 1))
    sizes = ends - starts + 1
    numbers = (octets[starts] & 127).astype(np.int64)
    for more in range(1, int(sizes.max())):
        longer = np.flatnonzero(sizes > more)
        numbers[longer] |= (octets[starts[longer] + more] & 127).astype(np.int64) << (7 * more)
    return numbers


def pack_few(numbers: Iterable[int]) -> bytes:
    """Return what `pack_numbers` returns, quicker for a handful."""
    packed = bytearray()
    for number in numbers:
        rest = number
        while rest > 127:
            packed.append(rest & 127 | 128)
            rest >>= 7
        packed.append(rest)
    return bytes(packed)


@native
def unpack_few(packed: bytes | memoryview) -> list[int]:
    """Return what `unpack_numbers` returns, quicker for a handful."""
    numbers, number, shift = [], 0, 0
    for octet in packed:
        number |= (octet & 127) << shift
        if octet > 127:
            shift += 7
        else:
            numbers.append(number)
            number = shift = 0
    return numbers


@native
def unpack_ends(packed: bytes | memoryview) -> list[int]:
    """Return 0 and the sums of the numbers up to each: where things end whose sizes were packed."""
    return [0, *np.cumsum(unpack_numbers(packed)).tolist()]


@native
def unpack_steps(packed: bytes | memoryview) -> Numbers:
    """Return the numbers whose steps, of any sign, were packed: the first as it is, the others less the one before."""
    return np.cumsum(unsign(unpack_numbers(packed)))


def sign(numbers: Numbers) -> Numbers:
    """Return numbers of any sign as numbers that are not negative (zigzag)."""
    return (numbers << 1) ^ (numbers >> 63)


def unsign(numbers: Numbers) -> Numbers:
    """Return what `sign` was given."""
    return (numbers >> 1) ^ -(numbers & 1)


def steps(numbers: Numbers, starts: Numbers) -> Numbers:
    """Return each number less the one before it; at ``starts``, the number itself."""
    differences = np.diff(numbers, prepend=0)
    differences[starts] = numbers[starts]
    return differences


_CONTROL = re.compile("[\x00-\x1f]")


def plain(text: str) -> str:
    """Return the text with a space for each control character, as graph files write it."""
    return _CONTROL.sub(" ", text) if not text.isprintable() else text


_NEWLINE = ord("\n")


def pack_strings(strings: Sequence[str]) -> bytes:
    """Return the strings joined by newlines; control characters in them become spaces."""
    joined = "\n".join(strings)
    if joined.count("\n") != max(len(strings) - 1, 0):
        joined = "\n".join(plain(text) for text in strings)
    return joined.encode()


class Strings:
    """What `pack_strings` was given, decoded one by one: a block has thousands, and a page asks for a few.

    No bytes at all are one empty string.
    """

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._borders = _borders_of(packed)

    def __len__(self) -> int:
        return len(self._borders) - 1

    def take(self, places: Numbers) -> list[str]:
        """Return the strings at these places, in their order."""
        return _strings_at(self._packed, self._borders, places)


@native
def _borders_of(packed: bytes) -> Numbers:
    """Return the places of the newlines, with those of one before the first byte and one behind the last."""
    newlines = np.flatnonzero(np.frombuffer(packed, dtype=np.uint8) == _NEWLINE)
    return np.concatenate(([-1], newlines, [len(packed)]))


@native
def _strings_at(packed: bytes, borders: Numbers, places: Numbers) -> list[str]:
    """Return the strings that stand behind the borders at these places, each up to the next.

    Raises:
        IndexError: There is no such place.
    """
    if len(places) and places.min() < 0:
        raise IndexError("a place is negative")
    begins, ends = borders[places] + 1, borders[places + 1]
    return [packed[begin:end].decode() for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]


def pack_sections(sections: Sequence[bytes]) -> bytes:
    """Return the sections behind a table of their sizes."""
    return struct.pack(f"<{len(sections)}I", *map(len, sections)) + b"".join(sections)


_of_thread = threading.local()


def decompressed(data: bytes) -> bytes:
    """Return what zstd made ``data`` of, by a decompressor that each thread keeps: a new one costs as much as 30 KB."""
    try:
        decompress: Callable[[bytes], bytes] = _of_thread.decompress
    except AttributeError:
        decompress = _of_thread.decompress = zstandard.ZstdDecompressor().decompress
    return decompress(data)


def unpack_sections(packed: bytes, count: int) -> list[bytes]:
    """Return the sections; ``count`` must be the number that was packed."""
    sections, place = [], 4 * count
    for size in struct.unpack_from(f"<{count}I", packed):
        sections.append(packed[place : place + size])
        place += size
    return sections


# Checksums and content ids. Python's base64 module takes 4 µs each way; the digits of base32 are those of int(…, 32) in another
# order, and of a table with two at a time.

_TEXT, _SHA1, _REDIRECT = b"\0", b"\1", b"\2"
_REDIRECT_PREFIX = "redirect:"
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # RFC 4648, section 6
_BASE32 = str.maketrans(_DIGITS, "0123456789abcdefghijklmnopqrstuv")
_PAIRS = [one + other for one in _DIGITS for other in _DIGITS]
_SHA1_TEXT = re.compile("[A-Z2-7]{32}")
_CUT = re.compile(r"(.+)-([0-9a-f]{16})", re.DOTALL)


def pack_checksum(checksum: str) -> bytes:
    """Return the checksum as bytes, 21 for a SHA-1.

    >>> unpack_checksum(pack_checksum("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"))
    '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    is_redirect = checksum.startswith(_REDIRECT_PREFIX)
    sha1 = _pack_sha1(checksum[len(_REDIRECT_PREFIX) :] if is_redirect else checksum)
    if sha1 is None:
        return _TEXT + checksum.encode()
    return (_REDIRECT if is_redirect else _SHA1) + sha1


def unpack_checksum(packed: bytes) -> Checksum:
    """Return what `pack_checksum` was given."""
    form, body = packed[:1], packed[1:]
    if form == _TEXT:
        return Checksum(body.decode())
    digest = _unpack_sha1(body)
    return Checksum(_REDIRECT_PREFIX + digest if form == _REDIRECT else digest)


@native
def _pack_sha1(digest: str) -> bytes | None:
    """Return the 20 bytes of a SHA-1 in base32; None for any other text."""
    if not _SHA1_TEXT.fullmatch(digest):
        return None
    return int(digest.translate(_BASE32), 32).to_bytes(20, "big")


@native
def _unpack_sha1(packed: bytes) -> str:
    """Return the SHA-1 that `_pack_sha1` packed."""
    number = int.from_bytes(packed, "big")
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(150, -1, -10)])


def split_content(content: str) -> tuple[Checksum, bytes]:
    """Return the checksum of a content and the 8 bytes of its cut; no bytes if it has no cut."""
    found = _CUT.fullmatch(content)
    if not found:
        return Checksum(content), b""
    return Checksum(found[1]), bytes.fromhex(found[2])


def join_content(checksum: Checksum, cut: bytes) -> ContentId:
    """Return the content that `split_content` splits into these."""
    return ContentId(f"{checksum}-{cut.hex()}" if cut else checksum)


# URIs beside their SURT: most differ from what the SURT gives back by scheme, "www." and a last slash only.

_FORMS = "01234567"


@lru_cache(maxsize=4096)
def _host_of(host: str) -> str:
    """Return ``www.example.org:8080`` for ``org,example,www:8080``."""
    labels, colon, port = host.partition(":")
    return ".".join(reversed(labels.split(","))) + colon + port


def _after_scheme(surt: str) -> str:
    host, _, path = surt.partition(")")
    return _host_of(host) + path


def uri_form(surt: str, uri: str) -> str:
    """Return how the URI differs from its SURT: one digit if in nothing that matters, else the URI.

    >>> uri_form("org,example)/a", "https://www.example.org/a/")
    '7'
    >>> uri_form("org,example)/a", "http://example.org/A")
    'http://example.org/A'
    """
    if uri.startswith("http://"):
        form, rest = 0, uri[7:]
    elif uri.startswith("https://"):
        form, rest = 1, uri[8:]
    else:
        return _whole(uri)
    bare = _after_scheme(surt)
    size = len(rest) - len(bare)
    if size >= 4 and rest.startswith("www."):
        form, rest, size = form + 2, rest[4:], size - 4
    if size == 0 and rest == bare:
        return _FORMS[form]
    if size == 1 and rest.endswith("/") and rest.startswith(bare):
        return _FORMS[form + 4]
    return uri


def _whole(uri: str) -> str:
    """Return the form of a URI that is stored as it is; a blank before one that would read as a digit."""
    return " " + uri if uri.startswith(" ") or (len(uri) == 1 and uri in _FORMS) else uri


def uri_of_form(surt: Surt, form: str) -> UriR:
    """Return the URI that `uri_form` was given with this SURT."""
    if len(form) != 1 or form not in _FORMS:
        return UriR(form.removeprefix(" "))
    number = int(form)
    scheme = "https://" if number & 1 else "http://"
    return UriR(scheme + ("www." if number & 2 else "") + _after_scheme(surt) + ("/" if number & 4 else ""))
