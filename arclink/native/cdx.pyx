# cython: language_level=3
"""Parser of plain rows of CDX and CDXJ files, for `arclink.rows.cdx`.

`parse_row` parses all other rows. A plain row has only printable ASCII characters, and one of these
forms:

* eleven columns in the usual order, separated by one blank, none of them empty, without ``{``;
* key, timestamp and one flat JSON object, separated by one blank. Its values are texts without
  backslash, whole numbers, true, false and null. Each field that ArcLink reads occurs at most once,
  as a text, under one of its names.

The row is not one of an answer to another method than GET (`arclink.uris.surts`). The key is not
that of a header line. The timestamp has 14 digits and exists in the calendar. The
original is an HTTP URI. The checksum is a SHA-1 in base32, or missing. Length and offset have no
leading 0.
"""

from arclink.languages import normal_languages
from arclink.native.checked cimport (
    Text, at, find, has, holds, is_base32, is_digits, is_printable, part_of, slice_of, text_of
)

cdef enum:
    KEY = 0  # the columns of a CDX in the usual order
    TIME = 1
    ORIGINAL = 2
    MIME = 3
    STATUS = 4
    CHECKSUM = 5
    LENGTH = 8
    OFFSET = 9
    FILE = 10
    COLUMNS = 11
    TYPE = 11  # this and the following fields: only in JSON
    LANGUAGES = 12
    REFERS_TO_URI = 13
    REFERS_TO_TIMESTAMP = 14
    LOCATION = 15
    PROFILE = 16
    METHOD = 17
    FIELDS = 18
    IGNORED = 19
    REFUSED = 20

cdef struct Fields:
    Py_ssize_t begin[FIELDS]
    Py_ssize_t end[FIELDS]  # 0 where the row lacks the field

cdef list _FIELD_OF = [
    (b"url", ORIGINAL), (b"mime", MIME), (b"status", STATUS), (b"digest", CHECKSUM),
    (b"length", LENGTH), (b"offset", OFFSET), (b"filename", FILE), (b"type", TYPE),
    (b"refers_to_uri", REFERS_TO_URI), (b"refers_to_timestamp", REFERS_TO_TIMESTAMP),
    (b"location", LOCATION), (b"profile", PROFILE), (b"languages", LANGUAGES),
    (b"method", METHOD),
    # These mean the same as another name.
    (b"urlkey", REFUSED), (b"timestamp", REFUSED), (b"original", REFUSED), (b"uri", REFUSED),
    (b"mimetype", REFUSED), (b"statuscode", REFUSED), (b"checksum", REFUSED),
    (b"compressedoffset", REFUSED), (b"file", REFUSED), (b"language", REFUSED), (b"lang", REFUSED),
    # They are rare.
    (b"orig.filename", REFUSED), (b"orig.offset", REFUSED), (b"orig.length", REFUSED),
]
cdef enum:
    NAMES = 28
    LONGEST_URI = 65536  # as in arclink.rows.cdx
    LONGEST_ROW = 1048576
    KINDS = 64
cdef Text NAME[NAMES]  # each with the quotation mark after it
cdef list _names = []
cdef int MEANING[NAMES]
cdef int _number
cdef bytes _name
for _number in range(NAMES):
    _name, MEANING[_number] = _FIELD_OF[_number]
    _names.append(_name + b'"')
    NAME[_number] = text_of(_names[_number])

cdef bytes _HTTP = b"http://", _HTTPS = b"https://", _SHA1 = b"sha1:", _CDX = b"CDX"
cdef bytes _GET = b"GET", _WB_METHOD = b"__wb_method="
cdef Text GET = text_of(_GET), WB_METHOD = text_of(_WB_METHOD)
cdef bytes _TRUE = b"true", _FALSE = b"false", _NULL = b"null"
cdef Text HTTP = text_of(_HTTP), HTTPS = text_of(_HTTPS), SHA1 = text_of(_SHA1), CDX = text_of(_CDX)
cdef Text TRUE = text_of(_TRUE), FALSE = text_of(_FALSE), NULL_ = text_of(_NULL)


