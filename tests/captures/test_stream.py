"""A stream has every capture of its part once, in order, with its bytes or a reason."""

import base64
import gzip
import hashlib
import random
import shutil
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import brotli  # type: ignore[import-untyped]  # it has no types
import pytest
from click.testing import CliRunner
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from arclink.access.declarations import BadParameterError
from arclink.archives.reader import ArchiveFile
from arclink.archives.records import ArchiveRecord
from arclink.captures import read as page_reading
from arclink.captures.queries import StreamQuery
from arclink.captures.ranks import KEPT_TABLES, RankTables
from arclink.captures.read import PageReader
from arclink.captures.stream import CaptureStream
from arclink.captures.subsets.catalog import open_graph
from arclink.captures.warc import END_URI
from arclink.captures.write import write_stream
from arclink.cli.main import group
from arclink.errors import GoneError, InputError, UsageError
from arclink.linkgraph import LinkGraph
from arclink.model import Forgotten, Surt
from arclink.reasons import Reason
from arclink.service.application import create_app
from arclink.store import archive_paths
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from tests.archives.made_archives import arc, http
from tests.captures.archives import T1, T2, T3, Record, build, store_of, write_warc
from tests.captures.reading import (
    bytes_of,
    identities_in,
    identity,
    lines_of,
    opened,
    query_of,
)
from tests.demos import Demos
from tests.store.memory_store import MemoryStore

ORDERS = ("surt", "file", "time", "rank")
A, B, C = "http://a.example/", "http://b.example/x", "http://c.example/"


@pytest.mark.parametrize(
    ("order", "facts"),
    [
        ("surt", ("surt", "timestamp")),
        ("file", ("file", "offset")),
        ("time", ("timestamp", "surt")),
    ],
)
def test_captures_come_in_their_order(demos: Demos, order: str, facts: tuple[str, str]) -> None:
    captures, _ = lines_of(bytes_of(demos.store(), query_of(order)))
    keys = [tuple(capture[fact] for fact in facts) for capture in captures]
    assert keys == sorted(keys)
    assert sorted(map(identity, captures)) == identities_in(demos.store())


def test_the_page_with_most_links_to_it_comes_first_by_rank(tmp_path: Path) -> None:
    def linking(uri: str, *targets: str) -> Record:
        return Record(uri, T1, b"".join(b"<a href=%s>x</a>" % one.encode() for one in targets))

    store = store_of(tmp_path, [linking(A, C), linking(B, C, A), linking(C)])
    captures, _ = lines_of(bytes_of(store, query_of("rank"), tmp_path))
    assert [capture["uri"] for capture in captures] == [C, A, B]


@pytest.mark.parametrize("order", ORDERS)
def test_parts_are_disjoint_and_complete(demos: Demos, tmp_path: Path, order: str) -> None:
    parts = [
        lines_of(bytes_of(demos.store(), query_of(order, part=f"{number}/3"), tmp_path))
        for number in (1, 2, 3)
    ]
    found = [identity(capture) for captures, _ in parts for capture in captures]
    assert sorted(found) == identities_in(demos.store())
    hosts = [{capture["surt"].partition(")")[0] for capture in captures} for captures, _ in parts]
    assert sum(map(len, hosts)) == len(set().union(*hosts))
    assert all(hosts)
    assert all(end["complete"] for _, end in parts)


