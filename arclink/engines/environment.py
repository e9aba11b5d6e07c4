"""Packing of ArcLink and its dependencies into one archive, for workers that do not have them.

The archive travels with a job. It holds packages but no Python: the workers' Python must have the
same version, and run on the same system and processor. A script in the archive checks this before
a task begins. Modules are also stored as bytecode, because a task that compiled all its imports
would take longer to start than many tasks take to work.
"""

import hashlib
import json
import os
import py_compile
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import cache_from_source
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from uuid import uuid4

import orjson

from arclink.engines.check_environment import MARK, describe
from arclink.engines.object_store import is_object_store
from arclink.errors import InputError, UsageError
from arclink.files.atomic import open_whole
from arclink.mapreduce.job_settings import differences, versions_here
from arclink.network.engine_files import EngineFiles

# The packed environment that the settings of an engine name: checked, and sent to it once.
#
# mrjob copies the archive to a new folder for each job, so that YARN fetches and unpacks it again
# for each job on each node. An archive whose address does not change is unpacked once per node.

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


_LEFT_OUT = (".pyc", ".pyx", ".pxd", ".c", ".dist-info/RECORD", ".dist-info/direct_url.json")
UNUSED = re.compile(
    r".*\.pyi|numpy/(?:.*/)?tests/.*|numpy/(?:f2py|testing|_core/include|_core/lib)/.*"
    r"|zstandard/_cffi\..*|cassandra/cqlengine/.*|arclink/service/(?:.*/)?static/.*"
    r"|botocore/data/(?!(?:s3|sts|sso|sso-oidc)/)[^/]+/.*|botocore/cacert\.pem"
    r"|(?:rich|pygments|markdown_it|mdurl)/.*"
    r"|pyarrow/(?:include|src|tests)/.*"
)
"""Files of packages that no task reads.

A worker unpacks all files. Those for terminals, for other services of Amazon and for tests were
28 % of the bytes.
"""

_DRIVERS = ("cassandra-driver", "s3fs")
"""Optional packages with which tasks read objects and load a store."""

FOR_TABLES = ("duckdb", "pyarrow")
"""Optional packages with which tasks write the tables of a store; they are larger than the others
together.
"""

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def pack_environment(target: Path, others: Sequence[str] = ()) -> dict[str, str]:
    """Write the environment as a gzip-compressed tar file; return the package versions by name.

    Args:
        target: The file.
        others: Optional packages that are packed, too.

    Raises:
        InputError: The file cannot be written, or a package that ArcLink needs is not installed.
    """
    found = {package.metadata["Name"]: package for package in _needed(others)}
    versions = {name: package.version for name, package in sorted(found.items())}
    mark = orjson.dumps({"made for": describe(), "packages": versions}, option=orjson.OPT_INDENT_2)
    try:
        with (
            open_whole(target) as temporary_path,
            tarfile.open(temporary_path, "w:gz", compresslevel=6) as archive,
            TemporaryDirectory() as scratch,
        ):
            note = tarfile.TarInfo(MARK)
            note.size = len(mark)
            archive.addfile(note, BytesIO(mark))
            script = import_module("arclink.engines.check_environment").__file__
            archive.add(str(script), "check_environment.py")
            for path, name in sorted(
                {(path, name) for package in found.values() for path, name in _files(package)}
            ):
                archive.add(path, name, recursive=False)
                if name.endswith(".py") and (
                    bytecode := _compiled(path, name, Path(scratch, "bytecode"))
                ):
                    archive.add(bytecode, cache_from_source(name), recursive=False)
    except OSError as error:
        raise InputError(
            f"{target}: cannot be written: {error.strerror}; name another file"
        ) from error
    return versions


def _needed(others: Sequence[str] = ()) -> Iterator[Distribution]:
    """Yield the distributions of ArcLink and of the packages that it needs here, each once.

    Those of ``others`` have to be installed.

    A requirement with a condition is skipped if it is not installed: only other systems need it.
    So is a driver: only builds with that store need it.
    """
    waiting = [
        *((name, False) for name in ("arclink", *others)),
        *((name, True) for name in _DRIVERS),
    ]
    seen = set()
    while waiting:
        name, is_conditional = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in seen:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError as error:
            if is_conditional:
                continue
            raise InputError(
                f"{name} is not installed here; pack an environment in which `arclink build` runs"
            ) from error
        seen.add(key)
        yield package
        for requirement in package.requires or ():
            wanted, _, condition = requirement.partition(";")
            if match := _NAME.match(wanted) if "extra ==" not in condition else None:
                waiting.append((match[0], bool(condition)))


def _files(package: Distribution) -> Iterator[tuple[str, str]]:
    """Yield (path, name in the archive) of a package's modules and metadata, but not of scripts."""
    for file in package.files or ():
        name = PurePosixPath(file).as_posix()
        path = Path(str(package.locate_file(file)))
        if (
            not name.startswith(("..", "/", "__editable__"))
            and not name.endswith((*_LEFT_OUT, ".pth"))
            and not UNUSED.fullmatch(name)
            and path.is_file()
        ):
            yield str(path), name
    if package.metadata["Name"] == "arclink":
        folder = Path(str(import_module("arclink").__file__)).parent
        # Not in `package.files` if installed from a clone, where some folders are links.
        for where, _, names in os.walk(folder, followlinks=True):
            for path in (Path(where, name) for name in names):
                name = path.relative_to(folder.parent).as_posix()
                if (
                    "__pycache__" not in path.parts
                    and not name.endswith(_LEFT_OUT)
                    and not UNUSED.fullmatch(name)
                ):
                    yield str(path), name


def _compiled(path: str, name: str, into: Path) -> str | None:
    """Write a module's bytecode; return its path, or None if this Python cannot compile it.

    Examples of the latter are templates and tests for another Python. The bytecode is never
    compared with its source: packed files do not change, and their times are lost during transport.
    """
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    try:
        return py_compile.compile(
            path, cfile=str(into), dfile=name, doraise=True, invalidation_mode=unchecked
        )
    except (py_compile.PyCompileError, ValueError):
        return None
