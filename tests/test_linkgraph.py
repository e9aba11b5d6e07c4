"""The graph in Python: the examples of docs/how-to/python.md, and the command line's answers."""

import doctest
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
from click.testing import CliRunner

import arclink
from arclink.access.queries import BadParameterError
from arclink.cli.main import group
from arclink.errors import StoreError, UsageError
from arclink.known import KnownLinks
from arclink.linkgraph import LinkGraph
from arclink.model import Timestamp
from tests.pipeline.conftest import demo, store
from tests.store.memory_store import MemoryStore, Page, link

__all__ = ["demo", "store"]  # fixtures

PAGE = "http://www.kalvik2010.example/ceremony/opening.html"
DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_examples_of_the_page_are_true(
    demo: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "links.db").symlink_to(store)
    (tmp_path / "archive").symlink_to(demo)
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(
        str(DOCS / "how-to/python.md"),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert tried > 15
    assert failed == 0


def test_importing_it_is_light() -> None:
    heavy = [
        "numpy",
        "pandas",
        "networkx",
        "pyarrow",
        "scipy",
        "click",
        "flask",
        "arclink.store.sqlite.store",
    ]
    code = f"import sys, arclink; print([name for name in {heavy} if name in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )


@pytest.mark.parametrize("command", [["links"], ["anchors"], ["export", "--help"]])
def test_a_command_imports_no_library_that_it_does_not_need(
    command: list[str], store: Path, tmp_path: Path
) -> None:
    arguments = [
        "arclink",
        *command,
        *([PAGE, "--store", str(store)] if command[-1] != "--help" else []),
    ]
    assert {"pandas", "networkx", "pyarrow", "scipy"} & _imported(arguments, tmp_path) == set()


def test_a_question_imports_no_pandas(store: Path, tmp_path: Path) -> None:
    """Arrow would import it to read a list."""
    with arclink.open(str(store)) as graph:
        graph.sql("SELECT 1")  # makes the tables
    arguments = ["arclink", "ask", "linkers", PAGE, "--at", "host", "--store", str(store)]
    assert {"pandas", "pyarrow"} & _imported(arguments, tmp_path) == {"pyarrow"}


def test_a_query_for_links_imports_no_numpy_and_few_modules(store: Path, tmp_path: Path) -> None:
    """Imports are most of the time of a command that is called by hand."""
    imported = _imported(["arclink", "links", PAGE, "--store", str(store)], tmp_path)
    assert not {"numpy", "simhash", "sqlite3", "multiprocessing"} & imported
    ours = {name for name in imported if name.partition(".")[0] == "arclink"}
    assert len(ours) <= 64, sorted(ours)


def _imported(arguments: list[str], folder: Path) -> set[str]:
    """Return the names of the modules that a command imports."""
    code = (
        f"import sys; sys.argv = {arguments!r}\nfrom arclink.cli.main import main\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=dict(os.environ),
    )
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"from": "201002", "kind": "a@href"},
        {"at": "20100213"},
        {"filter": "!host:fjordpost"},
        {"match-type": "host", "limit": "100"},
    ],
    ids=["all", "window", "at", "filter", "host"],
)
def test_links_are_those_of_the_command_line(
    direction: str, options: dict[str, str], store: Path
) -> None:
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    done = CliRunner().invoke(
        group,
        [
            "links",
            PAGE,
            "--store",
            str(store),
            "--direction",
            direction,
            "--format",
            "json",
            *words,
        ],
    )
    expected = json.loads(done.stdout)[f"{direction}links"]
    given = dict(options)
    with arclink.open(store) as graph:
        asked = graph.at(given.pop("at")) if "at" in given else graph
        if "from" in given:
            given["from_"] = given.pop("from")
        keywords: dict[str, Any] = {name.replace("-", "_"): one for name, one in given.items()}
        if "limit" in keywords:
            keywords["limit"] = int(keywords["limit"])
        found = list(getattr(asked, f"{direction}links")(PAGE, **keywords))
    assert [(one.uri, one.kind, one.text, one.rel, list(one.timestamps)) for one in found] == [
        (one["uri"], one["kind"], one["text"], one["rel"], one["timestamps"]) for one in expected
    ]
    assert found


def test_no_link_is_lost_where_an_answer_has_several_pages() -> None:
    targets = [f"http://b.example/{number}" for number in range(10_050)]
    graph = LinkGraph(
        MemoryStore(
            [Page("http://a.example/", "20100101000000", [link(target) for target in targets])]
        )
    )
    assert sorted(one.uri for one in graph.outlinks("http://a.example/")) == sorted(targets)
    assert len(list(graph.outlinks("http://a.example/", limit=7))) == 7


