"""Output of ``arclink analyze``, and of questions about words and links through time."""

import csv
import io
import json
import re
from collections import Counter

import pytest
from click.testing import CliRunner, Result

from arclink.cli.main import group
from arclink.errors import UsageError
from tests.demos import Demos

OPENING = "http://www.kalvik2010.example/ceremony/opening.html"
NEWSPAPER = "http://aurora-daily.example/"


@pytest.fixture(scope="module")
def store(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(demos.copy(tmp_path_factory.mktemp("analyze")))


def analyze(store: str, *arguments: str) -> str:
    result: Result = CliRunner().invoke(
        group, ["analyze", *arguments, "--store", store], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.output


def ask(store: str, *arguments: str) -> str:
    result = CliRunner().invoke(group, ["ask", *arguments, "--store", store])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_words_have_weights_in_listed_windows_and_a_limit_holds_for_each(store: str) -> None:
    arguments = ("--by", "2009-11/2009-12,2010-02", "--limit", "1", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ask(store, "typical-anchors", OPENING, *arguments))))
    assert [(row["period"], row["term"]) for row in rows] == [
        ("2009-11/2009-12", "Opening ceremony set for 12 February"),
        ("2010-02", "Eröffnungsfeier"),
    ]
    table = ask(store, "typical-anchors", OPENING, "--by", "month", "--kinds", "all")
    assert re.search("2010-02  開会式 +2.512 +1 +1 +1 +1 +1  2010-02-12 06:00:22", table)


def test_words_of_a_host_that_others_wrote(store: str) -> None:
    arguments = ("*.kalvik2010.example", "--external", "--of", "word", "--format", "json")
    document = json.loads(ask(store, "typical-anchors", *arguments))
    assert document["kinds"] == ["navigation"]
    assert [(row["term"], row["tf"], row["df"]) for row in document["rows"][:2]] == [
        ("kalvik", 62, 2),
        ("2010", 60, 2),
    ]


def test_churn_adds_up_over_hosts(store: str) -> None:
    rows = json.loads(ask(store, "churn", "--by", "month", "--limit", "0", "--format", "json"))
    whole = json.loads(ask(store, "churn", "--limit", "0", "--format", "json"))
    assert len(whole["rows"]) > 5
    for column in ("comparisons", "links_before", "added", "removed"):
        sums = [sum(row[column] for row in one["rows"]) for one in (rows, whole)]
        assert sums[0] == sums[1] > 0
    site = ("*.kalvik2010.example", "--by", "month", "--limit", "0", "--format", "json")
    of_site = json.loads(ask(store, "churn", *site))["rows"]
    for row in (*of_site, *rows["rows"]):  # those of the site, and of the archive
        assert row.pop("captures") >= row.pop("read") > 0
    assert of_site == [row for row in rows["rows"] if row["name"].endswith("kalvik2010.example")]


def test_survival_has_a_row_for_each_month_and_the_number_of_links_at_risk(store: str) -> None:
    asked = ("survival", "--kinds", "a@href", "--format", "json")
    rows = json.loads(ask(store, *asked))["rows"]
    assert [row["months"] for row in rows] == list(range(len(rows)))
    shares, gone = ([row[name] for row in rows] for name in ("share", "gone"))
    assert shares == sorted(shares, reverse=True)
    assert gone == sorted(gone)
    assert gone[-1] > 0
    known = [row for row in rows if row["low"] is not None]
    assert known
    assert all(row["low"] <= row["share"] <= row["high"] for row in known)
    new = ask(store, *asked, "--by", "2009-11,2009-12/2010-03", "--new", "--external")
    assert {row["period"] for row in json.loads(new)["rows"]} == {"2009-12/2010-03"}


def test_first_linkers_are_counted_by_month(store: str) -> None:
    table = ask(store, "first-linkers", OPENING)
    assert "7 rows" in table
    document = json.loads(ask(store, "first-linkers", OPENING, "--by", "month", "--format", "json"))
    assert document["rows"][0]["first"] == "20091122060005"
    assert Counter(row["period"] for row in document["rows"]) == {"2009-11": 1, "2010-02": 6}


def test_a_path_is_printed_link_by_link(store: str) -> None:
    table = analyze(store, "path", "http://snowblind.blog.example/", "http://lyzhnya.example/")
    assert table.startswith("3 links, arriving 2009-11-22 06:01:53; ")
    arguments = (
        "path",
        "http://snowblind.blog.example/",
        "http://lyzhnya.example/",
        "--when",
        "in-force",
        "--format",
        "json",
    )
    document = json.loads(analyze(store, *arguments))
    assert document["found"]
    assert document["hops"][-1]["target"] == "http://lyzhnya.example/"
    assert "20091122060153" >= document["hops"][-1]["time"] >= document["hops"][0]["time"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param(
            ("path", "http://nowhere.example/", OPENING),
            "Unknown: of http://nowhere.example/, there are no captures to show from that time",
            id="not captured",
        ),
        pytest.param(
            ("path", NEWSPAPER, OPENING, "--from", "20091103", "--to", "20091120"),
            f"Unknown: of {NEWSPAPER}, there are no captures to show from that time",
            id="between two crawls",
        ),
        pytest.param(
            ("path", NEWSPAPER, "http://nowhere.example/"),
            "the graph does not know http://nowhere.example/",
            id="unknown end",
        ),
        pytest.param(
            ("path", NEWSPAPER, OPENING, "--most-pages", "1"),
            "and the search ended there",
            id="search cut",
        ),
    ],
)
def test_an_answer_without_results_says_why(
    store: str, arguments: tuple[str, ...], text: str
) -> None:
    assert text in analyze(store, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("path", OPENING, OPENING), "the same page", id="same page"),
        pytest.param(
            ("path", OPENING, NEWSPAPER, "--from", "2010", "--to", "2009"),
            "not after",
            id="time turned round",
        ),
        pytest.param(
            ("path", OPENING, NEWSPAPER, "--kinds", "links"), "element and attribute", id="kind"
        ),
    ],
)
def test_a_wrong_argument_is_named(store: str, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        analyze(store, *arguments)


def test_an_unknown_level_is_a_usage_error(store: str) -> None:
    result = CliRunner().invoke(group, ["analyze", "pagerank", "--level", "page", "--store", store])
    assert result.exit_code == 2
    assert "'uri', 'host', 'domain'" in result.output
