"""Archives and stores that tests share are made only once."""

from multiprocessing import get_context
from pathlib import Path

from tests.demos import Demos


def made_in(folder: str) -> int:
    path = Demos(Path(folder)).archive(20, 2, 1)
    return (path / "truth.jsonl").stat().st_mtime_ns


def test_an_archive_is_made_once_by_all_processes(tmp_path: Path) -> None:
    with get_context("spawn").Pool(2) as pool:
        assert len({*pool.map(made_in, [str(tmp_path)] * 4)}) == 1


def test_what_a_process_left_half_made_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "archive-20-2-1").mkdir()
    (tmp_path / "archive-20-2-1/half").touch()
    path = Demos(tmp_path).archive(20, 2, 1)
    assert not (path / "half").exists()
    assert (path / "truth.jsonl").exists()