def test_each_archive_file_is_opened_once_in_file_order(
    demos: Demos, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths: list[str] = []

    class Watched(ArchiveFile):
        def __init__(self, path: str) -> None:
            super().__init__(path)
            paths.append(path)

    monkeypatch.setattr(archive_paths, "ArchiveFile", Watched)
    monkeypatch.setattr(archive_paths, "MOST_OPEN", 1)
    bytes_of(demos.store(), query_of("file", form="warc"))
    assert len(paths) == len(set(paths)) > 3


def test_bodies_are_those_that_a_browser_reads(tmp_path: Path) -> None:
    packed = gzip.compress(b"<p>packed", mtime=0)
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Encoding: gzip")
    store = store_of(tmp_path, [Record(A, T1, packed, head), Record(B, T1, b"")])
    captures, end = lines_of(bytes_of(store, query_of()))
    assert [base64.b64decode(one["body"]) for one in captures] == [b"<p>packed", b""]
    assert captures[0]["headers"] == [["Content-Type", "text/html"], ["Content-Encoding", "gzip"]]
    assert (end["captures"], end["with_bytes"], end["lost"]) == (2, 2, {})


def test_a_long_body_is_streamed(tmp_path: Path) -> None:
    body = b"<p>" + bytes(range(32, 127)) * 40_000
    store = store_of(tmp_path, [Record(A, T1, body)])
    data = bytes_of(store, query_of())
    assert base64.b64decode(lines_of(data)[0][0]["body"]) == body
    with opened(store) as (graph, reader):
        (capture,) = CaptureStream(graph, reader, query_of())
        with capture.read() as page:
            assert max(map(len, page.decoded())) < len(body) / 2


def test_a_revisit_has_the_body_of_its_payload(tmp_path: Path) -> None:
    digest = Record(A, T1, b"<p>one").to_bytes().split(b"sha1:")[1][:32].decode()
    again = Record(B, T2, b"", (b"HTTP/1.1 200 OK",), "revisit", digest=digest)
    store = store_of(tmp_path, [Record(A, T1, b"<p>one"), again])
    captures, _ = lines_of(bytes_of(store, query_of()))
    assert base64.b64decode(captures[1]["body"]) == b"<p>one"
    assert captures[1]["payload"] == {"file": "crawl.warc.gz", "offset": captures[0]["offset"]}


def test_captures_without_bytes_are_counted_by_reason(tmp_path: Path) -> None:
    first = write_warc(tmp_path / "archive" / "a.warc", [Record(A), Record(B)])
    second = write_warc(tmp_path / "archive" / "b.warc", [Record(C)])
    store = build(tmp_path, [first, second])
    second.unlink()
    data = first.read_bytes()
    first.write_bytes(data[: data.rindex(b"WARC/1.0")] + b"x" * 400)
    captures, end = lines_of(bytes_of(store, query_of()))
    assert [one.get("reason") for one in captures] == [
        None,
        "PAYLOAD_DAMAGED",
        "PAYLOAD_FILE_MISSING",
    ]
    assert end["lost"] == {"PAYLOAD_DAMAGED": 1, "PAYLOAD_FILE_MISSING": 1}
    assert (end["captures"], end["with_bytes"], end["complete"]) == (3, 1, True)
    for form in ("warc", "text"):
        found = bytes_of(store, query_of(form=form))
        assert b'"lost":{"PAYLOAD_DAMAGED":1,"PAYLOAD_FILE_MISSING":1}' in found


def test_a_coding_that_cannot_be_undone_is_counted(tmp_path: Path) -> None:
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Encoding: gzip")
    broken = gzip.compress(b"<p>" + bytes(range(256)) * 50, mtime=0)[:-90]
    store = store_of(tmp_path, [Record(A, T1, broken[:40] + b"\xff" * 60, head)])
    captures, end = lines_of(bytes_of(store, query_of()))
    assert captures[0]["reason"] in Reason.__members__
    assert end["lost"] == {captures[0]["reason"]: 1}


MANY_CODINGS = (b"HTTP/1.1 200 OK", b"Content-Encoding: " + b", ".join([b"gzip"] * 2_000))


@pytest.mark.parametrize("form", ["jsonl", "text"])
def test_a_stream_goes_on_after_a_capture_with_many_codings(tmp_path: Path, form: str) -> None:
    packed = gzip.compress(b"<p>packed", mtime=0)
    store = store_of(tmp_path, [Record(A), Record(B, T1, packed, MANY_CODINGS), Record(C)])
    whole = bytes_of(store, query_of(form=form))
    assert b'"captures":3,"with_bytes":2,"lost":{"PAYLOAD_CODING":1}' in whole
    assert whole.count(C.encode()) > 0
    tokens = [one["after"] for one in lines_of(bytes_of(store, query_of()))[0]]
    assert C.encode() in bytes_of(store, query_of(form=form, after=tokens[1]))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RecursionError("too deep"), "PAYLOAD_FAILED"),
        (UnicodeError("odd"), "PAYLOAD_FAILED"),
        (MemoryError(), "PAYLOAD_MEMORY"),
        (InputError("the disk failed"), "PAYLOAD_FILE_MISSING"),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "warc", "text"])
