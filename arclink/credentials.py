"""Hides users and passwords in addresses, before these are shown."""

import re

_USER = re.compile(
    r"://(?:[^/?#\s'\"]*@"
    # A password may have characters that must be encoded; a port is no password.
    r"|[^/?#@:\s'\"]*:(?![0-9]{1,5}(?:[/?#,\s'\"]|$))\S*@)"
)


def hide_credentials(text: str) -> str:
    """Return a text in which each address has ``***`` in place of its user and password.

    `ArclinkError` does this for every message.

    >>> hide_credentials("s3://key:secret@bucket/a, http://host:80/b@c")
    's3://***@bucket/a, http://host:80/b@c'
    >>> hide_credentials("cassandra://me:pass/word@node/links")
    'cassandra://***@node/links'
    """
    return _USER.sub("://***@", text) if "@" in text else text
