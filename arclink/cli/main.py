"""The ``arclink`` command: its commands are modules of this package, imported when they are called."""

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

import click

from arclink import __version__
from arclink.errors import ArclinkError, UsageError

COMMANDS = {
    "build": "arclink.cli.build",
    "fetch": "arclink.cli.fetch",
    "links": "arclink.cli.links",
    "anchors": "arclink.cli.anchors",
    "diff": "arclink.cli.diff",
    "timemap": "arclink.cli.timemap",
    "aggregate": "arclink.cli.aggregate",
    "serve": "arclink.cli.serve",
    "stats": "arclink.cli.stats",
    "explain": "arclink.cli.explain",
    "verify": "arclink.cli.verify",
    "forget": "arclink.cli.forget",
    "demo-archive": "arclink.cli.demo_archive",
    "index": "arclink.cli.index",
    "filter": "arclink.cli.filter",
    "extract": "arclink.cli.extract",
    "graph": "arclink.cli.graph",
    "load": "arclink.cli.load",
    "pack": "arclink.cli.pack",
}
"""Module of each command, in the order help shows them; each has a click command called ``command``."""


class LazyCommands(click.Group):
    """A group that imports a command when it is used: ``arclink links`` need not load a parser."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        command.name = cmd_name
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; when the reader of its output leaves, as ``head`` does, end at once as a program does that SIGPIPE ends."""
        try:
            result: object = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            for stream in (sys.stdout, sys.stderr):  # or Python complains of it when it ends
                with suppress(OSError, ValueError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            raise click.exceptions.Exit(128 + signal.SIGPIPE) from None  # click itself would make it 1
        return result


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="arclink")
def group() -> None:
    """The temporal link graph of a web archive: who linked to a page, when, and with which words."""


def main() -> None:
    """Run the command line: exit 2 for a wrong call, 1 for what needs a person, never a traceback for either."""
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
