"""`arclink analyze pagerank` on the demo archive."""

from itertools import pairwise

import orjson
import pytest
from click.testing import CliRunner

from arclink.analysis.slice_cache import open_slices
from arclink.analysis.slices import Level, SliceOptions
from arclink.analysis.windows import Windows
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
            ["--weight", "mementos", "--in-force"], "Use --weight links", id="mementos in force"
        ),
        pytest.param(
            ["--uri", "http://nobody.example/"], "neither captured nor linked to", id="unknown uri"
        ),
        pytest.param(
            ["--uri", "a.example", "--compare"], "cannot be used together", id="two questions"
        ),
        pytest.param(["--damping", "1"], "a probability between 0 and 1", id="damping"),
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
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(
    words: list[str], names: tuple[str, ...], demo_store: str
) -> None:
    call = ["analyze", "pagerank", "--store", demo_store, *words]
    result = CliRunner().invoke(group, call)
    assert result.exit_code == 2
    assert all(f"'{name}'" in result.output for name in names)
