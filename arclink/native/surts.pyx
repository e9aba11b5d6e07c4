# cython: language_level=3, boundscheck=False, wraparound=False
"""Plain URIs to SURTs: see `arclink.uris.surts`."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_DecodeASCII
from libc.string cimport memchr, strncmp, strstr


cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object)
    const char *PyUnicode_AsUTF8AndSize(object, Py_ssize_t *) except NULL


# What a byte may be part of; bits, by byte.
cdef enum:
    SITE = 1  # http://host:port
    PATH = 2
    QUERY = 4
    FRAGMENT = 8

cdef unsigned char PART_OF[256]
cdef signed char HEX[256]

cdef int _byte
for _byte in range(256):
    PART_OF[_byte] = 0
    HEX[_byte] = -1
    if 0x20 < _byte < 0x7F:
        PART_OF[_byte] = (SITE if _byte not in b"#/?" else 0) | (PATH if _byte not in b"#%?" else 0) | (QUERY if _byte not in b"#%" else 0) | FRAGMENT
for _byte in range(16):
    HEX[<unsigned char>b"0123456789abcdef"[_byte]] = HEX[<unsigned char>b"0123456789ABCDEF"[_byte]] = _byte


cdef inline char lowered(char byte) noexcept:
    return byte + 32 if 65 <= byte <= 90 else byte


def plain_surt(str uri, object stem_of):
    """Return what the function of this name in `arclink.uris.surts` does."""
    if not PyUnicode_IS_COMPACT_ASCII(uri):
        return None
    cdef Py_ssize_t size, site, path, query, end, length
    cdef const char *text = PyUnicode_AsUTF8AndSize(uri, &size)
    cdef Py_ssize_t scheme = 7 if strncmp(text, b"http://", 7) == 0 else 8 if strncmp(text, b"https://", 8) == 0 else 0
    if not scheme:
        return None
    site = scheme
    while PART_OF[<unsigned char>text[site]] & SITE:
        site += 1
    if not 0 < site - scheme <= 255:
        return None
    path = site
    if text[path] == b"/":
        path = end_of(text, path, PATH)
    query = path
    if text[query] == b"?":
        query = end_of(text, query + 1, QUERY)
    if path < 0 or query < 0:
        return None
    end = query
    if text[end] == b"#":
        end += 1
        while PART_OF[<unsigned char>text[end]] & FRAGMENT:
            end += 1
    if end < size:
        return None
    cdef str stem = stem_of(uri[:site])
    if not stem:
        return None
    cdef char *key = <char *>PyMem_Malloc(query - site + 3)  # with the slash that may be missing
    if not key:
        raise MemoryError
    try:
        length = unescape(key, text + site, path - site)
        if not length:
            key[0] = b"/"
            length = 1
        key[length] = 0
        if strstr(key, b"/.") or (memchr(key, b"(", length) and strstr(key, b".aspx")):
            return None
        length = fold(key, length)
        if query <= path + 1:
            return stem + PyUnicode_DecodeASCII(key, length, NULL)
        size = unescape(key + length + 1, text + path + 1, query - path - 1)
        key[length + 1 + size] = 0
        if has_session(key + length + 1):
            return None
        if memchr(key + length + 1, b"&", size):
            return f"{stem}{PyUnicode_DecodeASCII(key, length, NULL)}?{sorted_query(PyUnicode_DecodeASCII(key + length + 1, size, NULL))}"
        key[length] = b"?"
        return stem + PyUnicode_DecodeASCII(key, length + 1 + size, NULL)
    finally:
        PyMem_Free(key)


cdef Py_ssize_t end_of(const char *text, Py_ssize_t place, unsigned char part) noexcept:
    """Return where a path or query ends; -1 if an escape in it is none, or may be one of an escape."""
    while True:
        while PART_OF[<unsigned char>text[place]] & part:
            place += 1
        if text[place] != b"%":
            return place
        if HEX[<unsigned char>text[place + 1]] < 0 or HEX[<unsigned char>text[place + 2]] < 0:
            return -1
        if text[place + 1] == b"2" and text[place + 2] == b"5":
            return -1
        place += 3


cdef Py_ssize_t unescape(char *to, const char *text, Py_ssize_t size) noexcept:
    """Write a path or query in lower case, and the signs for their escapes; return how long it is."""
    cdef Py_ssize_t place = 0, length = 0
    cdef int byte
    while place < size:
        if text[place] == b"%":
            byte = HEX[<unsigned char>text[place + 1]] << 4 | HEX[<unsigned char>text[place + 2]]
            if 0x20 < byte < 0x7F and byte != 0x23 and byte != 0x25:
                to[length] = lowered(byte)
                length += 1
                place += 3
                continue
        to[length] = lowered(text[place])
        length += 1
        place += 1
    return length


cdef Py_ssize_t fold(char *path, Py_ssize_t size) noexcept:
    """Take repeated slashes out of a path, and the one at its end; return how long it is."""
    cdef Py_ssize_t place, length = 0
    for place in range(size):
        if path[place] != b"/" or not length or path[length - 1] != b"/":
            path[length] = path[place]
            length += 1
    return length - 1 if length > 1 and path[length - 1] == b"/" else length


cdef bint has_session(const char *query) noexcept:
    return strstr(query, b"id") and (strstr(query, b"sid=") or strstr(query, b"sessionid") or strstr(query, b"cfid="))


cdef str sorted_query(str query):
    return "&".join(sorted(query.split("&"), key=parted))


def parted(str parameter):
    return parameter.split("=", 1)
