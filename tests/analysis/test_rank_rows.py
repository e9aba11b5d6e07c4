"""`arclink analyze pagerank` on the demo archive."""

from itertools import pairwise

import orjson
import pytest
from click.testing import CliRunner

from arclink.analysis.matrices import pagerank as rank_rows
from arclink.analysis.matrices.pagerank import RankOptions
from arclink.analysis.matrices.slice_cache import open_slices
from arclink.analysis.matrices.slices import Level, SliceOptions, Windows
from arclink.cli.main import group
from arclink.errors import UsageError


def ranked(*words: str) -> dict[str, list[dict[str, object]]]:
    run = CliRunner().invoke(
        group, ["analyze", "pagerank", *words, "--format", "json"], catch_exceptions=False
    )
    answer: dict[str, list[dict[str, object]]] = orjson.loads(run.output)
    return answer


def test_each_window_and_the_whole_have_their_top_ranks(demo_store: str) -> None:
    answer = ranked("--store", demo_store, "--top", "3")
    windows = [str(window["window"]) for window in answer["windows"]]
    assert windows == ["2009-11", "2009-12", "2010-01", "2010-02", "2010-03", "all"]
    assert all(
        window["converged"] and float(str(window["residual"])) < 1e-12
        for window in answer["windows"]
    )
    for name in windows:
        rows = [row for row in answer["ranks"] if row["window"] == name]
        ranks = [float(str(row["rank"])) for row in rows]
        assert len(rows) == 3
        assert ranks == sorted(ranks, reverse=True)
        assert rows[0]["place"] == 1


def test_windows_are_compared_with_the_next_and_with_the_whole(demo_store: str) -> None:
    answer = ranked("--store", demo_store, "--top", "50", "--compare")
    pairs = [(row["window"], row["with"]) for row in answer["agreements"]]
    months = ["2009-11", "2009-12", "2010-01", "2010-02", "2010-03"]
    assert pairs == [*pairwise(months), *((month, "all") for month in months)]
    assert all(0 < int(str(row["overlap"])) <= int(str(row["of"])) for row in answer["agreements"])
    whole = ranked("--store", demo_store, "--by", "2009-10/2010-04", "--compare")["agreements"]
    assert [(row["overlap"], row["tau"]) for row in whole] == [(10, 1.0)]


WINDOWS = ["all", "month", "year", "2009-11,1999,2009-12/2010-02", "2010-02-12"]


@pytest.mark.parametrize("only_captured", [False, True])
@pytest.mark.parametrize("by", WINDOWS)
@pytest.mark.parametrize(("level", "top"), [(Level.URI, 1), (Level.HOST, 7), (Level.HOST, 1000)])
def test_table_4_has_a_column_of_the_ranks_of_each_window(
    level: Level, top: int, by: str, only_captured: bool, demo_store: str
) -> None:
    slices = open_slices(demo_store, SliceOptions(Windows.parse(by), level))
    found = rank_rows.ranked(slices, RankOptions(), top, only_captured=only_captured)
    expected: dict[str, list[str]] = {}
    places: dict[str, object] = {}
    for row in rank_rows.leaders(found).sections["ranks"]:
        window = str(row["window"])
        equal = "= " if places.get(window) == row["place"] else ""
        captured = "" if row["captured"] else "* "
        expected.setdefault(window, []).append(f"{equal}{captured}{row[level.value]}")
        places[window] = row["place"]
    columns: dict[str, list[str]] = {}
    for table in rank_rows.as_table_4(found):
        rows = table.sections["ranks"]
        assert len(table.columns) <= 4
        assert [row[""] for row in rows] == [*range(1, len(rows) + 1)]
        for name in table.columns[1:]:
            columns[name] = [str(row[name]) for row in rows if row[name] is not None]
    assert columns == expected
    assert only_captured is not any("* " in name for names in columns.values() for name in names)


@pytest.mark.parametrize("by", WINDOWS)
def test_table_5_has_the_agreements_in_a_triangle(by: str, demo_store: str) -> None:
    slices = open_slices(demo_store, SliceOptions(Windows.parse(by), Level.HOST))
    found = rank_rows.ranked(slices, RankOptions(), 5)
    expected = {}
    for row in rank_rows.agreements(found).sections["agreements"]:
        of = f" of {row['of']}" if int(str(row["of"])) < 5 else ""
        tau = row["why"] if row["tau"] is None else f"{row['tau']:.3f}"
        expected[row["window"], row["with"]] = f"{row['overlap']}{of} ({tau})"
    tables = [*rank_rows.as_table_5(found)]
    rows = [row for table in tables for row in table.sections["agreements"]]
    assert {(row[""], name): row[name] for row in rows for name in row if name != ""} == expected
    names = [row[""] for row in rows]
    assert len(set(names)) == len(names)
    for table in tables:
        assert len(table.columns) <= 8
        assert {name for row in table.sections["agreements"] for name in row} <= {*table.columns}
    said = "nothing to compare" in " ".join(tables[0].lines)
    assert said is (by == "all")


