"""What opens an HDFS over HTTP: delegation tokens, and the addresses of its NameNodes.

Addresses are in the address itself (``webhdfs://namenode:9870/path``), in the variable
``ARCLINK_WEBHDFS``, or in Hadoop's own settings, which also name highly available NameNodes.

Source: https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/HDFSHighAvailabilityWithQJM.html
"""

import base64
import os
from collections.abc import Mapping
from typing import NamedTuple
from xml.etree import ElementTree

from arclink.errors import InputError
from arclink.network.addresses import names_of, parse_server_address

# Delegation tokens: what a secured cluster accepts in place of a Kerberos ticket.
#
# YARN gives each task of a secured cluster a file of tokens, and renews them. A client with a
# ticket gets a token from the NameNode. A token is a secret: it is sent to servers of HDFS only,
# and written nowhere.
#
# Sources: ``org.apache.hadoop.security.Credentials`` and ``Token`` (the file), RFC 4559 (tickets
# over HTTP), https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html

TOKEN_FILE = "HADOOP_TOKEN_FILE_LOCATION"
"""The environment variable with the path of a file of tokens; YARN sets it for tasks."""

KINDS = ("SWEBHDFS delegation", "WEBHDFS delegation", "HDFS_DELEGATION_TOKEN")
"""The kinds of tokens that a NameNode accepts over HTTP; it makes all of them in the same way."""

HOW = (
    "run kinit (or name a keytab in KRB5_CLIENT_KTNAME), or get tokens with hdfs fetchdt and name "
    f"their file in {TOKEN_FILE}"
)
"""How a user becomes known to a secured cluster."""

_MAGIC = b"HDTS"
_SPNEGO = "1.3.6.1.5.5.2"


class Token(NamedTuple):
    """A token of a file.

    Attributes:
        kind: Its kind, such as those in `KINDS`.
        service: The server that it is for, ``HOST:PORT`` or a name.
        text: The token as a parameter of a URL.
    """

    kind: str
    service: str
    text: str


class _Fields:
    """Reads the fields of a token file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def taken(self, size: int) -> bytes:
        """Return the next bytes.

        Raises:
            ValueError: The data has fewer bytes.
        """
        start, self.position = self.position, self.position + size
        if not 0 <= size <= len(self.data) - start:
            raise ValueError("truncated")
        return self.data[start : self.position]

    def number(self) -> int:
        """Return the next number (``WritableUtils.readVInt``; those in the file are positive)."""
        first = int.from_bytes(self.taken(1), signed=True)
        return first if first >= -112 else int.from_bytes(self.taken(-112 - first))

    def sized(self) -> bytes:
        """Return the next bytes that follow their number."""
        return self.taken(self.number())


def parse_tokens(data: bytes) -> list[Token]:
    """Return the tokens of a file.

    Raises:
        ValueError: The file is of another kind or version, or truncated.
    """
    fields = _Fields(data)
    if fields.taken(len(_MAGIC)) != _MAGIC:
        raise ValueError("not a file of Hadoop tokens")
    if fields.taken(1) != b"\0":
        raise ValueError("tokens as protobuf; write them with: hadoop dtutil -format java")
    tokens = []
    for _ in range(fields.number()):
        fields.sized()  # the alias
        start = fields.position
        fields.sized()  # what the token says
        fields.sized()  # its password
        kind, service = fields.sized().decode(), fields.sized().decode()
        written = base64.urlsafe_b64encode(data[start : fields.position]).decode().rstrip("=")
        tokens.append(Token(kind, service, written))
    return tokens


def read_token(host: str) -> str | None:
    """Return the token for a NameNode from the file that `TOKEN_FILE` names.

    A token for the host comes first; with highly available NameNodes, tokens name no host.

    Args:
        host: Host of the NameNode.

    Returns:
        None without the variable, or if the file has no token for HDFS.

    Raises:
        InputError: The file cannot be read.
    """
    path = os.environ.get(TOKEN_FILE)
    if not path:
        return None
    try:
        with open(path, "rb") as file:
            tokens = [token for token in parse_tokens(file.read()) if token.kind in KINDS]
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} ({TOKEN_FILE}) has no tokens that can be read: {error}"
        ) from error
    names = names_of(host)
    tokens.sort(key=lambda token: token.service.rpartition(":")[0] not in names)
    return tokens[0].text if tokens else None


def ticket_header(host: str) -> str:
    """Return the value of ``Authorization`` that shows a server the user's Kerberos ticket.

    Args:
        host: Host of the server, whose principal is ``HTTP/HOST``.

    Raises:
        InputError: There is no ticket, or the package gssapi is not installed.
    """
    try:
        import gssapi
    except (ImportError, OSError) as error:
        raise InputError(
            f"{host} requires Kerberos: pip install 'arclink[kerberos]' and run kinit, or get "
            f"tokens with hdfs fetchdt and name their file in {TOKEN_FILE} ({error})"
        ) from error
    try:
        # SPNEGO does not say what is wrong with a ticket; Kerberos alone does.
        gssapi.Credentials(usage="initiate", mechs=[gssapi.MechType.kerberos])
        context = gssapi.SecurityContext(
            name=gssapi.Name(f"HTTP@{host}", gssapi.NameType.hostbased_service),
            mech=gssapi.OID.from_int_seq(_SPNEGO),
            usage="initiate",
        )
        shown = context.step() or b""
    except gssapi.exceptions.GSSError as error:
        raise InputError(
            f"{host} requires Kerberos, and there is no ticket for it: {HOW} ({error})"
        ) from error
    return f"Negotiate {base64.b64encode(shown).decode()}"


ADDRESS = "ARCLINK_WEBHDFS"
"""The environment variable with the HTTP addresses of the NameNodes, separated by commas."""

SETTINGS = "HADOOP_CONF_DIR"
"""The environment variable with the folder of Hadoop's settings."""

