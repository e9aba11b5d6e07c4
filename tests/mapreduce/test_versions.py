"""The check of package versions before a task begins."""

import json

import pytest

from arclink.errors import PipelineError
from arclink.mapreduce.job import as_written
from arclink.mapreduce.job_settings import KEY_COLUMNS, check_versions, versions_here


def test_equal_versions_pass_and_none_are_asked_for_on_one_machine() -> None:
    check_versions(json.dumps(versions_here()))
    check_versions("{}")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        pytest.param("selectolax", "0.1", id="a package"),
    ],
)
def test_another_version_is_named_with_both_numbers(name: str, wanted: str) -> None:
    here = versions_here()
    with pytest.raises(
        PipelineError, match=f"{name} {here[name]} instead of {wanted}; install the same"
    ):
        check_versions(json.dumps({**here, name: wanted}))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param(b"one column\t", b"one column", id="one column"),
        pytest.param(b"two\tcolumns", b"two\tcolumns", id="two columns"),
        pytest.param(
            b"two\tand an empty one\t", b"two\tand an empty one\t", id="empty last column"
        ),
        pytest.param(b"", b"", id="nothing"),
    ],
)
def test_the_tab_that_streaming_adds_is_removed(
    value: bytes, written: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_COLUMNS, "2")
    assert list(as_written([(b"key", value)])) == [(b"key", written)]
    monkeypatch.delenv(KEY_COLUMNS)
    assert list(as_written([(b"key", value)])) == [(b"key", value)]
