"""Sources of CDX rows: folders, WACZ, ZipNum clusters, columns in any order."""

import gzip
import io
import json
import os
import tracemalloc
import zipfile
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.errors import CdxError, InputError, UsageError
from arclink.reasons import Reason
from arclink.rows.cdx import LAYOUTS, parse_row, read_rows
from arclink.rows.cdx_files import (
    USUAL,
    bounded_line_lists,
    find_cdx,
    is_usual,
    read_lines,
    read_usual_lines,
    usual_files,
    usual_row,
    with_file,
)

ROW = (
    b"org,h)/ 20140103030321 http://h.org/ text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - - "
    b"1043 333 example.warc.gz"
)
LEAST_BOUND = 1 << 18
"""The shortest bound of `bounded_line_lists`, in bytes."""

HEADER = b" CDX N b a m s k r M S V g"


def write(path: Path, *lines: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join((*lines, b"")))
    return path


def test_folders_and_collections_name_their_cdx_files(tmp_path: Path) -> None:
    plain = [write(tmp_path / "plain" / name, ROW) for name in ("a.cdx", "b.cdxj.gz")]
    write(tmp_path / "plain" / "notes.txt")
    write(tmp_path / "plain" / "b.idx")
    pywb = write(tmp_path / "coll" / "indexes" / "index.cdxj", ROW)
    write(tmp_path / "coll" / "archive" / "x.warc.gz")
    cluster = write(tmp_path / "cluster" / "cluster.idx", ROW)
    write(tmp_path / "cluster" / "cdx-00000.gz")
    assert find_cdx([str(tmp_path / "plain"), str(plain[0])]) == plain
    assert find_cdx([str(tmp_path / "coll")]) == [pywb]
    assert find_cdx([str(tmp_path / "cluster")]) == [cluster]


def test_a_place_without_a_cdx_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"gone\.cdx: no such file"):
        find_cdx([str(tmp_path / "gone.cdx")])
    with pytest.raises(InputError, match="empty: no CDX in this folder"):
        find_cdx([str(tmp_path / "empty")])
    zipfile.ZipFile(tmp_path / "x.wacz", "w").close()
    with pytest.raises(InputError, match=r"x\.wacz: this WACZ has no CDX"):
        find_cdx([str(tmp_path / "x.wacz")])


def test_a_truncated_gzip_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.cdx.gz"
    path.write_bytes(gzip.compress(b"\n".join([ROW] * 100))[:-30])
    with pytest.raises(InputError, match=r"x\.cdx\.gz: cannot be read as a CDX file"):
        list(read_lines(path))


@pytest.mark.costly
@pytest.mark.parametrize("suffix", [".cdx", ".cdx.gz"])
def test_a_line_without_end_is_counted_and_not_held(tmp_path: Path, suffix: str) -> None:
    long = ROW.replace(b"http://h.org/", b"http://h.org/" + b"x" * (100 << 20))
    path = tmp_path / f"x{suffix}"
    with gzip.open(path, "wb", 1) if suffix.endswith(".gz") else path.open("wb") as file:
        file.writelines([ROW, b"\n", long, b"\n", ROW, b"\n", long])
    del long
    assert not is_usual(path)
    counts: Counter[Reason] = Counter()
    tracemalloc.start()
    try:
        kept = sum(1 for _ in read_rows(read_usual_lines(path), counts))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    assert (kept, counts) == (2, {Reason.ROW_TOO_LONG: 2})


@given(
    st.lists(st.integers(0, 3 * LEAST_BOUND), max_size=5),
    st.booleans(),
)
def test_lines_are_bounded_wherever_blocks_end(sizes: list[int], has_end: bool) -> None:
    data = b"\n".join(b"%d" % (number % 10) * size for number, size in enumerate(sizes))
    data += b"\n" * (has_end and bool(sizes))
    lines = data.splitlines(keepends=True)
    expected = [
        line if len(line.rstrip(b"\n")) <= LEAST_BOUND else line[: LEAST_BOUND + 1] + b"\n"
        for line in lines
    ]
    assert [*chain(*bounded_line_lists(io.BytesIO(data), LEAST_BOUND))] == expected


