"""Pieces of CDX files: together they have the lines of the file, each once."""

import gzip
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arclink.errors import InputError
from arclink.rows import cdx_files as cdx_pieces
from arclink.rows.cdx_files import (
    format_piece,
    parse_piece,
    pieces_of,
    read_piece,
    read_usual_lines,
)


def lines_of(path: Path, prefixes: tuple[str, ...] = ()) -> list[bytes]:
    """Return the lines of all pieces of a file, each piece as a task gets it."""
    pieces = [parse_piece(format_piece(piece)) for piece in pieces_of(path, prefixes)]
    return [line for piece in pieces for line in chain.from_iterable(read_piece(piece))]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b" ")), max_size=20),
    is_ended=st.booleans(),
    size=st.integers(1, 40),
)
def test_every_line_is_in_one_piece(
    lines: list[bytes], is_ended: bool, size: int, tmp_path: Path
) -> None:
    path = tmp_path / "all.cdx"
    path.write_bytes(b"\n".join([*(b"x" + line for line in lines), *([b""] if is_ended else [])]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cdx_pieces, "PIECE", size)
        assert lines_of(path) == list(read_usual_lines(path))


def test_a_gzip_file_is_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdx_pieces, "PIECE", 10)
    path = tmp_path / "all.cdx"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    (piece,) = pieces_of(path)
    assert piece.size == path.stat().st_size
    assert lines_of(path) == [b"one\n", b"two\n"]


def test_the_blocks_of_a_zipnum_cluster_are_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cdx_pieces, "PIECE", 50)
    index, data = [], b""
    for host in "abcdefgh":
        block = gzip.compress(b"com,%b)/ 2010 row\n" % host.encode())
        index.append(f"com,{host})/ 2010\tblocks.gz\t{len(data)}\t{len(block)}\n")
        data += block
    (tmp_path / "blocks.gz").write_bytes(data)
    (tmp_path / "cluster.idx").write_text("".join(index))
    assert len(pieces_of(tmp_path / "cluster.idx")) == 4, "two blocks each"
    assert len(lines_of(tmp_path / "cluster.idx")) == 8
    few = lines_of(tmp_path / "cluster.idx", ("com,c)/",))
    assert few == list(read_usual_lines(tmp_path / "cluster.idx", ("com,c)/",)))
    assert len(few) < 8


def test_a_header_inside_a_file_that_only_one_piece_would_see_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "all.cdx"
    path.write_text(" CDX b a V g\n2010 http://a/ 1 a.arc\n CDX V b a g\n2 2010 http://b/ a.arc\n")
    assert len(lines_of(path)) == 4, "one piece reads all headers"
    monkeypatch.setattr(cdx_pieces, "PIECE", 30)
    with pytest.raises(InputError, match=r"all\.cdx: a header after its first line names another"):
        lines_of(path)


def test_a_message_names_the_file_and_not_its_copy(tmp_path: Path) -> None:
    path = tmp_path / "all.cdx"
    path.write_bytes(b"\x1f\x8bdamaged")
    (piece,) = pieces_of(path)
    piece = piece._replace(path="/crawl/all.cdx")
    with pytest.raises(InputError, match=r"^/crawl/all\.cdx: cannot be read as a CDX file"):
        list(read_piece(piece))
