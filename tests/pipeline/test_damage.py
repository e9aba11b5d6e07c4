"""Archive files that are empty, cut short, damaged, or do not fit their CDX.

The build names each with its place and cause.
"""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from arclink.pipeline.build import BuildReport
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.file_ranges import Finding, format_finding, parse_finding
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, warc
from tests.pipeline.cdx_of_files import cdx_of
from tests.pipeline.store_contents import graph_of

ALONE = BuildSettings(runner="inline", cores=1)
TWO = BuildSettings(runner="local", cores=2)


def capture(number: int) -> bytes:
    noise = hashlib.sha512(b"%d" % number).hexdigest() * 9  # a cut of some bytes leaves the head
    body = f"<p>{noise}</p><a href=/to-{number}>x</a>".encode()
    digest = base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
    return warc(
        f"http://h/{number}",
        http(body, "Content-Type: text/html"),
        f"WARC-Payload-Digest: sha1:{digest}",
    )


WHOLE = gzipped([capture(number) for number in range(9)])
CUT = WHOLE[:-40]
LAST = len(gzipped([capture(number) for number in range(8)]))


def build(folder: Path, settings: BuildSettings = ALONE, **files: bytes) -> BuildReport:
    for name, data in files.items():
        (folder / f"{name}.warc.gz").write_bytes(data)
    return build_store(folder, folder / "links.db", settings)


@pytest.mark.parametrize("settings", [ALONE, TWO], ids=["inline", "local"])
@pytest.mark.parametrize(
    ("data", "offset", "cause", "gave_nothing"),
    [
        pytest.param(b"", 0, "empty: 0 bytes", True, id="empty"),
        pytest.param(gzipped([b""]), 0, "no record in its 20 bytes", True, id="empty gzip"),
        pytest.param(
            CUT,
            LAST,
            rf"cut short: the file ends within a gzip member at byte {LAST:,} of {len(CUT):,};",
            False,
            id="cut gzip",
        ),
        pytest.param(
            capture(0) + capture(1)[:-50],
            len(capture(0)),
            "cut short: the file ends within the record at byte [0-9,]+ of [0-9,]+;",
            False,
            id="cut",
        ),
        pytest.param(
            gzipped([capture(0)]) + b"no member" * 9 + gzipped([capture(1)]),
            len(gzipped([capture(0)])),
            "damaged: no gzip member begins here at byte",
            False,
            id="something else between records",
        ),
        pytest.param(
            gzipped([capture(0)])[:-30],
            0,
            "cut short: .* at byte 0",
            True,
            id="cut in its only record",
        ),
    ],
)
def test_damage_of_a_file_is_named_with_its_offset(
    tmp_path: Path,
    settings: BuildSettings,
    data: bytes,
    offset: int,
    cause: str,
    gave_nothing: bool,
) -> None:
    report = build(tmp_path, settings, bad=data, good=WHOLE)
    (damage,) = report.damaged
    assert (damage.file, damage.offset) == ("bad.warc.gz", offset)
    assert re.match(rf".*/bad\.warc\.gz: {cause}", str(damage))
    assert (damage.gave_nothing, report.needs_a_person) == (gave_nothing, gave_nothing)


@pytest.mark.parametrize(
    ("change", "cause", "gave_nothing"),
    [
        pytest.param(
            lambda offset: offset + 7,
            "9 of 9 records that its CDX lists are not at these places, the first at byte 7 "
            ".*another version",
            True,
            id="all offsets wrong",
        ),
        pytest.param(
            lambda offset: offset + 10_000_000,
            "9 of 9 records that its CDX lists are past its end, the first at byte "
            "10,000,000 .*truncated, or",
            True,
            id="all past the end",
        ),
        pytest.param(
            lambda offset: 0,
            "8 of 9 records that its CDX lists are not at these places, .*another record is there",
            False,
            id="others are there",
        ),
    ],
)
def test_a_cdx_that_does_not_fit_is_named(
    tmp_path: Path, change: Callable[[int], int], cause: str, gave_nothing: bool
) -> None:
    archive = tmp_path / "a.warc.gz"
    archive.write_bytes(WHOLE)
    cdx = cdx_of(tmp_path, ["a.warc.gz"], tmp_path / "a.cdxj")
    rows = []
    for line in cdx.read_text().splitlines():
        key, timestamp, fields = line.split(" ", 2)
        values = json.loads(fields)
        values["offset"] = str(change(int(values["offset"])))
        rows.append(f"{key} {timestamp} {json.dumps(values)}\n")
    cdx.write_text("".join(rows))
    report = build_store(tmp_path, tmp_path / "links.db", ALONE, inputs=[str(archive)], cdx=[cdx])
    (damage,) = report.damaged
    assert re.search(cause, damage.cause)
    assert damage.gave_nothing is gave_nothing
    assert report.needs_a_person is gave_nothing


def test_a_file_is_named_again_until_it_changes_and_then_read_again(tmp_path: Path) -> None:
    first = build(tmp_path, a=CUT, empty=b"")
    again = build(tmp_path)
    assert again.skipped == 2
    assert again.damaged == first.damaged
    assert again.needs_a_person
    mended = build(tmp_path, a=WHOLE, empty=gzipped([capture(20)]))
    assert (mended.skipped, mended.damaged, mended.needs_a_person) == (0, [], False)
    assert build(tmp_path).damaged == []
    (tmp_path / "anew").mkdir()
    build(tmp_path / "anew", a=WHOLE, empty=gzipped([capture(20)]))
    with (
        open_store(str(tmp_path / "links.db")) as opened,
        open_store(str(tmp_path / "anew/links.db")) as anew,
    ):
        assert graph_of(opened) == graph_of(anew)
        assert opened.stats().mementos == anew.stats().mementos
        assert [file.name for file in opened.files()] == ["a.warc.gz", "empty.warc.gz"]
        assert list(opened.verify()) == []


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param({Reason.PAYLOAD_READ: 9}, False, id="pages without links"),
        pytest.param({Reason.PAYLOAD_CODING: 1}, True, id="nothing could be decoded"),
        pytest.param({Reason.PAYLOAD_CODING: 1, Reason.LINK_KEPT: 1}, False, id="some links came"),
        pytest.param(
            {Reason.PAYLOAD_CODING: 1, Reason.PAYLOAD_KNOWN: 1}, False, id="links that are known"
        ),
        pytest.param({Reason.ROW_MALFORMED: 1}, True, id="no row could be read"),
        pytest.param({Reason.ROW_MALFORMED: 1, Reason.ROW_KEPT: 1}, False, id="one could"),
    ],
)
def test_input_that_should_have_links_but_gave_none_needs_attention(
    counts: dict[Reason, int], expected: bool
) -> None:
    assert BuildReport(batches=1, counts=Counter(counts)).needs_a_person is expected


def test_what_tasks_found_about_one_file_adds_up() -> None:
    one = Finding("a", "extract", read=3)
    one.add(Finding("a", "extract", read=1, failed=2, offset=90, detail="x", reason="R"))
    one.add(Finding("a", "extract", failed=1, offset=40, detail="y", reason="S"))
    assert one == Finding("a", "extract", 0, 4, 3, 40, "y", "S")
    assert parse_finding(format_finding(one)) == one
