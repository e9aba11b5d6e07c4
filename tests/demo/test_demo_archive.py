"""The files of the demo archive are valid WARC, and the same seed gives the same files."""

import hashlib
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from surt import surt  # type: ignore[import-untyped]

from arclink.demo import write_demo_archive
from arclink.errors import OperatorError, UsageError
from tests.demo.conftest import Archive, read_records, read_truths

ROOT = Path(__file__).resolve().parents[2]

TRUTH_OF_SEED_7 = "1c8f286b53074f165189c9978c4760dedec49c559826d95fa779594430136d72"
"""SHA-256 of the truth of 150 captures, 5 hosts, seed 7. It changes with the generator only, never
with Python or zlib.
"""


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_same_arguments_give_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    write_demo_archive(tmp_path / "here", 150, 5, 7)
    call = (
        "import sys, pathlib, arclink.demo as demo; "
        "demo.write_demo_archive(pathlib.Path(sys.argv[1]), 150, 5, 7)"
    )
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "4711",
        "TZ": "Asia/Tokyo",
        "PYTHONPATH": str(ROOT),
    }
    subprocess.run(
        [sys.executable, "-c", call, str(tmp_path / "there")],
        check=True,
        env=environment,
        cwd=tmp_path,
    )
    assert bytes_of(tmp_path / "here") == bytes_of(tmp_path / "there")


def test_truth_is_the_same_everywhere(tmp_path: Path) -> None:
    summary = write_demo_archive(tmp_path, 150, 5, 7)
    assert hashlib.sha256(summary.truth.read_bytes()).hexdigest() == TRUTH_OF_SEED_7


def test_another_seed_gives_another_archive(tmp_path: Path) -> None:
    one, two = (write_demo_archive(tmp_path / str(seed), 150, 5, seed) for seed in (1, 2))
    assert one.truth.read_bytes() != two.truth.read_bytes()


def test_no_file_holds_a_time_in_its_gzip_headers(archive: Archive) -> None:
    for path in archive.summary.files:
        assert path.read_bytes()[4:8] == bytes(4)


def test_files_begin_with_their_warcinfo_and_have_other_records_between_captures(
    archive: Archive,
) -> None:
    names = [
        seen.headers["warc-filename"] for seen in archive.records if seen.record_type == "warcinfo"
    ]
    assert names == [path.name for path in archive.summary.files]
    assert len(names) >= 4
    for number in range(len(names)):
        types = [seen.record_type for seen in archive.records if seen.file == number]
        assert types[0] == "warcinfo"
        assert {"request", "metadata", "response"} <= set(types)
        assert any(seen.uri.startswith("dns:") for seen in archive.records if seen.file == number)


def test_record_ids_are_distinct(archive: Archive) -> None:
    ids = [seen.headers["warc-record-id"] for seen in archive.records]
    assert len(set(ids)) == len(ids)


def test_captures_are_in_order_of_time(archive: Archive) -> None:
    times = [truth.timestamp for truth in archive.truths]
    assert times == sorted(times)


def test_truth_has_one_line_per_capture_in_their_order(archive: Archive) -> None:
    assert [
        (seen.uri, seen.timestamp, seen.status, seen.record_type) for seen, _ in archive.captures
    ] == [
        (truth.original, truth.timestamp, truth.status, truth.record_type)
        for truth in archive.truths
    ]


def test_no_memento_comes_twice(archive: Archive) -> None:
    keys = Counter(
        (surt(seen.uri), seen.timestamp, seen.uri, seen.digest) for seen, _ in archive.captures
    )
    assert max(keys.values()) == 1


def test_summary_counts_what_is_there(archive: Archive) -> None:
    summary = archive.summary
    assert summary.captures == 300 == len(archive.captures)
    assert summary.originals == len({truth.original for truth in archive.truths})
    assert summary.links == sum(len(truth.links or ()) for truth in archive.truths)
    assert summary.bytes == sum(path.stat().st_size for path in summary.files)


@pytest.mark.parametrize("captures", [1, 2, 18, 19, 20, 133, 134, 135, 301])
def test_captures_are_as_many_as_asked_for(tmp_path: Path, captures: int) -> None:
    summary = write_demo_archive(tmp_path, captures, 2, 3)
    assert summary.captures == captures == len(list(read_truths(summary.truth)))
    assert captures == sum(seen.is_capture for seen in read_records(summary.files))
    assert summary.example_uri in {truth.original for truth in read_truths(summary.truth)}


def test_revisited_payloads_are_in_the_archive_when_their_links_are_known(tmp_path: Path) -> None:
    summary = write_demo_archive(tmp_path, 2_000, 9, 5)
    captures = zip(
        (seen for seen in read_records(summary.files) if seen.is_capture),
        read_truths(summary.truth),
        strict=True,
    )
    rows = [(seen.record_type, seen.digest, truth) for seen, truth in captures]
    payloads = {digest for record_type, digest, _ in rows if record_type == "response"}
    lost = [
        truth.original
        for record_type, digest, truth in rows
        if record_type == "revisit" and digest and digest not in payloads
    ]
    assert len(lost) == 2
    assert all("never" in original for original in lost)


def test_ordinary_captures_make_most_of_a_large_archive_and_follow_a_power_law(
    tmp_path: Path,
) -> None:
    started = time.process_time()
    summary = write_demo_archive(tmp_path, 3_000, 12, 1)
    assert time.process_time() - started < 10
    inlinks: Counter[str] = Counter()
    for truth in read_truths(summary.truth):
        # Links of the page's own story; links of the navigation are on every page.
        inlinks.update(
            {
                target
                for target, kind, _, rel in truth.links or ()
                if kind == "a@href" and rel is None and target.endswith(".html")
            }
        )
    counts = sorted(inlinks.values(), reverse=True)
    assert sum(counts[: len(counts) // 10]) > 0.25 * sum(counts)
    assert counts[0] > 10 * counts[len(counts) // 2]


def test_an_earlier_archive_is_replaced_and_other_files_stay(tmp_path: Path) -> None:
    write_demo_archive(tmp_path, 300, 3, 1)
    (tmp_path / "mine.warc.gz").write_bytes(b"mine")
    summary = write_demo_archive(tmp_path, 20, 3, 1)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in summary.files} | {
        "truth.jsonl",
        "mine.warc.gz",
    }


@pytest.mark.parametrize(
    ("captures", "hosts", "text"),
    [
        pytest.param(0, 12, "captures: 0 is too few", id="no captures"),
        pytest.param(300, 1, "hosts: 1 is too few", id="one host"),
    ],
)
def test_too_small_an_archive_is_refused(
    tmp_path: Path, captures: int, hosts: int, text: str
) -> None:
    with pytest.raises(UsageError, match=text):
        write_demo_archive(tmp_path, captures, hosts, 1)


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(OperatorError, match="choose another folder"):
        write_demo_archive(tmp_path / "file", 10, 2, 1)
