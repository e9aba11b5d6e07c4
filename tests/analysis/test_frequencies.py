"""In how many documents a term stands: held against plain sets, and what keeps the counts."""

from collections import defaultdict
from collections.abc import Callable
from math import log10
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.analysis import frequencies
from arclink.analysis.frequencies import Counting, FrequencyFile, Term, count_frequencies, documents_of, hash_of
from arclink.analysis.slices import Level
from arclink.model import Surt
from arclink.uris.surts import surt_of
from tests.access.memory_store import MemoryStore, Page, link

HOSTS = [
    "a.example",
    "www.a.example",
    "b.a.example",
    "a.example:8080",
    "a-b.example",
    "ab.example",
    "[::1]",
    "[::1]:81",
    "127.0.0.1",
    "co.uk",
]

targets = st.one_of(
    st.builds("http://{}{}".format, st.sampled_from(HOSTS), st.sampled_from(["/", "/x", "/y/z"])), st.just("mailto:a@a.example")
)
texts = st.sampled_from(["", "Home", "home page", "Next >>", "開会式", "the page"])


def refuse(text: str) -> None:
    pytest.fail(text)


@settings(max_examples=150)
@given(links=st.lists(st.tuples(targets, texts), max_size=25), level=st.sampled_from(Level), term=st.sampled_from(Term))
def test_documents_are_those_of_a_plain_dictionary(links: list[tuple[str, str]], level: Level, term: Term) -> None:
    plain: dict[str, set[int]] = defaultdict(set)
    by_surt: dict[Surt, set[str]] = defaultdict(set)
    for target, text in links:
        by_surt[surt_of(target)].add(text)
        if level.name_of(surt_of(target)):
            plain[level.name_of(surt_of(target))] |= {hash_of(one) for one in term.of(text)}
    found = documents_of(sorted(by_surt.items()), level, term)
    assert sorted(sorted(document) for document in found if document) == sorted(sorted(one) for one in plain.values() if one)


@given(documents=st.lists(st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 20)), max_size=30), buffered=st.integers(1, 9))
def test_counts_are_exact_however_they_are_put_together(documents: list[set[int]], buffered: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequencies, "BUFFERED", buffered)
        counting = Counting()
        for document in documents:
            counting.add(document)
        found = counting.frequencies()
    assert found.documents == sum(1 for document in documents if document)
    expected = {term: sum(term in document for document in documents) for document in documents for term in document}
    assert dict(zip(found.hashes.tolist(), found.counts.tolist(), strict=True)) == expected
    assert found.hashes.tolist() == sorted(expected)


PAGES = [
    Page("http://p.example/", "20100101000000", [link("http://a.example/", "Home"), link("http://b.example/", "Winter games")]),
    Page("http://q.example/", "20100201000000", [link("http://b.example/", "home"), link("http://c.example/x", "Winter")]),
    Page("http://q.example/", "20100301000000", [link("http://www.c.example/y", "Winter"), link("http://d.example/", "")]),
]


def test_tf_idf_is_count_times_log_of_documents_by_documents_with_the_term() -> None:
    words = count_frequencies(MemoryStore(PAGES), Level.HOST, Term.WORD)
    assert (words.documents, words.of("home"), words.of("winter"), words.of("games"), words.of("never")) == (3, 2, 2, 1, 0)
    assert words.tf_idf(4, "home") == pytest.approx(4 * log10(3 / 2))
    whole = count_frequencies(MemoryStore(PAGES), Level.URI, Term.TEXT)
    assert (whole.documents, whole.of("home"), whole.of("Home"), whole.of("Winter"), whole.of("")) == (4, 1, 1, 2, 0)


def test_what_every_target_has_weighs_nothing() -> None:
    store = MemoryStore([Page("http://p.example/", "20100101000000", [link(f"http://{host}.example/", "Home") for host in "abc"])])
    assert count_frequencies(store, Level.HOST, Term.TEXT).tf_idf(17, "Home") == 0


def test_the_file_is_used_until_the_store_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore(PAGES[:1])
    kept = FrequencyFile(tmp_path / "links.db.analysis", store, Level.URI, Term.TEXT)
    first = kept.read_or_count(refuse)
    with monkeypatch.context() as patch:
        patch.setattr(frequencies, "count_frequencies", lambda *_: pytest.fail("counted again"))
        again = kept.read_or_count(refuse)
    assert (again.documents, again.hashes.tolist(), again.counts.tolist()) == (
        first.documents,
        first.hashes.tolist(),
        first.counts.tolist(),
    )
    store.add(PAGES[1:])
    assert kept.read_or_count(refuse).documents == 4
    assert [path.name for path in kept.path.parent.iterdir()] == ["document-frequencies-uri-text"]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:-1], id="cut"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"{}\n" + data, id="another head"),
        pytest.param(lambda data: data.replace(b'"uri"', b'"host"'), id="another level"),
        pytest.param(lambda data: b"\xff" * 5000, id="rubbish"),
    ],
)
def test_a_file_that_cannot_be_used_is_written_anew(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    kept = FrequencyFile(tmp_path, MemoryStore(PAGES), Level.URI, Term.TEXT)
    kept.read_or_count(refuse)
    whole = kept.path.read_bytes()
    kept.path.write_bytes(damage(whole))
    assert kept.read_or_count(refuse).documents == 4
    assert kept.path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_told_and_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    assert FrequencyFile(tmp_path / "file", MemoryStore(PAGES), Level.URI, Term.TEXT).read_or_count(told.append).documents == 4
    assert "cannot be written" in told[0]
