"""The key that all variants of a URI share: its SURT.

Strategy: the ``surt`` package takes 15 to 30 µs per URI. The scanner ``arclink/native/surts.pyx``
splits a *plain* URI. It passes the part before the path to the package once per site
(``http://www.h.org:80`` → ``org,h)``), and applies the rules below to a plain path and query
itself. All other URIs go to the package with these rules, and so does every URI if the scanner is
not compiled. Tests compare the two.

The rules are those of the package, with these exceptions (``docs/decisions/20261125-keys.md``). The
first three are also in `cdx_key`, the last three are not. A change of a rule gives URIs other keys:
it needs a new number in `arclink.store.layouts`.

- *No name service*: the package queries the network for hosts such as ``256.1.1.1``. A key must not
  depend on its answer, so such a host is a name.
- *Names as in browsers*: the package follows IDNA 2003, and browsers follow the URL Standard
  ("domain to ASCII"): the target of a link to ``straße.example`` would have another key than the
  page, and names in newer scripts would have no key of their own.
- *One line*: a SURT never contains a control character, a line separator or a lone surrogate,
  whatever the URI contains, because it is written to tab-separated lines.
- *Registered domains keep their name*: ``www``, ``www2`` and so on are removed only before a host
  name that is not a public suffix. The package gives ``www3288.com`` the key ``com)/``.
- *Delimiters keep their meaning*: an escaped delimiter is not the delimiter (RFC 3986, section
  2.2): ``/a%26b`` is not ``/a&b``, ``/a%2Fb`` is not ``/a/b``, and ``%2541`` is not ``%41``.
- *Records about a page* belong to it: ``urn:text:http://h.org/a`` has the key of the page, ``#``
  and what is before the URI of the page: ``org,h)/a#urn:text:``. No other key of a host has a
  ``#``.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from arclink.errors import UriError
from arclink.model import Surt
from arclink.native import native
from arclink.reasons import Reason
from arclink.uris.hosts import Host, without_www

# The HTTP method of the request that a capture answers, and the key of such a capture.
#
# An answer to POST, HEAD or OPTIONS is not a representation of the URI (RFC 9110, 9.3), so it must
# not answer for the URI. It gets a key of its own: the SURT of the URI, a blank and the method
# (``org,example)/form POST``). No SURT of an HTTP URI has a blank, so such a key is never that of
# another URI. It sorts directly after the SURT, and begins with it: whatever names captures by a
# prefix, such as a takedown, an embargo or a subset, covers both.
#
# GET has no name here, because nearly all captures answer it, and many indexes and archives do not
# say. Unknown is treated like GET.
#
# CDX files of pywb and cdxj-indexer name the method in the query of the key,
# ``…?__wb_method=post&…``, sometimes also in that of the URI, and in a field ``method``.
#
# Source: https://specs.webrecorder.net/cdxj/0.1.0/#request-body-canonicalization.

GET = ""
"""The method of captures that answer GET, or an unknown method."""

_METHOD = re.compile("[A-Z][A-Z-]{0,19}")
_IN_KEY = re.compile(f" ({_METHOD.pattern})$")
_ASKED = re.compile(rf"({_METHOD.pattern}) +(?=[A-Za-z]+://)")
_IN_QUERY = re.compile("[?&]__wb_method=([^&#]*)")
_REQUEST_LINE = re.compile(rb"\s*([A-Za-z][A-Za-z-]{0,19})[ \t]+(?:[/*]|[A-Za-z0-9.+-]+:)")


def normal_method(text: str) -> str:
    """Return a method in capitals; `GET` for GET, and for a text that is not a method.

    >>> [normal_method(text) for text in ("post", "GET", "-")]
    ['POST', '', '']
    """
    method = text.strip().upper()
    return method if _METHOD.fullmatch(method) and method != "GET" else GET


def method_in_request(block: bytes) -> str | None:
    """Return the method of an HTTP request; None if the block does not begin with a request.

    >>> method_in_request(b"POST /form HTTP/1.1")
    'POST'
    """
    line = _REQUEST_LINE.match(block)
    return normal_method(line[1].decode()) if line else None


def key_of_answer(surt: Surt, method: str) -> Surt:
    """Return the key of the captures of a URI by a method: its SURT for `GET`.

    >>> key_of_answer(Surt("org,example)/form"), "POST")
    'org,example)/form POST'
    """
    return Surt(f"{surt} {method}") if method else surt


def method_of_key(key: str) -> str:
    """Return the method in a key that `key_of_answer` made.

    >>> method_of_key("org,example)/form POST")
    'POST'
    """
    found = _IN_KEY.search(key)
    return found[1] if found else GET


def without_method(key: Surt) -> Surt:
    """Return the SURT in a key that `key_of_answer` made."""
    return Surt(_IN_KEY.sub("", key))


def keys_of_answers(surt: Surt) -> Surt:
    """Return the beginning of the keys of all captures of a URI by another method than GET."""
    return Surt(f"{surt} ")


def method_asked(text: str) -> tuple[str, str]:
    """Return the method and the URI that a user wrote: ``POST http://example.org/form``.

    The method is `GET` if the text begins with the URI.
    """
    written = _ASKED.match(text)
    return (normal_method(written[1]), text[written.end() :]) if written else (GET, text)


_METHOD_PATTERN = rf"(?:{_METHOD.pattern} +(?=[A-Za-z]+://))?"
"""Matches the method before a URI, or nothing, in Python and in ECMAScript."""


def method_in_query(uri: str) -> str | None:
    """Return the method that pywb added to the query of a key or URI; None if it added none.

    >>> method_in_query("org,example)/form?__wb_method=post&name=a")
    'POST'
    """
    added = _IN_QUERY.search(uri)
    return normal_method(added[1]) if added else None


def without_query_of_method(uri: str) -> str:
    """Return a URI without the query that pywb added to it: the method, and all after it."""
    added = _IN_QUERY.search(uri)
    return uri[: added.start()] if added else uri


def with_query_of_method(uri: str, method: str) -> str:
    """Return a URI with the query that pywb adds for a method; unchanged for `GET`."""
    if not method:
        return uri
    return f"{uri}{'&' if '?' in uri else '?'}__wb_method={method}"


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

_OPAQUE_SCHEMES = _OF_ARCHIVES | _OF_PAGES
"""Schemes that a query writes without ``//``, whatever follows the colon."""

