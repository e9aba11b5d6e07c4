"""`arclink select`, `subsets`, `count`, and `--subset` of the other commands."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import arclink
from arclink.access.declarations import SUBSET
from arclink.captures.subsets.language import SelectionError
from arclink.cli.main import group
from arclink.store.location import open_store
from tests.demos import Demos
from tests.reference.tables import commands

PAGE = "http://www.kalvik2010.example/"


@pytest.fixture
def store(demos: Demos, tmp_path: Path) -> Path:
    return demos.copy(tmp_path)


def run(*arguments: str, store: Path) -> Result:
    return CliRunner().invoke(group, [*arguments, "--store", str(store)], catch_exceptions=False)


def test_a_subset_is_selected_counted_shown_and_deleted(store: Path) -> None:
    with open_store(str(store)) as opened:
        expected = [
            one
            for one in opened.scan_mementos()
            if one.surt.startswith("example,kalvik2010)") and one.status == "200"
        ]
    selected = run("select", "k", "host:kalvik2010.example and status:200", store=store)
    assert f"{len(expected)} captures now" in selected.output
    kept = run("select", "list", "subset:k", "--keep", store=store)
    assert f"{len(expected)} captures in a stored list" in kept.output
    counts = json.loads(run("count", "k", "--by", "month", "--format", "json", store=store).output)
    assert counts["captures"] == len(expected)
    assert {row["value"]: row["captures"] for row in counts["counts"]} == {
        month: sum(one.timestamp.startswith(month.replace("-", "")) for one in expected)
        for month in {f"{one.timestamp[:4]}-{one.timestamp[4:6]}" for one in expected}
    }
    listed = json.loads(run("subsets", "--format", "json", store=store).output)["subsets"]
    assert [(one["name"], one["kind"], one["captures"]) for one in listed] == [
        ("k", "view", None),
        ("list", "list", len(expected)),
    ]
    shown = json.loads(run("subsets", "--show", "k", store=store).output)
    assert shown == {"and": [{"host": "kalvik2010.example"}, {"status": "200"}]}
    assert run("subsets", "--delete", "list", store=store).output == "list: deleted\n"
    assert run("subsets", "--delete", "k", store=store).output == "k: deleted\n"
    assert run("subsets", store=store).output.startswith("no subsets")


def test_every_command_that_reads_a_store_takes_a_subset() -> None:
    takes = {
        name
        for name, command in commands()
        for option in command.params
        if "--subset" in option.opts
    }
    assert takes >= {
        *("links", "anchors", "diff", "timemap", "explain", "get", "export", "stats"),
        *(f"analyze {one}" for one in ("pagerank", "properties", "path")),
        "ask",
    }
    assert SUBSET.name == "subset"


@pytest.mark.parametrize("command", ["count", "stream"])
def test_commands_about_captures_take_a_subset_as_their_first_word(
    store: Path, command: str
) -> None:
    whole = run(command, store=store).output
    part = run(command, "host:aurora-daily.example", store=store).output
    assert part != whole
    assert run(command, "uri:*", store=store).output.count("\n") == whole.count("\n")


def test_links_of_a_subset_are_from_its_captures(store: Path) -> None:
    subset = ("--subset", "host:aurora-daily.example", "--format", "json")
    answer = json.loads(run("links", PAGE, "--direction", "in", *subset, store=store).output)
    hosts = {link["uri"].split("/")[2] for link in answer["inlinks"]}
    assert hosts == {"aurora-daily.example"}


@pytest.mark.parametrize(
    "command",
    [
        ("analyze", "pagerank", "--by", "all", "--level", "host"),
        ("ask", "churn"),
        ("ask", "typical-anchors", "*.kalvik2010.example"),
        ("stats",),
        ("anchors", PAGE),
    ],
)
def test_other_answers_are_of_the_subset_and_cached_apart(
    store: Path, command: tuple[str, ...]
) -> None:
    whole = run(*command, store=store).output
    part = run(*command, "--subset", "host:aurora-daily.example", store=store).output
    assert part != whole
    without_rules = whole.partition("\n300 captures: what each filter rule")[0]  # only of a store
    assert run(*command, "--subset", "uri:*", store=store).output == without_rules
    assert run(*command, "--subset", "host:aurora-daily.example", store=store).output == part
    assert run(*command, store=store).output == whole


def test_a_wrong_selection_is_an_error_with_its_place(store: Path) -> None:
    with pytest.raises(SelectionError, match="at character 8, expected a host"):
        run("count", "domain:", store=store)


def test_an_export_has_the_links_of_the_subset(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    arguments = ("export", "--format", "csv", "--into", str(path))
    run(*arguments, "--subset", "host:aurora-daily.example and pick:first", store=store)
    lines = path.read_text("utf-8").splitlines()[1:]
    assert lines
    assert all("aurora-daily.example" in line.split(",")[1] for line in lines)


def test_a_graph_in_python_has_subsets(store: Path) -> None:
    run("select", "k", "host:aurora-daily.example", store=store)
    with arclink.open(store) as graph:
        for selection in ("k", "host:aurora-daily.example"):
            subset = graph.subset(selection)
            assert {link.uri.split("/")[2] for link in subset.inlinks(PAGE)} == {
                "aurora-daily.example"
            }
        assert subset.subset("host:kalvik2010.example").stats().mementos == 0


def test_a_takedown_removes_captures_from_stored_lists(store: Path) -> None:
    run("select", "k", "host:kalvik2010.example", "--keep", store=store)
    before = (store.with_name("links.db.subsets") / "k.subset").stat().st_size
    run("forget", "example,kalvik2010)/ceremony", store=store)
    assert (store.with_name("links.db.subsets") / "k.subset").stat().st_size < before