def test_unknown_links_are_not_none() -> None:
    page, other = "http://a.example/", "http://b.example/"
    pages = [Page(other, "20100101000000", None), Page("http://c.example/", "20100102000000", [])]
    graph = LinkGraph(MemoryStore(pages))
    assert [graph.outlinks(one).is_known for one in (page, other)] == [False, False]
    assert graph.inlinks(page).is_known
    assert graph.inlinks(page).known == KnownLinks(2, 1, *2 * [Timestamp("20100102000000")])
    assert graph.inlinks(page, to="20100101").is_known is False  # captured, but not read
    assert graph.inlinks(page, from_="2011").is_known is False
    assert graph.at("2009").inlinks(page).is_known is False
    assert graph.at("2011").inlinks(page).is_known


def test_times_of_python_are_times(store: Path) -> None:
    with arclink.open(str(store)) as graph:
        answers = [
            [memento.timestamp for memento in asked.mementos(PAGE)]
            for asked in (
                graph.at("20100213"),
                graph.at(date(2010, 2, 13)),
                graph.at(datetime(2010, 2, 13, 23, 59, 59, tzinfo=UTC)),
            )
        ]
        assert (
            answers[0]
            == answers[1]
            == answers[2]
            == ["20091122060001", "20100110060006", "20100212060005"]
        )
        assert [
            one.timestamp for one in graph.mementos(PAGE, date(2010, 3, 1), date(2010, 3, 14))
        ] == ["20100314060003"]


def test_a_wrong_argument_is_an_error_at_once(store: Path) -> None:
    with pytest.raises(StoreError, match=r"no store at nowhere\.db"):
        arclink.open("nowhere.db")
    with arclink.open(store) as graph:
        for call in (
            lambda: graph.at("soon"),
            lambda: graph.outlinks("http://a b c\x00"),
            lambda: graph.inlinks(PAGE, from_="2011", to="2010"),
            lambda: graph.inlinks(PAGE, limit=-1),
            lambda: graph.inlinks(PAGE, direction="out"),  # type: ignore[call-arg]
            lambda: graph.inlinks(PAGE, match_type="all"),  # type: ignore[arg-type]
            lambda: graph.anchors(PAGE, by="week"),  # type: ignore[arg-type]
            lambda: graph.ask("linkers", PAGE, level="page"),  # type: ignore[arg-type]
            lambda: graph.to_networkx("page"),  # type: ignore[arg-type]
            lambda: graph.at("2010").mementos(PAGE, "2009"),
            lambda: graph.at("2010").inlinks(PAGE, from_="2009"),
        ):
            with pytest.raises(BadParameterError):
                call()


WRONG: list[tuple[str, Callable[[Any], object], str]] = [
    ("from_", lambda graph: graph.inlinks(PAGE, frm="2010"), "frm: .*did you mean from_[?]"),
    ("from_", lambda graph: graph.anchors(PAGE, form_="2010"), "form_: .*did you mean from_[?]"),
    ("limit", lambda graph: graph.ask("linkers", limits=3), "did you mean limit[?]"),
    ("min_count", lambda graph: graph.to_networkx(mincount=3), "did you mean min_count[?]"),
    ("min_count", lambda graph: graph.to_pandas(min_cuont=3), "did you mean min_count[?]"),
    ("order", lambda graph: graph.stream(ordr="file"), "did you mean order[?]"),
    ("file_size", lambda graph: graph.export_captures("x", file_sise=3), "did you mean file_size"),
    ("top", lambda graph: graph.export("x", "gexf", tp=3), "did you mean top[?]"),
    ("match_type", lambda graph: graph.to_rdf(PAGE, matchtype="host"), "did you mean match_type"),
    (
        "nothing",
        lambda graph: graph.outlinks(PAGE, xyz=3),
        "xyz: there is no such keyword. Keywords",
    ),
    ("a time", lambda graph: graph.inlinks(PAGE, from_="soon"), "^from_: 'soon' is not allowed"),
    ("in RDF", lambda graph: graph.to_rdf(PAGE, from_="soon"), "^from_: 'soon' is not"),
    ("a time", lambda graph: graph.mementos(PAGE, from_="soon"), "^from_: 'soon' is not"),
    ("a match", lambda graph: graph.inlinks(PAGE, match_type="x"), "^match_type: 'x' is not"),
    ("a count", lambda graph: graph.to_networkx(min_count="x"), "^min_count: 'x' is not"),
    ("a size", lambda graph: graph.export_captures("x", file_size="x"), "^file_size: 'x' is"),
    ("hosts", lambda graph: graph.ask("most-linked", min_hosts="x"), "^min_hosts: 'x' is not"),
    ("at", lambda graph: graph.at("soon"), "^at: 'soon' is not allowed"),
]


@pytest.mark.parametrize(("call", "said"), [one[1:] for one in WRONG], ids=[w[0] for w in WRONG])
def test_errors_have_the_words_of_python(
    call: Callable[[Any], object], said: str, store: Path, tmp_path: Path
) -> None:
    with arclink.open(store) as graph, pytest.raises(BadParameterError, match=said) as caught:
        call(graph)
    assert not re.search(r"\b(from|min-count|file-size|matchType)[,:]", str(caught.value))