def test_a_fifo_is_refused_as_cdx(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.cdx")
    with pytest.raises(UsageError, match=r"x\.cdx: it is a FIFO.*write it to a file"):
        find_cdx([str(tmp_path / "x.cdx")])
    (found,) = find_cdx([str(tmp_path)])
    with pytest.raises(InputError, match=r"x\.cdx: cannot be read as a CDX file: .*it is a FIFO"):
        list(read_lines(found))


# Columns in another order


def test_columns_in_any_order_are_read(tmp_path: Path) -> None:
    odd = write(
        tmp_path / "odd.cdx",
        b" CDX g V S b a k s m",
        b"example.warc.gz 333 1043 20140103030321 http://h.org/ "
        b"B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A 200 text/html",
        b"short row",
        b"a row with nine columns that mean nothing here now",
        b'org,h)/ 20140103030321 {"url": "http://h.org/", "offset": 333, "filename": '
        b'"example.warc.gz"}',
        HEADER,
        ROW,
    )
    counts: Counter[Reason] = Counter()
    first, second, third = read_rows(read_usual_lines(odd), counts)
    assert first[1:7] == third[1:7]
    assert (first[0], third[0]) == (b"", b"org,h)/")
    assert second[2] == b"http://h.org/"
    assert counts == {Reason.ROW_HEADER: 2, Reason.ROW_MALFORMED: 2}


def test_a_byte_order_mark_does_not_hide_the_order_of_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "marked.cdx", b"\xef\xbb\xbf CDX b a V g", b"2014 http://h/ 7 f")
    _, line = read_usual_lines(path)
    assert parse_row(line).original == "http://h/"
    assert not is_usual(path)


def test_the_order_of_wget_is_read(tmp_path: Path) -> None:
    """It has the URI where others have a key, and the record's id at the end; without its header it
    would be taken for the usual 11.
    """
    path = write(
        tmp_path / "wget.cdx",
        b" CDX a b a m s k r M V g u",
        b"http://h.org/x 20140103030321 http://h.org/x text/html 200 "
        b"B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - - 333 example.warc.gz <urn:uuid:1>",
    )
    _, line = read_usual_lines(path)
    capture = parse_row(line)
    assert (capture.key, capture.original, capture.offset, capture.length, capture.file) == (
        "",
        "http://h.org/x",
        333,
        -1,
        "example.warc.gz",
    )


@pytest.mark.parametrize(
    ("header", "message"),
    [
        pytest.param(
            b" CDX N b a m s k r", "header without file, offset", id="rows that lead nowhere"
        ),
        pytest.param(b" CDX N b a a m s k r V g", "names a column twice", id="a column twice"),
    ],
)
def test_a_header_that_does_not_suffice_is_refused_not_misread(
    header: bytes, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "odd.cdx", header)
    with pytest.raises(InputError, match=f"{message}.*; its header is .*It must have b"):
        list(read_usual_lines(path))


@pytest.mark.parametrize(
    ("header", "row", "offset"),
    [
        pytest.param(
            " CDX A b e a m s c k r V v D d g M n",
            "h 2014 1.2.3.4 http://h/ - - - - - 8 7 - - f - -",
            8,
            id="old default of the Internet Archive",
        ),
        pytest.param(" CDX b a v g", "2014 http://h/ 7 f", 7, id="place once inflated only"),
    ],
)
def test_of_two_offsets_the_one_in_the_compressed_file_is_used(
    header: str, row: str, offset: int, tmp_path: Path
) -> None:
    _, line = read_usual_lines(write(tmp_path / "odd.cdx", header.encode(), row.encode()))
    assert parse_row(line).offset == offset


@given(st.permutations(USUAL))
def test_any_order_of_columns_says_the_same(letters: list[str]) -> None:
    columns = dict(zip(USUAL, ROW.split(), strict=True))
    assert usual_row(b" ".join(columns[letter] for letter in letters), tuple(letters)) == ROW


