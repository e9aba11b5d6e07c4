"""Output of ``arclink analyze``: words, histories, spread and paths."""

import csv
import io
import json

import pytest
from click.testing import CliRunner, Result

from arclink.cli.main import group
from arclink.errors import UsageError
from arclink.model import Surt
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


def test_anchors_of_a_page_by_month(store: str) -> None:
    table = analyze(store, "anchors", OPENING, "--by", "month")
    assert "14 of 14 texts. tf-idf = tf · log10(N / df); N = 325 URIs that a text leads to" in table
    assert (
        "2010-02     2.512       1       1       1       1  2010-02-12 06:00:22  2010-02-12 "
        "06:00:22  開会式\n"
    ) in table


def test_windows_that_are_listed_cut_the_time_and_a_limit_holds_for_each(store: str) -> None:
    arguments = (
        "anchors",
        OPENING,
        "--by",
        "2009-11/2009-12,2010-02",
        "--limit",
        "1",
        "--format",
        "csv",
    )
    rows = list(csv.DictReader(io.StringIO(analyze(store, *arguments))))
    assert [(row["window"], row["text"]) for row in rows] == [
        ("2009-11/2009-12", "Opening ceremony set for 12 February"),
        ("2010-02", "Eröffnungsfeier"),
    ]


def test_words_of_a_host_that_others_wrote(store: str) -> None:
    document = json.loads(
        analyze(
            store,
            "anchors",
            "kalvik2010.example",
            "--level",
            "host",
            "--external",
            "--of",
            "word",
            "--format",
            "json",
        )
    )
    assert document["kinds"] == ["navigation"]
    assert document["found"] == {
        "links": 185,
        "inner": 437,
        "textless": 1,
        "uris": 11,
        "captured": 8,
    }
    assert [(row["word"], row["tf"], row["df"]) for row in document["words"][:2]] == [
        ("kalvik", 62, 2),
        ("2010", 60, 2),
    ]
    assert document["documents"] == 17


def test_a_page_that_was_never_captured_has_words(store: str) -> None:
    from arclink.store.location import open_store
    from arclink.uris.surts import surt_of

    with open_store(store) as graph:
        never = [
            surt
            for surt in graph.surts(Surt(surt_of(NEWSPAPER)[:-1]))
            if next(graph.mementos(surt), None) is None
        ]
        uri = next(inlink.target for surt in never for inlink in graph.inlinks(surt) if inlink.text)
    table = analyze(store, "anchors", uri)
    assert "Not captured" in table
    assert "tf idf" in table


def test_decay_has_a_row_for_each_month_and_the_number_of_links_at_risk(store: str) -> None:
    document = json.loads(
        analyze(store, "decay", "--level", "uri", "--kinds", "a@href", "--format", "json")
    )
    assert [row["months"] for row in document["months"]] == list(range(len(document["months"])))
    assert document["cohorts"]["all"]["links"] == document["months"][0]["at_risk"]
    shares = [row["share"] for row in document["months"]]
    assert shares == sorted(shares, reverse=True)
    assert all(
        row["low"] <= row["share"] <= row["high"]
        for row in document["months"]
        if row["low"] is not None
    )
    assert document["cohorts"]["all"]["gone"] > 0
    table = analyze(store, "decay", "--by", "2009-11,2009-12/2010-03", "--new", "--external")
    assert "2009-12/2010-03: " in table
    assert "were removed" in table


def test_churn_adds_up_over_hosts(store: str) -> None:
    rows = list(csv.DictReader(io.StringIO(analyze(store, "churn", "--format", "csv"))))
    whole = list(
        csv.DictReader(
            io.StringIO(analyze(store, "churn", "--per", "all", "--by", "all", "--format", "csv"))
        )
    )
    assert len(whole) == 1
    assert len({row["host"] for row in rows}) > 5
    for column in ("comparisons", "links_before", "added", "removed"):
        assert sum(int(row[column]) for row in rows) == int(whole[0][column]) > 0
    some = list(
        csv.DictReader(
            io.StringIO(analyze(store, "churn", "--site", "kalvik2010.example", "--format", "csv"))
        )
    )
    assert some == [row for row in rows if row["host"].endswith("kalvik2010.example")]


def test_spread_names_the_first_and_counts_all(store: str) -> None:
    table = analyze(store, "spread", OPENING)
    assert "7 pages link to it" in table
    assert table.splitlines()[5].startswith("2009-11-22 06:00:05")
    document = json.loads(analyze(store, "spread", OPENING, "--by", "month", "--format", "json"))
    assert [(row["window"], row["new_pages"], row["pages"]) for row in document["windows"]] == [
        ("2009-11", 1, 1),
        ("2009-12", 0, 1),
        ("2010-01", 0, 1),
        ("2010-02", 6, 7),
    ]


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
        pytest.param(("anchors", "http://nowhere.example/"), "0 of 0 texts", id="no words"),
        pytest.param(("decay", "--site", "nowhere.example"), "Nothing to follow", id="no links"),
        pytest.param(
            ("churn", "--by", "2009-12-20"),
            "Nothing to compare",
            id="nothing in the window",
        ),
        pytest.param(
            ("spread", OPENING, "--by", "2009-11-01"),
            "2009-11-01       0          0",
            id="no link yet",
        ),
        pytest.param(("spread", "http://nowhere.example/"), "No page links to it", id="no spread"),
        pytest.param(
            ("spread", "http://nowhere.example/", "--by", "month"),
            "No page links to it",
            id="no spread by month",
        ),
        pytest.param(
            ("path", "http://nowhere.example/", OPENING),
            "was not captured in that time",
            id="not captured",
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
        pytest.param(("anchors", "mailto:a@b.example"), "a URI with a host", id="no host"),
        pytest.param(
            ("anchors", OPENING, "--by", "week"), "Allowed: month, year, day, all", id="windows"
        ),
        pytest.param(
            ("decay", "--by", "2010-02/2009-01"), "ends before it begins", id="window turned round"
        ),
        pytest.param(("churn", "--site", "mailto:x"), "--site", id="site without host"),
        pytest.param(
            ("spread", OPENING, "--by", "1999"),
            "the captures are from 20091101060001 to 20100328060102",
            id="window outside",
        ),
        pytest.param(
            ("anchors", OPENING, "--by", "1999"),
            "the captures are from 20091101060001 to 20100328060102",
            id="words outside",
        ),
        pytest.param(
            ("decay", "--by", "1999,2011"),
            "windows 1999, 2011: nothing was captured in them",
            id="cohorts outside",
        ),
        pytest.param(
            ("churn", "--by", "1999"),
            "the captures are from 20091101060001",
            id="comparisons outside",
        ),
        pytest.param(("path", OPENING, OPENING), "the same page", id="same page"),
        pytest.param(
            ("path", OPENING, NEWSPAPER, "--from", "2010", "--to", "2009"),
            "not after",
            id="time turned round",
        ),
        pytest.param(("decay", "--kinds", "links"), "element and attribute", id="kind"),
    ],
)
def test_a_wrong_argument_is_named(store: str, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        analyze(store, *arguments)


def test_an_unknown_level_is_a_usage_error(store: str) -> None:
    result = CliRunner().invoke(group, ["analyze", "decay", "--level", "page", "--store", store])
    assert result.exit_code == 2
    assert "'uri', 'host', 'domain'" in result.output
