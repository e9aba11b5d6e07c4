"""A capability gives the same answer at each door: command, resource and method."""

import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from click.testing import CliRunner

import arclink
from arclink.access.capabilities import ColumnKind, ToAnswer, capability, keyword
from arclink.access.declarations import BadParameterError
from arclink.access.formats.rows import ROW_FORMATS, TIME_COLUMNS
from arclink.access.reader import Budget
from arclink.cli.doors import NOT_OVER_HTTP, OVER_HTTP
from arclink.cli.main import SECTIONS, group
from arclink.errors import UsageError
from arclink.rooms import CAPABILITIES
from arclink.service.application import create_app
from arclink.service.openapi import RESOURCES
from arclink.service.settings import Settings
from arclink.store.location import open_store
from tests.demos import Demos
from tests.reference.tables import commands
from tests.service.asked import ASKED, PAGE

CASES = [
    pytest.param(name, asked, id=f"{name} {number}")
    for name in CAPABILITIES
    for number, asked in enumerate(ASKED[name])
]


def keywords_of(name: str) -> set[str]:
    return {parameter.name for parameter in capability(name).query.DECLARED}


@pytest.fixture(scope="module")
def store(demos: Demos) -> Path:
    return demos.store()


def said(store: Path, name: str, asked: Mapping[str, str], form: str) -> bytes:
    """Return the answer of the command."""
    one = capability(name)
    words = [] if name in {each for names in SECTIONS.values() for each in names} else ["analyze"]
    words.append(name)
    for parameter in one.query.DECLARED:
        if parameter.name in asked:
            value = asked[parameter.name]
            option = [f"--{parameter.name}", *([] if value == "true" else [value])]
            words += [value] if parameter.is_positional else option
    done = CliRunner().invoke(group, [*words, "--store", str(store), "--format", form])
    assert done.exit_code == 0, done.output
    return done.stdout_bytes


@pytest.mark.parametrize(("name", "asked"), CASES)
def test_all_doors_give_one_answer(store: Path, name: str, asked: Mapping[str, str]) -> None:
    of_command = json.loads(said(store, name, asked, "json"))
    with create_app(str(store), Settings(title=store.name)).test_client() as client:
        of_service = client.get(f"/{name}", query_string={**asked, "format": "json"}).get_json()
    keywords: dict[str, Any] = {
        keyword(given): json.loads(value) if value in ("true", "2", "3") else value
        for given, value in asked.items()
        if given != "from"
    } | ({"from_": asked["from"]} if "from" in asked else {})
    with arclink.open(store) as graph:
        answer = getattr(graph, name)(**keywords)
        of_method = json.loads(b"".join(ROW_FORMATS["json"].write(answer.as_rows())))
        assert [*answer] == [*answer.as_rows().labelled()]
        assert len(answer.to_pandas()) == len(answer) == answer.to_arrow().num_rows
        assert "<script" not in answer._repr_html_()
        if "limit" not in asked and "limit" in keywords_of(name):  # complete in Python
            for one in (of_method, of_command, of_service):
                one["provenance"].pop("cite")
                one["provenance"]["asked"] = one["provenance"]["asked"].split(" --limit")[0]
        assert of_method == of_command
    assert of_service == of_command


@pytest.mark.parametrize(("name", "asked"), CASES)
def test_rows_have_the_declared_columns_and_types(
    store: Path, tmp_path: Path, name: str, asked: Mapping[str, str]
) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(said(store, name, asked, "parquet"))
    fields = {field.name: field.type for field in pyarrow.parquet.read_schema(path)}
    [declared] = {  # the columns of the list that this answer has
        columns
        for columns in capability(name).lists.values()
        if {one.name for one in columns if one.is_always} <= {*fields}
        and {*fields} <= {*(one.name for one in columns), "change"}
    }
    for one in declared:
        if one.kind is ColumnKind.TIME:
            assert one.name in TIME_COLUMNS
        if one.name in fields and one.kind is not ColumnKind.TEXTS:
            kind = "timestamp[ms, tz=UTC]" if one.kind is ColumnKind.TIME else one.kind.value
            assert str(fields[one.name]) == kind, one.name


def test_each_command_has_a_resource_or_a_reason() -> None:
    names = {name for name, _ in commands()}
    assert {*OVER_HTTP} | {*NOT_OVER_HTTP} == names
    assert not {*OVER_HTTP} & {*NOT_OVER_HTTP}
    assert {*OVER_HTTP.values()} <= {resource.path for resource in RESOURCES}
    assert {f"/{name}" for name in CAPABILITIES} <= {*OVER_HTTP.values()}