def test_whatever_fails_loses_one_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, error: Exception, reason: str
) -> None:
    store = store_of(tmp_path, [Record(A), Record(B, T1, b"<p>bad"), Record(C)])

    def failing(record: ArchiveRecord) -> bool:
        if record.uri == B:
            raise error
        return False

    monkeypatch.setattr(page_reading, "is_described", failing)
    found = bytes_of(store, query_of(form=form))
    assert b'"captures":3,"with_bytes":2,"lost":{"%b":1}' % reason.encode() in found
    assert b'"complete":true' in found


def test_what_fails_within_a_body_ends_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(tmp_path, [Record(A), Record(B), Record(C)])

    def failing(pieces: Iterator[bytes], *_: object) -> Iterator[bytes]:
        yield next(iter(pieces)) * 50_000
        raise RecursionError("too deep")

    monkeypatch.setattr(page_reading, "stream_decoded", failing)
    captures, end = lines_of(bytes_of(store, query_of()))
    assert [one["reason"] for one in captures] == ["PAYLOAD_FAILED"] * 3
    assert base64.b64decode(captures[0]["body"]) == b"<p>text" * 50_000
    assert end["lost"] == {"PAYLOAD_FAILED": 3}


@pytest.mark.parametrize("form", ["jsonl", "warc"])
def test_a_limited_stream_cuts_what_grows(tmp_path: Path, form: str) -> None:
    bomb = brotli.compress(bytes(3 << 20), quality=1)
    head = (b"HTTP/1.1 200 OK", b"Content-Encoding: br")
    noise = random.Random(1).randbytes(3 << 20)
    records = [Record(A, T1, bomb, head), Record(B, T1, noise), Record(C, T1, bytes(3 << 20))]
    store = store_of(tmp_path, records)
    query = query_of(form=form)
    with opened(store) as (graph, reader):
        whole = b"".join(write_stream(CaptureStream(graph, reader, query), query.form, 1 << 30))
        stream = CaptureStream(graph, reader, query)
        cut = b"".join(write_stream(stream, query.form, 2 << 20))
    assert b'"lost":{}' in whole
    assert stream.lost == {"PAYLOAD_TOO_LONG": 2 if form == "jsonl" else 1}
    if form == "jsonl":
        captures, _ = lines_of(cut)
        assert [len(base64.b64decode(one["body"])) >> 20 for one in captures] == [2, 3, 2]
        assert captures[0]["reason"] == captures[2]["reason"] == "PAYLOAD_TOO_LONG"


def test_a_text_that_was_cut_says_so(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, b"<p>" + b"text " * 900_000)])
    found = bytes_of(store, query_of(form="text"))
    assert b"WARC-Truncated: length\r\n" in found
    assert b'"lost":{"PAYLOAD_TOO_LONG":1}' in found


def test_the_text_of_a_limited_stream_is_that_of_fewer_bytes(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, b"<p>x<!--" + b"-x" * (3 << 20) + b"--><p>end")])
    query = query_of(form="text")
    with opened(store) as (graph, reader):
        whole = b"".join(write_stream(CaptureStream(graph, reader, query), query.form, 1 << 30))
        cut = b"".join(write_stream(CaptureStream(graph, reader, query), query.form, 4 << 20))
    assert (b"end\n" in whole, b'"lost":{}' in whole) == (True, True)
    assert (b"end\n" in cut, b'"lost":{"PAYLOAD_TOO_LONG":1}' in cut) == (False, True)


