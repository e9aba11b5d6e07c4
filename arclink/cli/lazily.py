"""`LazyCommands`: a group of commands whose modules are imported when they are called."""

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module

import click


class LazyCommands(click.Group):
    """A group that imports a command when it is used: ``arclink links`` need not load a parser.

    Args:
        name: What the group is called.
        about: What it says of itself.
        modules: Module of each command, in the order help shows them; each has a click command called ``command``.
    """

    def __init__(self, name: str, *, about: str, modules: Mapping[str, str]) -> None:
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
        super().__init__(name, help=about, context_settings=settings)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names in the order of ``modules``."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name; None if there is none."""
        if cmd_name not in self._modules:
            return None
        command: click.Command = import_module(self._modules[cmd_name]).command
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
