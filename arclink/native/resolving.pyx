# cython: language_level=3, boundscheck=False, wraparound=False
"""Plain references to targets: see `arclink.uris.resolving`."""

from libc.string cimport strncmp

from arclink.model import Scope


cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object)
    const char *PyUnicode_AsUTF8AndSize(object, Py_ssize_t *) except NULL


# What a byte may be part of, so that the URL parser leaves it as it is; bits, by byte.
cdef enum:
    HOST = 1
    PATH = 2
    QUERY = 4
    SCHEME = 8  # behind its first letter
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

cdef object NONE = Scope.NONE, ORIGIN = Scope.ORIGIN, DIRECTORY = Scope.DIRECTORY


def concatenated(str reference, str origin, str directory):
    """Return what the function of this name in `arclink.uris.resolving` does."""
    if not PyUnicode_IS_COMPACT_ASCII(reference):
        reference = reference.partition("#")[0]
        if not PyUnicode_IS_COMPACT_ASCII(reference):
            return None
    cdef Py_ssize_t size, place = 0
    cdef const char *text = PyUnicode_AsUTF8AndSize(reference, &size)
    cdef Py_ssize_t scheme = length_of_scheme(text)
    if scheme:
        place = end_of_host(text, scheme)
        if not place:
            return None
    elif origin is None or directory is None:
        return None
    elif text[0] == b"/":
        if text[1] == b"/":
            return None
    elif not PART_OF[<unsigned char>text[0]] & START or is_scheme(text + 1):
        return None
    place = end_of_tail(text, place)
    if place < 0:
        return None
    cdef str plain = reference
    if place < size:
        if text[place] != b"#":
            return None
        plain = reference[:place]
    if scheme:
        return plain, NONE
    return (origin + plain, ORIGIN) if text[0] == b"/" else (directory + plain, DIRECTORY)


cdef Py_ssize_t end_of_tail(const char *text, Py_ssize_t place) noexcept:
    """Return where a path and its query end; a negative number if the parser would have a look at them."""
    while PART_OF[<unsigned char>text[place]] & PATH or is_kept_escape(text + place):
        if text[place] == b"/" and text[place + 1] == b".":
            return -1
        place += 1
    if text[place] == b"?":
        place += 1
        while PART_OF[<unsigned char>text[place]] & QUERY:
            if text[place] == b"/" and text[place + 1] == b".":
                return -1
            place += 1
    return place


cdef Py_ssize_t length_of_scheme(const char *text) noexcept:
    return 7 if strncmp(text, b"http://", 7) == 0 else 8 if strncmp(text, b"https://", 8) == 0 else 0


cdef Py_ssize_t end_of_host(const char *text, Py_ssize_t place) noexcept:
    """Return where the slash behind a host of two or more labels is; 0 if the parser would have a look at the host."""
    cdef Py_ssize_t label = place, labels = 1
    cdef bint is_of_letters = True
    while PART_OF[<unsigned char>text[place]] & HOST:
        if text[place] == b".":
            if place == label:
                return 0
            label = place + 1
            labels += 1
            is_of_letters = True
        else:
            if not 97 <= text[place] <= 122:
                is_of_letters = False
            if strncmp(text + place, b"xn--", 4) == 0:
                return 0
        place += 1
    return place if text[place] == b"/" and labels > 1 and place - label >= 2 and is_of_letters else 0


cdef bint is_scheme(const char *text) noexcept:
    """Return whether what goes on here might be a scheme."""
    cdef Py_ssize_t place = 0
    while PART_OF[<unsigned char>text[place]] & SCHEME:
        place += 1
    return text[place] == b":"


cdef bint is_kept_escape(const char *text) noexcept:
    """Return whether a percent sign is here that is not of an escaped dot."""
    return text[0] == b"%" and not (text[1] == b"2" and (text[2] == b"e" or text[2] == b"E"))
