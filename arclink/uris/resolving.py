"""Where links lead, how much of their page they depend on, and which pages may share one list of links.

Strategy: most references are plain (``/path``, ``http://host/path``, ``x.html``, of signs that no step of the URL
parser touches), so their target is a concatenation; a regular expression proves it, and a test holds it against the
parser. Everything else goes to the parser, ada.

A URI of an archived page falls into five *fields*, scheme, origin, directory, name and query; a *cut* is the first few
of them::

    http://user@host:8080/a/b/c.html?q
    [s-]  [--- origin ---][dir][name][q]
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha1

import ada_url

from arclink.errors import UriError
from arclink.model import Checksum, ContentId, Scope, UriR
from arclink.native import native
from arclink.reasons import Reason
from arclink.uris.query_encoding import codec_of, encode_query

MAX_URI_LENGTH = 64 * 1024
"""A longer target is a mistake or a trap: it is counted, not kept."""

SPECIAL_SCHEMES = frozenset({"http", "https", "ftp", "file", "ws", "wss"})
"""URL Standard, *special scheme*: they have an authority, and ``\\`` is as good as ``/``."""

UriFields = tuple[str, str, str, str, str]
"""Scheme, origin, directory, name, query."""

# Signs that the URL parser keeps in a path and a special query. No %2e: it is a dot to the parser.
_PATH = r"[A-Za-z0-9_~!$&()*+,;=:@/.-]*"
_TAIL = rf"{_PATH}(?:%(?!2[eE]){_PATH})*(?:\?[!$-&(-;=?-~]*)?"

# Host: the last label is letters, so it is no IPv4 address in disguise; the parser checks no xn-- label that is ASCII.
# A colon in a first segment would end a scheme.
_plain = re.compile(
    rf"((?:(https?://(?:[a-z0-9_-]+\.)+[a-z]{{2,}})/|(/)(?!/)|[A-Za-z0-9_~](?![A-Za-z0-9+.-]*:)){_TAIL})(?:\#.*)?",
    re.DOTALL,
).fullmatch

_CLEANED_AWAY = re.compile(r"[\t\n\r]")
_WRITTEN_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_FIELDS = re.compile(r"([^:]+):(//[^/?]*|/\.(?=//)|)((?:/[^?]*)?/|)([^/?]*)(\?.*|)", re.DOTALL)
_NEEDS_CLEANING = "/\\\t\n\r"  # or is the end: the empty string is in every string
_SURROGATE = re.compile("[\ud800-\udfff]")
_C0_AND_SPACE = "".join(map(chr, range(0x21)))


def class_of(reference: str, scheme: str) -> Scope:
    r"""Return how much of its page a reference depends on, on a page with this scheme and without base.

    The answer is the same for every special scheme, so it holds wherever the payload is captured: ``http:x`` is relative on
    a page with that scheme only, and yet is `Scope.DIRECTORY` on all.

    Args:
        reference: As written; cleaned here as the URL parser does.
        scheme: Of the page, lower case, without colon.

    Source:
        URL Standard, *basic URL parser*: scheme, relative and relative slash state; ``docs/data-model.md``, *Content*.

    >>> class_of("/x", "http").name, class_of(" ?q", "http").name, class_of("mailto:a@b", "http").name
    ('ORIGIN', 'PATH', 'NONE')
    """
    first = reference[:1]
    if first == "/" and reference[1:2] not in _NEEDS_CLEANING:
        return Scope.ORIGIN
    if first.isalnum() and ":" not in reference:
        return Scope.DIRECTORY
    if reference.startswith(("http://", "https://")):
        return Scope.NONE
    return _class_of_cleaned(_clean(reference), scheme)


def _class_of_cleaned(rest: str, scheme: str) -> Scope:
    written = _WRITTEN_SCHEME.match(rest)
    if written:
        if written[1].lower() not in SPECIAL_SCHEMES:
            return Scope.NONE
        rest = rest[written.end() :]
        scheme = "http"
    slashes = "/\\" if scheme in SPECIAL_SCHEMES else "/"
    if not rest or rest[0] == "#":
        return Scope.DOCUMENT
    if rest[0] == "?":
        return Scope.PATH
    if rest[0] not in slashes:
        return Scope.DIRECTORY
    if rest[1:2] not in slashes or len(rest) == 1:
        return Scope.ORIGIN
    return Scope.NONE if written else Scope.SCHEME


def scope_of(classes: Iterable[Scope]) -> Scope:
    """Return the scope of a content: the widest class of its links; `Scope.NONE` if there are none.

    Args:
        classes: Of the links that are kept; not of those that lead to the same page.
    """
    return max(classes, default=Scope.NONE)


class Base:
    """Where the links of one page resolve: its base element if that is usable, else the page.

    Args:
        page: The URI as captured. One that is no valid URL resolves absolute references only.
        base_href: The ``href`` of the first base element that has one, as written; None if there is none.
        charset: Of the page, by its name in the Encoding Standard; for what is not ASCII in queries.
        limit: Longest target, in characters (a target's are nearly all ASCII).

    Attributes:
        uri: What references resolve against, without fragment; None if neither base nor page is a valid URL.
        usable: Whether ``base_href`` is a base: there is one, it is valid, and neither ``data:`` nor ``javascript:``.

    Source:
        HTML Standard, *document base URL*; URL Standard.
    """

    __slots__ = ("_class", "_codec", "_directory", "_limit", "_origin", "_scheme", "uri", "usable")

    def __init__(self, page: UriR, base_href: str | None, charset: str = "utf-8", *, limit: int = MAX_URI_LENGTH) -> None:
        self._limit = limit
        self._codec = codec_of(charset)
        self._stand_on(_normalize(page))
        self._class = Scope.DOCUMENT
        self.usable = False
        if base_href is not None:
            self._use(base_href)

    def _use(self, base_href: str) -> None:
        base_class = class_of(base_href, self._scheme)
        try:
            base = self.resolve(base_href)
        except UriError:
            return
        if base.startswith(("data:", "javascript:")):
            return
        self._stand_on(base)
        self._class = base_class
        self.usable = True

    def _stand_on(self, uri: str | None) -> None:
        self.uri = uri
        self._origin = self._directory = None
        self._scheme = "" if uri is None else uri[: uri.index(":")]
        # A path of file: may begin with a drive letter, which has rules of its own; any other scheme may lack a path.
        if uri is not None and self._scheme in SPECIAL_SCHEMES and self._scheme != "file":
            scheme, origin, directory, _, _ = _fields(uri)
            self._origin = f"{scheme}:{origin}"
            self._directory = self._origin + directory

    def class_of(self, reference: str) -> Scope:
        """Return how much of the page a reference depends on: the smaller of its own class and the base's.

        `Scope.DOCUMENT` means *same page*: the reference leads to the page itself, whatever that is.
        """
        own = class_of(reference, self._scheme)
        return own if own < self._class else self._class

    def resolve(self, reference: str) -> UriR:
        """Return the absolute target of a reference, as the URL Standard serialises it, without fragment.

        Raises:
            UriError: `Reason.LINK_INVALID` if it does not resolve, `Reason.LINK_TOO_LONG` if the target is too long.
        """
        return self.follow(reference)[0]

    def follow(self, reference: str) -> tuple[UriR, Scope]:
        """Return what `resolve` and `class_of` do, in one step: most references are looked at once.

        Raises:
            UriError: As `resolve`.
        """
        found = concatenated(reference, self._origin, self._directory) or self._from_above(reference)
        target, scope = found or (self._parsed(reference), None)
        if len(target) > self._limit:
            raise UriError(Reason.LINK_TOO_LONG, f"{len(target)} characters: {_shown(target)}")
        if scope is None:
            scope = class_of(reference, self._scheme)
        return UriR(target), scope if scope < self._class else self._class

    def _from_above(self, reference: str) -> tuple[str, Scope] | None:
        """Return what `concatenated` does for ``../x``, ``../../x``: each step leaves one directory, the root none."""
        if self._directory is None or self._origin is None or not reference.startswith("../"):
            return None
        root = len(self._origin) + 1
        directory = self._directory
        while reference.startswith("../"):
            reference = reference[3:]
            if len(directory) > root:
                directory = directory[: directory.rindex("/", 0, -1) + 1]
        found = concatenated(reference, self._origin, directory)
        return found if found and found[1] is Scope.DIRECTORY else None

    def _parsed(self, reference: str) -> str:
        written = reference
        if not reference.isascii():
            reference = self._with_encoded_query(_SURROGATE.sub("\ufffd", reference))
        try:
            href = ada_url.normalize_url(reference) if self.uri is None else ada_url.join_url(self.uri, reference)
        except ValueError as error:
            raise UriError(Reason.LINK_INVALID, _shown(written)) from error
        return href.partition("#")[0]

    def _with_encoded_query(self, reference: str) -> str:
        if self._codec is None:
            return reference
        head, sharp, fragment = reference.partition("#")
        path, mark, query = head.partition("?")
        written = _WRITTEN_SCHEME.match(_clean(reference))
        scheme = written[1].lower() if written else self._scheme
        if scheme not in SPECIAL_SCHEMES or scheme in ("ws", "wss"):
            return reference
        # The fragment must stay: without it, a blank at the end of the query would be stripped.
        return path + mark + encode_query(query, self._codec) + sharp + fragment


@native
def concatenated(reference: str, origin: str | None, directory: str | None) -> tuple[str, Scope] | None:
    """Return the target of a plain reference, and its class; None if that takes the parser, or what is needed of the base is not there.

    Args:
        reference: As written.
        origin: Scheme and origin of the base, where a path follows them.
        directory: The base up to its last slash, likewise.
    """
    match = _plain(reference)
    if match is None:
        return None
    plain, host, rooted = match.groups()
    if "/." in plain:
        return None
    if host:
        return None if "xn--" in host else (plain, Scope.NONE)
    if origin is None or directory is None:
        return None
    return (origin + plain, Scope.ORIGIN) if rooted else (directory + plain, Scope.DIRECTORY)


@lru_cache(maxsize=1024)  # of one page they are asked for some five times
def fields_of(original: UriR) -> UriFields:
    """Return the fields of a URI, fit to sort and compare: pages with equal first fields stand together.

    They are those of its serialisation without fragment (URL Standard), with these exceptions, each of which keeps
    apart what resolves links differently:

    - no valid URL: the raw text is the second field, the first is empty;
    - an opaque path (``mailto:a@b``): the whole URI is the first field, which then has a colon;
    - ``file:``: the whole path belongs to the origin, since ``/x`` depends on its drive letter.

    >>> fields_of(UriR("http://h:80/a/b.html?q#f"))
    ('http', '//h', '/a/', 'b.html', '?q')
    """
    uri = _normalize(original)
    return ("", original, "", "", "") if uri is None else _fields(uri)


def cut(original: UriR, scope: Scope) -> str:
    """Return the part of a page's URI that links of this scope depend on; pages with equal cuts resolve them alike.

    Its fields, each but the first after a newline (which no valid URL holds): cuts of one scope are equal only where all
    fields are. Empty for `Scope.NONE`.

    >>> cut(UriR("http://h/a/b.html"), Scope.DIRECTORY) == cut(UriR("HTTP://h:80/a/"), Scope.DIRECTORY)
    True
    """
    return "\n".join(fields_of(original)[:scope]) if scope else ""


@lru_cache(maxsize=1024)  # the pages of a site have few cuts
def _digest_of(cut: str) -> str:
    # A raw original may hold anything, lone surrogates too.
    return sha1(cut.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]


def content_id(checksum: Checksum, original: UriR, scope: Scope) -> ContentId:
    """Return the vertex of a payload captured at ``original``: the checksum, or with 16 hex digits of SHA-1 of the cut.

    >>> content_id(Checksum("ABC"), UriR("http://h/a"), Scope.NONE)
    'ABC'
    >>> content_id(Checksum("ABC"), UriR("http://h/a"), Scope.ORIGIN)
    'ABC-34ed37a6987e402e'
    """
    if scope is Scope.NONE:
        return ContentId(checksum)
    return ContentId(f"{checksum}-{_digest_of(cut(original, scope))}")


_CUT = re.compile("(.*)-[0-9a-f]{16}", re.DOTALL)


def checksum_of(content: ContentId) -> Checksum:
    """Return the checksum of a vertex. None ends like a cut: `arclink.filter.cdx.normal_checksum` sees to it.

    >>> checksum_of(ContentId("ABC-34ed37a6987e402e"))
    'ABC'
    """
    found = _CUT.fullmatch(content)
    return Checksum(found[1] if found else content)


@lru_cache(maxsize=1024)
def _normalize(uri: str) -> str | None:
    """Return the serialisation of an absolute URI without fragment; None if it is no valid URL."""
    match = _plain(uri)
    if match and match[2] and "/." not in match[1]:
        return match[1]
    try:
        return ada_url.normalize_url(uri).partition("#")[0]
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def _fields(uri: str) -> UriFields:
    """Return the fields of a serialised URI without fragment."""
    if uri.startswith(("http://", "https://")):  # nearly all: with a host, and a path
        scheme, _, rest = uri.partition(":")
        rest, mark, query = rest.partition("?")
        host = rest.index("/", 2)
        end = rest.rindex("/") + 1
        return (scheme, rest[:host], rest[host:end], rest[end:], mark + query)
    match = _FIELDS.fullmatch(uri)
    if match is None or uri[match.end(1) + 1 : match.end(1) + 2] != "/":
        return (uri, "", "", "", "")
    scheme, origin, directory, name, query = match.groups()
    if scheme == "file":
        return (scheme, origin + directory + name, "", "", query)
    return (scheme, origin, directory, name, query)


def _clean(reference: str) -> str:
    """Return a reference as the URL parser sees it: no C0 control or space around it, no tab or newline in it."""
    return _CLEANED_AWAY.sub("", reference.strip(_C0_AND_SPACE))


def _shown(text: str) -> str:
    return ascii(text[:200])
