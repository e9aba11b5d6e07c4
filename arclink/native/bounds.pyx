# cython: language_level=3, boundscheck=False, wraparound=False
"""The scan of a page before it is parsed: see `arclink.extract.bounds`."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp

cdef enum:
    NOT_KNOWN, P, BR, VOID, VOID_NEVER_IN_SVG, SVG, ROOT, TEMPLATE, FORMATTING, TEXT_ONLY, OTHER_RULES
    SCRIPT, SELECT, OPTION
    SLOTS = 256
    MARKUP_BYTES = 100
    ELEMENT_BYTES = 200
    ATTRIBUTE_BYTES = 300
    TEMPLATE_BYTES = 700

# A hash table of the names that the scan knows, each as a number of its letters.
cdef uint64_t NAMES[SLOTS]
cdef int KNOWN[SLOTS]


cdef inline uint64_t packed(const unsigned char *name, Py_ssize_t length) noexcept:
    """Return the letters of a name, in lower case, as a number; 0 if it has more than 8."""
    cdef uint64_t number = 0
    cdef Py_ssize_t place
    cdef unsigned char letter
    if length > 8:
        return 0
    for place in range(length):
        letter = name[place]
        if 65 <= letter <= 90:
            letter += 32
        number = number << 8 | letter
    return number


cdef inline int slot_of(uint64_t number) noexcept:
    return <int>((number * <uint64_t>0x9E3779B97F4A7C15) >> 56)


cdef inline int number_of(const unsigned char *name, Py_ssize_t length) noexcept:
    """Return what the scan knows of a name."""
    cdef uint64_t number = packed(name, length)
    cdef int slot = slot_of(number)
    while NAMES[slot]:
        if NAMES[slot] == number:
            return KNOWN[slot]
        slot = (slot + 1) % SLOTS
    return NOT_KNOWN


cdef void add(bytes name, int known):
    cdef uint64_t number = packed(name, len(name))
    cdef int slot = slot_of(number)
    while NAMES[slot]:
        slot = (slot + 1) % SLOTS
    NAMES[slot] = number
    KNOWN[slot] = known


for _known, _names in (
    (P, b"p"),
    (BR, b"br"),
    (VOID, b"area base basefont bgsound col frame input keygen link param source track wbr"),
    (VOID_NEVER_IN_SVG, b"embed hr img meta"),
    (SVG, b"svg math"),
    (ROOT, b"html body"),
    (TEMPLATE, b"template"),
    (FORMATTING, b"b big code em font i nobr s small strike strong tt u"),
    (TEXT_ONLY, b"iframe noembed noframes style textarea title xmp"),
    (SCRIPT, b"script"),
    (SELECT, b"select"),
    (OPTION, b"optgroup option"),
    (OTHER_RULES, b"frameset"),
):
    for _name in _names.split():
        add(_name, _known)


# What each byte is: 1 white space, 2 a slash, 4 a greater-than sign, 8 a letter, 16 an equals sign.
cdef unsigned char CLASS[256]
for _sign in range(256):
    CLASS[_sign] = (
        1 * (_sign in b"\t\n\f\r ")
        + 2 * (_sign in b"/")
        + 4 * (_sign in b">")
        + 8 * (_sign in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        + 16 * (_sign in b"=")
    )


cdef inline bint is_space(unsigned char sign) noexcept:
    return CLASS[sign] & 1


cdef inline bint is_letter(unsigned char sign) noexcept:
    return CLASS[sign] & 8


cdef inline bint ends_name(unsigned char sign) noexcept:
    return CLASS[sign] & 7


cdef inline Py_ssize_t find(const unsigned char *page, unsigned char sign, Py_ssize_t start, Py_ssize_t size) noexcept:
    """Return where a sign is next; ``size`` if nowhere."""
    cdef const void *found
    if start >= size:
        return size
    if page[start] == sign:
        return start
    found = memchr(page + start, sign, size - start)
    return size if found is NULL else <const unsigned char *>found - page


cdef inline Py_ssize_t after_attribute(const unsigned char *page, Py_ssize_t place, Py_ssize_t size) noexcept:
    """Return where an attribute ends; -1 if there is no other one."""
    cdef Py_ssize_t value
    cdef unsigned char quote
    while place < size and CLASS[page[place]] & 3:
        place += 1
    if place >= size or page[place] == 0x3E:
        return -1
    place += 1
    while place < size and not CLASS[page[place]] & 23:
        place += 1
    value = place
    while value < size and is_space(page[value]):
        value += 1
    if value >= size or page[value] != 0x3D:
        return place
    value += 1
    while value < size and is_space(page[value]):
        value += 1
    if value >= size:
        return size
    quote = page[value]
    if quote == 0x22 or quote == 0x27:
        value = find(page, quote, value + 1, size)
        return size if value == size else value + 1
    while value < size and not CLASS[page[value]] & 5:
        value += 1
    return value


def tally(bytes html, Py_ssize_t most_attributes, Py_ssize_t most_bytes):
    """Do what the function of this name in `arclink.extract.bounds` does."""
    cdef const unsigned char *page = html
    cdef Py_ssize_t size = len(html), work = 8 * len(html), position = 0, start, end, place, following, after, behind
    cdef Py_ssize_t tags = 0, opening = 0, formatting = 0, memory = 0, of_root = 0, pair = -1, following_tag = -1, attributes, before, rest, length
    cdef bint has_svg = False, is_end, is_root
    cdef int known
    cdef unsigned char letter
    dropped = []
    while True:
        start = following_tag if following_tag >= position else find(page, 0x3C, position, size)
        if start + 1 >= size:
            break
        position = start + 1
        letter = page[position]
        is_end = letter == 0x2F
        if not is_letter(letter):
            if letter != 0x21 and letter != 0x3F and not is_end:
                continue
            position += 1
            if not is_end or position >= size or not is_letter(page[position]):
                tags += 1
                memory += MARKUP_BYTES
                continue
        tags += 1
        memory += MARKUP_BYTES
        place = position
        while position < size and not ends_name(page[position]):
            position += 1
        length = position - place
        known = number_of(page + place, length)
        behind = place
        attributes = rest = 0
        is_root = known == ROOT
        before = of_root if is_root else 0
        place = position
        while True:
            following = after_attribute(page, place, size)
            if following < 0:
                break
            place = following
            attributes += 1
            if before + attributes == most_attributes:
                rest = place
        work -= place - start
        if is_root:
            of_root += attributes
            if before >= most_attributes:
                rest = position
        end = find(page, 0x3E, place, size)
        if rest and rest < place:
            dropped.append((rest, end))
            position = end
            attributes = most_attributes - before if most_attributes > before else 0
        memory += ATTRIBUTE_BYTES * attributes
        if not is_end or (start != pair and (known == P or known == BR)):
            memory += ELEMENT_BYTES
        if known == TEMPLATE:
            memory += TEMPLATE_BYTES
        if memory > most_bytes or work < 0:
            return tags, opening, formatting, start, dropped
        if is_end:
            continue
        if known == SVG:
            has_svg = True
        if known == VOID_NEVER_IN_SVG or known == BR or (known == VOID and not has_svg):
            continue
        following_tag = find(page, 0x3C, position, size)
        after = following_tag if following_tag >= end else find(page, 0x3C, end, size)
        if after + 2 + length < size and page[after + 1] == 0x2F and not memcmp(page + after + 2, page + behind, length) and ends_name(page[after + 2 + length]):
            pair = after
            continue
        opening += 1
        formatting += known == FORMATTING
    return tags, opening, formatting, size, dropped


def has_few_tags(bytes html, Py_ssize_t most):
    """Do what the function of this name in `arclink.extract.bounds` does."""
    cdef const unsigned char *page = html
    cdef Py_ssize_t size = len(html), place = 0, end, count = 0
    cdef unsigned char of_block
    while place < size:
        end = place + 128 if size - place > 128 else size
        of_block = 0
        while place < end:
            of_block += page[place] == 0x3C
            place += 1
        count += of_block
    return count <= most


cdef inline bint is_alike(const unsigned char *name, const unsigned char *other, Py_ssize_t length) noexcept:
    """Return whether two names of one length are the same, in upper or lower case."""
    cdef Py_ssize_t place
    cdef unsigned char letter
    for place in range(length):
        letter = name[place] ^ other[place]
        if letter and not (letter == 0x20 and is_letter(name[place])):
            return False
    return True


cdef Py_ssize_t after_comment(const unsigned char *page, Py_ssize_t start, Py_ssize_t size) noexcept:
    """Return where a comment ends that starts with ``<!--``."""
    cdef Py_ssize_t place = start + 4
    if place < size and page[place] == 0x3E:
        return place + 1
    if place + 1 < size and page[place] == 0x2D and page[place + 1] == 0x3E:
        return place + 2
    while True:
        place = find(page, 0x2D, place, size)
        if place >= size:
            return size
        if place + 2 < size and page[place + 1] == 0x2D:
            if page[place + 2] == 0x3E:
                return place + 3
            if page[place + 2] == 0x21 and place + 3 < size and page[place + 3] == 0x3E:
                return place + 4
        place += 1


cdef Py_ssize_t end_of_text(
    const unsigned char *page, Py_ssize_t place, Py_ssize_t size, const unsigned char *name, Py_ssize_t length
) noexcept:
    """Return where the content of an element ends that holds text only."""
    while True:
        place = find(page, 0x3C, place, size)
        if place + 2 + length >= size:
            return size
        if page[place + 1] == 0x2F and ends_name(page[place + 2 + length]) and is_alike(page + place + 2, name, length):
            return place
        place += 1


cdef struct Name:
    Py_ssize_t start
    Py_ssize_t length


def nesting(bytes html):
    """Do what the function of this name in `arclink.extract.bounds` does."""
    cdef const unsigned char *page = html
    cdef Py_ssize_t size = len(html), position = 0, start, name, length, following
    cdef Py_ssize_t depth = 0, room = 0, steps = 0, copies = 0, formatting = 0
    cdef Py_ssize_t in_select = -1  # the place of the select that is open
    cdef bint is_end
    cdef int known
    cdef Name *names = NULL
    cdef Name *larger
    try:
        while True:
            start = find(page, 0x3C, position, size)
            if start + 1 >= size:
                return steps, copies
            position = start + 1
            is_end = page[position] == 0x2F
            name = position + is_end
            if name >= size or not is_letter(page[name]):
                if page[position] == 0x21 and start + 3 < size and page[start + 2] == 0x2D and page[start + 3] == 0x2D:
                    position = after_comment(page, start, size)
                elif is_end or page[position] == 0x21 or page[position] == 0x3F:
                    position = find(page, 0x3E, position + 1, size) + 1
                else:
                    continue
                steps += depth
                copies += formatting
                continue
            steps += depth
            copies += formatting
            position = name
            while position < size and not ends_name(page[position]):
                position += 1
            length = position - name
            following = position
            while following >= 0:
                position = following
                following = after_attribute(page, position, size)
            position = find(page, 0x3E, position, size) + 1  # only spaces and slashes are between
            known = number_of(page + name, length)
            if in_select >= 0 and known != OPTION and known != SCRIPT and known != SELECT:
                return None
            if is_end:
                if known == SELECT and in_select >= 0:
                    depth = in_select
                    in_select = -1
                elif depth and names[depth - 1].length == length and is_alike(page + names[depth - 1].start, page + name, length):
                    depth -= 1
                    formatting -= known == FORMATTING
                continue
            if known == SELECT:
                if in_select >= 0:
                    return None
                in_select = depth
            if known == OTHER_RULES or known == SVG or known == TEMPLATE or (length == 9 and is_alike(page + name, b"plaintext", 9)):
                return None
            if known == TEXT_ONLY or known == SCRIPT:
                position = end_of_text(page, position, size, page + name, length)
            elif known != VOID and known != VOID_NEVER_IN_SVG and known != BR:
                if depth == room:
                    room = 2 * room + 1024
                    larger = <Name *>realloc(names, room * sizeof(Name))
                    if larger is NULL:
                        raise MemoryError
                    names = larger
                names[depth].start = name
                names[depth].length = length
                depth += 1
                formatting += known == FORMATTING
    finally:
        free(names)
