"""A stream with many interruptions has the same bytes as a stream without any."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arclink.captures.queries import StreamQuery
from arclink.captures.ranks import RankTables
from arclink.captures.stream import CaptureStream
from arclink.captures.warc import TOKEN_FIELD
from arclink.captures.write import WRITERS, write_capture
from arclink.files import spill
from tests.captures.reading import bytes_of, identities_in, lines_of, opened, query_of
from tests.demos import Demos

ORDERS = ("surt", "file", "time", "rank")


def interrupted(store: Path, query: StreamQuery, count: int, tables: Path) -> tuple[bytes, int]:
    """Return a stream of pieces with ``count`` captures each, and the number of pieces.

    Each piece is read by a new reader, which knows only the token of the last one.
    """
    data, pieces, after = b"", 0, query.after
    output = WRITERS[query.form]
    while True:
        pieces += 1
        with opened(store) as (graph, reader):
            asked = StreamQuery(query.order, query.part, after, 0, query.form)
            stream = CaptureStream(graph, reader, asked, tables=RankTables(tables))
            for number, capture in enumerate(stream, 1):
                data += b"".join(write_capture(output, capture))
                after = capture.after
                if number == count:
                    break
            else:
                return data + output.write_end(stream.end()), pieces
            stream.close()


@pytest.mark.parametrize("order", ORDERS)
def test_a_hundred_interruptions_leave_no_trace(demos: Demos, tmp_path: Path, order: str) -> None:
    store = demos.store()
    whole = bytes_of(store, query_of(order), tmp_path)
    found, pieces = interrupted(store, query_of(order), 3, tmp_path)
    assert pieces > 100
    assert found == whole
    captures, end = lines_of(whole)
    assert len(captures) == len(identities_in(store)) == end["captures"]
    assert end["complete"]


@pytest.mark.parametrize("form", ["warc", "text"])
def test_other_forms_go_on_in_the_same_way(demos: Demos, tmp_path: Path, form: str) -> None:
    store = demos.store()
    whole = bytes_of(store, query_of(form=form))
    assert interrupted(store, query_of(form=form), 41, tmp_path)[0] == whole
    # Also from the tokens in the records, as a client sees them.
    tokens = re.findall(rf"{TOKEN_FIELD}: (\S+)".encode(), whole)
    begin = whole.index(tokens[50]) + len(tokens[50])
    rest = bytes_of(store, query_of(form=form, after=tokens[50].decode()))
    assert rest == whole[whole.index(b"WARC/1.", begin) :]


def test_captures_that_are_sorted_on_disk_come_in_the_same_order(
    demos: Demos, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = bytes_of(demos.store(), query_of("file"))
    monkeypatch.setattr(spill, "MEMORY", 7_000)
    monkeypatch.setattr(spill, "_COUNTED_AT_ONCE", 1)
    assert bytes_of(demos.store(), query_of("file")) == whole


def killed(store: Path, order: str, lines: int, folder: Path) -> tuple[bytes, int]:
    """Return a stream from processes that were killed after about ``lines`` captures each."""
    data, kills, after = b"", 0, ""
    command = [sys.executable, "-m", "arclink", "stream", "--store", str(store), "--order", order]
    while True:
        asked = [*command, "--cache", str(folder), *(["--after", after] if after else [])]
        with subprocess.Popen(asked, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(lines):
                line = process.stdout.readline()
                if not line.endswith(b"\n"):
                    break
                data += line
                read = json.loads(line)
                if "end" in read:
                    return data, kills
                after = read["after"]
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.returncode == -signal.SIGKILL
            kills += 1


@pytest.mark.parametrize(
    ("order", "lines"),
    [
        ("surt", 80),
        ("file", 80),
        *(pytest.param(order, 3, marks=pytest.mark.long) for order in ORDERS),
    ],
)
def test_killed_processes_leave_no_trace(
    demos: Demos, tmp_path: Path, order: str, lines: int
) -> None:
    whole = bytes_of(demos.store(), query_of(order), tmp_path)
    found, kills = killed(demos.store(), order, lines, tmp_path)
    assert kills >= (99 if lines == 3 else 3)
    assert found == whole


def test_temporary_files_go_with_the_stream(
    demos: Demos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(spill, "MEMORY", 7_000)
    monkeypatch.setattr(spill, "_COUNTED_AT_ONCE", 1)

    def files_in_use() -> list[str]:
        files = (Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd"))
        return [str(file.readlink()) for file in files if file.is_symlink()]

    with opened(demos.store()) as (graph, reader):
        stream = CaptureStream(graph, reader, query_of("time"))
        next(stream)
        assert any(str(tmp_path) in file for file in files_in_use())
        assert not os.listdir(tmp_path)
        stream.close()
        assert not any(str(tmp_path) in file for file in files_in_use())
