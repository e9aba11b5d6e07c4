"""``arclink serve``: the link query over HTTP."""

import re
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arclink.access.declarations import (
    SUBSET,
    SWITCH,
    TEXT,
    Form,
    Given,
    Parameter,
    field_parameter,
    named,
    number,
    switch,
    whole_number,
)
from arclink.access.replay import NO_REPLAY
from arclink.cli.options import ARCHIVES, INSTANCE, REPLAY, STORE, replay_prefix, takes
from arclink.errors import ArclinkError, UsageError
from arclink.extras import extra
from arclink.others.federation.instances import parse_instances, parse_name
from arclink.service.settings import ReplayOrigin, Settings, public_path
from arclink.service.shares import Connections, parse_network
from arclink.store.embargo import Embargo

if TYPE_CHECKING:
    from arclink.service.settings import ReplayOrigin

_NAMED = re.compile(r"([^/=:]*)=(.*)", re.DOTALL)
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{0,50}")
_NOT_DESCRIBED = frozenset({"static", "replay", "w"})
"""First parts of paths that are in no description of the service."""

_STORES = replace(
    STORE,
    about="The link graph: a file such as links.db, or a URL such as sqlite:///links.db or "
    "cassandra://node1,node2/keyspace. Several stores need names.",
    form=Form("", {"type": "string", "format": "lines"}, str),
    is_list=True,
    keeps_empty=True,
    metavar="[NAME=]PATH|URL",
    see="reference/service.md#collections",
)
HOST = Parameter(
    "host",
    "Address to listen on; 0.0.0.0 for all addresses.",
    TEXT,
    default="127.0.0.1",
    metavar="ADDRESS",
)
PORT = Parameter(
    "port",
    "Port to listen on; 0 for any free port.",
    whole_number(65535),
    default="8080",
    metavar="N",
)
_BROWSE_PORT = Parameter(
    "browse-port",
    "Port of the origin where archived pages are replayed.",
    whole_number(65535),
    metavar="N",
    otherwise="the port after --port, if the service is only for this machine",
    see="how-to/browse.md",
)
_BROWSE_ORIGIN = Parameter(
    "browse-origin",
    "Public address of that origin, such as https://replay.example.net; needs --public.",
    TEXT,
    metavar="ORIGIN",
    see="how-to/deployment.md",
)
_THREADS = Parameter(
    "threads",
    "Number of parallel requests per worker.",
    whole_number(64, least=1),
    default="8",
    metavar="N",
)
WORKERS = Parameter(
    "workers",
    "Number of worker processes.",
    whole_number(64, least=1),
    default="1",
    metavar="N",
    see="how-to/deployment.md",
)
GRACE = Parameter(
    "grace",
    "Seconds that running requests may take after a stop.",
    number(least=0, most=3600),
    default="30",
    metavar="SECONDS",
)
LOG = Parameter(
    "log",
    "Format of log events.",
    named({name: name for name in ("text", "json")}),
    default="text",
)
_LOG_REQUESTS = switch("log-requests", "Log every request.")
_INSTANCES = replace(INSTANCE, about="Another service that /aggregate queries.", is_required=False)
_TITLE = Parameter(
    "title",
    "Title of the archive, for its front page; with the name of a collection, its title. By "
    "default, that of the WACZ that the store was built from.",
    TEXT,
    is_list=True,
    metavar="[NAME=]TEXT",
)
_DESCRIPTION = Parameter(
    "description",
    "What the archive, or a collection, is.",
    TEXT,
    is_list=True,
    metavar="[NAME=]TEXT",
)
EMBARGO = Parameter(
    "embargo",
    "Hide captures that are younger than this.",
    whole_number(1_000_000),
    default=str(Embargo().days),
    metavar="DAYS",
    see="reference/service.md#embargo",
)
_EMBARGO_PREFIXES = Parameter(
    "embargo-prefix",
    "Hide captures of this part of the web: *.example.org, http://example.org/news*, or a "
    "beginning of SURTs.",
    TEXT,
    is_list=True,
    metavar="PART",
    keeps_empty=True,
)
PUBLIC = Parameter(
    "public",
    "Public address of this service, such as https://links.example.org/.",
    replay_prefix("public"),
    metavar="URL",
    otherwise="as in requests",
)
NAME = field_parameter(Settings, "archive", TEXT, name="name", metavar="NAME")
_ORIGINS = Parameter(
    "cors-origin",
    "Origin whose scripts may read answers; * for all.",
    TEXT,
    is_list=True,
    metavar="ORIGIN",
    see="how-to/deployment.md#other-origins-and-search-engines",
    keeps_empty=True,
)
PAGES = Parameter(
    "pages", "Show the captures themselves, not only their links.", SWITCH, default="true"
)
_CONNECTIONS = field_parameter(
    Connections,
    "most",
    whole_number(100_000, least=10),
    name="connections",
    metavar="N",
    see="how-to/deployment.md#connections",
)
_ADDRESS_CONNECTIONS = field_parameter(
    Connections,
    "per_address",
    whole_number(100_000, least=1),
    name="address-connections",
    metavar="N",
)
_PROXIES = Parameter(
    "trusted-proxy",
    "Address or network of reverse proxies, whose X-Forwarded-For names the client.",
    TEXT,
    is_list=True,
    metavar="ADDRESS",
    keeps_empty=True,
)

