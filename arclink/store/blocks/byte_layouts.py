"""Byte layouts for a store's blocks: numbers, strings, checksums, and URIs next to their SURT.

All functions are pure and come in pairs that undo each other. Layouts:

- numbers: LEB128, 7 bits per byte, lowest first; the 8th bit says that another byte follows
- signed: a number ``n`` as ``2n`` if it is not negative, else ``-2n - 1`` (zigzag), so that small
  steps stay small
- strings: UTF-8, joined by a newline; a control character in a string is written as a space
  (docs/reference/graph-files.md)
- sections: 4 bytes little-endian for the size of each, then the sections one after the other
- checksum: a byte that names the form, then 20 bytes of SHA-1, or the text unchanged
- URI form: one character if the URI is one of eight variants that follow from the SURT, else the
  whole URI
"""

import base64
import re
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import zstandard

from arclink.model import Checksum, ContentId, Surt, UriR
from arclink.native import native

# Only functions that write blocks or read whole ones import NumPy: its import takes as long as all
# else that a query for the links of a page does.
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    """Integers, not negative unless documented otherwise."""

    Sizes = Sequence[int] | Numbers
    """Sizes of values in bytes."""
else:
    Numbers, Sizes = "Numbers", "Sizes"


def pack_numbers(numbers: "npt.ArrayLike") -> bytes:
    """Return the numbers in order, LEB128.

    >>> pack_numbers([1, 300]).hex()
    '01ac02'
    """
    import numpy as np

    return pack_number_rows(np.asarray(numbers, dtype=np.int64), np.zeros(0, dtype=np.int64))[0]


@native("byte_layouts")
def pack_number_rows(numbers: Numbers, ends: Numbers) -> tuple[bytes, Numbers]:
    """Return the numbers in order, and the end of each row of them.

    Args:
        numbers: The numbers of all rows, one row after the other.
        ends: For each row, the count of numbers in it and the rows before it.

    Returns:
        The bytes, and for each row the count of bytes of it and the rows before it.
    """
    import numpy as np

    borders = [0, *ends.tolist(), len(numbers)]
    if max(borders) > len(numbers):
        raise IndexError(f"a row ends at {max(borders)} of {len(numbers)} numbers")
    rows = [pack_few(numbers[begin:end].tolist()) for begin, end in pairwise(borders)]
    return b"".join(rows), np.cumsum(list(map(len, rows[:-1])), dtype=np.int64)


@native("byte_layouts")
def unpack_numbers(packed: bytes | memoryview) -> Numbers:
    """Return the numbers that `pack_numbers` packed."""
    import numpy as np

    return np.array(unpack_few(packed), dtype=np.int64)


def pack_few(numbers: Iterable[int]) -> bytes:
    """Return the same bytes as `pack_numbers`; faster for a handful of numbers."""
    packed = bytearray()
    for number in numbers:
        rest = number
        while rest > 127:
            packed.append(rest & 127 | 128)
            rest >>= 7
        packed.append(rest)
    return bytes(packed)


@native("byte_layouts")
def unpack_few(packed: bytes | memoryview) -> list[int]:
    """Return the same numbers as `unpack_numbers`, as a list.

    An incomplete number at the end is left out.

    Raises:
        ValueError: A number has more than 63 bits.
    """
    numbers, number, shift = [], 0, 0
    for octet in packed:
        if shift > 56:
            raise ValueError("a packed number has more than 63 bits")
        number |= (octet & 127) << shift
        shift += 7
        if octet < 128:
            numbers.append(number)
            number = shift = 0
    return numbers


@native("byte_layouts")
def unpack_ends(packed: bytes | memoryview) -> list[int]:
    """Return 0 and the cumulative sums of the numbers: the ends of items with these sizes."""
    return [0, *accumulate(unpack_few(packed))]


@native("byte_layouts")
def unpack_steps(packed: bytes | memoryview) -> list[int]:
    """Return the numbers whose signed steps were packed: the first number, then differences."""
    return list(accumulate(step >> 1 ^ -(step & 1) for step in unpack_few(packed)))


def sign(numbers: Numbers) -> Numbers:
    """Return numbers of any sign as numbers that are not negative (zigzag)."""
    return (numbers << 1) ^ (numbers >> 63)


def steps(numbers: Numbers, starts: Numbers) -> Numbers:
    """Return each number's difference to the one before it; at ``starts``, the number itself."""
    import numpy as np

    differences = np.diff(numbers, prepend=0)
    differences[starts] = numbers[starts]
    return differences


_CONTROL = re.compile("[\x00-\x1f]")


def plain(text: str) -> str:
    """Return the text with a space for each control character, as in graph files."""
    return _CONTROL.sub(" ", text) if not text.isprintable() else text


def pack_strings(strings: Sequence[str]) -> bytes:
    """Return the strings joined by newlines; control characters in them become spaces."""
    joined = "\n".join(strings)
    if joined.count("\n") != max(len(strings) - 1, 0):
        joined = "\n".join(plain(text) for text in strings)
    return joined.encode()


class Strings:
    """Strings that `pack_strings` packed, decoded one by one on demand.

    A block has thousands, and a page needs only a few. Empty bytes are one empty string.
    """

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._borders = borders_of(packed)

    def __len__(self) -> int:
        return len(self._borders) - 1

    def take(self, indexes: list[int]) -> list[str]:
        """Return the strings at these indexes, in their order."""
        return strings_at(self._packed, self._borders, indexes)


