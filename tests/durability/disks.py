"""Disks that fail and disks that are recorded: ``disk.c`` is preloaded into a process."""

import os
import signal
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

Call = Sequence[str | bytes | Path]


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


def operations(library: Path, name: str, call: Call, folder: Path) -> int:
    """Run a call to its end; return the number of operations that its disk saw.

    A number up to this one is a moment at which the same call can be killed or interrupted, on a
    machine of any speed.
    """
    count = folder / f"count-{uuid4()}"
    environment = on_disk(library, name, count=count)
    subprocess.run(call, check=True, capture_output=True, env=environment)
    return count.stat().st_size


def killed_at(library: Path, name: str, call: Call, folder: Path, at: int) -> bool:
    """Run a call whose first process is killed before an operation of its disk.

    Args:
        library: As `compiled` returns it.
        name: Part of the paths that are on the disk.
        call: The command; it takes at least one operation.
        folder: Folder for the file that counts.
        at: Number of the operation, from 1 on.

    Returns:
        False if the call ended well before that operation.
    """
    environment = on_disk(library, name, count=folder / f"count-{uuid4()}", at=at, how="kill")
    done = subprocess.run(
        call, env=environment, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


def interrupted_at(library: Path, name: str, call: Call, folder: Path, at: int) -> tuple[int, str]:
    """Run a call and press Ctrl-C before an operation of its disk; arguments as of `killed_at`.

    Returns:
        The exit code, and what all processes of the call said.
    """
    done = subprocess.run(
        call,
        # A shell starts jobs in the background with SIGINT ignored, and children inherit that.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        env=on_disk(library, name, count=folder / f"count-{uuid4()}", at=at, how="interrupt"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        start_new_session=True,  # the signal is for all processes of its group
        text=True,
    )
    return done.returncode, done.stdout


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
    position = 0
    while position < len(data):
        kind = chr(data[position])
        (length,) = struct.unpack_from("<Q", data, position + 1)
        position += 9
        path = os.fsdecode(data[position : position + length])
        offset, size = struct.unpack_from("<qQ", data, position + length)
        position += length + 16
        yield Event(kind, path, offset, data[position : position + size])
        position += size
