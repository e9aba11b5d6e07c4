"""Parses the URL of a store: ``cassandra://host,host:port/keyspace?consistency=…``. Pure values."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from arclink.errors import UsageError

SCHEME = "cassandra://"
PORT = 9042
CONSISTENCIES = ("ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE")
OPTIONS = "consistency, replication, timeout, patience, loaders, datacenter, tls, certificate, key"
PATIENCE = 120.0
_EXAMPLE = "cassandra://node1,node2:9042/arclink?consistency=LOCAL_QUORUM"
_KEYSPACE = re.compile(r"[A-Za-z]\w{0,47}", re.ASCII)
_DATACENTER = re.compile(r"[\w.-]+")
_REPLICATION = re.compile(r"\d+|[\w.-]+:\d+(,[\w.-]+:\d+)*")


@dataclass(frozen=True, slots=True)
class Address:
    """The location of a store, and the settings for talking to it.

    Attributes:
        hosts: Nodes to contact first; the others are found through them.
        port: The same on all nodes.
        keyspace: Lower case, as Cassandra stores names without quotes.
        user: For clusters with authentication; the password is in ``ARCLINK_CASSANDRA_PASSWORD``.
            Empty for none.
        consistency: Consistency level of reads and writes.
        replication: ``3``, or ``dc1:3,dc2:2``; used when the keyspace is created.
        timeout: Seconds that one request may take.
        patience: Seconds after which a repeated request is given up.
        loaders: Processes that load a batch; 0 for the number that a build may use, or one per
            processor.
        datacenter: Datacenter whose nodes are used; empty for that of the first node that answers.
        tls: ``system``, or a file with the certificates that nodes are trusted by (PEM); empty for
            an unencrypted connection.
        certificate: File with the certificate that this side shows to nodes (PEM); empty for none.
        key: File with the private key of that certificate (PEM); empty if it is in the same file.
            Its password is in ``ARCLINK_CASSANDRA_KEY_PASSWORD``.
    """

    hosts: tuple[str, ...]
    port: int
    keyspace: str
    user: str = ""
    consistency: str = "QUORUM"
    replication: str = "1"
    timeout: float = 20.0
    patience: float = PATIENCE
    loaders: int = 0
    datacenter: str = ""
    tls: str = ""
    certificate: str = ""
    key: str = ""

    @property
    def name(self) -> str:
        """The name of the store in messages: its URL without options and user."""
        return f"{SCHEME}{','.join(self.hosts)}:{self.port}/{self.keyspace}"

    @property
    def url(self) -> str:
        """The URL that `parse_address` parses to this address.

        >>> address = parse_address("cassandra://me@a,b/links?timeout=5&datacenter=dc1")
        >>> parse_address(address.url) == address
        True
        """
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        options = {name: getattr(self, name) for name in OPTIONS.split(", ")}
        given = urlencode({name: value for name, value in options.items() if value})
        return f"{SCHEME}{user}{','.join(self.hosts)}:{self.port}/{self.keyspace}?{given}"


def parse_address(where: str, patience: float = PATIENCE) -> Address:
    """Return the address that a URL describes.

    Args:
        where: The URL.
        patience: Value for a URL without that option.

    Raises:
        UsageError: The URL is not valid; the text names the wrong part.

    >>> parse_address("cassandra://10.0.0.1,10.0.0.2:9043/Links?consistency=one&replication=3").name
    'cassandra://10.0.0.1,10.0.0.2:9043/links'
    """
    try:
        return _parsed(where, patience)
    except ValueError as error:
        raise UsageError(f"--store {where}: {error}. A URL is like {_EXAMPLE}") from error


def _parsed(where: str, patience: float) -> Address:
    parts = urlsplit(where)
    userinfo, separator, hosts = parts.netloc.rpartition("@")
    user, colon, _ = userinfo.partition(":")
    if colon or "@" in parts.path:  # a password may have a slash
        raise ValueError(
            "a password in the URL would appear in logs; set ARCLINK_CASSANDRA_PASSWORD"
        )
    if separator and not user:
        raise ValueError("no user before the @")
    named = [_host_and_port(host) for host in hosts.split(",")]
    ports = {port for _, port in named if port is not None}
    if len(ports) > 1:
        raise ValueError(
            f"all nodes of a cluster must use the same port, but the URL has {len(ports)}"
        )
    keyspace = parts.path.removeprefix("/")
    if not _KEYSPACE.fullmatch(keyspace):
        raise ValueError(
            f"{keyspace!r} is not a keyspace name: a letter, then letters, digits and _, 48 "
            "characters at most"
        )
    given = {"patience": patience, **_options(parts.query)}
    for name, needed in (("certificate", "tls"), ("key", "certificate")):
        if name in given and needed not in given:
            raise ValueError(f"{name}=… is used together with {needed}=…")
    return Address(
        tuple(host for host, _ in named),
        ports.pop() if ports else PORT,
        keyspace.lower(),
        unquote(user),
        **given,  # type: ignore[arg-type]
    )


def _host_and_port(text: str) -> tuple[str, int | None]:
    host, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        host = text
    if not host.strip("[]") or (":" in host and not host.startswith("[")):
        raise ValueError(f"{text!r} is not a host")
    if colon and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"{port!r} is not a port")
    return host.strip("[]"), int(port) if colon else None


def _options(query: str) -> dict[str, object]:
    options: dict[str, object] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name == "consistency" and value.upper() in CONSISTENCIES:
            options[name] = value.upper()
        elif (name == "replication" and _REPLICATION.fullmatch(value)) or (
            name == "datacenter" and _DATACENTER.fullmatch(value)
        ):
            options[name] = value
        elif (
            name in ("timeout", "patience") and re.fullmatch(r"\d+(\.\d+)?", value) and float(value)
        ):
            options[name] = float(value)
        elif name in ("tls", "certificate", "key") and value:
            options[name] = value
        elif name == "loaders" and value.isascii() and value.isdigit():
            options[name] = int(value)
        elif name in OPTIONS.split(", "):
            allowed = f"; one of {', '.join(CONSISTENCIES)}" if name == "consistency" else ""
            raise ValueError(f"{name}={value!r} cannot be{allowed}")
        else:
            raise ValueError(f"unknown option {name!r}; the options are {OPTIONS}")
    return options


def replication_map(replication: str) -> str:
    """Return the CQL map of a keyspace's replication.

    >>> replication_map("dc1:3,dc2:2")
    "{'class': 'NetworkTopologyStrategy', 'dc1': 3, 'dc2': 2}"
    """
    parts = [part.rpartition(":") for part in replication.split(",")]
    return (
        "{"
        + ", ".join(
            [
                "'class': 'NetworkTopologyStrategy'",
                *(f"'{name or 'replication_factor'}': {replicas}" for name, _, replicas in parts),
            ]
        )
        + "}"
    )