def take_plain(list rows, list lines, Py_ssize_t start, object what_of, bint is_usual):
    cdef Py_ssize_t position
    cdef Fields fields
    cdef Text text
    cdef bytes line, original = b"", checksum = b"-", name = b"", written = b"", languages = b"-"
    cdef list kinds = [None] * KINDS
    for position in range(start, len(lines)):
        line = lines[position]
        text = text_of(line)
        if not is_plain(text, &fields, is_usual):
            return position
        what = kind(text, &fields, kinds, what_of)
        if what is None:
            return position
        if not is_same(text, &fields, FILE, name):
            name = field(text, &fields, FILE)
        if not is_same(text, &fields, ORIGINAL, original):
            original = field(text, &fields, ORIGINAL)
        if not is_same(text, &fields, CHECKSUM, checksum):
            checksum = field(text, &fields, CHECKSUM) or b"-"
        if not is_same(text, &fields, LANGUAGES, written):
            written = field(text, &fields, LANGUAGES)
            languages = normal_languages(written.decode("ascii")).encode()
        rows.append((
            field(text, &fields, KEY), field(text, &fields, TIME), original, checksum,
            field(text, &fields, LENGTH), field(text, &fields, OFFSET), name, what,
            details(text, &fields), languages,
        ))
    return len(lines)


def share_plain(list lines, Py_ssize_t start, dict batch_of, object what_of, object shared):
    cdef Py_ssize_t position
    cdef Fields fields
    cdef Text text
    cdef bytes line, name = b""
    cdef object batch = None
    cdef list rows = None, kinds = [None] * KINDS
    for position in range(start, len(lines)):
        line = lines[position]
        text = text_of(line)
        if not is_plain(text, &fields, True) or kind(text, &fields, kinds, what_of) is None:
            return position
        if not is_same(text, &fields, FILE, name):
            name = field(text, &fields, FILE)
            batch = batch_of.get(name)
            if batch is not None:
                rows = shared[batch]
        if batch is None:
            return position
        rows.append(line if at(text, text.size - 1) == c"\n" else line + b"\n")
    return len(lines)


cdef inline object kind(const Text text, const Fields *fields, list kinds, object what_of):
    """Return the kind of a row, by `what_of`; for the kinds of the rows before, from memory.

    `kinds` has a slot for each value of a simple hash: mime type, status and type as written, and
    what `what_of` returned for them.
    """
    cdef Py_ssize_t slot = (
        3 * fields.end[MIME] - 3 * fields.begin[MIME] + at(text, fields.begin[MIME])
        + 5 * at(text, fields.begin[STATUS]) + 7 * at(text, fields.end[STATUS] - 1)
        + fields.end[TYPE] - fields.begin[TYPE]
    ) % KINDS
    cdef tuple found = kinds[slot]
    if found is None or not is_same_kind(text, fields, found[0], found[1], found[2]):
        mime, status = field(text, fields, MIME), field(text, fields, STATUS)
        given = field(text, fields, TYPE)
        found = kinds[slot] = mime, status, given, what_of(mime or b"-", status or b"-", given)
    return found[3]


cdef inline object details(const Text text, const Fields *fields):
    """Return the fields that only revisits and redirects have; None if all are missing."""
    cdef int number
    for number in range(REFERS_TO_URI, METHOD):
        if fields.end[number]:
            return (
                field(text, fields, REFERS_TO_URI).decode("ascii"),
                field(text, fields, REFERS_TO_TIMESTAMP).decode("ascii"),
                field(text, fields, LOCATION).decode("ascii"),
                field(text, fields, PROFILE).decode("ascii"),
                "",
            )
    return None


cdef inline bytes field(const Text text, const Fields *fields, int number):
    return part_of(text, fields.begin[number], fields.end[number])


