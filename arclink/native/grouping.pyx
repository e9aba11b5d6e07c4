# cython: language_level=3, boundscheck=False, wraparound=False
"""Contents by block and position become numbers of a store: see `arclink.store.grouping`."""


def groups_of(list links, dict blocks, bint has_repeats, object packed_head):
    """Do what the function of this name in `arclink.store.grouping` does."""
    cdef list heads = [], counts = [], numbers = [], of_head
    cdef list link, sources, source
    cdef Py_ssize_t before
    for link in links:
        kind, text, rel, sources = link
        of_head = [] if has_repeats else numbers
        before = len(of_head)
        try:
            for source in sources:
                name, positions = source
                add_numbers(of_head, blocks[name], positions)
        except (KeyError, IndexError, OverflowError) as error:  # the last: there is no number as large as that in C
            raise LookupError(", ".join([name for name, _ in sources])[:200]) from error
        if has_repeats:
            of_head = sorted(set(of_head).difference((-1,)))
            numbers += of_head
        if len(of_head) == before:
            continue
        if packed_head is not None:
            heads.append(packed_head(kind, text, rel))
        elif rel is None:
            heads.append(f"{kind}\t{text}")
        else:
            heads.append(f"{kind}\t{text}\t{rel}")
        counts.append(len(of_head) - before)
    return heads, counts, numbers


cdef int add_numbers(list numbers, object block, list positions) except -1:
    """Add the numbers of the contents at some positions of a block, which is a list, or a range of consecutive numbers."""
    cdef Py_ssize_t position, first, size = len(block)
    if isinstance(block, range):
        first = block.start
        for position in positions:
            if not 0 <= position < size:
                raise IndexError(f"there is no position {position}")
            numbers.append(first + position)
    else:
        for position in positions:
            if not 0 <= position < size:
                raise IndexError(f"there is no position {position}")
            numbers.append((<list?>block)[position])
    return 0