def test_a_limit_ends_the_stream_and_says_so(demos: Demos) -> None:
    captures, end = lines_of(bytes_of(demos.store(), query_of(limit=7)))
    assert len(captures) == 7
    assert (end["complete"], end["why"]) == (False, "limit of 7 captures")
    rest, last = lines_of(bytes_of(demos.store(), query_of(after=end["after"])))
    assert [*map(identity, captures), *map(identity, rest)] == identities_in(demos.store())
    assert last["captures"] == 300


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("form", ["jsonl", "warc", "text"])
def test_a_store_without_captures_gives_an_end(tmp_path: Path, order: str, form: str) -> None:
    found = bytes_of(MemoryStore(), query_of(order, form=form), tmp_path)
    assert b'"complete":true,"why":"","captures":0' in found


def test_warc_records_are_those_of_the_archive(demos: Demos) -> None:
    found = bytes_of(demos.store(), query_of("file", form="warc"))
    records = {}
    for path in sorted(demos.archive().glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, no_record_parse=True):
                headers = record.rec_headers
                records[headers.get_header("WARC-Record-ID")] = (
                    headers.get_header("WARC-Type"),
                    hashlib.sha1(record.raw_stream.read()).hexdigest(),
                )
    streamed = list(_blocks_of(found))
    assert streamed.pop()[2] == END_URI
    assert len(streamed) == 300
    assert all(records[name] == (kind, digest) for name, kind, _, digest in streamed)


def _blocks_of(data: bytes) -> list[tuple[str, str, str, str]]:
    return [
        (
            record.rec_headers.get_header("WARC-Record-ID"),
            record.rec_headers.get_header("WARC-Type"),
            record.rec_headers.get_header("WARC-Target-URI"),
            hashlib.sha1(record.raw_stream.read()).hexdigest(),
        )
        for record in ArchiveIterator(BytesIO(data), no_record_parse=True)
    ]


def test_records_of_arc_files_become_warc_records(tmp_path: Path) -> None:
    block = http(b"<p>old", "Content-Type: text/html")
    path = tmp_path / "archive" / "old.arc"
    path.parent.mkdir()
    first = arc(
        "filedesc://old.arc",
        b"1 0 x\nURL IP-address Archive-date Content-type Archive-length\n",
        mime="text/plain",
    )
    path.write_bytes(first + arc(A, block, date=T1))
    store = build(tmp_path, [path])
    found = bytes_of(store, query_of(form="warc"))
    (_, kind, uri, digest), _ = _blocks_of(found)
    assert (kind, uri, digest) == ("response", A, hashlib.sha1(block).hexdigest())
    assert b"WARC-Date: 2010-01-01T00:00:00Z" in found


def test_a_long_record_that_breaks_off_is_left_out_of_warc(tmp_path: Path) -> None:
    body = bytes(range(256)) * 8000
    path = write_warc(
        tmp_path / "archive" / "a.warc", [Record(A, T1, b"<p>x"), Record(B, T1, body)]
    )
    store = build(tmp_path, [path])
    path.write_bytes(path.read_bytes()[:-1_000])
    found = bytes_of(store, query_of(form="warc"))
    assert [uri for _, _, uri, _ in _blocks_of(found)] == [A, END_URI]
    assert b'"lost":{"PAYLOAD_DAMAGED":1}' in found


