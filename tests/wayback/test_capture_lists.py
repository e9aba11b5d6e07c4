"""A listing has every row of every kind of index, with as few requests as possible."""

from collections.abc import Sequence

import pytest

from arclink.errors import FetchError, UsageError, WaybackError
from arclink.model import ALL_TIME, Span, Timestamp
from arclink.others.wayback import capture_lists as listing
from arclink.others.wayback.capture_lists import DONE, Archive, list_step, parse_entry
from arclink.others.wayback.client import Client
from arclink.reasons import Reason
from tests.wayback.archive_server import FakeArchive, Page, redirect, refuse

PAGES = [
    Page(f"http://h.example/{number}", f"20100101{number:06}", b"<p>%d" % number)
    for number in range(60)
]
CDX = "/web/cdx?url=http%3A%2F%2Fh.example%2F"


def listed(
    archive: FakeArchive,
    client: Client,
    entry: str,
    span: Span = ALL_TIME,
    where: Archive | None = None,
) -> list[str]:
    """Return the originals of all captures, in the order they were listed."""
    found: list[str] = []
    cursor = ""
    where = where or Archive(archive.base)
    while cursor != DONE:
        step = list_step(client, where, parse_entry(entry), span, cursor)
        found += [capture.original for capture in step.answer.captures] if step.answer else []
        assert step.cursor != cursor
        cursor = step.cursor
    return found


@pytest.fixture(autouse=True)
def small_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "ROWS", 25)
    monkeypatch.setattr(listing, "SUSPICIOUS", 10)


@pytest.mark.parametrize(
    ("has_resume_keys", "page_rows", "most_rows", "questions"),
    [
        pytest.param(True, 0, 1000, ["limit=25", "resumeKey=25", "resumeKey=50"], id="resume keys"),
        pytest.param(
            True,
            0,
            20,
            ["limit=25", "resumeKey=20", "resumeKey=40"],
            id="resume keys, fewer rows than asked for",
        ),
        pytest.param(
            False, 0, 1000, ["limit=25", "showNumPages", "limit=100000000"], id="all at once"
        ),
        pytest.param(False, 20, 1000, ["limit=25", "showNumPages", "page=1", "page=2"], id="pages"),
        pytest.param(
            False,
            30,
            1000,
            ["limit=25", "showNumPages", "page=0", "page=1"],
            id="pages, the first cut off",
        ),
        pytest.param(
            False, 100, 1000, ["limit=25", "showNumPages", "page=0"], id="one page, cut off"
        ),
    ],
)
def test_every_row_is_listed_whatever_the_server_can(
    archive: FakeArchive,
    client: Client,
    has_resume_keys: bool,
    page_rows: int,
    most_rows: int,
    questions: Sequence[str],
) -> None:
    archive.pages, archive.has_resume_keys, archive.page_rows, archive.most_rows = (
        PAGES,
        has_resume_keys,
        page_rows,
        most_rows,
    )
    assert set(listed(archive, client, "http://h.example/*")) == {page.original for page in PAGES}
    assert len(archive.asked) == len(questions)
    for asked, part in zip(archive.asked, questions, strict=True):
        assert part in asked


def test_a_short_answer_is_the_only_one(archive: FakeArchive, client: Client) -> None:
    archive.pages, archive.has_resume_keys = PAGES, False
    assert listed(archive, client, "http://h.example/7") == ["http://h.example/7"]
    assert len(archive.asked) == 1


def test_only_the_time_that_is_wanted_is_asked_for(archive: FakeArchive, client: Client) -> None:
    archive.pages = PAGES
    span = Span(Timestamp("20100101000003"), Timestamp("20100101000005"))
    assert listed(archive, client, "*.h.example", span) == [
        f"http://h.example/{number}" for number in (3, 4, 5)
    ]
    assert "from=20100101000003&to=20100101000005" in archive.asked[0]


