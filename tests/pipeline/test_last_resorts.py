"""Payloads that filter cannot find from rows alone: one batch gives the graph of many batches."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from arclink.extract import reading_tasks as further_captures
from arclink.filter.rules import Rules
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.model import Checksum, Memento, Surt, Timestamp, UriR
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.pointers import PointerKind, format_pointer, parse_pointer
from arclink.rows.relations import format_memento
from arclink.store.known_payloads import awaited_contents
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, warc
from tests.pipeline.batch_orders import (
    ALONE,
    DIGEST,
    damaged,
    links_of,
    page,
    revisit,
    row,
    same_in_all_batches,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "archive"
    path.mkdir()
    return path


@pytest.mark.parametrize(
    "rules", [Rules(), Rules(checksum=False)], ids=["row without checksum", "checksums not trusted"]
)
def test_a_revisit_finds_the_payload_that_was_digested_when_it_was_read(
    rules: Rules, folder: Path, tmp_path: Path
) -> None:
    (folder / "a.warc").write_bytes(page("http://h.example/a/", 1))
    (folder / "b.warc").write_bytes(
        revisit("http://h.example/b/", 2, f"WARC-Payload-Digest: {DIGEST}")
    )
    cdx = tmp_path / "rows.cdx"
    checksum = "-" if rules.checksum else DIGEST[5:]
    cdx.write_text(
        row("http://h.example/a/", 1, "a.warc", 0, checksum)
        + row("http://h.example/b/", 2, "b.warc", 0, mime="warc/revisit")
    )
    store = same_in_all_batches(
        folder, tmp_path, BuildSettings(rules=rules, runner="inline", cores=1), [cdx]
    )
    with open_store(str(store)) as opened:
        assert links_of(opened, "example,h)/a", "example,h)/b") == {
            ("http://h.example/a/", "01"): ["http://h.example/a/next.html"],
            ("http://h.example/b/", "02"): ["http://h.example/b/next.html"],
        }


def test_tasks_find_the_mementos_of_earlier_batches(folder: Path, tmp_path: Path) -> None:
    """As the driver does for a store on this machine."""
    digest = f"WARC-Payload-Digest: {DIGEST}"
    (folder / "b.warc").write_bytes(
        revisit("http://h.example/b/", 2, digest) + revisit("http://h.example/c/", 3, digest)
    )
    path = tmp_path / "l.db"
    build_store(folder, path, ALONE)
    digested = [
        Memento(
            Surt("example,h)/a"),
            Timestamp(f"2020010100000{second}"),
            UriR("http://h.example/a"),
            Checksum(checksum),
            "200",
            "text/html",
            "response",
            "a.warc",
            second,
            9,
            "-",
        )
        for second, checksum in ((1, DIGEST[5:]), (4, DIGEST[5:]), (5, "OTHER"))
    ]
    (part := tmp_path / "part-00000").write_bytes(
        b"".join(format_memento(memento) + b"\n" for memento in digested)
    )
    with open_store(str(path)) as store:
        expected = [format_pointer(one) for one in awaited_contents(digested, store)]
    run = JobRunner("inline", 1, tmp_path / "tasks")
    run.run(JOBS["awaited"], [part], tmp_path / "out", {"store": str(path)})
    rows = [row for one in parts_of(tmp_path / "out") for row in one.read_bytes().splitlines()]
    assert rows == [b"pointers\t" + row for row in expected]
    (pointer,) = map(parse_pointer, expected)
    assert (pointer.kind, pointer.file, pointer.offset) == (PointerKind.LAST_RESORT, "a.warc", 1)
    assert pointer.originals == ("http://h.example/b/", "http://h.example/c/")
    assert pointer.chunk == 1, "the payload itself was counted when it was read"


@pytest.mark.parametrize("batches", [["a", "b", "c"], ["a", "bc"]], ids=["three builds", "two"])
@pytest.mark.parametrize("is_engine", [False, True], ids=["driver", "tasks"])
def test_links_that_could_not_be_read_come_from_a_later_capture(
    batches: list[str], is_engine: bool, folder: Path, tmp_path: Path
) -> None:
    """The file with the payload of a revisit is away while the revisit is built."""
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    (folder / "a.warc").write_bytes(page("http://h.example/a/", 1))
    (folder / "b.warc").write_bytes(
        revisit("http://h.example/b/", 2, f"WARC-Payload-Digest: {DIGEST}")
    )
    (folder / "c.warc").write_bytes(page("http://h.example/c/", 3))
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(
        row("http://h.example/a/", 1, "a.warc", 0)
        + row("http://h.example/b/", 2, "b.warc", 0, mime="warc/revisit")
        + row("http://h.example/c/", 3, "c.warc", 0, "-")
    )
    path = tmp_path / "l.db"
    settings = replace(ALONE, batch_bytes=1)
    counts = Counter[Reason]()
    for files in batches:
        inputs = [str(folder / f"{file}.warc") for file in files]
        report = build_store(folder, path, settings, inputs, [cdx], conf if is_engine else None)
        counts += report.counts
        if files == "a":
            (folder / "a.warc").rename(tmp_path / "away.warc")
    assert counts[Reason.PAYLOAD_FILE_MISSING] == 1
    with open_store(str(path)) as opened:
        assert links_of(opened, *(f"example,h)/{name}" for name in "abc")) == {
            (f"http://h.example/{name}/", f"0{second}"): [f"http://h.example/{name}/next.html"]
            for second, name in enumerate("abc", 1)
        }
        assert list(opened.verify()) == []


def test_captures_are_tried_until_one_is_sound(folder: Path, tmp_path: Path) -> None:
    digest = f"WARC-Payload-Digest: {DIGEST}"
    for number in range(6):
        record = page(f"http://h.example/{number}/", number, digest)
        (folder / f"{number}.warc").write_bytes(record if number == 5 else damaged(record))
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(
        "".join(
            row(f"http://h.example/{number}/", number, f"{number}.warc", 0) for number in range(6)
        )
    )
    store = same_in_all_batches(folder, tmp_path, ALONE, [cdx])
    with open_store(str(store)) as opened:
        assert links_of(opened, *(f"example,h)/{number}" for number in range(6))) == {
            (f"http://h.example/{number}/", f"0{number}"): [f"http://h.example/{number}/next.html"]
            for number in range(6)
        }


@pytest.mark.parametrize("is_engine", [False, True], ids=["driver", "tasks"])
def test_captures_in_one_file_are_tried_too_and_every_payload_ends_once(
    is_engine: bool, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    monkeypatch.setattr(further_captures, "LAST_RESORTS", 3)
    sound = page("http://h.example/9/", 9, f"WARC-Payload-Digest: {DIGEST}")
    (folder / "a.warc").write_bytes(sound)
    cdx = tmp_path / "rows.cdx"
    gone = [
        row(f"http://h.example/{number}/", number, "a.warc", 50_000 + number) for number in range(9)
    ]
    other = [row("http://h.example/x", 1, "a.warc", 60_000, "B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A")]
    cdx.write_text("".join([*gone, row("http://h.example/9/", 9, "a.warc", 0), *other]))
    report = build_store(
        folder, tmp_path / "l.db", ALONE, cdx=[cdx], conf=conf if is_engine else None
    )
    with open_store(str(tmp_path / "l.db")) as opened:
        links = links_of(opened, *(f"example,h)/{number}" for number in range(10)), "example,h)/x")
    assert links.pop(("http://h.example/x", "01")) is None
    assert links == {
        (f"http://h.example/{number}/", f"0{number}"): [f"http://h.example/{number}/next.html"]
        for number in range(10)
    }
    payloads = {
        reason: count for reason, count in report.counts.items() if reason.group == "payloads"
    }
    assert payloads == {Reason.PAYLOAD_READ: 1, Reason.PAYLOAD_PAST_END: 1}
    assert report.counts[Reason.MEMENTO_WITH_PAYLOAD] == 2
    assert report.counts[Reason.NOTE_FALL_BACK] == 1


def test_a_revisit_of_what_the_rules_leave_out_says_so(folder: Path, tmp_path: Path) -> None:
    digest = f"WARC-Payload-Digest: {DIGEST}"
    (folder / "a.warc").write_bytes(
        page("http://h.example/a", 1, digest, mime="image/png")
        + revisit("http://h.example/b", 2, digest)
    )
    report = build_store(folder, tmp_path / "l.db", ALONE)
    assert report.counts[Reason.PAYLOAD_LEFT_OUT] == 1
    assert report.counts[Reason.PAYLOAD_NOT_AT_HAND] == 0
    with open_store(str(tmp_path / "l.db")) as opened:
        from arclink.access.evidence import explain

        (explanation,) = explain(opened, "http://h.example/b")
    assert explanation.reason is Reason.PAYLOAD_LEFT_OUT


def test_a_later_revisit_of_an_image_of_the_same_page_says_so_too(
    folder: Path, tmp_path: Path
) -> None:
    digest = f"WARC-Payload-Digest: {DIGEST}"
    (folder / "a.warc").write_bytes(page("http://h.example/a", 1, digest, mime="image/png"))
    (folder / "b.warc").write_bytes(revisit("http://h.example/a", 2, digest))
    for name in ("a.warc", "b.warc"):
        build_store(folder, tmp_path / "l.db", ALONE, inputs=[str(folder / name)])
    with open_store(str(tmp_path / "l.db")) as opened:
        from arclink.access.evidence import explain

        reasons = [explanation.reason for explanation in explain(opened, "http://h.example/a")]
    assert reasons == [Reason.MEMENTO_MIME, Reason.PAYLOAD_LEFT_OUT]


REFERS = (
    "WARC-Refers-To-Target-URI: http://h.example/r",
    "WARC-Refers-To-Date: 2020-01-01T00:00:01Z",
)


@pytest.mark.parametrize(
    ("fields", "headers", "links"),
    [
        pytest.param(REFERS, ["Location: /there"], ["http://h.example/there"], id="with Location"),
        pytest.param(REFERS, [], ["http://h.example/here"], id="refers to the redirect"),
        pytest.param(REFERS[1:], [], ["http://h.example/here"], id="refers by time alone"),
        pytest.param((), [], None, id="refers to nothing"),
        pytest.param(
            ("WARC-Refers-To-Target-URI: http://h.example/other", REFERS[1]),
            [],
            None,
            id="refers to another address",
        ),
        pytest.param(
            (REFERS[0], "WARC-Refers-To-Date: 2019-01-01T00:00:01Z"),
            [],
            None,
            id="refers to what is not here",
        ),
    ],
)
def test_a_revisit_of_a_redirect_leads_where_the_redirect_does(
    fields: tuple[str, ...],
    headers: list[str],
    links: list[str] | None,
    folder: Path,
    tmp_path: Path,
) -> None:
    redirect = warc(
        "http://h.example/r",
        http(b"moved", "Location: /here", status="301 Moved"),
        date="2020-01-01T00:00:01Z",
    )
    again = revisit(
        "http://h.example/r",
        2,
        f"WARC-Payload-Digest: {DIGEST}",
        *fields,
        status="301 Moved",
        headers=tuple(headers),
    )
    (folder / "a.warc").write_bytes(redirect)
    (folder / "b.warc").write_bytes(again)
    store = same_in_all_batches(folder, tmp_path, ALONE, [])
    with open_store(str(store)) as opened:
        assert links_of(opened, "example,h)/r") == {
            ("http://h.example/r", "01"): ["http://h.example/here"],
            ("http://h.example/r", "02"): links,
        }
