"""A whole build on Hadoop gives the store of a build on one machine.

Archive files and graph files are in HDFS.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

import arclink
from arclink.analysis.matrices.slices import Level
from arclink.cli.main import group
from arclink.demo import write_demo_archive
from arclink.engines.cassandra.reader import CassandraReader
from arclink.engines.hadoop import HadoopRunner
from arclink.engines.hdfs import BLOCK, KEPT, HdfsBytes, WebHdfs
from arclink.engines.spark import SparkEngineRunner
from arclink.errors import CaptureError
from arclink.jobs.rank_pages import RankPages
from arclink.mapreduce.runs import JOBS, Job, parts_of
from arclink.model import ALL_TIME, Checksum, Forgotten, Payload, Surt, UriR
from arclink.pipeline import inputs
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.relations import parse_inlinks, parse_outlinks
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, warc
from tests.engines import deadly_load
from tests.engines.builds import (
    ORIGINALS,
    Here,
    answers,
    begin_stores,
    build,
    build_small,
    counts_of,
)
from tests.engines.conftest import ROOT, Cassandra, Hadoop, Spark
from tests.engines.deadly_load import DeadlyLoad
from tests.jobs.ranks import assert_near, options_of, ranked, ranks_in
from tests.pipeline.batch_orders import DIGEST, page, revisit, row
from tests.pipeline.cdx_of_files import cdx_of
from tests.pipeline.indexed_in_ranges import check, write_files


@pytest.mark.slow
def test_ranks_of_hadoop_are_those_of_the_analysis(hadoop: Hadoop, tmp_path: Path) -> None:
    damping, iterations = (
        0.02,
        6,
    )  # each iteration is a job of its own: so few are enough where little is handed on
    parts, expected = ranked(Level.HOST, "month", tmp_path, damping)
    given = [
        "-r",
        "hadoop",
        "--conf-path",
        str(hadoop.conf),
        "--no-cat-output",
        "--output-dir",
        "hdfs:///ranks",
    ]
    job = RankPages([*given, *options_of(Level.HOST, "month", damping, iterations), *parts])
    with job.make_runner() as made:
        made.run()
    assert_near(ranks_in(line.encode() for line in hadoop.read("hdfs:///ranks")), expected)


@pytest.fixture(scope="module")
def built(here: Here, hadoop: Hadoop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a build on the cluster."""
    store = tmp_path_factory.mktemp("built") / "hadoop.db"
    address = hadoop.put(sorted(here.archive.glob("*.warc*")), "/archive")
    said = build(
        address,
        store,
        "--runner",
        "hadoop",
        "--engine-conf",
        hadoop.conf,
        "--hdfs",
        "hdfs:///built",
    )
    assert said == here.said, "the same counts"
    return store


def test_a_build_on_hadoop_counts_what_one_here_counts(built: Path, here: Here) -> None:
    counts = counts_of(built)
    assert counts == counts_of(here.store)
    assert counts["mementos"]["MEMENTO_DUPLICATE"] >= ORIGINALS - 1


def test_a_small_build_takes_one_container_for_each_job(
    here: Here, hadoop: Hadoop, tmp_path: Path
) -> None:
    """The archive is small, and no number of cores is given.

    Some of its revisits name a capture of another URI: it is searched for, read in a second round,
    and what was not found is searched for once more.
    """
    address, store = hadoop.put(sorted(here.archive.glob("*.warc*")), "/small"), tmp_path / "s.db"
    before = containers(hadoop)
    build_small(address, store, hadoop.conf)
    started = containers(hadoop) - before
    jobs = {application for application, _ in started}
    stages = ("index", "filter", "extract", "find", "extract", "find", "join", "invert")
    assert len(jobs) == len(stages)
    assert len(started) == len(jobs)
    assert answers(store) == answers(here.store)


def containers(hadoop: Hadoop) -> set[tuple[str, str]]:
    """Return application and container of all containers so far."""
    return {
        (folder.parent.name, folder.name)
        for folder in hadoop.folder.glob("logs/node-*/userlogs/application_*/container_*")
    }


