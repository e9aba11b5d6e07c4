# cython: language_level=3
"""Plain heads of records and of HTTP messages, for `arclink.archives.records`.

A plain head has only printable ASCII, tabs and line ends, and no line that begins with a blank.
"""

from arclink.native.checked cimport Text, ascii_of, at, slice_of, text_of


def plain_warc_head(bytes data):
    cdef Text text = text_of(data)
    cdef Py_ssize_t position = 5, end
    cdef dict fields = {}
    if not begins_with(text, 0, b"WARC/"):
        return None
    position = after_number(text, position)
    if position < 0 or at(text, position) != c".":
        return None
    position = after_number(text, position + 1)
    if position < 0:
        return None
    while is_blank(at(text, position)):
        position += 1
    if at(text, position) != c"\n":
        return None
    end = read_lines(text, position, fields, None)
    return (fields, end) if end >= 0 else None


def plain_http_head(bytes data, Py_ssize_t begin, Py_ssize_t stop):
    cdef Text text = slice_of(text_of(data), 0, stop)
    cdef Py_ssize_t position = begin + 5, end, digits
    cdef list headers = []
    cdef int byte
    if not begins_with(text, begin, b"HTTP/"):
        return None
    while True:
        byte = at(text, position)
        if byte < 0 or byte == c"\t" or byte == c"\n":
            return None
        if byte == c" ":
            break
        position += 1
    while at(text, position) == c" ":
        position += 1
    digits = position
    while is_digit(at(text, position)):
        position += 1
    if position - digits != 3 or at(text, digits) == c"1":
        return None
    end = read_lines(text, begin, None, headers)
    return (ascii_of(text, digits, position), tuple(headers), end) if end >= 0 else None


cdef bint begins_with(const Text text, Py_ssize_t position, const char *letters) noexcept:
    """Return whether letters, which are capitals, are at a position in any case."""
    cdef Py_ssize_t number = 0
    cdef int byte
    while letters[number]:
        byte = at(text, position + number)
        if c"a" <= byte <= c"z":
            byte -= 32
        if byte != letters[number]:
            return False
        number += 1
    return True


cdef Py_ssize_t after_number(const Text text, Py_ssize_t begin) noexcept:
    """Return the place after a number of a version, of at most 4 digits; -1 if no number is there."""
    cdef Py_ssize_t position = begin
    while is_digit(at(text, position)):
        position += 1
    return position if 0 < position - begin <= 4 else -1


cdef inline bint is_digit(int byte) noexcept:
    return c"0" <= byte <= c"9"


cdef Py_ssize_t read_lines(Text text, Py_ssize_t begin, dict fields, list headers) except -2:
    """Add the fields in the lines after the first one to a dict or a list.

    Returns:
        The end of the head; -1 if it is not plain, or has no end.
    """
    cdef Py_ssize_t position = begin, after, colon, first
    cdef int byte
    cdef str name, value
    cdef bint is_first = True
    while True:
        first, colon = position, -1
        while True:
            byte = at(text, position)
            if byte == c"\n":
                break
            if not (0x20 <= byte <= 0x7E or byte == c"\t" or byte == c"\r"):
                return -1  # also at the end of the data
            if byte == c":" and colon < 0:
                colon = position
            position += 1
        if colon >= 0 and not is_first:
            name = stripped(text, first, colon)
            value = stripped(text, colon + 1, position)
            if headers is not None:
                headers.append((name, value))
            else:
                fields.setdefault(name.lower(), value)
        is_first = False
        position += 1
        after = position
        while at(text, after) == c"\r":
            after += 1
        if at(text, after) == c"\n":
            return after + 1
        if at(text, position) == c" " or at(text, position) == c"\t":
            return -1


cdef inline str stripped(Text text, Py_ssize_t begin, Py_ssize_t end):
    """Return the characters from one position to another without the blanks at both ends."""
    while begin < end and is_blank(at(text, begin)):
        begin += 1
    while begin < end and is_blank(at(text, end - 1)):
        end -= 1
    return ascii_of(text, begin, end)


cdef inline bint is_blank(int byte) noexcept:
    return byte == c" " or byte == c"\t" or byte == c"\r"