def test_a_library_that_is_missing_is_named(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with (
        arclink.open(store) as graph,
        pytest.raises(UsageError, match=r"pandas.*pip install 'arclink\[analysis\]'"),
    ):
        graph.inlinks(PAGE).to_pandas()


@pytest.mark.parametrize(
    "options", [{}, {"from_": "201002", "evidence": True}], ids=["all", "some"]
)
def test_the_rdf_of_a_page_is_that_of_the_command_line(
    options: dict[str, Any], store: Path
) -> None:
    words = ["--from", "201002", "--evidence"] if options else []
    done = CliRunner().invoke(
        group,
        [
            "links",
            PAGE,
            "--store",
            str(store),
            "--limit",
            "0",
            "--format",
            "ntriples",
            "--profile",
            "links",
            *words,
        ],
    )
    expected = {
        str(quad) for quad in pyoxigraph.parse(done.stdout.encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    }
    with arclink.open(store) as graph:
        written = graph.to_rdf(PAGE, **options).serialize(format="nt", encoding="utf-8")
    found = {str(quad) for quad in pyoxigraph.parse(written, pyoxigraph.RdfFormat.N_TRIPLES)}
    assert found == expected
    assert len(found) > 100


def test_the_rdf_of_the_whole_graph_has_every_link(store: Path, tmp_path: Path) -> None:
    with arclink.open(store) as graph:
        found = graph.to_rdf()
        graph.export(tmp_path / "links.nq", "nquads")
    lines = set((tmp_path / "links.nq").read_bytes().splitlines())
    assert len(found) == len(lines)
    with arclink.open(store) as graph, pytest.raises(UsageError, match="only with a URI"):
        graph.to_rdf(kinds="a@href")


USER_SCRIPT = """\
from datetime import date

import arclink
from arclink.analysis.charts.results import RowResult
from arclink.linkgraph import Links

PAGE = "http://example.org/"
graph: arclink.LinkGraph = arclink.open("links.db")
links: Links = graph.inlinks(PAGE, from_="2010", to=date(2011, 1, 1), kinds=["a@href"], at=None)
outlinks = graph.outlinks(PAGE, match_type="host", redirects="no", evidence=True, limit=3)
found: list[str] = [link.uri for link in links] + [link.timestamps[0] for link in outlinks]
rows: list[RowResult] = [
    graph.anchors(PAGE, by="month", limit=3),
    graph.diff(PAGE, "2009", "2010"),
    graph.pagerank(level="host", damping=0.5),
    graph.path(PAGE, PAGE, find="shortest"),
    arclink.ask("linkers", PAGE, archives={"here": graph, "other": PAGE}, by="year", new=True),
]
total: int = graph.ask("linkers", "*.example.org", min_hosts=2, redirects="only").total
times = [row["time"] for row in graph.sql("SELECT 1 AS time")]
graph.to_networkx("domain", min_count=2, backbone=0.5).number_of_nodes()
graph.to_pandas(top=3, core=1)
graph.export("graph.gexf", "gexf", level="host", spells="in-force").tally
graph.export_captures("rows.cdxj", "cdxj", from_="2010")
tokens = [one.memento.timestamp for one in graph.stream(order="time", part="1/2", cache="x")]
is_sound: bool = arclink.verify("links.db", files=True).is_sound
batches: int = arclink.build("a.warc", store="links.db", cores=1, from_="2010").report.batches
"""
WRONG_LINES = (
    ("[link.txt for link in links]", '"txt"'),
    ("graph.inlinks(PAGE, frm='2010')", '"frm"'),
    ("graph.export('x', 'gefx')", '"export"'),
    ("graph.export_captures('x', file_sise=3)", '"file_sise"'),
    ("graph.ask('linkers', min_hosts='three')", '"min_hosts"'),
    ("graph.to_networkx(level='page')", '"level"'),
    ("graph.stream(order='size')", '"order"'),
    ("graph.anchors(PAGE)[0].counts", '"counts"'),
    ("arclink.ask('linkers')", '"archives"'),
    ("arclink.build('a.warc', stores='x.db')", '"stores"'),
)


@pytest.mark.costly
def test_a_type_checker_reads_the_types_in_a_users_script(tmp_path: Path) -> None:
    """The installed package has types, wherever the script is and without settings of its own."""
    wrong = "".join(f"{line}\n" for line, _ in WRONG_LINES)
    (tmp_path / "script.py").write_text(USER_SCRIPT + wrong)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "script.py"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "MYPYPATH"},
        capture_output=True,
        text=True,
    )
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    first = USER_SCRIPT.count("\n") + 1
    assert [line.split(":")[:2] for line in errors] == [
        ["script.py", str(first + number)] for number in range(len(WRONG_LINES))
    ]
    for line, (_, name) in zip(errors, WRONG_LINES, strict=True):
        assert name in line


def test_the_class_of_graphs_is_a_name_of_the_package() -> None:
    assert arclink.LinkGraph is LinkGraph
    assert set(arclink.__all__) <= {*dir(arclink), "LinkGraph"}
    with pytest.raises(AttributeError, match="no attribute 'Graph'"):
        _ = arclink.Graph  # type: ignore[attr-defined]
