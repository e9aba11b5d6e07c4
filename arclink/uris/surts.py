r"""The key under which variants of a URI meet: its SURT, by the rules of the ``surt`` package.

Strategy: the package takes 15 to 30 µs. A *plain* URI is cut in two: what stands before its path goes to the package
once per site (``http://www.h.org:80`` → ``org,h)``), and what the package does to a plain path and query is done here in a
few string operations. Everything else goes to the package. Tests hold both against each other.

Two rules are ours. The package asks the name service for hosts such as ``256.1.1.1``; a key must not depend on its
answer, so such a host is a name here. And a SURT never holds a control character, a line separator or a lone surrogate,
whatever the URI holds: it stands in tab-separated lines.
"""

import re
import socket
from collections.abc import Callable
from functools import lru_cache

from arclink.errors import UriError
from arclink.lazily import imported_lazily
from arclink.model import Surt
from arclink.native import native
from arclink.reasons import Reason

with imported_lazily("tldextract"):  # for registered domains, which are not asked for here; it takes half of all start-up
    import surt  # type: ignore[import-untyped]
    from surt import GoogleURLCanonicalizer, IAURLCanonicalizer
    from surt.handyurl import handyurl  # type: ignore[import-untyped]

_OF_ARCHIVES = frozenset({"dns", "filedesc", "metadata", "urn", "warcinfo", "whois"})
_OF_PAGES = frozenset(
    {"about", "callto", "data", "fax", "geo", "javascript", "magnet", "mailto", "news", "sip", "skype", "sms", "tel", "xmpp"}
)

OPAQUE_SCHEMES = _OF_ARCHIVES | _OF_PAGES
"""Schemes that a query writes without ``//``; any other name before a colon is a host, and a port follows."""

_SCHEMES_OF_HOSTS = frozenset({"ftp", "http", "https"})

# Printable ASCII: of a site without # / ?, of a path without # % ?, of a query without # %.
_SITE, _PATH, _QUERY = r"[!\"$-.0->@-~]", r"[!\"$&->@-~]", r"[!\"$&-~]"

# The package undoes escapes until none is left. Without %25, and with no % that begins none, once is enough.
_ESCAPE = "%(?!25)[0-9A-Fa-f]{2}"

_plain = re.compile(
    rf"(https?://{_SITE}{{1,255}})(/{_PATH}*(?:{_ESCAPE}{_PATH}*)*)?(?:\?({_QUERY}*(?:{_ESCAPE}{_QUERY}*)*))?(?:\#[!-~]*)?"
).fullmatch

_LOWER_ESCAPE = re.compile("%[0-9a-f]{2}")
_UNESCAPED = {f"%{byte:02x}": chr(byte).lower() if 0x20 < byte < 0x7F and byte not in b"#%" else f"%{byte:02x}" for byte in range(256)}
"""What an escape is in a SURT: the sign itself where the package does not escape it."""

_NESTED_ESCAPE = re.compile("%(?:25)+")
_SLASHES = re.compile("//+")
# A label that is longer is none to the package; and "www.com" is "com" to it.
_PLAIN_SITE = re.compile(r"https?://(?:www[0-9]*\.)?((?:(?!www[0-9]*\.)[a-z0-9_-]{1,63}\.)(?:[a-z0-9_-]{1,63}\.)*[a-z]{2,63})")
_REPEATED_SCHEME = re.compile("https?://https?:")
_WRITTEN_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?")
_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#]*@)?([^/?#:]*)")
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNFIT_OR_BLANK = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")


def surt_of(uri: str) -> Surt:
    """Return the SURT of a URI, or the URI as its own key if the package refuses it.

    In such a key blanks, control characters, line separators and lone surrogates are percent-encoded.

    >>> surt_of("https://www.Example.org/A/?b=2&a=1"), surt_of("http://example.org:99999/")
    ('org,example)/a?a=1&b=2', 'http://example.org:99999/')
    """
    key = surt_or_none(uri)
    return Surt(_UNFIT_OR_BLANK.sub(_escape, uri)) if key is None else key


def surt_or_none(uri: str) -> Surt | None:
    """Return the SURT of a URI; None if the package refuses it, so that it can be counted.

    Equal to the package's but for hosts that it would ask the name service for, and for ``filedesc`` URIs with control
    characters, which are percent-encoded. The empty URI has the SURT ``-``.

    Args:
        uri: Any text; never trusted to be a URI.
    """
    key = _plain_surt(uri, _stem)
    if key is not None:
        return Surt(key)
    return _by_package(uri)


