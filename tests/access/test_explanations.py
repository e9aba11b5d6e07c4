"""Every capture has an explanation that names its archive file and offset."""

import json

import pytest

from arclink.access.evidence import explain
from arclink.access.formats.explanations import explanation_fields, explanation_lines
from arclink.access.queries import BadParameterError
from arclink.reasons import Reason
from tests.store.memory_store import MemoryStore, Page, link

A, B = "http://a.example/", "http://b.example/"
T1, T2 = "20090101000000", "20100101000000"


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        pytest.param(Page(A, T1, [link(B)]), Reason.PAYLOAD_READ, id="read"),
        pytest.param(
            Page(A, T1, None, status="404", reason="MEMENTO_STATUS"),
            Reason.MEMENTO_STATUS,
            id="a rule",
        ),
        pytest.param(
            Page(A, T1, None, reason="PAYLOAD_DAMAGED"), Reason.PAYLOAD_DAMAGED, id="damaged"
        ),
        pytest.param(
            Page(A, T1, None, record_type="revisit"),
            Reason.PAYLOAD_NOT_AT_HAND,
            id="revisit of what was never captured",
        ),
    ],
)
def test_each_memento_has_its_reason(page: Page, reason: Reason) -> None:
    (found,) = explain(MemoryStore([page]), "a.example")
    assert found.reason is reason
    assert found.memento == page.memento
    assert (found.content is None) == (page.links is None)
    lines = list(explanation_lines(found))
    assert f"crawl.warc.gz at byte {page.memento.offset:,}" in lines[2]
    assert reason is Reason.PAYLOAD_READ or reason.text in "".join(lines[3:])


@pytest.mark.parametrize(
    ("title", "shown"),
    [("News\u0085of today", ["  title: News\ufffdof today"]), ("", ["  no title"]), (None, [])],
    ids=["title", "none", "not known"],
)
def test_the_title_of_a_page_is_shown_if_it_is_known(title: str | None, shown: list[str]) -> None:
    first, revisit = explain(
        MemoryStore(
            [
                Page(A, T1, [link(B)], title=title),
                Page(A, T2, [link(B)], title=title, record_type="revisit"),
            ]
        ),
        A,
    )
    for found in (first, revisit):
        assert [line for line in explanation_lines(found) if "title" in line] == shown
        assert explanation_fields(found)["title"] == (title and "News\ufffdof today")


def test_links_are_counted_by_reason_most_frequent_first() -> None:
    (found,) = explain(MemoryStore([Page(A, T1, [link(B), link(B)])]), A)
    assert found.counts == ((Reason.LINK_KEPT, 2), (Reason.LINK_SAME_PAGE, 1))
    assert explanation_fields(found)["links"] == {"LINK_KEPT": 2, "LINK_SAME_PAGE": 1}


def test_an_explanation_names_the_capture_whose_payload_was_read() -> None:
    first, second = explain(MemoryStore([Page(A, T1, [link(B)]), Page(A, T2, [link(B)])]), A)
    assert "from crawl.warc.gz" not in "".join(explanation_lines(first))
    assert f"from crawl.warc.gz at byte {first.memento.offset:,}" in "".join(
        explanation_lines(second)
    )
    assert explanation_fields(second)["read_from"] == {
        "file": "crawl.warc.gz",
        "offset": first.memento.offset,
    }


def test_explanations_come_oldest_first_and_are_json() -> None:
    store = MemoryStore([Page(A, T2, None), Page("http://www.a.example/", T1, [])])
    fields = [explanation_fields(found) for found in explain(store, A)]
    assert [found["timestamp"] for found in fields] == [T1, T2]
    assert json.loads(json.dumps(fields)) == fields


def test_never_captured_has_no_explanation() -> None:
    assert list(explain(MemoryStore(), A)) == []


def test_no_uri_is_a_bad_parameter() -> None:
    with pytest.raises(BadParameterError):
        explain(MemoryStore(), "")
