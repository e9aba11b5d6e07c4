"""Addresses of servers, as an operator or another archive writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.engines.hdfs import WebHdfs
from arclink.engines.name_nodes import ADDRESS
from arclink.errors import InputError
from arclink.network.addresses import joined, parse_server_address
from arclink.network.drivers import driver_of


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "scheme"),
        ("h.example/a", "scheme"),
        ("//h.example/a", "scheme"),
        ("1http://h/", "scheme"),
        ("http://", "no host"),
        ("http:///a", "no host"),
        ("http://u@/a", "no host"),
        ("http://:80/", "no host"),
        ("http://a b/", "not a host"),
        ("http://*.example/", "not a host"),
        ("http://[v1.x]/", "not a host"),
        ("http://[::1", "IPv6"),
        ("http://h:0/", "0 is not a port"),
        ("http://h:65536/", "Port"),
        ("http://h:port/", "Port"),
        ("http://h/\r\nX: 1", "control"),
    ],
)
def test_what_is_wrong_with_an_address_is_named(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_server_address(text)


@pytest.mark.parametrize(
    ("text", "origin", "others"),
    [
        ("http://h", "http://h", ("", "", "")),
        ("HTTP://U:p@H.example:80/a b?c#d", "http://h.example", ("U:p@", "/a b", "?c#d")),
        ("https://h:80#a?b/c", "https://h:80", ("", "", "#a?b/c")),
        ("https://[2001:DB8::1]:443/", "https://[2001:db8::1]", ("", "/", "")),
        ("https://h:/", "https://h", ("", "/", "")),
        ("webhdfs://name_node:9870/a", "webhdfs://name_node:9870", ("", "/a", "")),
    ],
)
def test_the_parts_of_an_address(text: str, origin: str, others: tuple[str, str, str]) -> None:
    address = parse_server_address(text)
    assert address.origin == origin
    assert (address.user, address.path, address.rest) == others


@given(st.text(alphabet="htp:/[]@?#.1a%\\ é\n℀", max_size=20))
def test_any_text_is_an_address_or_not(text: str) -> None:
    try:
        address = parse_server_address(f"http://{text}")
    except ValueError:
        return
    assert parse_server_address(address.origin + address.path + address.rest).host == address.host


@given(st.text(alphabet="htp:/[]@?#.1a%\\ é\n℀", max_size=20))
def test_any_text_is_a_link_or_leads_nowhere(text: str) -> None:
    found = joined("http://archive.example/a/b", text)
    assert not found or found.partition(":")[0]


@pytest.mark.parametrize("text", ["//[x", "//a]b/", "//℀/"])
def test_a_link_that_cannot_be_joined_leads_nowhere(text: str) -> None:
    assert joined("http://archive.example/a/b", text) == ""


@pytest.mark.parametrize("url", ["http://[x/a.warc", "https://h:99999/a.warc", "http:///a.warc"])
def test_a_file_at_an_invalid_address_is_an_input_error(url: str) -> None:
    with pytest.raises(InputError, match=r"not an address of a file: .*; use http"):
        driver_of(url)


@pytest.mark.parametrize("address", ["http://[x", "http://h:99999", "namenode:9870"])
def test_an_invalid_address_of_a_name_node_is_an_input_error(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDRESS, address)
    with pytest.raises(InputError, match=ADDRESS):
        WebHdfs.of("hdfs://cluster/a")
