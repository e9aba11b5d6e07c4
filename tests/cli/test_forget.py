"""``arclink forget``, and builds after it."""

import random
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arclink.cli.build import command as build
from arclink.cli.forget import command as forget
from arclink.errors import OperatorError, StoreError, UsageError
from arclink.model import Surt
from arclink.service.application import create_app
from arclink.store.location import open_store
from arclink.store.protocols import Violation
from arclink.store.takedown_files import LISTED
from tests.archives.made_archives import gzipped, http, warc
from tests.demos import Demos
from tests.durability.disks import killed_at, operations
from tests.pipeline.store_contents import check_same_but_for_revisits, graph_of

SITE, PAGE = "example,aurora-daily)/", "http://aurora-daily.example/"


@pytest.fixture(scope="module")
def archive(demos: Demos) -> Path:
    return demos.archive(200, 6, 1)


@pytest.fixture(scope="module")
def built(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demos.copy(tmp_path_factory.mktemp("built"), 200, 6, 1)


@pytest.fixture
def store(built: Path, tmp_path: Path) -> Path:
    shutil.copy(built, tmp_path / "links.db")
    return tmp_path / "links.db"


def run_build(archive: Path, store: Path, *options: str) -> Result:
    arguments = [str(archive), "--store", str(store), "--runner", "inline", "--quiet", *options]
    return CliRunner().invoke(build, arguments, catch_exceptions=False)


def run(store: Path, *arguments: str) -> str:
    return (
        CliRunner()
        .invoke(forget, [*arguments, "--store", str(store)], catch_exceptions=False)
        .stdout
    )


def captures(store: Path, prefix: str) -> int:
    with open_store(str(store)) as opened:
        return len(
            [memento for surt in opened.surts(Surt(prefix)) for memento in opened.mementos(surt)]
        )


def breaches(store: Path) -> list[Violation]:
    with open_store(str(store)) as opened:
        return list(opened.verify())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "name a part", id="nothing"),
        pytest.param([""], "an empty SURT prefix", id="empty"),
        pytest.param(["org, example)/"], "no spaces", id="blank"),
        pytest.param(
            ["http://www.aurora-daily.example:80/index.html"],
            r"a URL, .* write 'example,aurora-daily\)/' for the site, or 'example,aurora-d.* with",
            id="URL of a page without captures",
        ),
        pytest.param(
            ["aurora-daily.example:8080"],
            r"write 'example,aurora-daily' with its ports and subdomains$",
            id="host, no captures at this port",
        ),
        pytest.param(
            [PAGE], r"write 'example,aurora-daily\)/' for the site, or 'example,au", id="site"
        ),
        pytest.param(
            ["example"],
            "'example': a public suffix, .* Name a site such as 'example,example.*--whole-suffix",
            id="public suffix",
        ),
        pytest.param(["uk,co,"], "such as 'uk,co,example", id="public suffix of two labels"),
        pytest.param(["http://"], "neither a SURT prefix", id="no URL"),
        pytest.param(["Org,example)/"], r"write 'org,example\)/'", id="upper case"),
        pytest.param(["org,a)/", "--from", "2010x"], "--from or --to", id="no time"),
        pytest.param(["org,a)/", "--from", "2011", "--to", "2010"], "is after", id="no span"),
        pytest.param(
            ["org,a)/", "--targets", "--to", "2010"],
            "--targets cannot be used with",
            id="targets of a time",
        ),
        pytest.param(["--import", "none.jsonl"], "cannot be read", id="no list"),
    ],
)
def test_a_wrong_call_gets_a_message_with_the_remedy(
    store: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run(store, *arguments)
    assert run(store, "--list") == "nothing was forgotten.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["org,absent)/"], r"^org,absent\)/: no capture matches", id="site"),
        pytest.param([SITE, "--to", "1990"], "to 19901231235959: no capture matches", id="time"),
        pytest.param([SITE, "org,absent)/"], "no capture matches", id="one of two"),
        pytest.param(["org,absent)/", "--targets"], "no capture matches", id="no link to it"),
        pytest.param(["http://absent.example/a"], "of which there is no capture", id="URL"),
        pytest.param(["file:/absent.html"], "^file:/absent.html: no capture", id="no host"),
        pytest.param(["file:///Absent.html"], "SURT is 'file:/absent.html'", id="URL without host"),
    ],
)
def test_a_prefix_without_captures_is_an_error_and_changes_nothing(
    store: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(OperatorError, match=message):
        run(store, *arguments)
    assert run(store, "--list") == "nothing was forgotten.\n"
    assert captures(store, SITE) > 10


def test_a_dry_run_shows_what_a_public_suffix_has(store: Path) -> None:
    assert run(store, "example", "--dry-run").startswith("example: 2")
    assert run(store, "example", "--whole-suffix").startswith("example: 2")
    assert captures(store, "") == 0
    assert run(store, "example", "--whole-suffix").startswith("example: 0 mementos"), "recorded"


ABOUT_PAGES = ("urn:text:", "urn:view:", "urn:pageinfo:", "urn:thumbnail:", "screenshot:")


@pytest.fixture
def with_records(tmp_path: Path) -> Path:
    """Return a store with two pages, records about both, and a file without a host."""
    path = tmp_path / "crawl.warc.gz"
    pages = ("http://a.example/p", "http://b.example/p", "file:///snapshot.html")
    written = [
        warc(uri, http(f"<a href=/x>{uri}</a>".encode(), "Content-Type: text/html"))
        for uri in pages
    ]
    written += [
        warc(start + uri, (start + uri).encode(), record_type="resource")
        for uri in pages[:2]
        for start in ABOUT_PAGES
    ]
    path.write_bytes(gzipped(written))
    run_build(path, tmp_path / "links.db")
    return tmp_path / "links.db"


def test_records_about_a_page_are_forgotten_with_it(with_records: Path) -> None:
    first = "example,a)/: 6 mementos, "
    about = ", 5 records about pages (urn:text:URI) included"
    said = run(with_records, "example,a)/", "--dry-run")
    assert said.startswith(first)
    assert said.endswith(f"would be forgotten{about}.\n")
    assert about in run(with_records, "example,a)/")
    assert captures(with_records, "") == 7
    assert captures(with_records, "example,b)/p") == 6
    run(with_records, "example,b)/p")
    assert captures(with_records, "") == 1
    assert breaches(with_records) == []


def test_a_page_without_a_host_is_forgotten(with_records: Path) -> None:
    with pytest.raises(UsageError, match=r"write 'file:/snapshot.html' for this page and all"):
        run(with_records, "file:///snapshot.html")
    assert run(with_records, "file:/snapshot.html").startswith("file:/snapshot.html: 1 memento, ")
    assert captures(with_records, "file") == 0


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        '"text"',
        "{}",
        '{"prefix": "", "time": ""}',
        '{"prefix": "a", "time": "", "from": "x"}',
    ],
)
def test_a_line_that_is_not_a_takedown_is_refused(store: Path, tmp_path: Path, line: str) -> None:
    (tmp_path / "list").write_text(f"\n{line}\n")
    with pytest.raises(UsageError, match="line 2: not a takedown"):
        run(store, "--import", str(tmp_path / "list"))