def test_only_files_that_need_it_are_copied(tmp_path: Path) -> None:
    usual = [
        write(tmp_path / "usual.cdx", HEADER, ROW),
        write(tmp_path / "none.cdx", ROW),
        write(tmp_path / "x.cdxj", b"!x", ROW),
    ]
    odd = write(
        tmp_path / "odd.cdx",
        b" CDX g V S b a k s m",
        b"f.warc.gz 333 1043 2014 http://h.org/ - 200 text/html",
    )
    assert [is_usual(path) for path in (*usual, odd)] == [True, True, True, False]
    *same, copy = usual_files([*usual, odd], tmp_path / "copies")
    assert same == usual
    assert copy.read_bytes().splitlines() == [
        HEADER,
        b"- 2014 http://h.org/ text/html 200 - - - 1043 333 f.warc.gz",
    ]


# Rows whose file has another name here


@pytest.mark.parametrize(
    ("row", "renamed"),
    [
        (ROW, ROW.replace(b"example.warc.gz", b"w!/example.warc.gz")),
        (
            b'k 2014 {"url":"http://h/","offset":1,"filename":"f"}\n',
            b'k 2014 {"url":"http://h/","offset":1,"filename":"w!/f"}',
        ),
        (b'{"url":"http://h/","file":"f"}', b'{"url":"http://h/","file":"w!/f"}'),
        (b"k 2014 {damaged", b"k 2014 {damaged"),
        (b"word", b"word"),
        (b"", b""),
    ],
)
def test_a_row_gets_the_name_its_file_has_here(row: bytes, renamed: bytes) -> None:
    assert with_file(row, "w!/{}".format) == renamed


@given(st.binary())
def test_any_line_can_be_given_another_file_name(line: bytes) -> None:
    try:
        before = parse_row(line)
    except CdxError:
        with_file(line, str)
        return
    assert parse_row(with_file(line, "{}x".format)).file.startswith(before.file[:1])


def make_wacz(path: Path, index: bytes, *, is_zipnum: bool) -> Path:
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr("archive/example.warc.gz", b"x")
        if is_zipnum:
            block = gzip.compress(index)
            zipped.writestr("indexes/index.cdx.gz", block)
            lines = [
                '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}',
                json.dumps({"offset": 0, "length": len(block)}),
            ]
            zipped.writestr(
                "indexes/index.idx", f"{lines[0]}\norg,h)/ 2014 {lines[1]}\n", zipfile.ZIP_DEFLATED
            )
        else:
            zipped.writestr("indexes/index.cdxj", index, zipfile.ZIP_DEFLATED)
    return path


@pytest.mark.parametrize("is_zipnum", [False, True])
def test_the_index_of_a_wacz_leads_into_it(is_zipnum: bool, tmp_path: Path) -> None:
    index = b'org,h)/ 2014 {"url": "http://h.org/", "offset": 333, "filename": "example.warc.gz"}\n'
    wacz = make_wacz(tmp_path / "c.wacz", index, is_zipnum=is_zipnum)
    (path,) = find_cdx([str(wacz)])
    (line,) = read_usual_lines(path)
    assert parse_row(line).file == "c.wacz!/archive/example.warc.gz"
    (line,) = read_usual_lines(
        path, names={f"{wacz}!/archive/example.warc.gz": "a/c.wacz!/archive/example.warc.gz"}
    )
    assert parse_row(line).file == "a/c.wacz!/archive/example.warc.gz"
    assert not is_usual(path)


def test_the_index_of_blocks_in_a_wacz_can_be_followed(tmp_path: Path) -> None:
    wacz = make_wacz(tmp_path / "c.wacz", ROW, is_zipnum=True)
    (line,) = read_usual_lines(Path(f"{wacz}!/indexes/index.idx"))
    assert parse_row(line).file == "c.wacz!/archive/example.warc.gz"


# ZipNum

KEYS = ["com,a)/", "com,b)/", "com,b)/2", "com,c)/", "org,a)/", "org,a)/x", "org,b)/", "org,c)/"]


