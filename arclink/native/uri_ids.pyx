# cython: language_level=3
"""URI-IDs of plain SURTs, for `arclink.uris.uri_ids`.

The ``simhash`` package makes all others. A plain SURT is ASCII, of at least one gram of four
characters, and so short that a counter of its weights takes one byte: a hash of 16 bytes is added as
16 words of eight counters.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from hashlib import md5
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from arclink.native.checked cimport PyUnicode_IS_COMPACT_ASCII, Text, at, text_of_ascii

cdef enum:
    HASH = 16
    SHORTEST = 4
    LONGEST = 239  # 236 grams and the whole with weight 19
    PLACES = 1 << 16

cdef struct Gram:
    uint32_t characters
    unsigned char hash[HASH]

cdef Gram KNOWN[PLACES]  # the last gram of each place
memset(KNOWN, 0, sizeof(KNOWN))
KNOWN[0].characters = 1  # this gram has another place, so the hash of none is known

cdef uint64_t COUNTERS[256]  # the bits of a byte as eight counters, the lowest first
cdef int _byte, _bit
for _byte in range(256):
    COUNTERS[_byte] = 0
    for _bit in range(8):
        COUNTERS[_byte] |= <uint64_t>(_byte >> _bit & 1) << (8 * _bit)


def plain_id(str surt):
    if not PyUnicode_IS_COMPACT_ASCII(surt):
        return None
    cdef Text text = text_of_ascii(surt)
    if not SHORTEST <= text.size <= LONGEST:
        return None
    cdef uint64_t sums[HASH]
    cdef unsigned char found[HASH]
    cdef uint32_t characters = at(text, 0) << 8 | at(text, 1) << 16 | at(text, 2) << 24
    cdef Py_ssize_t last
    cdef int index, bit
    cdef Gram *gram
    memset(sums, 0, sizeof(sums))
    for last in range(SHORTEST - 1, text.size):
        characters = characters >> 8 | <uint32_t>at(text, last) << 24
        gram = &KNOWN[<uint32_t>(characters * <uint32_t>2654435761) >> 16]
        if gram.characters != characters:
            hash_into(gram.hash, surt[last - 3 : last + 1])
            gram.characters = characters
        for index in range(HASH):
            sums[index] += COUNTERS[gram.hash[index]]
    cdef int grams = text.size - (SHORTEST - 1)
    cdef int weight = max(3, grams // 12)
    hash_into(found, surt)
    for index in range(HASH):
        sums[index] += weight * COUNTERS[found[index]]
        found[index] = 0
        for bit in range(8):
            found[index] |= ((sums[index] >> (8 * bit) & 255) > (grams + weight) // 2) << bit
    return found[:HASH]


cdef int hash_into(unsigned char *hash, str feature) except -1:
    """Write the MD5 of a feature."""
    cdef bytes digest = md5(feature.encode("ascii"), usedforsecurity=False).digest()
    memcpy(hash, PyBytes_AS_STRING(digest), HASH)
    return 0
