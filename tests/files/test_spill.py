"""Collections that are larger than their memory have the same items as small ones.

A disk is full in three ways: a file system of its own (as root), a limit on the size of files, and
an error of the system.
"""

import errno
import os
import re
import resource
import signal
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.errors import FullDiskError, WriteError
from arclink.files import spill
from arclink.files.spill import DistinctSet, Sorted, scratch, summed

any_text = st.text(st.characters(codec=None), max_size=3)
fields = st.tuples(st.integers(-1, 1 << 70), any_text, st.binary(max_size=3))
memories = st.integers(0, 3000)
"""From one item in memory to all of them."""


@contextmanager
def limited_to(memory: int, at_once: int = 2, chunks: int = 4, counted: int = 2) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "MEMORY", memory)
        patch.setattr(spill, "MERGED_AT_ONCE", at_once)
        patch.setattr(spill, "_CHUNKS", chunks)
        patch.setattr(spill, "_COUNTED_AT_ONCE", counted)
        yield


@given(st.lists(st.binary(max_size=3), max_size=60), memories, st.integers(2, 5))
def test_items_come_sorted_and_once_with_any_memory(
    items: list[bytes], memory: int, at_once: int
) -> None:
    with limited_to(memory, at_once):
        one_by_one, together = Sorted[bytes](), Sorted[bytes]()
        for item in items:
            one_by_one.add(item)
        together.update(items[:20])
        together.update(items[20:])
        for found in (one_by_one, together):
            assert list(found) == sorted(set(items))
            assert list(found) == sorted(set(items)), "a second time"


@given(st.lists(fields, max_size=40), memories)
def test_tuples_are_sorted_by_their_fields(
    items: list[tuple[int, str, bytes]], memory: int
) -> None:
    with limited_to(memory):
        found = Sorted[tuple[int, str, bytes]]()
        for number, item in enumerate(items):
            found.add(item)
            if number == 20:
                assert list(found) == sorted({*items[:21]}), "others are added after a look"
        assert list(found) == sorted(set(items))


@given(st.lists(st.tuples(st.tuples(any_text, any_text), st.integers(0, 9))), memories)
def test_sums_are_those_of_a_counter(items: list[tuple[tuple[str, str], int]], memory: int) -> None:
    with limited_to(memory):
        expected = Counter[tuple[str, ...]]()
        for key, count in items:
            expected[key] += count
        assert list(summed(items)) == sorted(expected.items())


@given(st.lists(any_text, max_size=40), st.lists(any_text, max_size=40), memories)
def test_a_text_is_new_once_with_any_memory(
    texts: list[str], others: list[str], memory: int
) -> None:
    with limited_to(memory):
        distinct = DistinctSet()
        for some in (texts, others):
            seen: set[str] = set()
            for text in some:
                assert distinct.add(text) == (text not in seen)
                seen.add(text)
            distinct.clear()


def test_many_runs_are_merged_with_few_files_open() -> None:
    with limited_to(2_000, at_once=4):
        found = Sorted[bytes]()
        before = len(os.listdir("/proc/self/fd"))
        lines = [b"%d\n" % (number * 7919 % 9973) for number in range(9_973)]
        most = 0
        for line in lines:
            found.add(line)
            most = max(most, len(os.listdir("/proc/self/fd")) - before)
        assert list(found) == sorted(lines)
        assert 4 < most < 30  # of more than 400 runs


def test_repeated_items_stay_in_memory_and_make_no_files() -> None:
    with limited_to(100_000):
        found = Sorted[bytes]()
        before = os.listdir("/proc/self/fd")
        for number in range(20_000):
            found.add(b"%d" % (number % 300))
        assert os.listdir("/proc/self/fd") == before
        assert len(list(found)) == 300


@pytest.mark.parametrize("length", [10, 1_000, 100_000])
def test_memory_has_one_limit_whatever_the_size_of_the_items(length: int) -> None:
    with limited_to(4 << 20, at_once=32, chunks=256):
        found = Sorted[bytes]()
        tracemalloc.start()
        try:
            for number in range(min(200_000, 20_000_000 // length)):
                found.add(b"%0*d" % (length, number * 7919 % 1_000_003))
            for _ in found:
                pass
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 8 << 20  # all of them: 20 MB


def test_no_file_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with limited_to(100):
        lines, seen = Sorted[bytes](tmp_path), DistinctSet()
        sums = summed((((str(number),), 1) for number in range(100)), tmp_path)
        assert next(sums) == (("0",), 1)
        for number in range(100):
            lines.add(b"%d" % number)
            seen.add(str(number))
        assert list(tmp_path.iterdir()) == []
        assert len(list(lines)) == 1 + len(list(sums)) == 100


# A full disk

FILL = """
import sys
from pathlib import Path
from arclink.files import spill

spill.MEMORY, spill._COUNTED_AT_ONCE = 1 << 20, 1
kind, folder = sys.argv[1], Path(sys.argv[2])
import itertools, random
dice = random.Random(1)
texts = (dice.randbytes(500).hex() for _ in itertools.count())
lines, seen = spill.Sorted(folder), spill.DistinctSet()
if kind == "sums":
    list(spill.summed((((text,), 1) for text in texts), folder))
for text in texts:
    if kind == "sorted":
        lines.add(text)
    else:
        seen.add(text)
"""


def fill(kind: str, folder: Path, most_bytes: int | None = None) -> str:
    """Return the last line of a process that adds items until the disk is full."""

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    done = subprocess.run(
        [sys.executable, "-c", FILL, kind, str(folder)],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("kind", ["sorted", "sums", "set"])
def test_a_full_disk_is_named_with_its_folder_the_bytes_and_a_remedy(
    kind: str, small_disk: Path
) -> None:
    said = fill(kind, small_disk)
    assert said.startswith(f"arclink.errors.FullDiskError: {small_disk} cannot be written: ")
    assert "No space left on device" in said or "database or disk is full" in said
    of_bytes = re.search(
        r"does not fit into memory needs up to (\S+) bytes there, and (\S+) are", said
    )
    assert of_bytes
    needed, free = (int(number.replace(",", "")) for number in of_bytes.groups())
    assert free < 1 << 20 <= needed < 2 << 20
    assert "Free some space there, " in said
    assert ("TMPDIR" if kind == "set" else "write to a larger disk") in said
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("kind", ["sorted", "sums", "set"])
def test_a_limit_on_files_is_named_with_its_folder(kind: str, tmp_path: Path) -> None:
    said = fill(kind, tmp_path, 100_000)
    assert said.startswith(f"arclink.errors.FullDiskError: {tmp_path} cannot be written: ")
    assert "Free some space there, " in said
    assert kind == "set" or "File too large" in said
    assert kind == "set" or "ulimit -f" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "kind"), [(errno.EDQUOT, FullDiskError), (errno.EROFS, WriteError)]
)
def test_each_error_of_a_disk_names_the_folder(
    code: int, kind: type[WriteError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(spill, "TemporaryFile", refuse)
    with (
        limited_to(0, counted=1),
        pytest.raises(kind, match=f"^{tmp_path} cannot be written: ") as error,
    ):
        Sorted[bytes](tmp_path).add(b"line")
    assert type(error.value) is kind


def test_a_full_disk_under_a_table_names_the_folder(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    with limited_to(1 << 20):
        table = scratch("CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT)")
        rows = ((number, "text" * 250) for number in range(10_000))
        with closing(table), pytest.raises(FullDiskError, match=f"^{small_disk} cannot be written"):
            table.executemany("INSERT INTO texts VALUES (?, ?)", rows)