def test_text_is_the_visible_text_of_a_page(tmp_path: Path) -> None:
    image = (b"HTTP/1.1 200 OK", b"Content-Type: image/png")
    page = Record(A, T1, b"<title>T</title><h1>Head</h1><p>One <b>two</b>")
    store = store_of(tmp_path, [page, Record(B, T1, b"\x89PNG", image)])
    found = bytes_of(store, query_of(form="text"))
    assert b"Content-Length: 16\r\n" in found
    assert b"\r\n\r\nT\n\nHead\nOne two\n\r\n\r\n" in found
    assert b'"lost":{"MEMENTO_MIME":1}' in found


# Tokens


def test_a_damaged_token_is_refused(demos: Demos) -> None:
    captures, _ = lines_of(bytes_of(demos.store(), query_of(limit=2)))
    token = captures[1]["after"]
    for index in range(0, len(token), 7):
        other = token[:index] + ("A" if token[index] != "A" else "B") + token[index + 1 :]
        with pytest.raises(BadParameterError, match=r"after: .*damaged or incomplete"):
            bytes_of(demos.store(), query_of(after=other))
    with pytest.raises(BadParameterError, match="damaged or incomplete"):
        bytes_of(demos.store(), query_of(after=token[:-5]))


def test_a_token_of_another_stream_is_refused(demos: Demos, tmp_path: Path) -> None:
    store = demos.store()
    captures, _ = lines_of(bytes_of(store, query_of(part="1/2", limit=2)))
    token = captures[1]["after"]
    with pytest.raises(BadParameterError, match="of order=time; this one is of order=surt"):
        bytes_of(store, query_of("time", token, part="1/2"))
    with pytest.raises(BadParameterError, match="of part=2/2; this one is of part=1/2"):
        bytes_of(store, query_of(after=token, part="2/2"))
    with (
        open_graph(str(store), "status:200") as subset,
        pytest.raises(BadParameterError, match="of another subset"),
    ):
        bytes_of(subset, query_of(after=token, part="1/2"))
    with pytest.raises(BadParameterError, match="it is another store, or an older copy"):
        bytes_of(MemoryStore(), query_of(after=token, part="1/2"))


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/100000", "-1/2"])
def test_a_part_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(BadParameterError, match="part"):
        StreamQuery.from_parameters(iter([("part", text)]))


# Changes during a stream


def _batch(folder: Path, store: Path) -> None:
    """Load a batch with captures before, between and after those of the store."""
    records = [
        Record("http://0.example/", T1),
        Record(A, T2, b"<p>new"),
        Record("http://m.example/", "20100101000001"),
        Record("http://z.example/", T3),
    ]
    build(folder, [write_warc(store.parent / "archive" / "aa.warc.gz", records)])


@pytest.mark.parametrize("order", ORDERS)
def test_a_batch_between_two_parts_of_a_stream_loses_and_repeats_nothing(
    tmp_path: Path, order: str
) -> None:
    records = [Record(f"http://{name}.example/", time) for name in "abcdnx" for time in (T1, T3)]
    store = store_of(tmp_path, records)
    before = identities_in(store)
    found: list[tuple[str, ...]] = []
    after = ""
    for number in range(40):
        captures, end = lines_of(bytes_of(store, query_of(order, after, limit=2), tmp_path))
        found += map(identity, captures)
        after = end["after"]
        if number == 1:
            _batch(tmp_path, store)
        if end["complete"]:
            break
    assert len(found) == len(set(found))
    assert set(before) <= set(found) <= set(identities_in(store))


@pytest.mark.parametrize("order", ORDERS)
def test_a_batch_during_an_open_stream_loses_and_repeats_nothing(
    tmp_path: Path, order: str
) -> None:
    records = [Record(f"http://{name}.example/", time) for name in "abcdnx" for time in (T1, T3)]
    store = store_of(tmp_path, records)
    before = identities_in(store)
    found: list[tuple[str, ...]] = []
    with opened(store) as (graph, reader):
        stream = CaptureStream(graph, reader, query_of(order), tables=RankTables(tmp_path))
        for number, capture in enumerate(stream):
            found.append(_of(capture.memento))
            if number == 3:
                _batch(tmp_path, store)
        assert stream.end().is_complete
        assert stream.end().batch == 1
    assert len(found) == len(set(found))
    assert set(before) <= set(found) <= set(identities_in(store))


