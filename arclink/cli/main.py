"""The ``arclink`` command: its commands are modules of this package, imported when they are called."""

import os
import sys

import click

from arclink import __version__
from arclink.cli.lazily import LazyCommands
from arclink.errors import ArclinkError, UsageError

COMMANDS = {
    "build": "arclink.cli.build",
    "fetch": "arclink.cli.fetch",
    "links": "arclink.cli.links",
    "anchors": "arclink.cli.anchors",
    "diff": "arclink.cli.diff",
    "analyze": "arclink.cli.analyze",
    "timemap": "arclink.cli.timemap",
    "aggregate": "arclink.cli.aggregate",
    "serve": "arclink.cli.serve",
    "stats": "arclink.cli.stats",
    "explain": "arclink.cli.explain",
    "export": "arclink.cli.export",
    "verify": "arclink.cli.verify",
    "forget": "arclink.cli.forget",
    "demo-archive": "arclink.cli.demo_archive",
    "index": "arclink.cli.index",
    "filter": "arclink.cli.filter",
    "extract": "arclink.cli.extract",
    "graph": "arclink.cli.graph",
    "load": "arclink.cli.load",
    "schema": "arclink.cli.schema",
    "plan": "arclink.cli.plan",
    "pack": "arclink.cli.pack",
}
"""Module of each command, in the order help shows them; each has a click command called ``command``."""


group = click.version_option(__version__, prog_name="arclink")(
    LazyCommands(
        "arclink", about="The temporal link graph of a web archive: who linked to a page, when, and with which words.", modules=COMMANDS
    )
)


def main() -> None:
    """Run the command line: exit 2 for a wrong call, 1 for what needs a person, never a traceback for either."""
    # NumPy's BLAS starts a thread for each further core, which spins for 0.1 s; nothing here gives it work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = group.main(standalone_mode=False)
        if isinstance(code, int):  # of a `click.exceptions.Exit`, which ends here without being raised
            sys.exit(code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except UsageError as error:
        _complain(str(error))
        sys.exit(2)
    except ArclinkError as error:
        _complain(str(error))
        sys.exit(1)
    except OSError as error:
        _complain(f"{error}: check that the path is right, and its space and rights")
        sys.exit(1)


def _complain(text: str) -> None:
    """Say what is wrong; names that are no UTF-8 with escapes."""
    click.echo(f"arclink: {text.encode(errors='backslashreplace').decode()}", err=True)


if __name__ == "__main__":
    main()
