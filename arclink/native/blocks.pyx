# cython: language_level=3, wraparound=False
"""Blocks of contents: see `arclink.graph.blocks`."""


def positions(list lists, Py_ssize_t links):
    """Do what the function of this name in `arclink.graph.blocks` does."""
    cdef list found = [[] for _ in range(links)], of_link, numbers
    cdef Py_ssize_t position, number
    cdef object place
    for position in range(len(lists)):
        numbers = lists[position]
        place = position
        for number in numbers:
            of_link = found[number]
            if not of_link or of_link[len(of_link) - 1] is not place:
                of_link.append(place)
    return found
