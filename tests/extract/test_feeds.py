"""The links of feeds and sitemaps."""

import re
import time
import tracemalloc
from html import escape
from pathlib import Path

import pytest
from ada_url import join_url
from hypothesis import given
from hypothesis import strategies as st

from arclink.extract import feeds
from arclink.extract.feeds import FEED_KINDS, extract_feed_links, is_feed, links_of
from arclink.extract.html import DEFAULT_KINDS, Limits, extract_links
from arclink.extract.xhtml import included
from arclink.model import Kind, RawLink, UriR
from arclink.reasons import Reason
from arclink.uris.resolution import Base
from tests.archives.made_archives import read

RSS = """<?xml version="1.0"?>
<!DOCTYPE rss [<!ENTITY nbsp "&#160;">]>
<rss version="2.0" xmlns:a="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>Channel</title><link>http://a.example/</link><a:link rel="SELF" href="/rss"/>
<image><url>i.png</url><title>Logo</title><link>http://a.example/i</link></image>
<item><link> http://a.example/1?x=1&amp;y=2 </link><title>One &amp;&nbsp; <![CDATA[<b>]]></title>
<guid isPermaLink="false">http://x.example/</guid><enclosure url="e.mp3"/><comments>c</comments><source url="s">S</source>
<media:content url="m"><media:title>M</media:title></media:content><description>Plain &lt; text</description></item>
<item><guid>http://a.example/2</guid><guid>tag:x</guid></item>
</channel></rss>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="x"><title>Channel</title><link>l</link></channel><item><title>Item</title><link>k</link></item></rdf:RDF>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b.example/"><title>Feed</title>
<link href="x"/><icon>i</icon><logo>o</logo>
<entry xml:base="d/"><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">E <b>1</b></div></title><link rel="alternate" href="e"/>
<link rel="enclosure" title="Song" href="http://q.example/s"/><author><uri>u</uri></author><content src="c"/></entry></feed>"""

SITEMAP = """<?xml version="1.0" encoding="UTF-8"?><!-- made by hand -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">
<url><loc>http://a.example/1</loc><xhtml:link rel="alternate" hreflang="de" href="http://a.example/de"/>
<image:image><image:loc>i</image:loc></image:image><video:video><video:content_loc>v</video:content_loc></video:video></url></urlset>"""

INDEX = "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>http://a.example/s.xml</loc></sitemap></sitemapindex>"


