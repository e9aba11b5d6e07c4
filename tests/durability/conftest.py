"""Fixtures of the tests of what survives: disks, kills, little memory."""

from pathlib import Path

import pytest

from arclink.demo import write_demo_archive


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three archive files."""
    folder = tmp_path_factory.mktemp("archive")
    write_demo_archive(folder, 200, 6, 1)
    return folder