def test_a_missing_store_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store at"):
        run(tmp_path / "links.db", SITE)
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_counts_what_would_be_removed_and_changes_nothing(store: Path) -> None:
    before = captures(store, SITE)
    assert before > 10
    assert run(store, SITE, "--dry-run").startswith(f"{SITE}: {before} mementos, ")
    assert captures(store, SITE) == before
    assert run(store, SITE).startswith(f"{SITE}: {before} mementos, ")
    assert captures(store, SITE) == 0
    assert breaches(store) == []


def test_the_list_has_the_scope_date_reason_and_counts_of_each_takedown(store: Path) -> None:
    run(store, SITE, "--to", "2010", "--reason", "letter of the owner", "--no-clean")
    (line,) = run(store, "--list").splitlines()
    assert line[:4].isdigit()
    assert f"{SITE} to 20101231235959  " in line
    assert " mementos, " in line
    assert line.endswith("  letter of the owner")


def test_a_running_service_forgets_without_a_restart(store: Path) -> None:
    client = create_app(str(store)).test_client()
    asked = {"uri": PAGE, "direction": "out", "format": "json"}
    assert client.get("/linkQuery", query_string=asked).get_json()["outlinks"] != []
    run(store, SITE)
    assert client.get("/linkQuery", query_string=asked).get_json()["outlinks"] == []


