"""Odd records leave by every way out unchanged: what is built of the output has the same captures,
links and bodies. Records that cannot be read are counted under their reason.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from arclink.archives.reader import ArchiveFile
from arclink.captures.queries import CaptureFormat, StreamQuery
from arclink.captures.read import PageReader, reason_of
from arclink.captures.stream import CaptureStream
from arclink.captures.text import read_text
from arclink.captures.write import write_stream
from arclink.errors import CaptureError, InputError
from arclink.model import Memento, UriR
from arclink.reasons import Reason
from arclink.service.application import create_app
from arclink.uris.surts import method_of_key
from tests.archives.odd_members import MEMBERS
from tests.archives.odd_records import write_odd_files, write_odd_values
from tests.captures.exporting import built, exported, facts_of
from tests.captures.reading import opened

Key = tuple[str, str, str, str]
Lost = Counter[str]


@dataclass(frozen=True)
class Archive:
    """A graph and what it shows.

    Attributes:
        captures: Each capture with its content, its links, and its status, headers and body; the
            last is a reason if they cannot be read.
        unread: The reason of each capture whose record cannot be read.
    """

    store: Path
    captures: Mapping[Key, tuple[object, ...]]
    unread: Mapping[Key, str]


def _shown(reader: PageReader, memento: Memento) -> object:
    try:
        with reader.read(memento) as page:
            body = hashlib.sha1(b"".join(page.recorded())).hexdigest()
            return page.status, page.headers.fields, body
    except CaptureError:
        return "not read"


def _unread(reader: PageReader, memento: Memento) -> str:
    try:
        with reader.record(memento, is_checked=True) as record:
            assert sum(map(len, record.parts.pieces())) == record.parts.length
    except CaptureError as error:
        return reason_of(error).name
    return ""


def archive_of(store: Path) -> Archive:
    captures: dict[Key, tuple[object, ...]] = {}
    unread: dict[Key, str] = {}
    with opened(store) as (graph, reader):
        for memento, content, links in facts_of(store):
            known = next(one for one in graph.mementos(memento.surt) if one.key == memento.key)
            key: Key = (*memento[:3], memento.checksum)
            captures[key] = (_as_warc(known), content, links, _shown(reader, known))
            if reason := _unread(reader, known):
                unread[key] = reason
    return Archive(store, captures, unread)


def _as_warc(memento: Memento) -> Memento:
    """Return the facts about a capture that WARC can say: a record of an ARC file without an HTTP
    head is a ``resource`` there.
    """
    is_resource = ".arc" in memento.file and memento.status == "-"
    memento = memento._replace(file="", offset=0, length=0)
    return memento._replace(record_type="resource") if is_resource else memento


def odd_files(folder: Path, _: Path) -> list[Path]:
    return write_odd_files(folder / "in")


def odd_values(folder: Path, _: Path) -> list[Path]:
    return write_odd_values(folder / "in", 1)


def odd_members(folder: Path, _: Path) -> list[Path]:
    (folder / "in").mkdir()
    paths = []
    for number, make in enumerate(MEMBERS.values()):
        members = [make(number * 10 + index) for index in range(3)]
        paths.append(folder / "in" / f"{number}.warc.gz")
        paths[-1].write_bytes(MEMBERS["page"](number + 1_000) + b"".join(members))
    return paths


def shared_files(_: Path, shared_data: Path) -> list[Path]:
    """Return the real archive files, one of each name, except WATs and large ordinary crawls."""
    found: dict[str, Path] = {}
    for path in sorted(shared_data.rglob("*")):
        is_archive = path.name.endswith(
            (".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".arc", ".arc.gz", ".wacz")
        )
        is_archive = is_archive and path.is_file() and path.stat().st_size < 1_000_000
        if is_archive and path.name not in found:
            try:
                ArchiveFile(str(path)).close()
            except InputError:
                continue
            found[path.name] = path
    return list(found.values())


SOURCES = {
    "odd records": odd_files,
    "odd values": odd_values,
    "odd members": odd_members,
    "real files": shared_files,
}


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=pytest.mark.costly) for name in SOURCES]
)
def before(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, shared_data: Path
) -> Archive:
    folder = tmp_path_factory.mktemp("before")
    return archive_of(built(folder, SOURCES[request.param](folder, shared_data)))


def _warc(store: Path, folder: Path) -> tuple[list[Path], Lost]:
    path = folder / "out.warc.gz"
    return [path], _by_name(exported(store, path).tally.left_out)


def _wacz(store: Path, folder: Path) -> tuple[list[Path], Lost]:
    path = folder / "out.wacz"
    return [path], _by_name(exported(store, path, "wacz").tally.left_out)


def _stream(store: Path, folder: Path) -> tuple[list[Path], Lost]:
    path = folder / "out.warc"
    with opened(store) as (graph, reader):
        stream = CaptureStream(graph, reader, StreamQuery(form=CaptureFormat.WARC))
        path.write_bytes(b"".join(write_stream(stream, CaptureFormat.WARC)))
        assert stream.end().is_complete
        return [path], Counter(stream.lost)


def _by_name(counts: Counter[Reason]) -> Lost:
    return Counter({reason.name: count for reason, count in counts.items()})


WAYS: Mapping[str, Callable[[Path, Path], tuple[list[Path], Lost]]] = {
    "export --format warc": _warc,
    "export --format wacz": _wacz,
    "stream --format warc": _stream,
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_built_of_the_output_is_what_was_there(
    before: Archive, way: str, tmp_path: Path
) -> None:
    files, lost = WAYS[way](before.store, tmp_path)
    assert lost == Counter(before.unread.values())
    after = archive_of(built(tmp_path, files))
    expected = {key: one for key, one in before.captures.items() if key not in before.unread}
    assert after.captures.keys() == expected.keys()
    for key, capture in expected.items():
        found = after.captures[key]
        if found != capture and files[0].suffix == ".wacz" and key[2].startswith("file:"):
            # In a WACZ, that is what crawlers attach to pages, and its links are those of the page.
            assert isinstance(found[0], Memento)
            assert found[0].reason == Reason.MEMENTO_ATTACHMENT.name
            assert found[3] == capture[3]
        else:
            assert found == capture
    assert not after.unread


def test_the_service_sends_the_bodies_that_get_writes(before: Archive) -> None:
    client = create_app(str(before.store)).test_client()
    compared = 0
    with opened(before.store) as (graph, reader):
        for memento in graph.scan_mementos():
            uri = memento.original
            if not re.fullmatch("https?://[!-~]+", uri) or "#" in uri:
                continue
            if _has_twin(reader, memento):
                continue
            if method := method_of_key(memento.surt):
                uri = UriR(f"{method}%20{uri}")
            answer = client.get(f"/web/{memento.timestamp}id_/{uri}")
            body = _sent(reader, memento)
            if answer.status_code in (204, 304):
                body = b""  # answers of these statuses have no body (RFC 9110, 15.3.5, 15.4.5)
            assert (answer.data == body) if isinstance(body, bytes) else answer.status_code >= 400
            compared += 1
    assert compared > 30


def _has_twin(reader: PageReader, memento: Memento) -> bool:
    """Return whether the page has two captures at one time: an address leads to one of them."""
    times = [one.timestamp for one in reader.store.mementos(memento.surt)]
    return times.count(memento.timestamp) > 1


def _sent(reader: PageReader, memento: Memento) -> bytes | Reason:
    try:
        with reader.read(memento) as page:
            return b"".join(page.sent())
    except CaptureError as error:
        return reason_of(error)


def test_each_capture_has_a_text_or_a_reason(before: Archive) -> None:
    with opened(before.store) as (graph, reader):
        texts = [_text(reader, memento) for memento in graph.scan_mementos()]
    assert Reason.PAYLOAD_FAILED not in texts
    assert sum(isinstance(text, str) for text in texts) > 30


def _text(reader: PageReader, memento: Memento) -> str | Reason:
    try:
        with reader.read(memento) as page:
            return "\n".join(read_text(page).lines())
    except CaptureError as error:
        return reason_of(error)