cdef bint is_same(const Text text, const Fields *fields, int number, bytes before) noexcept:
    """Return whether a field equals that of the previous line."""
    cdef Text last = text_of(before)
    return (
        fields.end[number] - fields.begin[number] == <Py_ssize_t>last.size
        and has(text, fields.begin[number], last)
    )


cdef bint is_same_kind(
    const Text text, const Fields *fields, bytes mime, bytes status, bytes given
) noexcept:
    """Return whether mime type, status and type equal those of the previous line."""
    return (
        is_same(text, fields, MIME, mime)
        and is_same(text, fields, STATUS, status)
        and is_same(text, fields, TYPE, given)
    )


cdef bint is_plain(Text text, Fields *fields, bint is_usual) noexcept:
    """Find the fields of a row; return whether the row is plain except for its record type."""
    cdef int number
    for number in range(FIELDS):
        fields.begin[number] = fields.end[number] = 0
    if text.size > LONGEST_ROW:
        return False
    if at(text, text.size - 1) == c"\n":
        text.size -= 1
    if not is_printable(text):
        return False
    if at(text, text.size - 1) == c"}":
        if not split_json(text, fields):
            return False
    elif not is_usual or not split_columns(text, fields):
        return False
    if fields.end[ORIGINAL] - fields.begin[ORIGINAL] > LONGEST_URI:
        return False
    cdef Py_ssize_t key = fields.end[KEY], position = fields.begin[CHECKSUM]
    if key < 1 or at(text, 0) < c"-" or (at(text, 0) == c"-" and key == 1):
        return False
    if key == 3 and has(text, 0, CDX):
        return False
    if fields.end[METHOD] and (
        fields.end[METHOD] - fields.begin[METHOD] != 3 or not has(text, fields.begin[METHOD], GET)
    ):
        return False
    if holds(slice_of(text, 0, key), WB_METHOD):
        return False
    if fields.end[TIME] - fields.begin[TIME] != 14 or not is_time(text, fields.begin[TIME]):
        return False
    if not has(text, fields.begin[ORIGINAL], HTTP) and not has(text, fields.begin[ORIGINAL], HTTPS):
        return False
    if fields.end[CHECKSUM] and not is_dash(text, fields, CHECKSUM):
        if fields.end[CHECKSUM] - position != 32:
            return False
        if not is_base32(slice_of(text, position, 32)):
            return False
    if not is_number(text, fields, LENGTH) or not is_number(text, fields, OFFSET):
        return False
    for number in range(REFERS_TO_URI, METHOD):
        if is_dash(text, fields, number):
            return False
    if fields.end[LENGTH] - fields.begin[LENGTH] + fields.end[OFFSET] - fields.begin[OFFSET] > 18:
        return False
    return fields.end[FILE] > fields.begin[FILE] and not is_dash(text, fields, FILE)


cdef inline bint is_dash(const Text text, const Fields *fields, int number) noexcept:
    """Return whether a field has the sign for a missing value."""
    cdef Py_ssize_t begin = fields.begin[number]
    return fields.end[number] == begin + 1 and at(text, begin) == c"-"


cdef bint split_columns(const Text text, Fields *fields) noexcept:
    """Find the columns of a CDX row; return whether it has the usual number, and none is empty."""
    cdef Py_ssize_t position, begin = 0
    cdef int number
    if find(text, 0, c"{") >= 0:
        return False
    for number in range(COLUMNS):
        position = find(text, begin, c" ")
        if (position < 0) != (number == COLUMNS - 1):
            return False
        if position < 0:
            position = text.size
        if position == begin:
            return False
        fields.begin[number] = begin
        fields.end[number] = position
        begin = position + 1
    return True


