# cython: language_level=3, boundscheck=False, wraparound=False
"""Plain rows of CDX files: see `arclink.filter.cdx`."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memcmp, memcpy, strncmp

cdef enum:
    COLUMNS = 11
    IGNORED = 12
    REFUSED = 13

cdef frozenset OTHER_NAMES = frozenset([
    b"timestamp", b"original", b"mimetype", b"statuscode", b"checksum", b"compressedoffset", b"refers_to_uri", b"refers_to_timestamp", b"location",
    b"profile",
])
"""Beside `slot_of`: names in CDXJ that may say otherwise what a usual one says, or say more."""

def take_plain(list rows, list lines, Py_ssize_t start, object known, bint is_usual):
    """Do what the function of this name in `arclink.filter.cdx` does."""
    cdef Py_ssize_t place
    cdef Py_ssize_t begins[COLUMNS + 1]
    cdef Py_ssize_t of_type[2]
    cdef bytes original = b"\t", checksum = b"\t", what_text = b"\t", file_text = b"\t"  # no plain column holds a tab
    cdef bytes line, mime, status, given, last_given = b"", name = None
    cdef object what = None, row
    cdef dict files = known.files, whats = known.whats
    for place in range(start, len(lines)):
        line, given = lines[place], b""
        if is_usual and part(line, begins):
            if not is_plain(PyBytes_AS_STRING(line), begins):
                return place
        else:
            line = as_cdx(line, of_type)
            if line is None or not part(line, begins) or not is_plain(PyBytes_AS_STRING(line), begins):
                row = known.plain_json(lines[place])
                if row is None:
                    return place
                rows.append(row)
                continue
            if of_type[1]:
                given = (<bytes>lines[place])[of_type[0]:of_type[1]]
        if given != last_given or not is_same(line, begins[3], begins[5] - 1, what_text):
            what_text = line[begins[3]:begins[5] - 1]
            last_given = given
            mime, status = what_text.split(b" ")
            what = whats.get((mime, status, given)) or known.learn_what(mime, status, given)
        if not is_same(line, begins[10], begins[11], file_text):
            file_text = line[begins[10]:begins[11]]
            name = files.get(file_text) or known.learn_file(file_text)
        if what is None or name is None:
            return place
        if not is_same(line, begins[2], begins[3] - 1, original):
            original = line[begins[2]:begins[3] - 1]
        if not is_same(line, begins[5], begins[6] - 1, checksum):
            checksum = line[begins[5]:begins[6] - 1]
        rows.append((
            line[:begins[1] - 1], line[begins[1]:begins[2] - 1], original, checksum, line[begins[8]:begins[9] - 1], line[begins[9]:begins[10] - 1],
            name, what, None,
        ))
    return len(lines)


cdef bytes as_cdx(bytes line, Py_ssize_t *given):
    """Return a row of CDXJ as the columns of a CDX; None where its JSON is not the plainest.

    That is: behind key and timestamp one flat object of texts in printable ASCII without escapes, each name once, and those that are needed.

    Args:
        line: The row.
        given: Becomes where in the row the record type begins and ends that it gives; both are 0 if it gives none.
    """
    cdef const char *text = PyBytes_AS_STRING(line)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(line), place, begin, end, slot
    cdef Py_ssize_t begins[COLUMNS + 1]
    cdef Py_ssize_t ends[COLUMNS + 1]
    for place in range(size):
        if not 0x20 <= text[place] < 0x7F and text[place] != b"\n" or text[place] == b"\\":
            return None
    for slot in range(COLUMNS + 1):
        begins[slot] = ends[slot] = 0
    begins[1] = after_blank(text, 0)
    place = after_blank(text, begins[1])
    ends[0], ends[1] = begins[1] - 1, place - 1
    if text[0] == b"{" or text[place] != b"{":
        return None
    while True:
        begin = after_sign(text, place + 1, b'"')  # behind the brace, or the comma
        end = end_of_text(text, begin)
        place = after_sign(text, after_sign(text, end + 1, b":"), b'"')
        if not (begin and end and place):
            return None
        slot = slot_of(text + begin, end - begin)
        begin, end = place, end_of_text(text, place)
        if slot == REFUSED or not end or (slot < IGNORED and begins[slot]):
            return None
        if slot < IGNORED:
            begins[slot], ends[slot] = begin, end
        place = end + 1
        while text[place] == b" ":
            place += 1
        if text[place] != b",":
            break
    if text[place] != b"}":
        return None
    place += 1
    while text[place] == b" " or text[place] == b"\n":
        place += 1
    if place < size or not (begins[2] and begins[5] and begins[8] and begins[9] and begins[10]):
        return None
    if strncmp(text + begins[5], b"sha1:", 5) == 0:
        begins[5] += 5
    given[0], given[1] = begins[COLUMNS], ends[COLUMNS]
    size = 0
    for slot in range(COLUMNS):
        size += (ends[slot] - begins[slot] if ends[slot] else 1) + 1
    cdef bytes row = PyBytes_FromStringAndSize(NULL, size - 1)
    cdef char *to = PyBytes_AS_STRING(row)
    for slot in range(COLUMNS):
        if ends[slot]:
            memcpy(to, text + begins[slot], ends[slot] - begins[slot])
            to += ends[slot] - begins[slot]
        else:
            to[0] = b"-"
            to += 1
        if slot < COLUMNS - 1:
            to[0] = b" "
            to += 1
    return row


cdef int slot_of(const char *name, Py_ssize_t size) noexcept:
    """Return which column of a CDX a name in the JSON of a CDXJ means, behind the last for the record type; `REFUSED` if it may say another."""
    if size == 3:
        return 2 if memcmp(name, b"url", 3) == 0 else REFUSED if memcmp(name, b"uri", 3) == 0 else IGNORED
    if size == 4:
        return 3 if memcmp(name, b"mime", 4) == 0 else COLUMNS if memcmp(name, b"type", 4) == 0 else REFUSED if memcmp(name, b"file", 4) == 0 else IGNORED
    if size == 6:
        return 4 if memcmp(name, b"status", 6) == 0 else 5 if memcmp(name, b"digest", 6) == 0 else 8 if memcmp(name, b"length", 6) == 0 \
            else 9 if memcmp(name, b"offset", 6) == 0 else REFUSED if memcmp(name, b"urlkey", 6) == 0 else IGNORED
    if size == 8 and memcmp(name, b"filename", 8) == 0:
        return 10
    return REFUSED if name[:size] in OTHER_NAMES else IGNORED


cdef Py_ssize_t after_blank(const char *text, Py_ssize_t place) noexcept:
    """Return the place behind the next blank; the end of the text if there is none."""
    while text[place] and text[place] != b" ":
        place += 1
    return place + 1 if text[place] else place


cdef Py_ssize_t after_sign(const char *text, Py_ssize_t place, char wanted) noexcept:
    """Return the place behind a sign that blanks may stand before; 0 if another stands there."""
    if not place:
        return 0
    while text[place] == b" ":
        place += 1
    return place + 1 if text[place] == wanted else 0


cdef Py_ssize_t end_of_text(const char *text, Py_ssize_t place) noexcept:
    """Return where the quotation mark behind a text is; 0 if there is none."""
    while text[place] and text[place] != b'"':
        place += 1
    return place if text[place] else 0


cdef bint part(bytes line, Py_ssize_t *begins) noexcept:
    """Find where columns begin, each behind one blank; the last of `begins` is where the line ends. Tell whether it has the usual number."""
    cdef const char *text = PyBytes_AS_STRING(line)
    cdef Py_ssize_t place, size = PyBytes_GET_SIZE(line), columns = 1
    begins[0] = 0
    for place in range(size):
        if text[place] == b" ":
            if columns == COLUMNS:
                return False
            begins[columns] = place + 1
            columns += 1
        elif not 0x20 < text[place] < 0x7F or text[place] == b"{" or text[place] == b"!":
            if text[place] != b"\n" or place < size - 1:
                return False
    begins[COLUMNS] = size
    return columns == COLUMNS


cdef bint is_same(bytes line, Py_ssize_t begin, Py_ssize_t end, bytes before) noexcept:
    """Tell whether a column is what it was in the line before."""
    return end - begin == PyBytes_GET_SIZE(before) and memcmp(PyBytes_AS_STRING(line) + begin, PyBytes_AS_STRING(before), end - begin) == 0


cdef bint is_plain(const char *text, const Py_ssize_t *begins) noexcept:
    """Tell whether the columns are what plain ones are: key, timestamp, original, checksum, offset and length; none is empty."""
    cdef Py_ssize_t column, place
    for column in range(COLUMNS):
        if begins[column + 1] - begins[column] < 2 and column < COLUMNS - 1:
            return False
    if text[0] < b"-" or (text[0] == b"-" and begins[1] == 2) or (begins[1] == 4 and strncmp(text, b"CDX", 3) == 0):
        return False
    if begins[2] - begins[1] != 15 or not is_time(text + begins[1]):
        return False
    if strncmp(text + begins[2], b"http://", 7) != 0 and strncmp(text + begins[2], b"https://", 8) != 0:
        return False
    if begins[6] - begins[5] != 33:
        return False
    for place in range(begins[5], begins[5] + 32):
        if not (65 <= text[place] <= 90 or 50 <= text[place] <= 55):
            return False
    return begins[10] - begins[8] <= 20 and is_number(text, begins[8], begins[9] - 1) and is_number(text, begins[9], begins[10] - 1)


cdef bint is_number(const char *text, Py_ssize_t begin, Py_ssize_t end) noexcept:
    """Tell whether these are digits, and the first of them is not 0."""
    cdef Py_ssize_t place
    for place in range(begin, end):
        if not 48 <= text[place] <= 57:
            return False
    return text[begin] != 48


cdef bint is_time(const char *text) noexcept:
    """Tell whether 14 signs are a time of the calendar."""
    cdef int part[7]
    cdef int place
    for place in range(7):
        if not (48 <= text[2 * place] <= 57 and 48 <= text[2 * place + 1] <= 57):
            return False
        part[place] = (text[2 * place] - 48) * 10 + text[2 * place + 1] - 48
    cdef int year = part[0] * 100 + part[1], month = part[2], day = part[3]
    if year < 1 or not 1 <= month <= 12 or part[4] > 23 or part[5] > 59 or part[6] > 59:
        return False
    cdef bint is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= (28 + is_leap if month == 2 else 30 if month in (4, 6, 9, 11) else 31)