@pytest.fixture(scope="module")
def with_copies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """A store, and what it becomes when a batch brings copies of its captures and a new one: in a
    file that sorts before that of the store, and after it.
    """
    records = [Record(f"http://{name}.example/", time) for name in "abcd" for time in (T1, T3)]
    folder = tmp_path_factory.mktemp("copies")
    store = store_of(folder, records)
    after = []
    for name in ("aa.warc.gz", "zz.warc.gz"):
        (folder / name[:2]).mkdir()
        shutil.copy(store, folder / name[:2])
        copies = [*reversed(records), Record("http://new.example/", T2)]
        after.append(build(folder / name[:2], [write_warc(folder / "archive" / name, copies)]))
    return store, after


@pytest.mark.parametrize("order", ORDERS)
def test_copies_in_a_later_batch_move_no_capture(
    with_copies: tuple[Path, list[Path]], tmp_path: Path, order: str
) -> None:
    before, after = with_copies
    whole, _ = lines_of(bytes_of(before, query_of(order), tmp_path))
    for store in after:
        assert len(identities_in(store)) == len(whole) + 1
        for done in range(1, len(whole)):
            captures, end = lines_of(bytes_of(before, query_of(order, limit=done), tmp_path))
            rest, last = lines_of(bytes_of(store, query_of(order, end["after"]), tmp_path))
            found = [*captures, *rest]
            assert len(found) == last["captures"]
            old = [one for one in found if "new" not in one["uri"]]
            assert [*map(identity, old)] == [*map(identity, whole)]
            if order == "file":
                addresses = [(one["file"], one["offset"]) for one in found]
                assert addresses == [(one["file"], one["offset"]) for one in whole]


@pytest.mark.parametrize("done", range(4))
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda whole: whole[:-50], id="cut off"),
        pytest.param(lambda whole: whole[:-900] + bytes(400) + whole[-500:], id="overwritten"),
    ],
)
def test_a_stream_goes_on_after_a_file_was_repaired(
    tmp_path: Path, damage: Callable[[bytes], bytes], done: int
) -> None:
    """Its sound records are where they were, so only captures that the store lacked are new."""
    records = [Record(f"http://{name}.example/", T1) for name in "abcdef"]
    path = write_warc(tmp_path / "archive" / "crawl.warc.gz", records)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    store = build(tmp_path, [path])
    known = identities_in(store)
    captures, end = lines_of(bytes_of(store, query_of("file", limit=done + 1)))
    path.write_bytes(whole)
    build(tmp_path, [path])
    rest, last = lines_of(bytes_of(store, query_of("file", end["after"])))
    came = [*map(identity, [*captures, *rest])]
    assert len(came) == len(set(came)) == last["captures"]
    assert set(known) <= set(came) <= set(identities_in(store))
    assert last["complete"]
    assert not any("reason" in one for one in rest)


def test_a_damaged_file_that_was_read_again_ends_a_stream_whose_position_it_moves(
    tmp_path: Path,
) -> None:
    records = [Record(f"http://{name}.example/", T1) for name in "abcd"]
    path = write_warc(tmp_path / "archive" / "crawl.warc.gz", records)
    whole = path.read_bytes()
    path.write_bytes(whole[:-50])
    store = build(tmp_path, [path])
    captures, end = lines_of(bytes_of(store, query_of("file", limit=1)))
    assert captures[0]["offset"] == 0
    write_warc(path, records[::-1])
    build(tmp_path, [path])
    with pytest.raises(GoneError, match=r"crawl.warc.gz changed and was read again"):
        bytes_of(store, query_of("file", end["after"]))
    assert len(lines_of(bytes_of(store, query_of("file")))[0]) == 4
    assert len(lines_of(bytes_of(store, query_of("surt")))[0]) == 4


