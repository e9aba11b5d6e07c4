# cython: language_level=3
"""The scan of a page before it is parsed, for `arclink.extract.bounds`."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport free, realloc

from arclink.native.checked cimport Text, at, find, has, slice_of, text_of

cdef enum:
    NOT_KNOWN, P, BR, VOID, VOID_NEVER_IN_SVG, SVG, ROOT, TEMPLATE, FORMATTING, TEXT_ONLY, OTHER_RULES
    SCRIPT, SELECT, OPTION
    SLOTS = 256
    LONGEST_NAME = 8  # letters of a name that fit into a number
    MARKUP_BYTES = 100
    ELEMENT_BYTES = 200
    ATTRIBUTE_BYTES = 300
    TEMPLATE_BYTES = 700

# A hash table of the names that the scan knows, each as a number of its letters. A slot is eight
# bits, so it is inside the table.
cdef uint64_t NAMES[SLOTS]
cdef int KNOWN[SLOTS]


cdef inline uint64_t packed(const Text page, Py_ssize_t start, Py_ssize_t length) noexcept:
    """Return the letters of a name, in lower case, as a number; 0 if it has more than 8."""
    cdef uint64_t number = 0
    cdef Py_ssize_t position
    cdef int letter
    if length > LONGEST_NAME:
        return 0
    for position in range(start, start + length):
        letter = at(page, position)
        if 65 <= letter <= 90:
            letter += 32
        number = number << 8 | <unsigned char>letter
    return number


cdef inline int slot_of(uint64_t number) noexcept:
    return <int>((number * <uint64_t>0x9E3779B97F4A7C15) >> 56)


cdef inline int number_of(const Text page, Py_ssize_t start, Py_ssize_t length) noexcept:
    """Return the properties of a name that the scan needs."""
    cdef uint64_t number = packed(page, start, length)
    cdef int slot = slot_of(number)
    while NAMES[slot]:
        if NAMES[slot] == number:
            return KNOWN[slot]
        slot = (slot + 1) % SLOTS
    return NOT_KNOWN


cdef void add(bytes name, int known):
    cdef uint64_t number = packed(text_of(name), 0, len(name))
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


# Class of each byte: 1 white space, 2 a slash, 4 a greater-than sign, 8 a letter, 16 an equals sign.
cdef unsigned char CLASS[256]
for _sign in range(256):
    CLASS[_sign] = (
        1 * (_sign in b"\t\n\f\r ")
        + 2 * (_sign in b"/")
        + 4 * (_sign in b">")
        + 8 * (_sign in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        + 16 * (_sign in b"=")
    )


cdef inline int class_at(const Text page, Py_ssize_t position) noexcept:
    """Return the class of a byte; 0 at positions before and after the page."""
    cdef int sign = at(page, position)
    return CLASS[<unsigned char>sign] if sign >= 0 else 0


cdef inline bint is_space(const Text page, Py_ssize_t position) noexcept:
    return class_at(page, position) & 1


cdef inline bint is_letter(const Text page, Py_ssize_t position) noexcept:
    return class_at(page, position) & 8


cdef inline bint ends_name(const Text page, Py_ssize_t position) noexcept:
    return class_at(page, position) & 7


cdef inline Py_ssize_t until(const Text page, int sign, Py_ssize_t start) noexcept:
    """Return the next position of a sign; the length of the page if there is no other one."""
    if at(page, start) == sign:
        return start
    cdef Py_ssize_t position = find(page, start, sign)
    return <Py_ssize_t>page.size if position < 0 else position


cdef inline Py_ssize_t after_name(const Text page, Py_ssize_t position) noexcept:
    """Return the end of the name that begins at or before this position."""
    cdef Py_ssize_t size = page.size
    while position < size and not ends_name(page, position):
        position += 1
    return position


cdef inline Py_ssize_t after_attribute(const Text page, Py_ssize_t position) noexcept:
    """Return the end of the next attribute; -1 if there is no other one."""
    cdef Py_ssize_t value, size = page.size
    cdef int quote
    while class_at(page, position) & 3:
        position += 1
    if position >= size or at(page, position) == 0x3E:
        return -1
    position += 1
    while position < size and not class_at(page, position) & 23:
        position += 1
    value = position
    while is_space(page, value):
        value += 1
    if at(page, value) != 0x3D:
        return position
    value += 1
    while is_space(page, value):
        value += 1
    if value >= size:
        return size
    quote = at(page, value)
    if quote == 0x22 or quote == 0x27:
        value = until(page, quote, value + 1)
        return size if value == size else value + 1
    while value < size and not class_at(page, value) & 5:
        value += 1
    return value


def tally(bytes html, Py_ssize_t most_attributes, Py_ssize_t most_bytes):
    """Compiled form of the function with this name in `arclink.extract.bounds`."""
    cdef Text page = text_of(html)
    cdef Py_ssize_t size = page.size, work = 8 * size, position = 0, start, end, end_of_attribute, following, after, name
    cdef Py_ssize_t tags = 0, opening = 0, formatting = 0, memory = 0, of_root = 0, pair = -1, following_tag = -1, attributes, before, rest, length
    cdef bint has_svg = False, is_end, is_root
    cdef int known, letter
    dropped = []
    while True:
        start = following_tag if following_tag >= position else until(page, 0x3C, position)
        if start + 1 >= size:
            break
        position = start + 1
        letter = at(page, position)
        is_end = letter == 0x2F
        if not is_letter(page, position):
            if letter != 0x21 and letter != 0x3F and not is_end:
                continue
            position += 1
            if not is_end or not is_letter(page, position):
                tags += 1
                memory += MARKUP_BYTES
                continue
        tags += 1
        memory += MARKUP_BYTES
        name = position
        position = after_name(page, position)
        length = position - name
        known = number_of(page, name, length)
        attributes = rest = 0
        is_root = known == ROOT
        before = of_root if is_root else 0
        end_of_attribute = position
        while True:
            following = after_attribute(page, end_of_attribute)
            if following < 0:
                break
            end_of_attribute = following
            attributes += 1
            if before + attributes == most_attributes:
                rest = end_of_attribute
        work -= end_of_attribute - start
        if is_root:
            of_root += attributes
            if before >= most_attributes:
                rest = position
        end = until(page, 0x3E, end_of_attribute)
        if rest and rest < end_of_attribute:
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
        following_tag = until(page, 0x3C, position)
        after = following_tag if following_tag >= end else until(page, 0x3C, end)
        if at(page, after + 1) == 0x2F and has(page, after + 2, slice_of(page, name, length)) and ends_name(page, after + 2 + length):
            pair = after
            continue
        opening += 1
        formatting += known == FORMATTING
    return tags, opening, formatting, size, dropped


cdef inline bint is_alike(const Text page, Py_ssize_t name, Py_ssize_t other, Py_ssize_t length) noexcept:
    """Return whether two names of one length are equal, ignoring case."""
    cdef Py_ssize_t position
    cdef int letter, difference
    for position in range(length):
        letter = at(page, name + position)
        difference = letter ^ at(page, other + position)
        if difference and not (difference == 0x20 and is_letter(page, name + position)):
            return False
    return True


cdef Py_ssize_t after_comment(const Text page, Py_ssize_t start) noexcept:
    """Return the end of a comment that starts with ``<!--``."""
    cdef Py_ssize_t position = start + 4, size = page.size
    if at(page, position) == 0x3E:
        return position + 1
    if at(page, position) == 0x2D and at(page, position + 1) == 0x3E:
        return position + 2
    while True:
        position = until(page, 0x2D, position)
        if position >= size:
            return size
        if at(page, position + 1) == 0x2D:
            if at(page, position + 2) == 0x3E:
                return position + 3
            if at(page, position + 2) == 0x21 and at(page, position + 3) == 0x3E:
                return position + 4
        position += 1


cdef Py_ssize_t end_of_text(const Text page, Py_ssize_t position, Py_ssize_t name, Py_ssize_t length) noexcept:
    """Return the end of the content of an element that contains only text."""
    cdef Py_ssize_t size = page.size
    while True:
        position = until(page, 0x3C, position)
        if position + 2 + length >= size:
            return size
        if at(page, position + 1) == 0x2F and ends_name(page, position + 2 + length) and is_alike(page, position + 2, name, length):
            return position
        position += 1


cdef bytes PLAINTEXT = b"plaintext"

cdef struct Name:
    Py_ssize_t start
    Py_ssize_t length


cdef struct Names:
    Name *start
    Py_ssize_t room
    Py_ssize_t depth


cdef int push(Names *names, Py_ssize_t start, Py_ssize_t length) except -1:
    """Add a name to those of the open elements."""
    cdef Name *larger
    if names.depth >= names.room:
        larger = <Name *>realloc(names.start, (2 * names.room + 1024) * sizeof(Name))
        if larger is NULL:
            raise MemoryError
        names.start = larger
        names.room = 2 * names.room + 1024
    names.start[names.depth].start = start
    names.start[names.depth].length = length
    names.depth += 1
    return 0


cdef inline Name last_of(const Names *names) noexcept:
    """Return the name of the last open element; empty if no element is open."""
    cdef Name name
    if 0 < names.depth <= names.room:
        return names.start[names.depth - 1]
    name.start = name.length = 0
    return name


cdef inline bint is_named(const Text page, Py_ssize_t name, Py_ssize_t length, bytes other):
    """Return whether a name equals another one in lower case, ignoring the case of its letters."""
    cdef Text letters = text_of(other)
    cdef Py_ssize_t position
    if length != <Py_ssize_t>letters.size:
        return False
    for position in range(length):
        if not is_letter(page, name + position) or at(page, name + position) | 0x20 != at(letters, position):
            return False
    return True


def nesting(bytes html):
    """Compiled form of the function with this name in `arclink.extract.bounds`."""
    cdef Text page = text_of(html)
    cdef Py_ssize_t size = page.size, position = 0, start, name, length, following
    cdef Py_ssize_t steps = 0, copies = 0, formatting = 0
    cdef Py_ssize_t in_select = -1  # the index of the select that is open
    cdef bint is_end
    cdef int known
    cdef Name last
    cdef Names names
    names.start = NULL
    names.room = names.depth = 0
    try:
        while True:
            start = until(page, 0x3C, position)
            if start + 1 >= size:
                return steps, copies
            position = start + 1
            is_end = at(page, position) == 0x2F
            name = position + is_end
            if not is_letter(page, name):
                if at(page, position) == 0x21 and at(page, start + 2) == 0x2D and at(page, start + 3) == 0x2D:
                    position = after_comment(page, start)
                elif is_end or at(page, position) == 0x21 or at(page, position) == 0x3F:
                    position = until(page, 0x3E, position + 1) + 1
                else:
                    continue
                steps += names.depth
                copies += formatting
                continue
            steps += names.depth
            copies += formatting
            position = after_name(page, name)
            length = position - name
            following = position
            while following >= 0:
                position = following
                following = after_attribute(page, position)
            position = until(page, 0x3E, position) + 1  # only spaces and slashes are between
            known = number_of(page, name, length)
            if in_select >= 0 and known != OPTION and known != SCRIPT and known != SELECT:
                return None
            if is_end:
                last = last_of(&names)
                if known == SELECT and in_select >= 0:
                    names.depth = in_select
                    in_select = -1
                elif last.length == length and is_alike(page, last.start, name, length):
                    names.depth -= 1
                    formatting -= known == FORMATTING
                continue
            if known == SELECT:
                if in_select >= 0:
                    return None
                in_select = names.depth
            if known == OTHER_RULES or known == SVG or known == TEMPLATE or is_named(page, name, length, PLAINTEXT):
                return None
            if known == TEXT_ONLY or known == SCRIPT:
                position = end_of_text(page, position, name, length)
            elif known != VOID and known != VOID_NEVER_IN_SVG and known != BR:
                push(&names, name, length)
                formatting += known == FORMATTING
    finally:
        free(names.start)
