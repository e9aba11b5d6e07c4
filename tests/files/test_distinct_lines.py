"""Lines that do not fit into memory come once, in order, with few files open."""

from pathlib import Path

import pytest

from arclink.files.distinct_lines import DistinctLines


@pytest.mark.parametrize("at_once", [2, 3, 100])
def test_lines_that_do_not_fit_into_memory_come_once_and_sorted(
    at_once: int, tmp_path: Path
) -> None:
    lines = DistinctLines(tmp_path, most=7, at_once=at_once)
    some = [f"{number * 31 % 97}\n".encode() for number in range(500)]
    for line in some:
        lines.add(line + line)
    assert list(lines) == sorted(set(some))
    assert len(list(tmp_path.iterdir())) <= at_once
