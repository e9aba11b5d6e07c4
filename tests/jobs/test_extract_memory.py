"""The extract job skips a page for which it gets no memory; the task itself does this."""

import io
import json
from pathlib import Path

import pytest

from arclink.extract import extraction
from arclink.extract.feeds import links_of
from arclink.extract.html import PageLinks
from arclink.jobs.extract_links import ExtractLinks
from arclink.model import Checksum, Timestamp, UriR
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.pointers import Pointer, PointerKind, format_pointer, parse_pointer
from arclink.rows.task_keys import task_key
from tests.archives.made_archives import http, warc

HTML = "Content-Type: text/html"


def test_a_memory_error_costs_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(html: bytes | str, *rest: object) -> PageLinks:
        if len(html) > 1_000:
            raise MemoryError
        return links_of(html)

    monkeypatch.setattr(extraction, "links_of", parse)
    bodies = [b"<a href=x>x</a>" * number for number in (1, 100, 2)]
    lines, data = [], b""
    for number, body in enumerate(bodies):
        uri = UriR(f"http://h.example/{number}")
        pointer = Pointer(
            PointerKind.PAYLOAD,
            Checksum(f"{number}" * 32),
            "a.warc",
            len(data),
            -1,
            Timestamp("20200102030405"),
            uri,
            originals=(uri,),
        )
        path = json.dumps(str(tmp_path / "a.warc")).encode()
        lines.append(b"%d\t%b\t%b" % (number, path, format_pointer(pointer)))
        data += warc(uri, http(body, HTML))
    (tmp_path / "a.warc").write_bytes(data)

    settings = json.dumps(BuildSettings().for_jobs())
    job = ExtractLinks(["--reducer", "--settings", settings])
    job.sandbox(stdin=io.BytesIO())
    rows = list(job.reduce_pairs((task_key(0), line) for line in lines))
    assert [relation for relation, _ in rows] == [b"pages", b"waiting", b"pages", b"findings"]
    unread = parse_pointer(rows[1][1])
    assert unread.reason == Reason.PAYLOAD_MEMORY.name
    assert (unread.file, unread.offset) == (
        "a.warc",
        len(warc("http://h.example/0", http(bodies[0], HTML))),
    )
