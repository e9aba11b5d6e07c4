r"""The key that all variants of a URI share: its SURT, by the rules of the ``surt`` package.

Strategy: the package takes 15 to 30 µs per URI. The scanner ``arclink/native/surts.pyx`` splits a
*plain* URI. It passes the part before the path to the package once per site
(``http://www.h.org:80`` → ``org,h)``), and applies the package's rules to a plain path and query
itself. All other URIs go to the package, and so does every URI if the scanner is not compiled.
Tests compare the two.

Three rules are ArcLink's own. The package queries the name service of the network for hosts such as
``256.1.1.1``. A key must not depend on its answer, so ArcLink treats such a host as a name. The
package follows IDNA 2003, and browsers follow the URL Standard ("domain to ASCII"): the target of a
link to ``straße.example`` would have another key than the page, and names in newer scripts would
have no key of their own. And a SURT never contains a control character, a line separator or a lone
surrogate, whatever the URI contains, because it is written to tab-separated lines.
"""

import re
import socket
from collections.abc import Callable
from functools import lru_cache

import ada_url

from arclink.errors import UriError
from arclink.lazy_imports import imported_lazily
from arclink.model import Surt
from arclink.native import native
from arclink.reasons import Reason
from arclink.uris.methods import METHOD_PATTERN, key_of_answer, method_asked

with imported_lazily(
    "tldextract"
):  # surt needs it for registered domains only, unused here; its import is half of the start-up
    import surt  # type: ignore[import-untyped]
    from surt import GoogleURLCanonicalizer, IAURLCanonicalizer
    from surt.handyurl import handyurl  # type: ignore[import-untyped]

_OF_ARCHIVES = frozenset({"dns", "filedesc", "metadata", "urn", "warcinfo", "whois"})
_OF_PAGES = frozenset(
    {
        "about",
        "callto",
        "data",
        "fax",
        "geo",
        "javascript",
        "magnet",
        "mailto",
        "news",
        "sip",
        "skype",
        "sms",
        "tel",
        "xmpp",
    }
)

OPAQUE_SCHEMES = _OF_ARCHIVES | _OF_PAGES
"""Schemes that a query writes without ``//``.

Any other name before a colon is a host, and the colon is followed by a port.
"""

_SCHEMES_OF_HOSTS = frozenset({"ftp", "http", "https"})

_NESTED_ESCAPE = re.compile("%(?:25)+")
# The package accepts no longer labels, and reduces "www.com" to "com".
_PLAIN_SITE = re.compile(
    r"https?://(?:www[0-9]*\.)?((?:(?!www[0-9]*\.)[a-z0-9_-]{1,63}\.)(?:[a-z0-9_-]{1,63}\.)*[a-z]{2,63})"
)
_REPEATED_SCHEME = re.compile("https?://https?:")
_WRITTEN_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?")
_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#]*@)?([^/?#:]*)")
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NAME = re.compile(rb"[a-z0-9._-]+")
_UNFIT_OR_BLANK = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")


def _query_pattern() -> str:
    """Return the regular expression of all texts that `surt_of_query` can read."""
    unfit = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
    blank = r" \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
    host = rf"(?:[^/?#{unfit}]*@)?[^/?#:@{blank}{unfit}]+(?::[^/?#@{unfit}]*)?"
    rest = rf"{host}(?:[/?#][^{unfit}]*)?"
    opaque = "|".join(map(_in_any_case, sorted(OPAQUE_SCHEMES)))
    of_hosts = "|".join(map(_in_any_case, sorted(_SCHEMES_OF_HOSTS)))
    scheme = "[A-Za-z][A-Za-z0-9+.-]*"
    forms = (
        f"{METHOD_PATTERN}{scheme}://{rest}",
        f"(?:{of_hosts}):(?!//)/?{rest}",
        rf"(?:{opaque}):(?!//)[^{unfit}]*",
        f"(?!{scheme}://)(?!(?:{of_hosts}|{opaque}):)/*{rest}",
    )
    return f"[{blank}]*(?:{'|'.join(forms)})[{blank}]*"


def _in_any_case(word: str) -> str:
    return "".join(f"[{sign.upper()}{sign}]" if sign.isalpha() else sign for sign in word)


QUERY_PATTERN = _query_pattern()
"""Matches exactly the texts that `surt_of_query` reads, in Python and in ECMAScript."""


