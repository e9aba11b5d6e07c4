"""`LazyCommands`: a group of commands whose modules are imported when they are called; its help."""

import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec

import click
from click.shell_completion import CompletionItem

_NO_BREAK = "\u2011"
"""The non-breaking hyphen, which stands for a hyphen until lines are broken."""


class _WholeWords(click.HelpFormatter):
    """Writes help in which options and paths with hyphens are never broken over two lines."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(text.replace("-", _NO_BREAK))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write options or commands with their texts."""
        whole = [(term, text.replace("-", _NO_BREAK)) for term, text in rows]
        super().write_dl(whole, col_max, col_spacing)

    def getvalue(self) -> str:
        """Return the help."""
        return super().getvalue().replace(_NO_BREAK, "-")


class _HelpContext(click.Context):
    """The context of a command whose help is written by `_WholeWords`."""

    formatter_class = _WholeWords


class LazyCommands(click.Group):
    """A group that imports a command when it is used: ``arclink links`` need not load a parser.

    Args:
        name: Name of the group.
        package: Package with a module for each command, which has a click command named
            ``command`` and examples named ``EXAMPLES``. The module of ``demo-archive`` is
            ``demo_archive``. Commands without a module are declared in its ``query_commands``.
        about: Help text of the group.
        sections: Short help of the commands by section and name, in the order of the help. So help
            and shell completion import no command.
    """

    context_class = _HelpContext

    def __init__(
        self, name: str, *, package: str, about: str, sections: Mapping[str, Mapping[str, str]]
    ) -> None:
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
        super().__init__(name, help=about, context_settings=settings)
        self._package = package
        self._sections = sections
        self._short_helps = {
            command: text for commands in sections.values() for command, text in commands.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the sections."""
        return list(self._short_helps)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their short help, one list per section."""
        width = max(map(len, self._short_helps))
        for section, commands in self._sections.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands, with their short help, and the options that can follow."""
        commands = [
            CompletionItem(name, help=text)
            for name, text in self._short_helps.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name; None if it does not exist."""
        if cmd_name not in self._short_helps:
            return None
        command, examples = self._load(cmd_name)
        command.name = cmd_name
        command.short_help = self._short_helps[cmd_name]
        command.context_class = _HelpContext
        if examples:
            command.epilog = "\n".join(("\b", "Examples:", *(f"  {call}" for call in examples)))
        return command

    def _load(self, name: str) -> tuple[click.Command, Sequence[str]]:
        """Import a command; return it and its examples, which a group does not have."""
        path = f"{self._package}.{name.replace('-', '_')}"
        if find_spec(path) is None:
            loaded: tuple[click.Command, Sequence[str]] = import_module(
                f"{self._package}.query_commands"
            ).load_command(name)
            return loaded
        module = import_module(path)
        return module.command, getattr(module, "EXAMPLES", ())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown one names those with a similar name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            similar = get_close_matches(args[0], self._short_helps, n=3)
            if not similar:
                raise
            text = f"{error.message} Did you mean {' or '.join(similar)}?"
            raise click.UsageError(text, ctx) from error

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; if the reader of its output leaves, as ``head`` does, end at once.

        The exit code is then that of a program ended by SIGPIPE.
        """
        try:
            result: object = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            for stream in (sys.stdout, sys.stderr):  # else Python reports the error at its end
                with suppress(OSError, ValueError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            # Click itself would use exit code 1.
            raise click.exceptions.Exit(128 + signal.SIGPIPE) from None
        return result
