"""Keys that number tasks: each engine sends them to different tasks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.engines.spark_jobs import key_number
from arclink.rows.task_keys import task_key, task_of


def hash_of_hadoop(key: bytes) -> int:
    """Return the hash of ``org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner``."""
    found = 0
    for byte in key:
        found = (31 * found + byte) & 0xFFFFFFFF
    return found & 0x7FFFFFFF


@given(st.integers(1, 3_000))
def test_as_many_tasks_as_numbers_get_one_each(tasks: int) -> None:
    keys = [task_key(number) for number in range(tasks)]
    assert len({hash_of_hadoop(key) % tasks for key in keys}) == tasks
    assert len({key_number(key + b"\tvalue") % tasks for key in keys}) == tasks
    assert keys == sorted(keys)


@pytest.mark.parametrize("number", [0, 1, 30, 31, 961, 923_520])
def test_a_key_has_its_number(number: int) -> None:
    assert task_of(task_key(number)) == number


@pytest.mark.parametrize("key", [b"", b"AAAA", b"org,example)/"])
def test_other_keys_have_none(key: bytes) -> None:
    assert task_of(key) is None
