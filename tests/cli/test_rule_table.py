"""Table 2 of the paper: ``arclink filter --table``, and the same table of builds and stores."""

import csv
import json
from collections import ChainMap
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arclink.cli.main import group
from arclink.model import Batch
from arclink.pipeline.rule_table import table_of_batches
from arclink.store.location import open_store

OF_THE_PAPER: dict[str, object] = {
    "statuses": ["200"],
    "mimes": ["text/*"],
    "mime_before_extension": False,
}
OFF: dict[str, object] = {
    "statuses": [],
    "mimes": [],
    "extensions_excluded": [],
    "checksum": False,
    "read_redirects": False,
}
ALONE: dict[str, dict[str, object]] = {
    "status": {"statuses": ["200"]},
    "mime": {"mimes": ["text/*"]},
    "extension": {"extensions_excluded": ["gif", "jpg", "php", "txt"]},
    "checksum": {"checksum": True},
}
"""Rules, by name; each of them is the only one in its part."""

RULES = ["no rule", "status", "mime", "extension", "checksum", "all"]


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(group, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture(name="cdx")
def cdx_of_aut(shared_data: Path) -> Path:
    return shared_data / "aut/example.warc.gz.published.cdx"


def rules_in(folder: Path, **values: object) -> Path:
    path = folder / "rules.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def table(cdx: Path, rules: Path) -> dict[str, dict[str, str]]:
    done = run("filter", cdx, "--table", "--rules", rules, "--format", "csv", "--runner", "inline")
    assert done.exit_code == 0
    return {row["rule"]: row for row in csv.DictReader(done.stdout.splitlines())}


def test_the_table_has_the_rows_of_the_paper(cdx: Path, tmp_path: Path) -> None:
    rows = table(cdx, rules_in(tmp_path, **OF_THE_PAPER))
    assert [*rows] == RULES
    assert [int(row["records"]) for row in rows.values()] == [261, 214, 190, 186, 189, 117]
    kinds = [row["type"] for row in rows.values()]
    assert kinds == ["", "INCLUDE", "INCLUDE", "EXCLUDE", "EXCLUDE", ""]
    assert [rows[name]["parameter"] for name in ("status", "mime", "checksum")] == [
        "200",
        "text/*",
        "duplicates",
    ]
    assert [float(row["share"]) for row in rows.values()] == [
        int(row["records"]) / 261 for row in rows.values()
    ]
    assert [bool(row["cpu_seconds"]) for row in rows.values()] == [False] * 5 + [True]


def test_each_row_is_what_its_rule_alone_leaves(cdx: Path, tmp_path: Path) -> None:
    rules = {**OFF, "mime_before_extension": False}
    together = table(cdx, rules_in(tmp_path, **dict(ChainMap({}, *ALONE.values(), rules))))
    for name, rule in ALONE.items():
        alone = table(cdx, rules_in(tmp_path, **{**rules, **rule}))
        assert alone["all"]["records"] == together[name]["records"] == alone[name]["records"]
        off = {other for other in ALONE if alone[other]["parameter"] == "off"}
        assert off == {*ALONE} - {name}
        assert all(alone[other]["type"] == "" for other in off)


def test_types_of_mime_that_are_only_left_out_are_an_exclusion(cdx: Path, tmp_path: Path) -> None:
    rules = {"mimes": [], "mimes_excluded": ["image/*", "text/css", "*javascript*"]}
    row = table(cdx, rules_in(tmp_path, **rules))["mime"]
    assert (row["type"], row["records"]) == ("EXCLUDE", "194")
    assert row["parameter"] == "not *javascript*, not image/*, not text/css"


def test_rows_that_are_not_in_the_table_are_named_with_their_number(tmp_path: Path) -> None:
    rows = tmp_path / "rows.cdx"
    rows.write_text(
        "no row\n"
        "- 20100101 http://a.example/ text/html 200 - - 1 2 a.warc.gz\n"
        "- 20100101 dns:a.example text/dns - - - 1 2 a.warc.gz\n"
        "a,example)/?__wb_method=post 20100101 http://a.example/ text/html 200 - - 1 2 a.warc.gz\n"
    )
    done = run("filter", rows, "--table")
    assert "other rows: 1 malformed CDX row, 1 not a capture" in done.stdout
    assert "all rules together also leave out: 1 fails the method rule" in done.stdout
    answer = json.loads(run("filter", rows, "--table", "--format", "json").stdout)
    assert answer["rows"] == {"ROW_KEPT": 2, "ROW_NOT_A_CAPTURE": 1, "ROW_MALFORMED": 1}
    assert [row["records"] for row in answer["rules"]] == [2, 2, 2, 2, 2, 1]


def test_rows_of_which_none_is_a_capture_end_as_without_a_table(tmp_path: Path) -> None:
    rows = tmp_path / "rows.cdx"
    rows.write_text(" CDX N b a m s k r V g\nno row\n")
    without = run("filter", rows, "--into", tmp_path / "batch")
    with_table = run("filter", rows, "--table", "--format", "json")
    assert with_table.exit_code == without.exit_code == 1
    assert {row["share"] for row in json.loads(with_table.stdout)["rules"]} == {None}


def test_only_a_named_folder_keeps_the_files(
    cdx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shown = run("filter", cdx, "--table", "--format", "jsonl").stdout
    assert [*tmp_path.iterdir()] == []
    kept = run("filter", cdx, "--table", "--format", "jsonl", "--into", tmp_path / "kept").stdout
    assert len(kept.splitlines()) == len(shown.splitlines()) == len(RULES)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert [*(tmp_path / "kept/pointers").glob("part-*")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--table"], "Missing option '--into'", id="rows of no folder"),
        pytest.param([], "Missing option '--into'", id="no folder"),
        pytest.param(
            ["a.cdx", "--table", "--runner", "hadoop"],
            "Missing option '--into'",
            id="files of an engine stay there",
        ),
        pytest.param(["--into", "f", "--format", "csv"], "add --table", id="no table"),
    ],
)
def test_calls_that_cannot_be_meant_are_refused(words: list[str], message: str) -> None:
    done = run("filter", *words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_builds_and_stores_show_the_table(shared_data: Path, tmp_path: Path) -> None:
    store, rules = tmp_path / "links.db", rules_in(tmp_path, **OF_THE_PAPER)
    archive = shared_data / "aut/example.warc.gz"
    built = run(
        "build", archive, "--rules", rules, "--store", store, "--runner", "inline", "--quiet"
    ).stdout
    shown = run("stats", "--store", store).stdout
    for name, records in zip(RULES, (261, 214, 190, 186, 189, 117), strict=True):
        for output in (built, shown):
            assert any(
                f" {name} " in line and f" {records} " in line for line in output.splitlines()
            ), name
    assert "its CPU time is in the last row" in built
    assert "cpu" not in shown
    rows = json.loads(run("stats", "--store", store, "--json").stdout)["rules"]
    assert [row["records"] for row in rows] == [261, 214, 190, 186, 189, 117]
    of_subset = json.loads(
        run("stats", "--store", store, "--json", "--subset", "mime:text/html").stdout
    )
    assert "rules" not in of_subset

    # The ARC file has the same captures.
    arc = shared_data / "aut/example.arc.gz"
    run("build", arc, "--rules", rules, "--store", store, "--runner", "inline", "--quiet")
    with open_store(str(store)) as opened:
        batches = list(opened.batches())
    assert len(batches) == 2
    twice = table_of_batches(batches)
    assert twice is not None
    assert [row["records"] for row in twice.sections["rules"]] == [
        2 * records for records in (261, 214, 190, 186, 189, 117)
    ]
    assert "a payload in several of the 2 batches counts in each" in twice.lines


COUNTED: dict[str, object] = {"counts": {"rows": {"ROW_KEPT": 3}}}


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param("", id="no text"),
        pytest.param("[]", id="no object"),
        pytest.param(json.dumps({**COUNTED, "counts": {}}), id="of arclink load"),
        pytest.param(json.dumps({**COUNTED, "counts": None}), id="no counts"),
        pytest.param(json.dumps(COUNTED), id="no settings"),
        pytest.param(json.dumps({**COUNTED, "settings": {"rules": "x"}}), id="no rules"),
        pytest.param(json.dumps({**COUNTED, "settings": {"rules": '{"later": 1}'}}), id="later"),
    ],
)
def test_a_batch_without_counts_or_rules_is_unknown(manifest: str) -> None:
    known = json.dumps({**COUNTED, "settings": {"rules": "{}"}})
    table = table_of_batches([Batch(1, (), known), Batch(2, (), manifest)])
    assert table is not None
    assert table.about["unknown_batches"] == 1
    assert "unknown for 1 further batch" in table.lines
    assert table.sections["rules"][0]["records"] == 3
    assert table_of_batches([Batch(2, (), manifest)]) is None
