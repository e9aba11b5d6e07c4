"""The functions of the package ``arclink`` that make, change and copy stores.

Their keywords are the parameters of the command with the same name, with ``_`` for ``-`` and
``from_`` for ``from``. Nothing is printed: notes of the command are in the result, and ``quiet``
is on by default. Errors name keywords instead of options.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from inspect import Parameter as Keyword
from inspect import signature
from os import PathLike
from typing import Any, TypeVar

from arclink.access.declarations import AnyParameter, sort_out
from arclink.access.signatures import Annotation, keyword, type_of
from arclink.errors import ArclinkError, UsageError, hide_credentials
from arclink.linkgraph import pairs
from arclink.operations.backups import (
    BACKUP,
    RESTORE,
    Backup,
    Restore,
)
from arclink.operations.build import BUILD, Built
from arclink.operations.fetch import FETCH, FetchedCaptures
from arclink.operations.forget import FORGET, ForgottenCaptures
from arclink.operations.one_stage import INDEX, LOAD, Indexed, LoadedBatch
from arclink.operations.operation import Operation, Result
from arclink.operations.parameters import QUIET
from arclink.operations.tables import TABLES, MadeTables
from arclink.operations.upgrade import UPGRADE, Upgraded

Function = TypeVar("Function", bound=Callable[..., object])

Place = str | PathLike[str]
"""A path, or a URL in its place."""

_VALUES = (str, PathLike, int, float, date, type(None))
"""Types of one value."""


def _like(operation: Operation[Any]) -> Callable[[Function], Function]:
    """Return a decorator that gives a function all keywords of an operation, for ``help``."""

    def decorate(function: Function) -> Function:
        own = list(signature(function).parameters.values())[:-1]
        keywords = _keywords(operation)
        further = [
            Keyword(
                name,
                Keyword.KEYWORD_ONLY,
                default=_default(one),
                annotation=Annotation(
                    f"{type_of(one)} | None" if one.default is None else type_of(one)
                ),
            )
            for name, one in keywords.items()
            if name not in {one.name for one in own}
        ]
        lines = [f"        {name}: {one.about}" for name, one in keywords.items()]
        about = _in_python("\n".join(lines), operation)
        function.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n    Keywords:\n{about}\n"
        vars(function)["__signature__"] = signature(function).replace(parameters=[*own, *further])
        return function

    return decorate


def _keywords(operation: Operation[Any]) -> Mapping[str, AnyParameter]:
    """Return the parameters of an operation by their names in Python."""
    return {keyword(one.name): one for one in operation.declared}


def _default(parameter: AnyParameter) -> object:
    if parameter == QUIET:
        return True
    is_text = parameter.default is None or parameter.form.schema.get("type") == "string"
    return parameter.default if is_text else parameter.form.read(str(parameter.default))


def _done(operation: Operation[Result], given: Mapping[str, object]) -> Result:
    """Run an operation with keywords, and return its result with the notes.

    Raises:
        UsageError: A keyword is unknown or missing.
        ArclinkError: See the function; what was noted before is in the notes of the error.
    """
    keywords, notes = _keywords(operation), list[str]()
    for name, value in given.items():
        if name not in keywords:
            raise UsageError(f"{name}: no such keyword; expected one of {', '.join(keywords)}")
        for one in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(one, _VALUES) or (one == "" and one is not value):
                raise UsageError(
                    f"{name}: {one!r} is not a value; expected text, a path, a number, a time, "
                    "True or False, or where several are allowed a list of these"
                )
    for name, parameter in keywords.items():
        if parameter.is_required and given.get(name) in (None, "", ()):
            raise UsageError(f"{name}: it is missing. {_in_python(parameter.about, operation)}")
    if "quiet" in keywords:
        given = {"quiet": True, **given}

    def say(note: str) -> None:
        notes.append(_in_python(hide_credentials(note), operation))

    try:
        done = operation.run(sort_out(pairs(given), operation.declared), say)
    except ArclinkError as error:
        error.args = (_in_python(str(error), operation),)
        for note in notes:
            error.add_note(note)
        raise
    return replace(done, notes=tuple(notes))


def _in_python(text: str, operation: Operation[Any]) -> str:
    """Return a text for users with keywords in place of options; command lines stay.

    >>> _in_python("Use --replace, or name another --store: arclink build --store a.db", RESTORE)
    'Use replace=True, or name another store: arclink build --store a.db'
    """
    words = {}
    for name, one in _keywords(operation).items():
        is_switch = one.form.schema.get("type") == "boolean"
        words[f"--{one.name}"] = f"{name}=True" if is_switch else name
        words[f"--no-{one.name}"] = f"{name}=False"
        words[one.name] = name
    return re.sub(
        r"arclink [a-z]+ [^`\n]*|--[a-z][a-z-]*|^[a-z][a-z-]*(?=[: ])",
        lambda found: words.get(found[0], found[0]),
        text,
    )


@_like(BUILD)
def build(*inputs: Place, store: Place, **options: Any) -> Built:
    """Build the link graph of archive files, or add more files to it (``arclink build``).

    Files that the store has already are skipped: the same call continues a build that was stopped.
    """
    return _done(BUILD, {"inputs": inputs, "store": store, **options})


@_like(INDEX)
def index(*inputs: Place, into: Place, **options: Any) -> Indexed:
    """Write the CDXJ rows of archive files to ``into/rows`` (``arclink index``)."""
    return _done(INDEX, {"inputs": inputs, "into": into, **options})


@_like(LOAD)
def load(graph: str | None = None, *, folder: Place, store: Place, **options: Any) -> LoadedBatch:
    """Load the graph files in ``folder/graph``, or at an address, as one batch (``arclink load``).

    A store that does not exist is made.
    """
    return _done(LOAD, {"graph": graph, "folder": folder, "store": store, **options})


@_like(FETCH)
def fetch(*entries: Place, wayback: str, into: Place, **options: Any) -> FetchedCaptures:
    """Fetch captures from a Wayback Machine into a folder of WARC files (``arclink fetch``).

    Entries are URIs, ``http://host/path*``, ``*.host``, or files with one of these per line. If
    ``report.entries_left`` or ``report.captures_left`` is not 0, the same call continues.
    """
    return _done(FETCH, {"entries": entries, "wayback": wayback, "into": into, **options})


@_like(TABLES)
def tables(store: Place, **options: Any) -> MadeTables:
    """Make the tables of a store that SQL reads, and name their files (``arclink tables``)."""
    return _done(TABLES, {"store": store, **options})


@_like(FORGET)
def forget(*prefixes: str, store: Place, **options: Any) -> ForgottenCaptures:
    """Remove captures of parts of the web after a takedown request (``arclink forget``).

    They cannot be brought back; ``dry_run=True`` counts them.
    """
    return _done(FORGET, {"prefixes": prefixes, "store": store, **options})


@_like(BACKUP)
def backup(store: Place, *, into: Place, **options: Any) -> Backup:
    """Back up a store, even while it is served or built (``arclink backup``)."""
    return _done(BACKUP, {"store": store, "into": into, **options})


@_like(RESTORE)
def restore(backup: Place, store: Place, **options: Any) -> Restore:
    """Replace a lost store by a backup, completely or not at all (``arclink restore``)."""
    return _done(RESTORE, {"backup": backup, "store": store, **options})


@_like(UPGRADE)
def upgrade(store: Place, **options: Any) -> Upgraded:
    """Bring a store of an earlier version up to date (``arclink upgrade``)."""
    return _done(UPGRADE, {"store": store, **options})