_ENCRYPTED = ("https", "swebhdfs")
_PORTS = {False: 9870, True: 9871}
"""Hadoop's ports for HTTP, and with encryption."""


def uses_webhdfs(location: str) -> bool:
    """Return whether a location is in HDFS and is read over HTTP.

    If no HTTP address of a NameNode is known, fsspec's driver reads ``hdfs://``.
    """
    scheme = location.partition("://")[0].lower()
    return scheme in ("webhdfs", "swebhdfs") or (
        scheme == "hdfs" and bool(os.environ.get(ADDRESS) or _configured(_authority(location)))
    )


def known_name_nodes() -> str:
    """Return the HTTP addresses of the NameNodes of the default HDFS, as in `ADDRESS`, if known."""
    return os.environ.get(ADDRESS) or ",".join(_configured(""))


def name_nodes(url: str) -> tuple[str, ...]:
    """Return the HTTP addresses of the NameNodes for an address; the first one is asked first.

    Raises:
        InputError: It is no address; or it begins with ``hdfs://``, and neither the variable nor
            Hadoop's settings have the HTTP address of its NameNode.
    """
    authority = _authority(url)
    if url.partition("://")[0].lower() == "hdfs":
        named = os.environ.get(ADDRESS, "")
        addresses = [part for part in map(str.strip, named.split(",")) if part]
        addresses = addresses or _configured(authority)
    else:
        named = ""
        addresses = _highly_available(_settings(), authority) or [url]
    try:
        if not addresses:
            raise ValueError("it is not set")
        return tuple(map(_http_address, addresses))
    except ValueError as error:
        if named or not addresses:
            wrong = f"{ADDRESS} is not the HTTP address of its NameNode ({error})"
            advice = f"set it to one such as http://namenode:9870, or {SETTINGS} to the folder"
            raise InputError(f"{url}: {wrong}; {advice} of Hadoop's settings") from error
        advice = "use webhdfs://namenode:9870/path"
        raise InputError(f"{url}: not an address: {error}; {advice}") from error


def _http_address(text: str) -> str:
    address = parse_server_address(text)
    is_encrypted = address.scheme in _ENCRYPTED
    port = address.port or _PORTS[is_encrypted]
    return f"http{'s' if is_encrypted else ''}://{address.host}:{port}"


def _authority(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


def _configured(authority: str) -> list[str]:
    """Return the HTTP addresses that Hadoop's settings have for the authority of an address.

    An address without authority means the file system that the settings name as the default.
    """
    settings = _settings()
    default = _authority(settings.get("fs.defaultFS", ""))
    if found := _highly_available(settings, authority or default):
        return found
    if authority in ("", default) and settings.get("fs.defaultFS", "").startswith("hdfs://"):
        return [address] if (address := _address_in(settings, "")) else []
    return []


def _highly_available(settings: Mapping[str, str], service: str) -> list[str]:
    """Return the HTTP addresses of the NameNodes of a name service; empty for other names."""
    names = settings.get(f"dfs.ha.namenodes.{service}", "").split(",") if service else []
    found = (_address_in(settings, f".{service}.{name.strip()}") for name in names if name.strip())
    return [address for address in found if address]


def _address_in(settings: Mapping[str, str], suffix: str) -> str:
    is_encrypted = settings.get("dfs.http.policy", "") == "HTTPS_ONLY"
    scheme = "https" if is_encrypted else "http"
    address = settings.get(f"dfs.namenode.{scheme}-address{suffix}", "")
    # Hadoop's default is an address for listening only.
    return f"{scheme}://{address}" if address and not address.startswith("0.0.0.0") else ""


def _settings() -> Mapping[str, str]:
    """Return the properties in Hadoop's settings for HDFS; empty if their folder is not known.

    Raises:
        InputError: A file is not XML.
    """
    folder = os.environ.get(SETTINGS)
    found: dict[str, str] = {}
    for name in ("core-site.xml", "hdfs-site.xml") if folder else ():
        path = os.path.join(folder or "", name)
        try:
            properties = ElementTree.parse(path).getroot().iter("property")
        except OSError:
            continue
        except ElementTree.ParseError as error:
            raise InputError(f"{path}: not a file of Hadoop's settings: {error}") from error
        for property_ in properties:
            found[(property_.findtext("name") or "").strip()] = (
                property_.findtext("value") or ""
            ).strip()
    return found
