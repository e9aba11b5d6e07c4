"""URIs in a form that RDF allows (IRIs).

Real URIs break RDF: browsers keep ``|``, ``{``, ``}``, ``^`` and backticks, and captured URIs
contain spaces, single ``%`` signs and brackets. Characters that an IRI may not contain are
percent-encoded as UTF-8, separately in each part of the URI. All others are kept, so an ordinary
URI stays unchanged.
"""

import ipaddress
import re
from functools import cache, lru_cache

from arclink.access.queries import absolute_uri
from arclink.access.texts import percent_encoded

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PORT = re.compile(r"(.*?)(:[0-9]*)?", re.DOTALL)

# RFC 3987, section 2.2: iunreserved and sub-delims. Private use characters are legal in queries
# only and are encoded everywhere; so are the marks for writing direction, which section 4.1
# forbids.
_UCSCHAR = (
    "\xa0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    + "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
    + "\U000e1000-\U000efffd"
)
_KEPT = "A-Za-z0-9._~!$&'()*+,;="
_STRAY = "%(?![0-9A-Fa-f]{2})"

# What each part of a URI may contain besides _KEPT.
_HOST, _USERINFO, _PATH, _QUERY = "", ":", ":@/", ":@/?"


@lru_cache(maxsize=1 << 14)  # a link contains both its ends several times
def iri(uri: str) -> str:
    """Return ``uri`` as an absolute IRI; without a scheme, http is assumed.

    Characters that RDF does not allow are percent-encoded.

    Source: RFC 3987, section 2.2; RDF 1.1 Concepts, section 3.2.

    >>> iri("http://example.org/a|b?q={x}&r=é")
    'http://example.org/a%7Cb?q=%7Bx%7D&r=é'
    >>> iri("http://example.org/100%")
    'http://example.org/100%25'
    """
    text = uri if _SCHEME.match(uri) else absolute_uri(uri)
    scheme, _, rest = text.partition(":")
    rest, hash_sign, fragment = rest.partition("#")
    rest, question_mark, query = rest.partition("?")
    authority = ""
    if rest.startswith("//"):
        written, slash, path = rest[2:].partition("/")
        authority, rest = f"//{_authority(written)}", slash + path
    return "".join(
        (
            f"{scheme}:{authority}{_encoded(rest, _PATH)}",
            question_mark + _encoded(query, _QUERY),
            hash_sign + _encoded(fragment, _QUERY),
        )
    )


def _authority(authority: str) -> str:
    userinfo, at, host_and_port = authority.rpartition("@")
    host, port = _host_and_port(host_and_port)
    if not _is_ip_literal(host):
        host = _encoded(host, _HOST)
    return f"{_encoded(userinfo, _USERINFO)}{at}{host}{port}"


def _host_and_port(text: str) -> tuple[str, str]:
    """Return the host, and the port with its colon; a colon without a port belongs to the host."""
    parts = _PORT.fullmatch(text)
    return (text, "") if parts is None else (parts[1], parts[2] or "")


def _is_ip_literal(host: str) -> bool:
    if not (host.startswith("[") and host.endswith("]")):
        return False
    try:
        address = ipaddress.IPv6Address(host[1:-1])
    except ValueError:
        return False
    return address.scope_id is None


def _encoded(part: str, also: str) -> str:
    return _unfit(also, part.isascii()).sub(lambda match: percent_encoded(match[0]), part)


@cache
def _unfit(also: str, only_ascii: bool) -> re.Pattern[str]:
    """Return the pattern of what is encoded in a part of a URI.

    Compiling takes 3 ms with all characters outside ASCII, so it waits until a URI has one.
    """
    kept = _KEPT if only_ascii else _KEPT + _UCSCHAR
    return re.compile(f"{_STRAY}|[^%{also}{kept}-]")
