"""Fuzz target: any page is decoded, and its links are kept or counted.

Each link resolves, or is refused.
"""

from arclink.errors import UriError
from arclink.extract.charsets import decode_html
from arclink.extract.html import DEFAULT_KINDS, OPTIONAL_KINDS, Limits, extract_links
from arclink.extract.xhtml import as_html
from arclink.model import Kind, Scope, UriR
from arclink.uris.resolution import Base

ALL_KINDS = DEFAULT_KINDS | OPTIONAL_KINDS
IN_TEMPLATES = frozenset(Kind(f"template@{kind.partition('@')[2]}") for kind in ALL_KINDS)
REFRESHES = frozenset(map(Kind, ("meta@delayed-refresh", "noscript@refresh", "template@refresh")))
LIMITS = Limits(links=50, text=40)

SEEDS = [
    (
        b'<base href="/d/"><a href="b.html" rel=nofollow>Next <b>page</b></a><a '
        b'href="javascript:x()">x</a><img srcset="a 1x, b 2x" alt=A>'
    ),
    (
        b"<meta charset=windows-1251><meta http-equiv=refresh content=\"5; url='x'\"><form "
        b"action=x><input type=image src=y></form>"
    ),
    (
        b"<table><a href=1><tr><td>x<template><a href=2></template><svg><a xlink:href=3><image "
        b"href=4></svg>"
    ),
    b"<script src='a'/><p title='>'><a href=\"b\"/>b</p><![CDATA[<x/>]]><!-- <y/>",
    "<a href='ö?ü'>Größe</a>".encode("utf-16"),
]


def check(data: bytes) -> None:
    """Hold one page against what must be true of every page, served as HTML or as XML."""
    html = decode_html(data, None)
    for text in (html.text, as_html(html.text)):
        _check_links(text, html.charset)


def _check_links(html: bytes | str, charset: str) -> None:
    page = extract_links(html, LIMITS, ALL_KINDS)
    assert page == extract_links(html, LIMITS, ALL_KINDS)
    assert len(page.links) <= LIMITS.links
    base = Base(UriR("http://a.example/b/c?d"), page.base, charset)
    for kind, reference, text, rel in page.links:
        assert kind in ALL_KINDS | IN_TEMPLATES | REFRESHES
        assert len(text) <= LIMITS.text
        assert text == text.strip(" ")
        assert rel is None or rel == rel.strip(" ").lower() != ""
        assert not set(text + (rel or "")) & set("\t\n\r\x1e\x1f")
        text.encode()
        try:
            target, scope = base.follow(reference)
        except UriError:
            continue
        assert ":" in target
        assert "#" not in target
        assert scope <= Scope.DOCUMENT
