"""The captures of one content are found without reading all captures of its payload again.

The payload was captured at very many URIs.
"""

import time
from pathlib import Path

import pytest

from arclink.model import ContentId, Surt
from arclink.pipeline.settings import BuildSettings
from arclink.store.blocks import answers
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from benchmarks.built_stores import build_store
from benchmarks.skew import PAGE, payload_at_many_uris, write
from tests.archives.made_archives import http, warc

ALONE = BuildSettings(runner="inline", cores=1)


def sightings_of_hub(store: GraphStore) -> dict[ContentId, list[tuple[str, str]]]:
    contents = {link.content for link in store.inlinks(Surt("example,hub)/"))}
    return {
        content: [(one.original, one.timestamp) for one in store.sightings(content)]
        for content in contents
    }


def skewed(folder: Path, uris: int) -> Path:
    folder.mkdir()
    write(folder, payload_at_many_uris(uris))
    build_store(folder / "skew.warc.gz", folder / "links.db", ALONE, cdx=[folder / "skew.cdx"])
    return folder / "links.db"


def test_sightings_are_equal_for_many_captures_and_for_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = skewed(tmp_path / "a", 60)
    with open_store(str(path)) as store:
        plainly = sightings_of_hub(store)
    monkeypatch.setattr(answers, "FEW_CAPTURES", 20)
    with open_store(str(path)) as store:
        assert sightings_of_hub(store) == plainly
        assert len(plainly) == 60
        # A batch that lands meanwhile is seen: nothing is remembered across it.
        (tmp_path / "more.warc").write_bytes(
            warc(
                "http://h1.example/1/other.html",
                http(PAGE, "Content-Type: text/html"),
                date="2021-01-01T00:00:00Z",
            )
        )
        build_store(tmp_path / "more.warc", path, ALONE)
        after = sightings_of_hub(store)
    new = {content: seen for content, seen in after.items() if seen != plainly.get(content)}
    assert sorted(new.values()) == [
        [
            ("http://h1.example/1/other.html", "20210101000000"),
            ("http://h1.example/1/page.html", "20200101000000"),
        ]
    ]


def test_inlinks_of_a_payload_at_many_uris_take_linear_time(tmp_path: Path) -> None:
    seconds = []
    for number, uris in enumerate((1_000, 4_000)):
        with open_store(str(skewed(tmp_path / str(number), uris))) as store:
            begin = time.process_time()
            assert sum(map(len, sightings_of_hub(store).values())) == uris
            seconds.append(time.process_time() - begin)
    assert seconds[1] < 10 * seconds[0] + 1, seconds
