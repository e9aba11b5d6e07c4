"""URI-IDs, compared with test vectors."""

from pathlib import Path

import pytest

from arclink.model import Surt
from arclink.uris.surts import surt_of
from arclink.uris.uri_ids import _by_package, uri_id

VECTORS = [
    line.split("\t")
    for line in (Path(__file__).parent / "uri-id-vectors.tsv")
    .read_text("utf-8")
    .removesuffix("\n")
    .split("\n")[1:]
]


@pytest.mark.parametrize(
    ("uri", "surt", "expected"), VECTORS, ids=[vector[0][:60] for vector in VECTORS]
)
def test_a_vector_holds(uri: str, surt: str, expected: str) -> None:
    assert surt_of(uri) == surt
    assert uri_id(Surt(surt)) == _by_package(surt).hex() == expected


def test_spider_traps_have_ids_of_their_own() -> None:
    traps = [
        Surt("com,example)/" + "a/b/" * repeats + end)
        for repeats in range(1, 50)
        for end in ("", "1", "2", "c")
    ]
    assert len(set(map(uri_id, traps))) == len(traps)


def test_near_surts_have_near_ids() -> None:
    near, far = (
        [
            int(one, 16)
            for one in map(uri_id, (Surt("org,example)/a/long/path/to/a/page.html"), Surt(other)))
        ]
        for other in ("org,example)/a/long/path/to/a/page2.html", "de,beispiel)/ganz/woanders?x=1")
    )
    assert (near[0] ^ near[1]).bit_count() < 40 < (far[0] ^ far[1]).bit_count()
