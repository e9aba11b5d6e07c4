"""Hosts and registered domains of SURTs, without network."""

import socket

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tldextract import TLDExtract

from arclink.model import Surt
from arclink.uris.hosts import Host, _rules, domain_of, host_of, is_public_suffix
from arclink.uris.surts import surt_of


@pytest.mark.parametrize(
    ("uri", "host", "domain"),
    [
        pytest.param(
            "https://www.news.bbc.co.uk:8080/x",
            "news.bbc.co.uk",
            "bbc.co.uk",
            id="two labels of suffix",
        ),
        pytest.param(
            "http://bücher.example/", "xn--bcher-kva.example", "xn--bcher-kva.example", id="IDN"
        ),
        pytest.param(
            "http://食狮.公司.cn/",
            "xn--85x722f.xn--55qx5d.cn",
            "xn--85x722f.xn--55qx5d.cn",
            id="IDN in the list",
        ),
        pytest.param(
            "http://x.city.kawasaki.jp/",
            "x.city.kawasaki.jp",
            "city.kawasaki.jp",
            id="exception in the list",
        ),
        pytest.param(
            "http://a.b.c.example/", "a.b.c.example", "c.example", id="suffix that no list has"
        ),
        pytest.param(
            "http://me.blogspot.com/",
            "me.blogspot.com",
            "blogspot.com",
            id="private section does not count",
        ),
        pytest.param("http://co.uk/", "co.uk", "co.uk", id="a suffix itself"),
        pytest.param("http://localhost/", "localhost", "localhost", id="one label"),
        pytest.param("http://127.0.0.1:99/", "127.0.0.1", "127.0.0.1", id="address"),
        pytest.param("http://[::1]/", "::1", "::1", id="IPv6"),
        pytest.param("mailto:a@example.org", "", "", id="no host"),
        pytest.param("http://example.org:99999/", "", "", id="no URI to the surt package"),
        pytest.param("javascript:void(0)", "", "", id="script"),
    ],
)
def test_host_and_domain_of(
    uri: str, host: str, domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(*args: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    domain_of.cache_clear()
    assert (host_of(surt_of(uri)), domain_of(host_of(surt_of(uri)))) == (host, domain)


def test_every_rule_is_that_of_the_package() -> None:
    """The file was made from the list in ``tldextract``; another list means other keys."""
    extract = TLDExtract(cache_dir=None, suffix_list_urls=(), fallback_to_snapshot=True)
    lines = _rules().splitlines()
    names = {rule.lstrip("!*.") for rule in lines if not rule.startswith("//")}
    hosts = {f"{before}{name}" for name in names for before in ("", "x.", "y.x.", "z.y.x.")}
    assert len(hosts) > 20_000
    assert [
        host
        for host in sorted(hosts)
        if domain_of(Host(host)) != (extract(host).top_domain_under_public_suffix or host)
        or ("." in host and is_public_suffix(Host(host)) != (extract(host).suffix == host))
    ] == []


@given(st.text(max_size=30))
@example("0..0")
def test_every_text_has_a_host_and_a_domain(text: str) -> None:
    host = host_of(Surt(text))
    assert host == "" or domain_of(host) in host
    assert domain_of(Host(text)) in text
