# cython: language_level=3, boundscheck=False, wraparound=False
"""Numbers and checksums as bytes: see `arclink.store.packing`."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memchr

from numpy import count_nonzero, empty, frombuffer, int64, uint8


def pack_number_rows(const int64_t[:] numbers, const int64_t[:] ends):
    """Do what the function of this name in `arclink.store.packing` does."""
    cdef Py_ssize_t place, row, size = 0, end = 0, count = len(numbers), rows = len(ends)
    cdef uint64_t rest
    for place in range(count):
        rest = numbers[place]
        size += 1
        while rest > 127:
            size += 1
            rest >>= 7
    cdef bytes packed = PyBytes_FromStringAndSize(NULL, size)
    cdef unsigned char *octets = <unsigned char *>PyBytes_AS_STRING(packed)
    row_ends = empty(rows, int64)
    cdef int64_t[:] ends_of_rows = row_ends
    size = place = 0
    for row in range(rows + 1):
        end = ends[row] if row < rows else count
        if end > count:
            raise IndexError(f"a row ends at {end} of {count} numbers")
        while place < end:
            rest = numbers[place]
            while rest > 127:
                octets[size] = rest & 127 | 128
                size += 1
                rest >>= 7
            octets[size] = rest
            size += 1
            place += 1
        if row < rows:
            ends_of_rows[row] = size
    return packed, row_ends


cdef inline bint next_number(const unsigned char[::1] packed, Py_ssize_t *place, int64_t *number) noexcept:
    """Read the number that begins at a place, and go on behind it; tell whether a whole one was there."""
    cdef int shift = 0
    number[0] = 0
    while place[0] < len(packed):
        number[0] |= <int64_t>(packed[place[0]] & 127) << shift
        place[0] += 1
        if packed[place[0] - 1] < 128:
            return True
        shift = shift + 7 if shift < 56 else 56
    return False


def unpack_numbers(const unsigned char[::1] packed):
    """Do what the function of this name in `arclink.store.packing` does."""
    cdef Py_ssize_t place, count = 0
    for place in range(len(packed)):
        count += packed[place] < 128
    numbers = empty(count, int64)
    cdef int64_t[::1] found = numbers
    cdef Py_ssize_t begin = 0
    for place in range(count):
        next_number(packed, &begin, &found[place])
    return numbers


def unpack_few(const unsigned char[::1] packed):
    """Do what the function of this name in `arclink.store.packing` does."""
    cdef list numbers = []
    cdef Py_ssize_t begin = 0
    cdef int64_t number
    while next_number(packed, &begin, &number):
        numbers.append(number)
    return numbers


def unpack_ends(const unsigned char[::1] packed):
    """Do what the function of this name in `arclink.store.packing` does."""
    cdef list ends = [0]
    cdef Py_ssize_t begin = 0
    cdef int64_t number, end = 0
    while next_number(packed, &begin, &number):
        end += number
        ends.append(end)
    return ends


def unpack_steps(const unsigned char[::1] packed):
    """Do what the function of this name in `arclink.store.packing` does."""
    numbers = unpack_numbers(packed)
    cdef int64_t[::1] found = numbers
    cdef Py_ssize_t place
    cdef int64_t number = 0
    for place in range(len(found)):
        number += found[place] >> 1 ^ -(found[place] & 1)
        found[place] = number
    return numbers


def borders_of(bytes packed):
    """Do what the function of this name in `arclink.store.packing` does."""
    cdef const char *text = PyBytes_AS_STRING(packed)
    cdef Py_ssize_t place, size = len(packed), count = count_nonzero(frombuffer(packed, uint8) == 10)
    borders = empty(count + 2, int64)
    cdef int64_t[::1] found = borders
    found[0] = -1
    found[count + 1] = size
    cdef const char *newline = text - 1
    for place in range(1, count + 1):
        newline = <const char *>memchr(newline + 1, b"\n", text + size - newline - 1)
        found[place] = newline - text
    return borders


def strings_at(bytes packed, const int64_t[::1] borders, const int64_t[:] places):
    """Do what the function of this name in `arclink.store.packing` does."""
    cdef const char *text = PyBytes_AS_STRING(packed)
    cdef list strings = []
    cdef Py_ssize_t number
    cdef int64_t place
    for number in range(len(places)):
        place = places[number]
        if not 0 <= place < len(borders) - 1:
            raise IndexError(f"there is no string {place} among {len(borders) - 1}")
        strings.append(PyUnicode_DecodeUTF8(text + borders[place] + 1, borders[place + 1] - borders[place] - 1, NULL))
    return strings


cdef signed char DIGIT[256]
cdef int _byte
for _byte in range(256):
    DIGIT[_byte] = -1
for _byte in range(32):
    DIGIT[<unsigned char>b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[_byte]] = _byte


def pack_sha1(str digest):
    """Do what the function of this name in `arclink.store.packing` does."""
    cdef bytes text = digest.encode("latin-1", "replace")
    cdef bytes packed = PyBytes_FromStringAndSize(NULL, 20)
    cdef unsigned char *octets = <unsigned char *>PyBytes_AS_STRING(packed)
    cdef const unsigned char *digits = <const unsigned char *>PyBytes_AS_STRING(text)
    cdef uint64_t bits
    cdef int group, place
    if len(text) != 32:
        return None
    for group in range(4):  # eight digits are five bytes
        bits = 0
        for place in range(8 * group, 8 * group + 8):
            if DIGIT[digits[place]] < 0:
                return None
            bits = bits << 5 | <uint64_t>DIGIT[digits[place]]
        for place in range(5):
            octets[5 * group + place] = bits >> (32 - 8 * place) & 255
    return packed


def unpack_sha1(bytes packed):
    """Do what the function of this name in `arclink.store.packing` does."""
    cdef char digest[32]
    cdef const unsigned char *octets = <const unsigned char *>PyBytes_AS_STRING(packed)
    cdef uint64_t bits
    cdef int group, place
    if len(packed) != 20:
        raise ValueError(f"a SHA-1 of {len(packed)} bytes")
    for group in range(4):
        bits = 0
        for place in range(5):
            bits = bits << 8 | octets[5 * group + place]
        for place in range(8):
            digest[8 * group + place] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[bits >> (35 - 5 * place) & 31]
    return digest[:32].decode("ascii")
