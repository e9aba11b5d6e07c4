# cython: language_level=3
"""Bytes from outside, read with a check of the bounds: scanners read them through `at` and `has` alone."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memchr, memcmp

cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object)
    const char *PyUnicode_AsUTF8AndSize(object, Py_ssize_t *) except NULL
    str PyUnicode_DecodeASCII(const char *, Py_ssize_t, const char *)


cdef struct Text:
    const unsigned char *start
    size_t size


cdef inline Text text_of(bytes source):
    """Return the bytes of an object, which has to outlive them."""
    cdef Text text
    text.start = <const unsigned char *>PyBytes_AS_STRING(source)
    text.size = PyBytes_GET_SIZE(source)
    return text


cdef inline Text text_of_ascii(str source) except *:
    """Return the characters of an ASCII string, which has to outlive them."""
    cdef Text text
    cdef Py_ssize_t size
    if not PyUnicode_IS_COMPACT_ASCII(source):
        raise ValueError("not ASCII")
    text.start = <const unsigned char *>PyUnicode_AsUTF8AndSize(source, &size)
    text.size = size
    return text


cdef inline int at(const Text text, Py_ssize_t position) noexcept nogil:
    """Return the byte at a position; -1 at positions before and after the text."""
    return text.start[position] if <size_t>position < text.size else -1


cdef inline bint has(const Text text, Py_ssize_t position, const Text part) noexcept nogil:
    """Return whether a part is at a position."""
    return (
        0 <= position <= <Py_ssize_t>text.size
        and part.size <= text.size - <size_t>position
        and memcmp(text.start + position, part.start, part.size) == 0
    )


cdef inline Py_ssize_t find(const Text text, Py_ssize_t position, int byte) noexcept nogil:
    """Return the first position of a byte from a position on; -1 if there is none."""
    if not 0 <= position < <Py_ssize_t>text.size:
        return -1
    cdef const void *found = memchr(text.start + position, byte, text.size - <size_t>position)
    return -1 if found is NULL else <const unsigned char *>found - text.start


cdef inline Text slice_of(const Text text, Py_ssize_t position, Py_ssize_t length) noexcept nogil:
    """Return a part of a text; as much of it as there is."""
    cdef Text part
    cdef Py_ssize_t size = text.size
    if not 0 <= position <= size:
        position = size
    if not 0 <= length <= size - position:
        length = size - position
    part.start = text.start + position
    part.size = length
    return part


cdef inline bint holds(const Text text, const Text part) noexcept nogil:
    """Return whether a part is anywhere in a text."""
    cdef Py_ssize_t position = find(text, 0, part.start[0]) if part.size else 0
    while position >= 0 and not has(text, position, part):
        position = find(text, position + 1, part.start[0])
    return position >= 0


cdef inline bytes part_of(const Text text, Py_ssize_t begin, Py_ssize_t end):
    """Return the bytes from one position to another; empty if these are not positions in this order."""
    if not 0 <= begin <= end <= <Py_ssize_t>text.size:
        return b""
    return PyBytes_FromStringAndSize(<const char *>text.start + begin, end - begin)


cdef inline str ascii_of(const Text text, Py_ssize_t begin, Py_ssize_t end):
    """Return the ASCII characters from one position to another; empty if these are not in this order."""
    if not 0 <= begin <= end <= <Py_ssize_t>text.size:
        return ""
    return PyUnicode_DecodeASCII(<const char *>text.start + begin, end - begin, NULL)


cdef inline bint is_printable(const Text text) noexcept nogil:
    """Return whether a text has only printable ASCII, and no backslash."""
    cdef size_t position
    cdef unsigned char byte, odd = 0
    for position in range(text.size):  # one loop without an exit, which compilers turn into vector code
        byte = text.start[position]
        odd |= (byte < 0x20) | (byte > 0x7E) | (byte == c"\\")
    return not odd


cdef inline bint is_digits(const Text text) noexcept nogil:
    """Return whether a text has only the digits 0 to 9."""
    cdef size_t position
    cdef unsigned char odd = 0
    for position in range(text.size):
        odd |= <unsigned char>(text.start[position] - c"0") > 9
    return not odd


cdef inline bint is_base32(const Text text) noexcept nogil:
    """Return whether a text has only the characters of base32: A to Z and 2 to 7."""
    cdef size_t position
    cdef unsigned char byte, odd = 0
    for position in range(text.size):
        byte = text.start[position]
        odd |= (<unsigned char>(byte - c"A") > 25) & (<unsigned char>(byte - c"2") > 5)
    return not odd


cdef struct Buffer:
    unsigned char *start
    size_t size
    size_t length  # of what was written


cdef inline void put(Buffer *buffer, int byte) noexcept nogil:
    """Write a byte; leave it out where the buffer is full."""
    if buffer.length < buffer.size:
        buffer.start[buffer.length] = byte
        buffer.length += 1