def test_each_archive_file_is_opened_once(built: Path, here: Here) -> None:
    files = len(list(here.archive.glob("*.warc*")))
    assert counts_of(built)["files"] == {"FILE_INDEXED": files, "FILE_OPENED": files}


Flat = Counter[tuple[object, ...]]


def flat(read: Callable[[str], list[bytes]]) -> dict[str, Flat]:
    """Return the rows of graph files, one for each content and each inlink of one: which share a
    block follows from the runner.

    Args:
        read: Gives the rows of a relation.
    """
    blocks = {block.name: block for block in map(parse_outlinks, read("outlinks"))}
    inlinks: Flat = Counter()
    for surt, target, groups in map(parse_inlinks, read("inlinks")):
        for *head, sources in groups:
            inlinks.update(
                (surt, target, *head, blocks[name].contents[at])
                for name, positions in sources
                for at in positions
            )
    contents = (
        (content, repr(block.links_of(at)))
        for block in blocks.values()
        for at, content in enumerate(block.contents)
    )
    plain: dict[str, Flat] = {
        name: Counter((row,) for row in read(name)) for name in ("mementos", "payloads")
    }
    return {**plain, "outlinks": Counter(contents), "inlinks": inlinks}


def test_the_graph_files_in_hdfs_are_those_of_a_build_here(
    built: Path, here: Here, hadoop: Hadoop, tmp_path: Path
) -> None:
    """Loaded from HDFS by `arclink load`'s own words they give the same store, so only the rows are
    compared.
    """
    from arclink.mapreduce.runs import JobRunner
    from arclink.pipeline import stages
    from arclink.pipeline.inputs import describe, find_archives
    from arclink.pipeline.settings import BuildSettings
    from arclink.store.protocols import EmptyStore

    run = JobRunner("local", 2, tmp_path / "tasks")
    files = describe(find_archives([str(here.archive)]), {})
    stages.index(files, tmp_path, run)
    stages.filter_rows(parts_of(tmp_path / "rows"), tmp_path, BuildSettings(), run)
    stages.extract(tmp_path, files, EmptyStore(), BuildSettings(cores=2), run)
    stages.join(tmp_path, run)
    stages.invert(tmp_path, run)

    system, graph = WebHdfs.of("hdfs:///built/graph")
    (batch,) = system.entries(graph)
    relations = {entry.name for entry in system.entries(f"{graph}/{batch.name}")}
    kept_with_them = {"checksums.txt", "manifest.json"}
    assert relations == {"mementos", "payloads", "outlinks", "inlinks", *kept_with_them}
    there = flat(
        lambda relation: [
            line.encode() for line in hadoop.read(f"hdfs://{graph}/{batch.name}/{relation}")
        ]
    )
    expected = flat(
        lambda relation: [
            row
            for part in parts_of(tmp_path / "graph" / relation)
            for row in part.read_bytes().splitlines()
        ]
    )
    for relation, rows in expected.items():
        assert rows
        assert there[relation] == rows, relation
    assert [entry.name for entry in system.entries("/built")] == ["graph"], (
        "nothing is left of what lies between the stages"
    )


def test_the_store_gives_the_answers_of_one_built_here(built: Path, here: Here) -> None:
    assert answers(built) == here.answers


def test_a_second_build_passes_over_what_the_store_has(
    built: Path, here: Here, hadoop: Hadoop
) -> None:
    """A file is known by what is in it, wherever it stands: no job is started."""
    call = [
        "build",
        "hdfs:///archive",
        str(here.archive),
        "--store",
        str(built),
        "--runner",
        "hadoop",
    ]
    done = CliRunner().invoke(group, [*call, "--engine-conf", str(hadoop.conf), "--quiet"])
    assert done.exit_code == 0, done.output
    assert "because the store has them already" in done.output


