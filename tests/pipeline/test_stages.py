"""The work that the driver of a build leaves to the tasks of an engine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.counts import Counts
from arclink.demo import write_demo_archive
from arclink.mapreduce.runs import JobRunner, parts_of
from arclink.model import Batch, Checksum, Payload, UriR
from arclink.pipeline import stages
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.graph_files import RELATIONS, find_parts, identity_of
from arclink.store.location import open_store
from arclink.store.protocols import Builds, Cluster, EmptyStore, KnownFile, KnownPayloads, Removed
from tests.store.memory_store import MemoryStore

FILE = KnownFile("a.warc.gz", "/archive/a.warc.gz", 12, "f1")


@dataclass(slots=True)
class Remote(JobRunner):
    """An engine that has the files of ``contents``; nothing is on this machine.

    Attributes:
        contents: Bytes by path.
        fetched: Names of the folders that were copied here.
    """

    contents: dict[Path, bytes] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)

    def sizes(self, folder: Path) -> Mapping[Path, int]:
        return {path: len(data) for path, data in self.contents.items() if path.parent == folder}

    def checksum(self, path: Path) -> bytes | None:
        return str(hash(self.contents[path])).encode()

    def fetch(self, folder: Path) -> None:
        self.fetched.append(folder.name)


class Loaded(MemoryStore):
    """A store that remembers what it was to load."""

    def __init__(self, shared_url: str | None) -> None:
        super().__init__()
        self.shared_url = shared_url
        self.cluster: Cluster | None = None

    def load(
        self,
        graph: Path,
        files: Sequence[KnownFile],
        settings: Mapping[str, str],
        manifest: str,
        cores: int | None = None,
        cluster: Cluster | None = None,
        removed: Removed | None = None,
    ) -> Batch:
        self.cluster = cluster
        return Batch(1, (), manifest)


def graph_of(runner: Remote, folder: Path, payloads: bytes = b"payload\n") -> Path:
    """Have an engine hold the graph files of a batch; return their folder."""
    graph = folder / "graph"
    for relation in RELATIONS:
        (graph / relation).mkdir(parents=True, exist_ok=True)
        runner.contents[graph / relation / "part-00000"] = relation.encode()
    runner.contents[graph / "payloads/part-00000"] = payloads
    return graph


@pytest.mark.parametrize(
    ("url", "fetched"),
    [
        pytest.param(
            None, ["mementos", "payloads", "outlinks", "inlinks"], id="a store of this machine"
        ),
        pytest.param("cassandra://node/links", [], id="a store that tasks reach"),
    ],
)
def test_graph_files_are_copied_only_for_a_store_of_this_machine(
    url: str | None, fetched: list[str], tmp_path: Path
) -> None:
    runner = Remote("hadoop", 2, tmp_path / "tasks", conf=tmp_path / "mrjob.conf")
    graph_of(runner, tmp_path)
    store: Builds = Loaded(url)
    stages.load(tmp_path, [FILE], {}, "{}", store, runner)
    assert runner.fetched == fetched


def test_a_batch_on_an_engine_has_its_own_identity_without_its_files(tmp_path: Path) -> None:
    """Its identity follows from sizes and from the engine's checksums."""
    identities = []
    for payloads in (b"payload\n", b"payload\n", b"daoylap\n", b"longer payload\n"):
        runner = Remote("hadoop", 2, tmp_path / "tasks")
        graph = graph_of(runner, tmp_path, payloads)
        cluster = Cluster(str, lambda *_: None, runner.sizes, runner.checksum)
        parts = find_parts(graph, cluster)
        assert [part.size for part in parts["payloads"]] == [len(payloads)]
        identities.append(identity_of(graph, parts, [FILE], cluster=cluster))
    assert identities[0] == identities[1]
    assert len(set(identities)) == 3


class Unasked(EmptyStore):
    """A store that only tasks may ask."""

    def __init__(self, shared_url: str) -> None:
        self.shared_url = shared_url

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        raise AssertionError("the driver asks")


def test_tasks_of_an_engine_leave_out_what_the_store_has(tmp_path: Path) -> None:
    """They write the pages that the driver would have chosen, and count the same."""
    archive, url = tmp_path / "archive", tmp_path / "links.db"
    write_demo_archive(archive, captures=60, hosts=4, seed=2)
    first, *_ = sorted(archive.glob("*.warc*"))
    done = CliRunner().invoke(group, ["build", str(first), "--store", str(url), "--quiet"])
    assert done.exit_code == 0, done.output
    (tmp_path / "mrjob.conf").write_text("runners: {}\n")
    files = describe(find_archives([str(archive)]), {})

    def extracted(name: str, store: KnownPayloads, conf: Path | None) -> tuple[Counts, list[bytes]]:
        folder = tmp_path / name
        run = JobRunner("local", 2, folder / "tasks", conf=conf)
        stages.index(files, folder, run)
        stages.filter_rows(parts_of(folder / "rows"), folder, BuildSettings(), run)
        counts = stages.extract(folder, files, store, BuildSettings(), run)
        pages = [
            row for part in parts_of(folder / "pages") for row in part.read_bytes().splitlines()
        ]
        return counts, sorted(pages)

    with open_store(str(url)) as store:
        expected = extracted("driver", store, None)
    counts, pages = extracted("tasks", Unasked(str(url)), tmp_path / "mrjob.conf")
    assert (counts, pages) == expected
    assert counts[Reason.PAYLOAD_KNOWN]
    assert len(pages) > 1
