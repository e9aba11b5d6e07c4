# cython: language_level=3
"""SURTs of plain URIs, for `arclink.uris.surts`.

The ``surt`` package makes the SURTs of all other URIs. A plain URI has only printable ASCII
characters without blanks, begins with ``http://`` or ``https://``, and has no malformed escape. The
package gets the part before the path, once per site.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

from arclink.native.checked cimport (
    Buffer, PyUnicode_IS_COMPACT_ASCII, Text, at, find, has, holds, put, text_of, text_of_ascii,
)


# Parts of a URI that may contain a byte; bits, by byte.
cdef enum:
    SITE = 1  # http://host:port
    PATH = 2
    QUERY = 4
    FRAGMENT = 8

cdef unsigned char PART_OF[256]
cdef unsigned char DECODED_IN[256]  # the parts in which the escape of a byte is replaced by the byte
cdef signed char HEX[256]

cdef int _byte
for _byte in range(256):
    PART_OF[_byte] = DECODED_IN[_byte] = 0
    HEX[_byte] = -1
    if 0x20 < _byte < 0x7F:
        DECODED_IN[_byte] = (PATH if _byte not in b"#%&+;=/?" else 0) | (QUERY if _byte not in b"#%&+;=" else 0)
        PART_OF[_byte] = (SITE if _byte not in b"#/?" else 0) | (PATH if _byte not in b"#%?" else 0) | (QUERY if _byte not in b"#%" else 0) | FRAGMENT
for _byte in range(16):
    HEX[<unsigned char>b"0123456789abcdef"[_byte]] = HEX[<unsigned char>b"0123456789ABCDEF"[_byte]] = _byte


cdef bytes _HTTP = b"http://", _HTTPS = b"https://", _DOT = b"/.", _ASPX = b".aspx"
cdef bytes _SID = b"sid=", _SESSION = b"sessionid", _CFID = b"cfid=", _ID = b"id"
cdef Text HTTP = text_of(_HTTP), HTTPS = text_of(_HTTPS), DOT = text_of(_DOT)
cdef Text ASPX = text_of(_ASPX), SID = text_of(_SID), SESSION = text_of(_SESSION)
cdef Text CFID = text_of(_CFID), ID = text_of(_ID)


def plain_surt(str uri, object stem_of):
    if not PyUnicode_IS_COMPACT_ASCII(uri):
        return None
    cdef Text text = text_of_ascii(uri)
    cdef Py_ssize_t site, path, query, end
    cdef Py_ssize_t scheme = 7 if has(text, 0, HTTP) else 8 if has(text, 0, HTTPS) else 0
    if not scheme:
        return None
    site = end_of_part(text, scheme, SITE)
    if not 0 < site - scheme <= 255:
        return None
    path = site
    if at(text, path) == c"/":
        path = end_of(text, path, PATH)
    query = path
    if at(text, query) == c"?":
        query = end_of(text, query + 1, QUERY)
    if path < 0 or query < 0:
        return None
    end = query
    if at(text, end) == c"#":
        end = end_of_part(text, end + 1, FRAGMENT)
    if end < <Py_ssize_t>text.size:
        return None
    cdef str stem = stem_of(uri[:site])
    if not stem:
        return None
    cdef bytes key = PyBytes_FromStringAndSize(NULL, query - site + 2)  # with a slash, and a "?"
    cdef Buffer buffer
    buffer.start, buffer.size, buffer.length = <unsigned char *>PyBytes_AS_STRING(key), len(key), 0
    unescape(&buffer, text, site, path, PATH)
    if not buffer.length:
        put(&buffer, c"/")
    cdef Text written
    written.start, written.size = buffer.start, buffer.length
    if holds(written, DOT) or (at_least_one(written, c"(") and holds(written, ASPX)):
        return None
    fold(&buffer)
    if query <= path + 1:
        return stem + key[:buffer.length].decode("ascii")
    put(&buffer, c"?")
    cdef Py_ssize_t begin = buffer.length
    unescape(&buffer, text, path + 1, query, QUERY)
    written.start, written.size = buffer.start + begin, buffer.length - begin
    if holds(written, ID) and (holds(written, SID) or holds(written, SESSION) or holds(written, CFID)):
        return None
    if at_least_one(written, c"&"):
        parameters = key[begin:buffer.length].decode("ascii")
        return f"{stem}{key[:begin].decode('ascii')}{sorted_query(parameters)}"
    return stem + key[:buffer.length].decode("ascii")


cdef Py_ssize_t end_of_part(const Text text, Py_ssize_t position, unsigned char part) noexcept:
    """Return the end of the bytes that may be in a part."""
    cdef int byte = at(text, position)
    while byte >= 0 and PART_OF[<unsigned char>byte] & part:
        position += 1
        byte = at(text, position)
    return position


cdef Py_ssize_t end_of(const Text text, Py_ssize_t position, unsigned char part) noexcept:
    """Return the end of a path or query; -1 if an escape in it is malformed."""
    while True:
        position = end_of_part(text, position, part)
        if at(text, position) != c"%":
            return position
        if hex_of(at(text, position + 1)) < 0 or hex_of(at(text, position + 2)) < 0:
            return -1
        position += 3


cdef inline int hex_of(int byte) noexcept:
    """Return the value of a hexadecimal digit; -1 for another byte, and after the end."""
    return HEX[<unsigned char>byte] if byte >= 0 else -1


cdef inline bint at_least_one(const Text text, int byte) noexcept:
    return find(text, 0, byte) >= 0


cdef inline int lowered(int byte) noexcept:
    return byte + 32 if c"A" <= byte <= c"Z" else byte


cdef void unescape(Buffer *buffer, const Text text, Py_ssize_t position, Py_ssize_t end, unsigned char part) noexcept:
    """Write a path or query in lower case, with its escapes of all but delimiters replaced by their characters."""
    cdef int byte
    while position < end:
        byte = at(text, position)
        if byte == c"%":
            byte = hex_of(at(text, position + 1)) << 4 | hex_of(at(text, position + 2))
            if DECODED_IN[<unsigned char>byte] & part:
                position += 2
            else:
                byte = c"%"
        put(buffer, lowered(byte))
        position += 1


cdef void fold(Buffer *path) noexcept:
    """Remove repeated slashes, and the last slash, from a path."""
    cdef Text before
    before.start, before.size = path.start, path.length
    cdef Py_ssize_t position
    cdef int last = -1, byte
    path.length = 0
    for position in range(<Py_ssize_t>before.size):
        byte = at(before, position)
        if byte != c"/" or last != c"/":
            put(path, byte)
        last = byte
    if path.length > 1 and last == c"/":
        path.length -= 1


cdef str sorted_query(str query):
    return "&".join(sorted(query.split("&"), key=parted))


def parted(str parameter):
    return parameter.split("=", 1)
