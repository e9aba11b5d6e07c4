"""A list of URIs becomes WARC files, with one request per payload, whatever fails in between."""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from arclink.errors import InputError, UsageError, WaybackError
from arclink.filter.rules import Rules
from arclink.model import Surt, Timestamp
from arclink.others.wayback.capture_lists import Archive
from arclink.others.wayback.client import Client
from arclink.others.wayback.fetch import FetchReport, FetchSettings, fetch
from arclink.others.wayback.replay import MODIFIERS
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.cdx import parse_row
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.durability.disks import killed_at, operations
from tests.pipeline.store_contents import outlinks_of
from tests.wayback.archive_server import FakeArchive, Page, break_off, hang_up, refuse, say, serving

SITE = "http://h.example/"
ONE, TWO = b'<a href="b">to b</a>', b'<a href="http://g.example/">to g</a>'
PAGES = [
    Page(SITE, "20100101000000", ONE),
    Page(SITE, "20110101000000", ONE),
    Page(SITE, "20120101000000", ONE, is_revisit=True),
    Page(SITE, "20130101000000", TWO),
    Page(SITE + "copy", "20100505000000", ONE),
    Page(SITE + "gone", "20100101000000", b"gone", status=404),
    Page(SITE + "i.png", "20100101000000", b"\x89PNG", mime="image/png"),
    Page(
        SITE + "old",
        "20100101000000",
        b"",
        status=302,
        headers=(("Location", "http://g.example/new"),),
    ),
]


def run(
    archive: FakeArchive,
    client: Client,
    folder: Path,
    *entries: str,
    settings: FetchSettings | None = None,
) -> FetchReport:
    client.requests = 0
    return fetch(
        entries or ("*.h.example",),
        Archive(archive.base),
        folder,
        client,
        settings or FetchSettings(),
    )


def records_in(folder: Path) -> list[tuple[str, str, str, str]]:
    """Return type, URI, date and digest of each capture, as warcio reads them."""
    found = []
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests=False):
                if record.rec_type in ("response", "revisit", "resource"):
                    header = record.rec_headers.get_header
                    found.append(
                        (
                            record.rec_type,
                            header("WARC-Target-URI"),
                            header("WARC-Date"),
                            header("WARC-Payload-Digest"),
                        )
                    )
    return found


def fetched(counts: Counter[Reason]) -> dict[str, int]:
    return {reason.name: count for reason, count in counts.items() if reason.group == "fetches"}


def test_a_payload_is_asked_for_once(archive: FakeArchive, client: Client, tmp_path: Path) -> None:
    archive.pages = PAGES
    report = run(archive, client, tmp_path)
    assert fetched(report.counts) == {"FETCH_STORED": 3, "FETCH_DUPLICATE": 3, "FETCH_LEFT_OUT": 2}
    assert archive.replayed == [
        f"20100101000000id_/{SITE}",
        f"20130101000000id_/{SITE}",
        f"20100101000000id_/{SITE}old",
    ]
    assert report.requests == 4  # one for the index
    assert (report.entries_left, report.captures_left) == (0, 0)


