"""Builds that share a folder of an engine: each has a folder of its own below it, and a lock.

The lock is named after the store, so that only builds of the same store exclude each other. Its
text names the folder of the build that wrote it: what a killed build left there is removed by the
next one.
"""

import hashlib
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import orjson

from arclink.errors import StoreError
from arclink.network.engine_files import EngineFiles


class Claim(NamedTuple):
    """The text of a lock.

    Attributes:
        store: The store, as its command named it.
        host: Name of the machine that runs the build.
        lock: Path of the store's lock on that machine, which no two builds hold at a time.
        folder: Name of the folder of the build.
        since: Start of the build, as ISO 8601 in UTC.
    """

    store: str
    host: str
    lock: str
    folder: str
    since: str


def claim_folder(
    files: EngineFiles, home: str, store: str, lock: Path, clear: Callable[[str], None]
) -> tuple[str, str]:
    """Return the address of a new folder for a build, and that of the lock that names it.

    Args:
        files: The file system of the engine.
        home: Address of the folder that builds share.
        store: Name of the store, the same for all builds of it.
        lock: The store's lock on this machine, held by the caller.
        clear: Removes the folder of a killed build, and ends its jobs.

    Raises:
        StoreError: Another machine builds the store, or has begun to.
    """
    address = f"{home}/{hashlib.sha256(store.encode()).hexdigest()[:16]}.lock"
    path = files.path_of(address)
    claim = Claim(
        store,
        socket.gethostname(),
        str(lock.absolute()),
        f"build-{uuid4().hex}",
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
    text = orjson.dumps(claim._asdict())
    if not files.create(path, text):
        earlier = _read(files, path)
        # The caller holds the lock on this machine, so a build of it does not run any more.
        if earlier is None or (earlier.host, earlier.lock) != (claim.host, claim.lock):
            raise _in_use(home, address, earlier)
        clear(f"{home}/{earlier.folder}")
        files.remove(path)
        if not files.create(path, text):
            raise _in_use(home, address, _read(files, path))
    return f"{home}/{claim.folder}", address


def _read(files: EngineFiles, path: str) -> Claim | None:
    """Return the claim in a lock; None if its writer was killed while it wrote the lock."""
    try:
        return Claim(**orjson.loads(b"".join(files.read(path))))
    except (orjson.JSONDecodeError, TypeError):
        return None


def _in_use(home: str, address: str, claim: Claim | None) -> StoreError:
    who, what = "another build", [address]
    if claim is not None:
        who = f"a build of {claim.store} on {claim.host}, begun at {claim.since},"
        what.append(f"{home}/{claim.folder}")
    return StoreError(
        f"{who} uses {home} for this store. Wait until it ends. If it does not run any more, "
        f"remove what it left (hadoop fs -rm -r {' '.join(what)}), or name another folder with "
        "--engine-folder"
    )
