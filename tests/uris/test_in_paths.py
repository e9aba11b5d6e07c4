"""URIs in paths: clients must keep them, so that they lead to nothing else."""

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.formats.timemaps import ascii_in_path, ascii_uri
from arclink.uris.wrapped import format_in_path, parse_in_path
from tests.uris.generated_uris import ESCAPES, HOSTS, SIGNS

BEFORE = "http://service.example/collection/web/20100212060000id_/"

HARMFUL = [
    "http://x/../../../../select?subset=status:200",
    "http://x/%2e%2e/%2E%2e/.%2e/%2e./select",
    "http://x/a\\..\\..\\..\\..\\select",
    "http://x/./a/.",
    "http://x/a/..",
    "http://x/a/..?b",
    "http://x/a#b/../../../../../select",
    "http://x\t/.\t./.\n./.\r./.\t./select",
    "http:..\\../..",
    "\\..\\..\\..\\..\\select",
]


@pytest.mark.parametrize("uri", HARMFUL)
def test_a_client_keeps_an_archived_uri(uri: str) -> None:
    for part in (format_in_path(uri), ascii_in_path(uri)):
        address = ada_url.join_url("http://service.example/", f"{BEFORE}{part}")
        assert address.startswith(BEFORE)
        assert "#" not in address
    if ":" in uri:
        assert parse_in_path(address.removeprefix(BEFORE)) == uri


@pytest.mark.parametrize(
    "uri",
    [
        "http://example.org/",
        "http://example.org/a/..b/.c/...?d=/../e\\f",
        "http://example.org/.well-known/%2F..%2Fx",
        "http://example.org/a%20b",
        "urn:text:http://example.org/",
    ],
)
def test_a_usual_uri_is_readable_in_an_address(uri: str) -> None:
    assert format_in_path(uri) == parse_in_path(uri) == uri


@given(
    st.lists(st.sampled_from([*SIGNS, *ESCAPES, "/../", "\\..", "/%2E."])),
    st.sampled_from([*HOSTS, "h.example"]),
)
def test_no_generated_uri_leaves_its_place(parts: list[str], host: str) -> None:
    uri = f"http://{host}/{''.join(parts)}"
    part = ascii_in_path(uri)
    address = ada_url.join_url("http://service.example/", f"{BEFORE}{part}")
    assert address.startswith(BEFORE)
    found = parse_in_path(address.removeprefix(BEFORE))
    assert found in (uri, ascii_uri(uri))
