"""Delegation tokens: what a secured cluster accepts in place of a Kerberos ticket.

YARN gives each task of a secured cluster a file of tokens, and renews them. A client with a ticket
gets a token from the NameNode. A token is a secret: it is sent to servers of HDFS only, and written
nowhere.

Sources: ``org.apache.hadoop.security.Credentials`` and ``Token`` (the file), RFC 4559 (tickets over
HTTP), https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html
"""

import base64
import os
from typing import NamedTuple

from arclink.errors import InputError
from arclink.network.addresses import names_of

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
