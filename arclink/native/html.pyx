# cython: language_level=3, boundscheck=False, wraparound=False
"""The walk over the elements of a page: see `arclink.extract.html`."""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from libc.string cimport memchr


cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object)
    const unsigned char *PyUnicode_1BYTE_DATA(object)
    Py_UCS4 PyUnicode_READ_CHAR(object, Py_ssize_t)


def but_plain_links(object nodes, dict elements, object a, frozenset closer_look, list links, Py_ssize_t most, Py_ssize_t longest):
    """Do what the function of this name in `arclink.extract.html` does."""
    cdef PyObject *element
    cdef dict attributes
    cdef str reference, text, rel
    cdef object node, child
    for node in nodes:
        element = PyDict_GetItem(elements, node.tag_id)
        if element is NULL:
            continue
        attributes = node.attributes
        if <object>element is a and len(links) < most:
            reference = attributes.get("href")
            if reference and reference[0] not in closer_look and has_no_part(reference):
                child = node.first_child
                if child is None:
                    text = ""
                else:
                    text = child.text_content
                rel = attributes.get("rel")
                if text is not None and (child is None or child.next is None) and is_as_kept(text, longest):
                    if not rel:
                        links.append(f"a@href\x1f{reference}\x1f{stripped(text)}\x1f")
                        continue
                    if is_as_kept(rel, longest):
                        links.append(f"a@href\x1f{reference}\x1f{stripped(text)}\x1f{stripped(rel).lower()}")
                        continue
        yield node, <object>element, attributes


cdef bint has_no_part(str reference) noexcept:
    """Return whether a reference lacks the sign that parts the fields of a link."""
    if PyUnicode_IS_COMPACT_ASCII(reference):
        return memchr(PyUnicode_1BYTE_DATA(reference), 0x1F, len(reference)) is NULL
    return "\x1f" not in reference


cdef bint is_as_kept(str text, Py_ssize_t longest):
    """Return whether a text is kept as it is, but for a blank at its ends."""
    cdef Py_ssize_t place, size = len(text)
    cdef const unsigned char *signs
    if size > longest:
        return False
    if not PyUnicode_IS_COMPACT_ASCII(text):
        return "  " not in text and text.isprintable()
    signs = PyUnicode_1BYTE_DATA(text)
    for place in range(size):
        if not 0x20 <= signs[place] < 0x7F or signs[place] == 0x20 == signs[place + 1]:  # behind the last stands a NUL
            return False
    return True


cdef str stripped(str text):
    """Return a text without the blank at its ends."""
    cdef Py_ssize_t size = len(text)
    if size and (PyUnicode_READ_CHAR(text, 0) == 0x20 or PyUnicode_READ_CHAR(text, size - 1) == 0x20):
        return text.strip(" ")
    return text
