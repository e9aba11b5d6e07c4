"""URLs of Cassandra stores."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.engines.cassandra.addresses import (
    CONSISTENCIES,
    Address,
    parse_address,
    replication_map,
)
from arclink.errors import UsageError
from arclink.store.location import is_remote, local_path_of, work_folder


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("cassandra://db/links", Address(("db",), 9042, "links"), id="host"),
        pytest.param(
            "cassandra://10.0.0.1,10.0.0.2/links",
            Address(("10.0.0.1", "10.0.0.2"), 9042, "links"),
            id="hosts",
        ),
        pytest.param(
            "cassandra://a:9043,b:9043/links", Address(("a", "b"), 9043, "links"), id="a port twice"
        ),
        pytest.param(
            "cassandra://a,b:9043/Links", Address(("a", "b"), 9043, "links"), id="upper case"
        ),
        pytest.param("cassandra://[::1]:9043/links", Address(("::1",), 9043, "links"), id="IPv6"),
        pytest.param(
            "cassandra://me%40work@a/links",
            Address(("a",), 9042, "links", user="me@work"),
            id="user",
        ),
        pytest.param(
            "cassandra://a/links?consistency=local_quorum&replication=dc1:3,dc2:2&timeout=2.5&patience=9&loaders=4&datacenter=dc1&tls=system&certificate=a.pem&key=a.key",
            Address(
                ("a",),
                9042,
                "links",
                "",
                "LOCAL_QUORUM",
                "dc1:3,dc2:2",
                2.5,
                9.0,
                4,
                "dc1",
                "system",
                "a.pem",
                "a.key",
            ),
            id="all options",
        ),
    ],
)
def test_a_url_says_where_and_how(url: str, expected: Address) -> None:
    assert parse_address(url) == expected


@pytest.mark.parametrize(
    ("url", "message"),
    [
        pytest.param("cassandra:///links", "'' is not a host", id="no host"),
        pytest.param("cassandra://a,/links", "'' is not a host", id="an empty host"),
        pytest.param("cassandra://a:x/links", "'x' is not a port", id="port"),
        pytest.param("cassandra://a:70000/links", "'70000' is not a port", id="large port"),
        pytest.param(
            "cassandra://a:1,b:2/links", "must use the same port, but the URL has 2", id="two ports"
        ),
        pytest.param("cassandra://a", "'' is not a keyspace name", id="no keyspace"),
        pytest.param("cassandra://a/b/c", "'b/c' is not a keyspace name", id="path"),
        pytest.param("cassandra://a/1b", "'1b' is not a keyspace name", id="digit"),
        pytest.param("cassandra://a/b; DROP", "is not a keyspace name", id="more CQL"),
        pytest.param("cassandra://me:secret@a/b", "set ARCLINK_CASSANDRA_PASSWORD", id="password"),
        pytest.param("cassandra://a/b?consistency=some", "one of ONE, TWO", id="consistency"),
        pytest.param("cassandra://a/b?timeout=0", "timeout='0' cannot be", id="timeout"),
        pytest.param("cassandra://a/b?patience=long", "patience='long' cannot be", id="patience"),
        pytest.param("cassandra://a/b?tls=", "tls='' cannot be", id="TLS"),
        pytest.param(
            "cassandra://a/b?certificate=a.pem",
            "certificate=… is used together with tls=…",
            id="a certificate without TLS",
        ),
        pytest.param(
            "cassandra://a/b?tls=system&key=a.key",
            "key=… is used together with certificate=…",
            id="a key without a certificate",
        ),
        pytest.param(
            "cassandra://a/b?replication=many", "replication='many' cannot be", id="replication"
        ),
        pytest.param(
            "cassandra://a/b?color=red",
            "unknown option 'color'; the options are consistency",
            id="option",
        ),
    ],
)
def test_a_url_that_is_wrong_is_refused_with_what_is_wrong(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_address(url)


def test_patience_is_that_of_the_url_or_else_of_the_caller() -> None:
    assert parse_address("cassandra://a/links", 20.0).patience == 20.0
    assert parse_address("cassandra://a/links?patience=7", 20.0).patience == 7.0


addresses = st.builds(
    Address,
    st.lists(st.sampled_from(["a", "10.0.0.1", "node-1.example.org"]), min_size=1, max_size=3).map(
        tuple
    ),
    st.integers(1, 65535),
    st.from_regex(r"[a-z][a-z0-9_]{0,47}", fullmatch=True),
    st.sampled_from(["", "me", "a b@c"]),
    st.sampled_from(CONSISTENCIES),
    st.sampled_from(["1", "3", "dc1:3,dc2:2"]),
    st.sampled_from([0.5, 20.0]),
    st.sampled_from([2.0, 120.0]),
    st.integers(0, 9),
    st.sampled_from(["", "dc1"]),
    st.sampled_from(["", "system", "/etc/a b/ca.pem"]),
)


@settings(deadline=None)
@given(addresses)
def test_an_address_is_read_back_from_its_url(address: Address) -> None:
    assert parse_address(address.url) == address


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_address_is_parsed_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        parse_address("cassandra://" + text)


def test_replication_is_one_for_all_data_centres_or_one_for_each() -> None:
    assert replication_map("3") == "{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}"
    assert replication_map("dc1:3") == "{'class': 'NetworkTopologyStrategy', 'dc1': 3}"


def test_a_build_works_in_the_current_folder_for_a_store_elsewhere() -> None:
    assert str(work_folder("cassandra://a/links")) == "links.cassandra.build"
    assert str(local_path_of("data/links.db")) == "data/links.db"
    assert is_remote("cassandra://a/links")
    assert not is_remote("sqlite:///links.db")
