# cython: language_level=3
"""Plain heads of records and of HTTP messages, for `arclink.archives.records`.

A plain head has only printable ASCII, tabs and line ends, and no line that begins with a blank.
"""

from arclink.native.checked cimport Text, ascii_of, at, text_of


def plain_fields(bytes data, Py_ssize_t begin):
    cdef dict fields = {}
    cdef Py_ssize_t end = read_lines(text_of(data), begin, fields, None)
    return (fields, end) if end >= 0 else None


def plain_headers(bytes data, Py_ssize_t begin):
    cdef list headers = []
    cdef Py_ssize_t end = read_lines(text_of(data), begin, None, headers)
    return (headers, end) if end >= 0 else None


cdef Py_ssize_t read_lines(Text text, Py_ssize_t begin, dict fields, list headers) except -2:
    """Add the fields in the lines after the first one to a dict or a list.

    Returns:
        The end of the head; -1 if it is not plain, or has no end.
    """
    cdef Py_ssize_t place = begin, after, colon, first
    cdef int byte
    cdef str name, value
    cdef bint is_first = True
    while True:
        first, colon = place, -1
        while True:
            byte = at(text, place)
            if byte == c"\n":
                break
            if not (0x20 <= byte <= 0x7E or byte == c"\t" or byte == c"\r"):
                return -1  # also at the end of the data
            if byte == c":" and colon < 0:
                colon = place
            place += 1
        if colon >= 0 and not is_first:
            name = stripped(text, first, colon)
            value = stripped(text, colon + 1, place)
            if headers is not None:
                headers.append((name, value))
            else:
                fields.setdefault(name.lower(), value)
        is_first = False
        place += 1
        after = place
        while at(text, after) == c"\r":
            after += 1
        if at(text, after) == c"\n":
            return after + 1
        if at(text, place) == c" " or at(text, place) == c"\t":
            return -1


cdef inline str stripped(Text text, Py_ssize_t begin, Py_ssize_t end):
    """Return the characters from one place to another without the blanks at both ends."""
    while begin < end and is_blank(at(text, begin)):
        begin += 1
    while begin < end and is_blank(at(text, end - 1)):
        end -= 1
    return ascii_of(text, begin, end)


cdef inline bint is_blank(int byte) noexcept:
    return byte == c" " or byte == c"\t" or byte == c"\r"