def surt_of_query(text: str) -> Surt:
    """Return the SURT that a person asks for: ``http://`` may be missing, also before a host with port.

    Raises:
        UriError: The text is no URI: empty, blanks only, with a control character, or without a valid host.

    >>> surt_of_query("example.org:8080/x"), surt_of_query("mailto:a@example.org")
    ('org,example:8080)/x', 'mailto:a@example.org')
    """
    text = text.strip()
    if not text:
        raise UriError(Reason.LINK_INVALID, "the URI is empty")
    if _UNFIT.search(text):
        raise UriError(Reason.LINK_INVALID, f"the URI holds a control character: {text[:200]!a}")
    uri = _with_scheme(text)
    host = _HOST.match(uri)
    if host and (not host[1] or host[1] != "".join(host[1].split())):
        raise UriError(Reason.LINK_INVALID, f"the URI has no valid host: {text[:200]!a}")
    return surt_of(uri)


def _with_scheme(text: str) -> str:
    written = _WRITTEN_SCHEME.match(text)
    if written is None:
        return "http://" + text.lstrip("/")
    scheme, rest = written[1].lower(), text[written.end() :]
    if written[2]:
        return f"{scheme}://{rest}"
    if scheme in _SCHEMES_OF_HOSTS:
        return f"{scheme}://{rest.lstrip('/')}"
    return f"{scheme}:{rest}" if scheme in OPAQUE_SCHEMES else f"http://{text}"


@native
def _plain_surt(uri: str, stem_of: Callable[[str], str]) -> str | None:
    """Return the SURT of a plain URI; None for any other.

    Args:
        uri: Any text.
        stem_of: As `_stem`.
    """
    match = _plain(uri)
    if match is None:
        return None
    site, path, query = match.groups()
    stem = stem_of(site)
    path = "/" if path is None else _unescape(path.lower())
    query = _unescape(query.lower()) if query else ""
    if not stem or _has_dots_or_session(path, query):
        return None
    key = stem + _folded_path(path)
    return f"{key}?{_sorted_query(query)}" if query else key


def _unescape(text: str) -> str:
    return _LOWER_ESCAPE.sub(lambda escape: _UNESCAPED[escape[0]], text) if "%" in text else text


def _has_dots_or_session(path: str, query: str) -> bool:
    """Return whether a path or query, lower case and unescaped, may hold what the package takes out by rules of its own."""
    if "/." in path or ("(" in path and ".aspx" in path):
        return True
    return "id" in query and ("sid=" in query or "sessionid" in query or "cfid=" in query)


def _folded_path(path: str) -> str:
    """Return a path without repeated slashes and without the one at its end."""
    if "//" in path:
        path = _SLASHES.sub("/", path)
    return path[:-1] if path[-1] == "/" and path != "/" else path


def _sorted_query(query: str) -> str:
    """Return a query with its parameters sorted by name, then value; ``a`` stands before ``a=``."""
    if "&" not in query:
        return query
    return "&".join(sorted(query.split("&"), key=lambda parameter: parameter.split("=", 1)))


@lru_cache(maxsize=1 << 15)
def _stem(site: str) -> str:
    """Return what the SURTs of a site (``http://host:port``) begin with; empty where the path has a say in it."""
    plain = _PLAIN_SITE.fullmatch(site)
    if plain is not None:
        return ",".join(reversed(plain[1].split("."))) + ")"
    if _REPEATED_SCHEME.fullmatch(site):  # http://http://h/ is http://h/ to the package
        return ""
    key = _by_package(site + "/")
    return key[:-1] if key is not None and key.endswith(")/") else ""


def _by_package(uri: str) -> Surt | None:
    if "%2525" in uri and not uri.startswith("filedesc"):
        # The package undoes one level after the other: seconds for a trap of 64 KiB. All at once is the same.
        uri = _NESTED_ESCAPE.sub("%", uri)
    try:
        key: str = surt.surt(uri, canonicalizer=_canonicalize)
    except Exception:  # it has no error of its own: AttributeError, AssertionError, ValueError and others come out of it
        return None
    return Surt(_UNFIT.sub(_escape, key))


def _canonicalize(url: handyurl, **options: object) -> handyurl:
    """Do what the package does by default, but never ask the name service."""
    name = _numeric_name(url.host)
    if name is not None:
        url.host = b"name"
    url = GoogleURLCanonicalizer.canonicalize(url, **options)
    if name is not None:
        url.host = GoogleURLCanonicalizer.escapeOnce(name)
    return IAURLCanonicalizer.canonicalize(url, **options)


def _numeric_name(host: bytes | None) -> bytes | None:
    """Return a host that the package takes for an address, when it is none (``256.1.1.1``), as the package spells it."""
    if not host:
        return None
    name: bytes = GoogleURLCanonicalizer.unescapeRepeatedly(host)
    if not name.isascii():
        try:
            name = name.decode("utf-8", "ignore").encode("idna")
        except ValueError:
            return None
    name = name.replace(b"..", b".").strip(b".")
    if name.isdigit() or not (GoogleURLCanonicalizer.DECIMAL_IP.match(name) or GoogleURLCanonicalizer.OCTAL_IP.match(name)):
        return None
    try:
        socket.inet_aton(name.decode("ascii"))
    except OSError:
        return name
    return None


def _escape(unfit: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in unfit[0].encode("utf-8", "surrogatepass"))
