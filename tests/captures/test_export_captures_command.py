"""``arclink export`` of captures, and the same from Python: output, files and errors."""

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import arclink
from arclink.access.queries import BadParameterError
from arclink.captures.queries import CaptureFormat, TakeAwayQuery
from arclink.cli.main import group
from arclink.errors import UsageError
from tests.captures.archives import T1, T2, Record, build, sha1, store_of, write_warc
from tests.captures.exporting import rows_in

A, B = "http://a.example/", "http://b.example/"


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("past"), [Record(A, T1), Record(B, T2)])


def run(store: Path, *options: object) -> Result:
    return CliRunner().invoke(group, ["export", "--store", str(store), *map(str, options)])


def test_it_says_what_it_wrote(past: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.warc.gz"
    done = run(past, "--format", "warc", "--into", path)
    assert done.exit_code == 0, done.output
    first, second, *_, last = done.output.splitlines()
    assert first == "2 of 2 captures"
    assert second.startswith("2 records copied (")
    assert f"out.warc.gz: {path.stat().st_size:,} bytes" in done.output
    assert last == f"The manifest is {path}.json"


@pytest.mark.parametrize("name", ["crawl.warc.gz", "link.warc.gz"])
def test_an_archive_file_of_the_store_is_not_replaced(tmp_path: Path, name: str) -> None:
    store = store_of(tmp_path, [Record(A, T1), Record(B, T2)])
    archive = tmp_path / "archive" / "crawl.warc.gz"
    before = archive.read_bytes()
    (tmp_path / "link.warc.gz").symlink_to(archive)
    into = archive if name == archive.name else tmp_path / name
    done = run(store, "--format", "warc", "--to", "2009", "--subset", f"uri:{A}", "--into", into)
    assert isinstance(done.exception, UsageError)
    assert "is an archive file of the store" in str(done.exception)
    assert archive.read_bytes() == before


def test_a_further_file_of_the_export_does_not_replace_an_archive_file(tmp_path: Path) -> None:
    bodies = [random.Random(seed).randbytes(600_000) for seed in range(3)]
    records = [Record(f"{A}{number}", T1, body) for number, body in enumerate(bodies)]
    folder = tmp_path / "archive"
    folder.mkdir()
    write_warc(folder / "all-00002.warc.gz", records)
    before = (folder / "all-00002.warc.gz").read_bytes()
    store = build(tmp_path, [folder / "all-00002.warc.gz"])
    options = ["--format", "warc", "--file-size", "1000000"]
    done = run(store, *options, "--into", folder / "all.warc.gz")
    assert isinstance(done.exception, UsageError)
    assert "all-00002.warc.gz is an archive file of the store" in str(done.exception)
    assert [path.name for path in folder.iterdir()] == ["all-00002.warc.gz"]
    assert (folder / "all-00002.warc.gz").read_bytes() == before


def test_captures_that_are_left_out_are_warnings(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1)])
    gone = write_warc(tmp_path / "gone.warc.gz", [Record(B, T1)])
    build(tmp_path, [gone])
    gone.unlink()
    done = run(store, "--format", "warc", "--into", tmp_path / "out.warc.gz")
    assert done.exit_code == 0
    assert "warning: 1 captures left out: archive file is missing" in done.stderr
    only = ["--format", "warc", "--into", tmp_path / "out.warc.gz", "--archives", tmp_path]
    (tmp_path / "archive" / "crawl.warc.gz").unlink()
    assert run(store, *only).exit_code == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(["--format", "warc", "--level", "host"], "one of the parameters", id="level"),
        pytest.param(["--format", "csv", "--check"], "one of the parameters", id="check"),
        pytest.param(["--format", "cdxj", "--check"], "contains no records", id="no records"),
        pytest.param(["--format", "warc", "--file-size", "10"], "1000000", id="small files"),
        pytest.param(["--format", "warc", "--from", "soon"], "1 to 14 digits", id="time"),
    ],
)
def test_options_that_have_no_meaning_are_refused(
    options: list[str], message: str, past: Path, tmp_path: Path
) -> None:
    done = run(past, *options, "--into", tmp_path / "out.warc.gz")
    assert done.exit_code
    assert message in f"{done.output} {done.exception}"
    assert not list(tmp_path.iterdir())


def test_python_writes_the_same(past: Path, tmp_path: Path) -> None:
    with arclink.open(str(past)) as graph:
        done = graph.export_captures(tmp_path / "all.warc.gz")
        assert (done.tally.written, done.query.form) == (2, CaptureFormat.WARC)
        graph.at("2010").export_captures(tmp_path / "then.warc.gz", "warc")
        graph.export_captures(tmp_path / "later.warc.gz", from_="2011")
    assert [row.original for row in rows_in(tmp_path / "then.cdxj")] == [A]
    assert [row.original for row in rows_in(tmp_path / "later.cdxj")] == [B]


def test_a_query_has_the_defaults_of_its_declaration() -> None:
    asked = TakeAwayQuery.from_parameters([("format", "warc")])
    assert asked == TakeAwayQuery(CaptureFormat.WARC)
    with pytest.raises(BadParameterError, match="format"):
        TakeAwayQuery.from_parameters([])


def test_a_subset_is_exported_with_the_originals_of_its_revisits(tmp_path: Path) -> None:
    refers = {"WARC-Refers-To-Target-URI": A, "WARC-Refers-To-Date": "2010-01-01T00:00:00Z"}
    again = Record(B, T2, b"", record_type="revisit", fields=refers, digest=sha1(b"<p>text"))
    store = store_of(tmp_path, [Record(A, T1), again])
    path = tmp_path / "out.warc.gz"
    done = run(store, "--subset", "host:b.example", "--format", "warc", "--into", path)
    assert done.exit_code == 0, done.output
    assert "1 added originals" in done.output
    assert [row.original for row in rows_in(tmp_path / "out.cdxj")] == [B]
    assert [row.original for row in rows_in(tmp_path / "out.added.cdxj")] == [A]
    manifest = json.loads((tmp_path / "out.warc.gz.json").read_bytes())
    assert manifest["selection"] == "all captures of the subset host:b.example"
    nothing = run(store, "--subset", "host:c.example", "--format", "warc", "--into", path)
    assert nothing.exit_code == 1