def _of(memento: object) -> tuple[str, ...]:
    return tuple(
        str(getattr(memento, name)) for name in ("surt", "timestamp", "original", "checksum")
    )


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_forgotten_during_a_stream_does_not_come(tmp_path: Path, order: str) -> None:
    records = [Record(f"http://{name}.example/", time) for name in "abcdnx" for time in (T1, T3)]
    store = store_of(tmp_path, records)
    hosts = [f"example,{name})/" for name in "cdnx"]
    found: list[str] = []
    forgotten = ""
    with opened(store) as (graph, reader):
        stream = CaptureStream(graph, reader, query_of(order), tables=RankTables(tmp_path))
        for number, capture in enumerate(stream):
            found.append(capture.memento.surt)
            if number == 3:
                forgotten = next(host for host in hosts if host not in found)
                with open_store(str(store), create=True) as other:
                    what = Forgotten(Surt(forgotten.removesuffix(")/")))
                    other.forget(Takedown(what, "", "2026-11-23T00:00:00Z"))
    assert forgotten
    assert forgotten not in found
    assert sorted(found) == sorted(surt for surt, *_ in identities_in(store))


def test_hidden_captures_do_not_come(demos: Demos, tmp_path: Path) -> None:
    surts = {surt for surt, *_ in identities_in(demos.store())}
    hidden = min(surts).partition(")")[0]
    with open_store(str(demos.store())) as graph:
        embargoed = EmbargoedStore(graph, Embargo(prefixes=(Surt(hidden),)))
        for order in ORDERS:
            captures, _ = lines_of(bytes_of(embargoed, query_of(order), tmp_path))
            found = {capture["surt"] for capture in captures}
            assert found == {surt for surt in surts if not surt.startswith(hidden)}


@pytest.mark.parametrize("order", ORDERS)
def test_a_subset_is_streamed_like_a_store(demos: Demos, tmp_path: Path, order: str) -> None:
    everything, _ = lines_of(bytes_of(demos.store(), query_of(order), tmp_path))
    expected = {identity(one) for one in everything if one["mime"] == "text/html"}
    with open_graph(str(demos.store()), "mime:text/html") as subset:
        found, after = [], ""
        while True:
            captures, end = lines_of(bytes_of(subset, query_of(order, after, limit=99), tmp_path))
            found += [identity(one) for one in captures]
            after = end["after"]
            if end["complete"]:
                break
    assert len(found) == len(expected)
    assert set(found) == expected


# Rank tables


def test_a_token_outlives_its_state_of_the_store_but_not_its_rank_table(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A), Record(B), Record(C)])
    cache = tmp_path / "cache"
    _, end = lines_of(bytes_of(store, query_of("rank", limit=1), cache))
    token = end["after"]
    for number in range(KEPT_TABLES):
        record = Record(f"http://n{number}.example/", T2)
        build(tmp_path, [write_warc(tmp_path / "archive" / f"n{number}.warc", [record])])
        assert len(lines_of(bytes_of(store, query_of("rank", token), cache))[0]) == 2 + number + 1
        bytes_of(store, query_of("rank", limit=1), cache)
    with pytest.raises(GoneError, match="Start the stream again without a token"):
        bytes_of(store, query_of("rank", token), cache)
    assert len(list((cache / "ranks").iterdir())) == KEPT_TABLES


def test_without_a_place_for_tables_there_is_no_order_by_rank(demos: Demos) -> None:
    with pytest.raises(BadParameterError, match="name a folder"):
        bytes_of(demos.store(), query_of("rank"))


# Python