@pytest.mark.parametrize(
    ("feed", "links"),
    [
        pytest.param(
            RSS,
            [
                ("rss@link", "http://a.example/", "Channel", None),
                ("atom@link", "/rss", "Channel", "self"),
                ("rss@url", "i.png", "Logo", None),
                ("rss@link", "http://a.example/i", "Logo", None),
                ("rss@link", " http://a.example/1?x=1&y=2 ", "One & <b>", None),
                ("rss@enclosure", "e.mp3", "One & <b>", None),
                ("rss@comments", "c", "One & <b>", None),
                ("rss@source", "s", "One & <b>", None),
                ("media@content", "m", "One & <b>", None),
                ("rss@guid", "http://a.example/2", "", None),
            ],
            id="RSS 2.0",
        ),
        pytest.param(
            RDF, [("rss@link", "l", "Channel", None), ("rss@link", "k", "Item", None)], id="RSS 1.0"
        ),
        pytest.param(
            ATOM,
            [
                ("atom@link", "http://b.example/x", "Feed", None),
                ("atom@icon", "http://b.example/i", "Feed", None),
                ("atom@logo", "http://b.example/o", "Feed", None),
                ("atom@link", "http://b.example/d/e", "E 1", "alternate"),
                ("atom@link", "http://q.example/s", "Song", "enclosure"),
                ("atom@uri", "http://b.example/d/u", "E 1", None),
                ("atom@content", "http://b.example/d/c", "E 1", None),
            ],
            id="Atom",
        ),
        pytest.param(
            SITEMAP,
            [
                ("sitemap@loc", "http://a.example/1", "", None),
                ("sitemap@link", "http://a.example/de", "", "alternate"),
                ("sitemap@image", "i", "", None),
                ("sitemap@video", "v", "", None),
            ],
            id="sitemap",
        ),
        pytest.param(
            INDEX, [("sitemap@loc", "http://a.example/s.xml", "", None)], id="index of sitemaps"
        ),
        pytest.param(
            "<RSS><Channel><Link>x</Link></Channel></RSS>",
            [("rss@link", "x", "", None)],
            id="upper case",
        ),
        pytest.param(
            "<rss><media:content url='x'/><dc:link>y</dc:link></rss>",
            [("media@content", "x", "", None)],
            id="prefix not declared",
        ),
        pytest.param(
            '<urlset xmlns="urn:mine"><url><loc>x</loc></url></urlset>',
            [("sitemap@loc", "x", "", None)],
            id="own namespace",
        ),
        pytest.param(
            '<s:urlset xmlns:s="urn:mine"><s:url><s:loc>x</s:loc></s:url></s:urlset>',
            [("sitemap@loc", "x", "", None)],
            id="own namespace with a prefix",
        ),
        pytest.param(
            "<s:urlset><s:url><s:loc>x</s:loc></s:url></s:urlset>",
            [("sitemap@loc", "x", "", None)],
            id="root with a prefix that is not declared",
        ),
        pytest.param(
            '<urlset xmlns:i="https://www.google.com/schemas/sitemap-image/1.1/"><url>'
            "<i:image><i:loc>x</i:loc><i:license>y</i:license></i:image></url></urlset>",
            [("sitemap@image", "x", "", None), ("sitemap@link", "y", "", None)],
            id="namespace with https and a slash",
        ),
        pytest.param(
            "<urlset><url><video:video><video:thumbnail_loc>t</video:thumbnail_loc>"
            "<video:gallery_loc title='g'>x</video:gallery_loc>"
            "<video:uploader info='y'>U</video:uploader><video:uploader>V</video:uploader>"
            "</video:video></url></urlset>",
            [
                ("sitemap@image", "t", "", None),
                ("sitemap@link", "x", "", None),
                ("sitemap@link", "y", "", None),
            ],
            id="pages of a video",
        ),
        pytest.param(
            '<rss xmlns:m="https://search.yahoo.com/mrss"><m:content url="x"/></rss>',
            [("media@content", "x", "", None)],
            id="namespace of Media RSS with https",
        ),
    ],
)
def test_every_kind_is_found_with_the_title_of_its_entry(feed: str, links: list[RawLink]) -> None:
    assert is_feed(feed)
    for given_as in (feed, feed.encode(), "\ufeff\n" + feed):
        found = links_of(given_as)
        assert found.links == links
        assert not found.counts
        assert found.base is None
    assert {link[0] for link in links} <= FEED_KINDS


@pytest.mark.parametrize(
    ("feed", "title"),
    [
        pytest.param(
            "<rss><channel><image><title>I</title></image><item><title>E</title></item>"
            "<title> A\n B </title></channel></rss>",
            "A B",
            id="RSS",
        ),
        pytest.param(
            '<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="urn:r"><channel><title>A</title>'
            "</channel><item><title>E</title></item></rdf:RDF>",
            "A",
            id="RSS 1.0",
        ),
        pytest.param(
            '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>E</title><source><title>S'
            "</title></source></entry><title type='text'>A &amp; B</title></feed>",
            "A & B",
            id="Atom",
        ),
        pytest.param("<rss><channel><item><title>E</title></item></channel></rss>", "", id="none"),
        pytest.param("<urlset><url><loc>x</loc></url></urlset>", "", id="sitemap"),
        pytest.param(
            "<rss><channel><title>A & B</title><description>&lt;title>C&lt;/title></description>"
            "</channel></rss>",
            "A & B",
            id="repaired",
        ),
    ],
)
def test_the_title_of_a_feed_is_that_of_its_channel(feed: str, title: str) -> None:
    assert is_feed(feed)
    assert links_of(feed).title == title


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("<html><rss>", id="HTML"),
        pytest.param("<svg xmlns='http://www.w3.org/2000/svg'>", id="SVG"),
        pytest.param(
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><channel>',
            id="RDF that is no RSS",
        ),
        pytest.param("<rssx>", id="longer name"),
        pytest.param("x<rss>", id="text"),
        pytest.param("<!-- <rss> -->", id="comment"),
        pytest.param("", id="nothing"),
    ],
)
def test_other_documents_are_read_as_html(document: str) -> None:
    assert not is_feed(document)
    page = document + "<a href=x>y</a>"
    assert links_of(page) == extract_links(page)


