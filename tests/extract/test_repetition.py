"""Text that a small document repeats for each of many links is bounded, and counted."""

import pytest

from arclink.extract.feeds import links_of
from arclink.extract.html import Limits, PageLinks, WrittenLink, collect_links, extract_links
from arclink.graph.join import MOST_RESOLVED, Joiner
from arclink.model import Checksum, Kind, UriR
from arclink.reasons import Reason
from arclink.rows.pages import Page, format_link, format_page

LINKS = 200_000
TEXT = "t" * 1_000
SLACK = 20 << 20
"""Characters of the kinds and references themselves."""


def size_of(page: PageLinks) -> int:
    return sum(map(len, page.written))


def srcset(candidates: int) -> str:
    return ",".join(f"{number} {number}w" for number in range(1, candidates + 1))


@pytest.mark.costly
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(f"<img alt={TEXT} srcset='{srcset(LINKS)}'>", id="alt"),
        pytest.param(f"<link rel={TEXT} imagesrcset='{srcset(LINKS)}'>", id="rel"),
        pytest.param(
            f"<rss><channel><title>{TEXT}</title>" + "<link>x</link>" * LINKS, id="title of a feed"
        ),
        pytest.param(
            "<rss><channel>"
            + f"<item><description>&lt;img alt={TEXT} srcset='{srcset(99)}'></description></item>"
            * (LINKS // 99),
            id="HTML in a feed",
        ),
    ],
)
def test_a_text_that_many_links_share_is_cut(page: str) -> None:
    found = links_of(page)
    assert len(found.written) > LINKS - 99
    assert size_of(found) < Limits().repeated + SLACK
    assert found.counts[Reason.NOTE_TEXT_CUT] > LINKS / 2


@pytest.mark.costly
def test_a_text_that_many_links_of_a_wat_share_is_cut() -> None:
    link = WrittenLink(Kind("img@srcset"), srcset(LINKS), TEXT * 1_000, "")
    found = collect_links([link], Limits())
    assert len(found.written) == LINKS
    assert size_of(found) < Limits().repeated + SLACK


def test_a_text_that_few_links_share_is_kept() -> None:
    found = extract_links(f"<img alt={TEXT} srcset='{srcset(1_000)}'>")
    assert {link[2] for link in found.links} == {TEXT}
    assert found.counts == {}


@pytest.mark.parametrize("inner", ["<link>x</link>", "<description>&lt;a href=x></description>"])
def test_links_of_a_feed_with_a_long_base_are_limited(inner: str) -> None:
    base = "http://h/" + "b" * 60_000 + "/"
    found = links_of(
        f"<rss><channel><item xml:base='{base}'>{inner * 2_000}</item></channel></rss>"
    )
    assert size_of(found) < Limits().repeated + SLACK
    assert found.counts == {Reason.LINK_TOO_MANY: 2_000 - len(found.written)}
    assert found.written


@pytest.mark.costly
@pytest.mark.parametrize("which", ["base", "address"])
def test_links_of_a_page_with_a_long_base_are_limited(which: str) -> None:
    long = "http://h/" + "b" * 60_000 + "/"
    base, original = (long, "http://h/") if which == "base" else (None, long)
    links = [format_link(("a@href", str(number), "", None)) for number in range(10_000)]
    joiner = Joiner()
    page = format_page(
        Page(Checksum("A" * 32), 0, "f", 0, "utf-8", base, [UriR(original)], links, {})
    )
    rows = [*joiner.join(b"h)/", [page]), *joiner.flush()]
    kept = MOST_RESOLVED // (len(original) + len(base or "") + 1)
    assert joiner.counts[Reason.LINK_TOO_MANY] == 10_000 - kept
    assert joiner.counts[Reason.LINK_KEPT] == kept
    assert sum(len(row) for _, row in rows) < 4 * MOST_RESOLVED