def surt_of(uri: str) -> Surt:
    """Return the SURT of a URI, or the URI as its own key if the package refuses it.

    In such a key, blanks, control characters, line separators and lone surrogates are
    percent-encoded.

    >>> surt_of("https://www.Example.org/A/?b=2&a=1"), surt_of("http://example.org:99999/")
    ('org,example)/a?a=1&b=2', 'http://example.org:99999/')
    """
    key = surt_or_none(uri)
    return Surt(_UNFIT_OR_BLANK.sub(_escape, uri)) if key is None else key


def surt_or_none(uri: str) -> Surt | None:
    """Return the SURT of a URI; None if the package refuses it, so that it can be counted.

    The result is equal to the package's, except for hosts for which the package would ask the name
    service, and for ``filedesc`` URIs with control characters, which are percent-encoded. The empty
    URI has the SURT ``-``.

    Args:
        uri: Any text; it may be invalid as a URI.
    """
    key = plain_surt(uri, _stem)
    if key is not None:
        return Surt(key)
    return _by_package(uri)


def surt_of_query(text: str) -> Surt:
    """Return the SURT of a URI that a person wrote.

    ``http://`` may be missing, also before a host with port. A method before a whole URI names the
    captures that answer it (`arclink.uris.methods`).

    Raises:
        UriError: The text is not a URI: empty, blanks only, with a control character, or without a
            valid host.

    >>> surt_of_query("example.org:8080/x"), surt_of_query("mailto:a@example.org")
    ('org,example:8080)/x', 'mailto:a@example.org')
    >>> surt_of_query("POST http://example.org/form")
    'org,example)/form POST'
    """
    method, text = method_asked(text.strip())
    if not text:
        raise UriError(Reason.LINK_INVALID, "the URI is empty")
    if _UNFIT.search(text):
        raise UriError(Reason.LINK_INVALID, f"the URI has a control character: {text[:200]!a}")
    uri = _with_scheme(text)
    host = _HOST.match(uri)
    if host and (not host[1] or host[1] != "".join(host[1].split())):
        raise UriError(Reason.LINK_INVALID, f"the URI has no valid host: {text[:200]!a}")
    return key_of_answer(surt_of(uri), method)


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


@native("surts")
def plain_surt(uri: str, stem_of: Callable[[str], str]) -> str | None:
    """Return the SURT of a plain URI; None for any other URI.

    Without the compiled module, no URI is plain.

    Args:
        uri: Any text.
        stem_of: The function `_stem`.
    """
    return None


@lru_cache(maxsize=1 << 15)
def _stem(site: str) -> str:
    """Return the common beginning of a site's SURTs; empty if it depends on the path.

    A site is ``http://host:port``.
    """
    plain = _PLAIN_SITE.fullmatch(site)
    if plain is not None:
        return ",".join(reversed(plain[1].split("."))) + ")"
    if _REPEATED_SCHEME.fullmatch(site):  # the package reads http://http://h/ as http://h/
        return ""
    key = _by_package(site + "/")
    return key[:-1] if key is not None and key.endswith(")/") else ""


def _by_package(uri: str) -> Surt | None:
    if "%2525" in uri and not uri.startswith("filedesc"):
        # The package undoes one level after the other: seconds for a trap of 64 KiB.
        # Undoing all levels at once gives the same result.
        uri = _NESTED_ESCAPE.sub("%", uri)
    try:
        key: str = surt.surt(uri, canonicalizer=_canonicalize)
    except Exception:  # the package raises AttributeError, AssertionError, ValueError and others
        return None
    return Surt(_UNFIT.sub(_escape, key))


def _canonicalize(url: handyurl, **options: object) -> handyurl:
    """Canonicalise a URL with the package's defaults, but as browsers do, and without name service.

    What browsers do differently is in `_as_browsers_do`.
    """
    url.host = _as_browsers_do(url.host)
    name = _numeric_name(url.host)
    if name is not None:
        url.host = b"name"
    url = GoogleURLCanonicalizer.canonicalize(url, **options)
    if name is not None:
        url.host = GoogleURLCanonicalizer.escapeOnce(name)
    return IAURLCanonicalizer.canonicalize(url, **options)


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


def _escape(unfit: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in unfit[0].encode("utf-8", "surrogatepass"))