@pytest.mark.parametrize(
    ("feed", "links", "counts"),
    [
        pytest.param(
            "<rss><item><title>A & B "
            "&eacute;&nope;&LT;</title><link>http://b/?x=1&y=2</link></item></rss>",
            [("rss@link", "http://b/?x=1&y=2", "A & B é&nope;<", None)],
            {},
            id="ampersands and names of HTML",
        ),
        pytest.param(
            "<rss><link>a</link>\x01<link>b</link></rss>",
            [("rss@link", "a", "", None), ("rss@link", "b", "", None)],
            {},
            id="control",
        ),
        pytest.param(
            "<rss><link>a</link></rss><p>advert",
            [("rss@link", "a", "", None)],
            {},
            id="something after it",
        ),
        pytest.param(
            "<rss><item><title>T</title><link>a</link><link>http://b/lon",
            [("rss@link", "a", "T", None)],
            {Reason.NOTE_FEED_BROKEN: 1},
            id="cut",
        ),
        pytest.param(
            "<rss><link>a</link><b></c>",
            [("rss@link", "a", "", None)],
            {Reason.NOTE_FEED_BROKEN: 1},
            id="wrong end",
        ),
        pytest.param(
            "<rss><link>javascript:x()</link><link>data:,</link><link>about:blank</link><link/><enclosure url=''/><link>a</link></rss>",
            [("rss@link", "a", "", None)],
            {
                Reason.LINK_JAVASCRIPT: 1,
                Reason.LINK_DATA: 1,
                Reason.LINK_ABOUT: 1,
                Reason.LINK_EMPTY: 2,
            },
            id="no addresses",
        ),
    ],
)
def test_a_broken_feed_is_read_up_to_the_error(
    feed: str, links: list[RawLink], counts: dict[Reason, int]
) -> None:
    found = extract_feed_links(feed)
    assert found.links == links
    assert found.counts == counts


HTML = (
    "<p><a href='x' rel=NoFollow>Next &amp;amp; <b>more</b></a> <img src=i alt=I> <a "
    "href=#top>top</a> <a href='javascript:y()'>no</a>"
)
HTML_LINKS = [("a@href", "x", "Next &amp; more", "nofollow"), ("img@src", "i", "I", None)]
LINKS_GONE = {Reason.LINK_SAME_PAGE: 1, Reason.LINK_JAVASCRIPT: 1}
CONTENT = 'xmlns:content="http://purl.org/rss/1.0/modules/content/"'
XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'


@pytest.mark.parametrize(
    ("feed", "links", "counts"),
    [
        pytest.param(
            f"<rss><item><title>T</title><description>{escape(HTML)}</description></item></rss>",
            HTML_LINKS,
            LINKS_GONE,
            id="escaped",
        ),
        pytest.param(
            f"<rss><item><description><![CDATA[{HTML}]]></description></item></rss>",
            HTML_LINKS,
            LINKS_GONE,
            id="CDATA",
        ),
        pytest.param(
            f"<rss {CONTENT}><item><content:encoded><![CDATA[{HTML}]]></content:encoded><link>l</link></item></rss>",
            [*HTML_LINKS, ("rss@link", "l", "", None)],
            LINKS_GONE,
            id="content:encoded",
        ),
        pytest.param(
            f"<rss><item><content:encoded>{escape(HTML)}</content:encoded></item></rss>",
            HTML_LINKS,
            LINKS_GONE,
            id="prefix not declared",
        ),
        pytest.param(
            "<rss><item><description>As elements: <a href='x'>X<br/>Y</a><img src='i'/> "
            "end</description><link>l</link></item></rss>",
            [("a@href", "x", "X Y", None), ("img@src", "i", "", None), ("rss@link", "l", "", None)],
            {},
            id="not escaped",
        ),
        pytest.param(
            "<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='html' "
            f"xml:base='http://b.example/d/'>{escape(HTML)}</content>"
            "<summary type='HTML'>&lt;a href='//c.example'>c&lt;/a></summary><summary>&lt;a "
            "href='no'></summary></entry></feed>",
            [
                ("a@href", "http://b.example/d/x", "Next &amp; more", "nofollow"),
                ("img@src", "http://b.example/d/i", "I", None),
                ("a@href", "http://b.example/d/#top", "top", None),
                ("a@href", "//c.example", "c", None),
            ],
            {Reason.LINK_JAVASCRIPT: 1},
            id="Atom",
        ),
        pytest.param(
            f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='xhtml'><div {XHTML}>"
            "<a href='x?a=1&amp;b=&lt;'>1 &lt; 2<br/>3</a></div></content><link "
            "href='l'/><title>T</title></entry></feed>",
            [("a@href", "x?a=1&b=<", "1 < 2 3", None), ("atom@link", "l", "T", None)],
            {},
            id="XHTML",
        ),
        pytest.param(
            "<rss><item><description>&lt;a href='x'>X&lt;/a> and",
            [("a@href", "x", "X", None)],
            {Reason.NOTE_FEED_BROKEN: 1},
            id="cut",
        ),
    ],
)
def test_links_in_the_html_of_entries_are_those_of_a_page(
    feed: str, links: list[RawLink], counts: dict[Reason, int]
) -> None:
    found = links_of(feed)
    assert found.links == links
    assert found.counts == counts


