"""``arclink mcp``: the graph for agents, over the Model Context Protocol."""

import signal
import sys

import click

from arclink.access.declarations import SUBSET, Given
from arclink.cli.options import ARCHIVES, REPLAY, STORE, takes
from arclink.cli.serve import EMBARGO, EMBARGO_PREFIXES, PAGES, settings_of
from arclink.extras import extra

EXAMPLES = (
    "arclink mcp --store links.db",
    "arclink mcp --store links.db --subset 'domain:gov' --embargo 365 --no-pages",
)


@click.command()
@takes(STORE, SUBSET, EMBARGO, EMBARGO_PREFIXES, REPLAY, ARCHIVES, PAGES)
def command(given: Given) -> None:
    """Answer an agent over the Model Context Protocol, at standard input and output.

    A program that a language model drives starts this command, and asks with its tools: the links
    and the text of a page, the questions of `arclink ask`, and SQL. They only read. The limits are
    those of `arclink serve`.
    """
    with extra("agents"):
        from arclink.service.agents.protocol import serve_agent
    from arclink.service.agents.tools import Tools
    from arclink.service.request_log import set_up_logging
    from arclink.service.stores import open_to_serve

    where = STORE.required(given)
    settings = settings_of(given, where)
    open_to_serve(where).close()  # what is wrong with it is said at once
    set_up_logging()
    # Only a line of input would wake the thread that reads it: Ctrl-C ends the process at once, as
    # SIGTERM does. It writes nothing that could be half done.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.stdin.isatty():
        click.echo(
            "A program speaks here with this command, not a person; Ctrl-C ends it.", err=True
        )
    serve_agent(Tools(where, settings))
