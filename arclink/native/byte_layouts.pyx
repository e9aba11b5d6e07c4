# cython: language_level=3, wraparound=False
"""Numbers, strings and checksums as bytes, for `arclink.store.blocks.byte_layouts`.

Arrays are typed memoryviews, which Cython checks for their bounds.
"""

from libc.stdint cimport int64_t, uint64_t

from arclink.native.checked cimport Text, at, find, text_of

from numpy import count_nonzero, empty, frombuffer, int64, uint8

cimport cython


def pack_number_rows(const int64_t[:] numbers, const int64_t[:] ends):
    cdef Py_ssize_t place, row, size = 0, end = 0, count = len(numbers), rows = len(ends)
    cdef uint64_t rest
    for place in range(count):
        with cython.boundscheck(False):  # place < count
            rest = numbers[place]
        size += 1
        while rest > 127:
            size += 1
            rest >>= 7
    packed = bytearray(size)
    cdef unsigned char[::1] octets = packed
    row_ends = empty(rows, int64)
    cdef int64_t[::1] ends_of_rows = row_ends
    size = place = 0
    for row in range(rows + 1):
        end = ends[row] if row < rows else count
        if end > count:
            raise IndexError(f"a row ends at {end} of {count} numbers")
        while place < end:
            with cython.boundscheck(False):  # place < end <= count
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
    return bytes(packed), row_ends


cdef inline bint next_number(const unsigned char[::1] packed, Py_ssize_t *place, int64_t *number) except -1:
    """Read the number at a place and move the place after it; return whether it is complete."""
    cdef int shift = 0
    number[0] = 0
    while place[0] < len(packed):
        if shift > 56:
            raise ValueError("a packed number has more than 63 bits")
        number[0] |= <int64_t>(packed[place[0]] & 127) << shift
        place[0] += 1
        if packed[place[0] - 1] < 128:
            return True
        shift += 7
    return False


def unpack_numbers(const unsigned char[::1] packed):
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
    cdef list numbers = []
    cdef Py_ssize_t begin = 0
    cdef int64_t number
    while next_number(packed, &begin, &number):
        numbers.append(number)
    return numbers


def unpack_ends(const unsigned char[::1] packed):
    cdef list ends = [0]
    cdef Py_ssize_t begin = 0
    cdef int64_t number, end = 0
    while next_number(packed, &begin, &number):
        end += number
        ends.append(end)
    return ends


def unpack_steps(const unsigned char[::1] packed):
    numbers = unpack_numbers(packed)
    cdef int64_t[::1] found = numbers
    cdef Py_ssize_t place
    cdef int64_t number = 0
    for place in range(len(found)):
        number += found[place] >> 1 ^ -(found[place] & 1)
        found[place] = number
    return numbers


def borders_of(bytes packed):
    cdef Text text = text_of(packed)
    cdef Py_ssize_t place, count = count_nonzero(frombuffer(packed, uint8) == 10)
    borders = empty(count + 2, int64)
    cdef int64_t[::1] found = borders
    found[0] = -1
    for place in range(1, count + 1):
        found[place] = find(text, found[place - 1] + 1, 10)
    found[count + 1] = len(packed)
    return borders


def strings_at(bytes packed, const int64_t[::1] borders, const int64_t[:] places):
    cdef list strings = []
    cdef Py_ssize_t number, begin, end
    cdef int64_t place
    for number in range(len(places)):
        place = places[number]
        if not 0 <= place < len(borders) - 1:
            raise IndexError(f"there is no string {place} among {len(borders) - 1}")
        begin, end = borders[place] + 1, borders[place + 1]
        if not 0 <= begin <= end <= len(packed):
            raise IndexError(f"the borders of string {place} are not in its text")
        strings.append(packed[begin:end].decode())
    return strings


cdef signed char DIGIT[256]
cdef int _byte
for _byte in range(256):
    DIGIT[_byte] = -1
for _byte in range(32):
    DIGIT[<unsigned char>b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[_byte]] = _byte


def pack_sha1(str digest):
    cdef bytes encoded = digest.encode("latin-1", "replace")
    cdef Text text = text_of(encoded)
    cdef unsigned char octets[20]
    cdef uint64_t bits
    cdef int group, place, digit
    if text.size != 32:
        return None
    for group in range(4):  # eight digits are five bytes
        bits = 0
        for place in range(8 * group, 8 * group + 8):
            digit = DIGIT[<unsigned char>at(text, place)]
            if digit < 0:
                return None
            bits = bits << 5 | <uint64_t>digit
        for place in range(5):
            octets[5 * group + place] = bits >> (32 - 8 * place) & 255
    return octets[:20]


def unpack_sha1(bytes packed):
    cdef Text text = text_of(packed)
    cdef char digest[32]
    cdef uint64_t bits
    cdef int group, place
    if text.size != 20:
        raise ValueError(f"a SHA-1 of {len(packed)} bytes")
    for group in range(4):
        bits = 0
        for place in range(5):
            bits = bits << 8 | <uint64_t>at(text, 5 * group + place)
        for place in range(8):
            digest[8 * group + place] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[bits >> (35 - 5 * place) & 31]
    return digest[:32].decode("ascii")
