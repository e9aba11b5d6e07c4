"""Delegation tokens; tests/engines/test_secured.py takes them from a real cluster."""

import builtins
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.engines.name_nodes import TOKEN_FILE, parse_tokens, read_token, ticket_header
from arclink.errors import InputError
from tests.network.token_files import text_of, token, token_file

HERE = token("HDFS_DELEGATION_TOKEN", "127.0.0.1:8020")
OTHER = token("HDFS_DELEGATION_TOKEN", "192.0.2.1:8020")
OF_YARN = token("YARN_AM_RM_TOKEN", "127.0.0.1:8030")


@given(st.binary(max_size=70_000), st.binary(max_size=200), st.text(max_size=40))
def test_tokens_of_any_size_are_read(identifier: bytes, password: bytes, service: str) -> None:
    one = token("HDFS_DELEGATION_TOKEN", service, identifier, password)
    (first, second) = parse_tokens(token_file(one, HERE))
    assert first == ("HDFS_DELEGATION_TOKEN", service, text_of(one))
    assert second.text == text_of(HERE)


@given(st.binary(max_size=60))
def test_other_files_are_refused_in_one_way(data: bytes) -> None:
    for file in (data, b"HDTS\0" + data):
        try:
            parse_tokens(file)
        except ValueError:
            continue
        assert file.startswith(b"HDTS\0")


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        pytest.param([OF_YARN, OTHER, HERE], HERE, id="of this host"),
        pytest.param([OF_YARN, OTHER], OTHER, id="of a service that names no host"),
        pytest.param([OF_YARN], None, id="none for HDFS"),
    ],
)
def test_the_token_for_a_name_node_is_chosen(
    tokens: list[bytes],
    expected: bytes | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(token_file(*tokens))
    monkeypatch.setenv(TOKEN_FILE, str(path))
    assert read_token("127.0.0.1") == (expected and text_of(expected))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"{}", "truncated", id="short"),
        pytest.param(b"PKCS12 or so", "not a file of Hadoop tokens", id="another file"),
        pytest.param(b"HDTS\1", "dtutil -format java", id="protobuf"),
        pytest.param(token_file(HERE)[:-1], "truncated", id="truncated"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    data: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(data)
    monkeypatch.setenv(TOKEN_FILE, str(path))
    with pytest.raises(InputError, match=f"tokens.*{TOKEN_FILE}.*{message}"):
        read_token("127.0.0.1")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without_gssapi(name: str, *others: object) -> object:
        if name == "gssapi":
            raise ImportError("No module named 'gssapi'")
        return imported(name, *others)  # type: ignore[arg-type]  # handed on

    monkeypatch.setattr(builtins, "__import__", without_gssapi)
    with pytest.raises(InputError, match=r"arclink\[kerberos\].*kinit.*HADOOP_TOKEN_FILE_LOCATION"):
        ticket_header("namenode")
