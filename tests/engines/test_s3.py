"""Archive files in a real S3 server on loopback: a build reads the ranges it needs."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import arclink
from arclink.archives.opener import open_bytes
from arclink.errors import CaptureError, InputError
from arclink.network import retries
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, page, warc
from tests.engines.conftest import running_s3
from tests.pipeline.store_contents import graph_of

BUCKET = "arclink-files"
DATA = bytes(range(256)) * 8192


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a bucket; s3fs is asked to use its server by the environment, as it would be
    for another machine's.
    """
    import fsspec  # type: ignore[import-untyped]

    with running_s3(tmp_path_factory.mktemp("s3")), pytest.MonkeyPatch.context() as patch:
        patch.setattr(retries, "PAUSES", (0.01, 0.02, 0.03))
        system = fsspec.filesystem("s3")
        system.mkdir(BUCKET)
        system.pipe(f"{BUCKET}/data", DATA)
        system.pipe(f"{BUCKET}/crawl/a.warc.gz", gzipped([page(number) for number in range(40)]))
        system.pipe(
            f"{BUCKET}/crawl/part/b.warc.gz",
            gzipped([page(number) for number in range(40, 60)]),
        )
        yield f"s3://{BUCKET}"


@pytest.mark.parametrize(
    ("offset", "count"), [(0, 10), (70_000, 100), (len(DATA) - 5, 9), (len(DATA), 5)]
)
def test_bytes_are_those_of_the_range(offset: int, count: int, s3: str) -> None:
    source = open_bytes(f"{s3}/data")
    assert source.size == len(DATA)
    assert source.read(offset, count) == DATA[offset : offset + count]
    source.close()


@pytest.mark.parametrize(
    ("location", "message"),
    [
        pytest.param(
            "missing.warc.gz", "missing.warc.gz: cannot be read: no such file", id="no such file"
        ),
        pytest.param(
            "../no-such-bucket/a.warc.gz",
            "a.warc.gz: cannot be read: no such file",
            id="no such bucket",
        ),
    ],
)
def test_what_is_missing_is_said(location: str, message: str, s3: str, tmp_path: Path) -> None:
    url = f"{s3}/{location}" if not location.startswith("../") else f"s3://{location[3:]}"
    with pytest.raises(InputError, match=message):
        build_store(tmp_path, tmp_path / "l.db", BuildSettings(runner="inline", cores=1), [url])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        pytest.param(
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"},
            "cannot be read: Could not connect",
            id="no server",
        ),
        pytest.param(
            {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
            "cannot be read: Unable to locate credentials",
            id="no key",
        ),
    ],
)
def test_what_keeps_s3_from_answering_is_said(
    changed: dict[str, str], message: str, s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    for name, value in changed.items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    fsspec.filesystem("s3").clear_instance_cache()
    with pytest.raises(InputError, match=message):
        build_store(
            tmp_path,
            tmp_path / "l.db",
            BuildSettings(runner="inline", cores=1),
            [f"{s3}/crawl/a.warc.gz"],
        )
    fsspec.filesystem("s3").clear_instance_cache()


@pytest.mark.parametrize("location", ["crawl/", "crawl/**/*.warc.gz"])
def test_a_folder_in_s3_gives_the_graph_of_the_same_folder_here(
    location: str, s3: str, tmp_path: Path
) -> None:
    import fsspec

    folder = tmp_path / "crawl"
    fsspec.filesystem("s3").get(f"{BUCKET}/crawl", str(folder), recursive=True)
    settings = BuildSettings(runner="inline", cores=1)
    build_store(tmp_path, tmp_path / "remote.db", settings, [f"{s3}/{location}"])
    build_store(folder, tmp_path / "local.db", settings)
    with (
        open_store(str(tmp_path / "remote.db")) as one,
        open_store(str(tmp_path / "local.db")) as other,
    ):
        assert list(one.verify()) == []
        assert graph_of(one) == graph_of(other)
        assert one.stats().mementos == 60
    shutil.rmtree(folder)


def test_a_capture_in_s3_is_one_range_request(
    s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    driver = type(fsspec.filesystem("s3"))
    body = random.Random(1).randbytes(300_000)
    records = [
        warc(f"http://h/{number}", http(body, "Content-Type: application/zip"))
        for number in range(4)
    ]
    fsspec.filesystem("s3").pipe(f"{BUCKET}/pages/long.warc.gz", gzipped(records))
    store = tmp_path / "links.db"
    settings = BuildSettings(runner="inline", cores=1)
    build_store(tmp_path, store, settings, [f"{s3}/pages/long.warc.gz"])
    ranges: list[str] = []
    call = driver._call_s3

    async def counted(self: object, method: str, *rest: object, **named: object) -> object:
        if method == "get_object":
            ranges.append(str(named["Range"]))
        return await call(self, method, *rest, **named)

    with arclink.open(store) as graph:
        with graph.get("http://h/0"):
            pass
        monkeypatch.setattr(driver, "_call_s3", counted)
        for count, number in enumerate((3, 1, 2), 1):
            with graph.get(f"http://h/{number}") as page:
                assert b"".join(page.recorded()) == body
            assert len(ranges) == count, ranges
    first, last = ranges[0].removeprefix("bytes=").split("-")
    assert int(last) - int(first) < 500_000


def test_a_missing_object_is_an_error_that_names_the_file(s3: str, tmp_path: Path) -> None:
    import fsspec

    system = fsspec.filesystem("s3")
    system.pipe(f"{BUCKET}/moved/old.warc.gz", gzipped([page(1)]))
    store = tmp_path / "links.db"
    settings = BuildSettings(runner="inline", cores=1)
    build_store(tmp_path, store, settings, [f"{s3}/moved/old.warc.gz"])
    system.mv(f"{BUCKET}/moved/old.warc.gz", f"{BUCKET}/new/old.warc.gz")
    system.clear_instance_cache()
    with arclink.open(store) as graph, pytest.raises(CaptureError, match=r"old\.warc\.gz") as found:
        graph.get("http://h/1")
    assert found.value.reason is Reason.PAYLOAD_FILE_MISSING
    with (
        arclink.open(store, archives=[f"{s3}/new/"]) as graph,
        graph.get("http://h/1") as capture,
    ):
        assert b"<p>1 1</p>" in b"".join(capture.decoded())
