# cython: language_level=3
"""Inlinks of a row: see `arclink.store.relations`."""

from libc.stdint cimport int64_t

from arclink.native.packing import unpack_few


def unpack_postings(packed_counts, packed_steps, int64_t first, Py_ssize_t heads):
    """Do what the function of this name in `arclink.store.relations` does."""
    cdef list counts = unpack_few(packed_counts), steps = unpack_few(packed_steps), postings = []
    cdef Py_ssize_t head, count, step = 0
    cdef int64_t number
    if len(counts) != heads or sum(counts) != len(steps) or 0 in counts:
        raise ValueError(f"inlinks of {heads} heads have {len(counts)} counts, of {sum(counts)} numbers {len(steps)}, or a head has none")
    for head in range(heads):
        number = first
        for count in range(counts[head]):
            number += <int64_t>steps[step]
            step += 1
            postings.append((number, head))
    postings.sort()
    return postings