@pytest.mark.parametrize("name", CAPABILITIES)
def test_methods_say_what_they_take(name: str) -> None:
    method = getattr(arclink.LinkGraph, name)
    arguments = {*inspect.signature(method).parameters} - {"self"}
    declared = {keyword(one.name) for one in capability(name).query.DECLARED} - {"cursor"}
    assert arguments == declared
    assert all(f"    {argument}: " in (method.__doc__ or "") for argument in arguments)


def test_wrong_keywords_are_errors_in_the_words_of_python(store: Path) -> None:
    with arclink.open(store) as graph:
        with pytest.raises(TypeError, match="frm: there is no such keyword"):
            graph.count(frm="2009")  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="missing a required argument: 'end'"):
            graph.path(PAGE)  # type: ignore[call-arg]
        with pytest.raises(BadParameterError, match="from_: it is missing"):
            graph.diff(PAGE)  # only a part of the archive needs no times
        with pytest.raises(BadParameterError, match="expected year"):
            graph.count(by="color")  # type: ignore[arg-type]


def test_a_search_for_a_path_in_a_service_ends_at_its_budget(store: Path) -> None:

    one = capability("path")
    query = one.query.from_parameters([("begin", PAGE), ("end", "http://never.example/")])
    with open_store(str(store)) as graph:
        whole = one.rows(ToAnswer(graph, query))
        by_pages = one.rows(ToAnswer(graph, query, Budget(look_ups=3)))
        by_links = one.rows(ToAnswer(graph, query, Budget(rows=20)))
    assert whole.about["complete"]
    assert (by_pages.about["complete"], by_pages.about["pages"]) == (False, 3)
    assert not by_links.about["complete"]
    assert 0 < int(str(by_links.about["pages"])) < int(str(whole.about["pages"]))


def test_a_path_says_when_the_page_was_read_at_which_it_begins(store: Path) -> None:
    with arclink.open(store) as graph:
        known = graph.path(PAGE, "http://never.example/").about["begin_read_from"]
        read = [one.memento.timestamp for one in graph.explain(PAGE) if one.content is not None]
        assert len(read) > 1
        assert known == {
            "captures": len([*graph.explain(PAGE)]),
            "read": len(read),
            "first": read[0],
            "last": read[-1],
        }


def test_captures_and_subsets_are_those_of_the_commands(demos: Demos, tmp_path: Path) -> None:
    store = demos.copy(tmp_path)

    def lines(*words: str) -> list[dict[str, Any]]:
        done = CliRunner().invoke(group, [*words, "--store", str(store)])
        assert done.exit_code == 0, done.output
        return [json.loads(line) for line in done.stdout.splitlines()]

    with arclink.open(store) as graph:
        explained = [(one.memento.timestamp, one.reason.name) for one in graph.explain(PAGE)]
        assert explained == [
            (one["timestamp"], one["reason"]) for one in lines("explain", PAGE, "--format", "jsonl")
        ]
        assert len(explained) > 1
        later = graph.timemap(PAGE, from_=explained[1][0])
        assert [one.timestamp for one in later.mementos] == [time for time, _ in explained[1:]]
        assert (later.is_first, later.following) == (False, None)
        assert graph.select("early", "to:2009", keep=True).captures
        assert [one.name for one in graph.subsets()] == ["early"]
        [listed] = lines("subsets", "--format", "jsonl")
        assert listed["captures"] == graph.subsets()[0].captures
        assert all(
            time < "2010"
            for time in [one.timestamp for one in graph.subset("early").mementos(PAGE)]
        )
    with open_store(str(store)) as opened, pytest.raises(UsageError, match="opened with"):
        arclink.LinkGraph(opened).subsets()


@pytest.mark.parametrize("name", ["pagerank", "properties"])
def test_a_service_refuses_the_whole_of_a_large_graph_before_it_reads_it(
    store: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By links, and by windows of time; a caller on this machine has no such limit."""
    made: list[object] = []
    monkeypatch.setattr("arclink.analysis.matrices.slice_builder._make_tables", made.append)
    for budget, by in ((Budget(rows=10), "year"), (Budget(), "day")):
        with create_app(str(store), Settings(budget=budget)).test_client() as client:
            refused = client.get(f"/{name}", query_string={"by": by, "level": "host"})
        assert refused.status_code == 422
        assert "Narrow it" in refused.get_json()["detail"]
    assert made == []
    monkeypatch.undo()
    with arclink.open(store) as graph:
        assert len(list(graph.properties(by="day", level="host"))) > 120
        assert list(getattr(graph, name)(by="day", level="host"))
