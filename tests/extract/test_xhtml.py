"""Pages served as XML lose no link in the HTML parser."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.extract.html import extract_links
from arclink.extract.xhtml import as_html
from tests.archives.made_archives import http, warc
from tests.extract.wat_records import extracted


def targets(page: bytes | str) -> list[str]:
    return [reference for _, reference, _, _ in extract_links(page).links]


@pytest.mark.parametrize(
    ("page", "links"),
    [
        pytest.param(
            '<head><title/><script src="a.js"/></head><body><a href="b">b</a>',
            ["a.js", "b"],
            id="script and title",
        ),
        pytest.param(
            '<iframe src="f" /><textarea\n/><style type=\'x\'/><a href="b">b</a>',
            ["f", "b"],
            id="white space, quotes",
        ),
        pytest.param(
            "<noscript/><noframes/><xmp/><title/><a href='b'>b</a>", ["b"], id="all that hold text"
        ),
        pytest.param(
            '<x title="a > b" /><a href="b/">b</a><br/><img src="i"/>',
            ["b/", "i"],
            id="a bracket in a value, elements without end",
        ),
        pytest.param(
            "<a href=/x/>x</a><a href=/y>y</a>",
            ["/x/", "/y"],
            id="no XML: a slash that belongs to the address",
        ),
        pytest.param(
            "<!-- <script/> --><a href='b'>b</a><![CDATA[ <script/> ]]>", ["b"], id="comments"
        ),
        pytest.param(
            "<script><![CDATA[ document.write('<script src=\"x\"/>'); ]]></script><a "
            "href='b'>b</a>",
            ["b"],
            id="CDATA",
        ),
        pytest.param("<h:script/><a href='b'>b</a>", ["b"], id="a prefix"),
        pytest.param(
            "<svg><a xlink:href='s'/><image href='i'/></svg><a href='b'>b</a>",
            ["s", "i", "b"],
            id="svg",
        ),
    ],
)
def test_an_element_closed_in_its_start_tag_hides_no_links(page: str, links: list[str]) -> None:
    assert targets(as_html(page)) == links
    assert as_html(page.encode()) == as_html(page)


XHTML, SVG = "http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"
DOCTYPE = (
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" '
    '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">'
)


@pytest.mark.parametrize(
    ("page", "links"),
    [
        pytest.param(
            f'<h:html xmlns:h="{XHTML}"><h:head><h:link href="l"/></h:head><h:body>'
            '<h:a href="a">A</h:a><h:br></h:br><h:img src="i"/></h:body></h:html>',
            ["l", "a", "i"],
            id="prefix",
        ),
        pytest.param(
            f'<html xmlns="{XHTML}"><p><![CDATA[ > <a href="no">no</a> ]]></p>'
            '<script>/*<![CDATA[*/ "</script><a href=no>" /*]]>*/</script><a href="a">A</a></html>',
            ["a"],
            id="CDATA with brackets",
        ),
        pytest.param(
            f'\n<?xml version="1.0" encoding="utf-16"?>{DOCTYPE}<html xmlns="{XHTML}"><body>'
            '<a href="a&nbsp;b?c&amp;d&#x3e;&quot;">&eacute;</a></body></html>',
            ['a\xa0b?c&d>"'],
            id="entities of HTML",
        ),
        pytest.param(
            f'<html xmlns="{XHTML}"><a href="a?b&unknown;c">x</a><p/></html>',
            ["a?b&unknown;c"],
            id="an unknown entity: as HTML",
        ),
        pytest.param(
            f'<html xmlns="{XHTML}"><plaintext/><xmp><a href="a"/></xmp><textarea/><a href="b"/>'
            "</html>",
            ["a", "b"],
            id="elements that hold text in HTML",
        ),
        pytest.param(
            f'<html xmlns="{XHTML}" xmlns:x="http://a.example/" xmlns:s="{SVG}" '
            'xmlns:k="http://www.w3.org/1999/xlink"><x:a href="no">x</x:a>'
            '<s:svg><s:base href="/s/"/><s:use k:href="u"/></s:svg><a x:href="no" href="a"/>'
            "</html>",
            ["u", "a"],
            id="other namespaces",
        ),
        pytest.param('<html><a href="a"/></html>', ["a"], id="no namespace"),
        pytest.param(
            f'<!DOCTYPE html [<!ENTITY e "x"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
            f'<html xmlns="{XHTML}"><a href="&e;"/><a href="/&f;"/><br/></html>',
            ["x"],
            id="declared entities: internal ones only",
        ),
    ],
)
def test_a_well_formed_page_is_read_as_xml(page: str, links: list[str]) -> None:
    assert targets(as_html(page)) == links
    assert extract_links(as_html(page)).base is None


@pytest.mark.parametrize(
    ("head", "title"),
    [
        pytest.param("<title>A &amp;&eacute; B</title>", "A &é B", id="characters"),
        pytest.param("<title><![CDATA[<A>]]></title>", "<A>", id="CDATA section"),
        pytest.param("<title>A<b>B<i>C</i></b>D</title><p/>", "AD", id="its own text only"),
        pytest.param("<title/><script/>", "", id="closed in its start tag"),
        pytest.param(
            "<h:title xmlns:h='http://www.w3.org/1999/xhtml'>A</h:title>", "A", id="prefix"
        ),
        pytest.param(
            "<svg xmlns='http://www.w3.org/2000/svg'><title>A<a href='x'/></title></svg>",
            "",
            id="of SVG",
        ),
        pytest.param("<x:title xmlns:x='urn:x'>A</x:title>", "", id="of another namespace"),
        pytest.param("<title>A<br></title>", "A<br>", id="not well-formed"),
    ],
)
def test_the_title_is_that_of_xml(head: str, title: str) -> None:
    page = f"<html xmlns='http://www.w3.org/1999/xhtml'><head>{head}</head></html>"
    assert extract_links(as_html(page)).title == title


def test_the_text_of_a_link_ends_where_xml_ends_it() -> None:
    links = extract_links(as_html('<a href="a"/>not its text <a href="b">b</a>')).links
    assert [(reference, text) for _, reference, text, _ in links] == [("a", ""), ("b", "b")]


@pytest.mark.parametrize(
    ("mime", "links"),
    [
        ("application/xhtml+xml", ["a@href\x1f/x\x1fx\x1f"]),
        ("text/xml; charset=utf-8", ["a@href\x1f/x\x1fx\x1f"]),
        ("text/html", []),  # nor does a browser find any
    ],
)
def test_the_media_type_of_a_page_decides_how_it_is_parsed(
    mime: str, links: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.warc"
    page = (
        b'<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><a '
        b'href="/x">x</a></body></html>'
    )
    path.write_bytes(warc("http://h.example/", http(page, f"Content-Type: {mime}")))
    ((_, row),), _ = extracted(path)
    assert json.loads(row.partition(b"\t")[2])[7] == links


def test_a_feed_stays_a_feed(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    feed = (
        b'<rss version="2.0"><channel><item><title/><enclosure '
        b'url="/e.mp3"/></item></channel></rss>'
    )
    path.write_bytes(warc("http://h.example/", http(feed, "Content-Type: text/xml")))
    ((_, row),), _ = extracted(path)
    assert b"rss@enclosure\\u001f/e.mp3" in row


@given(
    st.lists(
        st.sampled_from(
            ["<a", "/>", '"', "'", ">", "<!--", "-->", "<![CDATA[", "]]>", " x=", "p", "\xe9", "/"]
        ),
        max_size=20,
    )
)
def test_a_page_without_such_elements_stays_as_it_is(parts: list[str]) -> None:
    page = "".join(parts).replace("/>", ">")
    assert as_html(page) == page


@pytest.mark.costly
@pytest.mark.parametrize(
    "part", ["<!--", "<![CDATA[", '<a x="', "<a '", "<a/", "<a x='\"", "</", "<a/>"]
)
def test_a_hostile_page_takes_linear_time(part: str) -> None:
    started = time.process_time()
    as_html(part * (4_000_000 // len(part)))
    assert time.process_time() - started < 20
