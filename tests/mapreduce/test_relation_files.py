"""The output of a task, one file per relation."""

from pathlib import Path

from arclink.mapreduce.local import RelationFiles, divide
from arclink.rows.relations import ROWS


def written(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_rows_come_to_their_relation_in_their_order(tmp_path: Path) -> None:
    with RelationFiles(tmp_path / "part-00003") as files:
        files.put(b"pages", b"org,b)/\t[1]")
        files.put(b"mementos", b"first" + ROWS + b"second")
        files.put(b"pages", b"org,a)/\t" + b"x" * 5000)
    assert written(tmp_path) == {
        "pages/part-00003": b"org,b)/\t[1]\norg,a)/\t" + b"x" * 5000 + b"\n",
        "mementos/part-00003": b"first\nsecond\n",
    }


def test_nothing_is_left_of_an_attempt_that_died(tmp_path: Path) -> None:
    with (
        RelationFiles(tmp_path / "part-00003") as died,
        RelationFiles(tmp_path / "part-00004") as other,
    ):
        died.put(b"retries", b"of the attempt that died")
        died.put(b"pages", b"half a row")
        other.put(b"retries", b"of another task")
    with RelationFiles(tmp_path / "part-00003") as files:
        files.put(b"pages", b"whole")
    assert written(tmp_path) == {
        "pages/part-00003": b"whole\n",
        "retries/part-00004": b"of another task\n",
    }


def test_tagged_lines_of_parts_are_divided(tmp_path: Path) -> None:
    """Also a part of one relation, whose rows are replaced together."""
    (tmp_path / "part-00000").write_bytes(
        b"pages\torg,b)/\t[1]\nmementos\tfirst" + ROWS + b"second\npages\torg,a)/\t[2]\n"
    )
    (tmp_path / "part-00001").write_bytes(b"pages\torg,c)/\tpages\t[3]\npages\t\n")
    (tmp_path / "part-00002").write_bytes(b"")
    divide(tmp_path)
    assert written(tmp_path) == {
        "pages/part-00000": b"org,b)/\t[1]\norg,a)/\t[2]\n",
        "mementos/part-00000": b"first\nsecond\n",
        "pages/part-00001": b"org,c)/\tpages\t[3]\n\n",
    }
