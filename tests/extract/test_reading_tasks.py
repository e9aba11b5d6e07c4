"""Which task reads which record, by the sizes of files alone."""

from collections import Counter, defaultdict
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.extract.reading_tasks import (
    LARGE,
    FilesInFolder,
    ReadingTasks,
    assign_files,
    format_files,
    parse_files,
)
from arclink.model import Checksum, Timestamp, UriR
from arclink.rows.pointers import NO_FILE, FallBack, Pointer, PointerKind


def pointer(file: str, offset: int, chunk: int = 0) -> Pointer:
    original = UriR("http://h.example/")
    return Pointer(
        PointerKind.PAYLOAD,
        Checksum("SUM"),
        file,
        offset,
        10,
        Timestamp("20100101000000"),
        original,
        (original,),
        chunk=chunk,
    )


@settings(deadline=None)
@given(sizes=st.lists(st.integers(0, 10_000), min_size=1, max_size=12), count=st.integers(1, 6))
def test_tasks_have_about_the_same_bytes(sizes: list[int], count: int) -> None:
    """No task has more than an equal share and the largest file."""
    listed = [(f"f{number:02}.arc", f"/a/f{number:02}.arc", n) for number, n in enumerate(sizes)]
    files = parse_files(format_files(assign_files(listed, count)).splitlines())
    tasks = ReadingTasks(files, count)
    filled: defaultdict[int, int] = defaultdict(int)
    tasks_of: defaultdict[str, set[int]] = defaultdict(set)
    for name, _, size in listed:
        for offset in range(0, size, 10):
            task, _, _ = tasks.assign(pointer(name, offset))
            filled[task] += 10
            tasks_of[name].add(task)
    assert set(filled) <= set(range(count))
    assert max(filled.values(), default=0) <= sum(sizes) / count + max(sizes) + 20 * len(sizes)
    if len(sizes) >= count:
        mean = sum(sizes) / count
        assert all(len(tasks_of[name]) <= 1 for name, _, size in listed if size <= LARGE * mean)


@pytest.mark.parametrize("large", [500_000, 5_000_000])
def test_one_large_file_among_many_does_not_hold_up_its_task(large: int) -> None:
    """The slowest task reads less than twice the bytes of the median task."""
    sizes = [large, *[10_000] * 100]
    listed = [(f"f{number:03}.arc", f"/a/{number:03}.arc", n) for number, n in enumerate(sizes)]
    read = assign_files(listed, 16)
    filled: Counter[int] = Counter()
    for file, size in zip(read, sizes, strict=True):
        ends = [*file.starts[1:], size]
        for start, end, task in zip(file.starts, ends, file.tasks, strict=True):
            filled[task] += end - start
    assert sum(filled.values()) == sum(sizes)
    assert max(filled.values()) < 2 * median(filled.values())
    assert {len(file.starts) for file in read[1:]} == {1}


def test_one_large_file_keeps_all_tasks_busy() -> None:
    tasks = ReadingTasks(assign_files([("a.arc", "/a.arc", 4_000)], 4), 4)
    assert {tasks.assign(pointer("a.arc", offset))[0] for offset in range(0, 4_000, 10)} == {
        0,
        1,
        2,
        3,
    }


def test_the_chunks_of_a_payload_have_one_task() -> None:
    tasks = ReadingTasks(assign_files([("a.arc", "/a.arc", 4_000)], 4), 4)
    assert len({tasks.assign(pointer("a.arc", 1_990, chunk))[0] for chunk in range(50)}) == 1


def test_lines_of_a_task_sort_by_file_offset_and_chunk() -> None:
    tasks = ReadingTasks(assign_files([("b", "/b", 9), ("a", "/a", 9)], 1), 1)
    pointers = [
        pointer("a", 9),
        pointer("a", 10),
        pointer("a", 10, 1),
        pointer("crawl/b", 2),
        pointer("b", 1_000_000),
    ]
    lines = [tasks.assign(one)[1:] for one in pointers]
    assert lines == sorted(lines)
    assert lines[3][1].startswith(b'"/b"\t')


def test_a_file_of_an_earlier_batch_and_an_unknown_one_have_a_task() -> None:
    others = {"a": "/elsewhere", "old": "/old"}
    tasks = ReadingTasks(assign_files([("a", "/a", 9)], 3), 3, others)
    assert tasks.assign(pointer("a", 5))[2].startswith(b'"/a"\t')
    old, unknown = tasks.assign(pointer("old", 5)), tasks.assign(pointer("elsewhere", 5))
    assert old[2].startswith(b'"/old"\t')
    assert unknown[2].startswith(f'"{NO_FILE}"\t'.encode())
    assert {old[0], unknown[0]} <= {0, 1, 2}


def test_files_that_are_not_listed_are_in_their_folder() -> None:
    tasks = ReadingTasks([], 3, FilesInFolder("hdfs:///archive"))
    task, _, line = tasks.assign(pointer("crawl/a.warc.gz", 5))
    assert line.startswith(b'"hdfs:///archive/crawl/a.warc.gz"\t')
    assert task in range(3)


def test_a_last_resort_has_the_paths_of_all_its_captures() -> None:
    tasks = ReadingTasks(assign_files([("a", "/a", 9), ("b", "/b", 9)], 1), 1)
    other = FallBack("b", 1, 1, Timestamp("20100101000000"), UriR("http://h.example/"))
    one = pointer("a", 1)
    last = Pointer(
        PointerKind.LAST_RESORT,
        one.checksum,
        one.file,
        one.offset,
        one.length,
        one.timestamp,
        one.original,
        one.originals,
        (other,),
    )
    assert tasks.assign(last)[2].startswith(b'["/a","/b"]\t')