def test_kinds_and_limits_hold_in_entries_too() -> None:
    items = (
        "<item><link>l</link><description>&lt;a href=x>&lt;img src=i>&lt;a "
        "href=y></description></item>"
    )
    feed = f"<rss>{items * 2}</rss>"
    only = frozenset([Kind("a@href")])
    assert [link[:2] for link in links_of(feed, kinds=only).links] == [
        ("rss@link", "l"),
        ("a@href", "x"),
        ("a@href", "y"),
    ] * 2
    found = links_of(feed, Limits(links=4), only)
    assert [link[:2] for link in found.links] == [
        ("rss@link", "l"),
        ("a@href", "x"),
        ("a@href", "y"),
        ("rss@link", "l"),
    ]
    assert found.counts == {Reason.LINK_TOO_MANY: 2}


def test_limits_hold_for_feeds_too() -> None:
    feed = (
        "<rss><channel><title>" + "t" * 50 + "</title>" + "<link>a</link>" * 5 + "</channel></rss>"
    )
    found = extract_feed_links(feed, Limits(links=3, text=10))
    assert found.links == [("rss@link", "a", "t" * 10, None)] * 3
    assert found.counts == {Reason.LINK_TOO_MANY: 2, Reason.NOTE_TEXT_CUT: 1}


LAUGHS = '<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{n} "&a{n - 1};&a{n - 1};&a{n - 1};&a{n - 1};">' for n in range(1, 40)
)


@pytest.mark.parametrize(
    "feed",
    [
        pytest.param("<rss>" + "<a>" * 1_000_000, id="deep"),
        pytest.param(
            "<rss "
            + " ".join(f"xmlns:a{n}='urn:{n}'" for n in range(20_000))
            + ">"
            + "<b>" * 2_000,
            id="many namespaces",
        ),
        pytest.param(
            f"<rss><item xml:base='/{'b' * 60_000}/'>" + "<x xml:base='c'/>" * 100_000,
            id="many long bases",
        ),
    ],
)
def test_a_hostile_feed_ends_soon_and_is_noted(feed: str) -> None:
    begin = time.process_time()
    assert extract_feed_links(feed).counts[Reason.NOTE_FEED_BROKEN] == 1
    assert time.process_time() - begin < 10


ENTITIES = "".join(
    [
        '<!ENTITY nbsp "&#160;">',
        '<!ENTITY site "http://b.example/?a=1&#38;amp;b=">',
        '<!ENTITY deep "&site;2">',
        "<!ENTITY item '<item><title>E</title><link>http://c.example/</link></item>'>",
        '<!ENTITY far SYSTEM "file:///etc/hostname">',
        '<!ENTITY near "-&far;-">',
        '<!ENTITY loop "&pool;"><!ENTITY pool "&loop;">',
        "<!ENTITY % more SYSTEM 'http://127.0.0.1:9/x'>",
        f'<!ENTITY long "{"b" * 10_000}">',
        LAUGHS,
    ]
)


