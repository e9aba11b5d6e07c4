"""Any file is read as a list of takedowns or refused; a written list is read back unchanged."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.errors import SealError, UsageError
from arclink.model import Forgotten, Span, Surt, Timestamp
from arclink.store.protocols import Takedown
from arclink.store.takedown_files import (
    format_takedowns,
    import_takedowns,
    read_takedowns,
    takedown_digest,
)
from tests.store.memory_store import MemoryStore

texts = st.text(max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | texts,
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
rows = st.dictionaries(
    st.sampled_from(["prefix", "from", "to", "targets", "reason", "time"]),
    json_values | st.sampled_from(["2010", "2011"]),
)
spans = st.sampled_from(
    [
        Span(),
        Span(Timestamp("20100101000000")),
        Span(last=Timestamp("20101231235959")),
        Span(Timestamp("20100000000000"), Timestamp("20109999999999")),
    ]
)
takedowns = st.builds(
    Takedown,
    st.builds(Forgotten, st.text(min_size=1, max_size=8).map(Surt), spans, st.booleans()),
    texts,
    texts,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("takedowns") / "list.jsonl"


@settings(deadline=None)
@given(st.lists(takedowns, max_size=4))
def test_what_is_written_reads_back(path: Path, takedowns: list[Takedown]) -> None:
    path.write_bytes(format_takedowns(takedowns))
    assert read_takedowns(path) == takedowns


@settings(deadline=None)
@given(
    st.binary(max_size=60)
    | st.lists(rows, max_size=3).map(lambda found: b"\n".join(map(orjson.dumps, found)))
)
def test_any_file_is_a_list_or_refused(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        found = import_takedowns(path)
    except (UsageError, SealError):
        return
    assert all(takedown.what.prefix for takedown in found)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b'{"prefix":"a","fpom":"2010","time":""}\n', "line 1: unknown keys: 'fpom'"),
        (
            b'{"prefix":"a","time":""}\n{"prefix":"a","time":"","from":"2011","to":"2010"}',
            "line 2: from 20110101000000 is after to 20101231235959",
        ),
        (format_takedowns([])[:-1], "is damaged"),
    ],
)
def test_a_list_is_not_imported_in_part(path: Path, data: bytes, words: str) -> None:
    path.write_bytes(data)
    with pytest.raises((UsageError, SealError), match=words):
        import_takedowns(path)


def test_each_takedown_changes_the_digest() -> None:
    store = MemoryStore()
    digests = [takedown_digest(store)]
    for prefix in ("org,example)/", "com,example)/"):
        store.forget(Takedown(Forgotten(Surt(prefix)), "of the owner", "2026-11-21T20:00:00Z"))
        digests.append(takedown_digest(store))
    assert digests[0] == ""
    assert len(set(digests)) == 3


def test_a_list_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(b'\xef\xbb\xbf{"prefix":"org,a)/","time":"now"}\n')
    assert import_takedowns(tmp_path / "list") == [Takedown(Forgotten(Surt("org,a)/")), "", "now")]
