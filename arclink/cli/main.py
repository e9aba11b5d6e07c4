"""The ``arclink`` command: its commands are modules of this package, imported when they are called."""

import sys
from importlib import import_module

import click

from arclink import __version__
from arclink.errors import ArclinkError, UsageError

COMMANDS = {
    "build": "arclink.cli.build",
    "fetch": "arclink.cli.fetch",
    "links": "arclink.cli.links",
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


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="arclink")
def group() -> None:
    """The temporal link graph of a web archive: who linked to a page, when, and with which words."""


def main() -> None:
    """Run the command line: exit 2 for a wrong call, 1 for what needs a person, never a traceback for either."""
    try:
        group.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except UsageError as error:
        click.echo(f"arclink: {error}", err=True)
        sys.exit(2)
    except ArclinkError as error:
        click.echo(f"arclink: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output left, as `head` does
        sys.exit(0)
    except OSError as error:
        click.echo(f"arclink: {error}: check that the path is right, and its space and rights", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