@pytest.mark.parametrize(
    ("body", "link", "left_out"),
    [
        ("<link>&site;1</link>", "http://b.example/?a=1&b=1", 0),
        ("<enclosure url='&deep;'/>", "http://b.example/?a=1&b=2", 0),
        ("&item;", "http://c.example/", 0),
        ("<link>/&eacute;&nbsp;&mdash;</link>", "/é\xa0—", 0),
        ("<title>&far;</title>", None, 1),
        ("<link>http://b.example/&far;</link>", None, 1),
        ("<enclosure url='http://b.example/&near;'/>", None, 1),
        ("<link>&loop;</link>", None, 1),
        ("<link>&a39;</link>", None, 1),
        ("<description>&lt;a href='/&a39;'&gt;</description>", None, 1),
        ("<title>&a2;</title>", None, 0),
        ("<title>" + "&long;" * 1_000 + "</title>", None, 1_000 - (4 << 20) // 10_000),
        ("<link>/a?b&c&site;</link>", "/a?b&chttp://b.example/?a=1&b=", 0),
    ],
)
def test_a_reference_to_an_own_entity_costs_no_other_link(
    body: str, link: str | None, left_out: int
) -> None:
    feed = (
        f"<!DOCTYPE rss [{ENTITIES}]><rss><channel><title>T</title><link>/before</link>"
        f"{body}<link>/after</link></channel></rss>"
    )
    begin = time.process_time()
    found = links_of(feed)
    assert time.process_time() - begin < 10
    assert [target for _, target, _, _ in found.links if target != link] == ["/before", "/after"]
    assert [target for _, target, _, _ in found.links[1:-1]] == [link] * (link is not None)
    assert found.counts[Reason.NOTE_ENTITY_LEFT_OUT] == left_out
    assert found.counts[Reason.LINK_INVALID] == (left_out == 1 and "title" not in body)
    assert not found.counts[Reason.NOTE_FEED_BROKEN]


def test_entities_declared_elsewhere_leave_those_of_html() -> None:
    feed = (
        '<!DOCTYPE rss [<!ENTITY % lat1 PUBLIC "-//W3C//ENTITIES Latin 1 for XHTML//EN" '
        '"http://127.0.0.1:9/xhtml-lat1.ent">%lat1;]><rss><channel><title>&eacute; &x;</title>'
        "<link>/1</link></channel></rss>"
    )
    found = links_of(feed)
    assert found.links == [("rss@link", "/1", "é &x;", None)]
    assert not found.counts


@pytest.mark.costly
def test_the_repair_of_many_ampersands_takes_little_memory() -> None:
    feed = b"<rss><channel><link>http://h/?" + b"&a" * 1_000_000 + b"</link></channel></rss>"
    tracemalloc.start()
    repaired, _ = included(feed, repairs=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert repaired == feed.replace(b"&", b"&amp;")
    assert peak < 4 * len(repaired)


def test_the_defaults_of_attributes_are_not_repeated() -> None:
    feed = (
        f"<!DOCTYPE rss [<!ATTLIST enclosure url CDATA '{'u' * 60_000}'>]>"
        f"<rss>{'<enclosure/>' * 10_000}<link>/x</link></rss>"
    )
    assert [link[1] for link in links_of(feed).links] == ["/x"]


F = "<feed xmlns='http://www.w3.org/2005/Atom'"
ENTRY = "<entry><link href='e'/></entry>"


@pytest.mark.parametrize(
    ("feed", "targets"),
    [
        pytest.param(f"{F} xml:base='/b/'>{ENTRY}</feed>", ["/b/e"], id="root"),
        pytest.param(
            f"{F} xml:base='/b/'><entry xml:base='c/'><link href='e'/></entry>"
            "<entry xml:base='http://h.example/k/'><link href='e'/><icon xml:base='../m/'>i</icon>"
            "</entry><link href='e'/></feed>",
            ["/b/c/e", "http://h.example/k/e", "http://h.example/m/i", "/b/e"],
            id="relative to outer, absolute in the middle",
        ),
        pytest.param(
            f"{F}><entry xml:base='c/'><link href='e'/><link href='//o.example/'/></entry>{ENTRY}"
            "</feed>",
            ["/x/c/e", "//o.example/", "/x/e"],
            id="no base at the root",
        ),
        pytest.param(
            f"{F} xml:base='b/'><entry xml:base=''><link href='e'/><link href='#f'/></entry></feed>",
            ["/x/b/e", "/x/b/"],
            id="empty",
        ),
        pytest.param(
            f"{F} xml:base='b/'><entry xml:base='http://['><link href='e'/></entry></feed>",
            ["/x/b/e"],
            id="not valid",
        ),
        pytest.param(
            f"{F} xml:base='b/'><entry><link href='e' xml:base='../c/'/></entry></feed>",
            ["/x/c/e"],
            id="of the link itself",
        ),
        pytest.param(
            f"{F} xml:base='b/'><entry><content type='html' xml:base='p/'>&lt;a href='q'>&lt;base "
            "href='/no/'>&lt;a href='#f'></content><content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>"
            "<a href='1'>1</a><p xml:base='c/'><a href='2'>2</a><img xml:base='/d/' src='3'/>"
            "<a href='4'/></p><a href='5'>5</a></div></content></entry></feed>",
            ["/x/b/p/q", "/x/b/p/", "/x/b/1", "/x/b/c/2", "/d/3", "/x/b/c/4", "/x/b/5"],
            id="content",
        ),
        pytest.param(
            "<rss xml:base='/r/'><channel><link>c</link><item xml:base='i/'><link>l</link>"
            "<description>&lt;a href='?d'></description></item></channel></rss>",
            ["/r/c", "/r/i/l", "/r/i/?d"],
            id="RSS",
        ),
    ],
)
def test_a_base_is_relative_to_the_one_around_it(feed: str, targets: list[str]) -> None:
    found = links_of(feed)
    base = Base(UriR("http://a.example/x/f"), found.base)
    resolved = [base.resolve(reference) for _, reference, _, _ in found.links]
    assert resolved == [join_url("http://a.example/", target) for target in targets]
    assert found.counts[Reason.NOTE_BASE_INVALID] == feed.count("http://[")


MARKUP = "<description> </description> &lt;a/href=x> <a/>"
TAGS = (
    "<rss> <item> </item> <link> </link> <title> </title> <entry> x & &x; &eacute; <![CDATA[ "
    "]]> ]> <!-- --> \0"
)
pieces = st.sampled_from(
    [
        *re.findall(r"\S+", f"{MARKUP} {TAGS}"),
        "<feed xmlns='http://www.w3.org/2005/Atom'>",
        "<link href='a' xml:base='b'/>",
        "<!DOCTYPE rss [<!ENTITY a 'b'>",
    ]
)


@given(st.lists(pieces, max_size=30).map("".join) | st.binary())
def test_any_document_gives_links_or_counts(document: str | bytes) -> None:
    is_feed(document)
    found = extract_feed_links(document)
    for kind, reference, text, _ in found.links:
        assert kind in FEED_KINDS | DEFAULT_KINDS
        assert reference.strip()
        assert text == text.strip()


def test_the_feeds_of_a_real_crawl_have_a_link_per_item(shared_data: Path) -> None:
    records, _ = read(shared_data / "aut/example.warc.gz")
    feeds = [
        record.body
        for record in records
        if record.status == "200" and record.mime == "text/xml" and is_feed(record.body)
    ]
    assert len(feeds) == 9
    for feed in feeds:
        found = extract_feed_links(feed)
        assert not found.counts
        links = [link for link in found.links if link[0] == "rss@link"]
        assert len(links) == feed.count(b"<item>") + feed.count(b"<channel>") + feed.count(
            b"<image>"
        )
        assert all(link[2] for link in links)


def test_namespaces_after_the_thousandth_are_ignored() -> None:
    many = " ".join(f"xmlns:n{number}='x'" for number in range(2_000))
    atom = "xmlns:late='http://www.w3.org/2005/Atom'"
    reading = feeds._Reading(Limits(), DEFAULT_KINDS)
    reading.read(f"<rss {many} {atom}><late:link href='/late'/><link>/kept</link></rss>".encode())
    assert [link[1] for link in reading.found.links] == ["/kept"]


def test_the_innermost_title_is_that_of_a_link() -> None:
    feed = "<rss><channel><title>c</title><x><item><y><link>a</link></y><title>i</title></item><link>b</link></x></channel></rss>"
    assert [link[1:3] for link in extract_feed_links(feed).links] == [("a", "i"), ("b", "c")]


@pytest.mark.parametrize(
    ("start", "readings"),
    [
        pytest.param("<rss>", 1, id="nothing to repair"),
        pytest.param("<rss>&", 2, id="a bare ampersand"),
    ],
)
def test_a_broken_feed_is_read_again_only_if_that_can_help(
    start: str, readings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = feeds._Reading.read
    documents = []

    def noted(reading: feeds._Reading, data: bytes) -> bool:
        documents.append(data)
        return read(reading, data)

    monkeypatch.setattr(feeds._Reading, "read", noted)
    feed = extract_feed_links(f"{start}<channel><link>x</link></item>")
    assert [link[1] for link in feed.links] == ["x"]
    assert feed.counts == {Reason.NOTE_FEED_BROKEN: 1}
    assert len(documents) == readings
