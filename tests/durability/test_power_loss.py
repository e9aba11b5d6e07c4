"""Loss of power between any two operations: acknowledged data is there, the store is consistent.

A load is recorded, operation by operation. Then, for many moments, the test writes a disk as it may
be found after a loss of power at that moment. Data that was written before the last sync of its
file is there. Of later data, any part may be there, in any order, but only in whole sectors.
"""

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from arclink.store.sqlite.store import SqliteStore
from tests.durability.disks import Event, events_of, on_disk
from tests.durability.states import state_of

SECTOR = 512

LOSSES = int(os.environ.get("ARCLINK_LOSSES", "1500"))
"""Losses of power of the long test."""


@dataclass
class RecordedFile:
    """A file as it is for processes, with what is not on the disk for sure.

    Attributes:
        durable: What the last sync put on the disk.
        waiting: Writes and truncations since then, in order.
    """

    durable: bytearray = field(default_factory=bytearray)
    waiting: list[Event] = field(default_factory=list)

    def sync(self) -> None:
        for event in self.waiting:
            apply(self.durable, event)
        self.waiting.clear()

    def after_loss(self, dice: random.Random) -> bytes:
        """Return the states that the disk may have after the loss of power."""
        found = bytearray(self.durable)
        chance = dice.choice([0.0, 0.2, 0.5, 0.9, 1.0])
        survivors = [event for event in self.waiting if dice.random() < chance]
        if dice.random() < 0.5:
            dice.shuffle(survivors)
        for event in survivors:
            apply(found, torn(event, dice) if dice.random() < 0.2 else event)
        return bytes(found)


def apply(content: bytearray, event: Event) -> None:
    """Do an operation on the content of a file."""
    if event.kind == "T":
        del content[event.offset :]
        content.extend(bytes(event.offset - len(content)))
        return
    content.extend(bytes(max(0, event.offset + len(event.data) - len(content))))
    content[event.offset : event.offset + len(event.data)] = event.data


def torn(event: Event, dice: random.Random) -> Event:
    """Return a write of which only the first or last sectors came to the disk."""
    if event.kind != "W" or len(event.data) <= SECTOR:
        return event
    offset = SECTOR * dice.randrange(1, -(-len(event.data) // SECTOR))
    if dice.random() < 0.5:
        return Event("W", event.path, event.offset, event.data[:offset])
    return Event("W", event.path, event.offset + offset, event.data[offset:])


def recorded(disk: Path, graphs: Path, folder: Path) -> list[Event]:
    """Return all operations of a load."""
    environment = on_disk(disk, "links.db", log=folder / "log")
    call = [sys.executable, "-m", "tests.durability.loads", str(folder / "links.db"), str(graphs)]
    subprocess.run(call, env=environment, check=True)
    return list(events_of(folder / "log"))


def disk_at(first: bytes, events: Sequence[Event]) -> tuple[dict[str, RecordedFile], int]:
    """Return the files by name after some operations, and the number of acknowledged steps."""
    files = {"links.db": RecordedFile(bytearray(first))}
    steps = 0
    for event in events:
        name = Path(event.path).name
        if name == "done-links.db":
            steps += 1
        elif event.kind == "U":
            files.pop(name, None)
        elif event.kind == "R":
            files[Path(event.data.decode()).name] = files.pop(name, RecordedFile())
        elif event.kind == "S":
            files.setdefault(name, RecordedFile()).sync()
        else:
            files.setdefault(name, RecordedFile()).waiting.append(event)
    return files, steps


def check_losses(disk: Path, graphs: Path, states: list[object], folder: Path, losses: int) -> None:
    path = folder / "recorded" / "links.db"
    path.parent.mkdir()
    SqliteStore(path, create=True).close()
    first = path.read_bytes()
    events = recorded(disk, graphs, path.parent)
    assert {event.kind for event in events} >= {"W", "S", "T"}
    dice = random.Random(20261123)
    lost = 0
    for number in range(losses):
        moment = dice.randrange(len(events) + 1)
        files, steps = disk_at(first, events[:moment])
        store = folder / str(number) / "links.db"
        store.parent.mkdir()
        for name, file in files.items():
            if name.endswith("-shm"):
                continue
            lost += bool(file.waiting)
            (store.parent / name).write_bytes(file.after_loss(dice))
        assert state_of(store) in states[steps:], f"loss at {moment} after {steps} steps"
    assert lost > losses / 4, "the test must disturb"


def test_stores_survive_a_sample_of_power_losses(
    disk: Path, graphs: Path, states: list[object], tmp_path: Path
) -> None:
    check_losses(disk, graphs, states, tmp_path, 40)


@pytest.mark.long
def test_what_was_stored_survives_a_loss_of_power(
    disk: Path, graphs: Path, states: list[object], tmp_path: Path
) -> None:
    check_losses(disk, graphs, states, tmp_path, LOSSES)
