"""``arclink open``: from archive files to a browser, in one step."""

import hashlib
import os
import threading
import webbrowser
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arclink.access.declarations import Given, Parameter, switch, whole_number
from arclink.cli.options import STORE, takes
from arclink.errors import ArclinkError
from arclink.operations.operation import INPUTS

if TYPE_CHECKING:
    from arclink.service.settings import Settings

EXAMPLES = (
    "arclink open crawl.wacz",
    "arclink open /data/crawl --store links.db",
)

_KEPT_STORE = replace(
    STORE,
    about="Keep the link graph in this file.",
    is_required=False,
    metavar="PATH",
    envvar="",
    otherwise="a file in the cache, for these inputs",
)
PORT = Parameter(
    "port",
    "Port to listen on, if it is free; 0 takes a free one.",
    whole_number(65534),
    default="8080",
    metavar="N",
)
_NO_BROWSER = switch("no-browser", "Only print the address, and open no browser.")

_COMPLETE = "complete"
"""File next to a store in the cache, written when it was built from all its inputs."""


@click.command()
@takes(INPUTS, _KEPT_STORE, PORT, _NO_BROWSER)
def command(given: Given) -> None:
    """Build the link graph of archive files, serve it on this machine, and open a browser.

    INPUT is an archive file (WACZ, WARC, ARC), a folder or a glob, as for build. The graph is built
    once: as long as the files stay the same, the next call starts at once.
    """
    from arclink.pipeline.inputs import find_archives, leave_out_foreign

    # imported here: no other command needs the service
    from arclink.service.logs import LogForm, set_up_logging
    from arclink.service.server import serve

    inputs = INPUTS.many(given)
    where, complete, paths = _KEPT_STORE.optional(given), None, list[str]()
    if where is None:
        archives, _ = leave_out_foreign(find_archives(inputs))
        paths = [str(path) for path in archives]
        folder = cache_of(paths)
        where, complete = str(folder / "links.db"), folder / _COMPLETE
    if complete is None or not complete.exists():
        # imported here: the second call builds nothing and starts sooner without it
        from arclink.cli.build import command as build

        Path(where).parent.mkdir(parents=True, exist_ok=True)
        try:
            click.get_current_context().invoke(build, inputs=inputs, store=where)
        except click.exceptions.Exit as end:
            # Some file is damaged or not readable, as the summary says. The others can be browsed.
            if end.exit_code != 1 or not Path(where).exists():
                raise
        else:
            if complete is not None:
                complete.write_text("\n".join(paths) + "\n", "utf-8")
    _make_tables(where)
    click.echo(f"The link graph is in {where}")
    set_up_logging(LogForm.TEXT, with_access=False)

    def show(url: str) -> None:
        click.echo(f"Browse it at {url}")
        if not _NO_BROWSER.required(given):
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    serve(
        where,
        "127.0.0.1",
        PORT.required(given),
        8,
        click.echo,
        _described(inputs),
        may_move=True,
        ready=show,
    )


def _make_tables(where: str) -> None:
    """Make the tables for questions, so that the first page need not wait for them."""
    from arclink.store.location import open_store

    with suppress(ImportError, ArclinkError):  # a page says what is missing
        from arclink.analysis.relations.kept import relations_of

        with open_store(where) as store:
            relations_of(where, store)


def _described(inputs: Sequence[str]) -> "Settings":
    """Return the settings of a service with the title of its collection, if it is one WACZ."""
    from arclink.archives.wacz import described_together
    from arclink.service.settings import Settings

    title, description = described_together(inputs)
    return Settings(title=title, description=description)


def cache_of(paths: Iterable[str]) -> Path:
    """Return the folder of the cache for archive files in their present state.

    It depends on their paths, sizes and times of change, and on the paths alone for files that are
    not local.
    """
    known = hashlib.sha256()
    for path in sorted(paths):
        local = path.removeprefix("file://")
        try:
            found = os.stat(local)
            line = f"{Path(local).resolve()}\t{found.st_size}\t{found.st_mtime_ns}"
        except OSError:
            line = path
        known.update(f"{line}\n".encode("utf-8", "surrogateescape"))
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "arclink" / "open" / known.hexdigest()[:20]
