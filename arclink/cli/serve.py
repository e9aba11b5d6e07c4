"""``arclink serve``: the link query over HTTP."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from arclink.access.replay import parse_replay
from arclink.cli.options import replay_option
from arclink.errors import UsageError

_NAMED = re.compile(r"([^/=:]*)=(.*)", re.DOTALL)
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{0,50}")
_OURS = frozenset({"static", "health", "explain", "aggregate", "anchors", "diff", "timemap", "docs", "metrics"})
"""Paths of the service itself."""


class _Lines(click.types.StringParamType):
    """Text that the environment holds several of as lines: a path may have blanks."""

    envvar_list_splitter = "\n"


@click.command("serve", short_help="Answer link queries over HTTP.")
@click.option(
    "--store",
    "stores",
    type=_Lines(),
    multiple=True,
    required=True,
    metavar="[NAME=]PATH|URL",
    envvar="ARCLINK_STORE",
    show_envvar=True,
    help="The link graph: a file such as links.db, or a URL such as sqlite:///links.db. With names, several of them.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port to listen on; 0 takes a free one.")
@click.option("--threads", type=click.IntRange(1, 64), default=8, show_default=True, help="Requests that each worker answers at a time.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes that answer.")
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=30,
    show_default=True,
    help="Seconds that answers under way have at a stop.",
)
@click.option("--log", "log_form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How events are logged.")
@click.option("--log-requests", is_flag=True, help="Log every request.")
@click.option(
    "--instance",
    "instances",
    multiple=True,
    metavar="[NAME=]URL",
    envvar="ARCLINK_INSTANCES",
    show_envvar=True,
    help="Another service that /aggregate asks too; may come several times.",
)
@replay_option
@click.option("--embargo", type=click.IntRange(0, 1_000_000), default=0, metavar="DAYS", help="Hide captures that are younger.")
@click.option("--embargo-prefix", "hidden", multiple=True, metavar="SURT", help="Hide captures below this SURT.")
@click.option("--public", default="", metavar="URL", help="This service as clients know it, such as https://links.example.org/.")
@click.option("--name", default="here", show_default=True, help="What /aggregate calls the store of this service.")
def command(
    stores: tuple[str, ...],
    host: str,
    port: int,
    threads: int,
    workers: int,
    grace: float,
    log_form: str,
    log_requests: bool,
    instances: tuple[str, ...],
    replay: str,
    embargo: int,
    hidden: tuple[str, ...],
    public: str,
    name: str,
) -> None:
    """Answer link queries over HTTP, with a page for people at /, until stopped.

    Several stores, each with a name, are collections: --store olympics=a.db answers below /olympics/.
    """
    from arclink.aggregate.instances import parse_instances, parse_name
    from arclink.cli.forget import surt_prefix
    from arclink.store.embargo import Embargo
    from service.logs import LogForm, set_up_logging  # lazily: nothing else in arclink needs the service
    from service.running import serve
    from service.settings import Settings

    where = collections_of(stores)
    archive = parse_name("--name", name)
    others = parse_instances(instances)
    for taken in [other.name for other in others if other.name in ({archive} if isinstance(where, str) else where)]:
        raise UsageError(f"--instance {taken}=…: the service calls its own store so; name one of them otherwise")
    set_up_logging(LogForm(log_form), with_access=log_requests)
    settings = Settings(
        replay=parse_replay("--replay", replay),
        public=parse_replay("--public", public),
        embargo=Embargo(embargo, tuple(surt_prefix(text) for text in hidden)),
        archive=archive,
        instances=others,
    )
    serve(where, host, port, threads, click.echo, settings, workers=workers, grace=grace)


def collections_of(texts: Sequence[str]) -> str | Mapping[str, str]:
    """Return the one store that has no name, or the stores by name.

    Raises:
        UsageError: A name is none, or comes twice; or there are several stores and one has no name.
    """
    named: dict[str, str] = {}
    for text in texts:
        found = _NAMED.fullmatch(text)
        if found is None or Path(text).exists():  # a file may be called a=b
            if len(texts) == 1:
                return text
            raise UsageError(f"--store {text}: each of several stores needs a name: --store NAME={text}")
        name, path = found.groups()
        if _COLLECTION.fullmatch(name) is None or name in _OURS:
            raise UsageError(
                f"--store {text}: {name!r} cannot be a collection's name; use a-z, 0-9, - and _, but none of {', '.join(sorted(_OURS))}"
            )
        if name in named:
            raise UsageError(f"--store {text}: there is a collection {name} already: {named[name]}")
        named[name] = path
    return named
