"""Document frequencies of terms, compared with plain sets, and the file that stores them."""

from collections import defaultdict
from collections.abc import Callable
from math import log10
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.analysis import frequencies
from arclink.analysis.frequencies import FrequencyFile, Term, count_frequencies, hash_of
from arclink.analysis.slices import Level
from arclink.files import spill
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

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
    st.builds("http://{}{}".format, st.sampled_from(HOSTS), st.sampled_from(["/", "/x", "/y/z"])),
    st.just("mailto:a@a.example"),
)
texts = st.sampled_from(["", "Home", "home page", "Next >>", "開会式", "the page"])


def refuse(text: str) -> None:
    pytest.fail(text)


pages = st.builds(
    Page,
    st.sampled_from(["http://p.example/", "http://q.example/"]),
    st.sampled_from(["20100101000000", "20100201000000", "20100301000000"]),
    st.none() | st.lists(st.builds(link, targets, texts), max_size=8).map(tuple),
)


@pytest.mark.costly
@settings(max_examples=120, deadline=None)
@given(
    archive=st.lists(pages, max_size=6, unique_by=lambda page: (page.original, page.timestamp)),
    level=st.sampled_from(Level),
    term=st.sampled_from(Term),
    rows=st.sampled_from([1, 3, 1000]),
)
def test_frequencies_are_those_of_plain_sets_for_any_number_of_rows_in_memory(
    archive: list[Page], level: Level, term: Term, rows: int
) -> None:
    documents: dict[str, set[str]] = defaultdict(set)
    for page in archive:
        for one in page.links or ():
            documents[level.name_of(surt_of(one.target))].update(term.of(one.text))
    documents.pop("", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "MEMORY", rows * 16)
        found = count_frequencies(MemoryStore(archive), level, term)
    expected = {
        hash_of(one): sum(one in of_document for of_document in documents.values())
        for one in set().union(*documents.values())
    }
    assert found.documents == sum(1 for of_document in documents.values() if of_document)
    assert dict(zip(found.hashes.tolist(), found.counts.tolist(), strict=True)) == expected
    assert found.hashes.tolist() == sorted(expected)


PAGES = [
    Page(
        "http://p.example/",
        "20100101000000",
        [link("http://a.example/", "Home"), link("http://b.example/", "Winter games")],
    ),
    Page(
        "http://q.example/",
        "20100201000000",
        [link("http://b.example/", "home"), link("http://c.example/x", "Winter")],
    ),
    Page(
        "http://q.example/",
        "20100301000000",
        [link("http://www.c.example/y", "Winter"), link("http://d.example/", "")],
    ),
]


def test_tf_idf_is_count_times_log_of_documents_by_documents_with_the_term() -> None:
    words = count_frequencies(MemoryStore(PAGES), Level.HOST, Term.WORD)
    assert (
        words.documents,
        words.of("home"),
        words.of("winter"),
        words.of("games"),
        words.of("never"),
    ) == (3, 2, 2, 1, 0)
    assert words.tf_idf(4, "home") == pytest.approx(4 * log10(3 / 2))
    whole = count_frequencies(MemoryStore(PAGES), Level.URI, Term.TEXT)
    assert (
        whole.documents,
        whole.of("home"),
        whole.of("Home"),
        whole.of("Winter"),
        whole.of(""),
    ) == (4, 1, 1, 2, 0)


def test_a_term_that_every_target_has_weighs_nothing() -> None:
    store = MemoryStore(
        [
            Page(
                "http://p.example/",
                "20100101000000",
                [link(f"http://{host}.example/", "Home") for host in "abc"],
            )
        ]
    )
    assert count_frequencies(store, Level.HOST, Term.TEXT).tf_idf(17, "Home") == 0


def test_the_file_is_used_until_the_store_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        pytest.param(
            lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], id="a flipped bit"
        ),
    ],
)
def test_an_unusable_file_is_written_again(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    kept = FrequencyFile(tmp_path, MemoryStore(PAGES), Level.URI, Term.TEXT)
    kept.read_or_count(refuse)
    whole = kept.path.read_bytes()
    kept.path.write_bytes(damage(whole))
    assert kept.read_or_count(refuse).documents == 4
    assert kept.path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_gives_a_warning_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    messages: list[str] = []
    assert (
        FrequencyFile(tmp_path / "file", MemoryStore(PAGES), Level.URI, Term.TEXT)
        .read_or_count(messages.append)
        .documents
        == 4
    )
    assert "cannot be written" in messages[0]