def test_there_is_a_reason_where_there_is_no_tau(demo_store: str) -> None:
    """Of the two highest ranks of hosts and URIs, by day: many share none, or have one place."""
    reasons = set()
    for level in ("host", "uri"):
        words = ("--store", demo_store, "--level", level, "--by", "day", "--top", "2")
        rows = ranked(*words, "--compare")
        for row in rows["agreements"]:
            assert (row["tau"] is None) is (row["why"] is not None)
            if row["why"]:
                assert (row["why"] == "fewer than two shared") is (int(str(row["overlap"])) < 2)
                reasons.add(str(row["why"]).split(" in ")[0])
    assert reasons == {"fewer than two shared", "all equal"}


@pytest.mark.parametrize("by", WINDOWS)
def test_captured_leaves_the_captured_nodes_of_the_whole_list(by: str, demo_store: str) -> None:
    words = ("--store", demo_store, "--by", by)
    every = ranked(*words, "--top", "100000")["ranks"]
    captured = ranked(*words, "--top", "4", "--captured")["ranks"]
    for window in {row["window"] for row in every}:
        of_window = [row for row in every if row["window"] == window and row["captured"]]
        assert [row for row in captured if row["window"] == window] == of_window[:4]


def test_the_answer_counts_edges_that_ranks_follow_and_ties_at_its_end(demo_store: str) -> None:
    hosts = ("--store", demo_store, "--level", "host")
    plain, own = (
        ranked(*hosts, "--top", "5", *words)["windows"] for words in ([], ["--self-links"])
    )
    windows, with_own = ({str(one["window"]): one for one in some} for some in (plain, own))
    for one in open_slices(demo_store, SliceOptions(Windows.parse("month"), Level.HOST)):
        found = one.matrix.tocoo()
        assert windows[one.window.name]["edges"] == int((found.row != found.col).sum()) < found.nnz
        assert with_own[one.window.name]["edges"] == found.nnz
    ranks = ranked(*hosts, "--top", "100000")["ranks"]
    for name, window in windows.items():
        places = [row["place"] for row in ranks if row["window"] == name]
        last = places[:5][-1]
        assert window["tied"] == places.count(last) - places[:5].count(last)
    run = CliRunner().invoke(group, ["analyze", "pagerank", "--store", demo_store, "--top", "50"])
    assert (
        "several nodes share the last place; names decide which are shown, in 2009-11 ("
        in run.output
    )


def test_one_uri_is_followed_through_time(demo_store: str) -> None:
    rows = ranked("--store", demo_store, "--uri", "http://kalvik2010.example/")["history"]
    ranks = {
        (row["window"], row["uri"]): row
        for row in ranked("--store", demo_store, "--top", "100000")["ranks"]
    }
    for row in rows:
        same = ranks.get((row["window"], "kalvik2010.example/"), {})
        assert [row[column] for column in ("place", "rank", "captured")] == [
            same.get(column) for column in ("place", "rank", "captured")
        ]
    assert [row["place"] is None for row in rows] == [False, True, False, False, False, False]


def test_a_window_without_captures_has_no_nodes(demo_store: str) -> None:
    answer = ranked("--store", demo_store, "--by", "2009-11,1999")
    assert [(window["window"], window["nodes"] == 0) for window in answer["windows"]] == [
        ("2009-11", False),
        ("1999", True),
        ("all", False),
    ]
    run = CliRunner().invoke(
        group, ["analyze", "pagerank", "--store", demo_store, "--by", "2009-11,1999"]
    )
    assert "there are no captures in 1999" in run.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ["--by", "1999"],
            "there are no captures in them; the captures are from 2009",
            id="empty windows",
        ),
        pytest.param(
            ["--by", "week"], "expected day, month, year, all, or times and ranges", id="no windows"
        ),
        pytest.param(
            ["--by", "2010-02/2010-01"], "ends before it begins", id="range the wrong way round"
        ),
        pytest.param(["--by", "2010,2010"], "is named twice", id="window twice"),
        pytest.param(
            ["--weight", "mementos", "--in-force"], "weight must be links", id="mementos in force"
        ),
        pytest.param(
            ["--uri", "http://nobody.example/"], "neither captured nor linked to", id="unknown uri"
        ),
        pytest.param(
            ["--uri", "a.example", "--compare"], "cannot be used together", id="two questions"
        ),
        pytest.param(
            ["--uri", "a.example", "--captured"],
            "captured cannot be used together with uri",
            id="top of one URI",
        ),
    ],
)
def test_meaningless_options_are_refused_with_a_remedy(
    words: list[str], message: str, demo_store: str
) -> None:
    with pytest.raises(UsageError, match=message):
        CliRunner().invoke(
            group, ["analyze", "pagerank", "--store", demo_store, *words], catch_exceptions=False
        )


@pytest.mark.parametrize(
    ("words", "names"),
    [
        pytest.param(["--level", "page"], ("uri", "host", "domain"), id="no level"),
        pytest.param(["--weight", "bytes"], ("mementos", "contents", "links"), id="no weight"),
        pytest.param(["--damping", "1"], ("--damping",), id="no probability"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(
    words: list[str], names: tuple[str, ...], demo_store: str
) -> None:
    call = ["analyze", "pagerank", "--store", demo_store, *words]
    result = CliRunner().invoke(group, call)
    assert result.exit_code == 2
    assert all(f"'{name}'" in result.output for name in names)
