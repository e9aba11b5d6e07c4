"""Disks that fail, and disks that are recorded: ``disk.c``, preloaded into a process."""

import os
import struct
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


def compiled(folder: Path) -> Path:
    """Return the library, compiled with the system's compiler."""
    library = folder / "disk.so"
    source = Path(__file__).with_name("disk.c")
    compiler = os.environ.get("CC", "cc")
    options = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror"]
    subprocess.run([compiler, *options, "-o", str(library), str(source), "-ldl"], check=True)
    return library


def on_disk(library: Path, name: str, **settings: object) -> Mapping[str, str]:
    """Return the environment of a process whose files with ``name`` in their path are on such a
    disk.

    Args:
        library: As `compiled` returns it.
        name: Part of the paths.
        settings: Those of ``disk.c``, without ``DISK_`` and in lower case: count, at, how, once,
            log.
    """
    given = {f"DISK_{key.upper()}": str(value) for key, value in settings.items()}
    return {**os.environ, "LD_PRELOAD": str(library), "DISK_NAME": name, **given}


@dataclass(frozen=True)
class Event:
    """One operation of a recorded disk: W(rite), T(runcate), S(ync), U(nlink), R(ename)."""

    kind: str
    path: str
    offset: int
    data: bytes


def events_of(log: Path) -> Iterator[Event]:
    """Yield what was recorded, in order."""
    data = log.read_bytes()
    place = 0
    while place < len(data):
        kind = chr(data[place])
        (length,) = struct.unpack_from("<Q", data, place + 1)
        place += 9
        path = os.fsdecode(data[place : place + length])
        offset, size = struct.unpack_from("<qQ", data, place + length)
        place += length + 16
        yield Event(kind, path, offset, data[place : place + size])
        place += size
