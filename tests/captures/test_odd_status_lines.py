"""Answers of old servers are read in one way, whatever door they leave by."""

from pathlib import Path

import pytest

from arclink.captures.locate import find_capture
from arclink.captures.read import PageReader
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import arc, warc
from tests.captures.exporting import built, exported, facts_of
from tests.captures.reading import bytes_of, query_of
from tests.pipeline.batch_orders import ALONE

BODY = b'<a href="/next">Next</a>'
FORMS = {
    "usual": b"HTTP/1.0 %b\r\n",
    "no version": b"HTTP %b\r\n",
    "line ends before it": b"\r\n\r\nHTTP/1.0 %b\r\n",
    "version twice": b"HTTP/1.1 HTTP/1.1 %b\r\n",
    "small letters, tabs": b"http/1.0 \t%b\n",
    "a stream": b"ICY %b\r\n",
}


@pytest.mark.parametrize("made", [warc, arc])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_status_headers_body_and_links_are_those_of_the_usual_form(
    tmp_path: Path, form: bytes, made: type
) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    blocks = {
        "page": form % b"200 OK" + b"Content-Type: text/html\r\n\r\n" + BODY,
        "error": form % b"404 Not found" + b"Content-Type: text/html\r\n\r\n" + BODY,
        "moved": form % b"302" + b"Location: /next\r\n\r\n",
    }
    suffix = "warc" if made is warc else "arc"
    records = [made(f"http://h.example/{name}", block) for name, block in blocks.items()]
    head = [arc("filedesc://a.arc", b"1 0 Test\n")] if made is arc else []
    (folder / f"a.{suffix}").write_bytes(b"".join([*head, *records]))
    store = tmp_path / "links.db"
    build_store(folder, store, ALONE)
    (tmp_path / "exported").mkdir()
    (tmp_path / "streamed").mkdir()
    with open_store(str(store)) as opened:
        found = {}
        for name in blocks:
            memento = find_capture(opened, f"http://h.example/{name}")
            content = opened.content_of(memento)
            links = [link.target for link in opened.outlinks(content)] if content else None
            reader = PageReader(opened)
            with reader.read(memento) as page:
                names = [field.lower() for field, _ in page.headers.fields]
                found[name] = memento.status, page.status, names, b"".join(page.decoded()), links
            reader.close()
        streamed = tmp_path / "streamed/a.warc"
        streamed.write_bytes(bytes_of(opened, query_of(form="warc")))
    next_page = ["http://h.example/next"]
    assert found == {
        "page": ("200", "200", ["content-type"], BODY, next_page),
        "error": ("404", "404", ["content-type"], BODY, None),
        "moved": ("302", "302", ["location"], b"", next_page),
    }
    exported(store, tmp_path / "exported/a.warc.gz")
    facts = {(memento[:6], links) for memento, _, links in facts_of(store)}
    for copy in (tmp_path / "exported/a.warc.gz", streamed):
        again = facts_of(built(copy.parent, [copy]))
        assert {(memento[:6], links) for memento, _, links in again} == facts, copy.name
