"""A Cassandra store knows its captures by their exact times, whatever steps it took."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arclink.cli.main import group
from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.load import load_parts
from arclink.engines.cassandra.reader import CassandraReader
from arclink.engines.cassandra.schema import open_database
from arclink.engines.cassandra.steps import Steps
from arclink.engines.cassandra.store import CassandraStore
from arclink.errors import StoreError
from arclink.known import NOT_COUNTED
from arclink.model import Memento, Span, Timestamp
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore, OpenStore, Takedown, WholeStore
from arclink.uris.surts import key_of_answer
from tests.engines.builds import cluster_of
from tests.engines.conftest import Cassandra
from tests.relations.cases import TRUTHS
from tests.store.contract import FILES, SETTINGS, forgotten
from tests.store.graphs import ORIGINALS, Graph, checksum_of, graphs, memento, write_next
from tests.store.memory_store import MemoryStore

ENDS = [
    Timestamp(time)
    for time in ("20091103011307", "20091103011308", "20091103235959", "20100217101228", "2011")
]


def numbers(store: GraphStore | WholeStore) -> dict[object, object]:
    """Return the days of a store, and the captures of every period between some ends."""
    spans = [Span(first, last) for first in ENDS for last in ENDS if first <= last]
    return {
        "days": list((store.days() or {}).items()),
        **{span: (store.known(span), dict(store.days(span) or {})) for span in spans},
    }


def load(
    store: OpenStore, graph: Graph, number: int, folder: Path, parts: int, *, by_tasks: bool
) -> None:
    """Load a batch; by tasks as on an engine, where each may run twice."""
    assert isinstance(store, CassandraStore | MemoryStore)
    if not folder.exists():
        write_next(store, graph, graph.batches[number], folder, parts)
    more = {}
    if by_tasks:

        def run(manifests: Sequence[Path], given: Mapping[str, object]) -> None:
            for manifest in (*manifests, *manifests):
                assert all(load_parts(manifest.read_bytes().splitlines(), given))

        more = {"cluster": cluster_of(run), "cores": 1}
    store.load(folder, FILES[number : number + 1], SETTINGS, "{}", **more)  # type: ignore[arg-type]


def give_up(store: CassandraStore, graph: Graph, number: int, folder: Path) -> None:
    """Load a batch up to its last statement, which makes it visible."""

    def killed(*_: object) -> None:
        raise StoreError("killed")

    with pytest.MonkeyPatch.context() as patch, suppress(StoreError):
        patch.setattr(Steps, "finish", killed)
        load(store, graph, number, folder, 2, by_tasks=False)


@st.composite
def with_methods(draw: st.DrawFn) -> Graph:
    """Draw a graph in which some captures answer POST."""
    graph = draw(graphs())
    posted = draw(st.sets(st.sampled_from(ORIGINALS), max_size=2))
    return Graph(
        graph.truths,
        [
            [posted_to(one) if one.original in posted else one for one in batch]
            for batch in graph.batches
        ],
    )


def posted_to(one: Memento) -> Memento:
    return one._replace(surt=key_of_answer(one.surt, "POST"))


steps = st.lists(
    st.sampled_from(["load", "load", "load", "again", "give up", "forget", "clean"]), max_size=9
)


@pytest.fixture(scope="module")
def url(cassandra: Cassandra) -> str:
    return cassandra.keyspace()


@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@settings(
    deadline=None,
    max_examples=int(os.environ.get("ARCLINK_EXAMPLES", "15")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(graph=with_methods(), steps=steps, data=st.data())
def test_numbers_are_those_of_a_dictionary_after_any_steps(
    cassandra: Cassandra, url: str, graph: Graph, steps: list[str], data: st.DataObject
) -> None:
    cassandra.give_up(url)
    dictionary, loaded = MemoryStore(), 0
    with TemporaryDirectory() as name, open_store(url, create=True) as store:
        assert isinstance(store, CassandraStore)
        for number, step in enumerate([*steps, "load"]):
            before, earlier = (
                numbers(store),
                CassandraReader(store.address, history=store.history()),
            )
            folder = Path(name) / f"{loaded}"
            if step == "forget":
                takedown = Takedown(data.draw(forgotten), "", "")
                store.forget(takedown)
                dictionary.forget(takedown)
            elif step == "clean":
                store.clean()
            elif step == "again" and loaded:
                before_it = Path(name) / f"{loaded - 1}"
                load(store, graph, loaded - 1, before_it, 1, by_tasks=False)
            elif loaded < len(graph.batches) and step == "give up":
                give_up(store, graph, loaded, folder)
            elif loaded < len(graph.batches) and step == "load":
                # An engine has no part without rows, and no batch without parts.
                by_tasks = bool(graph.batches[loaded]) and data.draw(st.booleans())
                parts = data.draw(st.integers(1, 3))
                load(store, graph, loaded, folder, parts, by_tasks=by_tasks)
                load(dictionary, graph, loaded, Path(name) / f"d{loaded}", 1, by_tasks=False)
                loaded += 1
            assert numbers(store) == numbers(dictionary), (number, step)
            if step != "clean":
                assert numbers(earlier) == before, "a reader that began earlier"
        assert [one for one in store.verify() if "time" in one.invariant] == []


def test_an_old_store_does_not_know_its_times_until_they_are_counted(
    cassandra: Cassandra, tmp_path: Path
) -> None:
    url = cassandra.keyspace()
    captures = [
        memento(ORIGINALS[0], "20091103011308", checksum_of("p1")),
        memento(ORIGINALS[1], "20100217101228", checksum_of("p2")),
        memento(ORIGINALS[1], "20100217101229", checksum_of("p1"), "revisit"),
    ]
    graph = Graph(TRUTHS, [captures[:1], captures[1:2], captures[2:]])
    dictionary = MemoryStore()
    database = open_database(parse_address(url))
    with open_store(url, create=True) as store:
        load(store, graph, 0, tmp_path / "0", 1, by_tasks=False)
        load(dictionary, graph, 0, tmp_path / "d0", 1, by_tasks=False)
    # What an earlier version has written: other facts, and no table.
    for step, facts in database.ask("SELECT step, facts FROM steps WHERE store = 0"):
        old = {**json.loads(facts), "months": {"2009-11": 1}}
        del old["is_counted"]
        database.agree(
            "UPDATE steps SET facts = ? WHERE store = 0 AND step = ? IF EXISTS",
            (json.dumps(old), step),
        )
    database.command(f"DROP TABLE {database.address.keyspace}.times")
    with open_store(url) as store:
        assert (store.days(), store.known()) == (None, NOT_COUNTED)
    with open_store(url, create=True) as store:
        load(store, graph, 1, tmp_path / "1", 1, by_tasks=False)
        load(dictionary, graph, 1, tmp_path / "d1", 1, by_tasks=False)
        store.clean()
        assert (store.days(), store.known()) == (None, NOT_COUNTED)
        assert [one for one in store.verify() if "time" in one.invariant] == []
        unknown = store.state()
    said = CliRunner().invoke(group, ["upgrade", url])
    assert (said.exit_code, "captures are not counted by time" in said.output) == (0, True)
    with open_store(url, create=True) as store:
        assert numbers(store) == numbers(dictionary)
        assert store.state().version != unknown.version
        state = store.state()
        load(store, graph, 2, tmp_path / "2", 1, by_tasks=False)
        load(dictionary, graph, 2, tmp_path / "d2", 1, by_tasks=False)
        assert numbers(store) == numbers(dictionary)
        state = store.state()
        store.clean()
        assert store.state() == state
        assert numbers(store) == numbers(dictionary)
    assert CliRunner().invoke(group, ["upgrade", url]).output == f"{url} is up to date.\n"


def test_verify_names_a_day_with_other_numbers(cassandra: Cassandra, tmp_path: Path) -> None:
    from arclink.store.blocks.byte_layouts import pack_seconds

    url = cassandra.keyspace()
    graph = Graph(TRUTHS, [[memento(ORIGINALS[0], "20091103011308", checksum_of("p1"))]])
    with open_store(url, create=True) as store:
        assert isinstance(store, CassandraStore)
        load(store, graph, 0, tmp_path / "0", 1, by_tasks=False)
        assert list(store.verify()) == []
        writer = store.database.writer()
        other = pack_seconds({Timestamp("20091103011308"): (1, 0)})
        store.tables.times.put(writer, b"2009-11-03", max(store.history().loads), 99, 0, other)
        writer.flush()
        assert [(one.invariant, one.detail) for one in store.verify()] == [
            ("captures are counted by their times", "2009-11-03")
        ]
