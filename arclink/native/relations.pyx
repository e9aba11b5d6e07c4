# cython: language_level=3, boundscheck=False, wraparound=False
"""Inlinks of a row: see `arclink.store.relations`."""

from libc.stdint cimport int64_t


def unpack_postings(const unsigned char[::1] packed_counts, const unsigned char[::1] packed_steps, int64_t first, Py_ssize_t heads):
    """Do what the function of this name in `arclink.store.relations` does."""
    cdef list postings = []
    cdef Py_ssize_t counts = 0, steps = 0, place
    cdef int64_t left, number
    for place in range(heads):
        left = next_number(packed_counts, &counts)
        if not left:
            raise ValueError("a head of inlinks has none")
        number = first
        while left > 0:
            left -= 1
            number += next_number(packed_steps, &steps)
            postings.append((number, place))
    if counts < len(packed_counts) or steps < len(packed_steps):
        raise ValueError(f"inlinks of {heads} heads: there are more counts or steps than that")
    postings.sort()
    return postings


cdef int64_t next_number(const unsigned char[::1] packed, Py_ssize_t *place) except? -1:
    """Return the number that begins at a place, and go on behind it."""
    cdef int64_t number = 0
    cdef int shift = 0
    while place[0] < len(packed):
        number |= <int64_t>(packed[place[0]] & 127) << shift
        place[0] += 1
        if packed[place[0] - 1] < 128:
            return number
        shift = shift + 7 if shift < 56 else 56
    raise ValueError("a row of inlinks ends within its numbers")