def test_the_folder_holds_ordinary_warc_files(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    run(archive, client, tmp_path)
    one, two = f"sha1:{PAGES[0].digest}", f"sha1:{PAGES[3].digest}"
    assert records_in(tmp_path) == [
        ("response", SITE, "2010-01-01T00:00:00Z", one),
        ("revisit", SITE + "copy", "2010-05-05T00:00:00Z", one),
        ("revisit", SITE, "2011-01-01T00:00:00Z", one),
        ("revisit", SITE, "2012-01-01T00:00:00Z", one),
        ("response", SITE, "2013-01-01T00:00:00Z", two),
        ("response", SITE + "old", "2010-01-01T00:00:00Z", f"sha1:{PAGES[7].digest}"),
    ]


def test_the_digests_and_lengths_of_the_records_are_right(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    run(archive, client, tmp_path)
    with (tmp_path / "wayback-00001.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            record.content_stream().read()


def test_the_index_names_every_capture_at_its_record(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    run(archive, client, tmp_path)
    lines = (tmp_path / "index.cdxj").read_bytes().splitlines()
    rows = [parse_row(line) for line in lines]
    assert lines == sorted(lines)
    assert {(row.original, row.timestamp) for row in rows} == {
        (page.original, page.timestamp) for page in PAGES
    }
    for row in rows:
        with (tmp_path / row.file).open("rb") as file:
            file.seek(row.offset)
            record = next(iter(ArchiveIterator(file)))
            if row.mime == "image/png" or row.status == "404":
                assert (record.rec_type, record.raw_stream.read()[:3]) == (
                    "metadata",
                    b"key",
                )  # the answer that names it
            else:
                assert record.rec_headers.get_header("WARC-Target-URI") == row.original
                assert record.rec_type == row.record_type


def test_a_build_takes_it_from_there(archive: FakeArchive, client: Client, tmp_path: Path) -> None:
    archive.pages = PAGES
    run(archive, client, tmp_path / "f")
    build_store(
        tmp_path / "f",
        tmp_path / "links.db",
        BuildSettings(runner="inline", cores=1),
        cdx=[tmp_path / "f/index.cdxj"],
    )
    with open_store(str(tmp_path / "links.db")) as store:
        links = outlinks_of(store, set(store.surts(Surt(""))))
    to_b, to_g = (
        [(SITE + "b", "a@href", "to b", None)],
        [("http://g.example/", "a@href", "to g", None)],
    )
    assert links == {
        (SITE, "20100101000000"): to_b,
        (SITE, "20110101000000"): to_b,
        (SITE, "20120101000000"): to_b,
        (SITE, "20130101000000"): to_g,
        (SITE + "copy", "20100505000000"): to_b,
        (SITE + "gone", "20100101000000"): None,
        (SITE + "i.png", "20100101000000"): None,
        (SITE + "old", "20100101000000"): [("http://g.example/new", "http@location", "", None)],
    }


def test_the_rules_and_the_time_decide_what_is_asked_for(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    rules = Rules(
        read_redirects=False, first=Timestamp("20100401000000"), last=Timestamp("20111231235959")
    )
    report = run(archive, client, tmp_path, settings=FetchSettings(rules))
    assert fetched(report.counts) == {"FETCH_STORED": 1, "FETCH_DUPLICATE": 1}


def test_images_are_fetched_if_the_rules_select_them(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    run(
        archive,
        client,
        tmp_path,
        settings=FetchSettings(
            Rules(mimes=("image/*",), extensions_excluded=(), read_redirects=False)
        ),
    )
    assert f"20100101000000id_/{SITE}i.png" in archive.replayed


def test_a_second_run_asks_nothing(archive: FakeArchive, client: Client, tmp_path: Path) -> None:
    archive.pages = PAGES
    run(archive, client, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".db"}
    report = run(archive, client, tmp_path)
    assert report.requests == 0
    assert {
        path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".db"
    } == before


def test_a_longer_list_asks_for_what_is_new(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    run(archive, client, tmp_path, SITE)
    report = run(archive, client, tmp_path, SITE, SITE + "copy")
    assert report.requests == 1  # its payload is here
    assert (
        len(list(tmp_path.glob("*.warc.gz"))) == 2
    )  # a file that a build may have read is not added to
    assert fetched(report.counts) == {"FETCH_STORED": 2, "FETCH_DUPLICATE": 3}


def test_what_failed_for_now_is_left_for_the_next_run(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    archive.faults[f"/web/20100101000000id_/{SITE}"] = [hang_up, refuse(503), break_off(b"<a", 9)]
    report = run(archive, client, tmp_path)
    assert fetched(report.counts) == {
        "FETCH_STORED": 2,
        "FETCH_BROKE_OFF": 1,
        "FETCH_DUPLICATE": 3,
        "FETCH_LEFT_OUT": 2,
    }
    assert report.captures_left == 4  # with its duplicates
    assert "answer broke off" in report.problems[0]
    report = run(archive, client, tmp_path)
    assert (report.requests, report.captures_left) == (1, 0)
    assert len(records_in(tmp_path)) == 6


def test_an_entry_that_cannot_be_listed_now_is_listed_by_the_next_run(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    cdx = "/web/cdx?url=http%3A%2F%2Fh.example%2F&limit=10000&showResumeKey=true"
    archive.faults[cdx] = [refuse(503)] * 3
    report = run(archive, client, tmp_path, SITE, SITE + "copy")
    assert (
        report.entries_left,
        report.counts[Reason.ENTRY_WAITING],
        report.counts[Reason.ENTRY_LISTED],
    ) == (1, 1, 1)
    report = run(archive, client, tmp_path, SITE, SITE + "copy")
    assert (report.entries_left, report.counts[Reason.ENTRY_LISTED]) == (0, 2)


def test_another_capture_of_a_payload_is_tried_when_one_fails_for_good(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    archive.faults[f"/web/20100101000000id_/{SITE}"] = [refuse(403)]
    report = run(archive, client, tmp_path)
    assert fetched(report.counts) == {
        "FETCH_STORED": 3,
        "FETCH_REFUSED": 1,
        "FETCH_DUPLICATE": 2,
        "FETCH_LEFT_OUT": 2,
    }
    assert [f"20100101000000id_/{SITE}", f"20100505000000id_/{SITE}copy"] == archive.replayed[:2]
    assert ("revisit", SITE, "2010-01-01T00:00:00Z", f"sha1:{PAGES[0].digest}") in records_in(
        tmp_path
    )


def test_a_payload_that_no_capture_brings_is_said_to_be_missing(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = [PAGES[0], PAGES[7]]
    for page in archive.pages:
        for modifier in ("id_", "if_", ""):
            archive.faults[f"/web/{page.timestamp}{modifier}/{page.original}"] = [refuse(404)]
    report = run(archive, client, tmp_path / "f")
    assert fetched(report.counts) == {"FETCH_NOT_FOUND": 2}
    built = build_store(
        tmp_path / "f",
        tmp_path / "links.db",
        BuildSettings(runner="inline", cores=1),
        cdx=[tmp_path / "f/index.cdxj"],
    )
    assert built.counts[Reason.ROW_KEPT] == 2
    assert built.counts[Reason.PAYLOAD_NOT_AT_HAND] == 1  # of the page
    assert (
        built.counts[Reason.PAYLOAD_OTHER_RECORD] == 1
    )  # of the redirect: its row points to the answer of the index


def test_whatever_status_a_memento_has_it_ends_in_a_reason(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    """A TimeMap tells no status, so each of its mementos is asked for; pywb answers 0 where the
    capture has 204.
    """
    statuses = (200, 203, 204, 205, 206, 226, 300, 304, 418, 521, 599, 999)
    none = ("0 No Content", "1000 OK", "2OO OK")
    time = "20100101000000"
    archive.pages = [
        Page(
            f"{SITE}{code}", time, b"" if code in (204, 205, 304) else b"<p>%d" % code, status=code
        )
        for code in statuses
    ]
    archive.pages += [Page(f"{SITE}none{number}", time, b"") for number in range(len(none))]
    archive.timemap_rows, archive.dialect = 10, ""
    for number, status in enumerate(none):
        for modifier in MODIFIERS:
            archive.faults[f"/web/{time}{modifier}/{SITE}none{number}"] = [
                say(b"HTTP/1.1 " + status.encode())
            ] * client.manners.tries
    report = run(archive, client, tmp_path / "f", *(page.original for page in archive.pages))
    assert fetched(report.counts) == {"FETCH_STORED": len(statuses), "FETCH_NO_MEMENTO": len(none)}
    assert (report.entries_left, report.captures_left) == (0, 0)
    build_store(
        tmp_path / "f",
        tmp_path / "links.db",
        BuildSettings(runner="inline", cores=1),
        cdx=[tmp_path / "f/index.cdxj"],
    )
    with open_store(str(tmp_path / "links.db")) as store:
        shown = {
            memento.original: memento.status
            for surt in store.surts(Surt(""))
            for memento in store.mementos(surt)
        }
    assert shown == {f"{SITE}{code}": str(code) for code in statuses} | {
        f"{SITE}none{number}": "-" for number in range(len(none))
    }


def test_captures_without_digest_are_compared_by_their_own(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages, archive.timemap_rows, archive.dialect = PAGES[:4], 10, ""
    report = run(archive, client, tmp_path, SITE)
    assert fetched(report.counts) == {"FETCH_STORED": 2, "FETCH_SAME_PAYLOAD": 2}
    assert [(kind, digest) for kind, _, _, digest in records_in(tmp_path)] == [
        ("response", f"sha1:{PAGES[0].digest}"),
        ("revisit", f"sha1:{PAGES[0].digest}"),
        ("revisit", f"sha1:{PAGES[0].digest}"),
        ("response", f"sha1:{PAGES[3].digest}"),
    ]


def test_a_page_that_was_not_modified_is_not_asked_for(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    """Its row has the digest of the empty payload; a build finds the capture before it."""
    archive.pages = [PAGES[0], Page(SITE, "20100601000000", b"", is_revisit=True), PAGES[3]]
    report = run(archive, client, tmp_path / "f")
    assert fetched(report.counts) == {"FETCH_STORED": 2, "FETCH_NOT_MODIFIED": 1}
    build_store(
        tmp_path / "f",
        tmp_path / "links.db",
        BuildSettings(runner="inline", cores=1),
        cdx=[tmp_path / "f/index.cdxj"],
    )
    with open_store(str(tmp_path / "links.db")) as store:
        links = outlinks_of(store, set(store.surts(Surt(""))))
    assert (
        links[SITE, "20100601000000"]
        == links[SITE, "20100101000000"]
        != links[SITE, "20130101000000"]
    )


def test_without_trusted_checksums_every_capture_is_fetched(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    report = run(archive, client, tmp_path, settings=FetchSettings(Rules(checksum=False)))
    assert fetched(report.counts) == {"FETCH_STORED": 6, "FETCH_LEFT_OUT": 2}


def test_a_capture_that_is_listed_twice_is_one(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    report = run(archive, client, tmp_path, SITE, SITE + "*")
    assert report.counts[Reason.ROW_KEPT] == len(PAGES)
    assert report.counts[Reason.ROW_REPEATED] == 4


def test_each_entry_of_a_list_has_a_reason(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    report = run(archive, client, tmp_path, SITE, "http://nowhere.example/", "not a URI")
    assert {reason.name for reason in report.counts if reason.group == "entries"} == {
        "ENTRY_LISTED",
        "ENTRY_EMPTY",
        "ENTRY_MALFORMED",
    }


def test_a_cut_payload_says_so_in_its_record(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = [Page(SITE, "20100101000000", b"x" * 5000)]
    run(archive, client, tmp_path, settings=FetchSettings(payload_limit=1000))
    with (tmp_path / "wayback-00001.warc.gz").open("rb") as file:
        (record,) = [record for record in ArchiveIterator(file) if record.rec_type == "response"]
        assert record.rec_headers.get_header("WARC-Truncated") == "length"


def test_a_header_that_is_not_ascii_is_written_as_it_came(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    """A build reads the bytes of a Location, and so gives the link that it would give from the
    file.
    """
    path = "/caf\u00e9".encode().decode(
        "latin-1"
    )  # as http.server sends it, and http.client reads it
    archive.pages = [
        Page(
            SITE,
            "20100101000000",
            b"",
            status=301,
            headers=(("Location", f"http://g.example{path}"),),
        )
    ]
    run(archive, client, tmp_path / "f")
    build_store(
        tmp_path / "f",
        tmp_path / "links.db",
        BuildSettings(runner="inline", cores=1),
        cdx=[tmp_path / "f/index.cdxj"],
    )
    with open_store(str(tmp_path / "links.db")) as store:
        assert outlinks_of(store, set(store.surts(Surt("")))) == {
            (SITE, "20100101000000"): [("http://g.example/caf%C3%A9", "http@location", "", None)]
        }


def test_files_are_kept_to_a_size(archive: FakeArchive, client: Client, tmp_path: Path) -> None:
    archive.pages = [
        Page(f"{SITE}{number}", "20100101000000", os.urandom(3000)) for number in range(6)
    ]
    run(archive, client, tmp_path, settings=FetchSettings(file_size=5000))
    assert len(list(tmp_path.glob("*.warc.gz"))) == 3
    assert len(records_in(tmp_path)) == 6


@pytest.mark.parametrize(
    ("settings", "base", "what"),
    [
        pytest.param(FetchSettings(Rules(statuses=())), "", "rules", id="rules"),
        pytest.param(FetchSettings(), "2", "--wayback", id="archive"),
    ],
)
def test_a_folder_of_another_archive_or_other_rules_is_refused(
    archive: FakeArchive,
    client: Client,
    tmp_path: Path,
    settings: FetchSettings,
    base: str,
    what: str,
) -> None:
    run(archive, client, tmp_path)
    with pytest.raises(UsageError, match=f"another {what}.*another --into"):
        fetch([SITE], Archive(archive.base + base), tmp_path, client, settings)


def test_a_file_that_was_shortened_is_noticed(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = PAGES
    run(archive, client, tmp_path)
    os.truncate(tmp_path / "wayback-00001.warc.gz", 100)
    with pytest.raises(InputError, match="shorter or missing"):
        run(archive, client, tmp_path)


def test_a_damaged_state_is_noticed(archive: FakeArchive, client: Client, tmp_path: Path) -> None:
    (tmp_path / "fetch.db").write_text(
        "This is no database, but a text that is long enough to be taken for one." * 20
    )
    with pytest.raises(InputError, match="not a state of"):
        run(archive, client, tmp_path)


def test_an_archive_that_stops_answering_leaves_an_index_of_what_came(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    archive.pages = [
        Page(f"{SITE}{number}", "20100101000000", b"<p>%d" % number) for number in range(6)
    ]
    for number in range(2, 5):
        archive.faults[f"/web/20100101000000id_/{SITE}{number}"] = [hang_up] * 3
    with pytest.raises(WaybackError, match="no longer answers"):
        run(archive, client, tmp_path)
    assert len((tmp_path / "index.cdxj").read_bytes().splitlines()) == 2
    assert run(archive, client, tmp_path).captures_left == 0
    assert len((tmp_path / "index.cdxj").read_bytes().splitlines()) == 6


COMMAND = [
    sys.executable,
    "-m",
    "arclink.cli.main",
    "fetch",
    "*.h.example",
    "--delay",
    "0",
    "--quiet",
]


def test_a_run_can_be_killed_at_any_moment(disk: Path, tmp_path: Path) -> None:
    """Nothing is lost, and nothing but the request that was under way is asked for twice."""
    pages = [
        Page(f"{SITE}{number}", f"2010010100{number:02}00", b"<p>%d" % (number % 20))
        for number in range(30)
    ]
    with serving(FakeArchive(pages)) as archive:
        call = [*COMMAND, "--wayback", archive.base, "--into"]
        total = operations(disk, "/whole/", [*call, str(tmp_path / "whole")], tmp_path)
        archive.asked.clear()
        dice = random.Random(4)
        kills = 0
        while killed_at(
            disk,
            "/f/",
            [*call, str(tmp_path / "f")],
            tmp_path,
            dice.randint(total // 20, total // 4),
        ):
            kills += 1
            assert kills < 100, "what a killed run fetched is kept"
        assert kills > 2
        again = sum(count - 1 for count in Counter(archive.asked).values())
    assert again <= kills
    assert sorted(uri for _, uri, _, _ in records_in(tmp_path / "f")) == sorted(
        page.original for page in pages
    )
    assert Counter(kind for kind, _, _, _ in records_in(tmp_path / "f")) == {
        "response": 20,
        "revisit": 10,
    }
    assert len((tmp_path / "f/index.cdxj").read_bytes().splitlines()) == 30


def test_two_runs_do_not_share_a_folder(
    archive: FakeArchive, client: Client, tmp_path: Path
) -> None:
    def run_again(line: str) -> None:
        with pytest.raises(WaybackError, match="another `arclink fetch` is running"):
            run(archive, client, tmp_path)

    archive.pages = PAGES
    fetch(["*.h.example"], Archive(archive.base), tmp_path, client, FetchSettings(), run_again)


def call(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "arclink.cli.main", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command_counts_all_outcomes_and_names_the_next_command(
    archive: FakeArchive, tmp_path: Path
) -> None:
    archive.pages = PAGES
    (tmp_path / "list.txt").write_text(f"# a list\n\n{SITE}*\n", encoding="utf-8")
    folder = tmp_path / "f"
    done = call(
        "fetch",
        str(tmp_path / "list.txt"),
        "--wayback",
        archive.base,
        "--into",
        str(folder),
        "--delay",
        "0",
    )
    assert done.returncode == 0, done.stderr
    assert "fetches: 8" in done.stdout
    assert "3  same payload as a fetched one, not requested" in done.stdout
    next_call = done.stdout.rpartition("arclink ")[2].split()
    assert next_call == [
        "build",
        str(folder),
        "--cdx",
        str(folder / "index.cdxj"),
        "--store",
        "links.db",
    ]
    built = call(*next_call[:-1], str(tmp_path / "links.db"), "--runner", "inline", "--quiet")
    assert "mementos: 8\n" in built.stdout
    assert "holds 3 links (repeats on a page count) of 3 contents" in built.stdout


def test_the_command_for_the_build_has_the_same_rules(archive: FakeArchive, tmp_path: Path) -> None:
    """With others it would look for payloads that were not asked for."""
    archive.pages = PAGES
    (tmp_path / "rules.json").write_text('{"statuses": ["200"]}')
    rules = ["--rules", str(tmp_path / "rules.json"), "--no-redirects"]
    done = call(
        "fetch",
        SITE,
        "--wayback",
        archive.base,
        "--into",
        str(tmp_path / "f"),
        "--delay",
        "0",
        *rules,
    )
    assert " ".join(rules) in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        pytest.param(["nofile.txt"], 2, "nofile.txt: no such file", id="no file"),
        pytest.param(["http://"], 2, "http://: not a URI", id="no URI"),
        pytest.param(
            [SITE, "--wayback", "a.example/web"], 2, "must begin with http://", id="no address"
        ),
        pytest.param(
            [SITE, "--payload-limit", "much"], 2, "--payload-limit 'much': not a size", id="no size"
        ),
        pytest.param(
            [SITE, "--from", "2012", "--to", "2011"],
            2,
            "first (20120101000000) is after last",
            id="time",
        ),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    tmp_path: Path, words: list[str], code: int, text: str
) -> None:
    done = call(
        "fetch", "--wayback", "http://127.0.0.1:1/web", "--into", str(tmp_path / "f"), *words
    )
    assert (done.returncode, text in done.stderr) == (code, True), done.stderr
    assert not (tmp_path / "f").exists()


def test_unfetched_captures_give_exit_code_1(archive: FakeArchive, tmp_path: Path) -> None:
    archive.pages = PAGES
    archive.faults[f"/web/20130101000000id_/{SITE}"] = [hang_up]
    words = [
        "fetch",
        SITE,
        "--wayback",
        archive.base,
        "--into",
        str(tmp_path / "f"),
        "--delay",
        "0",
        "--tries",
        "1",
    ]
    done = call(*words)
    assert done.returncode == 1
    assert "0 entries and 1 captures are left; run the same command again" in done.stderr
    assert call(*words).returncode == 0


def test_a_wrong_address_is_pointed_out(archive: FakeArchive, tmp_path: Path) -> None:
    done = call(
        "fetch",
        SITE,
        "--wayback",
        archive.base + "/wrong",
        "--into",
        str(tmp_path / "f"),
        "--delay",
        "0",
    )
    assert (
        "check that --wayback is the part of the archive's addresses before /TIMESTAMP/URI"
        in done.stderr
    )
