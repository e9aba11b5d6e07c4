"""The replacements for modules that mrjob needs."""

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mrjob import cat

from arclink.mapreduce.mrjob_compat import LooseVersion, gunzip_members


@given(st.lists(st.binary(max_size=2000), max_size=8), st.integers(1, 500), st.integers(0, 40))
def test_every_member_of_a_gzip_stream_is_read(
    members: list[bytes], step: int, padding: int
) -> None:
    stream = b"".join(gzip.compress(member) for member in members) + b"\0" * padding
    chunks = (stream[start : start + step] for start in range(0, len(stream), step))
    assert b"".join(gunzip_members(chunks)) == b"".join(members)


def test_a_stream_that_ends_within_a_member_is_no_quiet_loss() -> None:
    with pytest.raises(EOFError):
        list(gunzip_members(iter([gzip.compress(b"x" * 1000)[:-20]])))


def test_mrjob_reads_all_members_through_its_own_reader() -> None:
    stream = b"".join(gzip.compress(b"line %d\n" % number) for number in range(20))

    def chunks() -> Iterator[bytes]:
        yield stream[:50]
        yield stream[50:]

    assert b"".join(cat.decompress(chunks(), "x.gz")).count(b"\n") == 20


@pytest.mark.parametrize(
    ("older", "newer"), [("2.9", "2.10"), ("1.0.4", "2.0"), ("0.20.203", "3.4.2")]
)
def test_versions_compare_by_number(older: str, newer: str) -> None:
    assert LooseVersion(older) < newer
    assert LooseVersion(newer) >= LooseVersion(older)
    assert not LooseVersion(newer) <= LooseVersion(older)
