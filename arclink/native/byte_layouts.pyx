# cython: language_level=3, wraparound=False
"""Numbers, strings and checksums as bytes, for `arclink.store.blocks.byte_layouts`.

Arrays are typed memoryviews, which Cython checks for their bounds.
"""

from libc.stdint cimport int64_t, uint64_t

from arclink.native.checked cimport Text, at, find, text_of

cimport cython


def pack_number_rows(const int64_t[:] numbers, const int64_t[:] ends):
    # Not at the head: what reads a few links needs no NumPy, whose import takes as long as all else.
    from numpy import empty, int64

    cdef Py_ssize_t index, row, size = 0, end = 0, count = len(numbers), rows = len(ends)
    cdef uint64_t rest
    for index in range(count):
        with cython.boundscheck(False):  # index < count
            rest = numbers[index]
        size += 1
        while rest > 127:
            size += 1
            rest >>= 7
    packed = bytearray(size)
    cdef unsigned char[::1] octets = packed
    row_ends = empty(rows, int64)
    cdef int64_t[::1] ends_of_rows = row_ends
    size = index = 0
    for row in range(rows + 1):
        end = ends[row] if row < rows else count
        if end > count:
            raise IndexError(f"a row ends at {end} of {count} numbers")
        while index < end:
            with cython.boundscheck(False):  # index < end <= count
                rest = numbers[index]
            while rest > 127:
                octets[size] = rest & 127 | 128
                size += 1
                rest >>= 7
            octets[size] = rest
            size += 1
            index += 1
        if row < rows:
            ends_of_rows[row] = size
    return bytes(packed), row_ends


cdef inline bint next_number(const unsigned char[::1] packed, Py_ssize_t *position, int64_t *number) except -1:
    """Read the number at a position and move the position after it; return whether it is complete."""
    cdef int shift = 0
    number[0] = 0
    while position[0] < len(packed):
        if shift > 56:
            raise ValueError("a packed number has more than 63 bits")
        number[0] |= <int64_t>(packed[position[0]] & 127) << shift
        position[0] += 1
        if packed[position[0] - 1] < 128:
            return True
        shift += 7
    return False


def unpack_numbers(const unsigned char[::1] packed):
    from numpy import empty, int64

    cdef Py_ssize_t index, count = 0
    for index in range(len(packed)):
        count += packed[index] < 128
    numbers = empty(count, int64)
    cdef int64_t[::1] found = numbers
    cdef Py_ssize_t begin = 0
    for index in range(count):
        next_number(packed, &begin, &found[index])
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
    cdef list numbers = []
    cdef Py_ssize_t begin = 0
    cdef int64_t step, number = 0
    while next_number(packed, &begin, &step):
        number += step >> 1 ^ -(step & 1)
        numbers.append(number)
    return numbers


def borders_of(bytes packed):
    cdef Text text = text_of(packed)
    cdef list borders = [-1]
    cdef Py_ssize_t position = find(text, 0, 10)
    while position >= 0:
        borders.append(position)
        position = find(text, position + 1, 10)
    borders.append(text.size)
    return borders


def strings_at(bytes packed, list borders, list indexes):
    cdef list strings = []
    cdef Py_ssize_t index, begin, end
    for index in indexes:
        if not 0 <= index < len(borders) - 1:
            raise IndexError(f"there is no string {index} among {len(borders) - 1}")
        begin, end = borders[index] + 1, borders[index + 1]
        if not 0 <= begin <= end <= len(packed):
            raise IndexError(f"the borders of string {index} are not in its text")
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
    cdef int group, index, digit
    if text.size != 32:
        return None
    for group in range(4):  # eight digits are five bytes
        bits = 0
        for index in range(8 * group, 8 * group + 8):
            digit = DIGIT[<unsigned char>at(text, index)]
            if digit < 0:
                return None
            bits = bits << 5 | <uint64_t>digit
        for index in range(5):
            octets[5 * group + index] = bits >> (32 - 8 * index) & 255
    return octets[:20]


def unpack_sha1(bytes packed):
    cdef Text text = text_of(packed)
    cdef char digest[32]
    cdef uint64_t bits
    cdef int group, index
    if text.size != 20:
        raise ValueError(f"a SHA-1 of {len(packed)} bytes")
    for group in range(4):
        bits = 0
        for index in range(5):
            bits = bits << 8 | <uint64_t>at(text, 5 * group + index)
        for index in range(8):
            digest[8 * group + index] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[bits >> (35 - 5 * index) & 31]
    return digest[:32].decode("ascii")
