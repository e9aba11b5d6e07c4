"""Small histories of a store, after each step of which the relations must show it."""

from collections.abc import Mapping, Sequence

from arclink.checksums import checksum_of_reference
from arclink.model import (
    ALL_TIME,
    Forgotten,
    Kind,
    Memento,
    Outlink,
    Scope,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from tests.store.graphs import PayloadTruth, checksum_of, memento

A, B, C = (UriR(f"http://example.org/{name}") for name in "abc")
SAME_SURT = UriR("http://www.example.org/a")
ODD = UriR("HTTP://Example.org:80/Odd page#part")
"""A URI that relations show in another form."""

EARLY, MIDDLE, LATE = (Timestamp(f"{year}0101000000") for year in (2010, 2011, 2012))
ONE, OTHER, LOCAL = (checksum_of(name) for name in ("p1", "p2", "p3"))


def _links(*targets: str) -> tuple[Outlink, ...]:
    return tuple(Outlink(UriR(target), Kind("a@href"), "text", None) for target in targets)


_UNWANTED = "http://unwanted.example/"
TRUTHS = {
    ONE: PayloadTruth(
        ONE, Scope.NONE, True, _links("http://t.example/1", _UNWANTED, "http://t.example/2"), "One"
    ),
    OTHER: PayloadTruth(
        OTHER, Scope.NONE, True, _links(_UNWANTED, f"{_UNWANTED}2", "http://t.example/3"), "Other"
    ),
    LOCAL: PayloadTruth(LOCAL, Scope.DOCUMENT, True, _links("http://t.example/4"), "Local"),
}
"""What is in the payloads. The links of `LOCAL` lead elsewhere from each page."""


def _page(uri: str, time: str, checksum: str, kind: str = "response", file: str = "a") -> Memento:
    return memento(uri, time, checksum, kind, f"{file}.warc.gz", 7, 100)


def _repeats(uri: str, time: str, named: Timestamp | None) -> Memento:
    """Return a revisit that names a capture of its URI; None for the last one before it."""
    return _page(uri, time, checksum_of_reference(UriR(uri), named), "revisit")


def _from(prefix: str, span: Span = ALL_TIME) -> Forgotten:
    return Forgotten(Surt(prefix), span)


_FIRST_YEAR = Span(Timestamp("20100101000000"), Timestamp("20101231235959"))

CASES: Mapping[str, Sequence[Sequence[Memento] | Forgotten]] = {
    "a payload is read in a later batch": [
        [_page(A, EARLY, ONE, "revisit"), _page(B, EARLY, LOCAL, "revisit")],
        [_page(C, LATE, ONE), _page(C, LATE, LOCAL)],
    ],
    "a payload is read in a later batch from a page of the same SURT at the same time": [
        [_page(A, EARLY, ONE, "revisit")],
        [_page(SAME_SURT, EARLY, ONE)],
    ],
    "a known payload is captured at another page": [
        [_page(A, EARLY, ONE), _page(A, EARLY, LOCAL)],
        [_page(B, LATE, ONE, "revisit"), _page(ODD, LATE, LOCAL, "revisit")],
    ],
    "a revisit names a capture of a later batch": [
        [_repeats(A, MIDDLE, EARLY), _page(B, EARLY, OTHER)],
        [_page(A, EARLY, ONE)],
    ],
    "a revisit names no capture, and another one comes before it": [
        [_page(A, EARLY, ONE), _repeats(A, LATE, None)],
        [_page(B, EARLY, OTHER)],
        [_page(A, MIDDLE, OTHER)],
    ],
    "a revisit names a capture whose payload is read in a later batch": [
        [_page(A, EARLY, ONE, "revisit"), _repeats(A, LATE, EARLY)],
        [_page(B, LATE, ONE)],
    ],
    "the capture that a revisit names is forgotten": [
        [_page(A, EARLY, ONE), _repeats(A, MIDDLE, EARLY), _page(B, EARLY, ONE)],
        _from("org,example)/a", _FIRST_YEAR),
    ],
    "a revisit that names no capture shows an earlier one after a takedown": [
        [_page(A, EARLY, ONE), _page(A, MIDDLE, OTHER), _repeats(A, LATE, None)],
        _from("org,example)/a", Span(MIDDLE, MIDDLE)),
    ],
    "a revisit of another page is no reason to write captures again": [
        [_page(A, EARLY, ONE), _repeats(A, MIDDLE, EARLY), _page(B, EARLY, OTHER)],
        _from("org,example)/b"),
    ],
    "a later batch has a better copy": [
        [_page(A, EARLY, ONE, file="b"), _page(B, EARLY, OTHER)],
        [_page(A, EARLY, ONE, file="a")],
    ],
    "a page is forgotten whose content another page has": [
        [_page(A, EARLY, ONE), _page(B, EARLY, ONE)],
        _from("org,example)/a"),
    ],
    "a page is forgotten with its content": [
        [_page(A, EARLY, ONE), _page(B, EARLY, OTHER)],
        [_page(C, LATE, LOCAL)],
        _from("org,example)/a"),
    ],
    "one of the captures of a page is forgotten": [
        [_page(A, EARLY, ONE), _page(A, MIDDLE, OTHER), _page(B, EARLY, LOCAL)],
        _from("org,example)/a", _FIRST_YEAR),
    ],
    "links to a page are forgotten, and those after them move up": [
        [_page(A, EARLY, ONE)],
        [_page(B, EARLY, OTHER)],
        [_page(C, EARLY, LOCAL)],
        Forgotten(Surt("example,unwanted"), has_targets=True),
    ],
    "everything is forgotten, and a batch follows": [
        [_page(A, EARLY, ONE)],
        _from("org,example"),
        [_page(B, EARLY, OTHER)],
    ],
    "a takedown is in force when a batch comes": [
        [_page(A, EARLY, ONE), _page(B, EARLY, OTHER)],
        _from("org,example)/a"),
        [_page(A, LATE, ONE), _page(C, LATE, LOCAL)],
    ],
    "many batches": [
        [
            _page(f"http://example.org/{number}", EARLY, ONE),
            _page(A, f"201{number}0101000000", LOCAL),
        ]
        for number in range(6)
    ],
}
