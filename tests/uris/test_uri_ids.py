"""URI-IDs, one by one and in bulk, compared with the ``simhash`` package and test vectors."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arclink.model import Surt
from arclink.uris import uri_ids as module
from arclink.uris.surts import surt_of
from arclink.uris.uri_ids import uri_id, uri_ids

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
    assert uri_id(Surt(surt)) == expected


def test_the_vectors_hold_in_bulk() -> None:
    assert uri_ids([Surt(surt) for _, surt, _ in VECTORS]) == [
        expected for _, _, expected in VECTORS
    ]


SURTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.text("ab/,)", max_size=300),
    st.builds(
        "".join,
        st.lists(st.sampled_from(["org,example)/", "a/b/", "?x=1", "ü", "x" * 60]), max_size=8),
    ),
).map(Surt)


@given(st.lists(SURTS, max_size=6))
@example([Surt("x" * length) for length in (0, 1, 3, 4, 5, 47, 48, 238, 239, 240, 241, 700)])
@example([Surt("a" * 239), Surt("ab" * 119), Surt("abcd" * 59)])
def test_ids_in_bulk_are_those_one_by_one(surts: list[Surt]) -> None:
    assert uri_ids(surts) == [uri_id(surt) for surt in surts]


def test_ids_do_not_depend_on_chunks_and_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    surts = [Surt(f"org,example)/{number * 7919}/{'x' * (number % 250)}") for number in range(100)]
    expected = [uri_id(surt) for surt in surts]
    monkeypatch.setattr(module, "_CHUNK", 100)
    monkeypatch.setattr(module, "_MAX_CACHED_GRAMS", 10)
    monkeypatch.setattr(module, "_cached_grams", {})
    assert uri_ids(surts) == expected
    assert len(module._cached_grams) <= 10


def test_spider_traps_have_ids_of_their_own() -> None:
    traps = [
        Surt("com,example)/" + "a/b/" * repeats + end)
        for repeats in range(1, 50)
        for end in ("", "1", "2", "c")
    ]
    assert len(set(uri_ids(traps))) == len(traps)


def test_near_surts_have_near_ids() -> None:
    near, far = (
        [
            int(one, 16)
            for one in uri_ids([Surt("org,example)/a/long/path/to/a/page.html"), Surt(other)])
        ]
        for other in ("org,example)/a/long/path/to/a/page2.html", "de,beispiel)/ganz/woanders?x=1")
    )
    assert (near[0] ^ near[1]).bit_count() < 40 < (far[0] ^ far[1]).bit_count()