def test_a_graph_streams_captures(demos: Demos) -> None:
    with LinkGraph(open_store(str(demos.store()))) as graph:
        stream = graph.stream(order="time", limit=3)
        captures = list(stream)
        assert [capture.memento.timestamp for capture in captures] == sorted(
            capture.memento.timestamp for capture in captures
        )
        rest = graph.stream(order="time", after=stream.after, limit=0)
        assert len(list(rest)) == 297
        with graph.stream(order="surt").__next__().read() as page:
            assert page.status == "200"
        with pytest.raises(BadParameterError, match="order"):
            graph.stream(order="size")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="all times"):
            graph.at("2010").stream()


def test_a_subset_of_a_subset_is_another_one_than_the_same_of_the_whole(demos: Demos) -> None:
    inner = "status:200"
    with LinkGraph(open_store(str(demos.store()))) as graph:
        of_2010 = graph.subset("from:2010").subset(inner)
        stream = of_2010.stream(order="time", limit=3)
        assert len(list(stream)) == 3
        rest = graph.subset("from:2010").subset(inner).stream(order="time", after=stream.after)
        assert len(list(rest)) == of_2010.stats().mementos - 3
        for other in (graph, graph.subset(inner), graph.subset("to:2009").subset(inner)):
            with pytest.raises(BadParameterError, match="after"):
                list(other.stream(order="time", after=stream.after))


def test_a_store_that_fails_in_the_middle_is_named_at_the_end(demos: Demos) -> None:
    with open_store(str(demos.store())) as graph:
        reader = PageReader(graph)
        stream = CaptureStream(graph, reader, query_of())
        first = next(stream)
        graph.close()
        assert first.after
        assert stream.end("the store is away").why == "the store is away"
        assert not stream.end("the store is away").is_complete
        reader.close()


def test_the_command_takes_the_words_of_exports_and_those_of_the_first_version(
    demos: Demos,
) -> None:
    def streamed(*words: str) -> bytes:
        done = CliRunner().invoke(group, ["stream", "--store", str(demos.store()), *words])
        assert done.exit_code == 0, done.output
        return done.stdout_bytes

    subset = "mime:text/html"
    lines = streamed("--subset", subset, "--format", "jsonl")
    assert streamed(subset, "--as", "jsonl") == lines
    assert len(lines_of(lines)[0]) < len(lines_of(streamed())[0])
    twice = ["stream", "--store", str(demos.store()), subset, "--subset", subset]
    with pytest.raises(UsageError, match="already named with --subset"):
        CliRunner().invoke(group, twice, catch_exceptions=False)


@pytest.mark.parametrize("form", ["jsonl", "warc"])
def test_a_bomb_does_not_fill_the_disk_of_who_calls_the_command(tmp_path: Path, form: str) -> None:
    """The command has the limit of the service, and an option for more or less."""
    bomb = gzip.compress(gzip.compress(bytes(32 << 20)))
    head = (b"HTTP/1.1 200 OK", b"Content-Encoding: gzip, gzip")
    store = store_of(tmp_path, [Record(A, T1, bomb, head), Record(B, T2, bytes(2 << 20))])

    def streamed(*words: str) -> tuple[int, bytes]:
        command = ["stream", "--store", str(store), "--format", form, *words]
        done = CliRunner().invoke(group, command)
        assert done.exit_code == 0, done.output
        return len(done.stdout_bytes) >> 20, done.stdout_bytes

    size, lines = streamed()
    assert size == (24 if form == "jsonl" else 2)
    assert (b'"lost":{"PAYLOAD_TOO_LONG":1}' in lines) == (form == "jsonl")
    assert streamed("--payload-limit", "1M")[0] == (2 if form == "jsonl" else 0)
    size, lines = streamed("--payload-limit", "1G")
    assert size == (45 if form == "jsonl" else 2)
    assert b'"lost":{}' in lines


def test_the_service_takes_both_words_for_the_format(demos: Demos) -> None:
    client = create_app(str(demos.store())).test_client()
    texts = [client.get(f"/stream?limit=9&{word}=text").data for word in ("format", "as")]
    assert texts[0] == texts[1]
    assert b"conversion" in texts[0]