cdef bint split_json(const Text text, Fields *fields) noexcept:
    """Find the fields of a CDXJ row; return whether its JSON is flat and plain."""
    cdef Py_ssize_t position, begin, end
    cdef int number, named, expected = 0
    fields.end[KEY] = find(text, 0, c" ")
    fields.begin[TIME] = fields.end[KEY] + 1
    position = fields.end[TIME] = find(text, fields.begin[TIME], c" ")
    if at(text, 0) == c"{" or fields.end[KEY] < 0 or position < 0 or at(text, position + 1) != c"{":
        return False
    position += 1
    while True:
        begin = after(text, position + 1, c'"')  # what was at `position` is the brace or a comma
        named = find_name(text, begin, expected)
        if named < NAMES:
            end, number = begin + <Py_ssize_t>NAME[named].size, MEANING[named]
            expected = named + 1  # writers keep one order
        else:
            end, number = find(text, begin, c'"') + 1, IGNORED
        position = after(text, end, c":")
        if begin < 0 or end < 1 or position < 0:
            return False
        while at(text, position) == c" ":
            position += 1
        if number == REFUSED:
            return False
        if at(text, position) == c'"':
            begin, end = position + 1, find(text, position + 1, c'"')
            if end < 0:
                return False
            if number < FIELDS:
                # An empty text means the same as a missing field, but another name for it may follow.
                if fields.end[number] or begin == end:
                    return False
                fields.begin[number], fields.end[number] = begin, end
            position = end + 1
        else:
            if number == LANGUAGES and not fields.end[number] and has(text, position, NULL_):
                number = IGNORED
            position = -1 if number < FIELDS else end_of_scalar(text, position)
            if position < 0:
                return False
        while at(text, position) == c" ":
            position += 1
        if at(text, position) != c",":
            break
    if fields.end[CHECKSUM] - fields.begin[CHECKSUM] == 37 and has(text, fields.begin[CHECKSUM], SHA1):
        fields.begin[CHECKSUM] += 5
    return position == <Py_ssize_t>text.size - 1 and <bint>fields.end[ORIGINAL]  # the brace


cdef int find_name(const Text text, Py_ssize_t begin, int expected) noexcept:
    """Return the number of the name that begins here, `NAMES` for others; try one of them first."""
    cdef int named
    if expected < NAMES and has(text, begin, NAME[expected]):
        return expected
    for named in range(NAMES):
        if has(text, begin, NAME[named]):
            return named
    return NAMES


cdef Py_ssize_t after(const Text text, Py_ssize_t position, int wanted) noexcept:
    """Return the position after a character that may follow blanks; -1 if another one does."""
    while at(text, position) == c" ":
        position += 1
    return position + 1 if at(text, position) == wanted else -1


cdef Py_ssize_t end_of_scalar(const Text text, Py_ssize_t position) noexcept:
    """Return the position after a whole number, true, false or null; -1 for anything else."""
    if has(text, position, TRUE) or has(text, position, NULL_):
        return position + 4
    if has(text, position, FALSE):
        return position + 5
    if at(text, position) == c"0":
        return position + 1
    cdef Py_ssize_t begin = position
    while c"0" <= at(text, position) <= c"9":
        position += 1
    return position if position > begin else -1


cdef bint is_number(const Text text, const Fields *fields, int number) noexcept:
    """Return whether a field has only digits and does not begin with 0."""
    cdef Py_ssize_t begin = fields.begin[number], end = fields.end[number]
    return end > 0 and at(text, begin) != c"0" and is_digits(slice_of(text, begin, end - begin))


cdef bint is_time(const Text text, Py_ssize_t begin) noexcept:
    """Return whether 14 characters are a time that exists in the calendar."""
    if not is_digits(slice_of(text, begin, 14)):
        return False
    cdef int year = 100 * two(text, begin) + two(text, begin + 2)
    cdef int month = two(text, begin + 4), day = two(text, begin + 6)
    if year < 1 or not 1 <= month <= 12:
        return False
    if two(text, begin + 8) > 23 or two(text, begin + 10) > 59 or two(text, begin + 12) > 59:
        return False
    cdef bint is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    cdef int days = 28 + is_leap if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    return 1 <= day <= days


cdef int two(const Text text, Py_ssize_t position) noexcept:
    return 10 * (at(text, position) - c"0") + at(text, position + 1) - c"0"
