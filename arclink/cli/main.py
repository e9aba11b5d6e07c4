"""The ``arclink`` command: its commands are modules of this package, imported when called."""

import errno
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from tempfile import gettempdir

import click
from click.shell_completion import CompletionItem

from arclink.cli.interrupts import Terminated, end, hint_after, ignore_in_children
from arclink.errors import ArclinkError, UsageError
from arclink.progress import note_width, show_on_terminal
from arclink.version import VERSION

_NO_BREAK = "\u2011"
"""The non-breaking hyphen, in place of each hyphen while lines are wrapped."""


_MODULES = {
    **dict.fromkeys(("index", "filter", "extract", "graph", "load"), "stages"),
    **dict.fromkeys(("backup", "restore"), "copies"),
    **dict.fromkeys(("plan", "pack", "schema"), "cluster"),
    **dict.fromkeys(("select", "subsets"), "subsets"),
    **dict.fromkeys(("mcp", "serve"), "serve"),
    "aggregate": "instances",
}
"""The modules of commands that share one, or have another name."""


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
            ``demo_archive``. The modules of `_MODULES` have their commands in ``COMMANDS``.
            Commands without a module are those of `arclink.cli.query_commands`.
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
        path = f"{self._package}.{_MODULES.get(name, name.replace('-', '_'))}"
        loaded: tuple[click.Command, Sequence[str]]
        if find_spec(path) is None:
            loaded = import_module("arclink.cli.query_commands").load_command(name)
        elif name in _MODULES:
            loaded = import_module(path).COMMANDS[name]
        else:
            module = import_module(path)
            loaded = module.command, getattr(module, "EXAMPLES", ())
        return loaded

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


SECTIONS = {
    "Build a graph": {
        "demo-archive": "Write a small archive for trying ArcLink.",
        "open": "Browse the pages of archive files, with the links to each.",
        "build": "Build the link graph of archive files, or add files to it.",
        "fetch": "Fetch captures from a Wayback Machine as WARC files.",
    },
    "Query a graph": {
        "links": "Show the links of a URI through time.",
        "anchors": "Show the texts of the links to a URI.",
        "diff": "Show which links of a URI were added, removed and kept.",
        "timemap": "List the mementos of a URI as a TimeMap.",
        "explain": "Explain what happened to each capture of a URI.",
        "get": "Write a capture as archived.",
        "stream": "Write every capture once, with its bytes, in a chosen order.",
        "ask": "Answer questions about pages, sites and the whole archive.",
        "sql": "Answer SQL over the captures and links of a store.",
        "analyze": "Analyse the whole graph: sizes, ranks, paths.",
        "aggregate": "Merge the answers of several archives for a URI.",
    },
    "Select captures": {
        "select": "Store a selection of captures as a subset.",
        "subsets": "List the subsets of a store.",
        "count": "Count the captures of a subset.",
    },
    "Share a graph": {
        "serve": "Answer link queries over HTTP.",
        "mcp": "Answer an agent over the Model Context Protocol.",
        "export": "Write the graph (Parquet, GraphML, GEXF, WebGraph, RDF) or captures (WARC, "
        "WACZ).",
    },
    "Maintain a store": {
        "stats": "Count the mementos, URIs, contents and links of a store.",
        "tables": "Make the tables that SQL reads, as Parquet files.",
        "verify": "Check that a store is undamaged and consistent.",
        "backup": "Back up a store, even while it is served or built.",
        "upgrade": "Bring a store of an earlier version up to date.",
        "restore": "Restore a lost store from a backup.",
        "forget": "Remove captures after a takedown request.",
        "schema": "Create the tables of a Cassandra store.",
    },
    "Work on a cluster": {
        "plan": "Estimate the time and space that a collection needs.",
        "pack": "Pack ArcLink and its packages for cluster workers.",
    },
    "Run one stage": {
        "index": "Write CDXJ rows for archive files.",
        "filter": "Choose the captures worth reading.",
        "extract": "Read the links of payloads.",
        "graph": "Join and invert links: write graph files.",
        "load": "Load graph files into a store.",
    },
}
"""Commands with their short help, by section, in the order of the help."""


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    """Print the version, the layout of its stores, and whether the slower code runs.

    The slower code runs if there was no C compiler.
    """
    if not is_asked:
        return
    from arclink.native import is_used
    from arclink.store.layouts import STORE

    without = "" if is_used() else " (without compiled modules: slower, with the same answers)"
    click.echo(f"arclink {VERSION} (store layout {STORE}){without}")
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
        package="arclink.cli",
        about="The temporal link graph of a web archive: who linked to a page, when, and with "
        "which words.",
        sections=SECTIONS,
    )
)


def main() -> None:
    """Run the command line.

    The exit code is 2 for a wrong call and 1 for an error that a user must solve; neither shows a
    traceback.
    """
    # NumPy's BLAS starts a thread per further core, which spins for 0.1 s; ArcLink gives it no
    # work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    ignore_in_children()
    warnings.showwarning = lambda message, *_, **__: click.echo(f"warning: {message}", err=True)
    try:
        note_width()
        with show_on_terminal():
            code = group.main(standalone_mode=False)
        # The code of a `click.exceptions.Exit`, which is returned here and not raised.
        if isinstance(code, int):
            sys.exit(code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        end()  # a second Ctrl-C changes nothing
        click.echo(f"arclink: interrupted. {hint_after(sys.argv[1:])}".rstrip(), err=True)
        sys.exit(143 if isinstance(error.__cause__ or error, Terminated) else 130)
    except UsageError as error:
        _complain(_with_option(str(error)))
        sys.exit(2)
    except ArclinkError as error:
        _complain(str(error))
        sys.exit(1)
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        _complain(f"{what}: {_advice(error)}")
        sys.exit(1)
    except MemoryError:
        _complain(
            "out of memory; stored batches are complete. Allow more memory (ulimit -v, the limit "
            "of the container), or use smaller batches or fewer cores"
        )
        sys.exit(1)
    end()


def _with_option(text: str) -> str:
    """Return a message that begins with the name of a parameter, with the option instead.

    >>> _with_option("matchType must be exact: one page")
    '--match-type must be exact: one page'
    """
    return re.sub(
        "^[a-z]+[A-Z][A-Za-z]*(?=[ :])",
        lambda name: "--" + re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", name[0]),
        text,
    )


def _advice(error: OSError) -> str:
    """Return the remedy for a system error that no command translated."""
    from arclink.files.atomic import OUT_OF_SPACE  # here: its imports delay each start

    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "the limit of open files is too low; raise it: ulimit -n 1024"
    if error.filename is None and error.errno in OUT_OF_SPACE:
        return (
            "free some space where the output goes (standard output, if it is redirected to a "
            f"file) and in the folder for temporary files ({gettempdir()}, or another one in "
            "TMPDIR)"
        )
    if error.errno == errno.EROFS:
        return "name a path on a file system that can be written"
    return "check the path, its free space and its permissions"


def _complain(text: str) -> None:
    """Print an error message; bytes of names that are not UTF-8 are shown as escapes."""
    click.echo(f"arclink: {text.encode(errors='backslashreplace').decode()}", err=True)


if __name__ == "__main__":
    main()
