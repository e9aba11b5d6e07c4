"""Hadoop without HDFS: archives, files between the stages and graph files are objects in S3.

A real S3 server on loopback has them; Hadoop reads and writes through S3A.
"""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.engines.engine import EngineRunner
from arclink.engines.hadoop import HadoopRunner
from arclink.engines.spark import SparkEngineRunner
from arclink.errors import InputError
from arclink.mapreduce.runs import JOBS
from arclink.network.engine_files import EngineFiles, files_of
from arclink.pipeline.settings import BuildSettings
from arclink.store.batch_backups import back_up_batches, restore_batches
from arclink.store.location import open_store
from tests.engines.builds import Here, answers, build, counts_of
from tests.engines.conftest import (
    Cassandra,
    engines_folder,
    needs,
    run_script,
    running_s3,
    running_spark,
)

BUCKET = "arclink-work"
ROOT = f"s3a://{BUCKET}/built"
ROWS = (
    " CDX N b a m s k r M S V g\n"
    "org,example)/ 20200101000000 http://example.org/ text/html 200 A - - 10 0 a.warc.gz\n"
)


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an S3 with a bucket."""
    import fsspec  # type: ignore[import-untyped]

    with running_s3(tmp_path_factory.mktemp("s3")) as address:
        fsspec.filesystem("s3").mkdir(BUCKET)
        yield address


@pytest.fixture
def files(s3: str) -> EngineFiles:
    """The files of a build in an empty bucket."""
    found = files_of(ROOT)
    found.remove(f"{BUCKET}/try")
    return found


def put(files: EngineFiles, **objects: bytes) -> None:
    """Write files to the folder ``try``; two underscores of a name mean a slash."""
    for name, data in objects.items():
        files.write(f"{BUCKET}/try/{name.replace('__', '/')}", BytesIO(data))


def names(files: EngineFiles, folder: str) -> list[str]:
    return [entry.name for entry in files.entries(f"{BUCKET}/try{folder}")]


def test_a_new_name_leads_to_the_object_and_its_folder_can_be_removed(files: EngineFiles) -> None:
    put(files, out__pages__part0=b"0123456789", out__pages__part1=b"x", out___SUCCESS=b"")
    path = f"{BUCKET}/try/pages/part-one-0"
    files.rename(f"{BUCKET}/try/out/pages/part0", path)
    files.remove(f"{BUCKET}/try/out")
    assert names(files, "/out/pages") == []
    (entry,) = files.entries(f"{BUCKET}/try/pages")
    assert (entry.name, entry.size) == ("part-one-0", 10)
    assert files.status(path) == entry
    assert files.found_at(f"s3a://{path}") == f"s3a://{BUCKET}/try/out/pages/part0"
    assert b"".join(files.read(path, 4)) == b"456789"
    other = files_of(ROOT)
    assert other.checksum(f"{BUCKET}/try/out/pages/part0") == files.checksum(path)
    files.remove(f"{BUCKET}/try")
    assert other.entries(f"{BUCKET}/try/out/pages") == []


def test_a_folder_that_is_moved_for_good_is_there_for_every_reader(files: EngineFiles) -> None:
    put(files, kept__old=b"of an earlier attempt", out__part0=b"rows", graph__last=b"{}")
    files.rename(f"{BUCKET}/try/out/part0", f"{BUCKET}/try/graph/pages/part-one-0")
    files.move_folder(f"{BUCKET}/try/graph", f"{BUCKET}/try/kept", "last")
    other = files_of(ROOT)
    assert names(other, "/kept") == ["last", "pages"]
    assert b"".join(other.read(f"{BUCKET}/try/kept/pages/part-one-0")) == b"rows"
    assert names(other, "/graph") == names(other, "/out") == []


def test_objects_that_stand_for_folders_are_removed_with_them(files: EngineFiles, s3: str) -> None:
    import fsspec

    system = fsspec.filesystem("s3")
    system.call_s3("put_object", Bucket=BUCKET, Key="try/out/", Body=b"")
    put(files, out__part0=b"rows")
    assert names(files, "/out") == ["part0"]
    files.remove(f"{BUCKET}/try/out")
    assert "Contents" not in system.call_s3("list_objects_v2", Bucket=BUCKET, Prefix="try/")


def test_listings_have_more_than_one_page(
    files: EngineFiles, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(files, **{f"many__part{number}": b"x" for number in range(7)})
    driver = files._system  # type: ignore[attr-defined]
    call = driver.call_s3
    monkeypatch.setattr(
        driver,
        "call_s3",
        lambda method, **words: call(
            method, **words, **({"MaxKeys": 3} if method == "list_objects_v2" else {})
        ),
    )
    assert len(names(files, "/many")) == 7


def test_a_bucket_that_does_not_exist_is_named_at_once(s3: str, tmp_path: Path) -> None:
    (tmp_path / "page.warc").write_bytes(b"WARC/1.0\r\n")
    conf = tmp_path / "mrjob.conf"
    conf.write_text("{}")
    words = ["--runner", "hadoop", "--engine-conf", str(conf), "--engine-folder", "s3://nowhere/x"]
    done = CliRunner().invoke(
        group, ["build", str(tmp_path), "--store", str(tmp_path / "x.db"), *words]
    )
    assert isinstance(done.exception, InputError), done.output
    assert "s3://nowhere" in str(done.exception)


# A whole build


@dataclass(frozen=True, slots=True)
class Built:
    """A build whose files are in the bucket.

    Attributes:
        store: Its store.
        root: Address of the folder of its files.
        said: What it printed.
    """

    store: str
    root: str
    said: list[str]


@pytest.fixture(
    params=["local", pytest.param("start", id="yarn", marks=pytest.mark.slow)], scope="module"
)
def hadoop_on_s3(
    request: pytest.FixtureRequest, s3: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """mrjob's settings for a Hadoop without HDFS: each job in one process, or on a cluster."""
    folder = tmp_path_factory.mktemp("hadoop-s3")
    needs(engines_folder() / "s3a/jars")
    try:
        run_script("hadoop.sh", request.param, folder, S3=f"{s3}/{BUCKET}", MASTER=str(os.getpid()))
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("ARCLINK_WEBHDFS", raising=False)
            yield folder / "mrjob.conf"
    finally:
        run_script("hadoop.sh", "stop", folder)


