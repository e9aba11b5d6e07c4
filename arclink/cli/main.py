"""The ``arclink`` command: its commands are modules of this package, imported when called."""

import errno
import os
import sys
from tempfile import gettempdir

import click

from arclink.cli.interrupts import end, hint_after, ignore_in_children
from arclink.cli.lazy_group import LazyCommands
from arclink.errors import ArclinkError, UsageError
from arclink.version import VERSION

SECTIONS = {
    "Build a graph": {
        "demo-archive": "arclink.cli.demo_archive",
        "open": "arclink.cli.open",
        "build": "arclink.cli.build",
        "fetch": "arclink.cli.fetch",
    },
    "Query a graph": {
        "links": "arclink.cli.links",
        "anchors": "arclink.cli.anchors",
        "diff": "arclink.cli.diff",
        "timemap": "arclink.cli.timemap",
        "explain": "arclink.cli.explain",
        "get": "arclink.cli.get",
        "stream": "arclink.cli.stream",
        "gaps": "arclink.cli.gaps",
        "stale": "arclink.cli.stale",
        "analyze": "arclink.cli.analyze",
        "aggregate": "arclink.cli.aggregate",
    },
    "Select captures": {
        "select": "arclink.cli.select",
        "subsets": "arclink.cli.subsets",
        "count": "arclink.cli.count",
    },
    "Share a graph": {
        "serve": "arclink.cli.serve",
        "export": "arclink.cli.export",
    },
    "Maintain a store": {
        "stats": "arclink.cli.stats",
        "verify": "arclink.cli.verify",
        "backup": "arclink.cli.backup",
        "restore": "arclink.cli.restore",
        "convert": "arclink.cli.convert",
        "forget": "arclink.cli.forget",
        "schema": "arclink.cli.schema",
    },
    "Work on a cluster": {
        "plan": "arclink.cli.plan",
        "pack": "arclink.cli.pack",
    },
    "Run one stage": {
        "index": "arclink.cli.index",
        "filter": "arclink.cli.filter",
        "extract": "arclink.cli.extract",
        "graph": "arclink.cli.graph",
        "load": "arclink.cli.load",
    },
}
"""Commands by section, in the order of the help."""


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    """Print the version, and whether the slower code runs since there was no C compiler."""
    if not is_asked:
        return
    from arclink.native import is_used

    without = "" if is_used() else " (without compiled modules: slower, with the same answers)"
    click.echo(f"arclink, version {VERSION}{without}")
    context.exit()


group = click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)(
    LazyCommands(
        "arclink",
        about="The temporal link graph of a web archive: who linked to a page, when, and with "
        "which words.",
        sections=SECTIONS,
    )
)


def main() -> None:
    """Run the command line.

    The exit code is 2 for a wrong call and 1 for an error that needs a person; neither shows a
    traceback.
    """
    # NumPy's BLAS starts a thread per further core, which spins for 0.1 s; ArcLink gives it no
    # work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    ignore_in_children()
    try:
        code = group.main(standalone_mode=False)
        if isinstance(
            code, int
        ):  # the code of a `click.exceptions.Exit`, which is returned here and not raised
            sys.exit(code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        end()  # a second Ctrl-C changes nothing
        click.echo(f"arclink: interrupted. {hint_after(sys.argv[1:])}".rstrip(), err=True)
        sys.exit(130)
    except UsageError as error:
        _complain(str(error))
        sys.exit(2)
    except ArclinkError as error:
        _complain(str(error))
        sys.exit(1)
    except OSError as error:
        _complain(f"{error}: {_advice(error)}")
        sys.exit(1)
    except MemoryError:
        _complain(
            "out of memory; stored batches are complete. Allow more memory (ulimit -v, the limit "
            "of the container), or use smaller batches or fewer cores"
        )
        sys.exit(1)
    end()


def _advice(error: OSError) -> str:
    """Return the remedy for a system error that no command translated."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "the limit of open files is too low; raise it: ulimit -n 1024"
    if error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return (
            "free some space where the output goes (standard output, if it is redirected to a "
            f"file) and in the folder for temporary files ({gettempdir()}, or another one in "
            "TMPDIR)"
        )
    return "check the path, its free space and its permissions"


def _complain(text: str) -> None:
    """Print an error message; bytes of names that are not UTF-8 are shown as escapes."""
    click.echo(f"arclink: {text.encode(errors='backslashreplace').decode()}", err=True)


if __name__ == "__main__":
    main()
