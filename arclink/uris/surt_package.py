"""The SURT of any URI, by the ``surt`` package with the exceptions of `arclink.uris.surts`.

A module of its own, because most queries need no URI that is not plain, and the import of the
package takes longer than such a query.
"""

import re
import socket
from functools import partial

import ada_url

from arclink.extras import imported_lazily
from arclink.uris.hosts import Host, without_www

# The package needs it for registered domains only, which are not used here.
with imported_lazily("tldextract"):
    import surt  # type: ignore[import-untyped]
    from surt import GoogleURLCanonicalizer, IAURLCanonicalizer
    from surt.handyurl import handyurl  # type: ignore[import-untyped]

_NESTED_ESCAPE = re.compile(rb"%(?:25)+")
_ESCAPE_OR_UNSAFE = re.compile(rb"%([0-9A-Fa-f]{2})|[^!-~]|[#%]")
_DELIMITERS_IN_QUERY = frozenset(b"#%&+;=")
_DELIMITERS_IN_PATH = _DELIMITERS_IN_QUERY | frozenset(b"/?")
_NAME = re.compile(rb"[a-z0-9._-]+")


def canonical_surt(uri: str, *, as_package: bool) -> str | None:
    """Return the SURT of any URI, which may have characters unfit for a line; None if refused.

    Args:
        uri: Any text; it may be invalid as a URI.
        as_package: Apply the package's rules to all but the host, as for `cdx_key`.
    """
    canonicalizer = _canonicalize_as_package if as_package else _canonicalize
    try:
        key: str = surt.surt(uri, canonicalizer=canonicalizer)
    except Exception:  # the package raises AttributeError, AssertionError, ValueError and others
        return None
    return key


def _canonicalize(url: handyurl, **options: object) -> handyurl:
    """Canonicalise a URL with the exceptions of this module."""
    path, query = url.path, url.query
    url.path = url.query = None  # the package would undo every escape in them
    url = _with_plain_host(url, **options)
    if path:
        path = _ESCAPE_OR_UNSAFE.sub(partial(_normal_escape, _DELIMITERS_IN_PATH), path)
    url.path = GoogleURLCanonicalizer.normalizePath(path) if url.host else path
    if query:
        url.query = _ESCAPE_OR_UNSAFE.sub(partial(_normal_escape, _DELIMITERS_IN_QUERY), query)
    if url.host and url.scheme != b"dns":
        url.host = without_www(Host(url.host.decode("latin-1").lower())).encode("latin-1")
    return IAURLCanonicalizer.canonicalize(url, host_massage=False, **options)


def _canonicalize_as_package(url: handyurl, **options: object) -> handyurl:
    """Canonicalise a URL with the package's rules for all but its host."""
    url.path, url.query = _of_one_level(url.path), _of_one_level(url.query)
    return IAURLCanonicalizer.canonicalize(_with_plain_host(url, **options), **options)


def _with_plain_host(url: handyurl, **options: object) -> handyurl:
    """Canonicalise a URL, its host as in browsers and without the name service."""
    url.host = _as_browsers_do(_of_one_level(url.host))
    name = _numeric_name(url.host)
    if name is not None:
        url.host = b"name"
    url = GoogleURLCanonicalizer.canonicalize(url, **options)
    if name is not None:
        url.host = GoogleURLCanonicalizer.escapeOnce(name)
    return url


def _of_one_level(part: bytes | None) -> bytes | None:
    """Return a part of a URL with one level of escapes instead of several (``%2541``).

    The package undoes one level after the other: seconds for a trap of 64 KiB.
    """
    return _NESTED_ESCAPE.sub(b"%", part) if part and b"%2525" in part else part


def _normal_escape(delimiters: frozenset[int], found: re.Match[bytes]) -> bytes:
    """Return the normal form of an escape, or of a byte that needs one."""
    byte = int(found[1], 16) if found[1] else found[0][0]
    needs_escape = not 0x20 < byte < 0x7F or byte in delimiters
    return b"%%%02X" % byte if needs_escape else bytes((byte,))


def _as_browsers_do(host: bytes | None) -> bytes | None:
    """Return a name with characters outside ASCII in Punycode; any other host unchanged.

    So is a name that browsers refuse.
    """
    if not host:
        return host
    name: bytes = GoogleURLCanonicalizer.unescapeRepeatedly(host)
    if name.isascii():
        return host
    found: bytes = ada_url.idna_to_ascii(name.decode("utf-8", "ignore"))
    return found if _NAME.fullmatch(found) else host


def _numeric_name(host: bytes | None) -> bytes | None:
    """Return a host that only looks like an address (``256.1.1.1``), in the package's spelling.

    The package would take it for an address. None for any other host.
    """
    if not host:
        return None
    name: bytes = GoogleURLCanonicalizer.unescapeRepeatedly(host)
    if not name.isascii():
        try:
            name = name.decode("utf-8", "ignore").encode("idna")
        except ValueError:
            return None
    name = name.replace(b"..", b".").strip(b".")
    if name.isdigit() or not (
        GoogleURLCanonicalizer.DECIMAL_IP.match(name) or GoogleURLCanonicalizer.OCTAL_IP.match(name)
    ):
        return None
    try:
        socket.inet_aton(name.decode("ascii"))
    except OSError:
        return name
    return None