@pytest.fixture(params=["beside", "with .gz", "loc"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Write a ZipNum cluster: two keys to a block, two blocks to a file."""
    folder = tmp_path / ("elsewhere" if request.param == "loc" else "cluster")
    folder.mkdir()
    index, seen = [], {}
    for number in range(0, len(KEYS), 2):
        name = f"part-{number // 4}" + (".gz" if request.param == "beside" else "")
        part = folder / (name if name.endswith(".gz") or request.param == "loc" else name + ".gz")
        block = gzip.compress(b"".join(row_of(key) + b"\n" for key in KEYS[number : number + 2]))
        offset = part.stat().st_size if part.exists() else 0
        with part.open("ab") as file:
            file.write(block)
        index.append(
            f"{KEYS[number]} 20140101000000\t{name}\t{offset}\t{len(block)}\t{number}".encode()
        )
        seen[name] = part
    path = write(tmp_path / "cluster" / "cluster.idx", *index)
    if request.param == "loc":
        write(
            tmp_path / "cluster" / "cluster.loc",
            *(f"{name}\t{part}\tother".encode() for name, part in seen.items()),
        )
    return path


def row_of(key: str) -> bytes:
    return ROW.replace(b"org,h)/", key.encode())


@pytest.mark.parametrize(
    ("prefixes", "blocks"),
    [
        ([], [0, 1, 2, 3]),
        (["com,a)/"], [0]),
        (["com,b)/"], [0, 1]),
        (["com,"], [0, 1]),
        (["org,a)/x"], [2]),
        (["org,b)/", "com,a)/"], [0, 2, 3]),
        (["zz"], [3]),
        (["aa"], []),
    ],
)
def test_only_blocks_that_may_hold_a_prefix_are_read(
    cluster: Path, prefixes: list[str], blocks: list[int]
) -> None:
    wanted = [row_of(key) for block in blocks for key in KEYS[2 * block : 2 * block + 2]]
    assert [line.rstrip() for line in read_usual_lines(cluster, prefixes)] == wanted


@given(st.text(alphabet="comrg,abx)/", max_size=8))
def test_no_key_with_the_prefix_is_passed_over(
    tmp_path_factory: pytest.TempPathFactory, prefix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "zipnum" / "cluster.idx"
    if not path.exists():
        blocks = [
            gzip.compress(b"".join(row_of(key) + b"\n" for key in KEYS[number : number + 2]))
            for number in range(0, len(KEYS), 2)
        ]
        write(
            path,
            *(
                f"{KEYS[2 * n]} 2014\tall.gz\t{sum(map(len, blocks[:n]))}\t{len(block)}".encode()
                for n, block in enumerate(blocks)
            ),
        )
        (path.parent / "all.gz").write_bytes(b"".join(blocks))
    found = {
        line.split()[0].decode() for line in read_usual_lines(path, [prefix] if prefix else [])
    }
    assert {key for key in KEYS if key.startswith(prefix)} <= found


def test_a_cluster_whose_keys_are_no_surts_is_read_whole(tmp_path: Path) -> None:
    block = gzip.compress(ROW + b"\n")
    (tmp_path / "x.gz").write_bytes(block * 2)
    lines = [
        f"h.org/ 2014\tx.gz\t{number * len(block)}\t{len(block)}".encode() for number in range(2)
    ]
    assert len(list(read_usual_lines(write(tmp_path / "cluster.idx", *lines), ["com,a)/"]))) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(
            b"key 2014\tgone.gz\t0\t10",
            r"gone\.gz: block of a ZipNum cluster cannot be read: No such file",
            id="no file",
        ),
        pytest.param(
            b"key 2014\tx.gz\t1\t10",
            r"x\.gz: no ZipNum block at byte 1",
            id="no block",
        ),
        pytest.param(
            b"key 2014\tx.gz\tfar\t10",
            r"cluster\.idx, line 1: is not the entry of a ZipNum block",
            id="no number",
        ),
        pytest.param(
            b"key 2014 x.gz",
            r"cluster\.idx, line 1: is not the entry of a ZipNum block",
            id="no index",
        ),
    ],
)
def test_a_cluster_that_does_not_fit_is_refused(line: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(ROW))
    with pytest.raises(InputError, match=message):
        list(read_usual_lines(write(tmp_path / "cluster.idx", line)))


def test_the_layouts_in_use_are_documented() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs/reference/filter.md").read_text("utf-8")
    for layout in LAYOUTS.values():
        assert f"`{' '.join(layout)}`" in text