_SERVE_EXAMPLES = (
    "arclink serve --store links.db --port 8080",
    "arclink serve --store olympics=a.db --store iraq=b.db",
)


@click.command()
@takes(
    _STORES,
    SUBSET,
    HOST,
    PORT,
    _BROWSE_PORT,
    _BROWSE_ORIGIN,
    _THREADS,
    WORKERS,
    GRACE,
    LOG,
    _LOG_REQUESTS,
    _INSTANCES,
    _TITLE,
    _DESCRIPTION,
    REPLAY,
    EMBARGO,
    _EMBARGO_PREFIXES,
    PUBLIC,
    NAME,
    _ORIGINS,
    PAGES,
    ARCHIVES,
    _CONNECTIONS,
    _ADDRESS_CONNECTIONS,
    _PROXIES,
)
def serve_command(given: Given) -> None:
    """Answer link queries over HTTP, with a page for people at /, until stopped.

    Several stores, each with a name, are collections: --store olympics=a.db answers below
    /olympics/.
    """
    from arclink.service.logs import LogForm, set_up_logging
    from arclink.service.server import serve  # imported here: no other command needs the service

    where = collections_of(_STORES.many(given))
    settings = settings_of(given, where)
    connections = _connections(given)
    set_up_logging(LogForm(LOG.required(given)), with_access=_LOG_REQUESTS.required(given))
    serve(
        where,
        HOST.required(given),
        PORT.required(given),
        _THREADS.required(given),
        click.echo,
        settings,
        workers=WORKERS.required(given),
        grace=GRACE.required(given),
        connections=connections,
        browse_port=_BROWSE_PORT.optional(given),
    )


def settings_of(given: Given, where: str | Mapping[str, str]) -> Settings:
    """Return the settings of the service; what a command does not take has its default.

    Raises:
        UsageError: A value is not allowed, or an instance has the name of an own store.
    """
    from arclink.operations.forget import surt_prefix
    from arclink.service.responses import parse_origin

    public_path(PUBLIC.optional(given) or "")  # a wrong one is an error before anything is opened
    archive = parse_name("--name", NAME.required(given))
    others = parse_instances(_INSTANCES.many(given))
    for taken in [
        other.name
        for other in others
        if other.name in ({archive} if isinstance(where, str) else where)
    ]:
        raise UsageError(
            f"--instance {taken}=…: the service's own store has this name; choose another name"
        )
    titles, descriptions = (_by_name(one, given, where) for one in (_TITLE, _DESCRIPTION))
    for name, store in ({"": where} if isinstance(where, str) else where).items():
        title, description = _described(store)
        titles.setdefault(name, title)
        descriptions.setdefault(name, description)
    return Settings(
        title=titles.pop("", ""),
        description=descriptions.pop("", ""),
        titles=titles,
        descriptions=descriptions,
        replay=REPLAY.optional(given) or NO_REPLAY,
        public=PUBLIC.optional(given) or "",
        embargo=Embargo(
            EMBARGO.required(given),
            tuple(surt_prefix(text) for text in _EMBARGO_PREFIXES.many(given)),
        ),
        subset=SUBSET.optional(given) or "",
        archive=archive,
        instances=others,
        origins=tuple(parse_origin(text) for text in _ORIGINS.many(given)),
        has_pages=PAGES.required(given),
        archives=ARCHIVES.many(given),
        browse=replay_origin(_BROWSE_ORIGIN.optional(given) or "", PUBLIC.optional(given) or ""),
    )