def test_rows_of_cdx_files_do_not_pass_through_the_driver(
    hadoop: Hadoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One CDX file is on this machine, one is compressed in HDFS; one archive file has no rows."""
    archive = tmp_path / "archive"
    write_demo_archive(archive, captures=60, hosts=4, seed=2)
    first, _, *names = sorted(path.name for path in archive.glob("*.warc*"))
    here = cdx_of(archive, [first], tmp_path / "first.cdxj")
    there = cdx_of(archive, names, tmp_path / "others.cdxj")
    compressed = tmp_path / "others.cdxj.gz"
    compressed.write_bytes(gzipped(there.read_bytes().splitlines(keepends=True)))
    hadoop.put([compressed], "/rows")
    address = hadoop.put(sorted(archive.glob("*.warc*")), "/rows/archive")

    fetched: set[str] = set()
    fetch = HadoopRunner.fetch

    def noted_fetch(run: HadoopRunner, folder: Path) -> None:
        fetch(run, folder)
        fetched.update(folder.name for _ in parts_of(folder))

    monkeypatch.setattr(HadoopRunner, "fetch", noted_fetch)
    local, store = tmp_path / "local.db", tmp_path / "hadoop.db"
    expected = build(archive, local, "--cdx", here, "--cdx", there)
    options: list[str | Path] = ["--runner", "hadoop", "--engine-conf", hadoop.conf]
    options += ["--hdfs", "hdfs:///rows/work", "--cdx", here]
    assert build(address, store, *options, "--cdx", "hdfs:///rows/others.cdxj.gz") == expected
    assert answers(store) == answers(local)
    assert counts_of(store) == counts_of(local)
    assert "shared" in fetched
    assert not {name for name in fetched if name.startswith("rows")}
    system, work = WebHdfs.of("hdfs:///rows/work")
    assert [entry.name for entry in system.entries(work)] == ["graph"]


def test_the_driver_asks_what_a_store_on_this_machine_knows(
    hadoop: Hadoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second batch, after a takedown, gives the store of a build here; the driver reads the
    pointers, and no pages.
    """
    archive, local, store = tmp_path / "archive", tmp_path / "local.db", tmp_path / "hadoop.db"
    begin_stores(archive, local, store)
    for path in (local, store):
        with open_store(str(path), create=True) as opened:
            what = Forgotten(Surt("example,kalvik2010)/lists"), ALL_TIME)
            assert opened.forget(Takedown(what, "", "2026-01-01T00:00:00Z")).payloads
    expected = build(archive, local)
    fetched: Counter[str] = Counter()
    fetch = HadoopRunner.fetch

    def noted_fetch(run: HadoopRunner, folder: Path) -> None:
        fetch(run, folder)
        fetched[folder.name] += sum(part.stat().st_size for part in parts_of(folder))

    monkeypatch.setattr(HadoopRunner, "fetch", noted_fetch)
    address = hadoop.put(sorted(archive.glob("*.warc*")), "/known/archive")
    options: list[str | Path] = ["--runner", "hadoop", "--engine-conf", hadoop.conf]
    said = build(address, store, *options, "--hdfs", "hdfs:///known/work")
    assert said == expected
    assert any(Reason.PAYLOAD_KNOWN.text in line for line in said)
    assert answers(store) == answers(local)
    assert fetched["pointers"]
    assert not {"pages", "postings"} & fetched.keys()
    system, work = WebHdfs.of("hdfs:///known/work")
    assert [entry.name for entry in system.entries(work)] == ["graph"]


@pytest.mark.slow
def test_tasks_that_load_cassandra_and_are_killed_once_give_the_same_store(
    here: Here,
    hadoop: Hadoop,
    cassandra: Cassandra,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Archives in HDFS, graph files in HDFS, and a store that each task of a load writes to; of
    each the first attempt dies at its end. The driver sees no graph file, and asks the store
    nothing.
    """
    fetched: Counter[str] = Counter()
    fetch = HadoopRunner.fetch

    def noted_fetch(run: HadoopRunner, folder: Path) -> None:
        fetch(run, folder)
        name = "/".join(folder.relative_to(tmp_path / "work").parts[1:])
        fetched[name] += sum(part.stat().st_size for part in parts_of(folder))

    asked: list[object] = []
    known_contents = CassandraReader.known_contents

    def noted_question(
        store: CassandraReader, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        pointers = list(wanted)
        asked.extend(pointers)
        return known_contents(store, pointers)

    monkeypatch.setattr(HadoopRunner, "fetch", noted_fetch)
    monkeypatch.setattr(inputs, "MANY_FILES", 1)
    monkeypatch.setattr(CassandraReader, "known_contents", noted_question)
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    variables = {
        deadly_load.DEATHS: str(deaths),
        deadly_load.MOMENT: "noted",
        deadly_load.ATTEMPTS: "1",
        "PYTHONPATH": str(ROOT),
    }
    conf = tmp_path / "mrjob.conf"
    conf.write_text(
        json.dumps({"include": str(hadoop.conf), "runners": {"hadoop": {"cmdenv": variables}}})
    )
    monkeypatch.setitem(JOBS, "load", Job("load", lambda: DeadlyLoad))

    url = cassandra.keyspace()
    address = hadoop.put(sorted(here.archive.glob("*.warc*")), "/loaded/archive")
    options: list[str | Path] = [
        "--runner",
        "hadoop",
        "--engine-conf",
        conf,
        "--hdfs",
        "hdfs:///loaded/work",
        "--work",
        tmp_path / "work",
    ]
    assert build(address, url, *options) == here.said
    assert len(list(deaths.iterdir())) >= 3, "one in each phase at least"
    assert fetched.keys() == {"findings", "looks"}
    assert asked == []
    with open_store(url) as store:
        (batch,) = store.batches()
    seconds = json.loads(batch.manifest)["cpu seconds"]
    assert seconds["extract"] > 0
    assert "driver" in seconds
    assert answers(url) == here.answers


def test_spark_loads_cassandra_and_its_files_stay_in_hdfs(
    here: Here,
    hadoop: Hadoop,
    spark: Spark,
    cassandra: Cassandra,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a build on Hadoop, with HDFS alone of it: no folder is shared with the tasks."""
    fetched: Counter[str] = Counter()
    fetch = SparkEngineRunner.fetch

    def noted_fetch(run: SparkEngineRunner, folder: Path) -> None:
        fetch(run, folder)
        name = "/".join(folder.relative_to(tmp_path / "work").parts[1:])
        fetched[name] += sum(part.stat().st_size for part in parts_of(folder))

    monkeypatch.setattr(SparkEngineRunner, "fetch", noted_fetch)
    monkeypatch.setattr(inputs, "MANY_FILES", 1)
    url = cassandra.keyspace()
    address = hadoop.put(sorted(here.archive.glob("*.warc*")), "/spark/archive")
    options: list[str | Path] = ["--runner", "spark", "--engine-conf", spark.conf]
    options += ["--engine-folder", "hdfs:///spark/work", "--work", tmp_path / "work"]
    assert build(address, url, *options) == here.said
    assert fetched.keys() == {"findings", "looks"}
    system, work = WebHdfs.of("hdfs:///spark/work")
    assert [entry.name for entry in system.entries(work)] == ["graph"]
    with open_store(url) as store:
        (batch,) = store.batches()
    assert json.loads(batch.manifest)["counts"] == counts_of(here.store)
    assert answers(url) == here.answers


def test_tasks_find_what_mementos_of_earlier_batches_wait_for(
    hadoop: Hadoop, spark: Spark, cassandra: Cassandra, tmp_path: Path
) -> None:
    """Two revisits of the first batch get the links of the page that the second batch digests."""
    archive = tmp_path / "archive"
    archive.mkdir()
    digest = f"WARC-Payload-Digest: {DIGEST}"
    (archive / "a.warc").write_bytes(page("http://h.example/a/", 1))
    revisits = [revisit(f"http://h.example/{name}/", 2, digest) for name in "bc"]
    (archive / "b.warc").write_bytes(b"".join(revisits))
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(row("http://h.example/a/", 1, "a.warc", 0, "-"))
    local, url = tmp_path / "local.db", cassandra.keyspace()
    joined = tmp_path / "joined.db"  # tasks cannot open it
    for store in (local, url, joined):
        build(archive / "b.warc", store)
    expected = build(archive / "a.warc", local, "--cdx", cdx)
    address = hadoop.put([archive / "a.warc"], "/waiting/archive")
    options: list[str | Path] = ["--runner", "spark", "--engine-conf", spark.conf]
    options += ["--engine-folder", "hdfs:///waiting/work", "--work", tmp_path / "work"]
    for store in (url, joined):
        assert build(address, store, *options, "--cdx", cdx) == expected
        assert answers(store) == answers(local)
    with open_store(url) as built_by_tasks:
        for name in "abc":
            (memento,) = built_by_tasks.mementos(Surt(f"example,h)/{name}"))
            content = built_by_tasks.content_of(memento)
            assert content is not None
            (link,) = built_by_tasks.outlinks(content)
            assert link.target == f"http://h.example/{name}/next.html"


# The reader


def test_a_file_in_hdfs_reads_as_one_on_disk(hadoop: Hadoop, tmp_path: Path) -> None:
    data = bytes(number * number % 251 for number in range(3 * BLOCK + 1000)) * 3
    path = tmp_path / "file"
    path.write_bytes(data)
    with HdfsBytes(f"{hadoop.put([path], '/tests/reader')}/file") as file:
        assert file.size == len(data)
        for offset in (
            0,
            10,
            BLOCK - 5,
            5 * BLOCK,
            BLOCK,
            len(data) - 3,
            len(data),
            len(data) + 5,
            0,
        ):
            assert file.read(offset, 20) == data[offset : offset + 20]
        assert file.read(0, len(data) + 1) == data


def test_a_capture_in_hdfs_is_one_request(
    hadoop: Hadoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = random.Random(1).randbytes(300_000)
    records = [
        warc(f"http://h/{number}", http(body, "Content-Type: application/zip"))
        for number in range(4)
    ]
    path = tmp_path / "long.warc.gz"
    path.write_bytes(gzipped(records))
    where = hadoop.put([path], "/tests/pages")
    path.unlink()
    store = tmp_path / "links.db"
    settings = BuildSettings(runner="inline", cores=1)
    build_store(tmp_path, store, settings, [f"{where}/long.warc.gz"])
    files: list[HdfsBytes] = []
    opened = HdfsBytes.__init__

    def noted(self: HdfsBytes, url: str) -> None:
        opened(self, url)
        files.append(self)

    monkeypatch.setattr(HdfsBytes, "__init__", noted)
    for number in (3, 0, 2):
        with arclink.open(store) as graph, graph.get(f"http://h/{number}") as page:
            assert b"".join(page.recorded()) == body
        assert [file.requests for file in files] == [1]
        files.clear()
    system, folder = WebHdfs.of(where)
    system.remove(f"{folder}/long.warc.gz")
    with arclink.open(store) as graph, pytest.raises(CaptureError, match=r"long\.warc\.gz"):
        graph.get("http://h/1")


def test_reading_forwards_asks_once(hadoop: Hadoop, tmp_path: Path) -> None:
    path = tmp_path / "forwards"
    path.write_bytes(b"x" * (BLOCK * (KEPT + 10)))
    with HdfsBytes(f"{hadoop.put([path], '/tests/reader')}/forwards") as file:
        for offset in range(0, file.size, 3 * BLOCK // 2):
            file.read(offset, 1000)
            file.read(max(offset - 100, 0), 50)
        assert file.requests == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param("hdfs:///nowhere", "no such file or folder in HDFS", id="missing"),
        pytest.param("hdfs:///tests/reader", "no archive file in this folder", id="none in it"),
    ],
)
def test_what_is_not_there_is_named(given: str, said: str, hadoop: Hadoop, tmp_path: Path) -> None:
    (tmp_path / "note").write_text("no archive")
    hadoop.put([tmp_path / "note"], "/tests/reader")
    done = CliRunner().invoke(group, ["build", given, "--store", str(tmp_path / "x.db")])
    assert said in str(done.exception)


def test_tasks_index_ranges_of_large_files(hadoop: Hadoop, tmp_path: Path) -> None:
    """Rows of ranges stay in HDFS, also those of a range that is read again."""
    files = write_files(tmp_path / "archive")
    (tmp_path / "work").mkdir()
    check(files, hadoop.runner(tmp_path / "work", cores=3), tmp_path)
