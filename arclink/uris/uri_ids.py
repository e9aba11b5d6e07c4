"""URI-ID: the 128-bit SimHash of a SURT. Near SURTs have near ids; an id alone is not unique.

Features, each with the MD5 of its UTF-8 bytes:

- every 4-gram of characters, weight 1, repetitions counted; a SURT of less than 4 characters counts
  as one gram;
- the whole SURT, weight ``max(3, number of grams // 12)``: it distinguishes SURTs with the same
  grams (spider traps).

A bit is 1 if more than half of the total weight has it. The scanner ``arclink/native/uri_ids.pyx``
computes this for *plain* SURTs, which are ASCII and not long. The ``simhash`` package does it for
all others, and for every SURT if the scanner is not compiled. Tests compare the two.

Source: Manku, Jain, Das Sarma: Detecting near-duplicates for web crawling (2007); paper, 3.2.1;
``docs/explanation/data-model.md``.
"""

from hashlib import md5

from arclink.model import Surt, UriId
from arclink.native import native

_BITS = 128
_GRAM = 4

_MAX_PORTION = 50  # the package sums weights of one portion in 8 bits


def uri_id(surt: Surt) -> UriId:
    """Return the URI-ID of a SURT.

    >>> uri_id(Surt("org,example)/"))
    'fb4a7b9c51df6d3456494a0746454edb'
    """
    return UriId(packed_id(surt).hex())


def packed_id(surt: Surt) -> bytes:
    """Return the URI-ID of a SURT as 16 bytes."""
    return plain_id(surt) or _by_package(surt)


@native("uri_ids")
def plain_id(surt: str) -> bytes | None:
    """Return the URI-ID of a plain SURT as 16 bytes; None if the package is needed.

    Without the compiled module, every SURT needs the package: 50 to 200 µs.
    """
    return None


def _by_package(surt: str) -> bytes:
    # Here, because it imports NumPy, which most commands do not need.
    from simhash import Simhash  # type: ignore[import-untyped]

    grams = [surt[start : start + _GRAM] for start in range(max(len(surt) - _GRAM + 1, 1))]
    features = [(gram, 1) for gram in grams]
    weight = max(3, len(grams) // 12)
    features += [
        (surt, min(_MAX_PORTION, weight - done)) for done in range(0, weight, _MAX_PORTION)
    ]
    value: int = Simhash(features, f=_BITS, hashfunc=_md5).value
    return value.to_bytes(_BITS // 8)


def _md5(feature: bytes) -> bytes:
    return md5(feature, usedforsecurity=False).digest()
