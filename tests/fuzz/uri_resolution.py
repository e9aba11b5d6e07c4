"""Fuzz target: any reference on any page resolves or is refused.

The result is the same on all pages with an equal cut.
"""

from arclink.errors import UriError
from arclink.model import Scope, UriR
from arclink.uris.resolution import Base, class_of, cut
from arclink.uris.surts import surt_of

SEEDS = [
    b"http://a.example/b/c?d\nhttp://a.example/b/e\nx/../y?z#f",
    b"https://user@a.example:8080/b\nhttps://user@a.example:8080/c/\n//b.example/\\x",
    b"file:///C:/x\nfile:///C:/y\n/z",
    b"HTTP://\xc3\xa4.example/\nhttp://xn--4ca.example/\n?\xc3\xbc",
    b"mailto:a@b\nmailto:c\nhttp:x",
]


def check(data: bytes) -> None:
    """Hold two pages and a reference, one a line, against what must be true of all."""
    page, other, reference = [*data.decode("utf-8", "replace").split("\n", 2), "", ""][:3]
    found = _follow(page, reference)
    for uri in (page, other, reference):
        assert isinstance(surt_of(UriR(uri)), str)
    if found is None:
        return
    target, scope = found
    assert "#" not in target
    assert class_of(reference, page.partition(":")[0].lower()) in Scope
    assert surt_of(UriR(target)) is not None
    if cut(UriR(page), scope) == cut(UriR(other), scope):
        assert _follow(other, reference) == found, (page, other, reference)


def _follow(page: str, reference: str) -> tuple[str, Scope] | None:
    try:
        return Base(UriR(page), None).follow(reference)
    except UriError:
        return None