_SCHEMES_OF_HOSTS = frozenset({"ftp", "http", "https"})

OF_PAGE = "#"
"""Ends the SURT of the page in that of a record about it. No other SURT of a host has this sign."""

_RECORDS_OF_PAGES = ("metadata:", "screenshot:", "thumbnail:", "urn:", "youtube-dl:")
"""The usual beginnings of the URIs of records about a page, in keys of the ``surt`` package."""

# The package accepts no longer labels.
_PLAIN_SITE = re.compile(r"https?://((?:[a-z0-9_-]{1,63}\.)+[a-z]{2,63})")
_RECORD_OF_PAGE = re.compile(
    r"([a-z][a-z0-9+.-]*:(?:[^/?#:]*:)*)((?:https?|ftp)://.*)"
    r"|(urn:[^/?#]+)\?url=((?:https?|ftp)(?::|%3a)(?:/|%2f){2}.*)",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_IN_CDX = re.compile(",www[0-9]*[):]|%(?:2[56bf]|3[bdf])")
"""In every SURT of a plain URI that has another key in CDX files."""

_REPEATED_SCHEME = re.compile("https?://https?:")
_WRITTEN_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?")
_BLANK = r" \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# A name before a colon, in a query: a host, if a port or a password and a user's host may follow.
_OTHER_SCHEME = rf"[A-Za-z][A-Za-z0-9+-]*:(?!//)(?![0-9]*(?:[?#{_BLANK}]|$))(?![0-9]+/)(?![^/?#]*@)"
_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#]*@)?([^/?#:]*)")
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNFIT_OR_BLANK = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")


def _query_pattern() -> str:
    """Return the regular expression of all texts that `surt_of_query` can read."""
    unfit, blank = r"\x00-\x1f\x7f-\x9f\u2028\u2029", _BLANK
    user, port = rf"(?:[^/?#{unfit}]*@)?", rf"(?::[^/?#@{unfit}]*)?"
    rest = rf"{user}[^/?#:@{blank}{unfit}]+{port}(?:[/?#][^{unfit}]*)?"
    maybe_without_host = rf"{user}[^/?#:@{blank}{unfit}]*{port}(?:[/?#][^{unfit}]*)?"
    opaque = "|".join(map(_in_any_case, sorted(_OPAQUE_SCHEMES)))
    of_hosts = "|".join(map(_in_any_case, sorted(_SCHEMES_OF_HOSTS)))
    scheme = "[A-Za-z][A-Za-z0-9+.-]*"
    forms = (
        f"{_METHOD_PATTERN}{scheme}://{rest}",
        f"{_METHOD_PATTERN}(?!(?:{of_hosts}):){scheme}://{maybe_without_host}",
        f"(?:{of_hosts}):(?!//)/?{rest}",
        rf"(?:{opaque}):(?!//)[^{unfit}]*",
        rf"(?!(?:{of_hosts}|{opaque}):){_OTHER_SCHEME}[^{unfit}]*",
        f"(?!{scheme}://)(?!(?:{of_hosts}|{opaque}):)(?!{_OTHER_SCHEME})/*{rest}",
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

    The empty URI has the SURT ``-``.

    Args:
        uri: Any text; it may be invalid as a URI.
    """
    key = plain_surt(uri, _stem)
    if key is not None:
        return Surt(key)
    record = record_of_page(uri)
    if record is not None:
        of_page = surt_or_none(record.page)
        if of_page is not None:
            return Surt(f"{of_page}{OF_PAGE}{_UNFIT_OR_BLANK.sub(_escape, record.kind.lower())}")
    return _by_package(uri)


def cdx_key(uri: str) -> Surt:
    """Return the key of a URI in CDX files, where other tools look for it.

    It is the SURT by the rules of the ``surt`` package, except for hosts for which the package
    would ask the name service, names outside ASCII, and characters that do not fit in a line. Most
    URIs have the same `surt_of`. A URI that the package refuses is its own key.

    >>> cdx_key("http://www3288.com/a%26b"), surt_of("http://www3288.com/a%26b")
    ('com)/a&b', 'com,www3288)/a%26b')
    """
    key = plain_surt(uri, _stem)
    if key is None or _OTHER_IN_CDX.search(key):
        key = _by_package(uri, as_package=True)
    return Surt(_UNFIT_OR_BLANK.sub(_escape, uri) if key is None else key)


class RecordOfPage(NamedTuple):
    """The URI of a record that a crawler wrote about a page.

    Attributes:
        kind: What is before the URI of the page, such as ``urn:text:``.
        page: The URI of the page.
    """

    kind: str
    page: str


def record_of_page(uri: str) -> RecordOfPage | None:
    """Return the parts of a URI that embeds a page; None for any other URI.

    Browsertrix and ArchiveWeb.page write ``urn:text:``, ``urn:view:``, ``urn:pageinfo:``,
    ``urn:thumbnail:`` and others before the URI of the page, brozzler ``screenshot:`` and
    ``youtube-dl:00001:``, pywb ``metadata:``; wpull writes ``urn:X-wpull:snapshot?url=`` and the
    escaped URI. Records of hosts (``dns:``, ``whois:``) name no page.

    >>> record_of_page("urn:view:http://h.org/a")
    RecordOfPage(kind='urn:view:', page='http://h.org/a')
    """
    found = _RECORD_OF_PAGE.fullmatch(uri)
    if found is None:
        return None
    if found[3]:
        return RecordOfPage(found[3], unquote(found[4]))
    scheme = found[1].partition(":")[0].lower()
    if scheme in _SCHEMES_OF_HOSTS or scheme in _OF_PAGES:
        return None
    return RecordOfPage(found[1], found[2])


def page_of(original: str) -> str:
    """Return the URI to which a capture belongs: of the page that it is about, else its own.

    Takedowns, embargoes and subsets of a page cover the records about it.

    >>> page_of("urn:text:http://h.org/a"), page_of("http://h.org/a")
    ('http://h.org/a', 'http://h.org/a')
    """
    record = record_of_page(original)
    return original if record is None else record.page


def surt_of_page(surt: Surt) -> Surt:
    """Return the SURT of the page to which a capture with this SURT belongs.

    >>> surt_of_page(Surt("org,h)/a#urn:text:")), surt_of_page(Surt("org,h)/a"))
    ('org,h)/a', 'org,h)/a')
    """
    return Surt(surt.partition(OF_PAGE)[0]) if ")/" in surt else surt


def wide_cdx_prefixes(prefixes: Iterable[Surt]) -> tuple[Surt, ...]:
    """Return the beginnings of all keys in CDX files of captures below some SURT prefixes.

    Other captures may have keys with these beginnings, too.

    >>> wide_cdx_prefixes([Surt("com,www3288)/a")])[:2]
    ('com', 'metadata:')
    """
    starts = {re.split("%|#|,www[0-9]*(?:[):]|$)", prefix)[0] for prefix in prefixes}
    return tuple(map(Surt, (*sorted(starts), *_RECORDS_OF_PAGES))) if starts else ()


def surt_of_query(text: str) -> Surt:
    """Return the SURT of a URI that a person wrote.

    ``http://`` may be missing, also before a host with port. URIs of other schemes need no host. A
    method before a whole URI names the captures that answer it.

    Raises:
        UriError: The text is not a URI: empty, blanks only, with a control character, or without a
            valid host.

    >>> surt_of_query("example.org:8080/x"), surt_of_query("file:///a.html")
    ('org,example:8080)/x', 'file:/a.html')
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
    needs_host = uri.startswith(("http:", "https:", "ftp:"))
    if host and ((needs_host and not host[1]) or host[1] != "".join(host[1].split())):
        raise UriError(Reason.LINK_INVALID, f"the URI has no valid host: {text[:200]!a}")
    return key_of_answer(surt_of(uri), method)


def is_absolute(text: str) -> bool:
    """Return whether a URI that a person wrote begins with a scheme, and not with a host and port.

    >>> [is_absolute(text) for text in ("mailto:a@h", "file:/a", "h:8080/a", "u:p@h/a", "http:h")]
    [True, True, False, False, False]
    """
    written = _WRITTEN_SCHEME.match(text)
    if written is None or written[2]:
        return written is not None
    scheme = written[1].lower()
    return scheme in _OPAQUE_SCHEMES or (
        scheme not in _SCHEMES_OF_HOSTS and re.match(_OTHER_SCHEME, text) is not None
    )


def _with_scheme(text: str) -> str:
    written = _WRITTEN_SCHEME.match(text)
    if written is None:
        return "http://" + text.lstrip("/")
    scheme, rest = written[1].lower(), text[len(written[1]) :]
    if is_absolute(text):
        return f"{scheme}{rest}"
    return f"{scheme}://{rest[1:].lstrip('/')}" if scheme in _SCHEMES_OF_HOSTS else f"http://{text}"


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
        return ",".join(reversed(without_www(Host(plain[1])).split("."))) + ")"
    if _REPEATED_SCHEME.fullmatch(site):  # the package reads http://http://h/ as http://h/
        return ""
    key = _by_package(site + "/")
    return key[:-1] if key is not None and key.endswith(")/") else ""


def _by_package(uri: str, *, as_package: bool = False) -> Surt | None:
    # Here, because the import takes longer than a query, and needs few URIs.
    from arclink.uris.surt_package import canonical_surt

    key = canonical_surt(uri, as_package=as_package)
    return None if key is None else Surt(_UNFIT.sub(_escape, key))


def _escape(unfit: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in unfit[0].encode("utf-8", "surrogatepass"))
