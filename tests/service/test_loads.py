"""What the front page says about batches and what is missing, and the page of reasons."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser

from arclink.model import Batch, Forgotten, Surt
from arclink.reasons import Reason
from arclink.service.pages.blocks import without_marks
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from tests.demos import Demos
from tests.service.conftest import PAGES, client_of
from tests.service.shown import hrefs, page, words
from tests.store.memory_store import MemoryStore

NOTHING_MISSING = {
    Reason.ROW_KEPT,
    Reason.ROW_HEADER,
    Reason.ROW_NOT_A_CAPTURE,
    Reason.ROW_IN_STORE,
    Reason.ROW_REPEATED,
    Reason.RECORD_INDEXED,
    Reason.RECORD_NOT_A_CAPTURE,
    Reason.RECORD_CONTINUATION,
    Reason.MEMENTO_WITH_PAYLOAD,
    Reason.MEMENTO_DUPLICATE,
    Reason.PAYLOAD_READ,
    Reason.PAYLOAD_RECORDED,
    Reason.PAYLOAD_KNOWN,
    Reason.PAYLOAD_NOT_MODIFIED,
    Reason.LINK_KEPT,
    Reason.LINK_SAME_PAGE,
    Reason.LINK_IN_PAGE,
    Reason.NOTE_TIMESTAMP_PADDED,
    Reason.NOTE_TIMESTAMP_CUT,
    Reason.NOTE_TIMESTAMP_MOVED,
    Reason.NOTE_TIMESTAMP_TRANSLATED,
    Reason.NOTE_DATE_OF_WARCINFO,
    Reason.NOTE_DATE_OF_NEIGHBOUR,
    Reason.NOTE_RANGES_REREAD,
    Reason.NOTE_UNWRAPPED,
    Reason.NOTE_WAYBACK_URI,
    Reason.NOTE_SURT_REFUSED,
    Reason.NOTE_SURT_OTHER,
    Reason.NOTE_FORMATTING_LEFT_OUT,
    Reason.NOTE_CHARSET_WRONG,
    Reason.NOTE_CHARSET_DETECTED,
    Reason.NOTE_FALL_BACK,
    Reason.NOTE_WAT_KEPT,
    Reason.NOTE_BASE_INVALID,
    Reason.NOTE_DIGEST_OTHER,
    Reason.NOTE_OTHER_TIME,
    Reason.NOTE_REWRITING_UNDONE,
}


def test_each_reason_of_a_build_says_whether_something_is_missing() -> None:
    """A new reason names what is missing, or is in the list here."""
    groups = {"rows", "records", "mementos", "payloads", "links", "notes"}
    missing = {reason for reason in Reason if reason.absence}
    assert not missing & NOTHING_MISSING
    assert missing | NOTHING_MISSING == {reason for reason in Reason if reason.group in groups}


@pytest.fixture(scope="module")
def path(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(demos.store(), tmp_path_factory.mktemp("loads") / "links.db"))


def rows(client: FlaskClient) -> list[str]:
    found = page(client).css("section[aria-labelledby=loaded] tbody tr")
    return [" ".join(words(cell) for cell in row.css("th, td")) for row in found]


def test_the_front_has_each_batch_and_each_reason_with_its_number(path: Path) -> None:
    client = client_of(str(path))
    shown = rows(client)
    with open_store(str(path)) as store:
        batches = [json.loads(batch.manifest) for batch in store.batches()]
    for number, manifest in enumerate(batches, 1):
        counts = manifest["counts"]
        (row,) = [row for row in shown if row.startswith(f"Batch {number} ")]
        assert f"{len(manifest['files'])} files" in row
        assert f"{counts['rows']['ROW_KEPT']:,} captures" in row
        assert f"{counts['payloads']['PAYLOAD_READ']:,} pages" in row
    for reason in Reason:
        number = sum(
            manifest["counts"].get(reason.group, {}).get(reason.name, 0) for manifest in batches
        )
        noun = reason.absence.noun if reason.absence else ""
        found = [row for row in shown if f"{reason.text} {number:,} {noun}" in row]
        assert bool(found) == bool(number and noun), reason
    reasons = page(client, "docs/reasons")
    for href in hrefs(page(client), "section[aria-labelledby=loaded] td a"):
        assert reasons.css_first(f"#{href.partition('#')[2]}")


class Loaded(MemoryStore):
    """A store with batches that have these manifests."""

    def __init__(self, *manifests: Mapping[str, object]) -> None:
        super().__init__(PAGES)
        self.manifests = manifests

    def batches(self) -> Iterator[Batch]:
        for number, manifest in enumerate(self.manifests, 1):
            yield Batch(number, [f"{number}.warc.gz"], json.dumps(manifest))


COUNTS = {"rows": {"ROW_KEPT": 1_234}, "payloads": {"PAYLOAD_READ": 1_000}}


def test_a_row_of_a_batch_is_complete() -> None:
    counted = {"format": 2, "loaded": "2026-11-26T17:00:00Z", "counts": COUNTS}
    client = client_of(lambda: Loaded(counted, {**counted, "damaged files": [{}, {}]}))
    assert rows(client) == [
        "Batch 1 loaded 26 Nov 2026 1 file 1,234 captures 1,000 pages",
        "Batch 2 loaded 26 Nov 2026 1 file 1,234 captures 1,000 pages",
        "2 archive files of it are empty, cut short or damaged.",
    ]
    assert "Nothing is missing" in words(page(client).css_first("section[aria-labelledby=loaded]"))


def test_what_is_not_known_about_a_batch_is_not_shown_as_none() -> None:
    """Stages by hand count nothing, and 0.1.0 did not note the day."""
    client = client_of(lambda: Loaded({"format": 2, "counts": COUNTS}, {"format": 2}))
    assert rows(client) == [
        "Batch 1 loaded day not noted 1 file 1,234 captures 1,000 pages",
        "Batch 2 loaded day not noted 1 file unknown unknown",
    ]
    shown = words(page(client).css_first("section[aria-labelledby=loaded]"))
    assert "was not counted" in shown
    assert "Nothing is missing" not in shown


def test_many_batches_are_counted_and_the_last_are_listed() -> None:
    counts = {**COUNTS, "links": {"LINK_INVALID": 2, "LINK_OF_LATER_VERSIONS": 3}}
    client = client_of(lambda: Loaded(*[{"format": 2, "counts": counts}] * 30))
    assert [row.split()[1] for row in rows(client)[:8]] == [str(number) for number in range(23, 31)]
    assert rows(client)[8:] == ["Links that are not in the graph not a valid URI 60 links"]
    assert "The last 8 of 30 batches." in words(page(client))


def test_captures_that_were_removed_are_counted(path: Path, tmp_path: Path) -> None:
    where = Path(shutil.copy(path, tmp_path / "links.db"))
    client = client_of(str(where))
    assert not any("Removed later" in row for row in rows(client))
    with open_store(str(where), create=True) as store:
        takedown = Takedown(Forgotten(Surt("example,kalvik2010)/")), "", "2026-11-26T00:00:00Z")
        removed = store.forget(takedown)
    assert removed.mementos
    assert f"Removed later forgotten on request {removed.mementos:,} captures" in rows(client)


def test_an_embargo_hides_the_numbers_of_what_it_hides(path: Path) -> None:
    settings = Settings(embargo=Embargo(prefixes=(Surt("example,b)/"),)))
    assert rows(client_of(str(path)))
    assert not rows(client_of(str(path), settings))


def test_the_page_of_reasons_has_each_of_them(client: FlaskClient) -> None:
    response = client.get("/docs/reasons")
    shown = LexborHTMLParser(response.data)
    assert [node.attributes["id"] for node in shown.css("dt")] == [one.name for one in Reason]
    for term, meaning in zip(shown.css("dt"), shown.css("dd"), strict=True):
        reason = Reason[term.attributes["id"] or ""]
        assert words(term).startswith(reason.text)
        assert words(meaning) == without_marks(reason.meaning)
        assert "](" not in words(meaning)