def test_building_the_same_files_again_restores_nothing_forgotten(
    archive: Path, store: Path, tmp_path: Path
) -> None:
    run(store, SITE, "--targets")
    with open_store(str(store)) as opened:
        links = opened.sums().links
    for path in archive.glob("*.warc.gz"):
        (tmp_path / "again").mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / "again" / f"copy-{path.name}")
    result = run_build(tmp_path / "again", store)
    assert "forgotten on request" in result.output
    assert captures(store, SITE) == 0
    assert breaches(store) == []
    with open_store(str(store)) as opened:
        assert opened.sums().links == links
        assert list(opened.surts(Surt("example,aurora-daily)"))) == []


@pytest.mark.parametrize(
    "site", ["example,aurora-daily", "example,kalvik2010)/press", "example,kalvik2010"]
)
def test_forgetting_gives_the_store_that_is_built_without_the_captures(
    archive: Path, store: Path, tmp_path: Path, site: str
) -> None:
    run(store, site)
    run(store, "--into", str(tmp_path / "list.jsonl"))
    run(tmp_path / "new.db", "--import", str(tmp_path / "list.jsonl"))
    run_build(archive, tmp_path / "new.db")
    with open_store(str(store)) as forgot, open_store(str(tmp_path / "new.db")) as built:
        check_same_but_for_revisits(graph_of(forgot), graph_of(built))


def test_a_rebuild_keeps_what_was_forgotten(archive: Path, store: Path) -> None:
    run(store, SITE, "--reason", "letter")
    before = run(store, "--list").split("  ")
    run_build(archive, store, "--rebuild")
    after = run(store, "--list").split("  ")
    assert (before[0], before[1], before[-1]) == (after[0], after[1], after[-1])
    assert captures(store, SITE) == 0
    assert captures(store, "") > 50
    assert sorted(path.name for path in store.parent.iterdir()) == [
        "links.db",
        "links.db.takedowns",
    ]


def test_a_rebuild_that_was_killed_keeps_what_was_forgotten(archive: Path, store: Path) -> None:
    from arclink.store.location import remove_store, takedowns_path
    from arclink.store.takedown_files import set_aside

    run(store, SITE)
    with open_store(str(store)) as opened:
        set_aside(opened, takedowns_path(str(store)))
    remove_store(str(store))
    run_build(archive, store)
    assert captures(store, SITE) == 0
    assert len(run(store, "--list").splitlines()) == 1


def test_a_list_goes_to_another_store_before_it_is_built(
    archive: Path, store: Path, tmp_path: Path
) -> None:
    run(store, SITE, "--reason", "letter")
    run(store, "--into", str(tmp_path / "list.jsonl"))
    run(tmp_path / "new.db", "--import", str(tmp_path / "list.jsonl"))
    run_build(archive, tmp_path / "new.db")
    assert captures(tmp_path / "new.db", SITE) == 0
    assert run(tmp_path / "new.db", "--list").endswith("letter\n")


KILLS = 5


def test_forgetting_killed_at_any_moment_is_done_or_not_begun(
    built: Path, disk: Path, tmp_path: Path
) -> None:
    store = tmp_path / "links.db"
    call = [sys.executable, "-m", "arclink.cli.main", "forget", "example", "--targets"]
    call += ["--whole-suffix", "--store", str(store)]
    before = captures(built, "")
    shutil.copy(built, store)
    total = operations(disk, "/links.db", call, tmp_path)
    left = captures(store, "")
    assert left < before / 2
    for at in random.Random(5).sample(range(1, total // 10 * 9), KILLS):
        for file in tmp_path.glob("links.db*"):
            file.unlink()
        shutil.copy(built, store)
        assert killed_at(disk, "/links.db", call, tmp_path, at)
        # A takedown that is listed, but was cut off before its commit, is reported.
        assert {one.invariant for one in breaches(store)} <= {LISTED}
        is_recorded = not run(store, "--list").startswith("nothing")
        assert (captures(store, ""), is_recorded) in ((before, False), (left, True)), (
            "either all of it, or nothing"
        )
        run(store, "example", "--targets", "--whole-suffix")
        assert captures(store, "") == left, "the same command goes on"