def _described(where: str) -> tuple[str, str]:
    """Return the title and description of the WACZ that a local store was built from, if any.

    They are empty if the store cannot be read: the service itself reports that error.
    """
    from arclink.archives.wacz import described_together
    from arclink.store.location import is_remote, open_store

    with suppress(ArclinkError):
        if not is_remote(where):
            with open_store(where) as store:
                return described_together(file.path for file in store.files())
    return "", ""


def _by_name(
    parameter: Parameter[str], given: Given, where: str | Mapping[str, str]
) -> dict[str, str]:
    """Return texts by the name of the collection that they begin with; others have no name.

    Raises:
        UsageError: A collection, or the whole service, has two of them.
    """
    texts: dict[str, str] = {}
    for written in parameter.many(given):
        name, sign, text = written.partition("=")
        if not sign or isinstance(where, str) or name not in where:
            name, text = "", written
        if name in texts:
            raise UsageError(f"--{parameter.name} {written}: there is already: {texts[name]}")
        texts[name] = text
    return texts


def _connections(given: Given) -> Connections:
    """Return the limits of connections.

    Raises:
        UsageError: A reverse proxy is neither an address nor a network.
    """
    try:
        trusted = tuple(parse_network(text) for text in _PROXIES.many(given))
    except ValueError as error:
        raise UsageError(
            f"--trusted-proxy: {error}; write an address such as 127.0.0.1 or a network such "
            "as 10.0.0.0/8"
        ) from error
    return Connections(_CONNECTIONS.required(given), _ADDRESS_CONNECTIONS.required(given), trusted)


def replay_origin(origin: str, public: str) -> "ReplayOrigin":
    """Return the origins that an operator names; none if ``origin`` is empty.

    Raises:
        UsageError: One is not an origin, or they are the same.
    """
    from arclink.service.responses import parse_origin

    if not origin:
        return ReplayOrigin()
    if not public:
        raise UsageError("--browse-origin: also give --public, the address of the service itself")
    replayed = parse_origin(origin, "--browse-origin")
    service = parse_origin("/".join(public.split("/")[:3]), "--public")
    if replayed == service:
        raise UsageError(
            "--browse-origin: archived pages need another host or port than --public, because "
            "their scripts run there"
        )
    return ReplayOrigin(replayed, service)


def collections_of(texts: Sequence[str]) -> str | Mapping[str, str]:
    """Return the single unnamed store, or the stores by name.

    Raises:
        UsageError: A name is invalid or used twice, or one of several stores has no name.
    """
    from arclink.service.openapi import RESOURCES

    ours = _NOT_DESCRIBED.union(resource.path.split("/")[1] for resource in RESOURCES)
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
        if _COLLECTION.fullmatch(name) is None or name in ours:
            raise UsageError(
                f"--store {text}: {name!r} cannot be a collection's name; use a-z, 0-9, - "
                f"and _, but not one of {', '.join(sorted(filter(_COLLECTION.fullmatch, ours)))}"
            )
        if name in named:
            raise UsageError(f"--store {text}: the collection {name} already exists: {named[name]}")
        named[name] = path
    return named


# ``arclink mcp``: the graph for agents, over the Model Context Protocol.

_MCP_EXAMPLES = (
    "arclink mcp --store links.db",
    "arclink mcp --store links.db --subset 'domain:gov' --embargo 365 --no-pages",
)


@click.command()
@takes(STORE, SUBSET, EMBARGO, _EMBARGO_PREFIXES, REPLAY, ARCHIVES, PAGES)
def mcp_command(given: Given) -> None:
    """Answer an agent over the Model Context Protocol, at standard input and output.

    A program that a language model drives starts this command, and asks with its tools: the links
    and the text of a page, the questions of `arclink ask`, and SQL. They only read. The limits are
    those of `arclink serve`.
    """
    with extra("agents"):
        from arclink.service.agents.protocol import serve_agent
    from arclink.service.agents.tools import Tools
    from arclink.service.logs import set_up_logging
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


COMMANDS = {
    "mcp": (mcp_command, _MCP_EXAMPLES),
    "serve": (serve_command, _SERVE_EXAMPLES),
}
"""The commands of this module, with their examples, by name."""