@pytest.fixture(scope="module")
def archive(here: Here, s3: str) -> str:
    """The address of an archive in the bucket."""
    system = files_of(ROOT)
    for file in here.archive.glob("*.warc*"):
        with file.open("rb") as source:
            system.write(f"{BUCKET}/archive/{file.name}", source)
    return f"s3://{BUCKET}/archive/"


def build_from_bucket(archive: str, conf: Path, store: str) -> Built:
    """Build a store of the archive in the bucket."""
    root = f"{ROOT}-{uuid4().hex}"
    words: list[str | Path] = ["--runner", "hadoop", "--engine-conf", conf]
    return Built(store, root, build(archive, store, *words, "--engine-folder", root))


@pytest.fixture(scope="module")
def built(archive: str, hadoop_on_s3: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A build into SQLite."""
    return build_from_bucket(archive, hadoop_on_s3, str(tmp_path_factory.mktemp("built") / "s3.db"))


def committer_of(run: EngineRunner, folder: Path) -> object:
    """Return the committer of a job, which writes its name to the marker of success."""
    rows = folder / "work/rows.cdx"
    rows.parent.mkdir()
    rows.write_text(ROWS, encoding="utf-8")
    output, settings = folder / "work/filtered", BuildSettings().for_jobs()
    run.run(JOBS["filter"], [rows], output, settings, are_relations=True)
    system = files_of(run.root)
    marker = system.path_of(f"{run.root}/{output.name}/_SUCCESS")
    return json.loads(b"".join(system.read(marker)))["committer"]


def test_hadoop_commits_files_without_renaming_them(hadoop_on_s3: Path, tmp_path: Path) -> None:
    tasks, root = tmp_path / "work/tasks", f"{ROOT}-by-hadoop"
    run = HadoopRunner("hadoop", 2, tasks, conf=hadoop_on_s3, root=root)
    assert committer_of(run, tmp_path) == "magic"


def test_no_upload_is_left_incomplete(built: Built, s3: str) -> None:
    import fsspec

    left = fsspec.filesystem("s3").call_s3("list_multipart_uploads", Bucket=BUCKET)
    assert not left.get("Uploads")


def test_the_graph_files_in_s3_are_a_backup(built: Built, here: Here, tmp_path: Path) -> None:
    with open_store(built.store) as store:
        done = back_up_batches(store, f"{built.root}/graph", tmp_path / "backup")
    assert (done.batches, done.copied) == (1, 1)
    with open_store(str(tmp_path / "restored.db"), create=True) as store:
        restore_batches(tmp_path / "backup", store)
    assert answers(tmp_path / "restored.db") == here.answers


def test_spark_builds_the_same_store_without_hdfs_and_renames(
    archive: str,
    here: Here,
    hadoop_on_s3: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, tasks, root = tmp_path / "s3.db", tmp_path / "work/tasks", f"{ROOT}-by-spark"
    monkeypatch.setenv("HADOOP_CONF_DIR", str(hadoop_on_s3.parent / "conf"))
    with running_spark(tmp_path / "spark", HADOOP="1") as spark:
        words: list[str | Path] = ["--runner", "spark", "--engine-conf", spark.conf]
        assert build(archive, store, *words, "--engine-folder", root) == here.said
        with closing(SparkEngineRunner("spark", 2, tasks, conf=spark.conf, root=root)) as run:
            assert committer_of(run, tmp_path) == "magic"
    assert counts_of(store) == counts_of(here.store)
    assert answers(store) == here.answers


@pytest.mark.slow
def test_tasks_load_cassandra_from_s3(
    archive: str, hadoop_on_s3: Path, here: Here, cassandra: Cassandra
) -> None:
    built = build_from_bucket(archive, hadoop_on_s3, cassandra.keyspace())
    assert built.said == here.said
    assert answers(built.store) == here.answers
