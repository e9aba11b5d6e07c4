"""The packed environment that the settings of an engine name: checked, and sent to it once.

mrjob copies the archive to a new folder for each job, so that YARN fetches and unpacks it again for
each job on each node. An archive whose address does not change is unpacked once per node.
"""

import hashlib
import json
import os
import re
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import uuid4

from arclink.engines.check_environment import MARK
from arclink.engines.object_store import is_object_store
from arclink.errors import InputError, UsageError
from arclink.mapreduce.versions import differences, versions_here
from arclink.network.engine_files import EngineFiles

FOLDER = "environment"
"""Folder of the engine for packed environments, by checksum."""

_ARCHIVE = re.compile(r"([^\s:;\"'=]+\.(?:tar\.gz|tgz))(?=#/)")
"""An archive in a set-up command of mrjob; ``#/`` after it means the folder of its contents."""


def setup_of(runner: str, conf: Path) -> list[str]:
    """Return the set-up commands in a file of mrjob's settings and in those that it includes."""
    from mrjob.conf import combine_lists, combine_opts, load_opts_from_mrjob_confs

    found = load_opts_from_mrjob_confs(runner, [str(conf)])
    combined = combine_opts({"setup": combine_lists}, *(options for _, options in found))
    return list(combined.get("setup") or ())


def with_addresses(commands: Sequence[str], send: Callable[[Path], str]) -> list[str]:
    """Return set-up commands in which local archives have the addresses that ``send`` returns."""
    sent: dict[str, str] = {}

    def address(match: re.Match[str]) -> str:
        path = Path(os.path.expanduser(os.path.expandvars(match[1])))
        if match[1] not in sent:
            sent[match[1]] = send(path) if path.is_file() else match[1]
        return sent[match[1]]

    return [_ARCHIVE.sub(address, command) for command in commands]


def write_settings(target: Path, runner: str, conf: Path, commands: Sequence[str]) -> None:
    """Write mrjob's settings that include a file of settings, but have other set-up commands."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        f"include: {json.dumps(str(conf))}\n"
        f"runners: {{{runner}: {{setup: !clear {json.dumps(list(commands))}}}}}\n"
    )


def check_packed(archive: Path) -> None:
    """Raise UsageError if an archive has other versions than this machine.

    An archive that ArcLink did not pack is not checked.
    """
    try:
        with tarfile.open(archive) as opened:
            first = opened.next()
            file = opened.extractfile(first) if first and first.name == MARK else None
            packages = json.load(file)["packages"] if file else None
    except (OSError, tarfile.TarError, ValueError, KeyError):
        return
    if packages is None:
        return
    if wrong := differences(packages, versions_here()):
        raise UsageError(
            f"{archive} has other versions than this machine: {', '.join(wrong)}; pack it again "
            "(arclink pack), or install the same versions here"
        )


def send_once(files: EngineFiles, home: str, archive: Path) -> str:
    """Return the address of an archive on the engine; write it there if it is missing.

    Args:
        files: The file system of the engine.
        home: Address of the folder that builds share.
        archive: The archive, a file of this machine.
    """
    with archive.open("rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()[:32]
        address = f"{home}/{FOLDER}/{digest}.tar.gz"
        path = files.path_of(address)
        status = files.status(path)
        if status is not None and status.size == archive.stat().st_size:
            return address
        source.seek(0)
        if is_object_store(home):  # an object appears when it is complete
            files.write(path, source)
            return address
        part = f"{path}.{uuid4().hex}"
        files.write(part, source)
        try:
            files.rename(part, path)
        except InputError:  # another build was quicker
            files.remove(part)
    return address
