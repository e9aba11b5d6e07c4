"""The runner for one machine, compared with mrjob's own, and its additions."""

import gzip
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.counts import Counts, from_counters
from arclink.errors import PipelineError
from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.local import _ranges
from arclink.mapreduce.runs import Job, JobRunner
from arclink.reasons import Reason
from tests.mapreduce.letter_job import CountLetters, OneManifestOneTask

ROOT = Path(__file__).resolve().parents[2]


def run(
    job_class: type[ArclinkJob], runner: str, inputs: Sequence[Path], folder: Path
) -> tuple[list[bytes], Counts]:
    job = Job("letters", lambda: job_class)
    counts = JobRunner(runner, 2, folder.parent / "tasks").run(job, inputs, folder, {})
    return lines_in(folder), counts


def lines_in(folder: Path) -> list[bytes]:
    return [
        line for part in sorted(folder.glob("part-*")) for line in part.read_bytes().splitlines()
    ]


def run_by_mrjob(runner: str, inputs: Sequence[Path], folder: Path) -> tuple[list[bytes], Counts]:
    words = ["-r", runner, "--no-conf", "--no-cat-output", "--output-dir", str(folder)]
    job = CountLetters([*words, *map(str, inputs)])
    job.options.local_tmp_dir = str(folder.parent)
    job.options.bootstrap_mrjob = False
    with job.make_runner() as made:
        made.run()
        return lines_in(folder), from_counters(made.counters())


@pytest.fixture
def words(tmp_path: Path) -> list[Path]:
    plain = tmp_path / "plain.txt"
    plain.write_bytes(b"".join(b"%c%d\n" % (97 + number % 26, number) for number in range(3000)))
    members = tmp_path / "members.gz"
    members.write_bytes(b"".join(gzip.compress(b"z%d\n" % number) for number in range(50)))
    return [plain, members]


def test_all_runners_of_one_machine_agree(
    words: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # the tasks of mrjob's runner import the job
    local, local_counts = run(CountLetters, "local", words, tmp_path / "local")
    for others, counts in (
        run(CountLetters, "inline", words, tmp_path / "inline"),
        run_by_mrjob("inline", words, tmp_path / "mrjobs-inline"),
        run_by_mrjob("local", words, tmp_path / "mrjobs-local"),
    ):
        assert sorted(set(others)) == sorted(set(local))
        assert counts == local_counts
    expected = Counter(chr(97 + number % 26) for number in range(3000))
    expected["z"] += 50
    assert {
        line.split(b"\t")[0].decode(): int(line.split(b"\t")[1])
        for line in local
        if line != b"end\t"
    } == expected
    assert local_counts[Reason.ROW_KEPT] == 3050, "every line is counted once"


def test_a_manifest_is_never_split(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"a\n")
    large.write_bytes(b"".join(b"line-%d\n" % number for number in range(500)))
    lines, _ = run(OneManifestOneTask, "local", [small, large], tmp_path / "out")
    assert sorted(len(line.split()) - 1 for line in lines) == [1, 500]


class OneKeyOneTask(CountLetters):
    ONE_TASK_PER_KEY = True


def test_each_key_has_a_task(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"b\na\nb\nc\n")
    lines, _ = run(OneKeyOneTask, "local", [path], tmp_path / "out")
    assert lines == [b"a\t1", b"end\t", b"b\t2", b"end\t", b"c\t1", b"end\t"]


def test_a_task_that_dies_is_tried_once_more(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"a\ndie\nb\n")
    lines, counts = run(CountLetters, "local", [path], tmp_path / "out")
    assert b"d\t1" in lines
    assert counts[Reason.ROW_KEPT] == 3, "the counts of the dead attempt are gone with it"


def test_an_interrupt_right_after_the_end_of_a_task_stays_one(
    words: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = os.wait

    def interrupted() -> tuple[int, int]:
        wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(CountLetters, "local", words, tmp_path / "out")


class CutsItsInput(CountLetters):
    """Finds its input shorter than it was when it was shared out."""

    path: ClassVar[Path]

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        os.truncate(self.path, 4)
        return super().map_lines(lines)


def test_rows_that_are_gone_when_a_task_reads_them_are_an_error(tmp_path: Path) -> None:
    CutsItsInput.path = tmp_path / "in"
    CutsItsInput.path.write_bytes(b"a\nb\nc\n")
    with pytest.raises(PipelineError, match="in became shorter while it was read"):
        run(CutsItsInput, "local", [CutsItsInput.path], tmp_path / "out")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(b"die always", "signal 9", id="dies every time"),
        pytest.param(b"fail", "this line has to fail", id="raises"),
    ],
)
def test_a_task_that_fails_says_why(line: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"a\n" + line + b"\n")
    with pytest.raises(PipelineError, match=message):
        run(CountLetters, "local", [path], tmp_path / "out")


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([b"a", b"b", b"cc", b""]), st.binary(max_size=6)), max_size=60
    ),
    st.integers(1, 40),
    st.booleans(),
)
def test_ranges_cover_the_file_and_never_part_a_key(
    rows: list[tuple[bytes, bytes]], size: int, by_key: bool
) -> None:
    lines = [
        key + b"\t" + value.replace(b"\n", b"").hex().encode() + b"\n"
        for key, value in sorted(rows)
    ]
    with tempfile.TemporaryFile() as file:
        file.write(b"".join(lines))
        file.flush()

        def key_of(line: bytes) -> bytes:
            return line.partition(b"\t")[0] if by_key else line

        ranges = list(_ranges(file, size, key_of))
        pieces = []
        for start, end in ranges:
            file.seek(start)
            pieces.append(file.read(end - start))
    assert b"".join(pieces) == b"".join(lines)
    assert all(piece.endswith(b"\n") for piece in pieces if piece)
    if by_key:
        keys = [{line.partition(b"\t")[0] for line in piece.splitlines()} for piece in pieces]
        assert all(not keys[i] & keys[j] for i in range(len(keys)) for j in range(i))
