"""Fuzz target: any document is recognised as a feed or not; links of feeds are kept or counted."""

from arclink.extract.charsets import decode_html
from arclink.extract.feeds import FEED_KINDS, extract_feed_links, is_feed
from arclink.extract.html import DEFAULT_KINDS, DERIVED_KINDS, Limits
from arclink.uris.resolution import C0_OR_SPACE

KINDS = FEED_KINDS | DEFAULT_KINDS | DERIVED_KINDS
LIMITS = Limits(links=50, text=40)

SEEDS = [
    (
        b"<rss><item><description>&lt;a "
        b"href='x'>X&lt;/a></description><content:encoded><![CDATA[<img "
        b"src=i>]]></content:encoded></item></rss>"
    ),
    b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='xhtml' xml:base='/d/'>"
    b"<div><a href='x&amp;y'>1<br/></a></div></content>",
    b"<?xml version='1.0'?><rss><channel><title>T</title><link>x</link><item><guid>http://a.example/</guid></item></channel></rss>",
    (
        b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/b/'><entry><title>T</title><link "
        b"rel='self' href='x'/></entry></feed>"
    ),
    (
        b"<!DOCTYPE rss [<!ENTITY nbsp '&#160;'>]><rss "
        b"xmlns:media='http://search.yahoo.com/mrss/'><media:content url='&nbsp;x'/></rss>"
    ),
    (
        b"<!DOCTYPE rss [<!ENTITY nbsp '&#080;'>]><rss "
        b"xmlns:media='http://search.yahoo.com/mrss/'><media:content url='&nbsp;'/></rss>"
    ),
    (
        b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>a & "
        b"b</loc></url></urlset>"
    ),
]


def check(data: bytes) -> None:
    """Hold one document against what must be true of every one."""
    document = decode_html(data, None).text
    is_feed(document)
    feed = extract_feed_links(document, LIMITS)
    assert feed == extract_feed_links(document, LIMITS)
    assert len(feed.links) <= LIMITS.links
    for kind, reference, text, rel in feed.links:
        assert kind in KINDS
        assert reference.strip(C0_OR_SPACE)
        assert len(text) <= LIMITS.text
        assert text == text.strip(" ")
        assert not set(text + (rel or "")) & set("\t\n\r\x1e\x1f")
        (reference + text).encode()
