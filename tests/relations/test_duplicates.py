"""``arclink stats --duplicates``: pages that stayed the same, and the bytes of their copies."""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import arclink
from arclink.captures.subsets.catalog import open_graph
from arclink.checksums import EMPTY_CHECKSUMS, is_reference
from arclink.cli.main import group
from arclink.errors import UsageError
from arclink.model import Memento
from arclink.store.location import open_store
from arclink.store.protocols import Scans
from arclink.uris.resolution import checksum_of, serialised
from tests.captures.archives import T1, T2, T3, Record, store_of
from tests.demos import Demos
from tests.relations.capture_pairs import PAIRS, SAME, URI, revisit


def run(store: Path, *options: str) -> Result:
    return CliRunner().invoke(group, ["stats", "--store", str(store), "--duplicates", *options])


def total_of(store: Path, *options: str) -> dict[str, Any]:
    total: dict[str, Any] = json.loads(run(store, "--json", *options).stdout)["total"]
    return total


def payload_of(store: Scans, memento: Memento) -> str | None:
    """Return the payload that a capture shows, as far as it is known."""
    if is_reference(memento.checksum):
        content = store.content_of(memento)
        return None if content is None else checksum_of(content)
    if memento.record_type == "revisit" and memento.checksum in EMPTY_CHECKSUMS:
        return None
    return None if memento.checksum == "-" else memento.checksum


def counted_one_by_one(store: Scans) -> Counter[str]:
    counts: Counter[str] = Counter()
    of_uri: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    full: dict[str, list[tuple[str, str, str, int, int]]] = defaultdict(list)
    for memento in store.scan_mementos():
        payload, size = payload_of(store, memento), max(memento.length, 0)
        is_revisit = memento.record_type == "revisit"
        uri = serialised(memento.original)
        of_uri[memento.surt, uri].append((memento.timestamp, payload or ""))
        counts += Counter(captures=1, revisits=is_revisit, bytes=size, unknown_payloads=not payload)
        if payload and not is_revisit:
            full[payload].append(
                (memento.timestamp, memento.surt, memento.file, memento.offset, size)
            )
    for captures in of_uri.values():
        captures.sort(key=lambda capture: (capture[0], capture[1] or "~"))
        counts["first"] += 1
        for (_, before), (_, payload) in pairwise(captures):
            word = "unknown" if not (before and payload) else "same" if before == payload else ""
            counts[word or "changed"] += 1
    for copies in full.values():
        counts["saved_bytes"] += sum(size for *_, size in sorted(copies)[1:])
    return counts


def check(store: Scans, total: dict[str, Any]) -> None:
    expected = counted_one_by_one(store)
    assert {name: total[name] for name in expected} == dict(expected)
    assert total["captures"] == sum(total[name] for name in ("first", "same", "changed", "unknown"))


def test_counts_are_those_of_the_captures_one_by_one(demos: Demos) -> None:
    path = demos.store()
    with open_store(str(path)) as store:
        check(store, total_of(path))
    with open_graph(str(path), "status:200") as subset:
        total = total_of(path, "--subset", "status:200")
        check(subset, total)
    assert 0 not in (total["same"], total["changed"], total["saved_bytes"])


def test_counts_of_real_archives(demos: Demos, shared_data: Path) -> None:
    path = demos.real(shared_data / "flink_web")
    with open_store(str(path)) as store:
        check(store, total_of(path))


@pytest.fixture(name="store_of_pairs", scope="module")
def store_of_all_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    records = [
        replace(record, uri=f"http://{name}.example/")
        for name, (_, *pair) in PAIRS.items()
        for record in pair
    ]
    return store_of(tmp_path_factory.mktemp("pairs"), records)


@pytest.mark.parametrize("name", PAIRS)
def test_a_capture_is_compared_with_the_one_before(store_of_pairs: Path, name: str) -> None:
    total = total_of(store_of_pairs, "--subset", f"host:{name}.example")
    compared = {name: total[name] for name in ("first", "same", "changed", "unknown")}
    assert compared == {"first": 1, "same": 0, "changed": 0, "unknown": 0, PAIRS[name][0]: 1}


def test_one_copy_of_each_payload_is_kept(tmp_path: Path) -> None:
    """The first full record is kept; a revisit is one already, and saves nothing again."""
    records = [
        revisit(T1),
        Record(URI, T2, SAME),
        Record(URI, T3, SAME),
        Record("http://b.example/", T3, SAME),
    ]
    store = store_of(tmp_path, records, "crawl.warc")
    with open_store(str(store)) as opened:
        sizes = [memento.length for memento in opened.scan_mementos()]
    total = total_of(store)
    assert total["bytes"] == sum(sizes)
    assert (total["revisits"], total["revisit_bytes"]) == (1, sizes[0])
    assert total["saved_bytes"] == sizes[2] + sizes[3]
    assert total["payloads"] == 1


def test_periods_are_months_or_years_as_the_captures_need(tmp_path: Path) -> None:
    def periods(second: str) -> list[str]:
        store = store_of(tmp_path / second, [Record(URI, T1, SAME), Record(URI, second, SAME)])
        rows = json.loads(run(store, "--json").stdout)["periods"]
        return [row["period"] for row in rows if row["captures"] == 1]

    assert periods("20111215000000") == ["2010-01", "2011-12"]
    assert periods(T3) == ["2010", "2012"]


def test_the_table_says_the_total_in_words(tmp_path: Path) -> None:
    bare = Record(URI, T3, SAME, fields={"WARC-Payload-Digest": f"md5:{'0' * 32}"})
    store = store_of(tmp_path, [Record(URI, T1, SAME), Record(URI, T2, SAME), bare])
    lines = run(store).stdout.splitlines()
    assert lines[:3] == [
        "3 captures of 1 URI",
        "1 of 1 captures have the payload of the one before (100.0%)",
        "1 more may have it: one of the two payloads is unknown",
    ]
    assert lines[3].startswith("One copy of each payload would save ")
    assert lines[5].split()[:3] == ["period", "captures", "first"]


def test_python_has_the_rows_of_the_command(demos: Demos, tmp_path: Path) -> None:
    store = demos.copy(tmp_path)
    words = ["stats", "--store", str(store), "--duplicates", "--json", "--subset", "from:2010"]
    done = CliRunner().invoke(group, words)
    expected = json.loads(done.stdout)
    with arclink.open(store) as graph:
        found = graph.subset("from:2010").duplicates()
        assert [*found] == expected["periods"]
        assert found.about == {"total": expected["total"]}
        assert found.to_pandas()["first"].sum() == expected["total"]["first"]
        assert found.provenance is not None
        assert found.provenance.as_fields() == expected["provenance"]
        with pytest.raises(UsageError, match="all times"):
            graph.at("2010").duplicates()