@native("byte_layouts")
def borders_of(packed: bytes) -> list[int]:
    """Return the positions of the newlines, and one before the first and after the last byte."""
    return [-1, *(found.start() for found in re.finditer(b"\n", packed)), len(packed)]


@native("byte_layouts")
def strings_at(packed: bytes, borders: list[int], indexes: list[int]) -> list[str]:
    """Return the strings after the borders with these indexes, each up to the next border.

    Raises:
        IndexError: An index is out of range.
    """
    if indexes and min(indexes) < 0:
        raise IndexError("a position is negative")
    return [packed[borders[index] + 1 : borders[index + 1]].decode() for index in indexes]


def pack_sections(sections: Sequence[bytes]) -> bytes:
    """Return a table of the sizes of the sections, followed by the sections."""
    return struct.pack(f"<{len(sections)}I", *map(len, sections)) + b"".join(sections)


_of_thread = threading.local()


def decompressed(data: bytes) -> bytes:
    """Return the data that zstd compressed.

    Each thread keeps its decompressor, because creating one takes as long as decompressing 30 KB.
    """
    try:
        decompress: Callable[[bytes], bytes] = _of_thread.decompress
    except AttributeError:
        decompress = _of_thread.decompress = zstandard.ZstdDecompressor().decompress
    return decompress(data)


def unpack_sections(packed: bytes, count: int) -> list[bytes]:
    """Return the sections; ``count`` must be the number of packed sections."""
    sections, position = [], 4 * count
    for size in struct.unpack_from(f"<{count}I", packed):
        sections.append(packed[position : position + size])
        position += size
    return sections


# Checksums and content ids.

_TEXT, _SHA1, _REDIRECT = b"\0", b"\1", b"\2"
_REDIRECT_PREFIX = "redirect:"
_SHA1_TEXT = re.compile("[A-Z2-7]{32}")
_CUT = re.compile(r"(.+)-([0-9a-f]{16})", re.DOTALL)


def pack_checksum(checksum: str) -> bytes:
    """Return the checksum as bytes, 21 for a SHA-1.

    >>> unpack_checksum(pack_checksum("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"))
    '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    is_redirect = checksum.startswith(_REDIRECT_PREFIX)
    sha1 = pack_sha1(checksum[len(_REDIRECT_PREFIX) :] if is_redirect else checksum)
    if sha1 is None:
        return _TEXT + checksum.encode()
    return (_REDIRECT if is_redirect else _SHA1) + sha1


def unpack_checksum(packed: bytes) -> Checksum:
    """Return the checksum that `pack_checksum` packed."""
    form, body = packed[:1], packed[1:]
    if form == _TEXT:
        return Checksum(body.decode())
    digest = unpack_sha1(body)
    return Checksum(_REDIRECT_PREFIX + digest if form == _REDIRECT else digest)


@native("byte_layouts")
def pack_sha1(digest: str) -> bytes | None:
    """Return the 20 bytes of a SHA-1 in base32; None for any other text."""
    return base64.b32decode(digest) if _SHA1_TEXT.fullmatch(digest) else None


@native("byte_layouts")
def unpack_sha1(packed: bytes) -> str:
    """Return the SHA-1 that `pack_sha1` packed, in base32.

    Raises:
        ValueError: It does not have 20 bytes.
    """
    if len(packed) != 20:
        raise ValueError(f"a SHA-1 of {len(packed)} bytes")
    return base64.b32encode(packed).decode()


def split_content(content: str) -> tuple[Checksum, bytes]:
    """Return the checksum of a content and the 8 bytes of its cut; empty bytes if it has no cut."""
    found = _CUT.fullmatch(content) if content[-17:-16] == "-" else None
    if not found:
        return Checksum(content), b""
    return Checksum(found[1]), bytes.fromhex(found[2])


def join_content(checksum: Checksum, cut: bytes) -> ContentId:
    """Return the content that `split_content` splits into these parts."""
    return ContentId(f"{checksum}-{cut.hex()}" if cut else checksum)


# URIs next to their SURT: most differ from the URI that follows from the SURT only by scheme,
# "www." and a final slash.

_FORMS = "01234567"

_AROUND = {
    form: (
        ("https://" if number & 1 else "http://") + ("www." if number & 2 else ""),
        "/" if number & 4 else "",
    )
    for number, form in enumerate(_FORMS)
}
"""For each form: what the URI has before and after the part that follows from the SURT."""


@lru_cache(maxsize=4096)
def _host_of(host: str) -> str:
    """Return ``www.example.org:8080`` for ``org,example,www:8080``."""
    labels, colon, port = host.partition(":")
    return ".".join(reversed(labels.split(","))) + colon + port


def _after_scheme(surt: str) -> str:
    host, _, path = surt.partition(")")
    return _host_of(host) + path


def uri_form(surt: str, uri: str) -> str:
    """Return the difference of a URI from its SURT: one digit, or the whole URI.

    The digit covers differences in scheme, ``www.`` and a final slash only.

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
    """Return a URI unchanged, as its form, or after a space if it would read as a digit."""
    return " " + uri if uri.startswith(" ") or (len(uri) == 1 and uri in _FORMS) else uri


def uri_of_form(surt: Surt, form: str) -> UriR:
    """Return the URI whose `uri_form` with this SURT is ``form``."""
    around = _AROUND.get(form)
    if around is None:
        return UriR(form.removeprefix(" "))
    return UriR(around[0] + _after_scheme(surt) + around[1])
