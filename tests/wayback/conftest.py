"""Fixtures: a Wayback Machine, and a client whose pauses take no time."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from arclink.others.wayback.client import Client, Manners, origin_of
from tests.wayback.archive_server import FakeArchive, serving


@dataclass
class Waits:
    """A replacement of time.sleep, which records its calls."""

    seconds: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        if seconds > 0:
            self.seconds.append(seconds)


@pytest.fixture
def archive() -> Iterator[FakeArchive]:
    with serving(FakeArchive()) as served:
        yield served


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def client(archive: FakeArchive, waits: Waits) -> Iterator[Client]:
    with Client(
        frozenset({origin_of(archive.base)}), Manners(delay=0, timeout=5, tries=3), waits
    ) as opened:
        yield opened
