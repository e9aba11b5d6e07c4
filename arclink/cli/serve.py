"""``arclink serve``: the link query over HTTP."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arclink.access.replay import parse_replay
from arclink.cli.options import archives_option, replay_option
from arclink.errors import UsageError

if TYPE_CHECKING:
    from arclink.service.replay.origin import ReplayOrigin

_NAMED = re.compile(r"([^/=:]*)=(.*)", re.DOTALL)
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{0,50}")
_OURS = frozenset(
    {
        "static",
        "health",
        "explain",
        "aggregate",
        "anchors",
        "diff",
        "timemap",
        "docs",
        "metrics",
        "web",
        "timegate",
        "cdx",
        "record",
        "browse",
        "replay",
        "w",
    }
)
"""First path segments that the service itself uses."""


class _Lines(click.types.StringParamType):
    """A text option whose environment variable has one value per line: a path may have blanks."""

    envvar_list_splitter = "\n"


EXAMPLES = (
    "arclink serve --store links.db --port 8080",
    "arclink serve --store olympics=a.db --store iraq=b.db",
)


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
    help="The link graph: a file such as links.db, or a URL such as sqlite:///links.db. May be given again as NAME=STORE.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; 0.0.0.0 for all addresses.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port to listen on; 0 for any free port.",
)
@click.option(
    "--browse-port",
    type=click.IntRange(0, 65535),
    help="Port of the origin where archived pages are replayed; by default the one after --port, if only this machine can ask.",
)
@click.option(
    "--browse-origin",
    default="",
    metavar="ORIGIN",
    help="That origin as clients know it, such as https://replay.example.net; needs --public.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="Number of parallel requests per worker.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Number of worker processes.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=30,
    show_default=True,
    help="Seconds that running requests may take after a stop.",
)
@click.option(
    "--log",
    "log_form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of log events.",
)
@click.option("--log-requests", is_flag=True, help="Log every request.")
@click.option(
    "--instance",
    "instances",
    multiple=True,
    metavar="[NAME=]URL",
    envvar="ARCLINK_INSTANCES",
    show_envvar=True,
    help="Another service that /aggregate queries. May be given again.",
)
@replay_option
@click.option(
    "--embargo",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="DAYS",
    help="Hide captures that are younger than this.",
)
@click.option(
    "--embargo-prefix",
    "hidden",
    multiple=True,
    metavar="SURT",
    help="Hide captures below this SURT.",
)
@click.option(
    "--public",
    default="",
    metavar="URL",
    help="Public address of this service, such as https://links.example.org/.",
)
@click.option(
    "--name",
    default="here",
    show_default=True,
    help="Name of this service's store in answers of /aggregate.",
)
@click.option(
    "--cors-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Origin whose scripts may read answers; * for all. May be given again.",
)
@click.option(
    "--pages/--no-pages",
    "has_pages",
    default=True,
    show_default=True,
    help="Show the captures themselves, not only their links.",
)
@archives_option
@click.option(
    "--connections",
    type=click.IntRange(10, 100_000),
    default=1_000,
    show_default=True,
    help="Maximum number of connections per worker.",
)
@click.option(
    "--address-connections",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Maximum number of connections per worker from one client address.",
)
@click.option(
    "--trusted-proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Address of a reverse proxy, whose X-Forwarded-For names the client. May be given again.",
)
def command(
    stores: tuple[str, ...],
    host: str,
    port: int,
    browse_port: int | None,
    browse_origin: str,
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
    origins: tuple[str, ...],
    has_pages: bool,
    archives: tuple[str, ...],
    connections: int,
    address_connections: int,
    proxies: tuple[str, ...],
) -> None:
    """Answer link queries over HTTP, with a page for people at /, until stopped.

    Several stores, each with a name, are collections: --store olympics=a.db answers below
    /olympics/.
    """
    from arclink.cli.forget import surt_prefix
    from arclink.federation.instances import parse_instances, parse_name

    # imported here: no other command needs the service
    from arclink.service.connections import Connections, parse_network
    from arclink.service.headers import parse_origin
    from arclink.service.logs import LogForm, set_up_logging
    from arclink.service.server import serve
    from arclink.service.settings import Settings
    from arclink.store.embargo import Embargo

    where = collections_of(stores)
    archive = parse_name("--name", name)
    others = parse_instances(instances)
    for taken in [
        other.name
        for other in others
        if other.name in ({archive} if isinstance(where, str) else where)
    ]:
        raise UsageError(
            f"--instance {taken}=…: the service's own store has this name; choose another name"
        )
    set_up_logging(LogForm(log_form), with_access=log_requests)
    settings = Settings(
        replay=parse_replay("--replay", replay),
        public=parse_replay("--public", public),
        embargo=Embargo(embargo, tuple(surt_prefix(text) for text in hidden)),
        archive=archive,
        instances=others,
        origins=tuple(parse_origin(text) for text in origins),
        has_pages=has_pages,
        archives=archives,
        browse=replay_origin(browse_origin, public),
    )
    try:
        trusted = tuple(parse_network(text) for text in proxies)
    except ValueError as error:
        raise UsageError(
            f"--trusted-proxy: {error}; write an address such as 127.0.0.1 or a network such as 10.0.0.0/8"
        ) from error
    serve(
        where,
        host,
        port,
        threads,
        click.echo,
        settings,
        workers=workers,
        grace=grace,
        connections=Connections(connections, address_connections, trusted),
        browse_port=browse_port,
    )


def replay_origin(origin: str, public: str) -> "ReplayOrigin":
    """Return the origins that an operator names; none if ``origin`` is empty.

    Raises:
        UsageError: One is not an origin, or they are the same.
    """
    from arclink.service.headers import parse_origin
    from arclink.service.replay.origin import ReplayOrigin

    if not origin:
        return ReplayOrigin()
    if not public:
        raise UsageError("--browse-origin: also give --public, the address of the service itself")
    replayed = parse_origin(origin, "--browse-origin")
    service = parse_origin("/".join(public.split("/")[:3]), "--public")
    if replayed == service:
        raise UsageError(
            "--browse-origin: archived pages need another host or port than --public, because their "
            "scripts run there"
        )
    return ReplayOrigin(replayed, service)


def collections_of(texts: Sequence[str]) -> str | Mapping[str, str]:
    """Return the single unnamed store, or the stores by name.

    Raises:
        UsageError: A name is invalid or used twice, or one of several stores has no name.
    """
    named: dict[str, str] = {}
    for text in texts:
        found = _NAMED.fullmatch(text)
        if found is None or Path(text).exists():  # a file may be named a=b
            if len(texts) == 1:
                return text
            raise UsageError(
                f"--store {text}: each of several stores needs a name: --store NAME={text}"
            )
        name, path = found.groups()
        if _COLLECTION.fullmatch(name) is None or name in _OURS:
            raise UsageError(
                f"--store {text}: {name!r} cannot be a collection's name; use a-z, 0-9, - and _, but not one of {', '.join(sorted(_OURS))}"
            )
        if name in named:
            raise UsageError(f"--store {text}: the collection {name} already exists: {named[name]}")
        named[name] = path
    return named
