"""Every error of a user gives one clear message (what, where, what to do) and no traceback."""

import errno
import gzip
import json
import os
import re
import resource
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from arclink.cli import main as cli
from arclink.demo import write_demo_archive

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["arclink", *map(str, words)])
        # Else this process ignores interrupts from here on, and so do programs that it starts.
        monkeypatch.setattr(cli, "end", lambda: None)
        monkeypatch.setattr(cli, "ignore_in_children", lambda: None)
        code: object = 0
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        assert isinstance(code, int)
        return code, out, err

    return run


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad") / "archive"
    write_demo_archive(folder, captures=60, hosts=4, seed=5)
    return folder


@pytest.fixture(scope="module")
def store(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from arclink.pipeline.settings import BuildSettings
    from benchmarks.built_stores import build_store

    path = tmp_path_factory.mktemp("store") / "links.db"
    build_store(archive, path, BuildSettings(cores=1, runner="inline"))
    return path


def foreign(path: Path) -> Path:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    other.close()
    return path


def newer(path: Path) -> Path:
    from arclink.store.location import open_store
    from arclink.store.sqlite.schema import connect

    open_store(str(path), create=True).close()
    with closing(connect(path)) as same:
        same.execute("PRAGMA user_version = 99")
    return path


def text(path: Path, words: str) -> Path:
    path.write_text(words)
    return path


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        pytest.param(
            ["build", "{tmp}/gone.warc", "--store", "{tmp}/l.db"],
            1,
            "gone.warc: no such file or folder",
            id="missing file",
        ),
        pytest.param(
            ["build", "{empty}", "--store", "{tmp}/l.db"],
            1,
            "no archive file in this folder",
            id="folder without archives",
        ),
        pytest.param(
            ["build", "--store", "{tmp}/l.db"], 2, "Missing argument 'INPUT...'", id="no input"
        ),
        pytest.param(["build", "{archive}"], 2, "Missing option '--store'", id="no store"),
        pytest.param(
            ["build", "{archive}", "--store", "{tmp}/l.db", "--batch-size", "many"],
            2,
            "'many': not a size",
            id="no size",
        ),
        pytest.param(
            ["build", "{archive}", "--store", "{tmp}/l.db", "--cdx", "{tmp}/no.cdx"],
            2,
            "no.cdx: no such file",
            id="missing CDX",
        ),
        pytest.param(["ask"], 2, "linkers, new-lost", id="no question"),
        pytest.param(
            ["ask", "find", "two words", "--store", "{newer}"], 2, "as --words", id="words"
        ),
        pytest.param(
            ["ask", "linkers", "a.org,b.org", "--store", "{newer}"],
            2,
            "one by one: first a.org",
            id="hosts with commas",
        ),
        pytest.param(
            ["open", "{foreign}"], 1, "To browse it: arclink serve --store", id="open a store"
        ),
        pytest.param(
            ["build", "{archive}", "--store", "{foreign}"],
            1,
            "not an ArcLink store",
            id="foreign store",
        ),
        pytest.param(
            ["build", "{archive}", "--store", "{foreign}", "--rebuild"],
            1,
            "not an ArcLink store",
            id="rebuild of a foreign one",
        ),
        pytest.param(
            ["build", "{archive}", "--store", "{newer}"],
            1,
            "written by a newer ArcLink",
            id="newer store",
        ),
        pytest.param(
            ["build", "{archive}", "--store", "{tmp}/no/l.db"],
            1,
            "no folder",
            id="store in no folder",
        ),
        pytest.param(
            ["build", "{archive}", "--store", "{store}", "--no-redirects"],
            1,
            "stored True, now False",
            id="other rules",
        ),
        pytest.param(
            ["build", "{notes}", "--store", "{tmp}/l.db"],
            1,
            "notes.md is not a WARC or ARC file",
            id="no archive at all",
        ),
        pytest.param(
            ["build", "{archive}", "--store", "redis://x"],
            2,
            "not a store",
            id="unknown kind of store",
        ),
        pytest.param(
            ["links", "http://a.example/", "--store", "{tmp}/gone.db"],
            1,
            "arclink build",
            id="missing store",
        ),
        pytest.param(
            ["links", "http://a.example/", "--store", "{foreign}"],
            1,
            "not an ArcLink store",
            id="query of a foreign store",
        ),
        pytest.param(["links", "   ", "--store", "{store}"], 2, "uri", id="blank URI"),
        pytest.param(
            ["export", "--format", "nquads", "--into", "{tmp}/x.nq.gz", "--store", "{store}"],
            2,
            "without compression",
            id="compressed export of links",
        ),
        pytest.param(["lnks", "a.example"], 2, "Did you mean links?", id="misspelt command"),
        pytest.param(
            ["links", "mailto:x@a.example", "--match-type", "host", "--store", "{store}"],
            2,
            "--match-type cannot be host",
            id="name of an option",
        ),
        pytest.param(
            ["stats", "--store", "{tmp}"], 1, "is a folder; a store is one file", id="folder"
        ),
        pytest.param(
            ["restore", "{tmp}/nope.db", "--store", "{tmp}/new.db"],
            1,
            "no backup at",
            id="missing backup",
        ),
        pytest.param(
            ["links", "http://a.example/", "--store", "{store}", "--from", "yesterday"],
            2,
            "from",
            id="no time",
        ),
        pytest.param(
            ["links", "http://a.example/", "--store", "{store}", "--at", "2010", "--to", "2011"],
            2,
            "at",
            id="at and to",
        ),
        pytest.param(
            ["explain", "http://a.example/", "--store", "{tmp}/gone.db"],
            1,
            "arclink build",
            id="explain without store",
        ),
        pytest.param(
            ["stats", "--store", "{notes}"], 1, "not an ArcLink store", id="stats of a text"
        ),
        pytest.param(
            ["filter", "--into", "{tmp}/w"], 1, "run `arclink index`", id="filter before index"
        ),
        pytest.param(
            ["filter", "{tmp}/no.cdx", "--into", "{tmp}/w"],
            2,
            "no such file",
            id="filter without CDX",
        ),
        pytest.param(
            ["filter", "--into", "{tmp}/w", "--rules", "{notes}"],
            2,
            "rules are not JSON",
            id="rules that are not JSON",
        ),
        pytest.param(
            ["filter", "--into", "{tmp}/w", "--rules", "/dev/zero"],
            2,
            "--rules /dev/zero: has more than 16 MiB",
            id="rules without end",
        ),
        pytest.param(
            ["build", "{archive}", "--store", "{tmp}/l.db", "--cores", "4294967296"],
            2,
            "1<=x<=100000",
            id="too many cores",
        ),
        pytest.param(
            ["demo-archive", "--into", "{tmp}/d", "--captures", "1", "--hosts", "99999999999"],
            2,
            "2<=x<=100000",
            id="demo of too many hosts",
        ),
        pytest.param(
            ["serve", "--store", "{store}", "--public", "http://["],
            2,
            "--public",
            id="public address without a host",
        ),
        pytest.param(
            ["extract", "{archive}", "--into", "{tmp}/w"],
            1,
            "run `arclink filter`",
            id="extract before filter",
        ),
        pytest.param(
            ["graph", "--into", "{tmp}/w"], 1, "run `arclink extract`", id="graph before extract"
        ),
        pytest.param(
            ["load", "--folder", "{tmp}/w", "--store", "{tmp}/l.db"],
            1,
            "run `arclink graph`",
            id="load before graph",
        ),
        pytest.param(
            ["demo-archive", "--into", "{tmp}/d", "--captures", "0"],
            2,
            "captures",
            id="demo of nothing",
        ),
        pytest.param(["dance"], 2, "No such command", id="unknown command"),
    ],
)
def test_a_wrong_call_has_its_message_and_exit_code(
    words: list[str], code: int, message: str, run: Run, archive: Path, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    names = {
        "tmp": tmp_path,
        "archive": archive,
        "store": store,
        "empty": tmp_path / "empty",
        "foreign": foreign(tmp_path / "recipes.db"),
        "newer": newer(tmp_path / "newer.db"),
        "notes": text(tmp_path / "notes.md", "these are notes, not an archive"),
    }
    ended, _, err = run(*[word.format(**names) for word in words])
    assert message in err
    assert ended == code


def test_a_port_in_use_is_named(run: Run, store: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = run("serve", "--store", store, "--port", port)
    assert code == 1
    assert str(port) in err
    assert "in use" in err


def test_a_truncated_archive_is_read_as_far_as_it_goes(
    run: Run, archive: Path, tmp_path: Path
) -> None:
    whole = archive / "demo-00000.warc.gz"
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    code, out, err = run("build", cut, "--store", tmp_path / "l.db", "--quiet")
    assert code == 0
    (warning,) = err.splitlines()
    assert re.match(r"warning: .*cut\.warc\.gz: cut short: .* at byte [0-9,]+ of [0-9,]+;", warning)
    assert "record is damaged" in out
    assert " kept" in out


def test_a_cdx_that_points_past_the_end_or_to_a_missing_file_is_counted(
    run: Run, archive: Path, tmp_path: Path
) -> None:
    run("index", archive, "--into", tmp_path / "w")
    rows = b"".join(
        part.read_bytes() for part in sorted((tmp_path / "w/rows").glob("part-*"))
    ).splitlines()
    pages = [row for row in rows if b'"text/html"' in row and b'"200"' in row]
    past = pages[0].replace(b'"offset":"', b'"offset":"99999')
    gone = pages[1].replace(b"demo-0", b"gone-0")
    assert past != pages[0]
    cdx = tmp_path / "odd.cdxj.gz"
    cdx.write_bytes(gzip.compress(b"\n".join([past, gone, b"no row", *pages[2:]]) + b"\n"))
    code, out, err = run("build", archive, "--store", tmp_path / "l.db", "--cdx", cdx, "--quiet")
    assert code == 0
    (warning,) = err.splitlines()
    assert re.search(
        r"1 of \d+ records that its CDX lists are past its end, the first at byte 99[9,]+\d",
        warning,
    )
    for reason in (
        "offset is past the end of the file",
        "of an archive file that was not given",
        "malformed CDX row",
    ):
        assert reason in out


def test_a_file_that_is_no_archive_is_passed_over_and_named(
    run: Run, archive: Path, tmp_path: Path
) -> None:
    (tmp_path / "odd.warc.gz").write_bytes(b"<html>not found</html>")
    code, out, err = run("build", archive, tmp_path, "--store", tmp_path / "l.db", "--quiet")
    assert code == 0
    assert "skipped: " in err
    assert "odd.warc.gz is not a WARC or ARC file" in err
    assert " kept" in out


def test_a_cdx_of_other_files_is_an_error_and_makes_no_store(
    run: Run, archive: Path, tmp_path: Path
) -> None:
    cdx = text(
        tmp_path / "other.cdx",
        "org,a)/ 20100101000000 http://a.org/ text/html 200 AAA - - 10 0 other.warc.gz\n",
    )
    code, _, err = run("build", archive, "--store", tmp_path / "l.db", "--cdx", cdx)
    assert code == 1
    assert "names one of the given archive files" in err
    assert not list(tmp_path.glob("l.db*")), (
        "no empty store, which would report every page as not captured"
    )
    run("build", archive, "--store", tmp_path / "l.db", "--quiet")
    whole = (tmp_path / "l.db").read_bytes()
    code, _, err = run("build", archive, "--store", tmp_path / "l.db", "--cdx", cdx, "--rebuild")
    assert code == 1
    assert "names one of the given archive files" in err
    assert (tmp_path / "l.db").read_bytes() == whole, "the store is removed only for another one"


def test_each_stage_alone_gives_the_store_of_a_build(
    run: Run, archive: Path, store: Path, tmp_path: Path
) -> None:
    from arclink.store.location import open_store
    from tests.pipeline.store_contents import graph_of

    folder = tmp_path / "batch"
    for words in (
        ["index", archive, "--into", folder],
        ["filter", "--into", folder],
        ["extract", archive, "--into", folder],
        ["graph", "--into", folder],
        ["load", "--folder", folder, "--store", tmp_path / "l.db"],
    ):
        code, _, err = run(*words)
        assert (code, err) == (0, "")
    with open_store(str(tmp_path / "l.db")) as by_stage, open_store(str(store)) as built:
        assert graph_of(by_stage) == graph_of(built)


@pytest.mark.parametrize("stage", ["index", "extract"])
def test_a_stage_names_what_it_passes_over(
    stage: str, run: Run, archive: Path, tmp_path: Path
) -> None:
    odd = tmp_path / "odd.warc.gz"
    odd.write_bytes(b"<html>not found</html>")
    run("index", archive, "--into", tmp_path / "w")
    run("filter", "--into", tmp_path / "w")
    code, _, err = run(stage, archive, odd, "--into", tmp_path / "w")
    assert code == 0
    assert "skipped: " in err
    assert "odd.warc.gz is not a WARC or ARC file" in err


def test_filter_fails_on_a_file_that_is_not_a_cdx(run: Run, tmp_path: Path) -> None:
    code, _, err = run(
        "filter", text(tmp_path / "notes.md", "these are notes\n"), "--into", tmp_path / "w"
    )
    assert code == 1
    assert "notes.md: not a CDX or CDXJ file" in err


def test_a_name_that_is_not_utf_8_is_printed_with_escapes(run: Run, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.warc")).write_bytes(b"")
    code, _, err = run("build", tmp_path, "--store", tmp_path / "l.db")
    assert code == 1
    assert "caf\\xe9.warc: the name is not UTF-8" in err


@pytest.mark.parametrize("runner", ["local", "inline"])
def test_a_full_disk_is_named_with_its_folder_and_a_remedy(runner: str, tmp_path: Path) -> None:
    """A limit on the size of files replaces a full disk: writes beyond it fail in the same
    places.
    """
    work, archive = tmp_path / "work", tmp_path / "archive"
    write_demo_archive(archive, captures=1000, hosts=12, seed=1)
    options = ["--store", str(tmp_path / "l.db"), "--work", str(work), "--runner", runner]
    call = [sys.executable, "-m", "arclink.cli.main", "build", str(archive), *options]
    limit = 150 << 10
    done = subprocess.run(
        call,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"no space left in {work}" in done.stderr
    assert "free some there, or name a folder on a larger disk with --work" in done.stderr


def test_a_full_disk_at_reading_names_the_file_that_has_no_space(store: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "arclink.cli.main", "stats", "--store", str(store)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert done.returncode == 1
    assert f"no space left for {store.name}-shm" in done.stderr
    assert "also for reading" in done.stderr


@pytest.mark.parametrize("name", ["table", "csv"])
def test_a_closed_pipe_ends_an_answer_without_a_message(
    name: str, archive: Path, store: Path
) -> None:
    truth = [json.loads(line) for line in (archive / "truth.jsonl").read_text("utf-8").splitlines()]
    uri = max(truth, key=lambda one: len(one["links"] or ()))["original"]
    call = [
        sys.executable,
        "-m",
        "arclink.cli.main",
        "links",
        uri,
        "--store",
        str(store),
        "--format",
        name,
    ]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(call, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_file_that_gave_nothing_ends_a_build_with_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(b"")
    for _ in range(2):
        code, _, err = run("build", tmp_path, "--store", tmp_path / "l.db", "--runner", "inline")
        assert code == 1
        assert "warning: " in err
        assert "a.warc.gz: empty: 0 bytes; fetch or copy it again; no capture" in err


def test_an_error_of_the_system_begins_with_its_path(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", "/mnt/links.db")

    monkeypatch.setattr(cli.group, "main", fail)
    code, _, said = run("stats")
    assert code == 1
    assert said == (
        "arclink: /mnt/links.db: Read-only file system: "
        "name a path on a file system that can be written\n"
    )