def test_the_usual_place_of_the_internet_archive_is_tried(
    archive: FakeArchive, client: Client
) -> None:
    archive.dialect = ""
    archive.timemap_rows = 10
    archive.pages = PAGES
    where = Archive(archive.base)
    assert listed(archive, client, "http://h.example/3", where=where) == ["http://h.example/3"]
    assert [path.partition("?")[0] for path in archive.asked] == [
        "/web/cdx",
        "/cdx/search/cdx",
        "/cdx",
        "/web/timemap/link/http://h.example/3",
    ]
    archive.asked.clear()
    assert listed(archive, client, "http://h.example/4", where=where) == [
        "http://h.example/4"
    ]  # the archive has no CDX server, which is known now
    assert archive.asked == ["/web/timemap/link/http://h.example/4"]


def test_timemaps_that_name_each_other_are_read_once(archive: FakeArchive, client: Client) -> None:
    archive.pages = [Page("http://h.example/", f"20100101{number:06}") for number in range(25)]
    archive.timemap_rows = 10
    where = Archive(archive.base, timemap=f"{archive.base}/timemap/link/")
    assert len(listed(archive, client, "http://h.example/", where=where)) == 25
    assert len(archive.asked) == 3


def test_a_uri_without_timemap_is_not_in_the_archive(archive: FakeArchive, client: Client) -> None:
    archive.timemap_rows = 10
    assert (
        listed(
            archive,
            client,
            "http://h.example/",
            where=Archive(archive.base, timemap=f"{archive.base}/timemap/link/"),
        )
        == []
    )


def test_a_timemap_is_not_about_a_prefix(archive: FakeArchive, client: Client) -> None:
    with pytest.raises(FetchError, match="TimeMap covers only one URI") as caught:
        listed(
            archive,
            client,
            "http://h.example/*",
            where=Archive(archive.base, timemap=f"{archive.base}/timemap/link/"),
        )
    assert caught.value.reason is Reason.ENTRY_NO_INDEX


def test_a_cdx_server_that_was_named_has_to_be_one(archive: FakeArchive, client: Client) -> None:
    with pytest.raises(WaybackError, match="no CDX server answers at this address"):
        listed(
            archive,
            client,
            "http://h.example/",
            where=Archive(archive.base, cdx_server=f"{archive.base}/nothing"),
        )


def test_a_question_the_server_refuses_does_not_lose_the_server(
    archive: FakeArchive, client: Client
) -> None:
    archive.pages = PAGES
    archive.timemap_rows = 10
    where = Archive(archive.base)
    listed(archive, client, "http://h.example/1", where=where)
    archive.faults["/web/cdx?url=http%3A%2F%2Fh.example%2F2&limit=25&showResumeKey=true"] = [
        refuse(400)
    ]
    assert listed(archive, client, "http://h.example/2", where=where) == ["http://h.example/2"]
    assert archive.asked[-1] == "/web/timemap/link/http://h.example/2"
    assert listed(archive, client, "http://h.example/3", where=where) == ["http://h.example/3"]
    assert archive.asked[-1].startswith("/web/cdx?")


def test_common_crawls_404_means_that_there_is_nothing(
    archive: FakeArchive, client: Client
) -> None:
    archive.faults["/web/cdx?url=http%3A%2F%2Fh.example%2F&limit=25&showResumeKey=true"] = [
        lambda handler: handler.answer(404, b'{"message": "No Captures found"}')
    ]
    assert listed(archive, client, "http://h.example/") == []
    assert len(archive.asked) == 1


def test_a_cdx_server_that_leads_to_another_host_is_not_followed(
    archive: FakeArchive, client: Client
) -> None:
    archive.timemap_rows = 10
    for path in ("/web/cdx", "/cdx/search/cdx", "/cdx"):
        archive.faults[f"{path}?url=http%3A%2F%2Fh.example%2F&limit=25&showResumeKey=true"] = [
            redirect("http://elsewhere.example/cdx")
        ]
    assert listed(archive, client, "http://h.example/") == []
    assert len(archive.asked) == 4


def test_the_hosts_are_those_that_were_named() -> None:
    archive = Archive("https://a.example/web/", "http://index.a.example:8080/coll")
    assert archive.origins == {"https://a.example", "http://index.a.example:8080"}
    with pytest.raises(UsageError):
        Archive("a.example/web")
