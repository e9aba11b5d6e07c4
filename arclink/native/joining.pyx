# cython: language_level=3, boundscheck=False, wraparound=False
"""Links as written become links of a block, and its postings: see `arclink.graph.joining`."""

from cpython.dict cimport PyDict_GetItem, PyDict_SetItem
from cpython.object cimport PyObject

from orjson import dumps

from arclink.model import Scope

cdef enum:
    SCOPE_BITS = 3
    SCOPE = 7

cdef int ORIGIN = Scope.ORIGIN, DIRECTORY = Scope.DIRECTORY


def number_links(object written_links, dict codes, dict number_of, list links, object of_origin, object of_directory, object follow):
    """Do what the function of this name in `arclink.graph.joining` does."""
    cdef dict origin_links = of_origin.links, directory_links = of_directory.links
    cdef dict origin_targets = of_origin.targets, directory_targets = of_directory.targets
    cdef list numbers = [], refused = []
    cdef str written, kind, reference, text, rel
    cdef bytes head, json
    cdef tuple link, target
    cdef PyObject *found
    cdef Py_ssize_t number
    cdef long code
    cdef int scope, widest = 0
    for written in written_links:
        found = PyDict_GetItem(codes, written)
        if found:
            code = <object>found
        else:
            found = PyDict_GetItem(origin_links, written) or PyDict_GetItem(directory_links, written)
            if found:
                link = <tuple><object>found
                scope = link[len(link) - 1]
            else:
                kind, reference, text, rel = written.split("\x1f")
                found = PyDict_GetItem(origin_targets, reference) or PyDict_GetItem(directory_targets, reference)
                target = <tuple><object>found if found else follow(reference)
                scope = target[len(target) - 1]
                if len(target) == 2:
                    link = target
                else:
                    json = target[0]
                    head = dumps((kind, text, rel or None))
                    link = b"".join((b"[", json, b",", head[1:])), head[:len(head) - 1], target[1], target[2]
                if scope <= ORIGIN:
                    origin_targets[reference] = target
                    origin_links[written] = link
                elif scope <= DIRECTORY:
                    directory_targets[reference] = target
                    directory_links[written] = link
            if len(link) == 2:
                code = ~<long>link[0]
            else:
                found = PyDict_GetItem(number_of, link[0])
                if found:
                    number = <object>found
                else:
                    number = len(links)
                    PyDict_SetItem(number_of, link[0], number)
                    links.append(link)
                code = number << SCOPE_BITS | scope
            if scope <= ORIGIN:
                codes[written] = code
        if code < 0:
            refused.append(~code)
        else:
            numbers.append(code >> SCOPE_BITS)
            if code & SCOPE > widest:
                widest = code & SCOPE
    return numbers, widest, refused


def hold_postings(dict postings, list links, list positions, bytes name):
    """Do what the function of this name in `arclink.graph.joining` does."""
    cdef dict alone = {}, of_target
    cdef list places, blocks
    cdef tuple link
    cdef bytes posting
    cdef PyObject *found
    cdef Py_ssize_t number
    if len(links) != len(positions):
        raise ValueError(f"{len(links)} links, {len(positions)} lists of positions")
    for number in range(len(links)):
        link = links[number]
        places = positions[number]
        if len(places) == 1:
            found = PyDict_GetItem(alone, places[0])
            if found:
                posting = <bytes><object>found
            else:
                posting = alone[places[0]] = b"[%b,[%d]]" % (name, places[0])
        else:
            posting = b"".join((b"[", name, b",", dumps(places), b"]"))
        found = PyDict_GetItem(postings, link[2])
        if not found:
            postings[link[2]] = {link[1]: [posting]}
            continue
        of_target = <dict><object>found
        found = PyDict_GetItem(of_target, link[1])
        if found:
            blocks = <list><object>found
            blocks.append(posting)
        else:
            of_target[link[1]] = [posting]


def posting_rows(dict postings):
    """Do what the function of this name in `arclink.graph.joining` does."""
    cdef bytes key, head, links
    cdef dict groups
    cdef list blocks, parts
    for key, groups in postings.items():
        parts = []
        for head, blocks in groups.items():
            parts.append(b"".join((head, b",[", b",".join(blocks), b"]]")))
        yield b"".join((key, b"\t[", b",".join(parts), b"]"))
