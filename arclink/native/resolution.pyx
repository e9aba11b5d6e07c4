# cython: language_level=3
"""Resolver of plain references, for `arclink.uris.resolution`.

The URL parser resolves all other references. A plain reference is a path, or an HTTP URI with host
and path. The host is in lower case and has two or more labels; the last label has only letters, and
no label is IDNA. No segment of the path begins with a dot. The URL parser changes no character of
such a reference (URL Standard), so its target is a concatenation.
"""

from arclink.native.checked cimport PyUnicode_IS_COMPACT_ASCII, Text, at, has, text_of, text_of_ascii

from arclink.model import Scope


# Parts of a URI in which the URL parser does not change a byte; bits, by byte.
cdef enum:
    HOST = 1
    PATH = 2
    QUERY = 4
    SCHEME = 8  # after its first letter
    START = 16  # of a reference to a name, unless it is a scheme

cdef unsigned char PART_OF[256]

cdef int _byte
cdef bytes _letters = b"abcdefghijklmnopqrstuvwxyz", _words = _letters + _letters.upper() + b"0123456789"
for _byte in range(256):
    PART_OF[_byte] = (
        (HOST if _byte in _letters + b"0123456789_-." else 0)
        | (PATH if _byte in _words + b"_~!$&()*+,;=:@/.-" else 0)
        | (QUERY if 0x20 < _byte < 0x7F and _byte not in b"\"#'<>" else 0)
        | (SCHEME if _byte in _words + b"+.-" else 0)
        | (START if _byte in _words + b"_~" else 0)
    )

cdef bytes _HTTP = b"http://", _HTTPS = b"https://", _IDNA = b"xn--"
cdef Text HTTP = text_of(_HTTP), HTTPS = text_of(_HTTPS), IDNA = text_of(_IDNA)

cdef object NONE = Scope.NONE, ORIGIN = Scope.ORIGIN, DIRECTORY = Scope.DIRECTORY


cdef inline bint is_part(const Text text, Py_ssize_t position, int part) noexcept:
    """Return whether the byte at a position may be in a part; False after the end."""
    cdef int byte = at(text, position)
    return byte >= 0 and PART_OF[<unsigned char>byte] & part


def concatenated(str reference, str origin, str directory):
    if not PyUnicode_IS_COMPACT_ASCII(reference):
        reference = reference.partition("#")[0]
        if not PyUnicode_IS_COMPACT_ASCII(reference):
            return None
    cdef Text text = text_of_ascii(reference)
    cdef Py_ssize_t size = text.size, position = 0
    cdef Py_ssize_t scheme = length_of_scheme(text)
    if scheme:
        position = end_of_host(text, scheme)
        if not position:
            return None
    elif origin is None or directory is None:
        return None
    elif at(text, 0) == c"/":
        if at(text, 1) == c"/":
            return None
    elif not is_part(text, 0, START) or is_scheme(text, 1):
        return None
    position = end_of_tail(text, position)
    if position < 0:
        return None
    cdef str plain = reference
    if position < size:
        if at(text, position) != c"#":
            return None
        plain = reference[:position]
    if scheme:
        return plain, NONE
    return (origin + plain, ORIGIN) if at(text, 0) == c"/" else (directory + plain, DIRECTORY)


cdef Py_ssize_t end_of_tail(const Text text, Py_ssize_t position) noexcept:
    """Return the end of a path and its query; a negative number if the parser must read them."""
    while is_part(text, position, PATH) or is_kept_escape(text, position):
        if at(text, position) == c"/" and at(text, position + 1) == c".":
            return -1
        position += 1
    if at(text, position) == c"?":
        position += 1
        while is_part(text, position, QUERY):
            if at(text, position) == c"/" and at(text, position + 1) == c".":
                return -1
            position += 1
    return position


cdef Py_ssize_t length_of_scheme(const Text text) noexcept:
    return 7 if has(text, 0, HTTP) else 8 if has(text, 0, HTTPS) else 0


cdef Py_ssize_t end_of_host(const Text text, Py_ssize_t position) noexcept:
    """Return the position of the slash after a host of two or more labels; 0 if the parser must read it."""
    cdef Py_ssize_t label = position, labels = 1
    cdef bint is_of_letters = True
    while is_part(text, position, HOST):
        if at(text, position) == c".":
            if position == label:
                return 0
            label = position + 1
            labels += 1
            is_of_letters = True
        else:
            if not c"a" <= at(text, position) <= c"z":
                is_of_letters = False
            if has(text, position, IDNA):
                return 0
        position += 1
    return position if at(text, position) == c"/" and labels > 1 and position - label >= 2 and is_of_letters else 0


cdef bint is_scheme(const Text text, Py_ssize_t position) noexcept:
    """Return whether a scheme may continue at this position."""
    while is_part(text, position, SCHEME):
        position += 1
    return at(text, position) == c":"


cdef bint is_kept_escape(const Text text, Py_ssize_t position) noexcept:
    """Return whether a percent sign at this position does not begin an escaped dot."""
    return at(text, position) == c"%" and not (
        at(text, position + 1) == c"2" and (at(text, position + 2) == c"e" or at(text, position + 2) == c"E")
    )
